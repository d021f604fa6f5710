"""Who runs tasks and turns: one row for each knowledge base that is open and has such work, with a lease.

A task or turn names its worker. When the worker is gone (its lease ran out, or its process on this host ended), what
it left unfinished has failed, and whoever notices says so. `Worker` is the working side: it registers when its `id` is
first asked for, renews the lease on a thread of its own, and leaves when it is stopped.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from trivium.errors import TriviumError
from trivium.store.sqlite import Session, SqliteStore

LEASE_MS = 60_000
"""How long a worker that says nothing counts as alive, unless its process is seen to be gone."""
RENEWAL_SECONDS = 15.0


def register(session: Session, id_: str, host: str, pid: int, started: str, lease_until: int) -> None:
    """Enter a worker. `started` tells its process from a later one of the same number; the lease is in ms of 1970."""
    session.execute("INSERT OR REPLACE INTO worker VALUES (?, ?, ?, ?, ?)", (id_, host, pid, started, lease_until))


def renew(session: Session, id_: str, lease_until: int) -> bool:
    """Move the end of a lease; False when the worker is not registered."""
    session.execute("UPDATE worker SET lease_until = ? WHERE id = ?", (lease_until, id_))
    return session.connection.changes() > 0


def leave(session: Session, id_: str) -> None:
    session.execute("DELETE FROM worker WHERE id = ?", (id_,))


def is_alive(session: Session, id_: str | None, now: int) -> bool:
    """Whether a worker may still be at work; `now` in ms since 1970."""
    row = session.row("SELECT host, pid, started, lease_until FROM worker WHERE id = ?", (id_,))
    return row is not None and _lives(row, now)


def sweep(session: Session, now: int) -> list[str]:
    """Remove the workers that are gone; gives their ids."""
    rows = session.rows("SELECT id, host, pid, started, lease_until FROM worker")
    gone = [id_ for id_, *facts in rows if not _lives(facts, now)]
    for id_ in gone:
        leave(session, id_)
    return gone


def now_ms() -> int:
    """The time by which leases are kept: that of the machine, whatever clock the knowledge base was given."""
    return time.time_ns() // 1_000_000


def host_name() -> str:
    return socket.gethostname()


def process_started(pid: int) -> str:
    """What tells this process from another of the same number; empty where the system does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _lives(facts: Sequence[Any], now: int) -> bool:
    host, pid, started, lease_until = facts
    if lease_until < now:
        return False
    if host != host_name():
        return True
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return process_started(pid) == str(started)


class Worker:
    """This knowledge base as a worker. Thread-safe."""

    def __init__(self, store: SqliteStore, new_id: Callable[[str], str]) -> None:
        self._store = store
        self._new_id = new_id
        self._mutex = threading.Lock()
        self._id: str | None = None
        self._stopping = threading.Event()

    @property
    def id(self) -> str:
        """The worker's id; registered since it was first asked for."""
        with self._mutex:
            if self._id is None:
                id_ = self._new_id("wrk_")
                self._register(id_)
                self._id = id_
                threading.Thread(target=self._renew, name="trivium-lease", daemon=True).start()
            return self._id

    def _register(self, id_: str) -> None:
        pid = os.getpid()
        with self._store.write() as session:
            sweep(session, now_ms())
            register(session, id_, host_name(), pid, process_started(pid), now_ms() + LEASE_MS)

    def _renew(self) -> None:
        while not self._stopping.wait(RENEWAL_SECONDS):
            id_ = self._id
            if id_ is None or self._store.closed:
                return
            with suppress(TriviumError):  # busy or full: the lease outlasts several attempts
                with self._store.write() as session:
                    known = renew(session, id_, now_ms() + LEASE_MS)
                if not known:
                    self._register(id_)

    def stop(self) -> None:
        """Leave; what is still unfinished counts as failed from now on. Call it before the store closes."""
        self._stopping.set()
        with self._mutex:
            id_, self._id = self._id, None
        if id_ is not None and not self._store.closed:
            with suppress(TriviumError), self._store.write(timeout=2.0) as session:
                leave(session, id_)
