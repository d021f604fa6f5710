"""A file as curate sees it: its text, and where in the text headings, paragraphs, tables and pages are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

TEXT, HEADING, LIST, TABLE, CODE = "text", "heading", "list", "table", "code"


class Unreadable(Exception):
    """A file that cannot be read; the text says why, as the report of an import or a curate prints it."""


class Block(Struct, frozen=True, gc=False):
    """A piece of the text that stands for itself; offsets are characters.

    `sections` is the heading path it stands under, outermost first. `rows` are the offsets at which the rows of a
    table, the items of a list or the parts of a definition begin. `header` is the header row of a table, as written.
    """

    kind: str
    start: int
    stop: int
    sections: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    header: str = ""


class Heading(Struct, frozen=True, gc=False):
    """A heading for the outline; `start` is its offset, `line` counts from 1."""

    level: int
    title: str
    line: int
    start: int


class Parsed(Struct):
    """One file, read. `pages` holds where each page (slide, sheet) begins and its number, ascending.

    `blocks` may be an iterator that is used once; together with white space they need not cover the text, the chunker
    takes what lies between them. `headings` is complete once `blocks` is used up. `notes` are what a reader of the
    source should know, such as a guessed encoding.
    """

    text: str
    blocks: Iterable[Block]
    title: str = ""
    dated: str | None = None
    headings: list[Heading] = []
    pages: list[tuple[int, int]] = []
    notes: list[str] = []


class Sections:
    """The heading path while a text is read from top to bottom."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """A heading begins; gives the path that it and what follows stand under."""
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        if title:
            self._stack.append((level, title))
        return self.path

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._stack)


LONGEST_TITLE = 200


_LONE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which escapes and odd encodings give and UTF-8 cannot hold."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The text without line ends and repeated spaces, cut to what fits a heading."""
    text = " ".join(well_formed(text).split())
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1].rstrip() + "…"


LONGEST_HEADER = 2_000


def header_row(text: str) -> str:
    """The header row of a table as it is written, cut to what passages of the table can repeat."""
    return well_formed(text.lstrip("\ufeff").strip("\r\n"))[:LONGEST_HEADER]
