"""`knowledge_why` keeps every promise of reference 7 to 10 and answers the worked example exactly."""

from __future__ import annotations

import builtins
import io
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.why_examples import (
    CHANGE_ID,
    CONCEPT_ID,
    COVERAGE,
    FIFO_ID,
    FILES,
    HASH,
    LRU_ID,
    MODULE,
    commit,
    defined,
    entity,
    entry,
    index,
    module,
    region,
    relation,
    worked_example,
)
from tests.why_lookups import looked_up
from trivium.why.chat import entities_for_question
from trivium.why.guidance import DISABLED, DISABLED_SERVICE
from trivium.why.model import Coverage, Entity, Index, Link, Mention, sha256
from trivium.why.prepared import PreparedIndex
from trivium.why.query import asked_paths, knowledge_why
from trivium.why.request import WhyRequestError
from trivium.why.response import to_json, validate
from trivium.why.suggest import Askable, suggestions
from trivium.why.tools import call_tool


def ask(source: Index | PreparedIndex, target: str, **request: Any) -> dict[str, Any]:
    """The answer, validated; every answer in this file passes through here."""
    answer = knowledge_why(source, target, **request)
    assert to_json(knowledge_why(looked_up(source), target, **request)) == to_json(answer)
    validate(answer)
    for name in ("entities", "documents"):
        ids = [item["id"] for item in answer[name]]
        assert ids == sorted(ids)
        assert len(ids) <= request.get("limit", 20)
    return answer


def names(answer: dict[str, Any]) -> list[str]:
    return [found["name"] for found in answer["entities"]]


# --- the worked example (15) ----------------------------------------------------------------------


def test_the_worked_example_is_answered_exactly() -> None:
    def whole(path: str) -> dict[str, Any]:
        text = FILES[path]
        last = len(text.splitlines())
        found = {"kind": "document-region", "path": path, "lineStart": 1, "lineEnd": last}
        return {**found, "regionHash": sha256(text.encode())}

    fact = {"kind": "fact", "factId": "module:src/cache.ts"}
    line = "- Evict by last use in `src/cache.ts`.\n"
    assert ask(worked_example(), "Cache") == {
        "type": "knowledge-why",
        "schemaVersion": 1,
        "source": f"index:{HASH}",
        "target": "Cache",
        "enabled": True,
        "entities": [
            {
                "schemaVersion": 1,
                "id": "knowledge-change:CHANGELOG.md:Evict by last use in src/cache.ts.:1.1.0",
                "kind": "change",
                "name": "Evict by last use in src/cache.ts.",
                "aliases": [],
                "evidence": [
                    {
                        "kind": "document-region",
                        "path": "CHANGELOG.md",
                        "lineStart": 5,
                        "lineEnd": 5,
                        "regionHash": sha256(line.encode()),
                    },
                    fact,
                ],
                "links": [
                    {"kind": "affected-fact", "target": "module:src/cache.ts"},
                    {"kind": "affected-path", "target": "src/cache.ts"},
                ],
            },
            {
                "schemaVersion": 1,
                "id": "knowledge-concept:Lookup cache",
                "kind": "concept",
                "name": "Lookup cache",
                "aliases": ["Cache"],
                "evidence": [whole("docs/cache.md"), fact],
                "links": [{"kind": "defines-symbol", "target": "module:src/cache.ts", "symbol": "Cache"}],
            },
            {
                "schemaVersion": 1,
                "id": "knowledge-decision:docs/adr/0002-lru.md:Evict the least recently used",
                "kind": "decision",
                "name": "Evict the least recently used",
                "aliases": [],
                "evidence": [whole("docs/adr/0002-lru.md"), fact],
                "links": [
                    {"kind": "affected-fact", "target": "module:src/cache.ts"},
                    {"kind": "affected-fact", "target": "module:src/cache.ts", "symbol": "Cache"},
                    {"kind": "affected-path", "target": "src/cache.ts"},
                    {
                        "kind": "supersedes",
                        "target": "knowledge-decision:docs/adr/0001-fifo.md:Evict in order of arrival",
                    },
                ],
                "status": "accepted",
                "date": "2026-02-03",
            },
        ],
        "documents": [
            {
                "id": f"document:{path}",
                "path": path,
                "contentHash": sha256(FILES[path].encode()),
                "context": "via src/cache.ts",
            }
            for path in ("CHANGELOG.md", "docs/adr/0002-lru.md", "docs/guide.md")
        ],
        "coverage": [
            {"analyzer": "knowledge-entities", "scope": "documents", "status": "complete"},
            {
                "analyzer": "knowledge-entities",
                "scope": "git:first-parent",
                "status": "not-analyzed",
                "reason": "There is no repository.",
            },
        ],
        "truncated": False,
    }


def test_in_the_worked_example_case_counts() -> None:
    answer = ask(worked_example(), "cache")
    assert (answer["entities"], answer["documents"], answer["truncated"]) == ([], [], False)
    assert answer["coverage"] == ask(worked_example(), "Cache")["coverage"]
    assert "`Cache`" in answer["guidance"]


@pytest.mark.parametrize("target", ["src/cache.ts", "Lookup cache"])
def test_the_worked_example_by_path_and_by_concept(target: str) -> None:
    expected = ask(worked_example(), "Cache")
    assert ask(worked_example(), target) == {**expected, "target": target}


def test_the_worked_example_with_a_limit_of_one() -> None:
    answer = ask(worked_example(), "Cache", limit=1)
    assert [found["id"] for found in answer["entities"]] == [CONCEPT_ID]
    assert [found["path"] for found in answer["documents"]] == ["CHANGELOG.md"]
    assert answer["truncated"]


def test_the_worked_example_through_the_tool() -> None:
    result = call_tool("knowledge.decision", {"target": "Cache"}, worked_example)
    answer = ask(worked_example(), "Cache", kind="decision")
    assert result.text == to_json(answer)
    assert [found["id"] for found in answer["entities"]] == [LRU_ID]
    assert len(answer["documents"]) == 3


def test_the_worked_example_below_its_budget() -> None:
    answer = ask(worked_example(), "Cache", budget_tokens=1)
    assert answer.pop("budget")["fits"] is False
    assert "no limit fits" in answer.pop("guidance")
    assert answer == ask(worked_example(), "Cache")


def test_a_superseded_record_is_reached_by_its_id() -> None:
    answer = ask(worked_example(), FIFO_ID)
    assert [found["id"] for found in answer["entities"]] == [FIFO_ID]
    assert answer["entities"][0]["links"] == [{"kind": "superseded-by", "target": LRU_ID}]


