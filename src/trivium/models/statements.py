"""A passage as statements: the sentences, list items, table rows and `key: value` lines that can be quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from trivium.models.language import language_of
from trivium.models.values import DURATION, MEASURE, MONEY, NUMBER, PERCENT, Value, find_values
from trivium.search.passage import Passage
from trivium.search.segment import tokens
from trivium.search.sentences import sentences

SENTENCE, ITEM, ROW, PAIR, CODE = "sentence", "item", "row", "pair", "code"
LONGEST = 400
_SHORT_KEY = 4

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
_OPENER = re.compile(r"[ \t]*(?:- )?[\"']?(?P<key>[^\s:：#\"'][^:：\n\"']{0,40}?)[\"']?[ \t]*:[ \t]*$")
_FARTHEST = 400
"""Lines above a pair in which the keys over it are looked for."""
_COMMENT = re.compile(r"[ \t]*<!--(?:(?!-->)[\s\S])*+-->[ \t]*$", re.MULTILINE)
_DIGITS = re.compile(r"\d[\d.,]*")
_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_MARKUP = re.compile(r"(?<!\\)(\*\*|__|`)|!?\[([^\]\n]*)\]\([^)\s]*\)")
_SPACE = re.compile(r"\s+")
_PIPE = re.compile(r"(?<!\\)\|")
_ENDS = re.compile(r"[.!?。！？]\s")
_ASKED = re.compile(r"\"[^\"\n]*[?？]\"|'[^'\n]*[?？]'")
"""A question that code holds as a text: that it is asked there answers nothing."""
_NOTHING = frozenset("–—-−―")
_WRITTEN = frozenset({".xlsx", ".xlsm", ".docx", ".docm", ".pptx", ".pptm", ".html", ".htm", ".xhtml", ".eml"})
"""Ends of the names of files whose readers write tables with `|` between the cells alone."""
_IDENTIFIER = re.compile(r"[^\W\d][\w.-]*")


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
            statement.words = _words(statement)
            statement.values = _values(statement)
            kept.append(span)
            found.append(statement)
        seen += kept
    return found


def _words(statement: Statement) -> list[str]:
    """The words of a statement: of a row with the header that its line leaves out, of code without what it asks."""
    text = statement.text
    if statement.kind == CODE:
        text = _ASKED.sub(" ", text)
    elif statement.kind == ROW and not text.startswith(statement.cells[0].key):
        text = f"{statement.cells[0].key}: {text}"
    return tokens(text)


def _values(statement: Statement) -> list[Value]:
    """The values of a statement; a number alone in its cell has the unit with which another cell begins."""
    values = find_values(statement.text, statement.language)
    if statement.kind != ROW:
        return values
    alone = [cell.text for cell in statement.cells if _DIGITS.fullmatch(cell.text)]
    units = [cell.text for cell in statement.cells if cell.text[:1].isalpha()]
    for place, value in enumerate(values):
        number = statement.text[value.start : value.stop]
        if value.kind != NUMBER or number not in alone:
            continue
        for text in units:
            first = next(iter(find_values(f"{number} {text}", statement.language)), value)
            if first.start == 0 and first.kind in (DURATION, MEASURE, MONEY, PERCENT):
                values[place] = replace(first, start=value.start, stop=value.stop)
                break
    return values


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
    table = _is_table(passage)
    header = passage.table_header
    while at < len(lines):
        line = lines[at]
        if comment := _COMMENT.match(text, line.start):
            while at < len(lines) and lines[at].start < comment.end():
                at += 1
            continue
        heading = _HEADING.match(line.text)
        if not line.text.strip() or (_RULE.match(line.text) and not table):
            at += 1
            continue
        block += 1
        if heading or block > 1:
            header = ""
        if heading:
            level = len(heading[1])
            headings = [*((n, name) for n, name in headings if n < level), (level, _plain(heading["text"]))]
            lead = ""
            at += 1
            continue
        until, kind = _extent(lines, at, table, _is_open(passage, lines, at, header))
        names = tuple(name for _, name in headings)
        part = lines[at:until]
        before, before_start = "", 0
        for statement in _statements(passage, rank, language, part, kind, block, header):
            statement.headings = (*names, *_over(lines, at, statement.start)) if statement.kind == PAIR else names
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


def _over(lines: list[_Line], at: int, start: int) -> list[str]:
    """The keys under which a pair stands by its indentation, the outermost first; `at` is a line at or before it."""
    while lines[at].stop < start:
        at += 1
    depth, found = _depth(lines[at].text), list[str]()
    for line in reversed(lines[max(0, at - _FARTHEST) : at]):
        if not depth:
            break
        if line.text.strip() and _depth(line.text) < depth:
            depth, opener = _depth(line.text), _OPENER.match(line.text)
            if opener is None:
                break
            found.append(_plain(opener["key"]))
    return found[::-1]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _opens(line: _Line, following: _Line) -> bool:
    """Whether a line is a key alone under which the next line stands."""
    return bool(_OPENER.match(line.text)) and _depth(following.text) > _depth(line.text)


def _is_open(passage: Passage, lines: list[_Line], at: int, header: str) -> bool:
    """Whether a table begins at a line whose rows have no `|` around them."""
    if " | " not in f"{lines[at].text} " or _ROW.match(lines[at].text):
        return False
    following = lines[at + 1].text if at + 1 < len(lines) else ""
    written = PurePosixPath(passage.source).suffix.lower() in _WRITTEN and " | " in following
    return written or " | " in header or ("|" in following and _is_rule(following))


def _extent(lines: list[_Line], at: int, table: bool, is_open: bool) -> tuple[int, str]:
    """Where the block that begins at a line ends, and what it is."""
    first = lines[at].text
    if table:
        return len(lines), ROW
    if is_open:
        until = at + 1
        while until < len(lines) and lines[until].text.strip() and not _HEADING.match(lines[until].text):
            until += 1
        return until, ROW
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
    passage: Passage, rank: int, language: str, part: list[_Line], kind: str, block: int, header: str
) -> Iterator[Statement]:
    def made(kind: str, start: int, stop: int, text: str, cells: list[Cell]) -> Statement:
        return Statement(passage, rank, 0, block, kind, start, stop, text, language, cells=cells)

    if kind == ROW:
        yield from (made(ROW, *row) for row in _rows(passage, part, header))
        return
    if kind == CODE:
        inner = part[1:-1] if len(part) > 2 else part
        start, stop = _trimmed(passage.text, inner[0].start, inner[-1].stop)
        if start < stop:
            yield made(CODE, start, stop, _SPACE.sub(" ", passage.text[start:stop]), [])
        return
    for start, stop, paired in _pieces(part, kind):
        begin = _after_marks(passage.text, start, stop)
        pair = _PAIR.match(passage.text, begin, stop) if paired else None
        if pair and _is_key(pair["key"]):
            cell = Cell(_plain(pair["key"]), _plain(pair["value"]), pair.start("value"), pair.end("value"))
            yield made(PAIR, begin, stop, _plain(passage.text[begin:stop]), [cell])
            continue
        for sentence_start, sentence_stop in sentences(passage.text[begin:stop]):
            for piece in _bounded(passage.text, begin + sentence_start, begin + sentence_stop):
                yield made(kind, *piece, _plain(passage.text[slice(*piece)]), [])


def _pieces(part: list[_Line], kind: str) -> Iterator[tuple[int, int, bool]]:
    """The items of a list, each with the lines that continue it; the lines of a paragraph that are pairs, the rest.

    With each comes whether it may be a pair.
    """
    if kind == ITEM:
        start = part[0].start
        for before, line in pairwise(part):
            if _ITEM.match(line.text):
                yield start, before.stop, True
                start = line.start
        yield start, part[-1].stop, True
        return
    at = 0
    for first, last in _runs_of_pairs(part):
        until = first
        while until > at and _opens(part[until - 1], part[until]):
            until -= 1  # what stands over pairs is told with them
        if at < until:
            yield part[at].start, part[until - 1].stop, False
        for line in part[first:last]:
            yield line.start, line.stop, True
        at = last
    if at < len(part):
        yield part[at].start, part[-1].stop, False


def _runs_of_pairs(part: list[_Line]) -> Iterator[tuple[int, int]]:
    """Where a paragraph holds pairs: two lines or more in a row, or one alone that is no sentence with a colon in it.

    A line of wrapped prose may hold a colon too; its neighbours are none, or the line before is not at its end.
    """
    keys = [_key_of(line.text) for line in part]
    if len(part) == 1:
        if keys[0] and len(keys[0].split()) <= _SHORT_KEY:
            yield 0, 1
        return
    at = 0
    while at < len(part):
        until = at
        while until < len(part) and keys[until]:
            until += 1
        begins = at == 0 or part[at - 1].text.rstrip().endswith((".", "!", "?", ":", "。", "：", "！", "？"))
        names = all(not key[:1].islower() or len(key.split()) <= 2 for key in keys[at:until])
        under = 0 < at < until and _opens(part[at - 1], part[at])
        if (until - at > 1 or under) and begins and names:
            yield at, until
        at = max(until, at + 1)


def _key_of(line: str) -> str:
    """What stands before the colon of a line that may be a pair; empty when it is none."""
    begin = _after_marks(line, 0, len(line))
    pair = _PAIR.match(line, begin)
    whole = pair and not _ENDS.search(pair["value"]) and not line.rstrip().endswith((",", ";"))
    return pair["key"] if pair and whole and _is_key(pair["key"]) else ""


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


def _rows(passage: Passage, part: list[_Line], before: str) -> Iterator[tuple[int, int, str, list[Cell]]]:
    """The rows of a table: offsets, the row as one line of `header: cell`, and its cells.

    `before` is the header row where that stands before the passage.
    """
    table = _is_table(passage)
    sign = _separator(before or part[0].text) if table else ""
    rows = [
        cells
        for line in part
        if line.text.strip() and (table or not _is_rule(line.text)) and (cells := list(_cells(line, sign)))
    ]
    header = [text for text, _, _ in _cells(_Line(0, 0, before), sign)]
    has_header = not table and len(part) > 1 and _is_rule(part[1].text)
    if rows and not before and (passage.start == 0 if table else not _ROW.match(part[0].text)):
        has_header = has_header or not any(_DIGITS.fullmatch(text) for text, _, _ in rows[0])
    if rows and has_header:
        header = [text for text, _, _ in rows[0]]
    for row in rows[1:] if has_header else rows:
        named = [
            Cell(_header(header, column), *cell)
            for column, cell in enumerate(row)
            if cell[0] and cell[0] not in _NOTHING
        ]
        if named:
            yield named[0].start, named[-1].stop, _row_text(named), [*named, *_by_position(named)]


def _header(header: list[str], column: int) -> str:
    name = header[column] if column < len(header) else ""
    return "" if name in _NOTHING else name


def _row_text(cells: list[Cell]) -> str:
    """A row as a line; what a nameless column says of the first cell follows it as its value."""
    if len(cells) > 1 and not (cells[1].key and (cells[0].key or cells[2:])):
        first, rest = f"{cells[0].text}: {cells[1].text}", cells[2:]
    else:
        first, rest = f"{cells[0].key}: {cells[0].text}" if cells[0].key else cells[0].text, cells[1:]
    return "; ".join([first, *(f"{cell.key}: {cell.text}" if cell.key else cell.text for cell in rest)])


def _by_position(cells: list[Cell]) -> Iterator[Cell]:
    """The values that share a cell, each under the name at its place among names that share another cell."""
    parted = [[part.strip() for part in cell.text.split(",")] for cell in cells]
    for at, names in enumerate(parted):
        if len(names) > 1 and all(_IDENTIFIER.fullmatch(name) for name in names):
            for other, values in enumerate(parted):
                if other != at and len(values) == len(names) and all(" " not in value for value in values):
                    for name, value in zip(names, values, strict=True):
                        yield Cell(name, value, cells[other].start, cells[other].stop)
            return


def _is_table(passage: Passage) -> bool:
    """Whether it is of a file that is one table, its cells parted by a sign."""
    return PurePosixPath(passage.source).suffix.lower() in (".csv", ".tsv")


def _separator(line: str) -> str:
    """The sign that parts the cells of a table, by one of its lines: the one that does so most often."""
    return max(",;\t|", key=lambda sign: len(_separators(line, sign)))


def _cells(line: _Line, sign: str) -> Iterator[tuple[str, int, int]]:
    """The cells of a row with where they stand; parted by a sign, or without one by `|`, which may stand around it."""
    if sign:
        edges = [-1, *_separators(line.text, sign), len(line.text)]
    elif not _ROW.match(line.text):
        edges = [-1, *(match.start() for match in _PIPE.finditer(line.text)), len(line.text)]
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
