"""A text and its blocks to chunks: pieces of the text itself, with their offsets and the place they stand at.

A chunk holds whole blocks (paragraphs, lists, tables, definitions) as long as they fit. It is closed where the next
block would make it larger than `target_size`, or once it holds half of that: the embedder averages words, so chunks of
one or two hundred of them are found best. A block larger than `target_size` is cut between its rows, items or lines,
prose at the ends of sentences, and only text without any of these in the middle of a line. The next chunk then repeats
up to `overlap` tokens of whole sentences; tables and code repeat nothing.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from trivium.ingest.parsed import CODE, HEADING, LIST, TABLE, TEXT, Block, Parsed
from trivium.ingest.tokens import estimate
from trivium.search.sentences import sentences

LONGEST_ROW = 1 << 16
"""Characters of a table row that is kept whole whatever the target size."""
SMALL = 24.0
"""Tokens of a remainder that rather joins the chunk before it."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_BLANK_LINE = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)")
_INK = re.compile(r"\S")
_PROSE_WINDOW = 1 << 18
_SPACE_WINDOW = 1 << 12
_WIDE_GAP = 64
"""Characters of white space between two pieces that do not count."""


class Chunking(Struct, frozen=True, forbid_unknown_fields=True):
    """The knobs of `curate.chunks.chunking` (KnowQL reference 11.3); sizes are tokens."""

    strategy: Literal["markdown_heading", "sliding_window", "html", "csv", "code"] = "markdown_heading"
    target_size: Annotated[int, Meta(ge=64, le=4_096)] = 512
    overlap: Annotated[int, Meta(ge=0, le=1_024)] = 64
    respect_sections: bool = True


class Chunk(Struct, frozen=True, gc=False):
    """A piece of a document; `text` is `document.text[start:stop]`, lines count from 1."""

    key: str
    start: int
    stop: int
    first_line: int
    last_line: int
    place: dict[str, Any]
    text: str


class _Piece(Struct, gc=False):
    """What is never cut again."""

    kind: str
    start: int
    stop: int
    sections: tuple[str, ...]
    size: float
    header: str = ""


def chunks(path: str, parsed: Parsed, knobs: Chunking) -> Iterator[Chunk]:
    """The chunks of one document, in order. All text that is not white space is in at least one of them."""
    text = parsed.text
    counter = _Lines(text)
    seen: dict[bytes, int] = {}
    for group in _groups(text, _pieces(text, _filled(text, parsed.blocks), knobs), knobs):
        body = text[group.start : group.stop]
        first, last = counter.span(group.start, group.stop)
        digest = hashlib.sha256(f"{path}\0{body}".encode(errors="surrogatepass"))
        number = seen[digest.digest()[:12]] = seen.get(digest.digest()[:12], -1) + 1
        if number:
            digest.update(b"\0%d" % number)
        place: dict[str, Any] = {"sections": [list(section) for section in group.sections if section]}
        place["pages"] = _pages(parsed.pages, group.start, group.stop)
        if group.header and group.header not in body:
            place["header"] = group.header
        yield Chunk("chk_" + digest.hexdigest()[:26], group.start, group.stop, first, last, place, body)


def _pages(marks: list[tuple[int, int]], start: int, stop: int) -> list[int]:
    if not marks:
        return []
    first = max(0, bisect_right(marks, (start, 1 << 60)) - 1)
    last = bisect_right(marks, (stop - 1, 1 << 60))
    return [number for _, number in marks[first:last]]


class _Lines:
    """Line numbers of offsets that come in ascending order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._returns = "\r" in text
        self._at, self._line = 0, 1

    def span(self, start: int, stop: int) -> tuple[int, int]:
        self._line += self._count(self._at, start)
        self._at = start
        return self._line, self._line + self._count(start, stop)

    def _count(self, start: int, stop: int) -> int:
        count = self._text.count("\n", start, stop)
        if self._returns:
            count += self._text.count("\r", start, stop) - self._text.count("\r\n", start, stop)
        return count


# --- blocks to pieces -----------------------------------------------------------------------------


def _trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    first = _INK.search(text, start, stop)
    if first is None:
        return stop, stop
    while text[stop - 1].isspace():
        window = text[max(first.start(), stop - _SPACE_WINDOW) : stop]
        stop -= len(window) - len(window.rstrip())
    return first.start(), stop


def _filled(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks without white space around them, and what lies between them as blocks of their own."""
    at = 0
    sections: tuple[str, ...] = ()
    for block in blocks:
        start, stop = _trimmed(text, max(at, block.start), block.stop)
        if start >= stop:
            continue
        gap = _trimmed(text, at, start)
        if gap[0] < gap[1]:
            yield Block(TEXT, *gap, sections)
        yield Block(block.kind, start, stop, block.sections, block.rows, block.header)
        at, sections = stop, block.sections
    gap = _trimmed(text, at, len(text))
    if gap[0] < gap[1]:
        yield Block(TEXT, *gap, sections)


