"""The rows of tables in passages: their cells, each under its header, and the row as one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec import Struct

from trivium.language.text_lines import Line, is_rule, plain, trimmed
from trivium.search.passage import Passage

ROW_LINE = re.compile(r"[ \t]*\|.*\|[ \t]*$")
DIGITS = re.compile(r"\d[\d.,]*")
_PIPE = re.compile(r"(?<!\\)\|")
_NOTHING = frozenset("–—-−―")
_IDENTIFIER = re.compile(r"[^\W\d][\w.-]*")


class Cell(Struct, frozen=True):
    """A cell of a table or the value of a pair: what it is about and its text, at `passage.text[start:stop]`."""

    key: str
    text: str
    start: int
    stop: int


def rows_of(passage: Passage, part: list[Line], before: str) -> Iterator[tuple[int, int, str, list[Cell]]]:
    """The rows of a table: offsets, the row as one line of `header: cell`, and its cells.

    `before` is the header row where that stands before the passage.
    """
    table = is_table(passage)
    sign = _separator(before or part[0].text) if table else ""
    rows = [
        cells
        for line in part
        if line.text.strip() and (table or not is_rule(line.text)) and (cells := list(_cells(line, sign)))
    ]
    header = [text for text, _, _ in _cells(Line(0, 0, before), sign)]
    has_header = not table and len(part) > 1 and is_rule(part[1].text)
    if rows and not before and (passage.start == 0 if table else not ROW_LINE.match(part[0].text)):
        has_header = has_header or not any(DIGITS.fullmatch(text) for text, _, _ in rows[0])
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


def is_table(passage: Passage) -> bool:
    """Whether it is of a file that is one table, its cells parted by a sign."""
    return PurePosixPath(passage.source).suffix.lower() in (".csv", ".tsv")


def _separator(line: str) -> str:
    """The sign that parts the cells of a table, by one of its lines: the one that does so most often."""
    return max(",;\t|", key=lambda sign: len(_separators(line, sign)))


def _cells(line: Line, sign: str) -> Iterator[tuple[str, int, int]]:
    """The cells of a row with where they stand; parted by a sign, or without one by `|`, which may stand around it."""
    if sign:
        edges = [-1, *_separators(line.text, sign), len(line.text)]
    elif not ROW_LINE.match(line.text):
        edges = [-1, *(match.start() for match in _PIPE.finditer(line.text)), len(line.text)]
    else:
        edges = [match.start() for match in _PIPE.finditer(line.text)]
    for left, right in pairwise(edges):
        start, stop = trimmed(line.text, left + 1, right)
        if stop - start > 1 and line.text[start] == line.text[stop - 1] == '"':
            start, stop = start + 1, stop - 1
        yield plain(line.text[start:stop]), line.start + start, line.start + stop


def _separators(line: str, sign: str) -> list[int]:
    """Where the separators of a line of comma-separated values stand, those inside quotes left out."""
    found, quoted = [], False
    for place, letter in enumerate(line):
        if letter == '"':
            quoted = not quoted
        elif letter == sign and not quoted:
            found.append(place)
    return found
