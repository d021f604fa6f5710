"""Numbers of JSON texts that arrive at a door."""

from __future__ import annotations

MAX_DIGITS = 400
"""Digits of a whole number: far more than anybody counts to, and far fewer than what is slow to read."""


def whole_number(digits: str) -> int:
    """A `parse_int` for `json.loads`. Raises: ValueError for more digits than are read.

    >>> whole_number("-12")
    -12
    """
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"it holds a whole number of {len(digits)} digits, which has to be passed as text")
    return int(digits)
