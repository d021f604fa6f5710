"""Syntax trees of texts that are worth the work, which is counted rather than timed: the same files everywhere.

Where a text is no code of its grammar, a parser may come to need time and memory with the square of its length. A text
with too deep a nesting is not given to it, and it is stopped after too many steps or too much reading back and forth.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from trivium.code.grammars import NoGrammar, load

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Point

MAX_DEPTH = 1_000
"""How many brackets may be open at a time."""
MAX_CHAIN = 2_000
"""How many words and signs may follow each other on a line before one that ends something."""
MAX_STEPS, STEPS_FOR_BYTE = 200_000, 12
"""How many steps of the parser a text may take, and how many more for each byte; a dense table of numbers takes 10."""
MAX_ERROR_STEPS, BYTES_FOR_ERROR_STEP = 50_000, 10
"""The same for steps in search of an end to an error, which take a hundred times as long."""
MAX_READINGS = 64
"""How often a text may be read again, as a whole or in parts; that of code is read two or three times."""

_CHUNK = 4096
_STEPS_TOLD = 100
"""After how many steps the parser asks whether to go on."""
_SLACK = 64
_OTHERS = bytes(set(range(256)) - set(b"()[]{}"))
_PASSES = 16
_OPENING = frozenset(b"([{")
_STRING = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|' rb"'[^'\\]*+(?:\\.[^'\\]*+)*+'|`[^`\\]*+(?:\\.[^`\\]*+)*+`", re.DOTALL
)
_ARROW = re.compile(rb"[-=]>")
_END = re.compile(rb"[;,)\]}>]")
_TOKEN = re.compile(rb"\w++|[^\w\s]")


class TooMuchWork(Exception):
    """A text would cost, or did cost, more than code does."""


def parse(grammar: str, text: bytes) -> Node:
    """The root of a syntax tree. Raises: NoGrammar when there is no such grammar here; TooMuchWork.

    Grammars are native code that may fail on strange input or never end: call this in `parse_worker` only.
    """
    if is_too_deep(text):
        raise TooMuchWork
    view = memoryview(text)
    steps = error_steps = reads = 0
    most_steps = (MAX_STEPS + STEPS_FOR_BYTE * len(text)) / _STEPS_TOLD
    most_error_steps = (MAX_ERROR_STEPS + len(text) / BYTES_FOR_ERROR_STEP) / _STEPS_TOLD
    most_reads = MAX_READINGS * (_SLACK + len(text) // _CHUNK)

    def read(offset: int, _place: Point) -> memoryview:
        nonlocal reads
        reads += 1
        return view[offset : offset + _CHUNK] if reads <= most_reads else view[:0]

    def has_enough(_offset: int, in_error: bool) -> bool:
        nonlocal steps, error_steps
        steps += 1
        error_steps += in_error
        return steps > most_steps or error_steps > most_error_steps

    parser = _parser(grammar)
    try:
        root = parser.parse(read, progress_callback=has_enough).root_node
    except ValueError:  # it was stopped
        parser.reset()
        raise TooMuchWork from None
    if reads > most_reads:
        raise TooMuchWork
    return root


@lru_cache(maxsize=64)
def _parser(grammar: str) -> Parser:
    language = load(grammar)
    if language is None:
        raise NoGrammar(grammar)
    from tree_sitter import Parser

    return Parser(language)


def is_too_deep(text: bytes) -> bool:
    """Whether more is open at a time somewhere than in code.

    >>> is_too_deep(b"f(" * 2000), is_too_deep(b"a <" * 2000), is_too_deep(b"[0, 0], " * 2000)
    (True, True, False)
    """
    return (len(text) > MAX_DEPTH and _is_nested(text)) or (len(text) > MAX_CHAIN and _has_chain(text))


def _is_nested(text: bytes) -> bool:
    if sum(map(text.count, (b"(", b"[", b"{"))) <= MAX_DEPTH:
        return False
    brackets = rest = text.translate(None, _OTHERS)
    for _ in range(_PASSES):  # of code that leaves next to nothing; a pass takes away three levels at most
        rest = rest.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(rest) <= MAX_DEPTH - 3 * _PASSES:
            return False
    depth = 0
    for bracket in brackets:
        if bracket in _OPENING:
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif depth:
            depth -= 1
    return False


def _has_chain(text: bytes) -> bool:
    if not _has_long_line(text):
        return False
    lines = (line for line in text.split(b"\n") if len(line) > MAX_CHAIN)
    return any(
        len(part) > MAX_CHAIN and len(_TOKEN.findall(part)) > MAX_CHAIN
        for line in lines
        for part in _END.split(_ARROW.sub(b"=", _STRING.sub(b'""', line)))
    )


def _has_long_line(text: bytes) -> bool:
    """Whether a line has more bytes than a chain has words, looked at once in as many bytes."""
    start = 0
    while len(text) - start > MAX_CHAIN:
        start = text.rfind(b"\n", start, start + MAX_CHAIN + 1) + 1
        if not start:
            return True
    return False
