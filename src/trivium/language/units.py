"""Units: which one a name gives to its numbers (`monthly_fee_eur`, `Price (EUR)`), and what one is in another.

Only what is exact is converted: 90 minutes are 1.5 hours, but a month has no number of days, and nobody's `MB` tells
whether it is a thousand or 1024 `kB`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from trivium.language.values import DURATION, MEASURE, MONEY, NUMBER, PERCENT, Value, find_values
from trivium.search.segment import fold

_UNITED = (DURATION, MEASURE, MONEY, PERCENT)
_INSIDE = re.compile(r"[(\[（【]\s*(?:in\s+)?(?P<text>[^()\[\]（）【】]{1,24}?)\s*[)\]）】]\s*$", re.IGNORECASE)
_SIGN = re.compile(r"[$€£¥₽₹₪%％]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PER = re.compile(r"(?:per|pro|je|par|por|al|alla|/|за)", re.IGNORECASE)
_ONE = frozenset(
    fold(
        "second minute hour day week month year sekunde minuten stunde tag woche monat jahr segundo minuto hora dia"
        " semana mes ano seconde heure jour semaine an annee secondo ora giorno settimana mese anno uur dag maand jaar"
        " день неделя месяц год degrees bit"
    ).split()
) - {"minuten"}
"""Words that name a point or a kind of time rather than a unit: `invoice_day`, `birth year`."""
_SCALES_ALONE = {
    word: Decimal(factor)
    for factor, words in (
        (10**3, "thousand thousands k t tsd tausend miles milliers migliaia milhares duizend тыс тысяч 千"),
        (10**4, "万 萬"),
        (10**6, "million millions mio mn millionen millones milioni milhoes miljoen млн 百万"),
        (10**9, "billion billions bn mrd milliarden milliards miliardi miljard млрд"),
    )
    for word in fold(words).split()
}
"""What a header gives to its numbers without a unit: `Population (thousands)`."""
_LETTERS = {
    "s": (DURATION, "second"),
    "sek": (DURATION, "second"),
    "h": (DURATION, "hour"),
    "d": (DURATION, "day"),
    "tage": (DURATION, "day"),
    "℃": (MEASURE, "°c"),
    "cent": (MONEY, "cent"),
    "cents": (MONEY, "cent"),
}
_BRIEF = re.compile(
    r"(?<![\w.,:])(?P<number>\d+(?:\.\d+)?)(?:\s?(?P<unit>ms|s|sec|min|h|d)|(?P<tight>m|w))(?![\w²³/]|\.\w)"
)
"""A single `m` or `w` may also be metres or watts: only what stands alone in its cell tells."""
_BRIEF_UNITS = {
    "s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week", "ms": "ms",
}  # fmt: skip


class Unit(Struct, frozen=True):
    """What a bare number is: `factor` of a unit, such as a million euros."""

    kind: str
    name: str
    factor: Decimal = Decimal(1)


@lru_cache(maxsize=4096)
def unit_word(word: str) -> Unit | None:
    """The unit that a word, or a few such as `million EUR`, names.

    >>> unit_word("eur"), unit_word("day")
    (Unit(kind='money', name='EUR', factor=Decimal('1')), None)
    """
    folded = fold(word).strip(" .")
    if folded in _LETTERS:
        return Unit(*_LETTERS[folded])
    if not folded or folded in _ONE or folded[0].isdigit():
        return None
    value = next(iter(find_values(f"1 {folded}")), None)
    if value is None or value.start or value.kind not in _UNITED or value.amount is None:
        return None
    rest = f"1 {folded}"[value.stop :]
    whole = not rest or not (rest[0].isalnum() or rest[0] == "_")
    return Unit(value.kind, value.unit, value.amount) if whole else None


def _scaled(text: str) -> Unit | None:
    """A currency with a scale beside it: `k€`, `Mio. EUR`, `$m`."""
    words = [word for word in re.split(r"[\s.]+|(?<=[^\W\d_])(?=[$€£¥₽₹₪])|(?<=[$€£¥₽₹₪])(?=\w)", text.strip()) if word]
    if len(words) != 2:
        return None
    for scale, currency in (words, reversed(words)):
        factor = Decimal(10**6) if scale in ("M", "m") else _SCALES_ALONE.get(fold(scale))
        unit = unit_word(currency)
        if factor is not None and unit is not None and unit.kind == MONEY:
            return Unit(MONEY, unit.name, factor)
    return None


@lru_cache(maxsize=4096)
def unit_in(key: str) -> Unit | None:
    """The unit that a column, a key or a property gives to its numbers; None where it names none.

    >>> [unit.name for unit in map(unit_in, ("monthly_fee_eur", "Price (EUR)", "Preis in €", "timeoutMs")) if unit]
    ['EUR', 'EUR', 'EUR', 'ms']
    >>> [str(unit.factor) for unit in map(unit_in, ("Salaire (k€)", "Umsatz in Mio. €", "Revenue ($m)")) if unit]
    ['1000', '1000000', '1000000']
    >>> unit_in("invoice_day"), unit_in("Price per kg"), unit_in("price")
    (None, None, None)
    """
    if match := _INSIDE.search(key):
        alone = _SCALES_ALONE.get(fold(match["text"]).strip(" ."))
        unit = Unit(NUMBER, "", alone) if alone is not None else unit_word(match["text"]) or _scaled(match["text"])
        if unit is not None:
            return unit
    if sign := _SIGN.search(key):
        scaled = re.search(rf"\w*\.?\s?{re.escape(sign[0])}\s?\w*", key)
        beside = scaled is not None and (unit := _scaled(scaled[0])) is not None
        return unit if beside else unit_word(sign[0].replace("％", "%"))
    words = re.split(r"[\s_./-]+", _CAMEL.sub(" ", key).strip(" :"))
    if len(words) < 2 or _PER.fullmatch(words[-2]) or fold(words[-1]) == "min":
        return None
    if len(words[-1]) == 1 and " " in key.strip():
        return None
    return unit_word(words[-1])


def with_unit(value: Value, unit: Unit) -> Value:
    """A bare number as the quantity that its column or key tells it to be."""
    assert value.amount is not None
    return Value(unit.kind, value.start, value.stop, value.amount * unit.factor, unit.name)


def brief_durations(text: str) -> list[Value]:
    """Durations as settings write them: `45s`, `2h`, `500 ms`.

    >>> [(str(value.amount), value.unit) for value in brief_durations("45s, 500ms, 5 m, 3 kg")]
    [('45', 'second'), ('500', 'ms')]
    >>> [(str(value.amount), value.unit) for value in brief_durations("2m")]
    [('2', 'minute')]
    """
    return [
        Value(DURATION, match.start(), match.end(), Decimal(match["number"]), _BRIEF_UNITS[match[2] or match[3]])
        for match in _BRIEF.finditer(text)
        if match["unit"] or match[0] == text.strip()
    ]


_SCALES: tuple[dict[str, str], ...] = (
    {"ms": "0.001", "second": "1", "minute": "60", "hour": "3600", "day": "86400", "week": "604800"},
    {"month": "1", "year": "12"},
    {"nm": "0.000000001", "mm": "0.001", "cm": "0.01", "m": "1", "km": "1000"},
    {"mg": "0.001", "g": "1", "kg": "1000", "t": "1000000"},
    {"ml": "0.001", "l": "1"},
    {"bytes": "1", "kib": "1024", "mib": "1048576", "gib": "1073741824"},
    {"w": "1", "kw": "1000"},
    {"v": "1", "kv": "1000"},
    {"hz": "1", "khz": "1000", "mhz": "1000000", "ghz": "1000000000"},
    {"kbit": "1000", "mbit": "1000000", "gbit": "1000000000"},
    {"kbit/s": "1", "mbit/s": "1000", "mbps": "1000", "gbit/s": "1000000", "gbps": "1000000"},
    {"kwh": "1", "mwh": "1000"},
)
_FACTORS = {unit: (place, Decimal(factor)) for place, scale in enumerate(_SCALES) for unit, factor in scale.items()}
_MOST_PLACES = 6


def converted(amount: Decimal, unit: str, into: str) -> Decimal | None:
    """An amount in another unit; None where it has no exact one.

    >>> [str(converted(Decimal(amount), *units)) for amount, *units in
    ...  [(2, "week", "day"), (90, "minute", "hour"), (10, "day", "week"), (2, "month", "day"), (5, "EUR", "USD")]]
    ['14', '1.5', 'None', 'None', 'None']
    """
    if unit == into:
        return amount
    scale, factor = _FACTORS.get(unit, (-1, Decimal(1)))
    other, divisor = _FACTORS.get(into, (-2, Decimal(1)))
    if scale != other:
        return None
    number = (amount * factor / divisor).normalize()
    exact = number * divisor == amount * factor and -int(number.as_tuple().exponent) <= _MOST_PLACES
    return Decimal(f"{number:f}") if exact else None
