"""Markdown to blocks, on the line maps of markdown-it; the text itself stays as it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from trivium.ingest.dates import as_date
from trivium.ingest.parsed import (
    CODE,
    HEADING,
    LIST,
    TABLE,
    TEXT,
    Block,
    Heading,
    Parsed,
    Sections,
    header_row,
    one_line,
)

WINDOW = 1 << 18
"""Characters that are parsed at a time; a longer text is cut at blank lines outside of fences."""
MAX_TOKENS = 100_000
MAX_LINES = 30_000
"""A window with more tokens, or more lines that are not blank, is text without structure."""
_TOO_MUCH = "a part with too much structure was read as plain text"
_LONGEST_INLINE = 2_000
_MOST_MARKS = 100
"""Characters of a heading, and marks among them, that are parsed: the parser's time grows with their square."""

_MARK = re.compile(r"[`*_\[<&\\!]")
_LINE_END = re.compile(r"\r\n?|\n")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def read_markdown(text: str) -> Parsed:
    """The blocks of a Markdown text (CommonMark with tables). Front matter gives title and date."""
    parsed = Parsed(text, ())
    front = _front_matter(text)
    if front is not None:
        values, size = front
        parsed.title = one_line(values.get("title", ""))
        parsed.dated = as_date(values.get("date") or values.get("updated") or values.get("created"))
    else:
        size = 0
    parsed.headings = []
    parsed.blocks = _blocks(text, size, parsed)
    return parsed


def _front_matter(text: str) -> tuple[dict[str, str], int] | None:
    """Title and date of a block of YAML or TOML at the start, and how many characters it takes."""
    from trivium.code.front_matter import read_front_matter, text_of

    if not text.startswith(("---", "+++")):
        return None
    head = text[: 1 << 17]
    plain = head.replace("\r\n", "\n") if "\r" in head else head
    front = read_front_matter(plain)
    if not front.size:
        return None
    values = {key.lower(): found for key, value in front.values.items() if (found := text_of(value))}
    size = front.size
    if plain is not head:  # each line end took two characters
        ends = list(_LINE_END.finditer(text, 0, 1 << 17))
        size = ends[front.lines - 1].end() if len(ends) >= front.lines else len(text)
    return values, size


def _blocks(text: str, begin: int, parsed: Parsed) -> Iterator[Block]:
    if begin:
        yield Block(CODE, 0, begin)
    sections = Sections()
    line = _count_lines(text, 0, begin)
    for start, stop in _windows(text, begin):
        ends = [match.end() for match in _LINE_END.finditer(text, start, stop)]
        starts = [start, *ends]
        yield from _Reader(text, stop, starts, line, sections, parsed).blocks()
        line += len(ends)


def _count_lines(text: str, start: int, stop: int) -> int:
    return sum(1 for _ in _LINE_END.finditer(text, start, stop))


