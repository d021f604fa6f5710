"""Ranges: of "from 1 March 2024 until 28 February 2026" the first value tells a start, the last one an end."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from trivium.language.values import DATE, DURATION, MEASURE, MONEY, NUMBER, PERCENT, TIME, YEAR, Value
from trivium.search.segment import fold

_UNTIL = re.compile(
    r"\s*(?:until|till|through|up to|to|bis(?: zum)?|hasta(?: el)?|jusqu'au|fino al?|до|[-–—~～到至]|から)\s*"
)
_TO = re.compile(r"\s*(?:and|und|y|et|a|al|au)\s*")
_FROM = re.compile(
    r"\b(?:from|between|von|vom|ab|zwischen|de|desde|del|entre|du|dal|runs?|ranges?|lasts?)(?: (?:is|the|el|dem))?\s*$"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STARTS = _words(
    "start starts begin begins beginning beginn anfang inicio comienzo debut inizio inicia beginnt minimum min lowest"
    " minimal minimale minimo mindest from since seit ab von desde depuis opens open opening offnet offnung abre"
    " ouvre apre"
)
_ENDS = _words(
    "end ends expiry expires expire finish ende ablauf fin vencimiento endet termina fine maximum max highest"
    " maximal maximale maximo massimo hochst until till to bis hasta jusque closes close closing schliesst cierra ferme"
    " chiude"
)
_COUNTED = frozenset({NUMBER, MEASURE, MONEY, PERCENT, DURATION})
_TIMED = frozenset({DATE, TIME, YEAR})
_BOUNDS = _words(
    "minimum min lowest minimal minimale minimo mindest maximum max highest maximal maximale maximo massimo hochst"
)
_HOURS = _words("opens open opening offnet offnung abre ouvre apre closes close closing schliesst cierra ferme chiude")
"""Words for the ends of a range of hours alone: a shop opens on no other day."""


def end_of_range(word: str, text: str, values: Sequence[Value]) -> Value | None:
    """The value of a text that is the end of a range for which a folded word stands: its start or its end.

    >>> from trivium.language.values import find_values
    >>> text = "It runs from 1 March 2024 until 28 February 2026."
    >>> [end_of_range(word, text, find_values(text, "en")).iso for word in ("start", "end")]
    ['2024-03-01', '2026-02-28']
    """
    if word not in _STARTS | _ENDS:
        return None
    kinds = _COUNTED if word in _BOUNDS else frozenset({TIME}) if word in _HOURS else _TIMED
    for first, last in _ranges(text, values):
        if first.kind in kinds:
            return first if word in _STARTS else last
    return None


def ends_of_ranges(text: str, values: Sequence[Value]) -> list[Value]:
    """The values of a text that are how much something is at least or at most, rather than how much it is.

    >>> from trivium.language.values import find_values
    >>> text = "Between 20 and 30 people attend."
    >>> [str(value.amount) for value in ends_of_ranges(text, find_values(text))]
    ['20', '30']
    """
    return [value for pair in _ranges(text, values) for value in pair if value.kind in _COUNTED]


def in_their_units(text: str, values: Sequence[Value]) -> list[Value]:
    """The values, where the first of a range has the unit that only its last one has: `between 2 and 8 °C`."""
    units = {first.start: last for first, last in _ranges(text, values) if first.kind == NUMBER and last.unit}
    return [
        replace(value, kind=units[value.start].kind, unit=units[value.start].unit) if value.start in units else value
        for value in values
    ]


def _ranges(text: str, values: Sequence[Value]) -> Iterator[tuple[Value, Value]]:
    """The ranges of a text: two values of one kind, or a plain number and what it is of."""
    for first, last in pairwise(values):
        alike = first.kind == last.kind or (first.kind == NUMBER and last.kind in _COUNTED)
        if (
            alike
            and first.kind in _COUNTED | _TIMED
            and _spans(fold(text[: first.start])[-20:], fold(text[first.stop : last.start]))
        ):
            yield first, last


def is_end_of_range(words: Collection[str], text: str, values: Sequence[Value]) -> Value | None:
    """The end of a range that the one of these words stands for that stands for any.

    Of several ranges it is that of the one which the other words stand before: `saturday_closes_at`.
    """
    others = [word for word in words if word not in _STARTS | _ENDS]
    for word in words:
        if (found := end_of_range(word, text, values)) is None:
            continue
        rest = _behind(others, text, values)
        return (end_of_range(word, text, rest) if rest is not None else None) or found
    return None


def _behind(words: Collection[str], text: str, values: Sequence[Value]) -> list[Value] | None:
    """The values behind the last of some words in a text that another range stands before; None where none does."""
    folded = fold(text)
    places = [folded.find(word[: max(4, len(word) - 2)]) for word in words]
    place = max(places, default=-1)
    return [value for value in values if value.start > place] if place > 0 else None


def _spans(before: str, between: str) -> bool:
    return bool(_UNTIL.fullmatch(between)) or bool(_TO.fullmatch(between) and _FROM.search(before))


_SINCE_WORDS = "since|from|as of|starting|seit|ab|von|vom|depuis|des|a partir d[eu]|desde|dal|dalla|sinds|vanaf|с|自|从"
_UNTIL_WORDS = "until|till|to|through|up to|bis|bis zum|jusqu\\w*|hasta|fino al?|tot|до|至|到|[-–—]"


def stands_behind(bare: Collection[str], text: str, value: Value) -> bool:
    """Whether a value stands behind what a name such as `since` or `until` says; behind anything for another name.

    >>> from trivium.language.values import find_values
    >>> text = "Ann Lee has been chair since 2019."
    >>> [stands_behind([word], text, find_values(text)[0]) for word in ("since", "until", "when")]
    [True, False, True]
    """
    for words, signs in ((_STARTS, _SINCE_WORDS), (_ENDS, _UNTIL_WORDS)):
        if not words.isdisjoint(bare):
            before = fold(text[max(0, value.start - 40) : value.start])
            return bool(re.search(rf"(?:(?<!\w)(?:{signs})|[自从至到])(?: \w+){{0,2}}\s*$", before))
    return True
