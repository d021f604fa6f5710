"""Numbers and flags in query strings (KnowQL reference 0: one rule for all caps)."""

from __future__ import annotations

import re

from trivium.doors.http.faults import invalid

_WHOLE = re.compile(r"-?[0-9]{1,1000}")


def whole_number(name: str, text: str | None, default: int, most: int, least: int = 1) -> int:
    """An integer from `least`; above `most` it is `most`. Raises: QueryError 400 `invalid_value`."""
    if text is None:
        return default
    if not _WHOLE.fullmatch(text) or int(text) < least:
        message = f"{name} must be a whole number from {least}, not {text[:80]!r}."
        raise invalid(name, message, f"Leave it out for {default}; the most is {most}.")
    return min(int(text), most)


def flag(name: str, text: str | None) -> bool:
    """`true` or `false`; absent is false. Raises: QueryError 400 `invalid_value`."""
    if text not in (None, "true", "false"):
        raise invalid(name, f"{name} must be true or false, not {text[:80]!r}.", "Leave it out for false.")
    return text == "true"