def test_context_tells_the_line_of_a_mention_where_it_is_known() -> None:
    contexts = [found["context"] for found in ask(worked_example(mentions=True), "Cache")["documents"]]
    assert contexts == ["via src/cache.ts (line 5)", "via src/cache.ts (line 9)", "via src/cache.ts (line 3)"]


# --- step 1: the request --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "request_"),
    [
        ("target", {"target": ""}),
        ("target", {"target": " \t\n"}),
        ("target", {"target": "x" * 513}),
        ("target", {"target": "x\ud800"}),
        ("target", {"target": None}),
        ("target", {"target": 7}),
        ("kind", {"kind": "symbol"}),
        ("kind", {"kind": ["decision"]}),
        ("limit", {"limit": 0}),
        ("limit", {"limit": 101}),
        ("limit", {"limit": True}),
        ("limit", {"limit": 2.0}),
        ("limit", {"limit": None}),
        ("budget_tokens", {"budget_tokens": 0}),
        ("budget_tokens", {"budget_tokens": 1_000_001}),
        ("budget_tokens", {"budget_tokens": "9"}),
        ("profile", {"profile": "admin"}),
    ],
)
def test_a_bad_request_is_refused_by_the_argument_s_name(argument: str, request_: dict[str, Any]) -> None:
    with pytest.raises(WhyRequestError) as caught:
        knowledge_why(worked_example(), **{"target": "Cache", **request_})
    assert caught.value.argument == argument
    assert caught.value.message.startswith(argument)
    assert caught.value.hint


def test_a_bad_request_is_refused_although_the_index_is_disabled() -> None:
    with pytest.raises(WhyRequestError):
        knowledge_why(disabled(), " ")


@pytest.mark.parametrize("request_", [{"limit": 1}, {"limit": 100}, {"budget_tokens": 1}, {"budget_tokens": 1_000_000}])
def test_bounds_themselves_are_allowed(request_: dict[str, int]) -> None:
    ask(worked_example(), "Cache", **request_)
    ask(worked_example(), "x" * 512, **request_)


def test_the_target_is_trimmed_and_otherwise_as_asked() -> None:
    assert ask(worked_example(), "  ./src/cache.ts \n")["target"] == "./src/cache.ts"


# --- steps 4 to 8: matching -----------------------------------------------------------------------


@pytest.mark.parametrize("target", [CONCEPT_ID, "Lookup cache", "Cache"])
def test_an_entity_is_found_by_id_name_and_alias(target: str) -> None:
    assert "Lookup cache" in names(ask(worked_example(), target))


@pytest.mark.parametrize("target", ["Stores", "Stor", "store", "src/stor", "src/store.tsx"])
def test_only_whole_names_match(target: str) -> None:
    source = index(
        module("src/store.ts", "Store"), entities=[entity("concept", "Store", facts=("module:src/store.ts",))]
    )
    assert names(ask(source, target)) == []


@pytest.mark.parametrize("target", [MODULE, "src/cache.ts", "Cache"])
def test_an_entry_is_found_by_id_path_and_exported_name(target: str) -> None:
    assert names(ask(worked_example(), target)) == [
        "Evict by last use in src/cache.ts.",
        "Lookup cache",
        "Evict the least recently used",
    ]


def test_matching_goes_one_step_only() -> None:
    a, b, c = (f"module:src/{name}.ts" for name in "abc")
    source = index(
        module("src/a.ts", "A"),
        module("src/b.ts"),
        module("src/c.ts"),
        entities=[
            entity("decision", "One", facts=(a, b)),
            entity("decision", "Two", facts=(b, c)),
            entity("decision", "Three", facts=(c,)),
        ],
    )
    assert names(ask(source, "A")) == ["One"]
    assert names(ask(source, "One")) == ["One", "Two"]


def test_supersession_is_not_followed() -> None:
    assert [found["id"] for found in ask(worked_example(), FIFO_ID)["entities"]] == [FIFO_ID]


def test_the_kind_filters_after_the_keys_are_built() -> None:
    answer = ask(worked_example(), "Lookup cache", kind="decision")
    assert names(answer) == ["Evict the least recently used"]
    assert len(answer["documents"]) == 3


def test_a_kind_without_entities_says_that_there_are_others() -> None:
    answer = ask(worked_example(), FIFO_ID, kind="concept")
    assert answer["entities"] == []
    assert answer["guidance"] == (
        "Among what was read no concept is linked to this target; without the kind there is 1 entity."
    )


def test_a_link_s_symbol_matches_the_target() -> None:
    link = Link(kind="affected-fact", target="module:src/a.py", symbol="Cache.get")
    source = index(module("src/a.py", "Cache", language="python"), entities=[entity("decision", "Get", links=(link,))])
    assert names(ask(source, "Cache.get")) == ["Get"]


@pytest.mark.parametrize("target", ["Cache.get", "why.store.Cache", "why.store.Cache.get", "src.why.store.Cache"])
def test_dotted_names_lead_to_the_module_that_declares_them(target: str) -> None:
    source = index(
        module(
            "src/why/store.py",
            "Cache",
            language="python",
            definitions=[defined("Cache.get", 3, 5), defined("Cache._grow", 6, 9)],
        ),
        entities=[entity("decision", "One", facts=("module:src/why/store.py",))],
    )
    assert names(ask(source, target)) == ["One"]
    assert (
        names(ask(source, "Cache.put")) == names(ask(source, "Cache._grow")) == names(ask(source, "store.Cache")) == []
    )


def test_default_and_star_are_never_symbols() -> None:
    source = index(
        module("src/a.ts", "default", "*", language="typescript"),
        entities=[entity("decision", "One", facts=("module:src/a.ts",))],
    )
    assert names(ask(source, "default")) == names(ask(source, "*")) == []


def two_owners() -> Index:
    a, b = "module:src/a.ts", "module:src/b.ts"
    return index(
        module("src/a.ts", "Twin"),
        module("src/b.ts", "Twin"),
        entities=[
            entity("decision", "Cites Twin", region("docs/adr/1.md")),
            entity("concept", "About Twin", region("docs/glossary.md")),
            entity("change", "Logged Twin", region("CHANGELOG.md")),
            commit(1, "src/a.ts", facts=(a,)),
            commit(2, "src/b.ts", facts=(b,)),
        ],
        entities_by_name={"Twin": ["knowledge-decision:Cites Twin", "knowledge-concept:About Twin"]},
        coverage=[
            Coverage(analyzer="knowledge-entities", scope="documents", status="partial", reason="ambiguous-symbol")
        ],
    )


