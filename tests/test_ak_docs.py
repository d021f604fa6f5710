"""`ak-docs`: the contract's own surface, its opt-in, its index file and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests import openai_server
from tests.cli_support import run
from tests.git_repository import GitRepository
from tests.openai_server import OpenAIServer
from tests.why_examples import FILES, LRU_ID
from trivium.doors.ak_docs import cli, main
from trivium.why.guidance import DISABLED, DISABLED_SERVICE
from trivium.why.model import sha256
from trivium.why.response import validate

ak_docs = partial(run, program=main)
ENABLED = {"schemaVersion": 1, "index": {"knowledgeEntities": {"enabled": True}}}


@pytest.fixture
def repository(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """The worked example as a repository with one commit, without configuration; the working folder is its root."""
    made = GitRepository(own_home / "shop")
    for path, text in FILES.items():
        made.write(path, text)
    made.commit("feat: evict by last use")
    monkeypatch.chdir(made.root)
    return made


def enable(repository: GitRepository, **index: object) -> None:
    configuration = {**ENABLED, "index": {**ENABLED["index"], **index}}  # type: ignore[dict-item]
    repository.write("doc-bridge.config.json", json.dumps(configuration))


def test_the_surface_is_that_of_the_contract() -> None:
    options = {name: sorted(o for p in command.params for o in p.opts) for name, command in cli.commands.items()}
    shared = ["--config", "--json", "--profile"]
    assert options == {
        "index": sorted([*shared, "--text", "--watch"]),
        "why": sorted([*shared, "target"]),
        "ask": sorted([*shared, "--chat", "question"]),
    }
    assert sorted(o for p in cli.params for o in p.opts) == ["--config", "--profile"]


def test_entities_are_opt_in_and_their_absence_is_guidance(repository: GitRepository) -> None:
    assert ak_docs("index").json()["enabled"] is False
    for form in ("text", "json"):
        outcome = ak_docs("why", "Cache", *(["--json"] if form == "json" else []))
        assert outcome.code == 0
        assert DISABLED in (outcome.json()["guidance"] if form == "json" else outcome.out)
    off = ak_docs("index").json()["hash"]
    repository.write("doc-bridge.config.json", '{"index": {"knowledgeEntities": {"enabled": false}}}')
    listed = ak_docs("index").json()["hash"]
    repository.write("doc-bridge.config.json", '{"index": {"knowledgeEntities": {}}}')
    assert ak_docs("index").json()["hash"] != off  # the configuration is a file of the repository, too
    assert len(listed) == 64


def test_enabled_indexed_asked(repository: GitRepository) -> None:
    enable(repository)
    summary = ak_docs("index").json()
    assert summary["path"] == str(repository.root / ".trivium/index.json")
    assert summary["counts"]["decisions"] == 2
    text = ak_docs("why", "Cache")
    assert (text.code, text.err) == (0, "")
    heading = "decision: Evict the least recently used [accepted] 2026-02-03"
    assert text.out.startswith(f"Why: Cache\n\n{heading}\n  id: {LRU_ID}\n")
    answer = ak_docs("why", "Cache", "--json").json()
    validate(answer)
    assert answer["source"] == f"index:{summary['hash']}"
    assert ak_docs("why", "unheard of", "--json").json()["entities"] == []
    assert ak_docs("why", "unheard of").code == 0


def test_the_index_file_is_canonical_json_with_its_hash(repository: GitRepository) -> None:
    enable(repository, outFile="build-info/why.json")
    file = repository.root / "build-info/why.json"
    summary = ak_docs("index").json()
    written = json.loads(file.read_bytes())
    assert written["indexHash"] == summary["hash"]
    written["indexHash"] = ""
    plain = json.dumps(written, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert sha256(plain.encode()) == summary["hash"]
    before = file.stat().st_ino
    assert ak_docs("index").json()["hash"] == summary["hash"]  # the file is no part of what it describes
    assert file.stat().st_ino != before
    assert [path.name for path in file.parent.iterdir()] == ["why.json"]


def test_the_folder_of_the_index_is_left_out_by_git(repository: GitRepository) -> None:
    ak_docs("index")
    assert (repository.root / ".trivium/.gitignore").read_text() == "*\n"
    assert repository.git("status", "--porcelain") == ""
    (repository.root / ".trivium/.gitignore").unlink()
    ak_docs("index")  # whoever removes it wants it so
    assert not (repository.root / ".trivium/.gitignore").exists()
    enable(repository, outFile="docs-index/why.json")
    ak_docs("index")
    assert not (repository.root / "docs-index/.gitignore").exists()  # a folder with other uses, perhaps
    enable(repository, outFile=".doc-bridge/a/index.json")
    ak_docs("index")
    assert (repository.root / ".doc-bridge/.gitignore").read_text() == "*\n"


def test_a_file_that_cannot_be_replaced_leaves_the_old_one(repository: GitRepository) -> None:
    enable(repository)
    (repository.root / ".trivium").write_text("in the way")
    outcome = ak_docs("index")
    assert outcome.code == 1
    assert ".trivium/index.json cannot be written" in outcome.err
    (repository.root / ".trivium").unlink()
    (repository.root / ".trivium").symlink_to(repository.root.parent, target_is_directory=True)
    assert "leads out of the repository" in ak_docs("index").err
    assert not (repository.root.parent / "index.json").exists()


def test_the_folder_of_the_configuration_is_the_root(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = repository.root / "part"
    for path, text in FILES.items():
        repository.write(f"part/{path}", text)
    repository.write("part/trivium.toml", "[index.knowledgeEntities]\nenabled = true\n")
    assert ak_docs("index", "--config", "part/trivium.toml").json()["path"] == str(part / ".trivium/index.json")
    by_option = ak_docs("--config", "part/trivium.toml", "why", "src/cache.ts", "--json").json()
    assert LRU_ID in [entity["id"] for entity in by_option["entities"]]
    monkeypatch.chdir(part / "docs")
    assert ak_docs("why", "src/cache.ts", "--json").json() == by_option


def test_missing_and_stale_indexes_name_the_command(repository: GitRepository) -> None:
    enable(repository)
    missing = ak_docs("why", "Cache")
    assert (missing.code, missing.out) == (1, "")
    assert "Build it with: ak-docs index" in missing.err
    ak_docs("index")
    repository.write("docs/guide.md", "changed\n")
    stale = ak_docs("why", "Cache", "--config", "doc-bridge.config.json")
    assert stale.code == 1
    assert "Build it with: ak-docs --config doc-bridge.config.json index" in stale.err


def test_the_restricted_profile_gives_the_guidance(repository: GitRepository) -> None:
    enable(repository)
    ak_docs("index")
    for arguments in (["--profile", "service", "why", "Cache"], ["why", "Cache", "--profile", "service"]):
        answer = ak_docs(*arguments, "--json").json()
        assert (answer["enabled"], answer["guidance"], answer["entities"]) == (False, DISABLED_SERVICE, [])
    restricted = ak_docs("--profile", "service", "index").json()
    assert restricted["enabled"] is False
    assert "configuration: index.knowledgeEntities.enabled is ignored" in restricted["diagnostics"]
    assert ak_docs("--profile", "service", "why", "Cache").code == 0


def test_a_hash_that_does_not_cover_entities_is_refused(repository: GitRepository) -> None:
    enable(repository, contentHash="sha256-normalized-v1")
    outcome = ak_docs("index")
    assert outcome.code == 1
    assert "legacy hash" in outcome.err


def test_chat_says_that_no_model_is_configured(repository: GitRepository) -> None:
    outcome = ak_docs("ask", "Why is the cache so?", "--chat")
    assert outcome.code == 1
    assert "No model is configured" in outcome.err
    assert "ak-docs why TARGET" in outcome.err


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A configured model at an endpoint of this machine."""
    with OpenAIServer([openai_server.text("The cache holds the newest entries [1].")]) as server:
        monkeypatch.setenv("TRIVIUM_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("TRIVIUM_LLM_MODELS", "test-model")
        monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
        yield server


def test_chat_gives_the_model_the_entities_that_the_question_names(
    repository: GitRepository, model: OpenAIServer
) -> None:
    enable(repository)
    ak_docs("index")
    shown = ak_docs("ask", "What does Cache hold?", "--chat")
    assert shown.code == 0
    first, *rest = shown.out.splitlines()
    assert first == "The cache holds the newest entries [1]."
    assert rest[-1].startswith("[1] knowledge-")
    found = ak_docs("ask", "What does Cache hold?", "--chat", "--json").json()
    assert found["citations"][0]["id"] in found["entities"]
    assert found["model"].endswith("test-model")
    given = json.dumps(model.requests[0]["messages"], ensure_ascii=False)
    assert all(entity in given for entity in found["entities"])
    assert "never instructions" in given


def test_chat_without_a_named_entity_asks_no_model(repository: GitRepository, model: OpenAIServer) -> None:
    enable(repository)
    ak_docs("index")
    outcome = ak_docs("ask", "zzz?", "--chat", "--json")
    assert outcome.code == 0
    assert outcome.json()["entities"] == []
    assert model.requests == []


def test_chat_needs_entities_a_fresh_index_and_a_model_that_answers(
    repository: GitRepository, model: OpenAIServer
) -> None:
    missing = ak_docs("ask", "Why Cache?", "--chat")
    assert (missing.code, "ak-docs index" in missing.err) == (1, True)
    ak_docs("index")
    off = ak_docs("ask", "Why Cache?", "--chat")
    assert off.code == 1
    assert "index.knowledgeEntities" in off.err
    enable(repository)
    ak_docs("index")
    model.script = [openai_server.status(400)]
    failed = ak_docs("ask", "What does Cache hold?", "--chat")
    assert failed.code == 1
    assert "gave no answer" in failed.err
    repository.write("src/other.py", "x = 1\n")
    stale = ak_docs("ask", "What does Cache hold?", "--chat")
    assert (stale.code, "ak-docs index" in stale.err) == (1, True)
    assert "Traceback" not in missing.err + off.err + failed.err + stale.err


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["why"], "TARGET"),
        (["why", " "], "TARGET"),
        (["why", "x", "--limit", "3"], "--limit"),
        (["--profile", "root", "why", "x"], "--profile"),
        (["ask", "x"], "--chat"),
        (["ask", " ", "--chat"], "QUESTION"),
        (["index", "--text", "--json"], "--text"),
        (["forget"], "forget"),
    ],
)
def test_a_bad_argument_is_named(own_home: Path, arguments: list[str], name: str) -> None:
    outcome = ak_docs(*arguments)
    assert outcome.code == 2
    assert name in outcome.err


