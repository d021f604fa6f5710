"""The members of JSON as pieces that can be quoted: `key: value` under the keys over it, and records as rows.

A passage may begin or end inside a value, since large files are stored in parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct

from trivium.language.rows import Cell
from trivium.search.passage import Passage

_LINES = frozenset({".jsonl", ".ndjson"})
_ENDS = _LINES | {".json", ".geojson", ".json5", ".jsonc"}
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\]:,]|-?\d[\d.eE+-]*|true|false|null|//[^\n]*|\S')
_RECORD = re.compile(r"^[ \t]*\{.*\}[ \t]*,?[ \t]*$", re.MULTILINE)
"""A line that is a whole object, as in the part of an array that a passage may be."""
_DEEPEST = 60
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false")


class Piece(Struct):
    """A member, or a record of an array: `text[start:stop]`, its cells, and the keys over it."""

    start: int
    stop: int
    block: int
    is_record: bool
    over: tuple[str, ...]
    cells: list[Cell]

    @property
    def text(self) -> str:
        return "; ".join(f"{cell.key}: {cell.text}" for cell in self.cells)


class _Open(Struct):
    """An object or array that is being read."""

    is_object: bool
    over: tuple[str, ...]
    block: int
    record: Piece | None
    """The record to which what is read belongs."""
    inside: tuple[str, ...] = ()
    """The keys between that record and here."""
    key: str = ""
    key_start: int = -1
    awaits_value: bool = False
    texts: list[str] = []
    """The plain elements of an array."""
    first: int = -1


def pieces_of(passage: Passage) -> list[Piece]:
    """The pieces of a passage of a JSON file; none of another."""
    end = PurePosixPath(passage.source).suffix.lower()
    return json_pieces(passage.text, lines=end in _LINES) if end in _ENDS else []


def json_pieces(text: str, *, lines: bool = False) -> list[Piece]:
    """The pieces of a text of JSON in order; `lines` where each value is a record of its own.

    >>> [(piece.over, piece.text) for piece in json_pieces('{"db": {"port": 5432}, "tags": ["a", "b"]}')]
    [(('db',), 'port: 5432'), ((), 'tags: a, b')]
    >>> [piece.text for piece in json_pieces('[{"name": "Ann", "role": "dev"}, {"name": "Bo", "role": "ops"}]')]
    ['name: Ann; role: dev', 'name: Bo; role: ops']
    """
    return sorted(_Reader(text, lines).pieces(), key=lambda piece: piece.start)


class _Reader:
    def __init__(self, text: str, lines: bool) -> None:
        self._text = text
        records = lines or (len(_RECORD.findall(text)) > 1 and not text.lstrip().startswith(("[", "{\n", "{\r")))
        self._blocks = 1
        self._found: list[Piece] = []
        self._stack = [_Open(not records, (), 1, None)]

    def pieces(self) -> Iterator[Piece]:
        tokens = list(_TOKEN.finditer(self._text))
        for place, match in enumerate(tokens):
            token, top = match[0], self._stack[-1]
            following = tokens[place + 1][0] if place + 1 < len(tokens) else ""
            if token in "{[":
                self._open(match, is_object=token == "{")
            elif token in "}]":
                self._close(match)
            elif token == ",":
                top.awaits_value = False
            elif token[0] == '"' and following == ":" and not top.awaits_value:
                top.key, top.key_start, top.awaits_value = _string(token), match.start(), True
            elif token[0] == '"' or _PLAIN.fullmatch(token):
                self._value(match)
        yield from (piece for piece in self._found if piece.cells)

    def _open(self, match: re.Match[str], *, is_object: bool) -> None:
        top = self._stack[-1]
        if len(self._stack) > _DEEPEST:
            self._stack.append(_Open(is_object, top.over, top.block, top.record, top.inside))
            return
        named = (top.key,) if top.awaits_value and top.key else ()
        top.awaits_value = False
        over, record, inside = (*top.over, *named), top.record, (*top.inside, *named)
        if is_object and not (top.is_object or named):  # an element of an array
            record, inside = Piece(match.start(), match.end(), top.block, True, over, []), ()
            self._found.append(record)
        self._blocks += 1
        opened = _Open(is_object, over, self._blocks, record, inside, first=match.start())
        if not is_object:
            opened.key, opened.key_start = top.key, top.key_start
        self._stack.append(opened)

    def _close(self, match: re.Match[str]) -> None:
        if len(self._stack) == 1:
            return
        closed, top = self._stack.pop(), self._stack[-1]
        if not closed.is_object and closed.texts and closed.key:
            where = _Open(
                True, closed.over[:-1], top.block, closed.record, closed.inside[:-1], closed.key, closed.key_start
            )
            self._tell(where, ", ".join(closed.texts), closed.first + 1, match.start(), match.end())

    def _value(self, match: re.Match[str]) -> None:
        top, token = self._stack[-1], match[0]
        is_text = token[0] == '"'
        text = " ".join(_string(token).split()) if is_text else token
        if not top.is_object:
            top.texts.append(text)
            return
        if top.awaits_value and text:
            self._tell(top, text, match.start() + is_text, match.end() - is_text, match.end())
        top.awaits_value = False

    def _tell(self, where: _Open, text: str, start: int, stop: int, end: int) -> None:
        record = where.record
        if record is None:
            cell = Cell(where.key, text, start, stop)
            self._found.append(Piece(where.key_start, end, where.block, False, where.over, [cell]))
            return
        record.cells.append(Cell(" ".join([*where.inside, where.key]), text, start, stop))
        record.start = where.key_start if len(record.cells) == 1 else record.start
        record.stop = max(record.stop, end)


def _string(token: str) -> str:
    try:
        read = json.loads(token)
    except ValueError:
        return token.strip('"')
    return str(read)
