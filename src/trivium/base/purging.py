"""Removing what deleted contexts held, in steps so short that others hardly wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from trivium.errors import TriviumError
from trivium.store import contexts
from trivium.store.sqlite import SqliteStore

PURGE_ROWS = 2_000
"""About how many rows go in one step."""
PATIENCE = 5.0


class Purger:
    """Removes what is left of deleted contexts: at once, or in the background when a deletion was cut short."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def run(self) -> None:
        """Here and now, until nothing is left."""
        for _ in self._steps():
            pass

    def start(self) -> None:
        """In the background; what cannot be removed now waits for the next deletion or opening."""
        self._thread = threading.Thread(target=self._work, name="trivium-purge", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the background; before the store is closed."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def _work(self) -> None:
        begun = time.monotonic()
        try:
            for _ in self._steps():
                if self._stopping.wait(time.monotonic() - begun):  # as long a rest as the step took
                    return
                begun = time.monotonic()
        except TriviumError:  # busy, full or closed
            return

    def _steps(self) -> Iterator[None]:
        with self._store.read() as session:
            left = contexts.removed(session)
        for number in left:
            more = True
            while more:
                with self._store.write(timeout=120) as session:
                    more = contexts.purge(session, number, PURGE_ROWS)
                yield
