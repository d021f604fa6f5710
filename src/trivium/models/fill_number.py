"""Numbers from the evidence, in the unit that the property names."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from trivium.models.changed import outdated
from trivium.models.fill_evidence import About, Candidate, Filled, Finder, decide
from trivium.models.former import asks_of_now
from trivium.models.property import Property
from trivium.models.ranges import is_end_of_range
from trivium.models.shape import Validator
from trivium.models.values import DATE, DURATION, LABEL, MONEY, NUMBER, PERCENT, TIME, YEAR, Value, find_values
from trivium.search.segment import fold


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
    fitting = [value for value in values if _fits(value, wanted) or _is_its_label(value, text, wanted)]
    if finder is None or asks_of_now(finder.question.text):
        old = outdated(text, values)
        fitting = [value for value in fitting if value not in old]
    bound = is_end_of_range(wanted.words, text, values)
    for value in [bound] if bound in fitting else _of_asked(fitting, text, wanted, finder):
        amount = _amount(value, wanted)
        if amount is None or (whole and amount != amount.to_integral_value()):
            continue
        score = about.score - distance(value, near) + (0.1 if value.kind in wanted.kinds else 0.0)
        if about.cell is not None and text.startswith(text[value.start : value.stop]):
            score += 0.05
        yield _plain(amount), round(score, 6)


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


def _fits(value: Value, wanted: Property) -> bool:
    if wanted.kinds:
        if value.kind in wanted.kinds:
            return True
        plain = value.kind == "number" and not wanted.unit
        return plain or (value.kind == PERCENT and MONEY in wanted.kinds and len(wanted.kinds) > 1)
    if wanted.dated and "number" not in wanted.types:
        return value.kind in (YEAR, DATE)
    return value.kind not in (LABEL, YEAR, DATE, TIME)


def _is_its_label(value: Value, text: str, wanted: Property) -> bool:
    """Whether a number stands right behind a word of the property that it numbers (`version 7`)."""
    before = fold(text[: value.start]).split()[-1:]
    return value.kind == LABEL and bool(before) and before[0].rstrip(".:") in wanted.words


def _amount(value: Value, wanted: Property) -> Decimal | None:
    """The number of a value in the unit that the property names; None where that cannot be told exactly."""
    if value.kind in (YEAR, DATE):
        return Decimal(value.iso[:4]) if value.iso[:4].isdigit() else None
    amount = value.amount
    if amount is None:
        return None
    if wanted.unit and value.unit != wanted.unit:
        factor = _CONVERSIONS.get((value.unit, wanted.unit)) if value.kind == DURATION else None
        return None if factor is None else amount * factor
    highest = wanted.schema.get("maximum")
    if value.kind == PERCENT and isinstance(highest, (int, float)) and highest <= 1:
        return amount / 100
    return amount


_CONVERSIONS = {
    ("week", "day"): Decimal(7), ("year", "month"): Decimal(12), ("day", "hour"): Decimal(24),
    ("hour", "minute"): Decimal(60), ("minute", "second"): Decimal(60), ("hour", "second"): Decimal(3600),
}  # fmt: skip


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
