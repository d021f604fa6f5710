"""A document's bytes as a small block model: what headings, paragraphs, items and tables say, with their lines.

markdown-it finds the blocks (CommonMark with tables); the inline text of a block is scanned once, by `inline`. Only
blocks outside quotes and lists count as top-level. Every pass is bounded (reference 4.5): a document that passes a
bound is read up to it and says so by a reason code.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from msgspec import Struct

from trivium.code.front_matter import FrontMatter, read_front_matter
from trivium.why.generated import DEFAULT_MARKERS, generated_lines
from trivium.why.inline import References, is_attribute_line, plain_text, without_attributes
from trivium.why.model import MAX_BLOCKS, MAX_HEADINGS
from trivium.why.reasons import Reasons
from trivium.why.regions import read_text

HEADING, PARAGRAPH, LIST, TABLE, OTHER = "heading", "paragraph", "list", "table", "other"
QUOTE, HTML, TERMS = "quote", "html", "terms"

MAX_TOKENS = 8 * MAX_BLOCKS
MAX_LINES = 1 << 17


class Heading(Struct):
    """A top-level heading; `text` is what a reader sees."""

    level: int
    line: int
    end: int
    raw: str
    text: str


class Item(Struct):
    """A list item: its own raw text without nested items; `end` is the line before the next item or block."""

    line: int
    depth: int
    end: int = 0
    text: str = ""
    number: str = ""
    """The number that an ordered item begins with."""
    most: int = 0
    """The last line of its list item, behind which link definitions may stand."""


class Block(Struct):
    """A top-level block on lines `line` to `end`; which other members it has depends on `kind`.

    A quote has its paragraphs and items as `items`, an HTML block its source as `text`; terms have one item for each
    entry of a glossary, with its names as lines of the item's text.
    """

    kind: str
    line: int
    end: int
    text: str = ""
    items: list[Item] = []
    rows: list[list[str]] = []
    row_lines: list[int] = []
    header: bool = True
    """Whether the first row of a table is its head."""


class Span(Struct):
    """Raw inline text (or the text of a fence) that begins at `line`."""

    text: str
    line: int
    fenced: bool = False


class Parsed(Struct):
    """One document: generated text is left out of `blocks`, `headings` and `spans`."""

    front: FrontMatter
    line_count: int
    blocks: list[Block] = []
    headings: list[Heading] = []
    spans: list[Span] = []
    references: References = {}
    generated: list[tuple[int, int]] = []
    """Lines that generators own, from first to last, ascending."""
    outline: bool = False
    """Whether it was read as an outline, whose text is no Markdown."""
    last_line: int = 0
    """The last line whose blocks were read; `line_count` unless a bound was passed."""
    reasons: Reasons = msgspec.field(default_factory=Reasons)

    def meets_generated(self, line_start: int, line_end: int) -> bool:
        return any(start <= line_end and line_start <= end for start, end in self.generated)

    def is_blank(self) -> bool:
        return not (self.blocks or self.front.values or self.spans)


def decode(data: bytes) -> str:
    """Text for reading: without byte-order mark, line ends as `\\n`, what is no text replaced (3.2 hashes bytes)."""
    return read_text(data)[0]


def begin(data: bytes) -> tuple[Parsed, str]:
    """A document with its front matter read, and the text below that; what is no text is replaced (`encoding`)."""
    text, foreign = read_text(data)
    front = read_front_matter(text)
    parsed = Parsed(front, text.count("\n") + (bool(text) and not text.endswith("\n")))
    if foreign:
        parsed.reasons.add("encoding", foreign)
    if front.invalid:
        parsed.reasons.add("invalid-frontmatter")
    return parsed, text[front.size :]


def parse_markdown(data: bytes, markers: tuple[str, ...] = DEFAULT_MARKERS, max_headings: int = MAX_HEADINGS) -> Parsed:
    """The block model of a Markdown document (reference 4, 4.5).

    >>> [heading.text for heading in parse_markdown(b"# A `b`\\n\\ntext\\n").headings]
    ['A b']
    """
    parsed, body = begin(data)
    reader = _Reader(parsed, parsed.front.lines, body, max_headings)
    reader.read(_tokens(body, parsed, reader.env))
    parsed.generated = generated_lines(body, parsed.front.lines, markers, reader.fences)
    if parsed.generated:
        drop_generated(parsed)
    return parsed


def drop_generated(parsed: Parsed) -> None:
    """Leaves blocks, headings, items and spans of generated lines out of the model (2.3)."""
    starts = [start for start, _ in parsed.generated]

    def kept(line: int) -> bool:
        at = bisect_right(starts, line) - 1
        return at < 0 or line > parsed.generated[at][1]

    parsed.blocks = [block for block in parsed.blocks if kept(block.line)]
    parsed.headings = [heading for heading in parsed.headings if kept(heading.line)]
    parsed.spans = [span for span in parsed.spans if kept(span.line)]
    for block in parsed.blocks:
        block.items = [item for item in block.items if kept(item.line)]


Rule: TypeAlias = Callable[[StateBlock, int, int, bool], bool]


class _Full(Exception):
    """A document has more tokens than are read."""


class _Tokens(list[Token]):
    """A token list that ends the parse once it is full."""

    def append(self, token: Token) -> None:
        if len(self) >= MAX_TOKENS:
            raise _Full
        super().append(token)


_FIRST = {
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*+-0123456789",
    "reference": "[",
    "html_block": "<",
    "heading": "#",
    "table": "|-:",
}
"""The characters that a block of each kind begins with (CommonMark 4 and 5), a table its second line."""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """Most lines begin with a letter, so that most rules need not be asked."""
    parser = MarkdownIt("commonmark").enable("table")
    ruler = parser.block.ruler
    for rule in ruler.__rules__:
        if rule.name in _FIRST:
            below = 1 if rule.name == "table" else 0
            ruler.at(rule.name, _beginning(frozenset(_FIRST[rule.name]), below, rule.fn), {"alt": rule.alt})
    return parser


def _beginning(characters: frozenset[str], below: int, rule: Rule) -> Rule:
    """The rule, asked for lines that begin with one of these characters, or whose next one does."""

    def asked(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        line = start + below
        if line >= end:
            return False
        first = state.bMarks[line] + state.tShift[line]
        return state.src[first : first + 1] in characters and rule(state, start, end, silent)

    return asked


def _tokens(body: str, parsed: Parsed, env: dict[str, Any]) -> list[Token]:
    if body.count("\n") > MAX_LINES:
        body = "\n".join(body.split("\n", MAX_LINES)[:MAX_LINES])
        parsed.last_line = parsed.front.lines + MAX_LINES
        parsed.reasons.add("node-limit", parsed.last_line + 1)
    parser, tokens = _parser(), _Tokens()
    try:
        parser.block.parse(body, parser, env, tokens)
    except _Full:
        line = next((token.map[0] for token in reversed(tokens) if token.map), 0)
        parsed.last_line = parsed.front.lines + line + 1
        parsed.reasons.add("node-limit", parsed.last_line)
    return tokens


class _Reader:
    """One pass over the block tokens."""

    def __init__(self, parsed: Parsed, offset: int, body: str, max_headings: int) -> None:
        self.env: dict[str, Any] = {}
        self.fences: list[tuple[int, int]] = []
        self._parsed = parsed
        self._offset = offset + 1
        self._body = body
        self._max_headings = max_headings
        self._blocks = 0
        self._quotes = 0
        self._list: Block | None = None
        self._quote: Block | None = None
        self._table: Block | None = None
        self._open_items: list[Item] = []
        self._closed_items: list[Item] = []
        self._take: Callable[[str, int, int], None] | None = None
        self._level = 0

    def read(self, tokens: Iterable[Token]) -> None:
        parsed = self._parsed
        parsed.last_line = parsed.last_line or parsed.line_count
        if "references" in self.env:
            parsed.references = self.env["references"]
        for token in tokens:
            handler = _HANDLERS.get(token.type)
            if handler is None:
                continue
            handler(self, token)
            if self._blocks > MAX_BLOCKS:
                last = (token.map or [0])[0] + self._offset - 1
                parsed.last_line = min(parsed.last_line, last)
                parsed.reasons.add("node-limit", last + 1)
                break
        self._settle(parsed.last_line + 1)
        for item in self._open_items:
            item.end = item.end or max(parsed.last_line, item.line)
        self._take = None  # what leads back to itself is kept until the collector comes

    def _lines(self, token: Token) -> tuple[int, int]:
        """First and last line of a block; one that was never closed has its first line only."""
        first, after = token.map or (0, 0)
        return first + self._offset, max(after, first + 1) + self._offset - 1

    def _begin(self, token: Token) -> tuple[int, int]:
        self._blocks += 1
        line, end = self._lines(token)
        self._settle(line)
        return line, end

    def _settle(self, line: int) -> None:
        """A block begins at `line`, so the items closed before it end above."""
        if self._closed_items:
            for item in self._closed_items:
                item.end = max(min(line - 1, item.most), item.line)
            self._closed_items.clear()

    def _inline(self, token: Token) -> None:
        line = (token.map or (0, 0))[0] + self._offset
        if token.content:
            self._parsed.spans.append(Span(token.content, line))
        if self._take:
            self._take(token.content, line, self._lines(token)[1])
            if self._table is None:
                self._take = None

    def _heading_open(self, token: Token) -> None:
        self._begin(token)
        if token.level == 0:
            self._level = int(token.tag[1:])
            self._take = self._take_heading

    def _take_heading(self, text: str, line: int, end: int) -> None:
        text = without_attributes(text)
        self._parsed.blocks.append(Block(HEADING, line, end, text))
        headings = self._parsed.headings
        if len(headings) >= self._max_headings:
            self._parsed.reasons.add("heading-limit", line)
            self._parsed.last_line = min(self._parsed.last_line, line - 1)
            return
        headings.append(Heading(self._level, line, end, text, plain_text(text, self._parsed.references)))

    def _paragraph_open(self, token: Token) -> None:
        if token.level == 0:
            self._begin(token)
            self._take = self._take_paragraph
        elif self._open_items and not self._quotes:
            item = self._open_items[-1]
            if item.text or item.line != self._lines(token)[0]:
                self._begin(token)
            self._take = self._take_item
        else:
            self._begin(token)
            if self._quote is not None and self._quotes == 1:
                self._take = self._take_quoted

    def _take_quoted(self, text: str, line: int, end: int) -> None:
        if self._quote is not None:
            self._quote.items.append(Item(line, 0, end, text))

    def _take_paragraph(self, text: str, line: int, end: int) -> None:
        """A paragraph; lines with attributes of a block say nothing."""
        if "{:" in text:
            text = "\n".join("" if is_attribute_line(part) else part for part in text.split("\n"))
            if not text.strip():
                return
        self._parsed.blocks.append(Block(PARAGRAPH, line, end, text))

    def _take_item(self, text: str, line: int, end: int) -> None:
        item = self._open_items[-1]
        if not item.end:
            item.text = f"{item.text}\n{text}" if item.text else text

    def _list_open(self, token: Token) -> None:
        if token.level == 0:
            line, end = self._lines(token)
            self._settle(line)
            self._list = Block(LIST, line, end, items=[])
            self._parsed.blocks.append(self._list)

    def _item_open(self, token: Token) -> None:
        line, most = self._begin(token)
        if self._quotes or self._list is None:
            return
        if self._open_items and not self._open_items[-1].end:
            self._open_items[-1].end = max(line - 1, self._open_items[-1].line)
        item = Item(line, len(self._open_items), number=token.info, most=most)
        self._open_items.append(item)
        self._list.items.append(item)

    def _item_close(self, token: Token) -> None:
        if not self._quotes and self._open_items:
            item = self._open_items.pop()
            if not item.end:
                self._closed_items.append(item)

    def _quote_open(self, token: Token) -> None:
        line, end = self._begin(token)
        self._quotes += 1
        if token.level == 0:
            self._quote = Block(QUOTE, line, end, items=[])
            self._parsed.blocks.append(self._quote)

    def _quote_close(self, token: Token) -> None:
        self._quotes -= 1
        if not self._quotes:
            self._quote = None

    def _table_open(self, token: Token) -> None:
        line, end = self._begin(token)
        if token.level == 0:
            self._table = Block(TABLE, line, end, rows=[], row_lines=[])
            self._parsed.blocks.append(self._table)
            self._take = self._take_cell

    def _table_close(self, token: Token) -> None:
        self._table = self._take = None

    def _row_open(self, token: Token) -> None:
        if self._table is not None:
            self._table.rows.append([])
            self._table.row_lines.append(self._lines(token)[0])

    def _take_cell(self, text: str, line: int, end: int) -> None:
        if self._table is not None and self._table.rows:
            self._table.rows[-1].append(text)

    def _fence(self, token: Token) -> None:
        line, end = self._begin(token)
        self.fences.append((line, end))
        if token.level == 0:
            self._parsed.blocks.append(Block(OTHER, line, end))
        if "`" in token.content or "](" in token.content:
            first = line + 1 if token.type == "fence" else line
            self._parsed.spans.append(Span(token.content, first, fenced=True))

    def _html(self, token: Token) -> None:
        line, end = self._begin(token)
        if token.level == 0:
            self._parsed.blocks.append(Block(HTML, line, end, token.content))

    def _other(self, token: Token) -> None:
        line, end = self._begin(token)
        if token.level == 0:
            self._parsed.blocks.append(Block(OTHER, line, end))


_HANDLERS: dict[str, Callable[[_Reader, Token], None]] = {
    "inline": _Reader._inline,
    "heading_open": _Reader._heading_open,
    "paragraph_open": _Reader._paragraph_open,
    "bullet_list_open": _Reader._list_open,
    "ordered_list_open": _Reader._list_open,
    "list_item_open": _Reader._item_open,
    "list_item_close": _Reader._item_close,
    "blockquote_open": _Reader._quote_open,
    "blockquote_close": _Reader._quote_close,
    "table_open": _Reader._table_open,
    "table_close": _Reader._table_close,
    "tr_open": _Reader._row_open,
    "fence": _Reader._fence,
    "code_block": _Reader._fence,
    "html_block": _Reader._html,
    "hr": _Reader._other,
}
