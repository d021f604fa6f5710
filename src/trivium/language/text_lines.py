"""The lines of a text with where they stand, and pieces of it on one line without markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_RULE = re.compile(
    r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$|[ \t]*([-=*_])(?:[ \t]*\2){2,}[ \t]*$"
)
_MARKUP = re.compile(r"(?<!\\)(\*\*|__|`)|!?\[([^\]\n]*)\]\([^)\s]*\)")
_SPACE = re.compile(r"\s+")


class Line(Struct):
    start: int
    stop: int
    text: str


def lines_of(text: str) -> Iterator[Line]:
    start = 0
    for line in text.split("\n"):
        yield Line(start, start + len(line), line.rstrip("\r"))
        start += len(line) + 1


def is_rule(text: str) -> bool:
    return bool(_RULE.match(text))


def trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and text[start].isspace():
        start += 1
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    return start, stop


def plain(text: str) -> str:
    """On one line, without emphasis, code marks and the addresses of links."""
    return _SPACE.sub(" ", _MARKUP.sub(lambda match: match[2] or "", text)).strip()
