"""The markers `[n]` by which a model cites passages: found, checked, and taken out of a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from msgspec import Struct

from trivium.answers.code_spans import code_spans, without_stray_ticks

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


_SMALL = r"\^?(\d{1,3}(?:\s?[-–,;]\s?\^?\d{1,3})*)"
_LOOKS_LIKE_MARK = re.compile(rf"\[{_SMALL}\]|【{_SMALL}(?:†[^】]{{0,40}})?】")


def read_marks(text: str, known: Collection[int], before: str = "") -> Marked:
    """Take the markers out of a sentence; what is shown as code has none. `before` is the line up to the sentence.

    >>> read_marks("Net 30 days `row[0]` [1, 7].", {1, 2})
    Marked(text='Net 30 days `row[0]`.', numbers=[1], unknown=1)
    """
    numbers: list[int] = []
    unknown = 0

    def taken(match: re.Match[str]) -> str:
        nonlocal unknown
        for number in _numbers(match[1] or match[2]):
            if number in known:
                numbers.append(number)
            else:
                unknown += 1
        return _apart(match)

    plain = without_stray_ticks(_outside_code(MARK, taken, text, before), before)
    return Marked(unmarked(plain, before), list(dict.fromkeys(numbers)), unknown)


def unmarked(text: str, before: str = "") -> str:
    """A text that is no answer's own, so that nothing in it looks like a marker; code is left as it is.

    >>> unmarked("as shown in [3]; `row[0]`")
    'as shown in (3); `row[0]`'
    """
    return _outside_code(_LOOKS_LIKE_MARK, lambda match: f"({match[1] or match[2]})", text, before)


def without_marks(text: str) -> str:
    """A text without its markers."""
    return _outside_code(MARK, _apart, text)


def _outside_code(pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], text: str, before: str = "") -> str:
    code = code_spans(before + text)
    shift = len(before)

    def changed(match: re.Match[str]) -> str:
        start, stop = match.start() + shift, match.end() + shift
        return match[0] if any(first < stop and start < last for first, last in code) else change(match)

    return pattern.sub(changed, text)


def _apart(match: re.Match[str]) -> str:
    """What stands for a marker that is taken out: mostly nothing; lines, and runs of backticks, stay apart."""
    text, start, stop = match.string, match.start(), match.end()
    if text[start] == "\n" != text[stop : stop + 1]:
        return "\n"
    return " " if text[start - 1 : start] == "`" == text[stop : stop + 1] else ""


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
