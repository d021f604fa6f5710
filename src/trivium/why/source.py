"""One document as its extractors see it: blocks, place, citations, and how an entity is stated (reference 3.2, 4.5)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple

from trivium.code.front_matter import read_yaml, text_of
from trivium.why.html_text import HtmlText, is_comment, read_html
from trivium.why.inline import TEXT, Found, cut_text, scan_inline
from trivium.why.markdown import HTML, LIST, PARAGRAPH, QUOTE, Block, Heading, Parsed
from trivium.why.model import MAX_METADATA, MAX_NAME, MAX_REFERENCES, Cite, RawEntity, Reference, bounded_id
from trivium.why.places import Place
from trivium.why.reasons import Reasons
from trivium.why.regions import SourceLines, read_text

_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!\d)|//|#|$")
MAX_TOKEN = 512
MAX_HTML_BLOCKS = 8
"""How many HTML blocks of a document are read."""


class Line(NamedTuple):
    """A raw line of text, where it stands, and the number of its block."""

    number: int
    text: str
    block: int


class Beside:
    """A file beside a document that is all front matter: its keys, where they stand, and the file as evidence.

    One that could not be read (`data` None) says nothing and is no evidence.
    """

    def __init__(self, path: str, data: bytes | None) -> None:
        text, foreign = read_text(data or b"")
        front = read_yaml(text)
        lines = SourceLines(data or b"")
        self.path = path
        self.values = {key.lower(): value for key, value in front.values.items()}
        self.lines = {key.lower(): line for key, line in front.key_lines.items()}
        self.reasons = Reasons()
        region, cut = lines.region(path, 1, max(lines.count, 1))
        self.region = region if lines.count else None
        for code, line in (("encoding", foreign), ("invalid-frontmatter", front.invalid), ("region-limit", cut)):
            if line:
                self.reasons.add(code, int(line))


class DocumentSource:
    """A parsed document with its path's place; reasons met on the way are added to those of the parse.

    What stands `beside` it goes before its own front matter.
    """

    def __init__(self, path: str, place: Place, parsed: Parsed, data: bytes, beside: Beside | None = None) -> None:
        self.path = path
        self.place = place
        self.parsed = parsed
        self.reasons = parsed.reasons
        self.front = {key.lower(): value for key, value in parsed.front.values.items()}
        self.front_lines = {key.lower(): line for key, line in parsed.front.key_lines.items()}
        self.beside = beside
        if beside is not None:
            self.front |= beside.values
            self.front_lines |= dict.fromkeys(beside.values, 1)
        self.type = (text_of(self.front.get("type")) or "").lower()
        self.lines = SourceLines(data)
        self.references = self._read_references()
        self._cites = [Cite("link" if item.kind == "link" else "code", item.value, item.line) for item in self._cited()]
        self._cite_lines = [cite.line for cite in self._cites]
        self._html: dict[int, HtmlText] = {}

    def _read_references(self) -> list[Reference]:
        plain: list[Reference] = []
        fenced: list[Reference] = []
        for span in self.parsed.spans:
            found = scan_inline(span.text, self.parsed.references)
            if found:
                (fenced if span.fenced else plain).extend(_with_lines(found, span.text, span.line, span.fenced))
        if len(plain) > MAX_REFERENCES:
            self.reasons.add("reference-limit", plain[MAX_REFERENCES].line)
            del plain[MAX_REFERENCES:]
        references = plain + fenced[: MAX_REFERENCES - len(plain)]
        references.sort(key=lambda reference: reference.line)
        return references

    def _cited(self) -> Iterator[Reference]:
        return (item for item in self.references if item.kind != TEXT and not item.fenced)

    def cites(self, line_start: int, line_end: int) -> list[Cite]:
        """Inline code and inline links on these lines, each once, in order."""
        first, after = bisect_left(self._cite_lines, line_start), bisect_right(self._cite_lines, line_end)
        seen: dict[tuple[str, str], Cite] = {}
        for cite in self._cites[first:after]:
            seen.setdefault((cite.kind, cite.value), cite)
        return list(seen.values())

    def title(self) -> str | None:
        """Front matter `title`, else the first heading; at most 256 characters of it (4.1, 4.5)."""
        if declared := self.declared_title():
            return declared
        if not self.parsed.headings:
            return None
        heading = self.parsed.headings[0]
        return self.cut(heading.text, MAX_NAME, heading.line) or None

    def declared_title(self) -> str | None:
        """The `title` of the front matter."""
        declared = text_of(self.front.get("title"))
        return self.cut(declared, MAX_NAME, self.front_lines.get("title", 1)) if declared else None

    def cut(self, text: str, bound: int = MAX_METADATA, line: int = 1) -> str:
        """A status, date or title within its bound (`metadata-limit`)."""
        if len(text) > bound:
            self.reasons.add("metadata-limit", line)
        return cut_text(text, bound)

    def section_end(self, index: int) -> int:
        """The line before the next heading of the same or a higher level."""
        level = self.parsed.headings[index].level
        for heading in self.parsed.headings[index + 1 :]:
            if heading.level <= level:
                return heading.line - 1
        return self.parsed.last_line

    def text_lines(self, first: int, last: int, quoted: bool = False) -> Iterator[Line]:
        """Raw lines of top-level paragraphs, list items and HTML that begin on these lines, each item by itself.

        `quoted` lines are those of quotes, too.
        """
        for number, block in enumerate(self.parsed.blocks):
            if block.line > last:
                return
            if block.kind == PARAGRAPH and block.line >= first:
                yield from _within(block.text, block.line, last, number)
            elif block.kind == LIST or (block.kind == QUOTE and quoted):
                for item in block.items:
                    if item.line >= first:
                        yield from _within(item.text, item.line, last, number)
            elif block.kind == HTML and block.line >= first:
                for line, text in self.html(block).lines:
                    if block.line + line <= last:
                        yield Line(block.line + line, text, number)

    def html(self, block: Block) -> HtmlText:
        """What an HTML block says; the first ones of a document are read, comments apart."""
        if block.line not in self._html:
            if len(self._html) >= MAX_HTML_BLOCKS or is_comment(block.text):
                return HtmlText([], [])
            self._html[block.line] = read_html(block.text)
        return self._html[block.line]

    def state(
        self,
        kind: Literal["decision", "concept", "change"],
        entity_id: str,
        name: str,
        lines: tuple[int, int],
    ) -> RawEntity | None:
        """The entity that these lines state; None (with a reason) where a bound or generated text forbids it (4.5)."""
        if not name or len(name) > MAX_NAME:
            if name:
                self.reasons.add("name-limit", lines[0])
            return None
        if self.parsed.meets_generated(*lines):
            self.reasons.add("generated-region", lines[0])
            return None
        region, cut = self.lines.region(self.path, *lines)
        if cut:
            self.reasons.add("region-limit", lines[0])
        return RawEntity(kind, bounded_id(entity_id), name, region, cites=self.cites(*lines))

    def headings(self) -> Iterator[tuple[int, Heading]]:
        return enumerate(self.parsed.headings)


def _within(text: str, line: int, last: int, block: int) -> Iterator[Line]:
    for offset, written in enumerate(text.split("\n")[: last - line + 1]):
        yield Line(line + offset, written, block)


def _with_lines(found: list[Found], text: str, line: int, fenced: bool) -> Iterator[Reference]:
    position = 0
    for kind, value, start, _ in found:
        line += text.count("\n", position, start)
        position = start
        if not value or len(value) > MAX_TOKEN or (kind == "link" and _EXTERNAL.match(value)):
            continue
        yield Reference("link" if kind == "link" else "text" if kind == TEXT else "code", value, line, fenced)
