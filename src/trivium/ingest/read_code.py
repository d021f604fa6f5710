"""Source code to blocks: one for each definition, with the comment above it; the text itself stays as it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from trivium.ingest.parsed import CODE, Block, Heading, Parsed

LARGE = 2_000
"""Characters of a definition whose members stand for themselves."""
SMALL = 240
"""Characters of a definition that need not stand for itself."""
_LINE_END = re.compile(r"\r\n?|\n")


def read_code(path: str, text: str) -> Parsed:
    """The definitions of a source file where its language has an analyser, else the parts that blank lines divide."""
    from trivium.code.symbols import analyse

    found = analyse(path, text.encode(errors="replace"))
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    parsed = Parsed(text, (), headings=[])
    if found is None or not found.definitions:
        parsed.blocks = [Block(CODE, 0, len(text))]
        return parsed

    def offset(line: int) -> int:
        return starts[line - 1] if line <= len(starts) else len(text)

    spans = [(offset(item.line_start), offset(item.line_end + 1), item.name) for item in found.definitions]
    spans = [span for span in spans if span[0] < span[1]]
    spans.sort(key=lambda span: (span[0], -span[1]))
    for start, _, name in spans[:5_000]:
        parsed.headings.append(Heading(1 + name.count("."), name, bisect_right(starts, start), start))
    parsed.blocks = list(_blocks(text, spans, 0, len(text), ()))
    return parsed


def _blocks(
    text: str, spans: list[tuple[int, int, str]], begin: int, end: int, path: tuple[str, ...]
) -> Iterator[Block]:
    """The blocks between two offsets; spans are sorted, outer ones first."""
    at, index = begin, 0
    while index < len(spans):
        start, stop, name = spans[index]
        index += 1
        first = index
        while index < len(spans) and spans[index][0] < stop:
            index += 1
        inner = spans[first:index]
        start = max(at, _with_comment(text, at, start))
        stop = min(stop, end)
        if start >= stop:
            continue
        if text[at:start].strip():
            yield Block(CODE, at, start, path)
        own = (*path, name.rpartition(".")[2])
        if inner and stop - start > LARGE:
            yield from _blocks(text, inner, start, stop, own)
        else:
            yield Block(CODE, start, stop, own if stop - start > SMALL else path)
        at = stop
    if text[at:end].strip():
        yield Block(CODE, at, end, path)


def _with_comment(text: str, begin: int, start: int) -> int:
    """Where the lines begin that stand directly above a definition: its comment, its decorators."""
    while start > begin:
        line = text.rfind("\n", begin, start - 1) + 1 or begin
        if not text[line:start].strip():
            break
        start = line
    return start
