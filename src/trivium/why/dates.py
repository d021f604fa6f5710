"""Whether a text is a date, in the languages that records use (reference 4.1)."""

from __future__ import annotations

import re

_MAX_DATE = 40
_MAX_WORDS = 4
_NUMBERS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+")
_TEXT = re.compile(r"(?:[^\W\d_]{1,12}|\d{1,4}|[\s.,/:()+-])+")
_YEAR = re.compile(r"(?<!\d)(?:19|20|21)\d\d(?!\d)")
_UNITS = frozenset("年月日號号년월일")
_MONTH = re.compile(
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|fév|fev|avr|jui|aoû|déc|ene|abr|ago|dic|set|out"
    "|gen|mag|giu|lug|ott|янв|фев|мар|апр|май|мая|июн|июл|авг|сен|окт|ноя|дек",
    re.IGNORECASE,
)
"""How the names of months begin."""


def looks_like_date(text: str) -> bool:
    """Whether a text is a date and little else: a year with a month or day, in numbers or with the month's name.

    >>> looks_like_date("12 de marzo de 2026"), looks_like_date("2026年1月2日"), looks_like_date("3 tables since 2026")
    (True, True, False)
    """
    if len(text) > _MAX_DATE or _TEXT.fullmatch(text) is None or _YEAR.search(text) is None:
        return False
    words = [word for word in _WORDS.findall(text) if len(word) > 1 and not _UNITS.issuperset(word)]
    if words:
        return len(words) <= _MAX_WORDS and any(_MONTH.match(word) for word in words)
    return len(_NUMBERS.findall(text)) > 1
