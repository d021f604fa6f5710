"""Questions have vectors of their own: the map that is shipped, and embedders that tell questions from texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest

from scripts import labelled
from scripts.question_map import fit_without
from trivium.errors import EmbeddingError
from trivium.search import question_map
from trivium.search.embed_builtin import BuiltinEmbedder, builtin
from trivium.search.embedder import CheckedEmbedder, EmbedderInfo


def test_questions_are_moved_towards_their_answers_and_texts_are_not() -> None:
    embedder = builtin()
    texts = ["Where did she hide the spare key?", "Which day is the bin collected?", "The bins are emptied on Fridays."]
    plain, moved = embedder.embed(texts), embedder.embed_questions(texts)
    assert numpy.allclose(numpy.linalg.norm(moved, axis=1), 1, atol=1e-5)
    assert (moved != plain).any(axis=1).all()
    ahead = [vectors[1] @ plain[2] - vectors[1] @ plain[0] for vectors in (plain, moved)]
    assert ahead[1] > ahead[0] + 0.05, "the answer is further before another question than it was"
    assert (embedder.embed(texts) == plain).all()


def test_the_shipped_map_is_the_one_that_its_script_fits() -> None:
    shipped, fitted = question_map.load(), fit_without(labelled.UNTOUCHED)
    step = abs(shipped.weights).max() / 127
    assert abs(shipped.weights - fitted.weights).max() < 4 * step
    assert abs(shipped.bias - fitted.bias).max() < 0.001


def test_a_map_is_read_as_it_was_saved(tmp_path: Path) -> None:
    made = numpy.random.default_rng(1).normal(size=(9, 8)).astype("float32")
    one = question_map.QuestionMap(made[:8] / 50, made[8] / 10).rounded()
    one.save(tmp_path / "map.npz")
    read = question_map.load(tmp_path / "map.npz")
    assert numpy.allclose(read.weights, one.weights, atol=1e-7)
    assert (read.bias == one.bias).all()


def test_a_map_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "map.npz"
    broken.write_bytes(b"PK\x03\x04 and no more")
    load = question_map.load
    monkeypatch.setattr(question_map, "load", lambda: load(broken))
    with pytest.raises(EmbeddingError, match="map of questions"):
        BuiltinEmbedder().embed_questions(["anything"])


def test_an_embedder_of_ones_own_may_tell_questions_from_texts() -> None:
    class Apart:
        def info(self) -> EmbedderInfo:
            return EmbedderInfo("apart", 2, floor=0.1, ceiling=0.7)

        def embed(self, texts: Sequence[str]) -> numpy.ndarray:
            return numpy.array([[1.0, 0.0]] * len(texts))

        def embed_questions(self, texts: Sequence[str]) -> numpy.ndarray:
            return numpy.array([[0.0, 1.0]] * len(texts))

    checked = CheckedEmbedder(Apart())
    assert checked.embed(["a"]).tolist() == [[1.0, 0.0]]
    assert checked.embed_questions(["a"]).tolist() == [[0.0, 1.0]]
