"""Records and change logs in reStructuredText, AsciiDoc or plain text, as the same block model (reference 2.1, 4).

Read line by line: headings, paragraphs, items by indent or marker, literal blocks left out. Inline links of these
formats are rewritten to Markdown's form, so that what follows needs to know one form only.
"""

from __future__ import annotations

import re

from msgspec import Struct

from trivium.why.changelog import is_release
from trivium.why.generated import DEFAULT_MARKERS, generated_lines
from trivium.why.inline import plain_text
from trivium.why.markdown import (
    HEADING,
    LIST,
    MAX_LINES,
    PARAGRAPH,
    TABLE,
    Block,
    Heading,
    Item,
    Parsed,
    Span,
    begin,
    drop_generated,
    parse_markdown,
)
from trivium.why.model import MAX_BLOCKS, MAX_HEADINGS

RST, ADOC = ".rst", ".adoc"

_MARKDOWN_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_ADORNMENT = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}\s*")
_BULLET = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)]|#\.)[ \t]+(\S.*)")
_ADOC_BULLET = re.compile(r"[ \t]*(-|\*{1,5}|\.{1,5})[ \t]+(\S.*)")
_ADOC_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*)")
_ADOC_TABLE = re.compile(r"\|={3,}\s*")
_ADOC_COLUMNS = re.compile(r"""\[.*\bcols\s*=\s*(?:"([^"]{1,200})"|([\w*]{1,20}))""")
_ADOC_CELL = re.compile(r"(?:(?<=\s)|^)[\d.+*<^>]{0,9}[aehlmdsv]?(?<!\\)\|")
_NUMBER = re.compile(r"(?:\d{1,9}[.)]|#\.)[ \t]")
_ADOC_FENCE = re.compile(r"(-{4,}|\.{4,}|```|/{4,})\s*")
_RST_DIRECTIVE = re.compile(r"\.\.(?:\s|$)")
_RST_LINK = re.compile(r"`([^`<\n]{0,300})<([^`<>\s]{1,500})>`__?")
_RST_ROLE = re.compile(r":[a-z]{1,20}(?::[a-z]{1,20})?:`[~!]?([^`\n]{1,300})`")
_ADOC_LINK = re.compile(r"(?:link|xref):([^\s\[\]]{1,500})\[([^\]\n]{0,300})\]")
_ADOC_XREF = re.compile(r"<<([^<>,\n]{1,500})(?:,([^<>\n]{1,300}))?>>")
_MAX_RELEASE_LINE = 120
_RELEASE_LEVEL = 9
"""That of lines of plain text that name a release; the bound of headings does not count them, that of blocks does."""


def parse_plain(suffix: str, data: bytes, markers: tuple[str, ...] = DEFAULT_MARKERS) -> Parsed:
    """The block model of a text that is not Markdown; a plain text with `#` headings is read as Markdown.

    >>> parse_plain(".rst", b"Title\\n=====\\n\\n:Status: Accepted\\n").headings[0].text
    'Title'
    """
    parsed, body = begin(data)
    if suffix not in (RST, ADOC) and _MARKDOWN_HEADING.search(body):
        return parse_markdown(data, markers)
    parsed.last_line = parsed.line_count
    _Lines(suffix, body, parsed).read()
    parsed.generated = generated_lines(body, parsed.front.lines, markers, [])
    if parsed.generated:
        drop_generated(parsed)
    return parsed


class _Open(Struct):
    """The block that the next line may continue."""

    line: int
    texts: list[str]
    item: Item | None = None