def _pieces(text: str, blocks: Iterable[Block], knobs: Chunking) -> Iterator[_Piece]:
    """The blocks as pieces, each no larger than the target unless it cannot be cut."""
    sliding = knobs.strategy == "sliding_window"
    for block in blocks:
        size = _size(text, block.start, block.stop)
        if size <= knobs.target_size and not sliding:
            yield _Piece(block.kind, block.start, block.stop, block.sections, size, block.header)
            continue
        for start, stop in _cut(text, block, knobs.target_size):
            yield _Piece(block.kind, start, stop, block.sections, _size(text, start, stop), block.header)


def _size(text: str, start: int, stop: int) -> float:
    return estimate(text[start:stop])


def _cut(text: str, block: Block, target: int) -> Iterator[tuple[int, int]]:
    """The parts of a block that is too large, or whose sentences are wanted."""
    for start, stop in _parts(text, block):
        size = _size(text, start, stop)
        if size <= target or (block.kind == TABLE and stop - start <= LONGEST_ROW):
            yield start, stop
        elif block.kind == CODE or block.kind == TABLE:
            yield from _cut_lines(text, start, stop, target)
        else:
            yield from _cut_prose(text, start, stop, target)


def _parts(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """A table by rows, a list by items, code by parts or blank lines, prose as it is."""
    if block.rows:
        borders = [block.start, *(row for row in block.rows if block.start < row < block.stop), block.stop]
    elif block.kind == TABLE:
        borders = [block.start, *(match.end() for match in _LINE.finditer(text, block.start, block.stop))]
    elif block.kind == CODE:
        blank = (match.end() for match in _BLANK_LINE.finditer(text, block.start, block.stop))
        borders = [block.start, *blank, block.stop]
    else:
        borders = [block.start, block.stop]
    for start, stop in pairwise(borders):
        start, stop = _trimmed(text, start, stop)
        if start < stop:
            yield start, stop


def _cut_prose(text: str, start: int, stop: int, target: int) -> Iterator[tuple[int, int]]:
    """Sentences; those that are too long by lines."""
    while start < stop:
        end = min(stop, start + _PROSE_WINDOW)
        spans = sentences(text[start:end])
        if end < stop and len(spans) > 1:  # the last one may go on
            end = start + spans[-1][0]
            spans.pop()
        for first, last in spans:
            if _size(text, start + first, start + last) <= target:
                yield start + first, start + last
            else:
                yield from _cut_lines(text, start + first, start + last, target)
        start = end


def _cut_lines(text: str, start: int, stop: int, target: int) -> Iterator[tuple[int, int]]:
    """Lines; those that are too long at spaces, or anywhere if they have none."""
    for match in _LINE.finditer(text, start, stop):
        first, last = _trimmed(text, match.start(), match.end())
        while first < last:
            if last - first <= target or (last - first <= 4 * target and _size(text, first, last) <= target):
                yield first, last
                break
            end = _reach(text, first, last, target)
            yield first, end
            first, last = _trimmed(text, end, last)


def _reach(text: str, start: int, stop: int, target: int) -> int:
    """Where to cut a long line: at the last space of what fits, unless that is far away."""
    end = min(stop, start + 4 * target)
    while _size(text, start, end) > target:
        end = start + max(1, (end - start) * 2 // 3)
    space = max(text.rfind(" ", start + (end - start) // 2, end), text.rfind("\t", start + (end - start) // 2, end))
    if space > start:
        return space
    while end < stop and end - start > 1 and "\udc00" <= text[end] <= "\udfff":
        end -= 1
    return end


# --- pieces to chunks -----------------------------------------------------------------------------


class _Group(Struct, gc=False):
    """A chunk in the making. `own` is its size without what it repeats of the one before."""

    start: int
    stop: int
    size: float
    own: float
    sections: list[tuple[str, ...]]
    kind: str
    header: str = ""
    headed: bool = False
    """It holds nothing but headings so far."""


def _groups(text: str, pieces: Iterable[_Piece], knobs: Chunking) -> Iterator[_Group]:
    """Pieces gathered; a small remainder of a section joins the chunk before it."""
    previous: _Group | None = None
    for group in _gathered(text, pieces, knobs):
        if previous is not None and _is_remainder(previous, group, knobs.target_size):
            previous.stop = group.stop
            previous.size += group.own
            continue
        if previous is not None:
            yield previous
        previous = group
    if previous is not None:
        yield previous


def _is_remainder(previous: _Group, group: _Group, target: int) -> bool:
    return (
        group.own < SMALL
        and not group.headed
        and group.sections == previous.sections[-1:]
        and group.header == previous.header
        and previous.size + group.own <= target
        and group.start - previous.stop <= _WIDE_GAP
    )


def _gathered(text: str, pieces: Iterable[_Piece], knobs: Chunking) -> Iterator[_Group]:
    sliding = knobs.strategy == "sliding_window"
    respect = knobs.respect_sections and not sliding
    enough = knobs.target_size if sliding else knobs.target_size / 2
    current: _Group | None = None
    for piece in pieces:
        if current is None:
            current = _begin(text, None, piece, knobs)
        elif _joins(current, piece, knobs.target_size, enough, respect):
            _join(current, piece, respect)
        else:
            yield current
            goes_on = piece.sections == current.sections[-1] or not respect
            current = _begin(text, current if goes_on else None, piece, knobs)
    if current is not None:
        yield current


def _begin(text: str, before: _Group | None, piece: _Piece, knobs: Chunking) -> _Group:
    start, size = piece.start, piece.size
    if before is not None:
        start = _overlap(text, before, piece, knobs)
        if start < piece.start:
            size = _size(text, start, piece.stop)
    headed = piece.kind == HEADING
    return _Group(start, piece.stop, size, piece.size, [piece.sections], piece.kind, piece.header, headed)


def _joins(current: _Group, piece: _Piece, target: int, enough: float, respect: bool) -> bool:
    """Whether a piece goes into the chunk that is open."""
    if piece.start - current.stop > _WIDE_GAP and current.size + (piece.start - current.stop) / 4 > target:
        return False
    above = current.headed and piece.sections[: len(current.sections[-1])] == current.sections[-1]
    if above and current.size <= target:
        return True  # a heading stays with what it heads
    if respect and piece.sections != current.sections[-1]:
        return False
    if piece.header and current.header and piece.header != current.header:
        return False
    return current.size < enough and current.size + piece.size <= target


def _join(current: _Group, piece: _Piece, respect: bool) -> None:
    gap = max(0, piece.start - current.stop - _WIDE_GAP) / 4
    current.stop = piece.stop
    current.size += piece.size + gap
    current.own += piece.size + gap
    if piece.sections != current.sections[-1]:
        if current.headed and respect:
            current.sections = [piece.sections]
        elif piece.sections not in current.sections:
            current.sections.append(piece.sections)
    if piece.kind != HEADING:
        current.headed = False
        current.kind = piece.kind
    if piece.header:
        current.header = piece.header


def _overlap(text: str, previous: _Group, piece: _Piece, knobs: Chunking) -> int:
    """Where a chunk begins that repeats the last sentences of the one before it."""
    if knobs.overlap == 0 or piece.kind in (TABLE, CODE) or previous.kind in (TABLE, CODE, LIST, HEADING):
        return piece.start
    begin = max(previous.start + 1, previous.stop - 4 * knobs.overlap)
    room = min(knobs.overlap, knobs.target_size - piece.size)
    for first, _ in sentences(text[begin : previous.stop]):
        start = begin + first
        if (first or text[begin - 1].isspace()) and _size(text, start, previous.stop) <= room:
            return start
    return piece.start
