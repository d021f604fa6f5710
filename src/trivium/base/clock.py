"""The time that a knowledge base writes down."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache

from trivium.errors import KipError, StoreError

Clock = Callable[[], str]


def utc_now() -> str:
    """The current time as RFC 3339 UTC text with milliseconds."""
    milliseconds = time.time_ns() // 1_000_000
    return f"{_second(milliseconds // 1_000)}.{milliseconds % 1_000:03d}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def checked_clock(clock: Clock | None) -> Clock:
    """A clock that never gives anything but a time. Raises: TypeError, StoreError, before anything is opened."""
    if clock is None:
        return utc_now
    if not callable(clock):
        raise TypeError(f"clock must be a function that gives the current time as ISO 8601 text, not {clock!r}.")
    from datetime import datetime

    def read() -> str:
        try:
            moment = clock()
        except Exception as error:
            raise _clock_error(f"raised {type(error).__name__}: {error}") from error
        try:
            datetime.fromisoformat(moment)
        except (TypeError, ValueError):
            raise _clock_error(f"gave {moment!r}") from None
        return moment

    try:
        read()
    except KipError as error:
        raise StoreError(error.message, error.hint) from error.__cause__
    return read


def _clock_error(what: str) -> KipError:
    return KipError(
        "KIP_4003",
        f"The clock given to trivium.open {what}.",
        "It must give the current time as ISO 8601 text, such as '2026-08-01T12:00:00.000Z'.",
    )
