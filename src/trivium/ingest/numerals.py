"""Numbers as the lists and headings of office programs write them."""

from __future__ import annotations

from collections.abc import Callable

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_ROMAN, _MOST_REPEATS, _MOST_CHINESE = 3_999, 20, 9_999
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"
_STEMS, _ELEMENTS = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_CHINESE = "〇一二三四五六七八九"


def numeral(number: int, form: str) -> str:
    """A number in a form of the Office formats (`ST_NumberFormat`); in digits where the form is not known.

    >>> [numeral(4, form) for form in ("decimal", "upperRoman", "lowerLetter", "decimalZero", "ordinal", "bullet")]
    ['4', 'IV', 'd', '04', '4th', '']
    """
    write = _FORMS.get(form)
    return str(number) if write is None else write(number)


def _roman(number: int) -> str:
    if not 0 < number <= _MOST_ROMAN:
        return str(number)
    parts = []
    for value, letters in _ROMAN:
        parts.append(letters * (number // value))
        number %= value
    return "".join(parts)


def _lettered(alphabet: str) -> Callable[[int], str]:
    """Letters, which are repeated after the last one: a … z, aa, bb."""

    def write(number: int) -> str:
        times, place = divmod(number - 1, len(alphabet))
        return alphabet[place] * (times + 1) if 0 <= times < _MOST_REPEATS else str(number)

    return write


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _circled(number: int) -> str:
    return chr(0x245F + number) if 0 < number <= 20 else str(number)


def _chinese(number: int) -> str:
    """
    >>> _chinese(10), _chinese(21), _chinese(105)
    ('十', '二十一', '一百〇五')
    """
    if not 0 < number <= _MOST_CHINESE:
        return str(number)
    parts: list[str] = []
    for unit, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            parts.append(("" if number < 20 and unit == 10 else _CHINESE[digit]) + sign)
        elif parts and parts[-1] != _CHINESE[0] and number % unit:
            parts.append(_CHINESE[0])
    return "".join(parts)


def _capital(write: Callable[[int], str]) -> Callable[[int], str]:
    return lambda number: write(number).upper()


_FORMS: dict[str, Callable[[int], str]] = {
    "none": lambda number: "",
    "bullet": lambda number: "",
    "decimalZero": lambda number: f"{number:02}",
    "lowerRoman": _roman,
    "upperRoman": _capital(_roman),
    "lowerLetter": _lettered(_LATIN),
    "upperLetter": _capital(_lettered(_LATIN)),
    "russianLower": _lettered(_RUSSIAN),
    "russianUpper": _capital(_lettered(_RUSSIAN)),
    "ordinal": _ordinal,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "ideographTraditional": _lettered(_STEMS),
    "ideographZodiac": _lettered(_ELEMENTS),
    **{f"{kind}Counting{most}": _chinese for kind in ("chinese", "japanese", "taiwanese") for most in ("", "Thousand")},
}
