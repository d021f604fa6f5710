"""Whose a value is in a sentence that says something of several things of one kind, a clause for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from trivium.language.languages import silent_words
from trivium.language.matching import KIN, alike
from trivium.search.segment import tokens

_BOUND = re.compile(
    r"[;；，、](?=\S)|[;,](?=\s)"
    r"|\s(?=(?:while|whereas|but|wahrend|während|aber|mientras|pero|tandis|mais|mentre|ma|enquanto|mas|terwijl|maar)\s)",
    re.IGNORECASE,
)
_SAME = 0.85


class _Clause(Struct):
    stop: int
    words: list[str]


def belongs_to_another(text: str, places: Sequence[int], asked: Sequence[str]) -> bool:
    """Whether what stands at these places of a sentence is said of other things alone than the one asked about.

    `asked` are the words of the question in order. Of two that follow each other, `free plan`, the first tells which
    one is meant; a clause that speaks of a plan without it is about another one. Without places it is the other words
    of the question, wherever they stand, that must be said of the thing.

    >>> said = "The free plan has 3 seats, the team plan costs 40 euros."
    >>> belongs_to_another(said, [47], ["price", "free", "plan"]), belongs_to_another(said, [47], ["team", "plan"])
    (True, False)
    >>> belongs_to_another(said, [], ["cost", "free", "plan"]), belongs_to_another(said, [], ["seats", "free", "plan"])
    (True, False)
    """
    clauses = _clauses(text)
    return len(clauses) > 1 and any(_apart(clauses, places, pair, asked) for pair in pairwise(asked))


def _clauses(text: str) -> list[_Clause]:
    bounds = [0, *(match.start() for match in _BOUND.finditer(text)), len(text)]
    return [_Clause(stop, tokens(text[start:stop])) for start, stop in pairwise(bounds)]


def _apart(clauses: Sequence[_Clause], places: Sequence[int], pair: tuple[str, str], asked: Sequence[str]) -> bool:
    speaks = [_speaks(clause, pair) for clause in clauses]
    own = [clause for clause, one in zip(clauses, speaks, strict=True) if one]
    if not own or not all(map(_says_more, own)):
        return False  # such as the first of an enumeration, of which all the rest is said as well
    rest = [word for word in asked if word not in pair]
    said = {_at(clauses, place) for place in places} or {
        number for number, clause in enumerate(clauses) if any(_met(word, clause) for word in rest)
    }
    return bool(said) and all(_owner(speaks, number) is False for number in said)


def _at(clauses: Sequence[_Clause], place: int) -> int:
    return next((number for number, clause in enumerate(clauses) if place < clause.stop), len(clauses) - 1)


def _met(word: str, clause: _Clause) -> bool:
    return any(alike(word, other) >= KIN for other in clause.words)


def _owner(speaks: Sequence[bool | None], number: int) -> bool | None:
    """Whether the thing asked about is the last one spoken of up to a clause; None where none is."""
    return next((one for one in reversed(speaks[: number + 1]) if one is not None), None)


def _speaks(clause: _Clause, pair: tuple[str, str]) -> bool | None:
    """Whether a clause speaks of the thing asked about, or of another one of its kind; None of neither."""
    which, kind = pair
    found: bool | None = None
    for before, word in pairwise(["", *clause.words]):
        if alike(kind, word) >= _SAME:
            if alike(which, before) >= _SAME:
                return True
            found = False
    return found


def _says_more(clause: _Clause) -> bool:
    return len(set(clause.words) - silent_words(clause.words)) > 2