def test_a_symbol_with_two_owners_gives_both_modules_changes_and_what_cites_the_name() -> None:
    answer = ask(two_owners(), "Twin")
    assert sorted(names(answer)) == ["About Twin", "Cites Twin", "Commit 1", "Commit 2"]
    assert all(not found["links"] for found in answer["entities"] if "Twin" in found["name"])
    assert answer["coverage"][0]["reason"] == "ambiguous-symbol"
    assert names(ask(two_owners(), "src/a.ts")) == ["Commit 1"]


def test_a_symbol_is_answered_at_the_level_of_its_module() -> None:
    source = index(
        module("src/a.ts", "One", "Two", mentioned_by=["document:docs/g.md"]),
        entry("document", "docs/g.md"),
        entities=[commit(1, facts=("module:src/a.ts",))],
    )
    answer = ask(source, "Two")
    assert names(answer) == ["Commit 1"]
    assert answer["documents"][0]["context"] == "via src/a.ts"


def test_the_path_of_a_record_gives_the_record_what_touched_it_and_its_neighbours_by_link() -> None:
    source = index(
        entry("document", "docs/adr/1.md"),
        module("src/a.ts"),
        entities=[
            entity("decision", "Rule", region("docs/adr/1.md"), paths=("src/a.ts",)),
            commit(1, "docs/adr/1.md"),
            commit(2, "src/a.ts"),
            commit(3, "src/b.ts"),
        ],
    )
    assert sorted(names(ask(source, "docs/adr/1.md"))) == ["Commit 1", "Commit 2", "Rule"]
    assert ask(source, "document:docs/adr/1.md")["entities"] == ask(source, "docs/adr/1.md")["entities"]


def test_a_removed_path_is_found_through_commits_and_through_records_that_cite_it() -> None:
    source = index(
        entities=[entity("decision", "Old", region("docs/adr/1.md")), commit(1, "src/gone.ts"), commit(2, "src/x.ts")],
        entities_by_path={"src/gone.ts": ["knowledge-decision:Old"]},
        changes_by_path={"src/gone.ts": [commit(2).id], "src/wide.ts": [commit(2).id]},
    )
    assert sorted(names(ask(source, "src/gone.ts"))) == ["Commit 1", "Commit 2", "Old"]
    assert names(ask(source, "./src/gone.ts")) == names(ask(source, "src/gone.ts"))
    assert names(ask(source, "src/wide.ts:3")) == ["Commit 2"]


def test_paths_beyond_the_bound_of_links_lead_to_their_commit_by_symbol_too() -> None:
    source = index(module("src/a.ts", "A"), entities=[commit(1)], changes_by_path={"src/a.ts": [commit(1).id]})
    assert (
        names(ask(source, "A"))
        == names(ask(source, "src/a.ts"))
        == names(ask(source, "module:src/a.ts"))
        == ["Commit 1"]
    )


def wide(*, links: int = 64, beyond: tuple[str, ...] = ()) -> Index:
    """A decision with as many links as an entity holds, and more that are kept beside it."""
    full = entity("decision", "Wide", region("docs/adr/1.md"), paths=tuple(f"p/{n:03}" for n in range(links)))
    return index(
        module("src/late.py", "Late", language="python"),
        entities=[full, commit(1, "src/late.py", facts=("module:src/late.py",))],
        entities_by_path={path: [full.id] for path in beyond},
        entities_by_name={"Late": [full.id]} if beyond else {},
    )


@pytest.mark.parametrize("target", ["src/late.py", "Late", "module:src/late.py", "src/late.py:3", "src"])
def test_what_a_decision_cites_beyond_its_links_still_finds_it_and_the_answer_says_so(target: str) -> None:
    source = wide(beyond=("src/late.py", "module:src/late.py"))
    answer = ask(source, target)
    assert names(answer) == ["Commit 1", "Wide"]
    if target != "Late":  # a cited name leads there by itself
        assert "One entity names this target beyond the 64 links that an entity holds." in answer["guidance"]
    assert names(ask(source, target, kind="decision")) == ["Wide"]
    assert "guidance" not in ask(source, "p/003")


def test_what_a_direct_entity_cites_beyond_its_links_is_a_key_too() -> None:
    source = wide(beyond=("src/late.py", "src/gone.py"))
    assert names(ask(source, "Wide")) == ["Commit 1", "Wide"]
    changes = index(
        module("src/a.ts"),
        entities=[commit(1, *(f"p/{n:03}" for n in range(64))), entity("decision", "D", facts=("module:src/a.ts",))],
        changes_by_path={"src/a.ts": [commit(1).id]},
    )
    assert names(ask(changes, "Commit 1")) == ["Commit 1", "D"]


@pytest.mark.parametrize("target", ["src/query", "src/query/", "./src/query", "area:src/query", "src\\query"])
def test_a_directory_stands_for_everything_below_it(target: str) -> None:
    source = index(
        entry("area", "src/query"),
        module("src/query/a.ts", mentioned_by=["document:docs/g.md"]),
        module("src/query/deep/b.ts"),
        module("src/query2/c.ts"),
        entry("document", "docs/g.md"),
        paths=("src/query/schema.sql",),
        entities=[
            entity("decision", "A", facts=("module:src/query/a.ts",)),
            entity("decision", "B", facts=("module:src/query/deep/b.ts",)),
            entity("decision", "C", facts=("module:src/query2/c.ts",)),
            entity("decision", "Schema", paths=("src/query/schema.sql",)),
            entity("decision", "Inside", region("src/query/README.md")),
        ],
        coverage=COVERAGE,
    )
    source.paths.append("src/query/README.md")
    answer = ask(source, target)
    assert names(answer) == ["A", "B", "Inside", "Schema"]
    assert [found["context"] for found in answer["documents"]] == ["via src/query/a.ts"]


@pytest.mark.parametrize(
    ("target", "root"),
    [
        ("./src/x.ts", None),
        ("src//x.ts", None),
        ("lib/../src/x.ts", None),
        ("src\\x.ts", None),
        (".\\src\\x.ts:12", None),
        ("src/x.ts:12", None),
        ("src/x.ts:3-9", None),
        ("src/x.ts:9-3", None),
        ("src/x.ts:12:5", None),
        ("src/x.ts#L12", None),
        ("./src/x.ts#L3-L9", None),
        ("/repo/src/x.ts", "/repo"),
        ("/repo/src/x.ts:4", "/repo/"),
        ("C:\\repo\\src\\x.ts", "C:\\repo"),
    ],
)
def test_ways_to_write_a_path_lead_to_the_same_entities(target: str, root: str | None) -> None:
    source = index(module("src/x.ts"), entities=[entity("decision", "X", paths=("src/x.ts",))])
    answer = ask(source, target, root=root)
    assert (names(answer), answer["target"]) == (["X"], target)


