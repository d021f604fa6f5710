"""Following a turn: its stored events, then those to come (KnowQL reference 7.2, 7.3).

Threads of the process that runs the turn are told of news by a bell; others look at the store again and again. What
is told always comes from the store, so a replay and a live stream are the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from trivium.knowql.ending import TERMINAL

POLL_SECONDS = 0.2
"""How often a turn of another process is looked at."""
OWN_POLL_SECONDS = 1.0
"""How often one of this process is looked at when no bell rang."""

Numbered = tuple[int, str, dict[str, Any]]


class Look(Struct):
    """What one look at the store found: new events, whether the turn is still there and running, and running here."""

    events: list[Numbered]
    exists: bool
    is_running: bool
    is_own: bool


class Hub:
    """Rings the bells of those who listen for a turn in this process."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._bells: dict[str, list[threading.Event]] = {}

    def ring(self, query_id: str) -> None:
        with self._mutex:
            for bell in self._bells.get(query_id, ()):
                bell.set()

    @contextmanager
    def listening(self, query_id: str) -> Iterator[threading.Event]:
        bell = threading.Event()
        with self._mutex:
            self._bells.setdefault(query_id, []).append(bell)
        try:
            yield bell
        finally:
            with self._mutex:
                bells = self._bells[query_id]
                bells.remove(bell)
                if not bells:
                    del self._bells[query_id]

    def has_listeners(self, query_id: str) -> bool:
        with self._mutex:
            return query_id in self._bells


def follow(hub: Hub, query_id: str, after: int, look: Callable[[int], Look]) -> Iterator[Numbered | None]:
    """The events behind number `after`, ending after the terminal one; None whenever a look found nothing new.

    A turn that is deleted while it is followed ends as cancelled.
    """
    with hub.listening(query_id) as bell:
        while True:
            bell.clear()
            seen = look(after)
            for event in seen.events:
                after = event[0]
                yield event
                if event[1] in TERMINAL:
                    return
            if not seen.exists:
                error = "cancelled: its session was deleted"
                yield (
                    after + 1,
                    "response.cancelled",
                    {"type": "response.cancelled", "query_id": query_id, "error": error},
                )
                return
            if not seen.is_running and not seen.events:
                return
            if not bell.wait(OWN_POLL_SECONDS if seen.is_own else POLL_SECONDS):
                yield None
