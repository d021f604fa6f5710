"""The text form tells an answer to people: order, evidence, supersession in words, nothing that moves a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from tests.why_examples import (
    FIFO_ID,
    LRU_ID,
    commit,
    entity,
    entry,
    index,
    module,
    region,
    relation,
    worked_example,
)
from trivium.why.guidance import DISABLED
from trivium.why.model import Conventional, Coverage, FactEvidence, Index, Link
from trivium.why.prepared import PreparedIndex
from trivium.why.query import asked_paths, knowledge_why
from trivium.why.render import ANY_KIND, NAMES, NOTHING, TRUNCATED, UNKNOWN, render_text


def shown(source: Index, target: str, **request: Any) -> str:
    prepared = PreparedIndex(source)
    return render_text(knowledge_why(prepared, target, **request), prepared.local.entity)


def test_the_worked_example_as_text() -> None:
    assert shown(worked_example(mentions=True), "Cache") == (
        """\
Why: Cache

decision: Evict the least recently used [accepted] 2026-02-03
  id: knowledge-decision:docs/adr/0002-lru.md:Evict the least recently used
  supersedes Evict in order of arrival (docs/adr/0001-fifo.md), which is superseded
  evidence: docs/adr/0002-lru.md:1-9
  affects: src/cache.ts (`Cache`)

concept: Lookup cache
  id: knowledge-concept:Lookup cache
  also called: Cache
  evidence: docs/cache.md:1-8
  defines: src/cache.ts (`Cache`)

change: Evict by last use in src/cache.ts.
  id: knowledge-change:CHANGELOG.md:Evict by last use in src/cache.ts.:1.1.0
  evidence: CHANGELOG.md:5
  affects: src/cache.ts

Cited by CHANGELOG.md via src/cache.ts (line 5)
Cited by docs/adr/0002-lru.md via src/cache.ts (line 9)
Cited by docs/guide.md via src/cache.ts (line 3)