@pytest.mark.parametrize(
    ("target", "root"),
    [
        ("../src/x.ts", None),
        ("/repo/src/x.ts", None),
        ("/repository/src/x.ts", "/repo"),
        ("/src/x.ts", "/repo"),
        ("src/x.ts:0", None),
        ("src/x.ts:", None),
        ("src/x.ts:a", None),
        ("other/src/x.ts", None),
    ],
)
def test_other_paths_lead_nowhere(target: str, root: str | None) -> None:
    source = index(module("src/x.ts"), entities=[entity("decision", "X", paths=("src/x.ts",))])
    assert names(ask(source, target, root=root)) == []


def foldered() -> Index:
    """Files of one name at the root and in a folder, and a concept that is called like a file of the folder."""
    return index(
        module("src/q.py"),
        module("README.py"),
        module("src/README.py"),
        module("src/deep/x.py"),
        module("src/term"),
        entities=[
            entity("decision", "Q", paths=("src/q.py",)),
            entity("decision", "Root", paths=("README.py",)),
            entity("decision", "Source", paths=("src/README.py",)),
            entity("decision", "X", paths=("src/deep/x.py",)),
            entity("concept", "term"),
            entity("decision", "T", paths=("src/term",)),
        ],
    )


@pytest.mark.parametrize(
    ("target", "found", "said"),
    [
        ("q.py", ["Q"], "Read from the working folder: `src/q.py`."),
        ("./q.py", ["Q"], "Read from the working folder: `src/q.py`."),
        ("q.py:7", ["Q"], "Read from the working folder: `src/q.py`."),
        ("deep", ["X"], "Read from the working folder: `src/deep`."),
        ("..\\src\\q.py", ["Q"], "Read from the working folder: `src/q.py`."),
        ("../README.py", ["Root"], "Read from the working folder: `README.py`."),
        ("src/q.py", ["Q"], None),
        ("/repo/src/q.py", ["Q"], None),
        ("./src/q.py", ["Q"], "Read from the root: `src/q.py`."),
        ("README.py", ["Root"], "Read from the root. The one in the working folder is `src/README.py`."),
        ("./README.py", ["Source"], "Read from the working folder: `src/README.py`."),
        (".", ["Q", "Source", "T", "X"], "Read from the working folder: `src`."),
        ("..", ["Q", "Root", "Source", "T", "X"], "Read from the working folder: `.`."),
        ("term", ["term"], None),
        ("./term", ["T"], "Read from the working folder: `src/term`."),
        ("../../x.py", [], None),
        ("nothing.py", [], None),
    ],
)
def test_a_target_is_also_read_from_the_working_folder(target: str, found: list[str], said: str | None) -> None:
    answer = ask(foldered(), target, root="/repo", folder="src")
    assert (names(answer), answer.get("guidance"), answer["target"]) == (found, said, target)


def test_names_close_to_a_path_of_the_working_folder_are_suggested() -> None:
    assert "`src/q.py`" in ask(foldered(), "q.pyx", folder="src")["guidance"]


@pytest.mark.parametrize(
    ("target", "paths"),
    [
        ("q.py:3", ["src/q.py"]),
        ("Cache", ["src/cache.ts"]),
        ("src/deep", ["src/deep"]),
        ("unheard of", []),
    ],
)
def test_the_paths_that_a_target_stands_for(target: str, paths: list[str]) -> None:
    source = PreparedIndex(worked_example() if target == "Cache" else foldered())
    assert asked_paths(source, target, folder="src") == paths


def packaged() -> Index:
    return index(
        entry("package", "package.json", id="package:@shop/all", title="@shop/all"),
        entry("package", "ui/package.json", id="package:ui", title="ui", mentioned_by=["document:docs/g.md"]),
        module("ui/form.ts"),
        entry("document", "docs/g.md"),
        entities=[
            entity("decision", "Manifest", paths=("ui/package.json",)),
            entity("decision", "Form", facts=("module:ui/form.ts",)),
        ],
    )


@pytest.mark.parametrize("target", ["package:ui", "@shop/all", "package:@shop/all"])
def test_a_package_is_asked_for_by_its_name_and_id(target: str) -> None:
    answer = ask(packaged(), target)
    if target == "package:ui":
        assert names(answer) == ["Manifest"]
        assert [found["path"] for found in answer["documents"]] == ["docs/g.md"]
        assert answer["guidance"] == "This is the package of `ui/package.json`. To ask for all that lies in it: `ui`."
    else:
        assert "`package.json`. To ask for all that lies in it: `.`." in answer["guidance"]
    assert "`@shop/all`" in ask(packaged(), "@shop/al")["guidance"]


def test_a_package_and_a_folder_of_one_name_are_both_meant() -> None:
    assert names(ask(packaged(), "ui")) == ["Form", "Manifest"]


def test_a_whole_commit_id_is_its_commit_and_the_beginning_of_one_is_suggested() -> None:
    sha = "1a2b3c4d" + "0" * 32
    change = entity("change", "Fix", *commit(int(sha, 16)).evidence, id=f"knowledge-change:{sha}", paths=("src/a.ts",))
    source = index(entities=[change, entity("decision", "D", paths=("src/a.ts",)), entity("change", "1a2b: x")])
    assert names(ask(source, sha)) == ["Fix", "D"]
    for start in ("1a2b", "1a2b3c4", "1A2B3C4D0", sha.upper()):
        answer = ask(source, start)
        assert answer["entities"] == []
        assert f"Close to it, to ask for instead: `{sha}`" in answer["guidance"]
    for unknown in ("9999999", "f" * 39 + "0"):
        assert ask(source, unknown)["guidance"] == "No commit that was read has an id that is or begins so."
    for word in ("1a2", "defaced", "1a2b3cx", "12"):
        assert "guidance" not in ask(source, word)
    for asked in (sha, "1a2b3c4", "9999999"):
        hidden = ask(source, asked, profile="service")
        assert (hidden["entities"], "guidance" in hidden) == ([], False)


def test_a_line_beyond_the_end_of_a_file_is_told() -> None:
    source = index(
        module("src/a.py", line_count=120),
        module("src/unknown.py"),
        entities=[entity("decision", "D", paths=("src/a.py",))],
    )
    answer = ask(source, "src/a.py:99999")
    assert names(answer) == ["D"]
    assert answer["guidance"] == "`src/a.py` ends at line 120; this answer is about the whole file."
    assert ask(source, "src/a.py:100-130")["guidance"] == "`src/a.py` ends at line 120."
    for inside in ("src/a.py:120", "src/a.py:1-120", "src/unknown.py:99999"):
        assert "guidance" not in ask(source, inside)


