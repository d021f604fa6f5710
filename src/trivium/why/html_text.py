"""What small HTML in a document says: its lines, and the rows of its tables (reference 4.1).

Lines come out as Markdown, with links and code in its form, so that what follows needs to know one form only. A
definition list gives lines `term: text`. Comments, scripts and listings say nothing.
"""

from __future__ import annotations

import re
from contextlib import suppress
from html.parser import HTMLParser
from typing import NamedTuple

MAX_HTML = 4 << 10
"""How much of one block is read."""

_SILENT = frozenset({"script", "style", "template", "textarea", "pre", "svg", "del", "s", "strike", "title"})
_BREAKS = frozenset(
    {
        *("p", "div", "br", "hr", "li", "ul", "ol", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "section", "header", "footer", "article", "aside", "details", "summary"),
        *("blockquote", "center", "figure", "caption"),
    }
)
_ROWS = frozenset({"td", "th", "tr", "thead", "tbody", "tfoot", "table"})
_SPECIAL = re.compile(r"([\\\[\]`<>])")
_STRUCK = re.compile(r"~~(?!\s)[^~\n]{1,200}~~|<(del|s|strike)>[^<>\n]{1,200}</\1>", re.IGNORECASE)


class HtmlText(NamedTuple):
    """Lines and table rows, each with its line in the block, counted from 0."""

    lines: list[tuple[int, str]]
    rows: list[list[str]]


def read_html(source: str) -> HtmlText:
    """The text of an HTML block; of a long one only its beginning.

    >>> read_html("<dl><dt>Status</dt><dd>Accepted, see <a href='a.md'>A</a></dd></dl>").lines
    [(0, 'Status: Accepted, see [A](<a.md>)')]
    """
    reader = _Reader()
    with suppress(AssertionError):  # how the parser of the standard library refuses a broken declaration
        reader.feed(source[:MAX_HTML])
        reader.close()
    reader.flush()
    return HtmlText(reader.lines, [row for row in reader.rows if row])


def is_comment(source: str) -> bool:
    """Whether a block is one comment."""
    return source.lstrip().startswith("<!--") and source.rstrip().endswith("-->") and source.count("-->") == 1


def without_struck(text: str) -> str:
    """A line without what is struck out in it.

    >>> without_struck("Status: ~~proposed~~ accepted")
    'Status:  accepted'
    """
    return _STRUCK.sub("", text) if "~~" in text or "<" in text else text


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[tuple[int, str]] = []
        self.rows: list[list[str]] = []
        self._pieces: list[str] = []
        self._silent: list[str] = []
        self._line = 0
        self._term = ""
        self._inside = ""
        """The open cell, term or description: `td`, `dt` or `dd`."""
        self._links: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS:
            self.flush(tag)
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th", "dt", "dd"):
            self._inside = "td" if tag == "th" else tag
        elif tag == "a":
            target = next((value for name, value in attrs if name == "href" and value), None)
            self._links.append(target if target and not re.search(r"[<>\n]", target) else None)
            if self._links[-1]:
                self._pieces.append("[")
        elif tag == "code" and not self._silent:
            self._pieces.append("`")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag == "a" and self._links:
            target = self._links.pop()
            if target:
                self._pieces.append(f"](<{target}>)")
        elif tag == "code" and not self._silent:
            self._pieces.append("`")
        if tag in _BREAKS:
            self.flush(tag)

    def handle_data(self, data: str) -> None:
        if self._silent or not data:
            return
        if data.strip() and not "".join(self._pieces).strip():
            self._line = self.getpos()[0] - 1 + data[: len(data) - len(data.lstrip())].count("\n")
        self._pieces.append(_SPECIAL.sub(r"\\\1", data))

    def flush(self, tag: str = "table") -> None:
        """Ends what is open where `tag` begins or ends: a cell, a term that waits for its text, or a line."""
        text = " ".join("".join(self._pieces).split())
        self._pieces.clear()
        if self._inside == "td":
            if tag not in _ROWS:
                self._pieces.append(f"{text} ")  # a block inside a cell
                return
            if self.rows:
                self.rows[-1].append(text)
        elif self._inside == "dt":
            self._term = text.rstrip(": ")
        elif text:
            self.lines.append((self._line, f"{self._term}: {text}" if self._term else text))
            self._term = ""
        if tag in _ROWS or tag in ("dt", "dd", "dl"):
            self._inside = ""
