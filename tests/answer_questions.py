"""The labelled questions of `data/answers`: their passages ranked without a store, or their documents in one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

import trivium
from trivium.language.matching import Vocabulary
from trivium.language.question import content_words
from trivium.search.embedder import Embedder
from trivium.search.passage import Evidence, Passage
from trivium.search.segment import tokens

DATA = Path(__file__).parent / "data" / "answers"
ROOT = Path(__file__).parent.parent


class Labelled(Struct, frozen=True):
    """A question; the document and a text of which the answer quotes one, or neither when nothing answers it.

    `of` may be several beginnings of paths, with `|` between. `conflict`: the sources disagree, which the answer says.
    """

    ask: str
    answer: list[str] | None
    of: str = ""
    conflict: bool = False


@cache
def questions(name: str = "questions") -> list[Labelled]:
    """The questions of a file; which sets there are is told in docs/answers.md."""
    return [Labelled(**row) for row in json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))]


@cache
def passages() -> list[Passage]:
    """The sections of all documents."""
    found: list[Passage] = []
    for path in sorted((DATA / "documents").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.split("\n", 1)[0].lstrip("# ")
        start = 0
        sections: list[tuple[int, str]] = []
        for line in text.splitlines(keepends=True):
            if line.startswith("#") and start and (not sections or sections[-1][0] != start):
                sections.append((start, line.lstrip("# ").strip()))
            start += len(line)
        starts = [(0, ""), *sections]
        for number, (begin, heading) in enumerate(starts):
            stop = starts[number + 1][0] if number + 1 < len(starts) else len(text)
            found.append(
                Passage(
                    id=f"chk_{path.stem}_{number}",
                    kind="chunk",
                    context="labelled",
                    ctx=1,
                    source=path.name,
                    text=text[begin:stop].rstrip("\n"),
                    score=0.0,
                    section_paths=[[title, heading]] if heading else [[title]],
                    start=begin,
                    title=title,
                )
            )
    return found


def evidence(ask: str, embedder: Embedder | None = None, limit: int = 8) -> Evidence:
    """The best passages of all documents for a question, by words, and by meaning where there is an embedder."""
    scores = _by_words(ask)
    if embedder is not None:
        vectors = embedder.embed([ask])
        scores = [
            score + 2 * float(vector @ vectors[0]) for score, vector in zip(scores, _vectors(embedder), strict=True)
        ]
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], passages()[at].id))
    found = [passages()[at] for at in order[:limit] if scores[at] > 0]
    return Evidence(passages=found, query_variants=[ask], total_hits=len(found))


@cache
def _vocabulary() -> tuple[Vocabulary, Sequence[frozenset[str]]]:
    words = [frozenset(tokens(f"{one.source} {one.title} {one.text}")) for one in passages()]
    return Vocabulary(words), words


def _by_words(ask: str) -> list[float]:
    vocabulary, texts = _vocabulary()
    terms = content_words(ask)
    return [vocabulary.coverage(terms, words) for words in texts]


_known: dict[str, object] = {}


def _vectors(embedder: Embedder) -> object:
    name = embedder.info().model
    if name not in _known:
        _known[name] = embedder.embed([f"{one.title}: {one.text}" for one in passages()])
    return _known[name]


def open_stored(name: str, embedder: str) -> trivium.KnowledgeBase:
    """A knowledge base with the context `stored`: the documents of `mixed`, or this repository's own pages as `own`."""
    kb = trivium.open(":memory:", embedder=embedder)
    context = kb.create_context("stored")
    if name == "own":
        context.add([ROOT / "README.md", ROOT / "docs"])
    else:
        for path in sorted((DATA / "mixed").glob("*.md")):
            context.add_bytes(path.name, path.read_bytes())
    context.curate()
    if embedder != "none":
        kb.embed_pending()
    return kb
