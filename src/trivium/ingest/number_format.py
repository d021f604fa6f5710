"""What a spreadsheet shows of a number: leading zeros, percents, units, hours. Digits are never rounded away."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from unicodedata import category

from msgspec import Struct

_QUOTED = re.compile(r'"([^"]*)"')
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_CONDITION = re.compile(r"\[[<>=]")
_FILLING = re.compile(r"[_*].|[()]")
_PADDED = re.compile(r"0(?:[- /.]?0)+")
_DIGITS = re.compile(r"[0#?]")


class _Shown(Struct, frozen=True):
    """What stands before and behind a number, by how much it is multiplied, and the places of its digits."""

    before: str = ""
    behind: str = ""
    factor: int = 1
    places: str = ""


def shown_number(value: float, format_: str) -> str:
    """A number in the way of its format, as far as that changes what it says.

    >>> shown_number(1234, "00000"), shown_number(0.155, "0%"), shown_number(5, "[$€-407]#,##0"), shown_number(1.5, "0")
    ('01234', '15.5%', '€5', '1.5')
    """
    shown = _read(format_)
    if shown.factor != 1:
        value = round(value * shown.factor, 10)
    whole = float(value).is_integer() and abs(value) < 1e15
    text = str(int(value)) if whole else repr(value)
    if shown.places and whole and value >= 0:
        text = _filled(text, shown.places)
    minus = "-" if text.startswith("-") else ""
    return f"{minus}{shown.before}{text.removeprefix('-')}{shown.behind}"


def shown_duration(value: timedelta) -> str:
    """Hours, minutes and, if there are any, seconds.

    >>> shown_duration(timedelta(days=1, hours=1, minutes=59, seconds=59, milliseconds=997))
    '26:00'
    """
    seconds = round(value.total_seconds())
    minutes, rest = divmod(abs(seconds), 60)
    sign = "-" if seconds < 0 else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")


@lru_cache(maxsize=512)
def _read(format_: str) -> _Shown:
    first = format_.partition(";")[0]
    plain = _BRACKETS.sub("", _CURRENCY.sub(r'"\1"', first))
    plain = _FILLING.sub("", plain).replace("\\", "")
    words = _QUOTED.sub(r"\1", plain).strip()
    if _PADDED.fullmatch(words) and "." not in words.partition("0")[2].rstrip("0"):
        return _Shown(places=words)
    digits = [found.start() for found in _DIGITS.finditer(words)]
    if not digits:
        return _Shown()
    before, behind = words[: digits[0]], words[digits[-1] + 1 :]
    if behind.startswith(",") or _CONDITION.search(format_):
        return _Shown()  # thousands or millions: all digits tell more
    return _Shown(_telling(before), _telling(behind), 100 if "%" in behind else 1)


def _telling(text: str) -> str:
    """What is written beside a number, if it is more than signs."""
    return text if any(character.isalpha() or category(character) in ("Sc", "Po", "So") for character in text) else ""


def _filled(digits: str, places: str) -> str:
    """The digits in their places from the right, zeros where there are none; more digits than places stand in front."""
    wanted = places.count("0")
    digits = digits.zfill(wanted)
    front, rest = digits[: len(digits) - wanted], iter(digits[len(digits) - wanted :])
    return front + "".join(next(rest) if place == "0" else place for place in places)
