"""Folding the log into the file on a thread of its own, so that no commit waits for it."""

from __future__ import annotations

import threading
import time

import apsw

from trivium.store.fair_lock import FairLock

CHECKPOINT_PAGES = 1_000
"""Growth of the log after which it is folded into the file."""
LARGE_LOG = 16_000
"""Pages of a log that is emptied even if writers must wait a moment for it."""
QUIET_SECONDS = 20.0
"""After this time without growth, what is left in the log is folded as well."""


class Checkpointer:
    """The thread of one store, and what it knows of the log.

    It is woken when the log has grown by `CHECKPOINT_PAGES`, and looks again in quiet times as long as there is
    something to fold. Readers of old snapshots keep the log from beginning anew; a log that became large all the same
    is emptied by waiting for them, which makes writers wait too: for a second at most, and seldom.
    """

    def __init__(self, path: str, writers: FairLock) -> None:
        self._path = path
        self._writers = writers
        self._wanted = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._noticed = 0  # pages of the log when the thread was last woken
        self._unfolded = False  # something was written since the last run, or that run could not fold all
        self._next_emptying = 0.0

    def notice(self, connection: apsw.Connection, database: str, pages: int) -> int:
        """After each commit, with the pages that the log has now."""
        self._unfolded = True
        if pages < self._noticed:
            self._noticed = 0  # the log began anew
        if pages - self._noticed >= CHECKPOINT_PAGES and not self._stopping:
            self._noticed = pages
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="trivium-checkpoint", daemon=True)
                self._thread.start()
            self._wanted.set()
        return apsw.SQLITE_OK

    def _run(self) -> None:
        try:
            connection = apsw.Connection(self._path)
            connection.pragma("user_version")  # only a connection that has read knows that there is a log to fold
        except apsw.Error:  # too many open files, for example: the next notice tries again
            self._thread = None
            return
        while not self._stopping:
            asked = self._wanted.wait(QUIET_SECONDS)
            self._wanted.clear()
            if (asked or self._unfolded) and not self._stopping:
                self.fold(connection)
        connection.close()

    def fold(self, connection: apsw.Connection) -> None:
        """Fold what can be folded without making anyone wait, and empty a log that is large."""
        self._unfolded = False
        try:
            total, done = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if total >= LARGE_LOG and time.monotonic() >= self._next_emptying:
                self._next_emptying = time.monotonic() + 10.0
                total, done = self._empty(connection) or (total, done)
        except apsw.Error:  # busy or full: the log keeps everything
            total, done = 1, 0
        if done < total or total >= LARGE_LOG:
            self._unfolded = True

    def _empty(self, connection: apsw.Connection) -> tuple[int, int] | None:
        """Fold all and cut the log to nothing, in turn with the writers of this process."""
        if not self._writers.acquire(1.0):
            return None
        end = time.monotonic() + 1.0

        def wait(tries: int) -> bool:
            time.sleep(0.001)
            return not self._stopping and time.monotonic() < end

        try:
            connection.set_busy_handler(wait)
            return connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            self._writers.release()

    def stop(self) -> None:
        self._stopping = True
        self._wanted.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
