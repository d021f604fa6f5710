"""Front matter: YAML between `---` lines or TOML between `+++` lines, read into strings, lists and maps (reference 4).

Nothing is constructed: YAML scalars stay as they are written (a date stays text), and aliases, anchors, foreign tags,
deep nesting, repeated keys and huge values make the whole block unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml
from msgspec import Struct

from trivium.code.toml_matter import MAX_DEPTH, MAX_NODES, MAX_SCALAR, UnreadableToml, read_toml
from trivium.code.toml_matter import Value as Value

MAX_BYTES = 64 << 10

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_TOML_CLOSING = re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp"))
_TAGS_OF_GROUPS = frozenset({"tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"})


class FrontMatter(Struct, frozen=True):
    """`lines` counts the lines that the block takes, those around it included; 0 without a block."""

    values: dict[str, Value] = {}
    lines: int = 0
    size: int = 0
    """Characters of the text that the block takes."""
    invalid: bool = False
    key_lines: dict[str, int] = {}
    """The line of each key of the map."""


class _Unreadable(Exception):
    """The block is not plain, small YAML."""


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text with `\\n` line ends and without byte-order mark (reference 4).

    A block that YAML reads as something other than a map is an ordinary text between two rules, hence no block.

    >>> read_front_matter("---\\ndate: 2026-02-03\\n---\\n# A\\n").values
    {'date': '2026-02-03'}
    """
    if not text.startswith(("---", "+++")):
        return FrontMatter()
    first, newline, _ = text.partition("\n")
    toml = first[0] == "+"
    ending = _TOML_CLOSING if toml else _CLOSING
    closing = ending.search(text, len(first) + 1) if newline and not first[3:].strip() else None
    if closing is None:
        return FrontMatter()
    block = text[len(first) + 1 : closing.start()]
    size = min(closing.end() + 1, len(text))
    lines = block.count("\n") + 2
    if toml:
        return _from_toml(block, lines, size)
    builder = _Builder()
    try:
        value = builder.build(block)
    except (_Unreadable, yaml.YAMLError, ValueError, RecursionError):
        return FrontMatter({}, lines, size, invalid=True)
    if value is None:
        return FrontMatter({}, lines, size)
    return FrontMatter(value, lines, size, key_lines=builder.lines) if isinstance(value, dict) else FrontMatter()


def read_yaml(text: str) -> FrontMatter:
    """A whole text as front matter: a file of its own that says what a block above a document could.

    >>> read_yaml("title: A\\nstatus: accepted\\n").key_lines
    {'title': 1, 'status': 2}
    """
    builder = _Builder(first_line=1)
    try:
        value = builder.build(text)
    except (_Unreadable, yaml.YAMLError, ValueError, RecursionError):
        value = ""
    lines = text.count("\n") + 1
    if isinstance(value, dict):
        return FrontMatter(value, lines, len(text), key_lines=builder.lines)
    return FrontMatter({}, lines, len(text), invalid=value is not None)


def _from_toml(block: str, lines: int, size: int) -> FrontMatter:
    try:
        if len(block) > MAX_BYTES:
            raise UnreadableToml
        values, key_lines = read_toml(block, 2)
    except UnreadableToml:
        return FrontMatter({}, lines, size, invalid=True)
    return FrontMatter(values, lines, size, key_lines=key_lines)


class _Builder:
    """Turns YAML events into values without recursion; of a block the first line is the rule above it."""

    def __init__(self, first_line: int = 2) -> None:
        self._first_line = first_line
        self.lines: dict[str, int] = {}
        self._result: Value = None
        self._line = 0
        self._stack: list[list[Value] | dict[str, Value]] = []
        self._keys: list[str | None] = []
        self._nodes = 0

    def build(self, block: str) -> Value:
        """The value of the block; `lines` tells where its keys stand."""
        if len(block) > MAX_BYTES:
            raise _Unreadable
        self._read(yaml.parse(block, Loader=_LOADER))
        return self._result

    def _read(self, events: Iterable[Any]) -> None:
        for event in events:
            self._line = event.start_mark.line + self._first_line
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise _Unreadable
            if isinstance(event, yaml.ScalarEvent):
                self._place(_scalar(event))
            elif isinstance(event, yaml.MappingStartEvent):
                self._open(event, {})
            elif isinstance(event, yaml.SequenceStartEvent):
                self._open(event, [])
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                self._stack.pop()
                self._keys.pop()

    def _open(self, event: Any, group: list[Value] | dict[str, Value]) -> None:
        if len(self._stack) >= MAX_DEPTH or (event.tag is not None and event.tag not in _TAGS_OF_GROUPS):
            raise _Unreadable
        self._place(group)
        self._stack.append(group)
        self._keys.append(None)

    def _place(self, value: Value) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _Unreadable
        if not self._stack:
            if self._result is not None:
                raise _Unreadable  # a second document
            self._result = value
            return
        group = self._stack[-1]
        if isinstance(group, list):
            group.append(value)
        elif self._keys[-1] is None:
            if isinstance(value, list | dict) or (key := value or "") in group:
                raise _Unreadable
            self._keys[-1] = key
            if len(self._stack) == 1:
                self.lines[key] = self._line
        else:
            group[self._keys[-1]] = value
            self._keys[-1] = None


def _scalar(event: Any) -> str | None:
    if len(event.value) > MAX_SCALAR or (event.tag is not None and event.tag not in _TAGS):
        raise _Unreadable
    if event.implicit[0] and event.value in _NULLS:
        return None
    return str(event.value)


def text_of(value: Value) -> str | None:
    """A scalar's text, trimmed; a list of one scalar counts as that scalar; anything else is none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip() or None if isinstance(value, str) else None


def texts_of(value: Value) -> list[str]:
    """The texts of a scalar or of a list of scalars, trimmed, without empty ones."""
    found = value if isinstance(value, list) else [value]
    return [text.strip() for text in found if isinstance(text, str) and text.strip()]
