"""Rows of the knowledge query reference, sections 7 to 12 and 14, that no other file of tests holds."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli_support import run
from tests.git_repository import GitRepository
from tests.why_examples import FILES, commit, entity, entry, index, module, region, relation, worked_example
from trivium.doors.ak_docs import main
from trivium.why import build as build_module
from trivium.why.build import build
from trivium.why.config import SERVICE_LEAVES, ConfigError, load_config
from trivium.why.prepared import PreparedIndex
from trivium.why.query import knowledge_why
from trivium.why.response import validate
from trivium.why.tools import TOOL_KINDS, call_tool

ak_docs = partial(run, program=main)
MANY = [f"d{number}" for number in range(32)]


def names(source: Any, target: str, **request: Any) -> list[str]:
    answer = knowledge_why(source, target, **request)
    validate(answer)
    return [found["name"] for found in answer["entities"]]


@pytest.fixture
def repository(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """The worked example as a repository with one commit; the working folder is its root."""
    made = GitRepository(own_home / "shop")
    for path, text in FILES.items():
        made.write(path, text)
    made.commit("feat: evict by last use")
    monkeypatch.chdir(made.root)
    return made


# --- 4.5: bounds of all documents -----------------------------------------------------------------


@pytest.mark.parametrize(("bound", "value"), [("MAX_DOCUMENTS", 2), ("MAX_ALL_DOCUMENT_BYTES", 60)])
def test_documents_beyond_the_bounds_of_all_are_left_unread_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    """They are taken in path order; source code does not count."""
    place = GitRepository(tmp_path / "here", start=False)
    for name in ("1-a", "2-b", "3-c"):
        place.write(f"docs/adr/{name}.md", f"# Use {name}\n\nStatus: accepted\n")
    place.write("src/a.py", "class A: ...\n" * 20)
    monkeypatch.setattr(build_module, bound, value)
    found = build(place.root, load_config(place.root, entities=True)).index
    assert [entity.name for entity in found.entities or []] == ["Use 1-a", "Use 2-b"]
    assert "docs/adr/3-c.md" in found.paths
    (record,) = (record for record in found.coverage if record.scope == "documents")
    assert (record.status, record.reason) == ("partial", "document-budget: 1 file left unread")
    assert [place.path for place in record.evidence] == ["docs/adr/3-c.md"]
    assert any(entry.path == "src/a.py" and entry.symbols == ["A"] for entry in found.entries)


# --- 7: matching ----------------------------------------------------------------------------------


def test_the_document_of_a_direct_entity_is_a_key() -> None:
    """Step 6: what touched the record belongs to the answer about the record."""
    source = index(
        entry("document", "docs/adr/1.md"),
        entities=[entity("decision", "Rule", region("docs/adr/1.md")), commit(1, "docs/adr/1.md"), commit(2, "x")],
    )
    assert names(source, "Rule") == ["Commit 1", "Rule"]
    assert names(source, "knowledge-decision:Rule") == ["Commit 1", "Rule"]


def test_an_alias_leads_on_as_a_name_does_and_an_id_of_an_entry_is_exact() -> None:
    source = index(
        module("src/a.ts", "A"),
        entities=[
            entity("concept", "Word", aliases=("W",), facts=("module:src/a.ts",)),
            entity("decision", "D", paths=("src/a.ts",), facts=("module:src/a.ts",)),
        ],
    )
    assert names(source, "W") == ["Word", "D"]
    assert names(source, "module:src/a.ts") == ["Word", "D"]
    assert names(source, "Module:src/a.ts") == names(source, "module:src/a") == []


def test_the_limit_bounds_each_list_by_itself() -> None:
    """Step 9 to 12: fewer of one list do not make room for more of another."""
    documents = [f"docs/{n}.md" for n in range(3)]
    source = index(
        module("src/a.ts", mentioned_by=[f"document:{path}" for path in documents]),
        *(entry("document", path) for path in documents),
        entities=[entity("decision", "D", paths=("src/a.ts",))],
        memory_relations=[relation("knowledge-decision:D", f"note {n}") for n in range(3)],
    )
    answer = knowledge_why(source, "src/a.ts", limit=2)
    assert [len(answer[key]) for key in ("entities", "documents", "memoryRelations")] == [1, 2, 2]
    assert answer["truncated"]


@pytest.mark.parametrize("target", ["src/old", "src/old/", "./src/old"])
def test_a_directory_that_is_gone_is_no_directory_of_the_repository(target: str) -> None:
    source = index(module("src/new/a.ts"), entities=[commit(1, "src/old/a.ts")])
    assert names(source, target) == []
    assert names(source, "src/old/a.ts") == ["Commit 1"]


# --- 9: the budget --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, "decision", "change"])
def test_a_budget_never_shortens_an_answer_of_any_kind(kind: str | None) -> None:
    plain = knowledge_why(worked_example(), "Cache", kind=kind)
    for tokens in (1, 300, 1_000_000):
        asked = knowledge_why(worked_example(), "Cache", kind=kind, budget_tokens=tokens)
        budget = asked.pop("budget")
        asked.pop("guidance", None)
        assert asked == plain
        assert budget["tokens"]["total"] == budget["tokens"]["core"]
        assert budget["fits"] == (budget["tokens"]["total"] <= tokens)


# --- 10: disabled and unknown ---------------------------------------------------------------------


def test_a_switch_that_is_off_gives_the_bytes_of_no_switch(repository: GitRepository, own_home: Path) -> None:
    off = own_home / "off.toml"
    off.write_text("[index.knowledgeEntities]\nenabled = false\nmaxCommits = 500\n")
    absent = build(repository.root, load_config(repository.root))
    switched = build(repository.root, load_config(repository.root, off))
    assert absent.body == switched.body
    assert absent.fingerprint == switched.fingerprint


def test_a_damaged_index_names_the_command_of_the_program_that_asks(repository: GitRepository) -> None:
    import apsw

    repository.write("trivium.toml", "[index.knowledgeEntities]\nenabled = true\n")
    assert ak_docs("index").code == 0
    connection = apsw.Connection(os.environ["TRIVIUM_DB"])
    connection.execute("UPDATE repository SET body = CAST(replace(body, 'accepted', 'rejected') AS BLOB)")
    connection.close()
    outcome = ak_docs("why", "Cache")
    assert (outcome.code, outcome.out) == (1, "")
    assert "Build it with: ak-docs index" in outcome.err


@pytest.mark.parametrize("target", ["cache", "nothing like it", "src/none.ts", "src/cache.ts:99"])
def test_an_answer_without_matches_keeps_the_whole_coverage_and_exits_with_0(
    repository: GitRepository, target: str
) -> None:
    run("index")
    known = run("why", "Cache", "--json").json()["coverage"]
    outcome = run("why", target, "--json")
    assert (outcome.code, outcome.json()["coverage"]) == (0, known)


# --- 11: the command line -------------------------------------------------------------------------


def test_text_is_the_default_and_its_first_line_names_the_target(repository: GitRepository) -> None:
    run("index")
    for target in ("Cache", "./src/cache.ts", "unknown"):
        assert run("why", target).out.splitlines()[0] == f"Why: {target}"
        assert run("why", target, "--json").out.startswith('{\n  "type": "knowledge-why",\n')


def test_the_summary_is_json_unless_text_is_asked_for(repository: GitRepository) -> None:
    summary = json.loads(ak_docs("index").out)
    assert {"path", "hash", "counts", "diagnostics"} <= summary.keys()
    assert json.loads(ak_docs("index", "--json").out)["hash"] == summary["hash"]
    assert ak_docs("index", "--text").out.startswith("Indexed ")
    assert ak_docs("index", "--text", "--json").code == 2


# --- 12: the tools and the restricted profile -----------------------------------------------------


@pytest.mark.parametrize("key", ["profile", "service", "service.profile", "surfaces.mcp.profile", "index.profile"])
@pytest.mark.parametrize("file", ["trivium.toml", "doc-bridge.config.json"])
def test_a_configuration_cannot_select_the_profile(tmp_path: Path, key: str, file: str) -> None:
    if file.endswith(".toml"):
        (tmp_path / file).write_text(f'{key} = "local"\n')
    else:
        value: Any = "local"
        for part in reversed(key.split(".")):
            value = {part: value}
        (tmp_path / file).write_text(json.dumps(value))
    with pytest.raises(ConfigError, match="is not a key"):
        load_config(tmp_path)
    restricted = load_config(tmp_path, profile="service", entities=True)
    assert (restricted.profile, restricted.entities, restricted.ignored) == ("service", False, (key,))


def test_what_the_restricted_profile_admits_bounds_reading_only() -> None:
    bounds = {"exclude", "maxFiles", "maxBytes", "maxTimeMs", "maxMemoryMb"}
    assert {"schemaVersion", *(f"safety.{name}" for name in bounds)} == SERVICE_LEAVES


@pytest.mark.parametrize("tool", sorted(TOOL_KINDS))
def test_a_tool_gives_every_document_and_only_entities_of_its_kind(tool: str) -> None:
    source = PreparedIndex(worked_example())
    answer = json.loads(call_tool(tool, {"target": "Cache"}, lambda: source).text)
    assert {found["kind"] for found in answer["entities"]} == {TOOL_KINDS[tool]}
    assert answer["documents"] == knowledge_why(source, "Cache")["documents"]


# --- 14: the configuration ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("[index.knowledgeEntities]\nmaxCommits = 1", "max_commits", 1),
        ("[index.knowledgeEntities]\nmaxCommits = 5000", "max_commits", 5_000),
        (f"[index.knowledgeEntities]\nsinceTag = '{'v' * 256}'", "since_tag", "v" * 256),
        ("[index.knowledgeEntities]\nsinceTag = '1.0/rc-1_a'", "since_tag", "1.0/rc-1_a"),
        ("[intelligence.memory]\nadapters = []", "memory_adapters", ()),
        ("[intelligence.memory]\ningestDir = 'one'", "memory_dirs", ("one",)),
        (f"[intelligence.memory]\ningestDir = {MANY}", "memory_dirs", tuple(MANY)),
        ("[surfaces.mcp]\ntools = []", "mcp_tools", ()),
        ("[safety]\nmaxFiles = 1", "max_files", 1),
    ],
)
def test_bounds_themselves_are_allowed(tmp_path: Path, text: str, field: str, value: Any) -> None:
    (tmp_path / "trivium.toml").write_text(f"{text}\n")
    assert getattr(load_config(tmp_path), field) == value


@pytest.mark.parametrize(
    ("text", "path", "target", "found"),
    [
        ("[knowledge]\nrecords = ['design/*.md']", "design/a.md", "design/a.md", "Alpha"),
        ("[knowledge]\nglossaries = ['words.md']", "words.md", "Term", "Term"),
        ("[knowledge]\nchangelogs = ['log/*.md']", "log/1.md", "log/1.md", "Beta"),
        ("[intelligence.memory]\ningestDir = 'memos'", "memos/n.md", "docs/adr/0002-lru.md", "memos/n.md"),
        ("[intelligence.memory]\nadapters = ['instructions']", "AGENTS.md", "docs/adr/0002-lru.md", "AGENTS.md"),
    ],
)
def test_a_key_that_adds_places_makes_what_lies_there_known(
    repository: GitRepository, text: str, path: str, target: str, found: str
) -> None:
    content = "# Alpha\n\n**Term**: x\n\nSee docs/adr/0002-lru.md\n\n## 1.0.0\n\n- Beta\n"
    repository.write(path, "See docs/adr/0002-lru.md\n" if "memory" in text else content)

    def told() -> list[str]:
        run("index")
        answer = run("why", target, "--json").json()
        notes = [relation["evidence"].get("rawPath", "") for relation in answer.get("memoryRelations", ())]
        return [*(entity["name"] for entity in answer["entities"]), *notes]

    assert found not in told()
    repository.write("trivium.toml", f"{text}\n")
    assert found in told()


def test_memory_that_is_switched_off_supports_nothing(repository: GitRepository) -> None:
    repository.write(".agent-memory/n.md", "See docs/adr/0002-lru.md\n")
    run("index")
    assert run("why", "docs/adr/0002-lru.md", "--json").json()["memoryRelations"]
    for text in ("enabled = false", "adapters = []"):
        repository.write("trivium.toml", f"[intelligence.memory]\n{text}\n")
        run("index")
        assert "memoryRelations" not in run("why", "docs/adr/0002-lru.md", "--json").json()


def test_an_excluded_file_is_not_read_and_the_rest_is(repository: GitRepository) -> None:
    repository.write("trivium.toml", '[safety]\nexclude = ["docs/adr/"]\n')
    run("index")
    kinds = [entity["kind"] for entity in run("why", "Cache", "--json").json()["entities"]]
    assert "decision" not in kinds
    assert "concept" in kinds


def test_a_configuration_of_the_other_tool_is_read_where_there_is_no_own_one(repository: GitRepository) -> None:
    config = {"index": {"knowledgeEntities": {"enabled": True}}, "safety": {"maxFiles": 2}}
    repository.write("doc-bridge.config.json", json.dumps(config))
    assert ak_docs("index").json()["counts"]["files"] == 2
    repository.write("trivium.toml", "[index.knowledgeEntities]\nenabled = true\n")
    assert ak_docs("index").json()["counts"]["files"] == len(FILES) + 2
