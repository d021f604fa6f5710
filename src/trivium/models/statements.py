"""A passage as statements: the sentences, list items, table rows and `key: value` lines that can be quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec import Struct

from trivium.models.language import language_of
from trivium.models.values import Value, find_values
from trivium.search.passage import Passage
from trivium.search.segment import tokens
from trivium.search.sentences import sentences

SENTENCE, ITEM, ROW, PAIR, CODE = "sentence", "item", "row", "pair", "code"
LONGEST = 400

_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(?P<text>[^\n]*?)[ \t#]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣]|\d{1,3}[.)]|[a-z]\))[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(
    r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$|[ \t]*([-=*_])(?:[ \t]*\2){2,}[ \t]*$"
)
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_PAIR = re.compile(
    r"[*_`]*(?P<key>[^\s:：|][^:：|\n]{0,60}?)[*_`]*[ \t]*[:：](?!//)[*_`]*(?:[ \t]+|(?<=：))(?P<value>\S[^\n]*)$"
)
_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_MARKUP = re.compile(r"(?<!\\)(\*\*|__|`)|!?\[([^\]\n]*)\]\([^)\s]*\)")
_SPACE = re.compile(r"\s+")
_PIPE = re.compile(r"(?<!\\)\|")
_ENDS = re.compile(r"[.!?。！？]\s")


class Cell(Struct, frozen=True):
    """A cell of a table or the value of a pair: what it is about and its text, at `passage.text[start:stop]`."""

    key: str
    text: str
    start: int
    stop: int


class Statement(Struct):
    """A quotable piece, `passage.text[start:stop]`; `text` is it on one line without markup.

    `lead` is the sentence that introduces a list, `before` the statement before in the same paragraph, which begins at
    `before_start`. `place` counts the statements of a passage, `block` the paragraphs, lists and tables in it.
    """

    passage: Passage
    rank: int
    place: int
    block: int
    kind: str
    start: int
    stop: int
    text: str
    language: str
    headings: tuple[str, ...] = ()
    lead: str = ""
    before: str = ""
    before_start: int = 0
    cells: list[Cell] = []
    words: list[str] = []
    values: list[Value] = []

    @property
    def quote(self) -> str:
        return self.passage.text[self.start : self.stop]

    @property
    def context(self) -> str:
        """What tells what the statement is about but stands outside of it."""
        passage = self.passage
        place = PurePosixPath(passage.source)
        stem = place.with_suffix("").as_posix().replace("/", " ") if place.name else ""
        outer = [part for path in passage.section_paths for part in path]
        return " ".join([stem, passage.title, passage.name, *outer, *self.headings, self.lead])


def statements_of(passages: Sequence[Passage]) -> list[Statement]:
    """The statements of passages in order; what two passages both hold is given once, by the better one."""
    found: list[Statement] = []
    spans: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for rank, passage in enumerate(passages):
        seen = spans.setdefault((passage.ctx, passage.source or passage.id), [])
        language = language_of(passage.text)
        kept: list[tuple[int, int]] = []
        for place, statement in enumerate(_split(passage, rank, language)):
            span = passage.start + statement.start, passage.start + statement.stop
            if any(start < span[1] and span[0] < stop for start, stop in seen):
                continue
            statement.place = place
            statement.words = tokens(statement.text)
            statement.values = find_values(statement.text, language)
            kept.append(span)
            found.append(statement)
        seen += kept
    return found


class _Line(Struct):
    start: int
    stop: int
    text: str


def _split(passage: Passage, rank: int, language: str) -> Iterator[Statement]:
    """The statements of one passage, by a walk over its lines."""
    text = passage.text
    lines = list(_lines(text))
    headings: list[tuple[int, str]] = []
    lead = ""
    block = 0
    at = 0
    table = PurePosixPath(passage.source).suffix.lower() in (".csv", ".tsv")
    while at < len(lines):
        line = lines[at]
        heading = _HEADING.match(line.text)
        if not line.text.strip() or (_RULE.match(line.text) and not table):
            at += 1
            continue
        block += 1
        if heading:
            level = len(heading[1])
            headings = [*((n, name) for n, name in headings if n < level), (level, _plain(heading["text"]))]
            lead = ""
            at += 1
            continue
        until, kind = _extent(lines, at, table)
        names = tuple(name for _, name in headings)
        part = lines[at:until]
        before, before_start = "", 0
        for statement in _statements(passage, rank, language, part, kind, block):
            statement.headings = names
            statement.before, statement.before_start = before, before_start
            statement.lead = lead if kind in (ITEM, ROW, CODE) else ""
            if kind == SENTENCE:
                before, before_start = statement.text, statement.start
            yield statement
        if kind == SENTENCE:
            lead = before
        elif kind != ITEM:
            lead = ""
        at = until


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, start + len(line), line.rstrip("\r"))
        start += len(line) + 1


def _extent(lines: list[_Line], at: int, table: bool) -> tuple[int, str]:
    """Where the block that begins at a line ends, and what it is."""
    first = lines[at].text
    if table:
        return len(lines), ROW
    if fence := _FENCE.match(first):
        until = at + 1
        while until < len(lines) and not lines[until].text.strip().startswith(fence[1]):
            until += 1
        return min(until + 1, len(lines)), CODE
    if _ROW.match(first):
        until = at + 1
        while until < len(lines) and (_ROW.match(lines[until].text) or _is_rule(lines[until].text)):
            until += 1
        return until, ROW
    kind = ITEM if _ITEM.match(first) else SENTENCE
    until = at + 1
    while until < len(lines):
        text = lines[until].text
        if not text.strip() or _HEADING.match(text) or _FENCE.match(text) or _ROW.match(text) or _is_rule(text):
            break
        if kind == SENTENCE and _ITEM.match(text):
            break
        until += 1
    return until, kind


def _is_rule(text: str) -> bool:
    return bool(_RULE.match(text))


def _statements(
    passage: Passage, rank: int, language: str, part: list[_Line], kind: str, block: int
) -> Iterator[Statement]:
    def made(kind: str, start: int, stop: int, text: str, cells: list[Cell]) -> Statement:
        return Statement(passage, rank, 0, block, kind, start, stop, text, language, cells=cells)

    if kind == ROW:
        yield from (made(ROW, *row) for row in _rows(passage, part))
        return
    if kind == CODE:
        inner = part[1:-1] if len(part) > 2 else part
        start, stop = _trimmed(passage.text, inner[0].start, inner[-1].stop)
        if start < stop:
            yield made(CODE, start, stop, _SPACE.sub(" ", passage.text[start:stop]), [])
        return
    for start, stop in _pieces(part, kind):
        begin = _after_marks(passage.text, start, stop)
        pair = _PAIR.match(passage.text, begin, stop)
        if pair and _is_key(pair["key"]):
            cell = Cell(_plain(pair["key"]), _plain(pair["value"]), pair.start("value"), pair.end("value"))
            yield made(PAIR, begin, stop, _plain(passage.text[begin:stop]), [cell])
            continue
        for sentence_start, sentence_stop in sentences(passage.text[begin:stop]):
            for piece in _bounded(passage.text, begin + sentence_start, begin + sentence_stop):
                yield made(kind, *piece, _plain(passage.text[slice(*piece)]), [])


def _pieces(part: list[_Line], kind: str) -> Iterator[tuple[int, int]]:
    """The items of a list, each with the lines that continue it; the lines of a paragraph that are pairs, the rest."""
    start = part[0].start
    for before, line in pairwise(part):
        begins = _ITEM.match(line.text) if kind == ITEM else (_PAIR.match(line.text) or _PAIR.match(before.text))
        if begins:
            yield start, before.stop
            start = line.start
    yield start, part[-1].stop


def _after_marks(text: str, start: int, stop: int) -> int:
    for mark in (_QUOTE, _ITEM):
        if match := mark.match(text, start, stop):
            start = match.end()
    while start < stop and text[start].isspace():
        start += 1
    return start


def _is_key(key: str) -> bool:
    return len(key.split()) <= 7 and not _ENDS.search(key) and not key.startswith(("http", "("))


def _bounded(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """A sentence, in pieces where it is very long, cut at a comma or at white space."""
    while stop - start > LONGEST:
        cuts = [text.rfind(sign, start + LONGEST // 2, start + LONGEST) for sign in ("; ", "；", ", ", "，", "、", " ")]
        cut = next((cut for cut in cuts if cut > 0), start + LONGEST - 1) + 1
        yield _trimmed(text, start, cut)
        start = _trimmed(text, cut, stop)[0]
    if start < stop:
        yield start, stop


def _trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and text[start].isspace():
        start += 1
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    return start, stop


def _rows(passage: Passage, part: list[_Line]) -> Iterator[tuple[int, int, str, list[Cell]]]:
    """The rows of a table: offsets, the row as one line of `header: cell`, and its cells."""
    suffix = PurePosixPath(passage.source).suffix.lower()
    rows = [
        cells
        for line in part
        if line.text.strip() and not _is_rule(line.text) and (cells := list(_cells(line, suffix)))
    ]
    has_header = suffix in (".csv", ".tsv") or (len(part) > 1 and _is_rule(part[1].text))
    header = [text for text, _, _ in rows[0]] if rows and has_header else []
    for row in rows[1:] if has_header else rows:
        named = [
            Cell(header[column] if column < len(header) else "", *cell) for column, cell in enumerate(row) if cell[0]
        ]
        if named:
            start, stop = named[0].start, named[-1].stop
            yield start, stop, "; ".join(f"{cell.key}: {cell.text}" if cell.key else cell.text for cell in named), named


def _cells(line: _Line, suffix: str) -> Iterator[tuple[str, int, int]]:
    if suffix in (".csv", ".tsv"):
        cuts = _separators(line.text, "," if suffix == ".csv" else "\t")
        edges = [-1, *cuts, len(line.text)]
    else:
        edges = [match.start() for match in _PIPE.finditer(line.text)]
    for left, right in pairwise(edges):
        start, stop = _trimmed(line.text, left + 1, right)
        if stop - start > 1 and line.text[start] == line.text[stop - 1] == '"':
            start, stop = start + 1, stop - 1
        yield _plain(line.text[start:stop]), line.start + start, line.start + stop


def _separators(line: str, sign: str) -> list[int]:
    """Where the separators of a line of comma-separated values stand, those inside quotes left out."""
    found, quoted = [], False
    for place, letter in enumerate(line):
        if letter == '"':
            quoted = not quoted
        elif letter == sign and not quoted:
            found.append(place)
    return found


def _plain(text: str) -> str:
    """On one line, without emphasis, code marks and the addresses of links."""
    return _SPACE.sub(" ", _MARKUP.sub(lambda match: match[2] or "", text)).strip()
