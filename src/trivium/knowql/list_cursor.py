"""The cursors of lists: opaque texts for where the next page goes on (KnowQL reference 6.2)."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from trivium.knowql.errors import refusal


def to_cursor(place: str | int | None) -> str | None:
    """The cursor of a place; None after the last page.

    >>> from_cursor(to_cursor("contracts/äß.md"))
    'contracts/äß.md'
    """
    return None if place is None else base64.urlsafe_b64encode(str(place).encode()).decode().rstrip("=")


def from_cursor(cursor: Any, form: re.Pattern[str] | None = None) -> str:
    """The place that a cursor stands for, of this form; "" is the beginning. Raises: QueryError `invalid_value`."""
    if cursor is None:
        return ""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        place = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode("utf-8")
    except (AttributeError, TypeError, ValueError, binascii.Error):
        raise _wrong() from None
    if form is not None and not form.fullmatch(place):
        raise _wrong()
    return place


def _wrong() -> Exception:
    return refusal(
        "invalid_value",
        "cursor is none that a list has given.",
        param="cursor",
        hint="Send next_cursor of the page before, or leave it out for the first page.",
    )
