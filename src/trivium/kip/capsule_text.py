"""Capsule texts of any size, cut between UPSERT statements into commands of legal size (KIP §2.4, §4.1).

A command text ends at 256 KiB; a capsule file does not. Cutting works on a stream, so memory stays small.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trivium.errors import KipError, Position
from trivium.kip.lexer import MAX_BYTES, position_of

BLOCK = 1 << 16


class Chunk(NamedTuple):
    """One command text of a file; `line` and `column` (from 1) are where it begins there."""

    text: str
    line: int
    column: int

    def place(self, position: Position) -> Position:
        """A position in the command as a position in the file; the offset stays that of the command."""
        column = position.column + self.column - 1 if position.line == 1 else position.column
        return Position(self.line + position.line - 1, column, position.offset)


_UPSERT = r"(?<![A-Za-z0-9_?:.])UPSERT(?![A-Za-z0-9_])"
_FIRST = re.compile(rf"//[^\r\n]*+|{_UPSERT}|[^\s\ufeff]")
_NEXT = re.compile(rf'"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+"?|//[^\r\n]*+|[{{}}()\[\]]|{_UPSERT}')
_STEP = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}
_MARGIN = len("UPSERT") + 1


def split_statements(text: str | Iterable[str]) -> Iterator[str]:
    """Cut a capsule text of any size into command texts of at most 256 KiB, each of whole UPSERT statements (§4.1).

    The pieces joined are the text itself (what follows the last statement included); a text without a statement gives
    none. The text may come in pieces and is read as the result is.

    Raises: KipError KIP_4002 for a single statement above the limit, KIP_1001 when the text begins with anything but
    UPSERT; both name the line.

    >>> text = 'UPSERT { CONCEPT {{type: "Domain", name: "Tea"}} }\\n'
    >>> [len(part) for part in split_statements(text * 10_000)]
    [262140, 247860]
    """
    return (chunk.text for chunk in split_chunks(text))


def split_chunks(text: str | Iterable[str]) -> Iterator[Chunk]:
    """Like `split_statements`, each command text with the place where it begins."""
    parts: list[str] = []
    size = 0
    line = column = 1
    for statement in _statements(text):
        length = size_of(statement)
        if parts and size + length > MAX_BYTES:
            chunk = Chunk("".join(parts), line, column)
            yield chunk
            line, column = _advance(chunk)
            parts, size = [], 0
        parts.append(statement)
        size += length
    if parts:
        yield Chunk("".join(parts), line, column)


def _advance(chunk: Chunk) -> tuple[int, int]:
    end = position_of(chunk.text, len(chunk.text))
    place = chunk.place(end)
    return place.line, place.column


def size_of(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _statements(text: str | Iterable[str]) -> Iterator[str]:
    """The text cut before each UPSERT but the first; what leads up to the first one stays with it."""
    scanner = _Scanner()
    for block in _blocks(text):
        yield from scanner.feed(block)
    yield from scanner.feed("", final=True)


def _blocks(text: str | Iterable[str]) -> Iterator[str]:
    if isinstance(text, str):
        for start in range(0, len(text), BLOCK):
            yield text[start : start + BLOCK]
        return
    held: list[str] = []
    size = 0
    for piece in text:
        held.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


class _Scanner:
    """Finds statement borders in a text that arrives in blocks; holds no more than one statement and one block."""

    def __init__(self) -> None:
        self.buffer = ""
        self.line = self.column = 1  # of the buffer's beginning
        self.begin = 0  # of the statement at hand
        self.position = 0  # scanned up to here
        self.depth = 0
        self.started = False  # the statement at hand has its UPSERT

    def feed(self, block: str, *, final: bool = False) -> Iterator[str]:
        """Add a block; gives the statements that are complete now."""
        self._drop_done()
        self.buffer += block
        while (match := self._next(final)) is not None:
            token = match[0]
            if token == "UPSERT" and self.depth == 0:
                if self.started:
                    yield self._cut(match.start())
                self.started = True
            elif not self.started and not token.startswith("//"):
                raise self._not_a_capsule(match.start())
            else:
                self.depth = max(0, self.depth + _STEP.get(token, 0))
        if final and self.started:
            yield self._cut(len(self.buffer))
        if len(self.buffer) - self.begin > MAX_BYTES + _MARGIN:
            raise self._too_large()  # what is not scanned yet is one string or comment of this statement

    def _drop_done(self) -> None:
        self.line, self.column, _ = self._place(self.begin)
        self.buffer = self.buffer[self.begin :]
        self.position -= self.begin
        self.begin = 0

    def _next(self, final: bool) -> re.Match[str] | None:
        """The next token that is sure to be whole, with `position` moved behind it."""
        match = (_NEXT if self.started else _FIRST).search(self.buffer, self.position)
        end = len(self.buffer)
        safe = end if final else max(self.position, end - _MARGIN)
        if match is None:
            self.position = safe
            return None
        if not final and (match.start() >= safe or (match[0][0] in '"/' and match.end() >= end - 1)):
            self.position = min(match.start(), safe)
            return None
        self.position = match.end()
        return match

    def _cut(self, at: int) -> str:
        statement = self.buffer[self.begin : at]
        if size_of(statement) > MAX_BYTES:
            raise self._too_large()
        self.begin = at
        return statement

    def _place(self, at: int) -> Position:
        found = position_of(self.buffer, at)
        column = found.column + self.column - 1 if found.line == 1 else found.column
        return Position(self.line + found.line - 1, column, 0)

    def _too_large(self) -> KipError:
        tokens = _FIRST.finditer(self.buffer, self.begin)
        position = self._place(next((m.start() for m in tokens if not m[0].startswith("//")), self.begin))
        return KipError(
            "KIP_4002",
            f"The UPSERT statement on line {position.line} is longer than {MAX_BYTES // 1024} KiB.",
            "Split it into several UPSERT statements (handles end with their statement, so name nodes by type and "
            "name), and check that its brackets and strings are closed.",
            position=position,
        )

    def _not_a_capsule(self, at: int) -> KipError:
        position = self._place(at)
        return KipError(
            "KIP_1001",
            f"Line {position.line}, column {position.column}: a capsule holds UPSERT statements, and this is none.",
            "Import UPSERT statements only; run other commands with `trivium kip`.",
            position=position,
        )


PLACE = re.compile(r"Line \d+, column \d+: ")
"""What a message of the engine begins with when it has a place."""


def without_place(message: str) -> str:
    """A message of the engine without the line and column it begins with, for those who know a better place.

    >>> without_place("Line 1, column 2: Unexpected ','.")
    "Unexpected ','."
    """
    return PLACE.sub("", message, count=1) if PLACE.match(message) else message
