"""The doctor finds each kind of damage, names it, and finds none where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium

SETUP = """UPSERT {
  CONCEPT ?type { {type: "$ConceptType", name: "Tea"} }
  CONCEPT ?kind { {type: "$PropositionType", name: "blends_with"} }
}
UPSERT {
  CONCEPT ?a { {type: "Tea", name: "Assam"} }
  CONCEPT ?b { {type: "Tea", name: "Bergamot"} SET PROPOSITIONS { ("blends_with", ?a) } }
}"""


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(tmp_path / "a.db", embedder="none") as kb:
        assert "result" in kb.execute_kip({"command": SETUP})
        context = kb.create_context("papers")
        context.add_bytes("a.md", b"# Tea\n\nAssam is a tea of great strength.\n")
        context.curate()
        yield kb


def change(kb: trivium.KnowledgeBase, *statements: str) -> None:
    with kb._store.write() as session:
        for statement in statements:
            session.execute(statement)


def faults(kb: trivium.KnowledgeBase) -> dict[str, Any]:
    report = kb.doctor()
    found = {check["name"]: check["detail"] for check in report["checks"] if not check["ok"]}
    assert report["ok"] == (not found)
    return found


def test_what_is_sound_is_called_sound(kb: trivium.KnowledgeBase) -> None:
    assert faults(kb) == {}


@pytest.mark.parametrize(
    ("damage", "check", "number"),
    [
        ("DELETE FROM concept WHERE name = 'Assam'", "links have both ends", 1),
        ("DELETE FROM counter WHERE kind = 't' AND key = 'Tea'", "type counters are right", 1),
        ("UPDATE counter SET n = n + 1 WHERE kind = 't' AND key = 'Tea'", "type counters are right", 1),
        ("UPDATE counter SET n = 0 WHERE kind = 't' AND key = 'Tea'", "type counters are right", 1),
        ("INSERT INTO counter VALUES (1, 't', 'Coffee', 3)", "type counters are right", 1),
        ("DELETE FROM counter WHERE kind = 'p' AND key = 'blends_with'", "predicate counters are right", 1),
        ("UPDATE counter SET n = 7 WHERE kind = 'p' AND key = 'blends_with'", "predicate counters are right", 1),
        ("UPDATE concept SET ctx = 77 WHERE name = 'Bergamot'", "everything belongs to a context", 1),
        ("DELETE FROM context WHERE slug = 'papers'", "everything belongs to a context", None),
        ("DELETE FROM concept_text WHERE rowid = 2", "the text index is complete", 1),
        ("DELETE FROM document_text", "sources and documents are whole", 1),
        ("DELETE FROM source_content", "sources and documents are whole", 1),
        (
            "INSERT INTO vector VALUES (NULL, 1, 'chunk', 'x', 'm', 0, '', x'')",
            "no vector is left behind",
            1,
        ),
        ("UPDATE sequence SET next = 1 WHERE kind = 'link'", "ids are below their sequences", None),
        ("DELETE FROM chunk", "the indexes of chunks and artifacts are complete", None),
    ],
)
def test_each_kind_of_damage_is_found(kb: trivium.KnowledgeBase, damage: str, check: str, number: int | None) -> None:
    change(kb, damage)
    found = faults(kb)
    assert check in found
    if number is not None:
        assert found[check].startswith(f"{number} ")


def test_counters_of_what_is_being_removed_are_no_fault(kb: trivium.KnowledgeBase) -> None:
    """A deletion that was cut short: the context and its counters are gone, its rows are not yet."""
    from trivium.store import contexts

    ctx = kb.context("papers")._number
    with kb._store.write() as session:
        contexts.remove(session, ctx)
    assert faults(kb) == {}
