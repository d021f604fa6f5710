"""Killed writers lose nothing that was acknowledged and leave nothing half done (see `scripts.crash`)."""

from __future__ import annotations

from pathlib import Path

import pytest

import trivium
from scripts import crash


@pytest.mark.slow
@pytest.mark.parametrize(("synchronous", "points"), [("NORMAL", 14), ("FULL", 6)])
def test_killed_writers_leave_whole_statements(tmp_path: Path, synchronous: str, points: int) -> None:
    figures = crash.run(tmp_path, points, synchronous, seed=7)
    assert figures.faults == []
    assert figures.ok
    assert figures.points == points
    assert figures.acknowledged > points


@pytest.fixture
def held() -> tuple[trivium.KnowledgeBase, crash.Load]:
    """A store with sixty statements of the load, and the load itself."""
    load = crash.Load(3)
    kb = trivium.open()
    for _ in range(60):
        statement = load.statement()
        crash._execute(kb, statement)
        load.done(statement)
    return kb, load


def test_the_model_of_the_load_is_what_the_store_holds(held: tuple[trivium.KnowledgeBase, crash.Load]) -> None:
    kb, load = held
    assert crash.contents(kb) == load.state
    assert load.state.merged
    assert any(len(link[0]) == 3 for link in load.state.links)


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        ('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Gauge", name: "g7"} }', "lost"),
        ('UPSERT { CONCEPT { {type: "Item", name: "s60-0"} SET ATTRIBUTES {seq: 60, part: 0} } }', "halved"),
        ('UPDATE ?x SET ATTRIBUTES {n: 1000} WHERE { ?x {type: "Gauge", name: "g3"} }', "halved"),
    ],
)
def test_the_comparison_finds_damage(
    held: tuple[trivium.KnowledgeBase, crash.Load], tmp_path: Path, damage: str, kind: str
) -> None:
    kb, load = held
    assert "result" in kb.execute_kip({"command": damage})
    harness = crash.Harness(tmp_path, 1, "NORMAL")
    with pytest.raises(AssertionError, match=r"missing|extra|different"):
        harness._compare(kb, load, load.statement("block"), "the file")
    assert getattr(harness.figures, kind) == 1


def test_a_statement_under_way_may_be_there_whole(
    held: tuple[trivium.KnowledgeBase, crash.Load], tmp_path: Path
) -> None:
    kb, load = held
    statement = load.statement("several")
    crash._execute(kb, statement)
    harness = crash.Harness(tmp_path, 1, "NORMAL")
    further = harness._compare(kb, load, statement, "the file")
    assert (further.number, harness.figures.present) == (load.number + 1, 1)
    with pytest.raises(AssertionError, match="extra"):
        harness._compare(kb, load, None, "the file")
