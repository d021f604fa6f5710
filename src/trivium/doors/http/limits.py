"""Numbers and cursors in query strings (KnowQL reference 0: one rule for all caps; 6.2: opaque cursors)."""

from __future__ import annotations

import base64
import binascii
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


def to_cursor(place: str | None) -> str | None:
    """An opaque text for where a list goes on; None after its last page.

    >>> from_cursor(to_cursor("contracts/äß.md"))
    'contracts/äß.md'
    """
    return None if place is None else base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def from_cursor(cursor: str | None) -> str:
    """The place that a cursor stands for; "" is the beginning. Raises: QueryError 400 `invalid_value`."""
    if cursor is None:
        return ""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode("utf-8")
    except (ValueError, binascii.Error):
        hint = "Send next_cursor of the page before, or leave it out for the first page."
        raise invalid("cursor", "cursor is none that a list has given.", hint) from None
