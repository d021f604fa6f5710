"""Excel files to text: the rows of the visible sheets, with the stored results of formulas, and the names in charts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from trivium.errors import MissingExtraError
from trivium.ingest.core_properties import with_properties
from trivium.ingest.number_format import shown_duration, shown_number
from trivium.ingest.parsed import Parsed, one_line
from trivium.ingest.read_chart import write_chart
from trivium.ingest.writing import Writer

_GAPS, _GAPS_FOR_CELL = 1_000, 20
"""Empty cells that are written to keep columns in place: so many, and so many more for each that holds anything."""
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]{0,200}?ref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')
_MOST_MERGED = 100_000
_PIECE = 1 << 20


def read_xlsx(data: bytes) -> Parsed:
    """The text of an `xlsx` file; raises errors of many kinds when it is damaged, MissingExtraError without `docs`."""
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("docs", "Reading Excel files") from None
    workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    writer = Writer()
    unsaved = 0
    try:
        for number, sheet in enumerate(workbook.worksheets, 1):
            if sheet.sheet_state != "visible":
                continue
            writer.page(number)
            writer.heading(1, one_line(sheet.title))
            rows = _Rows(sheet)
            writer.table(rows)
            unsaved += rows.unsaved
            _charts(writer, sheet)
        parsed = writer.result()
        parsed.title = ""
        if unsaved:
            told = f"formulas without a stored result: {unsaved:,}; a spreadsheet program saves it with the file"
            parsed.notes = [told, *parsed.notes]
        return with_properties(parsed, workbook.properties)
    finally:
        workbook.close()


def _charts(writer: Writer, sheet: Any) -> None:
    """Write what the charts on a sheet are called; their numbers are in its rows."""
    archive = sheet.parent._archive
    try:
        drawings = _related(archive, sheet._worksheet_path, "drawing")
        charts = [chart for drawing in drawings for chart in _related(archive, drawing, "chart")]
    except (ValueError, TypeError, SyntaxError, KeyError):  # lists of parts that are damaged
        writer.note("charts could not be read")
        return
    for chart in charts:
        write_chart(writer, archive.read(chart), numbers=False)


def _related(archive: Any, path: str, kind: str) -> list[str]:
    """The paths of the parts of a kind that a part refers to, of those that the file holds."""
    from openpyxl.packaging.relationship import get_dependents, get_rels_path  # type: ignore[import-untyped]

    held = set(archive.namelist())
    place = get_rels_path(path)
    if place not in held:
        return []
    found = (item for item in get_dependents(archive, place) if item.Type.endswith("/" + kind))
    return [item.target for item in found if item.TargetMode != "External" and item.target in held]


class _Rows:
    """The rows of a sheet that hold anything; `unsaved` then tells how many formulas have no result in the file.

    They are taken from the cells alone: what a file says of its size may be wrong, and may be absurdly large.
    """

    def __init__(self, sheet: Any) -> None:
        self._sheet = sheet
        self._gaps = _GAPS
        self.unsaved = 0

    def __iter__(self) -> Iterator[list[str]]:
        with self._sheet._get_source() as source:
            merged = _merged(source)
        open_: dict[int, tuple[str, int]] = {}  # by column: what stands in a merged cell, and its last row
        with self._sheet._get_source() as source:
            for number, cells in self._parser(source).parse():
                row = {cell["column"]: text for cell in cells if (text := _cell(cell["value"], self._format(cell)))}
                if not row:
                    continue
                open_ = {column: (text, last) for column, (text, last) in open_.items() if last >= number}
                starting = {column: (row[column], merged[at]) for column in row if (at := (number, column)) in merged}
                self._gaps += _GAPS_FOR_CELL * len(row)
                if len(open_) <= self._gaps:
                    self._gaps -= len(open_)
                    row = {column: text for column, (text, _) in open_.items()} | row
                open_ |= starting
                yield self._line(row)

    def _format(self, cell: dict[str, Any]) -> str:
        """The number format of a cell; empty for the general one and for a style that is not there."""
        from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE  # type: ignore[import-untyped]

        book = self._sheet.parent
        try:
            number = book._cell_styles[cell.get("style_id") or 0].numFmtId
            own = number - BUILTIN_FORMATS_MAX_SIZE
            return str(book._number_formats[own] if own >= 0 else BUILTIN_FORMATS.get(number, ""))
        except (IndexError, AttributeError):
            return ""

    def _line(self, row: dict[int, str]) -> list[str]:
        line: list[str] = []
        last = 0
        for column in sorted(row):
            gap = min(column - last - 1, self._gaps)
            self._gaps -= gap
            line += [""] * gap
            line.append(row[column])
            last = column
        return line

    def _parser(self, source: Any) -> Any:
        from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser  # type: ignore[import-untyped]

        rows = self

        class Parser(WorkSheetParser):  # type: ignore[misc]
            def parse_cell(self, element: Any) -> dict[str, Any]:
                cell: dict[str, Any] = super().parse_cell(element)
                rows.unsaved += cell["value"] is None and element.find(FORMULA_TAG) is not None
                return cell

        book = self._sheet.parent
        return Parser(
            source,
            self._sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )


def _merged(source: Any) -> dict[tuple[int, int], int]:
    """Cells that are merged with those below them: by row and column of the first, the last row."""
    found: dict[tuple[int, int], int] = {}
    rest = b""
    while piece := source.read(_PIECE):
        text = rest + piece
        end = 0
        for match in _MERGED.finditer(text):
            end = match.end()
            first, last = int(match[2]), int(match[3])
            if first < last and len(found) < _MOST_MERGED:
                found[first, _column(match[1])] = last
        rest = text[max(end, len(text) - 300) :]
    return found


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _cell(value: Any, format_: str) -> str:
    """What a reader sees of a value, with all of its digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return shown_number(value, format_)
    if isinstance(value, timedelta):
        return shown_duration(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()
