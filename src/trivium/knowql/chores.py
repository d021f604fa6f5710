"""Calls that may wait for the store, one after another, on one thread that lives as long as there are any."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

log = logging.getLogger("trivium.turns")


class Chores:
    """What a `Ticker` hands on, so that it is never late itself."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._mutex = threading.Lock()
        self._calls: deque[Callable[[], None]] = deque()
        self._running = False

    def do(self, call: Callable[[], None]) -> None:
        """Call it in its turn; whoever asks for that waits for nothing."""
        with self._mutex:
            self._calls.append(call)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def clear(self) -> None:
        """Forget what has not been called yet."""
        with self._mutex:
            self._calls.clear()

    def _run(self) -> None:
        while True:
            with self._mutex:
                if not self._calls:
                    self._running = False
                    return
                call = self._calls.popleft()
            try:
                call()
            except Exception:
                log.exception("a call of %s failed", self._name)
