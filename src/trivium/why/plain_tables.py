"""Tables and term lists of reStructuredText and AsciiDoc as rows of cells (reference 4.1, 4.2).

Each reader takes the lines of one table, the first being line 0, and gives rows with the line that each begins at. What
a table of another shape than its format says holds is read as far as it goes: nothing here raises.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

GRID = re.compile(r"\+(?:-+\+)+")
SIMPLE = re.compile(r"=+(?: +=+)+")
ADOC_FENCE = re.compile(r"([|,:])={3,}")
MAX_COLUMNS = 64
MAX_CELL = 8 << 10
"""How much of one cell is read."""

_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+")
_DASHES = re.compile(r"-[- ]*")
_OPTION = re.compile(r":([\w-]+):\s*(.*)")
_ROW = re.compile(r"([*+-]\s+)[*+-](?:\s+(.*))?")
_CELL = re.compile(r"(\s+)[*+-](?:\s+(.*))?")
_CLASSIFIER = re.compile(r"\s+:\s+.*")
_ADOC_CELL = re.compile(r"(?:(?<=\s)|^)([\d.+*<^>]{0,9})[aehlmdsv]?(?<!\\)\|")
_ADOC_SPAN = re.compile(r"(\d{1,2})(?:\.\d+)?\+")
_ADOC_COLUMNS = re.compile(r"""\[.*\bcols\s*=\s*(?:"([^"]{1,200})"|([\w*]{1,20}))""")
_ADOC_HEADER = re.compile(r"""\[.*(?:%header\b|\b(?:options?|opts)\s*=\s*"?[^"\]]*\bheader\b)""")
_ADOC_FORMAT = re.compile(r"""\[.*\bformat\s*=\s*"?([cdt]sv)\b""")
_SEPARATORS = {"csv": ",", "tsv": "\t", "dsv": ":"}


class Table(NamedTuple):
    """Rows, the line of each counted from the table's first, and whether the first row is a head."""

    rows: list[list[str]]
    lines: list[int]
    header: bool


class Term(NamedTuple):
    """The names of one entry of a glossary, with its first and last line."""

    names: list[str]
    first: int
    last: int


# --- reStructuredText -----------------------------------------------------------------------------


def grid_table(lines: Sequence[str]) -> Table:
    """A table drawn with `+`, `-` and `|`; a cell that spans columns is read as the first of them.

    >>> grid_table(["+---+---+", "| a | b |", "+===+===+", "| c | d |", "+---+---+"])
    Table(rows=[['a', 'b'], ['c', 'd']], lines=[1, 3], header=True)
    """
    edges = [at for at, character in enumerate(lines[0]) if character == "+"][: MAX_COLUMNS + 1]
    builder = _Builder()
    header = False
    for number, line in enumerate(lines):
        if _GRID_BORDER.fullmatch(line):
            header = header or ("=" in line and len(builder.rows) == 1)
            builder.end()
            continue
        cells = _between(line, edges)
        if any(cell and not cell.strip("-+") for cell in cells):  # the border of a row that another cell spans
            builder.end()
            continue
        builder.add(number, cells)
    return Table(builder.rows, builder.lines, header)


def _between(line: str, edges: Sequence[int]) -> list[str]:
    parts = line.strip()[1:-1].split("|")
    if len(parts) == len(edges) - 1:
        return [part.strip() for part in parts]
    wide = _spread(line)
    cells = [""] * (len(edges) - 1)
    start, column = edges[0] + 1, 0
    for place, edge in enumerate(edges[1:], 1):
        if wide[edge : edge + 1] in ("|", "+", "") or place == len(edges) - 1:
            cells[column] = _gathered(wide[start:edge])
            start, column = edge + 1, place
    return cells


def simple_table(lines: Sequence[str]) -> Table:
    """A table between lines of `=`; a row that begins with an empty cell goes on with the one above.

    >>> simple_table(["==  ==", "a   b", "==  ==", "c   d", "    e", "==  =="])
    Table(rows=[['a', 'b'], ['c', 'd e']], lines=[1, 3], header=True)
    """
    starts = [match.start() for match in re.finditer("=+", lines[0])][:MAX_COLUMNS]
    builder = _Builder()
    header = False
    for number, line in enumerate(lines[1:], 1):
        if SIMPLE.fullmatch(line):
            header = header or (bool(builder.rows) and number + 1 < len(lines))
            builder.end()
        elif line.strip() and not _DASHES.fullmatch(line):
            wide = _spread(line)
            ends = [*starts[1:], len(wide)]
            cells = [_gathered(wide[start:end]) for start, end in zip(starts, ends, strict=True)]
            if cells[0]:
                builder.end()
            builder.add(number, cells)
    return Table(builder.rows, builder.lines, header)