class _Lines:
    """Reads the lines once; `_at` is the index of the line at hand."""

    def __init__(self, suffix: str, body: str, parsed: Parsed) -> None:
        self._suffix = suffix
        self._parsed = parsed
        self._lines = body.split("\n")
        self._offset = parsed.front.lines + 1
        self._at = 0
        self._open: _Open | None = None
        self._list: Block | None = None
        self._indents: list[int] = []
        self._styles: list[str] = []
        self._count = 0
        self._titles = 0
        self._full = False
        self._literal = False

    def read(self) -> None:
        if len(self._lines) > MAX_LINES:
            del self._lines[MAX_LINES:]
            self._parsed.reasons.add("node-limit", MAX_LINES + self._offset)
        while self._at < len(self._lines) and not self._full:
            line = self._lines[self._at].rstrip()
            if not line:
                self._close()
                self._at += 1
            elif self._literal and line[0] in " \t":
                self._at += 1
            elif not (self._skip_literal(line) or self._table(line) or self._heading(line) or self._item(line)):
                self._text(line)
                self._at += 1
        self._close()
        self._end_list(self._parsed.last_line + 1)

    # --- blocks -----------------------------------------------------------------------------------

    def _line(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at].rstrip() if 0 <= at < len(self._lines) else ""

    def _begin(self) -> int:
        """Counts a block that begins here; the bound ends the reading (4.5)."""
        self._close()
        line = self._at + self._offset
        self._count += 1
        if self._count > MAX_BLOCKS:
            self._full = True
            self._parsed.reasons.add("node-limit", line)
            self._parsed.last_line = line - 1
        return line

    def _close(self) -> None:
        opened, self._open = self._open, None
        if opened is None:
            return
        self._literal = self._suffix == RST and opened.texts[-1].endswith("::")
        text = _as_markdown("\n".join(opened.texts), self._suffix)
        self._parsed.spans.append(Span(text, opened.line))
        if opened.item is not None:
            opened.item.text = f"{opened.item.text}\n{text}" if opened.item.text else text
        else:
            end = opened.line + len(opened.texts) - 1
            self._parsed.blocks.append(Block(PARAGRAPH, opened.line, end, text))

    def _end_list(self, line: int) -> None:
        if self._list is not None and self._list.items:
            self._list.items[-1].end = max(line - 1, self._list.items[-1].line)
            self._list.end = self._list.items[-1].end
        self._list = None
        self._indents.clear()

    def _skip_literal(self, line: str) -> bool:
        """A literal block, directive or comment: passed over with its body."""
        start = self._at
        if self._suffix == ADOC and (fence := _ADOC_FENCE.fullmatch(line)):
            self._at += 1
            while self._at < len(self._lines) and self._line() != fence.group(1):
                self._at += 1
            self._at += 1
        elif self._suffix == RST and _RST_DIRECTIVE.match(line):
            self._at += 1
            while self._at < len(self._lines) and (not self._line() or self._line()[0] in " \t"):
                self._at += 1
        else:
            return False
        self._close()
        self._end_list(start + self._offset)
        return True

    def _table(self, line: str) -> bool:
        """A table of AsciiDoc; its rows are as long as `cols` says, else as its first line."""
        if self._suffix != ADOC or not _ADOC_TABLE.fullmatch(line):
            return False
        told = _ADOC_COLUMNS.match(self._line(-1))
        first = self._begin()
        self._at += 1
        if self._full:
            return True
        self._end_list(first)
        width = _width(told.group(1) or told.group(2)) if told else 0
        block = Block(TABLE, first, first, rows=[], row_lines=[])
        while self._at < len(self._lines) and not _ADOC_TABLE.fullmatch(self._line()):
            text, at = _as_markdown(self._line(), self._suffix), self._at + self._offset
            self._parsed.spans.append(Span(text, at))
            cells = [cell.strip() for cell in _ADOC_CELL.split(text)[1:]]
            width = width or len(cells)
            for cell in cells:
                if not block.rows or len(block.rows[-1]) >= width:
                    block.rows.append([])
                    block.row_lines.append(at)
                block.rows[-1].append(cell)
            self._at += 1
        block.end = min(self._at, len(self._lines) - 1) + self._offset
        self._at += 1
        if block.rows:
            self._parsed.blocks.append(block)
        return True

    def _heading(self, line: str) -> bool:
        found = self._adoc_heading(line) if self._suffix == ADOC else self._adorned(line) or self._release(line)
        if found is None:
            return False
        level, ahead, text, taken = found
        first = self._begin()
        self._at += taken
        if self._full:
            return True
        self._end_list(first)
        raw = _as_markdown(text, self._suffix)
        self._parsed.blocks.append(Block(HEADING, first + ahead, first + taken - 1, raw))
        self._parsed.spans.append(Span(raw, first + ahead))
        if level < _RELEASE_LEVEL and self._titles >= MAX_HEADINGS:
            self._parsed.reasons.add("heading-limit", first)
            self._parsed.last_line = min(self._parsed.last_line, first - 1)
        else:
            self._titles += level < _RELEASE_LEVEL
            self._parsed.headings.append(Heading(level, first, first + taken - 1, raw, plain_text(raw)))
        return True

    def _adoc_heading(self, line: str) -> tuple[int, int, str, int] | None:
        match = _ADOC_HEADING.fullmatch(line)
        return (len(match.group(1)), 0, match.group(2), 1) if match else None

    def _adorned(self, line: str) -> tuple[int, int, str, int] | None:
        """A title with a line of punctuation below, perhaps above too; levels by first use of each style.

        `1. Title` is one, unless it ends a list.
        """
        over = _ADORNMENT.fullmatch(line)
        text = self._line(1) if over else line
        under = self._line(2 if over else 1)
        if not text or not _ADORNMENT.fullmatch(under) or (over and over.group(1) != under[0]):
            return None
        numbered = _NUMBER.match(line) and not self._line(-1)
        if not over and (line[0] in " \t" or len(under) < min(len(line), 4) or (_BULLET.match(line) and not numbered)):
            return None
        style = ("=" if over else "") + under[0]
        if style not in self._styles:
            self._styles.append(style)
        return self._styles.index(style) + 1, 1 if over else 0, text.strip(), 3 if over else 2

    def _release(self, line: str) -> tuple[int, int, str, int] | None:
        """In plain texts: a line of its own that names a release, above items or an empty line."""
        if self._suffix == RST or line[0] in " \t" or len(line) > _MAX_RELEASE_LINE or not is_release(line):
            return None
        before, after = self._line(-1), self._line(1)
        stands_alone = not before and (not after or after[0] in " \t" or _BULLET.match(after))
        return (_RELEASE_LEVEL, 0, line.rstrip(":"), 1) if stands_alone and not _BULLET.match(line) else None

    def _item(self, line: str) -> bool:
        if self._suffix == ADOC:
            match = _ADOC_BULLET.fullmatch(line)
            indent, text = (len(match.group(1)), match.group(2)) if match else (0, "")
        else:
            match = _BULLET.fullmatch(line)
            indent, text = (len(match.group(1).expandtabs(8)), match.group(3)) if match else (0, "")
        if match is None:
            return False
        first = self._begin()
        self._at += 1
        if self._full:
            return True
        if self._list is None:
            self._list = Block(LIST, first, first, items=[])
            self._parsed.blocks.append(self._list)
        elif self._list.items:
            self._list.items[-1].end = max(first - 1, self._list.items[-1].line)
        while self._indents and self._indents[-1] >= indent:
            self._indents.pop()
        item = Item(first, len(self._indents))
        self._indents.append(indent)
        self._list.items.append(item)
        self._open = _Open(first, [text], item)
        return True

    def _text(self, line: str) -> None:
        """A line of a paragraph or, indented below an item, more of the item."""
        if self._open is not None:
            self._open.texts.append(line.strip())
            return
        if self._list is not None and self._list.items and line[0] in " \t":
            self._open = _Open(self._at + self._offset, [line.strip()], self._list.items[-1])
            return
        first = self._begin()
        if not self._full:
            self._end_list(first)
            self._open = _Open(first, [line.strip()])


def _width(columns: str) -> int:
    """The number of columns that `cols` tells: `1,6`, `2*` or `3*,1`."""
    total = 0
    for part in columns.split(","):
        count, star, _ = part.strip().partition("*")
        total += int(count) if star and count.isdigit() else 1
    return min(total, 64)


def _as_markdown(text: str, suffix: str) -> str:
    """Links and roles of the format in Markdown's form; line ends stay where they are."""
    if suffix == RST and "`" in text:
        return _RST_ROLE.sub(r"`\1`", _RST_LINK.sub(lambda m: f"[{m.group(1).strip()}](<{m.group(2)}>)", text))
    if suffix == ADOC:
        text = _ADOC_LINK.sub(r"[\2](<\1>)", text)
        return _ADOC_XREF.sub(lambda m: f"[{m.group(2) or m.group(1)}](<{m.group(1)}>)", text) if "<<" in text else text
    return text
