"""An embedder for tests that is quick, repeatable and disturbable, and ways to fill a store."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy

from trivium import KnowledgeBase
from trivium.errors import EmbeddingError
from trivium.search.embedder import EmbedderInfo, Refusal
from trivium.search.passage_text import artifact_texts, chunk_texts
from trivium.search.segment import tokens
from trivium.store import chunks

SAME = {
    "headache": "pain",
    "ache": "pain",
    "car": "vehicle",
    "automobile": "vehicle",
    "深色": "dark",
    "kids": "children",
}
"""Words that the embedder takes for others."""


class WordEmbedder:
    """Each word has a direction of its own, those of `SAME` the same one; a text is the sum of its words."""

    def __init__(self, model: str = "test/words", dimensions: int = 64) -> None:
        self.model = model
        self.dimensions = dimensions
        self.texts: list[str] = []
        self.failing: str | None = None
        self.refused: str | None = None
        self.longest = 1_000_000
        self.gate: threading.Event | None = None

    def info(self) -> EmbedderInfo:
        return EmbedderInfo(self.model, self.dimensions, floor=0.2, ceiling=0.9)

    def embed(self, texts: Sequence[str]) -> numpy.ndarray:
        if self.gate is not None:
            self.gate.wait(10)
        if self.failing is not None:
            raise EmbeddingError(self.failing)
        if any(len(text) > self.longest or (self.refused is not None and self.refused in text) for text in texts):
            raise Refusal("one of these texts is none that I can embed")
        self.texts += texts
        return numpy.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> numpy.ndarray:
        words = [SAME.get(word, word) for word in tokens(text)] or [""]
        total = sum((self._direction(word) for word in words), start=numpy.zeros(self.dimensions))
        return (total / max(float(numpy.linalg.norm(total)), 1e-9)).astype("float32")

    def _direction(self, word: str) -> numpy.ndarray:
        seed = int.from_bytes(sha256(f"{self.model} {word}".encode()).digest()[:4], "big")
        return numpy.random.default_rng(seed).standard_normal(self.dimensions)


def define(kb: Any, kind: str) -> None:
    run(kb, "UPSERT { CONCEPT ?t { {type: :type, name: :name} } }", type="$ConceptType", name=kind)


def put(kb: Any, kind: str, name: str, **attributes: Any) -> None:
    """Write a concept of a type that is defined."""
    command = "UPSERT { CONCEPT ?c { {type: :type, name: :name} SET ATTRIBUTES :attributes } }"
    run(kb, command, type=kind, name=name, attributes=attributes)


def run(kb: Any, command: str, **parameters: Any) -> Any:
    """The result of a command that must succeed."""
    response = kb.execute_kip({"command": command, "parameters": parameters})
    assert "error" not in response, response
    return response["result"]


def found(kb: Any, term: str, options: str = "") -> dict[str, float]:
    """Names of the hits of SEARCH CONCEPT with their scores, best first."""
    hits = run(kb, f"SEARCH CONCEPT :term {options}", term=term)
    return {hit["name"]: hit["metadata"]["_score"] for hit in hits}


def add_document(kb: KnowledgeBase, slug: str, path: str, texts: Sequence[str], *, title: str = "") -> list[str]:
    """Put a document into a context whose chunks are these texts, as a curate would; gives their keys."""
    ctx = kb.context(slug)._number
    keys = []
    with kb._store.write() as session:
        chunks.create_index(session, ctx)
        session.execute(
            "INSERT INTO document(ctx, path, live, source_hash, recipe, title, hash, chars, outline)"
            " VALUES (?, ?, 1, '', '', ?, '', 0, jsonb('[]'))",
            (ctx, path, title),
        )
        document = session.connection.last_insert_rowid()
        for position, text in enumerate(texts):
            key = "chk_" + sha256(f"{path}\n{text}".encode()).hexdigest()[:26]
            session.execute(
                "INSERT INTO chunk(ctx, document, position, live, key, start, stop, first_line, last_line, place, text)"
                " VALUES (?, ?, ?, 1, ?, 0, ?, 1, 1, jsonb(?), ?)",
                (ctx, document, position, key, len(text), json.dumps({"sections": [], "pages": []}), text),
            )
            row = (session.connection.last_insert_rowid(), *chunk_texts(path, title, [], text))
            chunks.add_chunks(session, ctx, [row])
            keys.append(key)
        session.execute("UPDATE context SET live_version = live_version + 1 WHERE id = ?", (ctx,))
    kb._store.moment += 1
    return keys


def add_artifact(kb: KnowledgeBase, slug: str, name: str, text: str, sources: Sequence[str] = ()) -> str:
    """Put an artifact into a context; gives its key."""
    ctx = kb.context(slug)._number
    key = "art_" + sha256(name.encode()).hexdigest()[:26]
    with kb._store.write() as session:
        chunks.create_index(session, ctx)
        session.execute(
            "INSERT INTO artifact(ctx, live, key, name, type, kind, scope, format, sources, edges, text)"
            " VALUES (?, 1, ?, ?, 'Topic', 'topic', 'corpus', 'markdown', jsonb(?), jsonb('[]'), ?)",
            (ctx, key, name, json.dumps(list(sources)), text),
        )
        row = (session.connection.last_insert_rowid(), *artifact_texts(name, text))
        chunks.add_artifacts(session, ctx, [row])
        session.execute("UPDATE context SET live_version = live_version + 1 WHERE id = ?", (ctx,))
    kb._store.moment += 1
    return key
