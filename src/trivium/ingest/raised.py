"""Numbers that stand above or below the line: without a sign of it `10⁶` would be read as 106."""

from __future__ import annotations

_ABOVE = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_BELOW = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


def above(text: str) -> str:
    """A text that stands above the line; other than numbers, signs, n and i it stays as it is.

    >>> above("6"), above("-3"), above("th")
    ('⁶', '⁻³', 'th')
    """
    return _set(text, _ABOVE)


def below(text: str) -> str:
    """As `above`, below the line.

    >>> below("2"), below("max")
    ('₂', 'max')
    """
    return _set(text, _BELOW)


def _set(text: str, signs: dict[int, int]) -> str:
    return text.translate(signs) if all(ord(char) in signs for char in text) else text
