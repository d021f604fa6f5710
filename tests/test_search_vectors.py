"""Exact search over stored vectors: in step with the store, within its memory, equal from any place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

import trivium
from tests.meaning_support import WordEmbedder, add_document
from trivium import KnowledgeBase
from trivium.search.vectors import Matrices, View, packed
from trivium.store import vectors as stored

DIMENSIONS = 16
OF = stored.Set(1, "concept", "m")


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with trivium.open(tmp_path / "v.db") as kb:
        yield kb


def vectors_of(number: int, seed: int = 0) -> numpy.ndarray:
    found = numpy.random.default_rng(seed).standard_normal((number, DIMENSIONS)).astype("float32")
    return found / numpy.linalg.norm(found, axis=1, keepdims=True)


def fill(kb: KnowledgeBase, vectors: numpy.ndarray, first: int = 1) -> None:
    """Concepts with these vectors; their ids are twice their numbers."""
    with kb._store.write() as session:
        for number, vector in enumerate(vectors, first):
            session.execute(
                "INSERT OR IGNORE INTO concept VALUES (?, 1, 'T', ?, 1, '', jsonb('{}'), jsonb('{}'))",
                (2_000 + 2 * number, f"c{number}"),
            )
            stored.put(session, OF, [stored.NewVector(str(2_000 + 2 * number), 1, f"d{number}", packed(vector))])


def look(kb: KnowledgeBase, matrices: Matrices, question: numpy.ndarray, of: stored.Set = OF) -> View:
    with kb._store.read() as session:
        view = matrices.look(session, of, DIMENSIONS)
        view.ask(numpy.atleast_2d(question))
    return view


def names(view: View, number: int = 10) -> list[int]:
    return [(near.id - 2_000) // 2 for near in view.nearest(number)]


def test_the_nearest_are_those_of_plain_arithmetic(kb: KnowledgeBase) -> None:
    vectors, question = vectors_of(300), vectors_of(1, seed=9)[0]
    fill(kb, vectors)
    view = look(kb, Matrices(64), question)
    expected = numpy.argsort(-(vectors.astype("<f2").astype("float32") @ question))[:20] + 1
    assert names(view, 20) == expected.tolist()
    best = view.nearest(1)[0]
    assert best.digest == f"d{expected[0]}"
    assert best.cosine == pytest.approx(float(vectors[expected[0] - 1] @ question), abs=1e-3)


def test_the_best_of_several_questions_counts(kb: KnowledgeBase) -> None:
    vectors = vectors_of(50)
    fill(kb, vectors)
    view = look(kb, Matrices(64), vectors[[3, 7]])
    assert set(names(view, 2)) == {4, 8}


def test_added_changed_and_deleted_vectors_are_seen(kb: KnowledgeBase) -> None:
    vectors, matrices = vectors_of(40), Matrices(64)
    fill(kb, vectors)
    assert names(look(kb, matrices, vectors[0]), 1) == [1]
    fill(kb, vectors_of(1, seed=5), first=41)
    assert names(look(kb, matrices, vectors_of(1, seed=5)[0]), 1) == [41]
    fill(kb, -vectors[:1], first=1)
    assert 1 not in names(look(kb, matrices, vectors[0]), 5)
    with kb._store.write() as session:
        session.execute("DELETE FROM concept WHERE id = ?", (2_000 + 2 * 41,))
    assert 41 not in names(look(kb, matrices, vectors_of(1, seed=5)[0]), 45)
    assert len(look(kb, matrices, vectors[0])) == 40


def test_ties_are_in_the_order_of_ids(kb: KnowledgeBase) -> None:
    vector = vectors_of(1)[0]
    fill(kb, numpy.stack([vector] * 30))
    assert names(look(kb, Matrices(64), vector), 30) == list(range(1, 31))


def test_what_does_not_fit_into_memory_is_read_from_the_store_with_the_same_result(kb: KnowledgeBase) -> None:
    vectors, question = vectors_of(200), vectors_of(1, seed=9)[0]
    fill(kb, vectors)
    small = Matrices(0)
    with kb._store.read() as session:
        view = small.look(session, OF, DIMENSIONS)
        view.ask(numpy.atleast_2d(question))
        assert names(view, 20) == names(look(kb, Matrices(64), question), 20)
        vector = view.vector(2_000 + 2 * 5)
        assert vector is not None
        assert numpy.allclose(vector, vectors[4], atol=1e-3)
        assert view.of(2_000 + 2 * 5) is not None


def test_the_least_recently_used_matrix_is_given_up(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(kb, vectors_of(100))
    matrices = Matrices(64)
    matrices._limit = 100 * DIMENSIONS * 4 + 100
    other = stored.Set(1, "concept", "other")
    with kb._store.write() as session:
        stored.put(session, other, [stored.NewVector("2002", 1, "", packed(vectors_of(1)[0]))])
    look(kb, matrices, vectors_of(1)[0])
    look(kb, matrices, vectors_of(1)[0], other)
    assert list(matrices._held) == [OF, other]
    matrices._limit = 100 * DIMENSIONS * 4
    look(kb, matrices, vectors_of(1)[0], other)
    assert list(matrices._held) == [other]


def test_vectors_of_chunks_follow_the_live_version(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "m.db", embedder=WordEmbedder(dimensions=DIMENSIONS)) as kb:
        kb.hold_embedding()
        ctx = kb.create_context("papers", name="Papers")._number
        add_document(kb, "papers", "a.md", ["one boat", "two sails"])
        kb.embed_pending()
        of = stored.Set(ctx, "chunk", "test/words")
        question = WordEmbedder(dimensions=DIMENSIONS).embed(["two sails"])[0]
        matrices = Matrices(64)
        assert len(look(kb, matrices, question, of).nearest(10)) == 2
        with kb._store.write() as session:
            session.execute("UPDATE chunk SET live = 0 WHERE text = 'two sails'")
            session.execute("UPDATE context SET live_version = live_version + 1 WHERE id = ?", (ctx,))
        assert len(look(kb, matrices, question, of).nearest(10)) == 1
