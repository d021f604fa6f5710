"""Dates as files state them, as RFC 3339 texts or plain days."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_IN_PATH = re.compile(r"(?<![\d.-])((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?![\d-])")
_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")


def as_date(text: str | None) -> str | None:
    """A day (`2026-02-03`) or a moment in UTC (`2026-02-03T10:00:00Z`) of a text that begins with one, else None.

    >>> as_date("2026-02-03 10:00:00+02:00"), as_date("2026/2/3"), as_date("soon")
    ('2026-02-03T08:00:00Z', '2026-02-03', None)
    """
    if not text:
        return None
    text = text.strip()
    match = _DAY.match(text)
    if match is None:
        return None
    try:
        day = datetime(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    if match.end() < len(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return day.date().isoformat()
        return as_moment(moment)
    return day.date().isoformat()


def as_moment(moment: datetime | None) -> str | None:
    """A point in time as RFC 3339 text in UTC; one without a zone is taken as UTC."""
    if moment is None:
        return None
    try:
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (OverflowError, ValueError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year >= 1000 else None


def of_timestamp(seconds: float) -> str | None:
    """A file's modification time."""
    try:
        return as_moment(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def date_in_path(path: str) -> str | None:
    """The last day that a path names, year first; what merely looks like one is none.

    >>> date_in_path("minutes/2024-06-10 board.md"), date_in_path("IMG_20240610.txt"), date_in_path("2024-13-01.md")
    ('2024-06-10', '2024-06-10', None)
    """
    days = (as_date(f"{match[1]}-{match[3]}-{match[4]}") for match in _IN_PATH.finditer(path))
    return next(filter(None, reversed(list(days))), None)
