"""Cells of a table that stand for several columns or rows: each of these gets the text, so that no column shifts."""

from __future__ import annotations

_MOST_COLUMNS, _MOST_ROWS, _LONGEST = 50, 1_000, 300
"""What a span may cover, and the characters from which a text is not repeated."""


class Spans:
    """Follows one table, row by row; what it gives are the cells that are to be put beside those that the table has."""

    def __init__(self) -> None:
        self._column = 0
        self._size = (1, 1)
        self._above: dict[int, tuple[int, str]] = {}
        """Column to the rows for which its text still stands, and the text."""

    def begin_row(self) -> None:
        self._column = 0

    def begin(self, columns: str | None, rows: str | None) -> list[str]:
        """Before a cell: those of earlier rows that reach into this one here. The numbers are those of the page."""
        reaching = self.rest()
        self._size = _number(columns, _MOST_COLUMNS), _number(rows, _MOST_ROWS)
        return reaching

    def end(self, text: str) -> list[str]:
        """After a cell: its text once more for each further column."""
        columns, rows = self._size
        repeated = text if len(text) <= _LONGEST else ""
        if rows > 1:
            for column in range(self._column, self._column + columns):
                self._above[column] = rows - 1, repeated
        self._column += columns
        return [repeated] * (columns - 1)

    def rest(self) -> list[str]:
        """Those of earlier rows that reach into this one here; also to be asked for at the end of a row."""
        reaching = []
        while self._column in self._above:
            reaching.append(self._taken())
        return reaching

    def _taken(self) -> str:
        rows, text = self._above.pop(self._column)
        if rows > 1:
            self._above[self._column] = rows - 1, text
        self._column += 1
        return text


def _number(text: str | None, most: int) -> int:
    text = (text or "").strip()
    return min(max(int(text), 1), most) if text.isascii() and text.isdigit() and len(text) < 9 else 1