def directive_table(name: str, lines: Sequence[str]) -> Table | None:
    """The table of a directive `list-table`, `csv-table` or `table`, from its first line on; None of another one."""
    options, first = _options(lines)
    body = _dedented(lines[first:])
    if name == "list-table":
        found = _list_table(body, options.get("header-rows", ("0", 0))[0] not in ("", "0"))
    elif name == "csv-table":
        found = _csv_table(body, options, first)
    elif name == "table":
        start = next((number for number, line in enumerate(body) if line), 0)
        inner = body[start:]
        if inner and GRID.fullmatch(inner[0]):
            inner = inner[: next((at for at, line in enumerate(inner) if line[:1] not in ("+", "|")), len(inner))]
            found = grid_table(inner)
        elif inner and SIMPLE.fullmatch(inner[0]):
            found = simple_table(inner)
        else:
            return None
        found = found._replace(lines=[line + start for line in found.lines])
    else:
        return None
    return found._replace(lines=[line + first if line >= 0 else -line for line in found.lines])


def _list_table(body: Sequence[str], header: bool) -> Table:
    builder = _Builder()
    indent = 0
    for number, line in enumerate(body):
        if row := _ROW.fullmatch(line):
            builder.end()
            indent = len(row.group(1))
            builder.begin(number, row.group(2) or "")
        elif (cell := _CELL.fullmatch(line)) and len(cell.group(1)) == indent:
            builder.cell(cell.group(2) or "")
        elif line.strip():
            builder.more(line.strip())
    return Table(builder.rows, builder.lines, header)


def _csv_table(body: Sequence[str], options: dict[str, tuple[str, int]], first: int) -> Table:
    """Rows of a `csv-table`; the line of a head that an option holds is given as negative."""
    mark = {"tab": "\t", "space": " "}.get(options.get("delim", (",", 0))[0], options.get("delim", (",", 0))[0] or ",")
    rows, lines = _csv_rows(body, mark[:1])
    told = options.get("header")
    header = told is not None or options.get("header-rows", ("0", 0))[0] not in ("", "0")
    if told is not None:
        head, _ = _csv_rows([told[0]], mark[:1])
        rows, lines = head + rows, [-told[1] for _ in head] + lines
    return Table(rows, lines, header)


def glossary_terms(lines: Sequence[str]) -> list[Term]:
    """The entries of a directive `glossary`: terms at the margin, the last one above its indented text.

    >>> glossary_terms([".. glossary::", "", "   Cache", "   Store : x", "      Keeps."])
    [Term(names=['Cache', 'Store'], first=2, last=4)]
    """
    _, first = _options(lines)
    terms: list[Term] = []
    names: list[str] = []
    begun = first
    described = False
    for number, line in enumerate(_dedented(lines[first:]), first):
        if not line or line.startswith(".."):
            continue
        if line[0] in " \t":
            if names and not described:
                terms.append(Term(names, begun, number))
            elif terms:
                terms[-1] = terms[-1]._replace(last=number)
            described = True
            continue
        if described or not names:
            names, begun, described = [], number, False
        names.append(_CLASSIFIER.sub("", line).strip())
    return terms


def _options(lines: Sequence[str]) -> tuple[dict[str, tuple[str, int]], int]:
    """The options of a directive, each with its line, and where its body begins."""
    found: dict[str, tuple[str, int]] = {}
    number = 1
    while number < len(lines) and (option := _OPTION.fullmatch(lines[number].strip())):
        found[option.group(1)] = (option.group(2).strip(), number)
        number += 1
    return found, number


def _dedented(lines: Sequence[str]) -> list[str]:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(indents, default=0)
    return [line[margin:].rstrip() for line in lines]


# --- AsciiDoc -------------------------------------------------------------------------------------