def _windows(text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Pieces of about WINDOW characters that end at a blank line outside of a fence, if there is one."""
    start, fence, best = begin, "", 0
    if len(text) - begin <= WINDOW:
        yield begin, len(text)
        return
    line_start = begin
    while line_start < len(text):
        match = _LINE_END.search(text, line_start)
        line_stop = match.end() if match else len(text)
        line = text[line_start : min(line_stop, line_start + 200)]
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            fence = ""
        elif not line.strip() and not fence:
            best = line_stop
        if line_stop - start >= WINDOW and (best > start or line_stop - start >= 4 * WINDOW):
            cut = best if best > start else line_stop
            yield start, cut
            start = cut
        line_start = line_stop
    if start < len(text):
        yield start, len(text)


class _Full(Exception):
    """A window has more tokens than are read."""


class _Tokens(list[Token]):
    def append(self, token: Token) -> None:
        if len(self) >= MAX_TOKENS:
            raise _Full
        super().append(token)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # Link definitions stay text: nothing here follows a link, and the rule's time grows with the square of a paragraph.
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph"]})
    return parser


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The rule for tables, with one token for all of it: where its rows begin is what is wanted, not their cells."""
    if not table(state, start, end, True):
        return False
    if silent:
        return True
    before, state.parentType = state.parentType, "table"
    enders = state.md.block.ruler.getRules("blockquote")
    line = start + 2
    while (
        line < end
        and state.sCount[line] >= state.blkIndent
        and not state.isEmpty(line)
        and not state.is_code_block(line)
        and not any(rule(state, line, end, True) for rule in enders)
    ):
        line += 1
    token = state.push("table", "table", 0)
    token.map = [start, line]
    state.parentType, state.line = before, line
    return True


def plain_heading(content: str) -> str:
    """What a reader sees of a heading's inline text.

    >>> plain_heading("The `cache` of [why](x.md) *and* more")
    'The cache of why and more'
    """
    content = content[:_LONGEST_INLINE]
    if not 0 < len(_MARK.findall(content)) <= _MOST_MARKS:
        return one_line(content)
    tokens = _parser().parseInline(content)
    children = tokens[0].children or [] if tokens else []
    shown = [
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in children
        if child.type in ("text", "code_inline", "softbreak", "hardbreak", "image", "text_special")
    ]
    return one_line("".join(shown))


class _Reader:
    """The blocks of one window."""

    def __init__(self, text: str, stop: int, starts: list[int], line: int, sections: Sections, parsed: Parsed) -> None:
        self._text = text
        self._stop = stop
        self._starts = starts
        self._line = line
        self._sections = sections
        self._parsed = parsed

    def blocks(self) -> Iterator[Block]:
        tokens = self._tokens()
        if tokens is None:
            if _TOO_MUCH not in self._parsed.notes:
                self._parsed.notes = [*self._parsed.notes, _TOO_MUCH]
            return
        index = 0
        while index < len(tokens):
            token = tokens[index]
            index += 1
            if token.level or token.map is None or token.nesting < 0:
                continue
            start, stop = self._offset(token.map[0]), self._offset(token.map[1])
            if token.type == "heading_open":
                yield self._heading(token, tokens[index], start, stop)
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                rows, index = self._rows(tokens, index, "list_item_open", 1)
                yield Block(LIST, start, stop, self._sections.path, rows)
            elif token.type == "table":
                rows = tuple(map(self._offset, range(token.map[0] + 2, token.map[1])))
                header = header_row(_LINE_END.split(self._text[start:stop], maxsplit=1)[0].strip())
                header = header if any(map(str.isalnum, header)) else ""
                yield Block(TABLE, start, stop, self._sections.path, rows, header)
            elif token.type in ("fence", "code_block"):
                yield Block(CODE, start, stop, self._sections.path)
            else:
                yield Block(TEXT, start, stop, self._sections.path)

    def _tokens(self) -> list[Token] | None:
        source = self._text[self._starts[0] : self._stop]
        if "\r" in source:
            source = _LINE_END.sub("\n", source)
        if source.count("\n") - source.count("\n\n") > MAX_LINES:
            return None
        tokens, parser = _Tokens(), _parser()
        environment: dict[str, Any] = {}
        try:
            parser.block.parse(source.replace("\0", "\ufffd"), parser, environment, tokens)
        except (_Full, RecursionError):
            return None
        return tokens

    def _offset(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else self._stop

    def _heading(self, token: Token, inline: Token, start: int, stop: int) -> Block:
        title = plain_heading(inline.content)
        level = int(token.tag[1:])
        path = self._sections.enter(level, title)
        if title:
            line = self._line + bisect_right(self._starts, start)
            self._parsed.headings.append(Heading(level, title, line, start))
            if level == 1 and not self._parsed.title:
                self._parsed.title = title
        return Block(HEADING, start, stop, path)

    def _rows(self, tokens: list[Token], index: int, kind: str, level: int) -> tuple[tuple[int, ...], int]:
        """Where the parts of a list or table begin, and the index of the token after it."""
        rows = []
        while index < len(tokens) and tokens[index].level:
            token = tokens[index]
            if token.type == kind and token.level == level and token.map:
                rows.append(self._offset(token.map[0]))
            index += 1
        return tuple(rows), index
