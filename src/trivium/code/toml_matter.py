"""Front matter in TOML, between `+++` lines: read into strings, lists and maps, as that in YAML is."""

from __future__ import annotations

import re
import tomllib
from datetime import date, time
from typing import Any, TypeAlias

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

MAX_SCALAR = 8 << 10
MAX_NODES = 4_096
MAX_DEPTH = 16

_KEY = re.compile(r"""[ \t]*\[{0,2}[ \t]*(?:"([^"\\\n]{1,200})"|'([^'\n]{1,200})'|([\w-]{1,200}))[ \t]*[=.\]]""")
_MAX_DOTS = 64
"""Dots of one key; the parser takes time with their square."""


class UnreadableToml(Exception):
    """The block is not plain, small TOML."""


def read_toml(block: str, first: int) -> tuple[dict[str, Value], dict[str, int]]:
    """The map that a block holds, and the line of each of its keys; `first` is the line of the block's first.

    Numbers and dates are written in their usual form.

    >>> read_toml('title = "A"\\ndate = 2026-02-03\\n', 2)
    ({'title': 'A', 'date': '2026-02-03'}, {'title': 2, 'date': 3})
    """
    if any(key.count(".") > _MAX_DOTS for line in block.split("\n") for key in _keys(line)):
        raise UnreadableToml
    try:
        found = tomllib.loads(block, parse_float=str)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise UnreadableToml from error
    reader = _Reader()
    values = {key: reader.value(value, 1) for key, value in found.items()}
    lines: dict[str, int] = {}
    for number, line in enumerate(block.split("\n")):
        if match := _KEY.match(line):
            key = next(group for group in match.groups() if group is not None)
            if key in values:
                lines.setdefault(key, first + number)
    return values, lines


def _keys(line: str) -> list[str]:
    """What may be a key on a line: what precedes a sign of equality, and a line that opens a table."""
    parts = line.split("=")
    return parts if line.lstrip().startswith("[") else parts[:-1]


class _Reader:
    """Turns what the parser gives into values, within bounds."""

    def __init__(self) -> None:
        self._nodes = 0

    def value(self, found: Any, depth: int) -> Value:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            raise UnreadableToml
        if isinstance(found, dict):
            return {key: self.value(value, depth + 1) for key, value in found.items()}
        if isinstance(found, list):
            return [self.value(value, depth + 1) for value in found]
        text = _text(found)
        if len(text) > MAX_SCALAR:
            raise UnreadableToml
        return text


def _text(found: Any) -> str:
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, date | time):
        return found.isoformat()
    return str(found)
