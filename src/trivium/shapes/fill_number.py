"""Numbers from the evidence, in the unit that the property names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from trivium.language.changed import asks_of_changes, differences, outdated
from trivium.language.former import asks_of_now
from trivium.language.languages import silent_words
from trivium.language.members import told_of
from trivium.language.ranges import ends_of_ranges, in_their_units, is_end_of_range, stands_behind
from trivium.language.statements import ROW
from trivium.language.units import Unit, brief_durations, converted, unit_in, unit_word, with_unit
from trivium.language.values import (
    DATE,
    DURATION,
    LABEL,
    MONEY,
    NUMBER,
    PERCENT,
    TIME,
    YEAR,
    Value,
    find_values,
    is_number_word,
)
from trivium.search.segment import fold
from trivium.shapes.fill_evidence import About, Candidate, Filled, Finder, decide
from trivium.shapes.property import Property, name_words
from trivium.shapes.shape import Validator


def fill_number(finder: Finder, wanted: Property, *, whole: bool) -> Filled:
    check = Validator(bounds(wanted.schema))
    candidates = [
        Candidate(number, about, score)
        for about in finder.about(wanted)
        for number, score in numbers_in(about, wanted, whole, finder)
        if check.conforms(number)
    ]
    return decide(candidates, wanted, finder.question)


def bounds(schema: dict[str, Any]) -> dict[str, Any]:
    kept = (
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "minLength",
        "maxLength",
    )
    return {key: schema[key] for key in kept if key in schema}


def numbers_in(
    about: About, wanted: Property, whole: bool, finder: Finder | None = None
) -> Iterator[tuple[int | float, float]]:
    """The numbers of a statement that a property may mean, each with a score; with a finder those of what is asked."""
    statement = about.statement
    if about.cell is not None:
        text, values = about.cell.text, find_values(about.cell.text, statement.language)
        near: list[int] = []
    else:
        text, values = statement.text, statement.values
        near = places_of(text, wanted)
    values = in_their_units(text, _in_their_units(values, text, about, wanted))
    alone = about.cell is not None and len(values) == 1 and values[0].stop - values[0].start == len(text)
    fitting = [value for value in values if _fits(value, wanted, alone) or _is_its_label(value, text, wanted)]
    stands = _that_stand(values, text, wanted, finder)
    bound = is_end_of_range(wanted.asked, text, stands)
    ends = [] if bound is not None else ends_of_ranges(text, stands)
    fitting = [value for value in fitting if value in stands]
    if about.cell is None and finder is not None and bound is None:
        fitting = _of_its_part(fitting, stands, text, wanted)
    ask = "" if finder is None else finder.question.text
    found: list[tuple[Decimal | None, float]] = []
    for value in [bound] if bound in fitting else _of_asked(fitting, text, wanted, finder):
        amount = _amount(value, text[value.start : value.stop], wanted)
        if amount is None:
            continue
        score = about.score - distance(value, near) + (0.1 if value.kind in wanted.kinds else 0.0)
        if about.cell is not None and text.startswith(text[value.start : value.stop]):
            score += 0.05
        own = value not in ends and (about.cell is not None or _is_of(value, text, wanted, ask))
        found.append(
            (amount if own and not (whole and amount != amount.to_integral_value()) else None, round(score, 6))
        )
    best = max((score for _, score in found), default=0.0)
    if any(score == best and amount is None for amount, score in found):
        return  # the value is no whole number, or not told exactly, and another one is of another thing
    yield from ((_plain(amount), score) for amount, score in found if amount is not None)


def _that_stand(values: list[Value], text: str, wanted: Property, finder: Finder | None) -> list[Value]:
    """The values without those that are told to be no more, and those by which something changed."""
    gone = outdated(text, values) if finder is None or asks_of_now(finder.question.text) else []
    if not asks_of_changes(*wanted.words, *wanted.described, "" if finder is None else finder.question.text):
        gone = [*gone, *differences(text, values)]
    return [value for value in values if value not in gone]


def _is_of(value: Value, text: str, wanted: Property, ask: str) -> bool:
    """Whether a value of a sentence may be the property's own.

    What stands behind a bare name such as `since` does. How many there are of something is a plain number (of `Visitors
    pay 14 pounds` none), and one that is told exactly: `more than 300 members` does not tell it.
    """
    if wanted.bare:
        return stands_behind(wanted.bare, text, value)
    if wanted.kinds:
        return True
    if value.kind == NUMBER:
        return _BEYOND.search(fold(text[max(0, value.start - 24) : value.start])) is None
    spent = value.kind in (MONEY, DURATION, PERCENT) and _PAYS.search(fold(text[: value.start]))
    return not (spent and wanted.words) or bool(_PAYS.search(fold(ask)))


def _of_its_part(fitting: list[Value], values: list[Value], text: str, wanted: Property) -> list[Value]:
    """Those of the fitting values that are said of the property: none where what is said of it is of another kind."""
    spans = [(value.start, value.stop) for value in values if value.amount is not None]
    own = told_of(text, spans, wanted.words) if wanted.words else None
    return fitting if own is None else [value for value in fitting if (value.start, value.stop) in own]


def _of_asked(values: list[Value], text: str, wanted: Property, finder: Finder | None) -> list[Value]:
    """Those of the values that are said of what is asked; a plain number has the unit of the value before it."""
    if len(values) < 2 or finder is None:
        return values
    own = finder.told_of(text, [(value.start, value.stop) for value in values], wanted)
    if len(own) == len(values):
        return values
    found, before = list[Value](), values[0]
    for value in values:
        if value.kind == NUMBER and before.unit:
            value = replace(value, kind=before.kind, unit=before.unit)
        before = value
        if (value.start, value.stop) in own:
            found.append(value)
    return found


def _in_their_units(values: list[Value], text: str, about: About, wanted: Property) -> list[Value]:
    """The values in the units that their column or key gives to bare numbers, and durations as settings write them."""
    if wanted.unit in _BRIEF_UNITS:
        brief = brief_durations(text)
        values = [value for value in values if all(value.stop <= one.start or one.stop <= value.start for one in brief)]
        values = sorted([*values, *brief], key=lambda value: value.start)
    unit = _unit_of_key(about, wanted)
    if unit is None:
        return [_counted_later(value, text, wanted) for value in values]
    return [with_unit(value, unit) if value.kind == NUMBER else value for value in values]


def _counted_later(value: Value, text: str, wanted: Property) -> Value:
    """A bare number with the unit that follows the words behind it: `5 unused days`."""
    if value.kind != NUMBER or not wanted.unit:
        return value
    behind = _BEHIND.match(text, value.stop)
    words = [] if behind is None else behind[0].split()
    for place, word in enumerate(words):
        if silent_words([fold(word)]) or is_number_word(word):
            break
        unit = unit_word(word) if place else None
        if unit is not None and unit.name == wanted.unit:
            return with_unit(value, unit)
    return value


def _unit_of_key(about: About, wanted: Property) -> Unit | None:
    """The unit that the key of a cell names, or that of the only number of a row whose first cell is the property."""
    if about.cell is not None:
        unit = unit_in(about.cell.key)
        own = wanted.unit and name_words(about.cell.key) in wanted.names
        return Unit(next(iter(wanted.kinds)), wanted.unit) if own and unit is None else unit
    cells = about.statement.cells
    if about.statement.kind != ROW or not wanted.unit or sum(cell.text[:1].isdigit() for cell in cells[1:]) != 1:
        return None
    return unit_in(cells[0].text) if name_words(cells[0].text) in wanted.names else None


def _fits(value: Value, wanted: Property, whole: bool) -> bool:
    """Whether a value may be what a property is; `whole`, where it is all that its cell says."""
    if wanted.kinds:
        if value.kind in wanted.kinds:
            return True
        if wanted.unit and value.unit and value.amount is not None:
            return converted(value.amount, value.unit, wanted.unit) is not None
        plain = value.kind == "number" and not wanted.unit
        return plain or (value.kind == PERCENT and MONEY in wanted.kinds and len(wanted.kinds) > 1)
    if wanted.dated and "number" not in wanted.types:
        return value.kind in (YEAR, DATE) or (whole and value.kind == NUMBER)
    return value.kind not in (LABEL, YEAR, DATE, TIME)


def _is_its_label(value: Value, text: str, wanted: Property) -> bool:
    """Whether a number stands right behind a word of the property that it numbers (`version 7`)."""
    before = fold(text[: value.start]).split()[-1:]
    return value.kind == LABEL and bool(before) and before[0].rstrip(".:") in wanted.words


def _amount(value: Value, text: str, wanted: Property) -> Decimal | None:
    """The number of a value in the unit that the property names; None where that cannot be told exactly."""
    if value.kind in (YEAR, DATE):
        return Decimal(value.iso[:4]) if value.iso[:4].isdigit() else None
    amount = value.amount
    if amount is None:
        return None
    if wanted.unit and value.unit != wanted.unit:
        return None if _WORKING.search(fold(text)) else converted(amount, value.unit, wanted.unit)
    if value.unit == "cent" and not wanted.unit:
        return None
    highest = wanted.schema.get("maximum")
    if value.kind == PERCENT and isinstance(highest, (int, float)) and highest <= 1:
        return amount / 100
    return amount


_BEYOND = re.compile(
    r"\b(?:more than|fewer than|less than|over|nearly|almost|mehr als|weniger als|uber|fast|plus de|moins de|presque"
    r"|mas de|menos de|casi|piu di|meno di|quasi|mais de|quase|meer dan|minder dan|bijna|более|менее|почти|больше"
    r"|меньше)\s*$|(?:超过|超過|不到|少于|多于|近)\s*$"
)
_BEHIND = re.compile(r"(?: [^\W\d_]+){2,3}")
_PAYS = re.compile(
    r"\b(?:pays?|paid|gets?|receives?|costs?|spends?|earns?|owes?|zahl\w+|bezahl\w+|bekomm\w+|erhal\w+|kriegen"
    r"|verdien\w+"
    r"|paient|paie|payent|recoi\w+|touchent|gagnent|pagan?|recib\w+|cobran?|ganan?|pagano|paga|ricev\w+|pagam|recebem?"
    r"|betal\w+|krijg\w+|ontvang\w+|плат\w+|получа\w+)\b|支付|付|获得|享有|领取"
)
"""What people do with money and time that is no number of them."""
_WORKING = re.compile(r"work|business|banking|werk|arbeits|ouvr|habil|laborabl|lavorativ|uteis|рабоч|工作|営業")
"""How days are told of which a week has not seven."""
_BRIEF_UNITS = frozenset(["ms", "second", "minute", "hour", "day", "week"])


def _plain(amount: Decimal) -> int | float:
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def places_of(text: str, wanted: Property) -> list[int]:
    """Where the words of a property stand in a text."""
    lowered = fold(text)
    found = []
    for word in wanted.words:
        stem = word if len(word) < 5 else word[: max(4, len(word) - 2)]
        at = lowered.find(stem)
        while at >= 0:
            found.append(at)
            at = lowered.find(stem, at + 1)
    return found


def distance(value: Value, near: list[int]) -> float:
    """A small penalty that grows with the distance from the property's words; those before it count as nearer."""
    if not near:
        return 0.0
    away = min((value.start - at) if at <= value.start else 1.5 * (at - value.stop + 1) for at in near)
    return min(away, 100) / 100 * 0.3
