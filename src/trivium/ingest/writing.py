"""A text that is written block by block, for formats whose files are no texts themselves."""

from __future__ import annotations

from collections.abc import Iterable

from trivium.ingest.parsed import HEADING, LIST, TABLE, TEXT, Block, Heading, Parsed, Sections, header_row, one_line

ROWS = 500
"""Rows of a table that make one block."""


class Writer:
    """Gathers paragraphs, headings, items and tables, with an empty line between blocks."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._lines = 1
        self._blocks: list[Block] = []
        self._headings: list[Heading] = []
        self._pages: list[tuple[int, int]] = []
        self._sections = Sections()
        self._title = ""
        self._in_list = False
        self._notes: list[str] = []

    def note(self, text: str) -> None:
        """Something that a reader of the source should know; told once."""
        if text not in self._notes:
            self._notes.append(text)

    @property
    def size(self) -> int:
        """How many characters there are."""
        return self._size

    def page(self, number: int) -> None:
        """A page, slide or sheet begins."""
        self.blank()
        self._pages.append((self._size, number))

    def heading(self, level: int, text: str) -> None:
        title = one_line(text)
        if not title:
            return
        self.blank()
        path = self._sections.enter(level, title)
        self._headings.append(Heading(level, title, self._lines, self._size))
        self._title = self._title or title
        self._block(HEADING, title + "\n", path)

    def section(self, level: int, title: str) -> None:
        """A heading that stands in the outline only: the text does not hold it."""
        self._sections.enter(level, title)
        self._headings.append(Heading(level, title, self._lines, self._size))

    def continue_heading(self, level: int, text: str) -> None:
        """One more line of the heading that was written last, if one was; else a heading of its own."""
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.kind != HEADING or last.stop != self._size:
            self.heading(level, text)
            return
        line = one_line(text)
        title = one_line(f"{last.sections[-1]} {line}")
        path = self._sections.enter(level, title)
        self._headings[-1] = Heading(level, title, self._headings[-1].line, last.start)
        self.put(line + "\n")
        self._blocks[-1] = Block(HEADING, last.start, self._size, path)

    def paragraph(self, text: str) -> None:
        self.blank()
        self._block(TEXT, _clean(text) + "\n", self._sections.path)

    def leave(self) -> None:
        """What follows stands under no heading."""
        self._sections = Sections()

    def item(self, text: str, mark: str = "- ") -> None:
        """An item of a list; items that follow each other make one block."""
        line = mark + _clean(text).replace("\n", "\n  ") + "\n"
        last = self._blocks[-1] if self._blocks else None
        if last is not None and last.kind == LIST and last.stop == self._size and self._in_list:
            start = self._size
            self.put(line)
            self._blocks[-1] = Block(LIST, last.start, self._size, last.sections, (*last.rows, start))
            self._in_list = len(last.rows) < ROWS
            return
        self.blank()
        self._block(LIST, line, self._sections.path)
        self._in_list = True

    def table(self, rows: Iterable[Iterable[str]]) -> None:
        """Rows, one line each; the first is the header."""
        self.blank()
        header, start = "", self._size
        starts: list[int] = []
        first = True
        for row in rows:
            line = " | ".join(" ".join(_clean(cell).split()) for cell in row).rstrip(" |")
            if not line:
                continue
            if first:
                header, first = header_row(line), False
            elif len(starts) >= ROWS:
                self._blocks.append(Block(TABLE, start, self._size, self._sections.path, tuple(starts), header))
                start, starts = self._size, []
            if self._size > start:
                starts.append(self._size)
            self.put(line + "\n")
        if self._size > start:
            self._blocks.append(Block(TABLE, start, self._size, self._sections.path, tuple(starts), header))

    def _block(self, kind: str, text: str, path: tuple[str, ...]) -> None:
        start = self._size
        self.put(text)
        self._blocks.append(Block(kind, start, self._size, path))

    # --- for readers that lay out their lines themselves --------------------------------------------

    def put(self, text: str) -> None:
        """Text as it is; what makes a block of it is `close`."""
        self._parts.append(text)
        self._size += len(text)
        self._lines += text.count("\n")

    def blank(self) -> None:
        """An empty line before what comes next."""
        if self._parts and self._parts[-1] != "\n":
            self.put("\n")

    def close(self, kind: str, start: int, rows: tuple[int, ...] = (), header: str = "") -> None:
        """What was put since `start` is a block."""
        self._blocks.append(Block(kind, start, self._size, self._sections.path, rows, header))

    def since(self, start: int) -> str:
        """The text from an offset on."""
        at, first = self._size, len(self._parts)
        while at > start:
            first -= 1
            at -= len(self._parts[first])
        return "".join(self._parts[first:])[start - at :]

    def result(self) -> Parsed:
        return Parsed(
            "".join(self._parts),
            self._blocks,
            self._title,
            headings=self._headings,
            pages=self._pages,
            notes=self._notes,
        )


def _clean(text: str) -> str:
    """Line ends as `\\n`, without characters that no text holds."""
    for old, new in (("\r\n", "\n"), ("\r", "\n"), ("\x0b", "\n"), ("\0", ""), ("\x07", "")):
        if old in text:
            text = text.replace(old, new)
    return text.encode(errors="replace").decode() if not text.isascii() else text