def test_a_path_that_exists_as_written_wins_over_its_reading_with_lines() -> None:
    source = index(
        module("src/x:3"),
        module("src/x"),
        entities=[entity("decision", "A", paths=("src/x:3",)), entity("decision", "B", paths=("src/x",))],
    )
    assert names(ask(source, "src/x:3")) == ["A"]
    assert names(ask(source, "src/x:3:7")) == ["A"]
    assert names(ask(source, "src/x:4:7")) == ["B"]


def test_a_line_of_a_document_gives_the_entities_whose_region_holds_it() -> None:
    terms = [
        entity("concept", name, region("docs/glossary.md", first, first + 3)) for name, first in [("A", 1), ("B", 5)]
    ]
    source = index(entry("document", "docs/glossary.md"), entities=terms)
    assert names(ask(source, "docs/glossary.md")) == ["A", "B"]
    assert names(ask(source, "docs/glossary.md:4")) == ["A"]
    assert names(ask(source, "docs/glossary.md:4-5")) == ["A", "B"]
    assert names(ask(source, "docs/glossary.md:90")) == []


def lined() -> Index:
    at = "module:src/x.py"
    named = Link(kind="affected-fact", target=at, symbol="Cache")
    elsewhere = Link(kind="affected-fact", target="module:src/y.py", symbol="hidden")
    return index(
        module(
            "src/x.py",
            "Cache",
            language="python",
            definitions=[defined("Cache", 3, 20), defined("Cache.get", 5, 9), defined("hidden", 30, 40)],
        ),
        module("src/y.py", "hidden", "Cache", language="python"),
        entities=[
            entity("decision", "Whole module", facts=(at,)),
            entity("concept", "Names it", links=(named,)),
            entity("concept", "Cites twin", region("docs/t.md")),
            entity("decision", "Other hidden", links=(elsewhere,)),
        ],
        entities_by_name={"Cache": ["knowledge-concept:Cites twin"]},
    )


def test_a_line_of_a_module_names_the_definition_around_it_and_keeps_its_entities_first() -> None:
    answer = ask(lined(), "src/x.py:6")
    assert answer["guidance"] == "Line 6 of src/x.py lies in `Cache.get` (lines 5-9); links are to the whole file."
    assert names(answer) == ["Cites twin", "Names it", "Whole module"]
    assert names(ask(lined(), "src/x.py:6", limit=2)) == ["Cites twin", "Names it"]
    assert "`Cache` (lines 3-20)" in ask(lined(), "src/x.py:6-12")["guidance"]
    assert names(ask(lined(), "src/x.py:1")) == ["Names it", "Whole module"]
    assert "guidance" not in ask(lined(), "src/x.py:1")


def test_a_definition_counts_only_for_the_module_that_exports_it() -> None:
    assert "Other hidden" not in names(ask(lined(), "src/x.py:31"))


# --- steps 9 to 13: limit, memory, documents, coverage --------------------------------------------


def crowded(entities: int = 0, documents: int = 0, relations: int = 0) -> Index:
    cites = [f"document:docs/{number:03}.md" for number in range(documents)]
    return index(
        module("src/a.ts", mentioned_by=cites),
        *(entry("document", cite.removeprefix("document:")) for cite in cites),
        entities=[entity("decision", f"{number:03}", paths=("src/a.ts",)) for number in range(entities or 1)],
        memory_relations=[relation("knowledge-decision:000", f"note {number:03}") for number in range(relations)],
    )


@pytest.mark.parametrize("crowd", ["entities", "documents", "relations"])
def test_each_list_alone_sets_truncated(crowd: str) -> None:
    key = {"relations": "memoryRelations"}.get(crowd, crowd)
    exact, more = (ask(crowded(**{crowd: number}), "src/a.ts") for number in (20, 21))
    assert (len(exact[key]), exact["truncated"]) == (20, False)
    assert (len(more[key]), more["truncated"]) == (20, True)
    assert len(ask(crowded(**{crowd: 101}), "src/a.ts", limit=100)[key]) == 100


def test_decisions_survive_many_changes_and_the_newest_commits_are_kept() -> None:
    commits = [commit(n, "src/a.ts", date=f"2026-01-{1 + n * 7 % 30:02}") for n in range(1, 30)]
    source = index(
        module("src/a.ts"),
        entities=[
            *commits,
            entity("decision", "D", paths=("src/a.ts",)),
            entity("concept", "C", paths=("src/a.ts",)),
            entity("change", "Entry", region("CHANGELOG.md"), paths=("src/a.ts",)),
        ],
    )
    answer = ask(source, "src/a.ts", limit=5)
    newest = sorted(commits, key=lambda found: found.date or "", reverse=True)[:2]
    assert sorted(names(answer)) == sorted(["C", "D", "Entry", *(found.name for found in newest)])
    assert names(ask(source, "src/a.ts", limit=1)) == ["D"]
    assert names(ask(source, "src/a.ts", limit=2)) == ["C", "D"]


def test_decisions_that_hold_are_kept_before_superseded_ones() -> None:
    past = Link("superseded-by", "knowledge-decision:B new")
    source = index(
        module("src/a.ts"),
        entities=[
            entity("decision", "A old", region("docs/adr/0001-a.md"), paths=("src/a.ts",), links=(past,)),
            entity("decision", "B new", region("docs/adr/0002-b.md"), paths=("src/a.ts",)),
            entity("concept", "C", paths=("src/a.ts",)),
        ],
    )
    assert names(ask(source, "src/a.ts", limit=1)) == ["B new"]
    assert names(ask(source, "src/a.ts", limit=2)) == ["A old", "B new"]


def test_direct_entities_are_kept_before_decisions() -> None:
    source = index(entities=[commit(1, "src/a.ts"), entity("decision", "D", paths=("src/a.ts",))])
    assert names(ask(source, "Commit 1")) == ["Commit 1", "D"]
    assert names(ask(source, "Commit 1", limit=1)) == ["Commit 1"]


def test_memory_relations_support_only_returned_entities_in_the_order_of_the_contract() -> None:
    source = worked_example()
    source.memory_relations = [
        relation(LRU_ID, "b"),
        relation(FIFO_ID, "a"),
        relation(LRU_ID, "a", "z"),
        relation(LRU_ID, "a", "y", raw_path=".agent-memory/a.md"),
        relation(CONCEPT_ID, "c"),
    ]
    found = ask(source, "Cache")["memoryRelations"]
    assert [(r["target"], r["candidateId"], r["evidence"]["value"]) for r in found] == [
        (CONCEPT_ID, "c", "Cache"),
        (LRU_ID, "a", "y"),
        (LRU_ID, "a", "z"),
        (LRU_ID, "b", "Cache"),
    ]
    assert "rawPath" not in found[0]["evidence"]
    assert "memoryRelations" not in ask(source, "Cache", kind="change")


