"""The markers `[n]` by which a model cites passages: found, checked, and taken out of a sentence."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct

_ONE = r"\d{1,40}(?:\s?[-–]\s?\d{1,40})?"
_NUMBERS = rf"{_ONE}(?:\s?[,;]\s?\^?{_ONE})*"
MARK = re.compile(rf"\s?(?:\[\^?({_NUMBERS})\](?!\()|【\^?({_NUMBERS})(?:†[^】]{{0,40}})?】)")
"""A marker as models write them: `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `【1】`."""
_UNFINISHED = re.compile(r"(?:\[|【)\^?[\d\s,;–-]*\Z")
_WIDEST = 20


class Marked(Struct, frozen=True):
    """A sentence without its markers; the passages they name, in order, and how many named none."""

    text: str
    numbers: list[int]
    unknown: int


_CODE = re.compile(r"`[^`\n]+`")
_SMALL = r"\^?(\d{1,3}(?:\s?[-–,;]\s?\^?\d{1,3})*)"
_LOOKS_LIKE_MARK = re.compile(rf"\[{_SMALL}\]|【{_SMALL}(?:†[^】]{{0,40}})?】")


def read_marks(text: str, known: Collection[int]) -> Marked:
    """Take the markers out of a sentence.

    >>> read_marks("Net 30 days [1, 7].", {1, 2})
    Marked(text='Net 30 days.', numbers=[1], unknown=1)
    """
    numbers: list[int] = []
    unknown = 0
    code = [match.span() for match in _CODE.finditer(text)]

    def taken(match: re.Match[str]) -> str:
        nonlocal unknown
        if any(start < match.end() and match.start() < stop for start, stop in code):
            return match[0]
        for number in _numbers(match[1] or match[2]):
            if number in known:
                numbers.append(number)
            else:
                unknown += 1
        return ""

    plain = MARK.sub(taken, text)
    return Marked(unmarked(plain), list(dict.fromkeys(numbers)), unknown)


def unmarked(text: str) -> str:
    """A text that is no answer's own, so that nothing in it looks like a marker.

    >>> unmarked("as shown in [3]; `row[0]`")
    'as shown in (3); `row[ 0 ]`'
    """
    code = [match.span() for match in _CODE.finditer(text)]

    def changed(match: re.Match[str]) -> str:
        inside = any(start <= match.start() < stop for start, stop in code)
        numbers = match[1] or match[2]
        return f"[ {numbers} ]" if inside else f"({numbers})"

    return _LOOKS_LIKE_MARK.sub(changed, text)


def without_marks(text: str) -> str:
    return MARK.sub("", text)


def ends_within_mark(text: str) -> bool:
    """Whether a text may end in the middle of a marker.

    >>> [ends_within_mark(text) for text in ("thirty days [1", "thirty days [", "thirty days [1]")]
    [True, True, False]
    """
    return bool(_UNFINISHED.search(text))


def _numbers(text: str) -> list[int]:
    found: list[int] = []
    for part in re.split("[,;]", text.replace("^", "")):
        first, _, last = part.replace("–", "-").partition("-")
        begin = int(first)
        end = int(last) if last.strip() else begin
        found += range(begin, min(end, begin + _WIDEST) + 1)
    return found