complete: documents
git:first-parent: not-analyzed — There is no repository.
"""
    )


def test_supersession_is_told_in_words_in_both_directions() -> None:
    old = shown(worked_example(), FIFO_ID)
    assert "  superseded by Evict the least recently used (docs/adr/0002-lru.md), which is accepted\n" in old


def test_decisions_that_hold_stand_before_those_that_they_replaced() -> None:
    text = shown(worked_example(), "docs/adr/0001-fifo.md", kind="decision")
    assert text.count("\ndecision: ") == 1
    source = worked_example()
    for found in source.entities or []:
        found.links.append(Link(kind="affected-path", target="src/cache.ts"))
    text = shown(source, "src/cache.ts", kind="decision")
    assert text.index(LRU_ID) < text.index(FIFO_ID)


def test_supersession_without_a_status_or_out_of_reach() -> None:
    decided = entity("decision", "New", links=(Link(kind="supersedes", target="knowledge-decision:Old"),))
    source = index(entities=[decided, entity("decision", "Old")])
    assert "  supersedes Old (docs/decision.md), which states no status\n" in shown(source, "New")
    assert "  supersedes knowledge-decision:Old\n" in render_text(knowledge_why(source, "New"))


def test_commits_stand_last_the_newest_first_with_short_id_and_date() -> None:
    breaking = commit(3, "a", date="2026-01-02")
    breaking.conventional = Conventional(type="feat", breaking=True)
    source = index(
        entities=[
            commit(1, "a", date="2026-01-03"),
            commit(2, "a", date="2026-01-09"),
            breaking,
            entity("change", "Entry", region("CHANGELOG.md", 5, 6), paths=("a",)),
            entity("concept", "C", paths=("a",)),
            entity("decision", "D", paths=("a",)),
        ]
    )
    text = shown(source, "a")
    order = [
        text.index(part) for part in (": D\n", ": C\n", ": Entry\n", ": Commit 2\n", ": Commit 1\n", ": Commit 3\n")
    ]
    assert order == sorted(order)
    assert "  evidence: commit 0000000 2026-01-09\n" in text
    assert text.count("a breaking change") == 1


def test_commits_that_touch_more_than_an_entity_has_room_for_follow_the_others() -> None:
    many = [f"src/m{number:03}.py" for number in range(64)]
    source = index(
        entities=[
            commit(1, "a", date="2026-01-03"),
            commit(2, "a", *many[:63], date="2026-01-09"),
            commit(3, "a", *many[:62], date="2026-01-02"),
            commit(4, "a", *many[:63], date="2026-01-08"),
            entity("change", "Entry", region("CHANGELOG.md", 5, 6), paths=("a",)),
        ]
    )
    text = shown(source, "a")
    order = [text.index(part) for part in (": Entry\n", *(f": Commit {number}\n" for number in (1, 3, 2, 4)))]
    assert order == sorted(order)


@pytest.mark.parametrize("target", ["Commit 2", f"{2:040x}", f"knowledge-change:{2:040x}"])
def test_a_commit_that_is_asked_for_comes_first_among_the_commits(target: str) -> None:
    many = [f"src/m{number:03}.py" for number in range(64)]
    source = index(entities=[commit(1, "src/m001.py"), commit(2, *many), commit(3, "src/m002.py")])
    (wide,) = (found for found in source.entities or [] if found.name == "Commit 2")
    assert wide.id == f"knowledge-change:{2:040x}"
    text = shown(source, target)
    assert text.index(": Commit 2\n") < min(text.index(": Commit 1\n"), text.index(": Commit 3\n"))


def shown_with_paths(source: Index, target: str, kind: str | None = None) -> str:
    prepared = PreparedIndex(source)
    asked = asked_paths(prepared, target)
    return render_text(knowledge_why(prepared, target, kind=kind), prepared.local.entity, kind=kind, asked=asked)


def test_an_unknown_name_is_told_to_be_unknown_and_how_names_are_found() -> None:
    text = shown_with_paths(worked_example(), "nothing_here")
    assert text.splitlines()[:3] == [
        "Why: nothing_here",
        UNKNOWN.format(target="nothing_here"),
        NAMES,
    ]
    assert text.count("That does not show that there was no reason") == 1
    assert "complete: documents" in text


def test_close_names_stand_in_place_of_how_names_are_found() -> None:
    lines = shown_with_paths(worked_example(), "cache").splitlines()
    assert lines[1] == UNKNOWN.format(target="cache")
    assert lines[2].startswith("Close to it, to ask for instead: `Cache`")
    words = shown_with_paths(worked_example(), "why do we evict").splitlines()
    assert words[1] == UNKNOWN.format(target="why do we evict")
    assert "SEARCH CONCEPT" in words[2]


@pytest.mark.parametrize(("target", "kind"), [("src/none.ts", None), ("Loner", None), ("Cache", "change"), (".", None)])
def test_what_is_known_but_has_no_reason_recorded_is_not_called_unknown(target: str, kind: str | None) -> None:
    source = index(module("src/none.ts", "Loner"), entities=[entity("concept", "Cache")])
    text = shown_with_paths(source, target, kind)
    assert NOTHING.format(kind=kind or ANY_KIND) in text or "concept: Cache" in text
    assert "Nothing here is called" not in text


def test_without_the_paths_of_the_target_nothing_is_called_unknown() -> None:
    assert "Nothing here is called" not in shown(worked_example(), "nothing_here")


def test_an_index_without_entities_calls_nothing_unknown() -> None:
    source = index()
    source.entities = None
    assert "Nothing here is called" not in shown_with_paths(source, "nothing_here")


def test_a_wide_change_stays_readable_and_shows_what_was_asked_first() -> None:
    paths = tuple(f"src/m{number:02}.py" for number in range(60))
    source = index(
        *(module(path) for path in paths), entities=[commit(1, *paths, facts=tuple(f"module:{path}" for path in paths))]
    )
    text = shown(source, "src/m41.py")
    line = next(line for line in text.splitlines() if line.startswith("  affects: "))
    assert line.startswith("  affects: src/m41.py, src/m00.py, ")
    assert line.endswith(", src/m06.py and 52 more (--json shows all)")
    assert max(map(len, text.splitlines())) < 200
    assert "module:" not in text


def many(count: int, *beyond: str) -> Index:
    """A decision about many files; those beyond its links are kept beside it."""
    full = entity("decision", "Wide", paths=tuple(f"src/m{n:02}.py" for n in range(count)))
    modules = [module(path) for path in beyond]
    return index(*modules, entities=[full], entities_by_path={path: [full.id] for path in beyond})


def affects(source: Index, target: str) -> str:
    prepared = PreparedIndex(source)
    view = prepared.local
    text = render_text(
        knowledge_why(prepared, target), view.entity, beyond=view.beyond, asked=asked_paths(prepared, target)
    )
    return next(line for line in text.splitlines() if line.startswith("  affects: "))


def test_how_the_rest_of_a_list_is_had_is_true_beyond_the_bound_of_links_too() -> None:
    assert affects(many(64), "src/m60.py").endswith("src/m06.py and 56 more (--json shows all)")
    beyond = [f"src/x{n:02}.py" for n in range(20)]
    line = affects(many(64, *beyond), "src/x19.py:4")
    assert line.startswith("  affects: src/x19.py, src/m00.py, ")
    assert line.endswith("src/m06.py and 76 more (--json shows 57 of them)")
    whole = affects(many(64, *beyond), "Wide")
    assert whole.endswith(" and 76 more (--json shows 56 of them)")


def test_the_asked_path_is_among_those_shown_however_it_is_asked() -> None:
    paths = (*(f"src/m{n:02}.py" for n in range(30)), "src/m63.py")
    late = index(
        module("src/m63.py", "Late"), entities=[entity("decision", "Wide", paths=paths, facts=("module:src/m63.py",))]
    )
    for target in ("src/m63.py", "./src/m63.py", "src/m63.py:9", "Late", "module:src/m63.py", "src\\m63.py"):
        assert affects(late, target).startswith("  affects: src/m63.py, ")


def test_an_empty_answer_denies_only_what_was_asked_for() -> None:
    prepared = PreparedIndex(worked_example())
    answer = knowledge_why(prepared, FIFO_ID, kind="concept")
    text = render_text(answer, kind="concept")
    assert "Among what was read no concept is linked to this target; without the kind there is 1 entity." in text
    assert "No concept that was read matches." in text
    mentioned = index(module("a.py", mentioned_by=["document:b.md"]), entry("document", "b.md"))
    text = shown(mentioned, "a.py")
    assert "No decision, concept or change that was read matches." in text
    assert "Cited by b.md via a.py" in text


def test_a_fact_is_told_as_evidence_only_when_no_link_names_it() -> None:
    source = index(
        module("a", "N"),
        entities=[
            entity("decision", "D", region("d.md", 1, 2), FactEvidence(fact_id="package:p"), paths=("a",)),
            entity("concept", "C", region("c.md", 3, 3), FactEvidence(fact_id="module:a"), facts=("module:a",)),
        ],
    )
    text = shown(source, "a")
    assert "  evidence: d.md:1-2, fact package:p\n  affects: a\n" in text
    assert "  evidence: c.md:3\n  affects: a\n" in text


def test_a_long_reason_of_coverage_is_cut() -> None:
    record = Coverage(analyzer="x", scope="mentions", status="partial", reason="ambiguous " * 90)
    text = shown(index(entities=[entity("decision", "D")], coverage=[record]), "D")
    assert text.endswith(" … (--json shows all)\n")
    assert len(text.splitlines()[-1]) < 300


def test_guidance_budget_memory_and_truncation_have_their_lines_in_order() -> None:
    source = index(
        module("a"),
        entities=[entity("decision", f"D{number}", paths=("a",)) for number in range(3)],
        memory_relations=[relation("knowledge-decision:D0", "note", "D0", raw_path=".agent-memory/note.md")],
    )
    text = shown(source, "a", limit=2, budget_tokens=10)
    total = knowledge_why(source, "a", limit=2, budget_tokens=10)["budget"]["tokens"]["total"]
    parts = [
        "Why: a\nThis answer is above budgetTokens",
        f"\nBudget: {total}/10 tokens (approximate), fits: no\n",
        "\ndecision: D0\n  id: knowledge-decision:D0\n",
        "\nmemory-supports note → knowledge-decision:D0: by alias D0 in .agent-memory/note.md\n",
        "\ncomplete: documents\n",
        f"\n{TRUNCATED}\n",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "fits: yes" in shown(source, "a", budget_tokens=9999)


def test_an_empty_answer_is_not_worded_as_proof() -> None:
    text = shown(worked_example(), "entirely different")
    assert NOTHING.format(kind=ANY_KIND) in text
    assert "complete: documents" in text


def test_a_disabled_index_shows_its_guidance_alone() -> None:
    source = worked_example()
    source.entities = None
    assert shown(source, "Cache") == f"Why: Cache\n{DISABLED}\n"


def test_text_of_a_repository_cannot_steer_the_terminal() -> None:
    evil = entity("concept", "Red\x1b[31m\nalert\u202e\x9b", aliases=("tab\there",), status="a\rb")
    text = shown(index(entities=[evil]), evil.name)
    assert not set(text) & set("\x1b\r\t\u202e\x9b")
    assert "concept: Red [31m alert" in text


@pytest.mark.parametrize("color", [False, True])
def test_colour_is_only_used_when_asked_for(color: bool) -> None:
    text = render_text(knowledge_why(worked_example(), "Cache"), color=color)
    assert ("\x1b[1m" in text) is color


def test_equal_answers_give_equal_text() -> None:
    source = worked_example()
    assert source.entities is not None
    first = shown(source, "Cache")
    source.entities.reverse()
    source.entries.reverse()
    assert shown(source, "Cache") == first


def test_commits_follow_the_first_parent_line_where_it_is_known() -> None:
    source = index(entities=[commit(number, "a", date="2026-01-09") for number in (1, 2, 3, 4)])
    source.commits = [f"knowledge-change:{number:040x}" for number in (3, 1, 2)]
    prepared = PreparedIndex(source)
    answer = knowledge_why(prepared, "a")
    text = render_text(answer, prepared.local.entity, commits=source.commits)
    assert [line[-1] for line in text.splitlines() if line.startswith("change: ")] == ["3", "1", "2", "4"]
    kept = knowledge_why(prepared, "a", limit=2)["entities"]
    assert [found["name"] for found in kept] == ["Commit 1", "Commit 3"]


def covered(*records: Coverage, target: str = "D") -> list[str]:
    """The lines about coverage."""
    entities = [entity("decision", "D", paths=("src/a.py",))]
    return (
        shown(index(module("src/a.py"), entities=entities, coverage=list(records)), target)
        .split("\n\n")[-1]
        .split("\n")
    )


def record(scope: str, status: Any = "partial", reason: str | None = None) -> Coverage:
    return Coverage(analyzer="x", scope=scope, status=status, reason=reason)


def test_what_was_read_completely_is_one_line_and_the_rest_three() -> None:
    whole = [record(scope, "complete", "All read.") for scope in ("documents", "git:first-parent", "symbols:python")]
    assert covered(*whole) == ["complete: documents, git:first-parent, symbols:python", ""]
    some = [record(f"s{number}", reason="why not") for number in range(3)]
    assert covered(*whole, *some)[1:] == [*(f"s{number}: partial — why not" for number in range(3)), ""]
    many = [record(f"s{number}", reason="why not") for number in range(5)]
    assert covered(*many) == [
        "s0: partial — why not",
        "s1: partial — why not",
        "not complete either: s2 (partial), s3 (partial), s4 (partial) (--json shows all)",
        "",
    ]


def test_ambiguous_names_are_told_when_they_concern_the_target() -> None:
    reason = "ambiguous-symbol: Cache (module:src/a.py, module:src/b.py); D (module:x.py, module:y.py); E (module:z.py)"
    unconcerned = covered(record("mentions", reason=reason), target="knowledge-decision:D")
    assert unconcerned == ["mentions: partial — 3 names in documents with several owners (--json shows all)", ""]
    named = covered(record("mentions", reason=reason))
    assert named[0].startswith("mentions: partial — several owners: D (module:x.py, module:y.py), and 2 other names")
    owner = covered(record("mentions", reason=reason), target="src/a.py")
    assert "several owners: Cache (module:src/a.py, module:src/b.py), and 2 other names" in owner[0]
    cut = covered(record("mentions", reason=f"{reason[:-8]} …"), target="knowledge-decision:D")
    assert "at least 3 names" in cut[0]
