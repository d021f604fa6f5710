"""Which rows of a table hold what a question says of their numbers: on floor 2, more than 20 beds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from operator import eq, ge, gt, le, lt

from msgspec import Struct

from trivium.language.denial import negated
from trivium.language.matching import alike
from trivium.language.question import Question, content_words
from trivium.language.ranges import ends_of_ranges
from trivium.language.statements import Statement
from trivium.language.units import unit_in
from trivium.language.values import NUMBER, YEAR, Value, find_values
from trivium.search.segment import fold, tokens

_NOT = r"(?:\b(?P<not>not|no|nicht|pas|non|nao|niet|не)\s+)?"
_SIGNS = (
    (
        gt,
        r"(?:more|greater|higher|larger) (?:\w+ )?than|over|above|after|exceed\w*|mehr (?:\w+ )?als|uber|nach|plus de"
        r"|apres"
        r"|mas de|mas que|despues de|piu di|mais de|meer dan|более|больше|выше|после",
        "超过|超過|大于|多于|高于|>",
    ),
    (
        lt,
        r"(?:fewer|less|lower|smaller) (?:\w+ )?than|under|below|before|weniger (?:\w+ )?als|unter|vor|moins de|avant"
        r"|menos de|menos que|antes de|meno di|minder dan|менее|меньше|ниже",
        "少于|小于|不到|不足|低于|<",
    ),
    (
        ge,
        r"at least|a minimum of|no less than|since|mindestens|wenigstens|seit|au moins|depuis|al menos|como minimo"
        r"|desde"
        r"|almeno|pelo menos|minstens|ten minste|не менее",
        "至少|不少于|>=|≥",
    ),
    (
        le,
        r"at most|up to|a maximum of|until|till|hochstens|maximal|bis zu|bis|au plus|jusqu'a|como maximo|hasta"
        r"|al massimo"
        r"|fino a|no maximo|ate|hoogstens|не более",
        "至多|最多|不超过|<=|≤",
    ),
)
_BEFORE = tuple((test, re.compile(rf"{_NOT}(?<!\w)(?:{words})\s*$|(?:{signs})\s*$")) for test, words, signs in _SIGNS)
_BEHIND = (
    (ge, re.compile(r"\s*(?:\w+\s)?(?:or more|and (?:more|above|over)|oder mehr|ou plus|o mas|o piu|ou mais|of meer"
                    r"|и более|以上)(?!\w)")),
    (le, re.compile(r"\s*(?:\w+\s)?(?:or (?:less|fewer|under)|and (?:less|below)|oder weniger|ou moins|o menos|o meno"
                    r"|of minder|и менее|以下)(?!\w)")),
)  # fmt: skip
_HAVE = frozenset(
    fold(
        "tienen tengan tiene ont possedent comptent hanno contano possuem hebben tellen last lasts dauern durent duran"
        " liegen stehen verfugen lie stand offer hold count имеют находятся"
    ).split()
)
"""What a thing does with its number, where that says no more than having it."""
_INVERSE = {gt: le, lt: ge, ge: lt, le: gt}


class Numbered(Struct):
    """The rows whose numbers are what a question says, and its words that say so."""

    rows: list[Statement]
    words: set[str]
    said: frozenset[str] = frozenset()
    """The values of the question that say which rows are meant."""


def numbered(rows: Sequence[Statement], question: Question) -> Numbered:
    """Those rows of a table whose numbers are what the question says of a column; all where it says nothing of one."""
    held = Numbered(list(rows), set())
    values = [value for value in find_values(question.text, question.language) if _amount(value) is not None]
    ranges = ends_of_ranges(question.text, values)
    for value in values:
        column = _column(rows, value, question)
        if column is None:
            continue
        test, amount = _test(value, question.text), _amount(value)
        if value in ranges:
            test = ge if ranges.index(value) % 2 == 0 else le
        elif test is eq and negated(question.text):
            test = None
        held.said |= {value.key[1]}
        held.rows = [row for row in held.rows if _holds(row, column, test, amount)]
        held.words |= {word for word in question.words if word in tokens(question.text[value.start : value.stop])}
        held.words |= set(_named(column, question)) | _signs(question, value) | (_HAVE & set(question.words))
    return held


def _amount(value: Value) -> Decimal | None:
    return Decimal(value.iso) if value.kind == YEAR else value.amount


def _column(rows: Sequence[Statement], value: Value, question: Question) -> str | None:
    """The column of which a number of a question is: the one named nearest to it, or the only one of its kind."""
    keys = list(dict.fromkeys(cell.key for row in rows for cell in row.cells if cell.key))
    named = {key: places for key in keys if (places := _places(key, question))}
    numeric = [key for key in keys if _is_numeric(rows, key)]
    near = {key: min(abs(place - value.start) for place in named[key]) for key in numeric if key in named}
    if near:
        return min(near, key=lambda key: (near[key], keys.index(key)))
    if value.kind == NUMBER:
        return None
    same = [key for key in numeric if _is_like(rows, key, value)]
    return same[0] if len(same) == 1 else None


def _cells(rows: Sequence[Statement], key: str) -> list[str]:
    return [cell.text for row in rows for cell in row.cells if cell.key == key]


def _is_numeric(rows: Sequence[Statement], key: str) -> bool:
    return any(_first(text) is not None for text in _cells(rows, key))


def _first(text: str) -> Value | None:
    """The number that a cell begins with."""
    value = next(iter(find_values(text)), None)
    return value if value is not None and not value.start and _amount(value) is not None else None


def _is_like(rows: Sequence[Statement], key: str, value: Value) -> bool:
    """Whether a column has values of the kind and unit of another one."""
    unit = unit_in(key)
    found = [one for text in _cells(rows, key) if (one := _first(text)) is not None]
    return any(
        (one.kind, one.unit) == (value.kind, value.unit)
        or (one.kind == NUMBER and unit is not None and (unit.kind, unit.name) == (value.kind, value.unit))
        for one in found
    )


def _named(key: str, question: Question) -> list[str]:
    """The words of a question that name a column."""
    parts = [word for word in content_words(key) if not word.isdigit()]
    return [word for word in question.words if any(alike(word, part) >= 0.75 for part in parts)]


def _places(key: str, question: Question) -> list[int]:
    folded = fold(question.text)
    return [place for word in _named(key, question) if (place := folded.find(word)) >= 0]


def _test(value: Value, text: str) -> object:
    before, behind = fold(text[max(0, value.start - 30) : value.start]), fold(text[value.stop : value.stop + 24])
    for test, pattern in reversed(_BEFORE):
        if match := pattern.search(before):
            return _INVERSE[test] if match["not"] else test
    return next((test for test, pattern in _BEHIND if pattern.match(behind)), eq)


def _signs(question: Question, value: Value) -> set[str]:
    """The words around a number that compare it."""
    around = tokens(question.text[max(0, value.start - 24) : value.start])
    known = {word for _, words, _ in _SIGNS for word in re.findall(r"\w+", words)}
    return {word for word in question.words if word in around and word in known}


def _holds(row: Statement, column: str, test: object, amount: Decimal | None) -> bool:
    text = next((cell.text for cell in row.cells if cell.key == column), "")
    value = _first(text)
    own = None if value is None else _amount(value)
    if own is None or amount is None:
        return False
    if test is None:
        return own != amount
    assert callable(test)
    return bool(test(own, amount))
