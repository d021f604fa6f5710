"""Ranges: of "from 1 March 2024 until 28 February 2026" the first value tells a start, the last one an end."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from trivium.models.values import DATE, MEASURE, MONEY, NUMBER, PERCENT, TIME, YEAR, Value
from trivium.search.segment import fold

_UNTIL = re.compile(r"\s*(?:until|till|through|up to|to|bis(?: zum)?|hasta(?: el)?|jusqu'au|fino al?|[-–—])\s*")
_TO = re.compile(r"\s*(?:and|und|y|et|a|al|au)\s*")
_FROM = re.compile(
    r"\b(?:from|between|von|vom|ab|zwischen|de|desde|del|entre|du|dal|runs?|ranges?|lasts?)(?: (?:is|the|el|dem))?\s*$"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STARTS = _words(
    "start starts begin begins beginning beginn anfang inicio comienzo debut inizio inicia beginnt minimum min lowest"
)
_ENDS = _words(
    "end ends expiry expires expire finish ende ablauf fin vencimiento endet termina fine maximum max highest"
)
_MEASURED = frozenset({NUMBER, MEASURE, MONEY, PERCENT})
_TIMED = frozenset({DATE, TIME, YEAR})
_BOUNDS = _words("minimum min lowest maximum max highest")


def end_of_range(word: str, text: str, values: Sequence[Value]) -> Value | None:
    """The value of a text that is the end of a range for which a folded word stands: its start or its end.

    >>> from trivium.models.values import find_values
    >>> text = "It runs from 1 March 2024 until 28 February 2026."
    >>> [end_of_range(word, text, find_values(text, "en")).iso for word in ("start", "end")]
    ['2024-03-01', '2026-02-28']
    """
    if word not in _STARTS | _ENDS:
        return None
    kinds = _MEASURED if word in _BOUNDS else _TIMED
    for first, last in pairwise(values):
        alike = first.kind == last.kind or {first.kind, last.kind} == {NUMBER, MEASURE}
        if (
            alike
            and first.kind in kinds
            and _spans(fold(text[: first.start])[-20:], fold(text[first.stop : last.start]))
        ):
            return first if word in _STARTS else last
    return None


def is_end_of_range(words: Collection[str], text: str, values: Sequence[Value]) -> Value | None:
    """The end of a range that the one of these words stands for that stands for any."""
    return next(filter(None, (end_of_range(word, text, values) for word in words)), None)


def _spans(before: str, between: str) -> bool:
    return bool(_UNTIL.fullmatch(between)) or bool(_TO.fullmatch(between) and _FROM.search(before))