def test_documents_come_from_both_lists_and_name_every_path_that_led_to_them() -> None:
    source = index(
        module("src/a.ts", covered_by=["document:docs/g.md"]),
        module("src/b.ts", mentioned_by=["document:docs/g.md", "document:docs/none.md", "module:src/a.ts"]),
        entry("document", "docs/g.md"),
        entities=[entity("decision", "D", paths=("src/b.ts",), facts=("module:src/a.ts",))],
        mentions=[Mention(entry="module:src/b.ts", document="document:docs/g.md", line=4)],
    )
    assert ask(source, "D")["documents"] == [
        {
            "id": "document:docs/g.md",
            "path": "docs/g.md",
            "contentHash": HASH,
            "context": "via src/a.ts, src/b.ts (line 4)",
        }
    ]


def test_coverage_is_that_of_the_whole_index_whatever_matches() -> None:
    every = [ask(worked_example(), target, limit=1)["coverage"] for target in ("Cache", "nothing", "src/cache.ts")]
    assert every[0] == every[1] == every[2]
    assert len(every[0]) == 2


# --- the restricted profile -----------------------------------------------------------------------


def historic() -> Index:
    sha = commit(1).id
    mixed = entity("change", "Mixed", region("CHANGELOG.md"), *commit(2).evidence, paths=("src/a.ts",))
    return index(
        module("src/a.ts"),
        entities=[commit(1, "src/a.ts", "src/gone.ts"), mixed, entity("decision", "D", paths=("src/a.ts",))],
        memory_relations=[relation(sha), relation("knowledge-decision:D")],
        changes_by_path={"src/wide.ts": [sha]},
        coverage=[
            Coverage(analyzer="knowledge-entities", scope="git:first-parent", status="complete", reason="window"),
            Coverage(analyzer="knowledge-entities", scope="documents", status="complete"),
        ],
    )


def test_the_restricted_profile_leaves_out_commits_and_says_that_history_was_not_read() -> None:
    assert sorted(names(ask(historic(), "src/a.ts"))) == ["Commit 1", "D", "Mixed"]
    answer = ask(historic(), "src/a.ts", profile="service")
    assert names(answer) == ["D"]
    assert [found["target"] for found in answer["memoryRelations"]] == ["knowledge-decision:D"]
    git = [record for record in answer["coverage"] if record["scope"] == "git:first-parent"]
    assert [(record["analyzer"], record["status"]) for record in git] == [("knowledge-query", "not-analyzed")]
    assert len(answer["coverage"]) == 2


@pytest.mark.parametrize("target", ["src/gone.ts", "src/wide.ts", "Commit 1", "Commit 2", "commit 1", commit(1).id])
def test_the_restricted_profile_gives_no_hint_of_a_commit(target: str) -> None:
    answer = ask(historic(), target, profile="service")
    assert answer["entities"] == []
    assert "guidance" not in answer


# --- section 10: disabled and unknown -------------------------------------------------------------


def disabled() -> Index:
    source = worked_example()
    source.entities = None
    return source


def test_an_index_without_entities_gives_guidance_and_no_error() -> None:
    answer = ask(disabled(), "Cache")
    assert answer == {
        "type": "knowledge-why",
        "schemaVersion": 1,
        "source": f"index:{HASH}",
        "target": "Cache",
        "enabled": False,
        "guidance": DISABLED,
        "entities": [],
        "documents": [],
        "coverage": [],
        "truncated": False,
    }
    assert "index.knowledgeEntities.enabled" in DISABLED
    assert "restricted service" in DISABLED


def test_a_disabled_restricted_answer_carries_the_history_record_alone() -> None:
    answer = ask(disabled(), "Cache", profile="service")
    assert answer["guidance"] == DISABLED_SERVICE
    for word in ("index.knowledgeEntities.enabled", "build the index again", "stored index"):
        assert word in DISABLED_SERVICE
    assert not re.search("`|trivium|ak-docs", DISABLED_SERVICE)  # no command that the profile forbids
    coverage = answer["coverage"]
    assert [(record["scope"], record["status"]) for record in coverage] == [("git:first-parent", "not-analyzed")]


def test_nothing_found_is_an_answer_without_guidance_when_nothing_is_close() -> None:
    answer = ask(worked_example(), "entirely-different")
    assert (answer["entities"], answer["documents"], answer["truncated"]) == ([], [], False)
    assert "guidance" not in answer


@pytest.mark.parametrize(
    ("target", "suggested"),
    [
        ("CACHE", "Cache"),
        ("Cach", "Cache"),
        ("Cachee", "Cache"),
        ("Casche", "Cache"),
        ("Cahce", "Cache"),
        ("lookup cache", "Lookup cache"),
        ("src/cache.tsx", "src/cache.ts"),
        ("./SRC/cache.ts", "src/cache.ts"),
        ("src/cashe.ts:7", "src/cache.ts"),
        ("docs/guide.m", "docs/guide.md"),
    ],
)
def test_names_in_other_case_or_one_edit_away_are_suggested_not_answered(target: str, suggested: str) -> None:
    answer = ask(worked_example(), target)
    assert answer["entities"] == []
    assert f"`{suggested}`" in answer["guidance"]


def test_how_lines_are_written_is_told_where_that_is_what_is_wrong() -> None:
    for target in ("src/cache.ts:0", "src/cache.ts:end", "./src/cache.ts:a-b"):
        answer = ask(worked_example(), target)
        assert answer["entities"] == []
        assert (
            answer["guidance"]
            == "There is `src/cache.ts`; its lines are written `src/cache.ts:12` or `src/cache.ts:3-9`."
        )
    assert "guidance" not in ask(worked_example(), "src/none.py:0")


@pytest.mark.parametrize("target", ["Cxchx", "ca", "chaeC", "src/cash.ts"])
def test_names_further_away_are_not_suggested(target: str) -> None:
    assert "guidance" not in ask(worked_example(), target)


def test_at_most_five_names_are_suggested_and_those_in_other_case_come_first() -> None:
    askable = Askable(["name1", "name2", "name3", "name4", "name5", "NAME", "Name"])
    assert suggestions(askable, ["name"]) == ["NAME", "Name", "name1", "name2", "name3"]


def test_a_known_target_gets_no_suggestions() -> None:
    source = index(module("src/a.ts"), module("src/b.ts"), entities=[])
    assert "guidance" not in ask(source, "src/a.ts")


def test_guidance_stays_within_its_bound_when_names_are_long() -> None:
    long = [entity("concept", f"{'n' * 250}{letter}") for letter in "abc"]
    answer = ask(index(entities=long), "n" * 250, budget_tokens=1)
    assert len(answer["guidance"]) <= 512


_TEXT = st.text(alphabet="abAB/", min_size=3, max_size=7)