def test_both_commands_share_index_and_answer(repository: GitRepository) -> None:
    enable(repository)
    ak_docs("index")
    assert run("why", "Cache", "--json").json() == ak_docs("why", "Cache", "--json").json()


def test_a_file_that_is_no_index_is_never_replaced(repository: GitRepository) -> None:
    for name in ("src/cache.ts", "doc-bridge.config.json"):
        enable(repository, outFile=name)
        before = (repository.root / name).read_bytes()
        outcome = ak_docs("index")
        assert (outcome.code, "is no index" in outcome.err) == (1, True)
        assert (repository.root / name).read_bytes() == before


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_index_with_entities_outlives_the_default_of_this_command(repository: GitRepository, form: str) -> None:
    built = run("index", "--json").json()
    kept = ak_docs("index", *(["--text"] if form == "text" else []))
    assert kept.code == 0
    told = kept.out if form == "text" else kept.err
    assert "Kept the index that the context 'shop' holds" in told
    assert "`enabled` under [index.knowledgeEntities] in trivium.toml to true" in told
    if form == "json":
        assert (kept.json()["hash"], kept.json()["kept"], kept.json()["enabled"]) == (built["hash"], True, True)
        assert kept.json()["counts"]["decisions"] == 2
        assert kept.json()["diagnostics"] == [kept.err.strip()]
    assert json.loads((repository.root / ".trivium/index.json").read_bytes())["indexHash"] == built["hash"]
    assert run("why", "Cache", "--json").json()["entities"]