def adoc_table(fence: str, body: Sequence[str], above: Sequence[str]) -> Table:
    """The table between two fences; `above` are the attribute lines before it. Rows are as long as `cols` says.

    >>> adoc_table("|===", ["|A |B", "", "|c", "|d"], []).rows
    [['A', 'B'], ['c', 'd']]
    """
    told = [line for line in above if line.startswith("[")]
    form = next((match.group(1) for line in told if (match := _ADOC_FORMAT.match(line))), None)
    form = form or {",": "csv", ":": "dsv"}.get(fence[0])
    content = next((number for number, line in enumerate(body) if line.strip()), 0)
    implied = content == 0 and len(body) > 1 and not body[1].strip()
    header = implied or any(_ADOC_HEADER.match(line) for line in told)
    if form is not None:
        rows, lines = _csv_rows(body, _SEPARATORS[form])
        return Table(rows, [line + 1 for line in lines], header)
    columns = next((match for line in told if (match := _ADOC_COLUMNS.match(line))), None)
    width = _width(columns.group(1) or columns.group(2)) if columns else 0
    builder = _Builder()
    for number, line in enumerate(body, 1):
        before, *parts = _ADOC_CELL.split(line)
        if before.strip():
            builder.more(before.strip())
        cells = list(_spanned(parts))
        width = width or min(len(cells), MAX_COLUMNS)
        for cell in cells:
            if not builder.rows or len(builder.rows[-1]) >= width:
                builder.begin(number, cell.strip())
            else:
                builder.cell(cell.strip())
    return Table(builder.rows, builder.lines, header)


def _spanned(parts: Sequence[str]) -> Iterator[str]:
    """Cells, given as what stands before each `|` and after it; one that spans columns is followed by empty ones."""
    for told, cell in zip(parts[::2], parts[1::2], strict=True):
        yield cell
        span = _ADOC_SPAN.match(told)
        yield from [""] * (int(span.group(1)) - 1 if span else 0)


def _width(columns: str) -> int:
    """The number of columns that `cols` tells: `1,6`, `2*` or `3*,1`."""
    total = 0
    for part in columns.split(","):
        count, star, _ = part.strip().partition("*")
        total += int(count) if star and count.isdecimal() else 1
    return min(total, MAX_COLUMNS)


# --- both -----------------------------------------------------------------------------------------


class _Builder:
    """Rows as they grow; cells of several lines are joined with spaces."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.lines: list[int] = []
        self._open = False

    def begin(self, line: int, cell: str) -> None:
        self.rows.append([cell])
        self.lines.append(line)
        self._open = True

    def end(self) -> None:
        self._open = False

    def cell(self, text: str) -> None:
        if self._open and len(self.rows[-1]) < MAX_COLUMNS:
            self.rows[-1].append(text)

    def more(self, text: str) -> None:
        """More text of the last cell."""
        if self._open:
            self.rows[-1][-1] = _joined(self.rows[-1][-1], text)

    def add(self, line: int, cells: list[str]) -> None:
        """A line of cells: of the open row, or of a new one."""
        if not self._open:
            self.rows.append(cells)
            self.lines.append(line)
            self._open = True
            return
        self.rows[-1] = [_joined(old, new) for old, new in zip(self.rows[-1], cells, strict=True)]


def _joined(old: str, new: str) -> str:
    return f"{old} {new}".strip() if new and len(old) < MAX_CELL else old


def _csv_rows(body: Sequence[str], mark: str) -> tuple[list[list[str]], list[int]]:
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader((f"{line}\n" for line in body), delimiter=mark, skipinitialspace=True)
    begun = 0
    for row in _readable(reader):
        if any(cell.strip() for cell in row):
            rows.append([" ".join(cell.split()) for cell in row[:MAX_COLUMNS]])
            lines.append(begun)
        begun = reader.line_num
    return rows, lines


def _readable(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows up to one that is no CSV."""
    try:
        yield from reader
    except csv.Error:
        return


def _spread(line: str) -> str:
    """A line in which each character takes as many places as columns: wide ones two."""
    if line.isascii():
        return line
    return "".join(f"{one}\0" if unicodedata.east_asian_width(one) in "WF" else one for one in line)


def _gathered(text: str) -> str:
    return text.replace("\0", "").strip(" |+")