@given(target=_TEXT, known=st.lists(_TEXT, max_size=30))
@settings(max_examples=150, deadline=None)
def test_suggestions_are_exactly_the_names_in_other_case_or_one_edit_away(target: str, known: list[str]) -> None:
    def edits(text: str) -> set[str]:
        found = {text[:i] + text[i + 1 :] for i in range(len(text))}
        for letter in "abAB/":
            found |= {text[:i] + letter + text[i:] for i in range(len(text) + 1)}
            found |= {text[:i] + letter + text[i + 1 :] for i in range(len(text))}
        return found | {text[:i] + text[i + 1] + text[i] + text[i + 2 :] for i in range(len(text) - 1)}

    near = {name for name in known if name.casefold() == target.casefold() or name in edits(target)} - {target}
    found = suggestions(Askable(known), [target])
    assert set(found) <= near
    assert len(found) == min(5, len(near))


# --- section 9: the budget ------------------------------------------------------------------------


def test_the_budget_report_counts_the_answer_without_itself() -> None:
    answer = ask(worked_example(), "Cache", budget_tokens=100_000)
    budget = answer.pop("budget")
    total = -(-(4 + len(msgspec.json.encode(answer).decode())) // 4) + 2
    assert budget == {
        "budgetTokens": 100_000,
        "tokens": {"total": total, "budget": 100_000, "core": total, "sections": {}},
        "fits": True,
        "order": ["evidenceExcerpts", "related", "neighbours", "summaries"],
        "kept": [],
        "dropped": [],
        "tokenMethod": "approximate",
    }
    assert answer == ask(worked_example(), "Cache")


def test_an_answer_fits_exactly_at_its_core_and_not_one_token_below() -> None:
    core = ask(worked_example(), "Cache", budget_tokens=100_000)["budget"]["tokens"]["core"]
    assert ask(worked_example(), "Cache", budget_tokens=core)["budget"]["fits"]
    assert not ask(worked_example(), "Cache", budget_tokens=core - 1)["budget"]["fits"]


def test_lengths_are_code_points() -> None:
    plain, wide = (index(entities=[entity("concept", name)]) for name in ("n" * 40, "\U0001f600" * 40))
    totals = [
        ask(source, name, budget_tokens=9999)["budget"]["tokens"]["total"]
        for source, name in ((plain, "n" * 40), (wide, "\U0001f600" * 40))
    ]
    assert totals[0] == totals[1]


@given(
    entities=st.integers(0, 30), documents=st.integers(0, 30), relations=st.integers(0, 30), budget=st.integers(1, 4000)
)
@settings(max_examples=40, deadline=None)
def test_the_limit_named_in_guidance_is_the_largest_that_fits(
    entities: int, documents: int, relations: int, budget: int
) -> None:
    source = PreparedIndex(crowded(entities, documents, relations))

    def fits(limit: int) -> bool:
        found: bool = ask(source, "src/a.ts", limit=limit, budget_tokens=budget)["budget"]["fits"]
        return found

    answer = ask(source, "src/a.ts", budget_tokens=budget)
    if answer["budget"]["fits"]:
        assert "guidance" not in answer
        return
    fitting = [limit for limit in range(1, 20) if fits(limit)]
    if fitting:
        assert f"{max(fitting)} is the largest limit that fits" in answer["guidance"]
    else:
        needed = re.search(r"with limit 1 it needs (\d+) tokens", answer["guidance"])
        assert needed is not None
        assert ask(source, "src/a.ts", limit=1, budget_tokens=int(needed[1]))["budget"]["fits"]
        assert int(needed[1]) > budget


def test_memory_evidence_stays_below_the_budget() -> None:
    answer = ask(crowded(relations=3), "src/a.ts", budget_tokens=1)
    assert len(answer["memoryRelations"]) == 3


def test_a_disabled_answer_reports_its_budget_too() -> None:
    answer = ask(disabled(), "Cache", budget_tokens=5)
    assert not answer["budget"]["fits"]
    assert answer["guidance"].startswith(DISABLED)


# --- order, purity, speed -------------------------------------------------------------------------


@st.composite
def indexes(draw: st.DrawFn) -> Index:
    """Small repositories in which names, paths and links meet often."""
    modules = [f"src/{name}.ts" for name in "abcd"]
    documents = [f"docs/{name}.md" for name in "xyz"]
    cited = st.lists(st.sampled_from([f"document:{path}" for path in documents]), max_size=3, unique=True)
    symbols = st.lists(st.sampled_from(["A", "B", "Twin"]), max_size=3, unique=True)
    entries = [module(path, *draw(symbols), mentioned_by=draw(cited), covered_by=draw(cited)) for path in modules]
    entries += [entry("document", path) for path in documents]
    targets = st.lists(st.sampled_from([*modules, "src/gone.ts"]), max_size=3, unique=True)
    entities: list[Entity] = []
    for number in range(draw(st.integers(0, 14))):
        kind = draw(st.sampled_from(["decision", "concept", "change", "commit"]))
        paths = tuple(draw(targets))
        facts = tuple(f"module:{path}" for path in paths)
        if kind == "commit":
            entities.append(commit(number, *paths, facts=facts, date=f"2026-01-0{draw(st.integers(1, 9))}"))
        else:
            name = f"{draw(st.sampled_from(['A', 'B', 'n']))}{number}"
            alias = (draw(st.sampled_from(["A", "B", "C"])),)
            where = region(draw(st.sampled_from(documents)), number + 1, number + 2)
            entities.append(entity(kind, name, where, aliases=alias, paths=paths, facts=facts))
    ids = [found.id for found in entities]
    some = st.lists(st.sampled_from(ids), max_size=3, unique=True) if ids else st.just([])
    return index(
        *entries,
        entities=entities,
        memory_relations=[relation(one, f"n{number % 3}") for number, one in enumerate(ids)],
        entities_by_name={"Twin": draw(some)},
        entities_by_path={"src/gone.ts": draw(some)},
        changes_by_path={"src/a.ts": draw(some)},
    )


TARGETS = [
    "A",
    "B",
    "C",
    "Twin",
    "src/a.ts",
    "src",
    "docs",
    "docs/x.md",
    "docs/x.md:3",
    "src/gone.ts",
    "module:src/b.ts",
    ".",
]


@given(source=indexes(), target=st.sampled_from(TARGETS), limit=st.integers(1, 8), random=st.randoms())
@settings(max_examples=120, deadline=None)
def test_answers_do_not_depend_on_the_order_of_lists_and_keep_their_limits(
    source: Index, target: str, limit: int, random: Any
) -> None:
    first = ask(source, target, limit=limit)
    assert len(first.get("memoryRelations", ())) <= limit
    for found in (source.entries, source.paths, source.entities, source.memory_relations, source.coverage):
        random.shuffle(found)
    for some in (source.entities_by_name, source.entities_by_path, source.changes_by_path):
        for ids in some.values():
            random.shuffle(ids)
    for one in source.entries:
        random.shuffle(one.symbols)
        random.shuffle(one.mentioned_by)
        random.shuffle(one.covered_by)
    assert to_json(ask(source, target, limit=limit)) == to_json(first)


@given(source=indexes(), target=st.sampled_from(TARGETS))
@settings(max_examples=60, deadline=None)
def test_a_higher_limit_only_adds(source: Index, target: str) -> None:
    kept: set[str] = set()
    for limit in (1, 2, 5, 100):
        ids = {found["id"] for found in ask(source, target, limit=limit)["entities"]}
        assert kept <= ids
        kept = ids


def _refuse(what: str) -> Callable[..., Any]:
    def refused(*_args: Any, **_named: Any) -> Any:
        raise AssertionError(f"{what} was used")

    return refused


def test_the_query_uses_no_file_no_process_and_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    source, off = worked_example(mentions=True), disabled()
    with monkeypatch.context() as patch:
        for owner, name in [
            (socket, "socket"),
            (subprocess, "Popen"),
            (os, "fork"),
            (builtins, "open"),
            (os, "open"),
            (io, "open"),
        ]:
            patch.setattr(owner, name, _refuse(name), raising=False)
        answers = [
            knowledge_why(where, target, profile=profile, budget_tokens=50)
            for where in (source, off)
            for target in ("Cache", "cache", "src/cache.ts:1", "docs", "/x/src/cache.ts", FIFO_ID)
            for profile in ("local", "service")
        ]
        texts = [
            call_tool(tool, {"target": "Cache", "format": written}, lambda: source, profile=profile).text
            for tool in ("knowledge.decision", "knowledge.concept", "knowledge.whyChanged")
            for written in ("json", "text")
            for profile in ("local", "service")
        ]
        asked = entities_for_question(source, "What is the Cache for?")
    assert len(answers) == 24
    assert len(texts) == 12
    assert [found.id for found in asked] == [CONCEPT_ID]
    assert [found["id"] for found in answers[0]["entities"]] == [CHANGE_ID, CONCEPT_ID, LRU_ID]


def test_the_query_leaves_the_index_as_it_was() -> None:
    source = worked_example()
    ask(source, "Cache", limit=1, budget_tokens=3)
    assert source == worked_example()


def large() -> Index:
    modules = [f"src/area{n % 40}/module_{n:04}.py" for n in range(2000)]
    documents = [f"docs/page_{n:03}.md" for n in range(400)]
    entries = [
        module(
            path,
            *(f"Symbol{n}_{k}" for k in range(5)),
            language="python",
            mentioned_by=[f"document:{documents[(n + k) % 400]}" for k in range(3)],
            definitions=[defined(f"Symbol{n}_{k}", 1 + k * 10, 9 + k * 10) for k in range(5)],
        )
        for n, path in enumerate(modules)
    ]
    entries += [entry("document", path) for path in documents]
    entities = [
        commit(
            n,
            *(p := modules[n * 4 : n * 4 + 20]),
            facts=tuple(f"module:{q}" for q in p),
            date=f"2026-01-{n % 28 + 1:02}",
        )
        for n in range(500)
    ]
    entities += [
        entity("decision", f"Decision {n}", region(path), paths=(modules[n],)) for n, path in enumerate(documents)
    ]
    return index(*entries, entities=entities)


def test_a_query_on_a_large_loaded_index_takes_at_most_five_milliseconds() -> None:
    source = PreparedIndex(large())
    targets = ["Symbol7_1", "src/area3/module_0043.py", "src/area3/module_0043.py:12", "Decision 9", "docs/page_007.md"]
    targets += ["src/area3", "Symbol7_9", "src/area3/module_0049.py", "src/area3/module_004.py", "no such thing"]
    slowest = 0.0
    for target in targets:
        knowledge_why(source, target)
        times = []
        for _ in range(7):
            begun = time.process_time()
            knowledge_why(source, target, limit=20)
            times.append(time.process_time() - begun)
        slowest = max(slowest, min(times))
    assert slowest < 0.005


def test_suggestions_are_quick_among_ten_thousand_names() -> None:
    askable = Askable(f"src/module_{number:04}.ts" for number in range(10_000))
    times = []
    for target in ["src/module_12345.ts", "SRC/module_1234.ts", "src/module_123.ts", "src/modulo_1234.ts"]:
        begun = time.process_time()
        assert suggestions(askable, [target])
        times.append(time.process_time() - begun)
    assert min(times) < 0.005


# --- section 13: the pure part of chat ------------------------------------------------------------


def test_a_question_names_entities_by_whole_words_longest_first() -> None:
    source = index(
        entities=[
            entity("concept", "Cache"),
            entity("concept", "Lookup cache", aliases=("LC", "C++ cache")),
            entity("concept", "Cach"),
            entity("decision", "Use @scope/pkg"),
        ]
    )
    asked = [found.name for found in entities_for_question(source, "Does the Cache (Lookup cache) cache Caches?")]
    assert asked == ["Lookup cache", "Cache"]
    assert entities_for_question(source, "Caches, cache, LC, my_Cache") == []
    assert [found.name for found in entities_for_question(source, "Caches and Cache")] == ["Cache"]
    assert [found.name for found in entities_for_question(source, "in C++ cache?")] == ["Lookup cache"]


def test_a_question_names_at_most_eight_entities_ties_by_id() -> None:
    source = index(entities=[entity("concept", f"Term{letter}") for letter in "jihgfedcba"])
    question = " ".join(f"Term{letter}" for letter in "abcdefghij")
    assert [found.name for found in entities_for_question(source, question)] == [
        f"Term{letter}" for letter in "abcdefgh"
    ]
    assert entities_for_question(disabled(), question) == []


def test_words_that_nothing_has_are_told_where_to_search() -> None:
    answer = ask(worked_example(), 'why "do" we\\ evict')
    assert answer["guidance"] == (
        "A target is a path, symbol or name, matched exactly. To look for words, search the repository's graph: "
        'SEARCH CONCEPT "why do we evict" LIMIT 10'
    )
    assert len(ask(worked_example(), "word " * 100)["guidance"]) <= 512
    both = ask(worked_example(), "lookup cache")["guidance"]
    assert "`Lookup cache`" in both
    assert "matched exactly" in both
    assert "guidance" not in ask(worked_example(), "Lookup cache")
    assert "guidance" not in ask(worked_example(), "why do we evict", profile="service")