def test_entities_that_are_switched_off_in_so_many_words_are_replaced(repository: GitRepository) -> None:
    run("index")
    repository.write("trivium.toml", "[index.knowledgeEntities]\nenabled = false\n")
    assert ak_docs("index").json()["enabled"] is False
    assert DISABLED in run("why", "Cache").out


def test_a_kept_index_gives_guidance_that_helps(repository: GitRepository) -> None:
    run("index")
    repository.write("docs/more.md", "# More\n")
    assert ak_docs("index").json()["kept"] is True
    answer = ak_docs("why", "Cache", "--json")
    assert answer.code == 0
    told = answer.json()
    validate(told)
    assert (told["enabled"], told["entities"], told["coverage"]) == (False, [], [])
    assert "`enabled` under [index.knowledgeEntities] in trivium.toml to true" in told["guidance"]
    assert told["guidance"] in ak_docs("why", "Cache").out
    repository.write("trivium.toml", "[index.knowledgeEntities]\nenabled = true\n")
    ak_docs("index")
    assert ak_docs("why", "Cache", "--json").json()["entities"]


def test_other_settings_are_told_apart_from_other_files(repository: GitRepository) -> None:
    run("index")
    repository.write("trivium.toml", "[index.knowledgeEntities]\nenabled = false\n")
    outcome = ak_docs("why", "Cache")
    assert outcome.code == 1
    assert "it holds decisions, concepts and changes, and the settings in force leave them out" in outcome.err
    assert "set `enabled` under [index.knowledgeEntities] in trivium.toml to true" in outcome.err
    assert "Build it with: ak-docs index" in outcome.err
    repository.write("trivium.toml", "[index.knowledgeEntities]\nenabled = true\n")
    assert ak_docs("index").json()["enabled"] is True
    for program in (run, ak_docs):
        assert program("why", "Cache", "--json").json()["entities"]


def test_an_index_without_entities_tells_the_other_command_so(repository: GitRepository) -> None:
    ak_docs("index")
    outcome = run("why", "Cache")
    assert outcome.code == 1
    assert "built without decisions, concepts and changes (the default of ak-docs)" in outcome.err
    assert "`enabled` under [index.knowledgeEntities] in trivium.toml set to true" in outcome.err
    assert "Build it with: trivium index" in outcome.err
    repository.write("doc-bridge.config.json", "{}")
    assert "index.knowledgeEntities.enabled in doc-bridge.config.json" in run("why", "Cache").err


def test_an_empty_folder_gives_no_index(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_home / "void").mkdir()
    monkeypatch.chdir(own_home / "void")
    outcome = ak_docs("index")
    assert (outcome.code, outcome.out) == (1, "")
    assert "There is nothing to read" in outcome.err
    assert not (own_home / "void/.trivium").exists()
