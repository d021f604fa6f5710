"""New identifiers, from an injected clock and an injected source of randomness."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class Ids:
    """Makes ULIDs (sortable by creation, also within one millisecond of one process) and UUIDs."""

    def __init__(self, clock: Callable[[], str], randomness: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._random = randomness
        self._mutex = threading.Lock()
        self._last = (-1, 0)

    def ulid(self, prefix: str) -> str:
        """`prefix` and 26 lower-case Crockford characters: 48 bits of milliseconds, 80 of randomness."""
        with self._mutex:
            moment = max(milliseconds(self._clock()), self._last[0])
            number = int.from_bytes(self._random(10), "big") >> 1
            if moment == self._last[0]:
                number = self._last[1] + 1
            self._last = (moment, number)
        value = moment << 80 | number
        return prefix + "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))

    def uuid(self) -> str:
        """A random UUID (version 4)."""
        import uuid

        return str(uuid.UUID(bytes=self._random(16), version=4))


def milliseconds(moment: str) -> int:
    """Milliseconds since the epoch of an RFC 3339 text; without an offset it is UTC."""
    text = moment if moment[-1] == "Z" or "+" in moment[10:] or "-" in moment[10:] else moment + "Z"
    return round(datetime.fromisoformat(text).timestamp() * 1_000)
