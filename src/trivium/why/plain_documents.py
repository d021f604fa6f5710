"""Records, glossaries and change logs in reStructuredText, AsciiDoc or plain text, as the same block model (2.1, 4).

Read line by line: headings, paragraphs, items by indent or marker, tables, terms; literal blocks are left out. Inline
links of these formats are rewritten to Markdown's form, so that what follows needs to know one form only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

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
    TERMS,
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
from trivium.why.plain_tables import (
    ADOC_FENCE,
    GRID,
    SIMPLE,
    Table,
    Term,
    adoc_table,
    directive_table,
    glossary_terms,
    grid_table,
    simple_table,
)

RST, ADOC = ".rst", ".adoc"

MARKDOWN_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_ADORNMENT = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}\s*")
BULLET = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)]|#\.)[ \t]+(\S.*)")
_ADOC_BULLET = re.compile(r"[ \t]*(-|\*{1,5}|\.{1,5})[ \t]+(\S.*)")
_ADOC_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*)")
_ADOC_ATTRIBUTES = re.compile(r"\[[^\[\]]{0,1000}\]|\[\[[^\[\]]{0,1000}\]\]")
_ADOC_ANCHOR = re.compile(r"\s*\[\[[^\[\]]{1,300}\]\]|\[[#.][^\[\]#]{1,300}\]#([^#]{1,300})#")
_ADOC_TITLE = re.compile(r"\.([^\s.].{0,300})")
_ADOC_PAGE = re.compile(r":page-(?=[\w-]{1,80}:)")
_ADOC_TERM = re.compile(r"(\S[^\n]{0,300}?)(?:::{1,3}|;;)(?:\s+(.*))?")
_ADOC_COMMENT = re.compile(r"//(?!/)")
_NUMBER = re.compile(r"(?:\d{1,9}[.)]|#\.)[ \t]")
_ADOC_FENCE = re.compile(r"(-{4,}|\.{4,}|```|/{4,})\s*")
_RST_DIRECTIVE = re.compile(r"\.\.(?:\s|$)")
_RST_NAMED = re.compile(r"\.\.\s+([a-z-]{1,40})::")
_NO_TERM = re.compile(r"\S:(?:\s|$)|[.,;]\s*$")
_READ_DIRECTIVES = frozenset({"glossary", "table", "list-table", "csv-table"})
_DEBIAN_END = re.compile(r" -- \S.*<[^<>]*>  ")
_RST_LINK = re.compile(r"`([^`<\n]{0,300})<([^`<>\s]{1,500})>`__?")
_RST_ROLE = re.compile(r":([A-Za-z][\w+.-]{0,30}(?::[A-Za-z][\w+.-]{0,30}){0,2}):`[~!]?([^`\n]{1,300})`")
_RST_TITLED = re.compile(r"([^<>]*[^<>\s])\s*<([^<>\s]+)>")
_RST_CODE_ROLES = frozenset(
    {
        *("func", "class", "meth", "mod", "attr", "data", "exc", "obj", "const"),
        *("function", "method", "type", "struct", "macro"),
    }
)
_ADOC_LINK = re.compile(r"(?:link|xref):([^\s\[\]]{1,500})\[([^\]\n]{0,300})\]")
_ADOC_XREF = re.compile(r"<<([^<>,\n]{1,500})(?:,([^<>\n]{1,300}))?>>")
_MAX_RELEASE_LINE = 120
_RELEASE_LEVEL = 9
"""That of lines of plain text that name a release; the bound of headings does not count them, that of blocks does."""


def parse_plain(
    suffix: str,
    data: bytes,
    markers: tuple[str, ...] = DEFAULT_MARKERS,
    max_headings: int = MAX_HEADINGS,
    form: type[Lines] | None = None,
) -> Parsed:
    """The block model of a text that is not Markdown; a plain text with `#` headings is read as Markdown.

    `form` reads texts of another form than that of the suffix.

    >>> parse_plain(".rst", b"Title\\n=====\\n\\n:Status: Accepted\\n").headings[0].text
    'Title'
    """
    parsed, body = begin(data)
    if form is None and suffix not in (RST, ADOC) and MARKDOWN_HEADING.search(body):
        return parse_markdown(data, markers, max_headings)
    parsed.last_line = parsed.line_count
    (form or Lines)(suffix, body, parsed, max_headings).read()
    parsed.generated = generated_lines(body, parsed.front.lines, markers, [])
    if parsed.generated:
        drop_generated(parsed)
    return parsed


class Open(Struct):
    """The block that the next line may continue."""

    line: int
    texts: list[str]
    item: Item | None = None
    aside: bool = False
    """Whether it belongs to an item without being part of its text."""


class Lines:
    """Reads the lines once; `_at` is the index of the line at hand."""

    def __init__(self, suffix: str, body: str, parsed: Parsed, max_headings: int) -> None:
        self._suffix = suffix
        self._parsed = parsed
        self._lines = body.split("\n")
        self._offset = parsed.front.lines + 1
        self._at = 0
        self._open: Open | None = None
        self._list: Block | None = None
        self._indents: list[int] = []
        self._styles: list[str] = []
        self._count = 0
        self._titles = 0
        self._max_headings = max_headings
        self._full = False
        self._literal = False
        self._continued = False
        self._simple_last = len(self._lines)
        """No simple table that begins here or later is closed."""

    def read(self) -> None:
        if len(self._lines) > MAX_LINES:
            del self._lines[MAX_LINES:]
            self._parsed.last_line = MAX_LINES + self._offset - 1
            self._parsed.reasons.add("node-limit", MAX_LINES + self._offset)
        ways = self._ways()
        while self._at < len(self._lines) and not self._full:
            line = self._lines[self._at].rstrip()
            if not line:
                self._close()
                self._at += 1
            elif self._literal and line[0] in " \t":
                self._at += 1
            elif not any(read(line) for read in ways):
                self._text(line)
                self._at += 1
        self._close()
        self._end_list(self._parsed.last_line + 1)

    def _ways(self) -> list[Callable[[str], bool]]:
        """What a line is tried as, in order, before it is text."""
        if self._suffix == RST:
            return [self._directive, self._rst_table, self._heading, self._item, self._definition]
        if self._suffix == ADOC:
            return [self._skip_fence, self._adoc_table, self._adoc_line, self._heading, self._item, self._adoc_term]
        return [self._heading, self._item, self._end_of_entry]

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
            self._parsed.last_line = min(self._parsed.last_line, line - 1)
        return line

    def _close(self) -> None:
        opened, self._open = self._open, None
        if opened is None:
            return
        self._literal = self._suffix == RST and opened.texts[-1].endswith("::")
        text = _as_markdown("\n".join(opened.texts), self._suffix)
        self._parsed.spans.append(Span(text, opened.line))
        if opened.aside:
            return
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

    def _skip_fence(self, line: str) -> bool:
        """A literal block of AsciiDoc: passed over with its body."""
        fence = _ADOC_FENCE.fullmatch(line)
        if fence is None:
            return False
        start = self._at
        self._at += 1
        while self._at < len(self._lines) and self._line() != fence.group(1):
            self._at += 1
        self._at += 1
        self._end_blocks(start + self._offset)
        return True

    def _directive(self, line: str) -> bool:
        """A directive or comment of reStructuredText: passed over with its body, but for tables and glossaries."""
        if not _RST_DIRECTIVE.match(line):
            return False
        start, end = self._at, self._at + 1
        while end < len(self._lines) and (not self._lines[end].strip() or self._lines[end][0] in " \t"):
            end += 1
        named = _RST_NAMED.match(line)
        name = named.group(1) if named else ""
        if name in _READ_DIRECTIVES:
            body = [text.rstrip().expandtabs(8) for text in self._lines[start:end]]
            if name == "glossary":
                self._terms(glossary_terms(body), end)
            elif table := directive_table(name, body):
                self._table(table, end)
        self._at = end
        self._end_blocks(start + self._offset)
        return True

    def _rst_table(self, line: str) -> bool:
        """A grid table or a simple one."""
        start = end = self._at
        if GRID.fullmatch(line):
            while end < len(self._lines) and self._lines[end][:1] in ("+", "|"):
                end += 1
            table = grid_table([text.rstrip() for text in self._lines[start:end]])
        elif SIMPLE.fullmatch(line):
            end = self._simple_end(start)
            table = simple_table([text.rstrip() for text in self._lines[start:end]])
        else:
            return False
        self._table(table, end)
        return True

    def _simple_end(self, start: int) -> int:
        """Where a simple table ends: after a border above an empty line; without one, at the first empty line."""
        lines = self._lines
        for at in range(start + 1, len(lines)) if start < self._simple_last else ():
            if SIMPLE.fullmatch(lines[at].rstrip()) and (at + 1 >= len(lines) or not lines[at + 1].strip()):
                return at + 1
        self._simple_last = min(self._simple_last, start)
        return next((at for at in range(start, len(lines)) if not lines[at].strip()), len(lines))

    def _adoc_table(self, line: str) -> bool:
        if not ADOC_FENCE.fullmatch(line):
            return False
        start = self._at
        end = next((at for at in range(start + 1, len(self._lines)) if self._lines[at].rstrip() == line), None)
        stop = len(self._lines) if end is None else end
        above = [self._line(-number) for number in range(1, 4)]
        above = above[: next((at for at, text in enumerate(above) if text[:1] not in ("[", ".")), len(above))]
        self._table(adoc_table(line, self._lines[start + 1 : stop], above), stop + 1)
        return True

    def _table(self, table: Table, end: int) -> None:
        """A table that begins at the line at hand and takes the lines before `end`."""
        first = self._begin()
        self._at = end
        if self._full:
            return
        self._end_list(first)
        rows = [[_as_markdown(cell, self._suffix) for cell in row] for row in table.rows]
        lines = [first + line for line in table.lines]
        self._parsed.spans.extend(
            Span(cell, line) for row, line in zip(rows, lines, strict=True) for cell in row if cell
        )
        last = min(end, len(self._lines)) + self._offset - 1
        if rows:
            block = Block(TABLE, first, max(last, first), rows=rows, row_lines=lines, header=table.header)
            self._parsed.blocks.append(block)

    def _terms(self, terms: Sequence[Term], end: int) -> None:
        """The entries of a glossary, whose texts stand on the lines before `end`."""
        first = self._begin()
        if self._full or not terms:
            return
        self._end_list(first)
        items = [
            Item(first + term.first, 0, first + term.last, _as_markdown("\n".join(term.names), self._suffix))
            for term in terms
        ]
        self._parsed.blocks.append(Block(TERMS, first, items[-1].end, items=items))
        for at in range(self._at, end):
            if text := self._lines[at].strip():
                self._parsed.spans.append(Span(_as_markdown(text, self._suffix), at + self._offset))

    def _adoc_line(self, line: str) -> bool:
        """Attributes of the next block, a comment, the sign that an item goes on; the title of a block is a label."""
        if line == "+":
            self._close()
            self._continued = self._list is not None
        elif _ADOC_ATTRIBUTES.fullmatch(line):
            self._close()
        elif title := _ADOC_TITLE.fullmatch(line):
            self._close()
            self._text(f"**{title.group(1)}**")
        elif not _ADOC_COMMENT.match(line):
            return False
        self._at += 1
        return True

    def _adoc_term(self, line: str) -> bool:
        """`Term:: text` is an entry of a glossary, besides being a line."""
        match = _ADOC_TERM.fullmatch(line)
        if match is None or line[0] in ":/":
            return False
        self._close()
        first = self._at + self._offset
        self._end_list(first)
        end = self._at + 1
        while end < len(self._lines) and not _ends_adoc_text(self._lines[end].rstrip()):
            end += 1
        item = Item(first, 0, end - 1 + self._offset, _as_markdown(_without_anchors(match.group(1)), self._suffix))
        self._parsed.blocks.append(Block(TERMS, first, item.end, items=[item]))
        self._text(line)
        self._at += 1
        return True

    def _definition(self, line: str) -> bool:
        """A text below a line that it is indented from, which is the term that it defines."""
        opened = self._open
        if opened is None or opened.item is not None or line[0] not in " \t":
            return False
        term = self._lines[self._at - 1]
        first = len(opened.texts) == 1 or self._lines[self._at - 2][:1] in (" ", "\t")
        if not first or term[:1] in (" ", "\t") or _NO_TERM.search(term):
            return False
        opened.texts.append(f": {line.strip()}")
        self._at += 1
        return True

    def _end_of_entry(self, line: str) -> bool:
        """The line with a person and a time that ends an entry of a Debian change log."""
        if not _DEBIAN_END.match(line):
            return False
        self._end_blocks(self._at + self._offset)
        self._at += 1
        return True

    def _end_blocks(self, line: int) -> None:
        self._close()
        self._end_list(line)

    def _heading(self, line: str) -> bool:
        found = self._adoc_heading(line) if self._suffix == ADOC else self._adorned(line) or self._release(line)
        if found is None:
            return False
        self._add_heading(*found)
        return True

    def _add_heading(self, level: int, ahead: int, text: str, taken: int) -> None:
        """A heading of `taken` lines that begins at the line at hand, with its text `ahead` lines below that."""
        first = self._begin()
        self._at += taken
        if self._full:
            return
        self._end_list(first)
        raw = _as_markdown(text, self._suffix)
        self._parsed.blocks.append(Block(HEADING, first + ahead, first + taken - 1, raw))
        self._parsed.spans.append(Span(raw, first + ahead))
        if level < _RELEASE_LEVEL and self._titles >= self._max_headings:
            self._parsed.reasons.add("heading-limit", first)
            self._parsed.last_line = min(self._parsed.last_line, first - 1)
        else:
            self._titles += level < _RELEASE_LEVEL
            self._parsed.headings.append(Heading(level, first, first + taken - 1, raw, plain_text(raw)))

    def _adoc_heading(self, line: str) -> tuple[int, int, str, int] | None:
        match = _ADOC_HEADING.fullmatch(line)
        return (len(match.group(1)), 0, _without_anchors(match.group(2)), 1) if match else None

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
        if not over and (line[0] in " \t" or len(under) < min(len(line), 4) or (BULLET.match(line) and not numbered)):
            return None
        style = ("=" if over else "") + under[0]
        if style not in self._styles:
            self._styles.append(style)
        return self._styles.index(style) + 1, 1 if over else 0, text.strip(), 3 if over else 2

    def _release(self, line: str) -> tuple[int, int, str, int] | None:
        """In plain texts: a line of its own that names a release, above items or an empty line."""
        if self._suffix == RST or line[0] in " \t" or len(line) > _MAX_RELEASE_LINE or not self._names_release(line):
            return None
        before, after = self._line(-1), self._line(1)
        begins = not before or (_ADORNMENT.fullmatch(before) is not None and not self._line(-2))
        stands_alone = begins and (not after or after[0] in " \t" or BULLET.match(after))
        return (_RELEASE_LEVEL, 0, line.rstrip(":"), 1) if stands_alone and not BULLET.match(line) else None

    def _names_release(self, line: str) -> bool:
        return is_release(line)

    def _item(self, line: str) -> bool:
        if self._suffix == ADOC:
            match = _ADOC_BULLET.fullmatch(line)
            indent, text = (len(match.group(1)), match.group(2)) if match else (0, "")
        else:
            match = BULLET.fullmatch(line)
            indent, text = (len(match.group(1).expandtabs(8)), match.group(3)) if match else (0, "")
        if match is None:
            return False
        item = self._new_item(indent)
        self._at += 1
        if item is not None:
            self._open = Open(item.line, [text], item)
        return True

    def _new_item(self, indent: int) -> Item | None:
        """An item that begins at the line at hand, below those that are indented less; None beyond the bound."""
        first = self._begin()
        if self._full:
            return None
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
        return item

    def _text(self, line: str) -> None:
        """A line of a paragraph or, indented below an item, more of the item."""
        if self._open is not None:
            self._open.texts.append(line.strip())
            return
        continued, self._continued = self._continued, False
        if self._list is not None and self._list.items and (line[0] in " \t" or continued):
            self._open = Open(self._at + self._offset, [line.strip()], self._list.items[-1])
            return
        first = self._begin()
        if not self._full:
            self._end_list(first)
            self._open = Open(first, [line.strip()])


def _ends_adoc_text(line: str) -> bool:
    """Whether a line of AsciiDoc is not more of the text above it."""
    patterns = (_ADOC_TERM, _ADOC_HEADING, _ADOC_ATTRIBUTES, _ADOC_FENCE, ADOC_FENCE)
    return not line or any(pattern.fullmatch(line) for pattern in patterns)


def _without_anchors(text: str) -> str:
    """A heading or term of AsciiDoc without what others refer to it by: `[[a]]`, `[#a]#Term#`."""
    return _ADOC_ANCHOR.sub(lambda match: match.group(1) or "", text).strip() if "[" in text else text


def _as_markdown(text: str, suffix: str) -> str:
    """Links and roles of the format in Markdown's form; line ends stay where they are."""
    if suffix == RST and "`" in text:
        return _RST_ROLE.sub(_role, _RST_LINK.sub(lambda m: f"[{m.group(1).strip()}](<{m.group(2)}>)", text))
    if suffix == ADOC:
        text = _ADOC_PAGE.sub(":", text)
        text = _ADOC_LINK.sub(r"[\2](<\1>)", text)
        return _ADOC_XREF.sub(lambda m: f"[{m.group(2) or m.group(1)}](<{m.group(1)}>)", text) if "<<" in text else text
    return text


def _role(match: re.Match[str]) -> str:
    """A role as code; one with a title as a link to a document, as the code that it leads to, or as its title."""
    name, text = match.group(1).rpartition(":")[2], match.group(2)
    titled = _RST_TITLED.fullmatch(text)
    if titled is None:
        return f"`{text}`"
    if name == "doc":
        return f"[{titled.group(1)}](<{titled.group(2)}>)"
    return f"`{titled.group(2)}`" if name in _RST_CODE_ROLES else titled.group(1)
