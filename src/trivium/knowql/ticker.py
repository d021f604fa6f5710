"""Calls at given moments, on one thread that lives as long as there are any."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("trivium.turns")


class Ticker:
    """Calls functions at moments of `time.monotonic`, one after the other; each must be quick: none uses the store."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._calls: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._running = False

    def at(self, moment: float, call: Callable[[], None]) -> None:
        with self._changed:
            heapq.heappush(self._calls, (moment, next(self._numbers), call))
            self._changed.notify()
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def clear(self) -> None:
        """Forget what has not been called yet."""
        with self._changed:
            self._calls.clear()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._calls and (wait := self._calls[0][0] - time.monotonic()) > 0:
                    self._changed.wait(wait)
                if not self._calls:
                    self._running = False
                    return
                _, _, call = heapq.heappop(self._calls)
            try:
                call()
            except Exception:
                log.exception("a call of %s failed", self._name)
