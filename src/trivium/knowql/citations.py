"""Citations (KnowQL reference 4.2): which ones stand, the markers `[n]` that point at them, and their form."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from trivium.answers.code_spans import code_spans
from trivium.answers.composer import Cited
from trivium.search.facts import fact, is_fact
from trivium.search.passage import CHUNK, Passage
from trivium.store import citing
from trivium.store.sqlite import Session

MARKER = re.compile(r"\[([1-9][0-9]{0,2})\]")
_WITH_SPACE = re.compile(r" ?\[([1-9][0-9]{0,2})\]")


class Handed:
    """The passages that a turn was handed; only these can be cited, each as it was handed."""

    def __init__(self) -> None:
        self._passages: dict[tuple[int, str, str], Passage] = {}
        self.told = False
        """Whether a call has told something that is no passage, such as rows of the graph."""

    def add(self, passages: Iterable[Passage]) -> None:
        for passage in passages:
            self._passages.setdefault((passage.ctx, passage.kind, passage.id), passage)

    @property
    def is_empty(self) -> bool:
        return not self._passages and not self.told

    def find(self, passage: Passage) -> Passage | None:
        return self._passages.get((passage.ctx, passage.kind, passage.id))

    def held(self, cited: Cited) -> bool:
        """Whether a citation was right when its passage was handed out."""
        passage = self.find(cited.passage)
        return passage is not None and bool(cited.quote.strip()) and cited.quote in passage.text


class Settled(Struct, frozen=True):
    """A text whose markers all have a citation, and the citations."""

    text: str
    citations: list[dict[str, Any]]


def stands(session: Session, cited: Cited, handed: Handed, scope: Iterable[int]) -> bool:
    """Whether a citation rests on what was handed out, is in scope, and is still live with exactly these words."""
    passage = handed.find(cited.passage)
    if passage is None or passage.ctx not in scope or not cited.quote.strip():
        return False
    if passage.kind == CHUNK:
        return citing.chunk_says(session, passage.ctx, passage.id, cited.quote)
    if is_fact(passage):
        told = fact(session, passage.ctx, passage.context, passage.id)
        return told is not None and cited.quote in told.text
    return citing.artifact_says(session, passage.ctx, passage.id, cited.quote)


def settle(text: str, cited: Sequence[Cited], kept: Sequence[bool], handed: Handed) -> Settled:
    """Leave out the citations that are not kept, and every marker without one; the others move up in their order.

    >>> settle("Net 30 [2].", [], [], Handed())
    Settled(text='Net 30.', citations=[])
    """
    places: dict[int, int] = {}
    entries: list[dict[str, Any]] = []
    for number, (item, is_kept) in enumerate(zip(cited, kept, strict=True), 1):
        if is_kept:
            entries.append(citation(handed.find(item.passage) or item.passage, item.quote))
            places[number] = len(entries)
    if any(places.get(number) != number for number in marked(text)):
        text = _WITH_SPACE.sub(_renumbered(places, code_spans(text)), text)
    return Settled(text, entries)


def marked(text: str) -> set[int]:
    """The numbers that stand as markers in a text; what is shown as code has none.

    >>> marked("the first of `row[2]` [1]")
    {1}
    """
    code = code_spans(text)
    return {int(match[1]) for match in MARKER.finditer(text) if not _within(match, code)}


def _within(match: re.Match[str], spans: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (match.start(1), len(match.string) + 1)) - 1
    return at >= 0 and match.end() <= spans[at][1]


def _renumbered(places: dict[int, int], code: Sequence[tuple[int, int]]) -> Callable[[re.Match[str]], str]:
    def replaced(match: re.Match[str]) -> str:
        if _within(match, code):
            return match[0]
        place = places.get(int(match[1]))
        return "" if place is None else match[0].replace(f"[{match[1]}]", f"[{place}]")

    return replaced


def citation(passage: Passage, quote: str | None) -> dict[str, Any]:
    """The Citation of a passage; the keys are the same for every one."""
    is_chunk = passage.kind == CHUNK
    return {
        "source": passage.source or (passage.sources[0] if passage.sources else passage.name),
        "section_path": passage.section_path,
        "section_paths": passage.section_paths,
        "pages": passage.pages,
        "score": passage.score,
        "grounding": quote,
        "kind": passage.kind,
        "artifact_name": None if is_chunk else passage.name,
        "sources": passage.sources,
        "context": passage.context,
        "chunk_id": passage.id if is_chunk else None,
        "lines": lines_of(passage, quote),
    }


def lines_of(passage: Passage, quote: str | None = None) -> list[int] | None:
    """First and last line of a chunk in its document, or of the words quoted from it; None for an artifact."""
    if not passage.first_line:
        return None
    place = passage.text.find(quote) if quote else -1
    if quote is None or place < 0:
        return [passage.first_line, passage.last_line]
    first = passage.first_line + passage.text.count("\n", 0, place)
    return [first, first + quote.rstrip("\n").count("\n")]


def of_retrieval(passages: Iterable[Passage]) -> list[dict[str, Any]]:
    """One citation for each distinct source among the items of a retrieval turn, as its best item stands there."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for passage in passages:
        name = passage.source if passage.kind == CHUNK else passage.name
        key = passage.context, passage.kind, name
        if key not in found:
            found[key] = citation(passage, None) | {"section_paths": list(passage.section_paths), "pages": []}
        entry = found[key]
        entry["section_paths"] += [path for path in passage.section_paths if path not in entry["section_paths"]]
        entry["pages"] = sorted({*entry["pages"], *passage.pages})
    return list(found.values())
