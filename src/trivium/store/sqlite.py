"""The database file: the pool of readers, the queue of writers, their deadlines, and closing.

One writer at a time: first come, first served within a process, and a bounded wait between processes. Readers are
never blocked (write-ahead log). Every fault leaves as `KipError` or `StoreError` with its cause named.
"""

from __future__ import annotations

import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from trivium.errors import KipError, StoreError
from trivium.settings import Settings
from trivium.store import schema
from trivium.store.checkpoints import Checkpointer
from trivium.store.fair_lock import FairLock
from trivium.store.faults import opening, too_long, translate
from trivium.store.opening import claim, connect, make_room

CLOSING_SECONDS = 5.0
"""How long `close` waits for commands that it has interrupted."""
PROGRESS_STEPS = 50_000


class Session:
    """A connection in use by one thread. `execute(sql, bindings)` gives an iterable cursor of tuples.

    `deadline` ends statements that run, `patience` the waiting for locks of other processes. What a writer knew of the
    schemas holds while two counts stand still: `schema_writes`, its own changes of them, and `foreign`, the times that
    others may have changed anything (another connection, or a transaction of its own that does not count its changes).
    """

    __slots__ = ("committed", "connection", "deadline", "execute", "foreign", "patience", "schema_writes", "seen")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.execute: Callable[..., apsw.Cursor] = connection.execute
        self.deadline = 0.0
        self.patience = 0.0
        self.seen = -1
        self.committed = -1
        self.foreign = 0
        self.schema_writes = 0
        connection.set_progress_handler(self._overdue, PROGRESS_STEPS)

    def _overdue(self) -> bool:
        return bool(self.deadline) and time.monotonic() > self.deadline

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        return self.execute(sql, bindings).fetchall()

    def row(self, sql: str, bindings: Any = ()) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self.execute(sql, bindings).fetchone()
        return row

    def value(self, sql: str, bindings: Any = ()) -> Any:
        row = self.execute(sql, bindings).fetchone()
        return None if row is None else row[0]


class SqliteStore:
    """One database file (or `:memory:`), shared by the threads of this process and by other processes."""

    def __init__(self, path: str, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self.in_memory = path == ":memory:"
        self.moment = 0
        self._lock = FairLock()
        self._readers: list[Session] = []
        self._mutex = threading.Lock()  # over _opened, and while a connection is interrupted or closed
        self._opened: list[apsw.Connection] = []
        self._closed = False
        self._forked = False
        self._checkpointer: Checkpointer | None = None
        try:
            with opening(path):
                if not self.in_memory:
                    make_room(path)
                self._writer = Session(self._connect())
                claim(self._writer.connection)
                self._writer.patience = time.monotonic() + settings.timeout
                self._writer.connection.set_busy_handler(self._wait)
                self._migrate()
        except BaseException:
            for connection in self._opened:
                connection.close(True)
            raise
        if not self.in_memory:
            self._checkpointer = Checkpointer(path, self._lock)
            self._writer.connection.set_wal_hook(self._checkpointer.notice)
        _open_stores.add(self)

    # --- connections ------------------------------------------------------------------------------

    def _connect(self) -> apsw.Connection:
        connection = connect(self.path, self.settings, in_memory=self.in_memory)
        with self._mutex:
            if self._closed:
                connection.close(True)
                raise self.closed_error()
            self._opened.append(connection)
        return connection

    def _migrate(self) -> None:
        if self._writer.connection.pragma("user_version") == schema.VERSION:
            return
        from trivium.store import migration  # seldom needed, and opening must be quick

        if not migration.is_current(self._writer.connection, self.path):
            with self.write() as session:
                session.deadline = 0.0  # a large file takes its time
                migration.migrate(session.connection, self.path, self._copy)

    # --- reading ----------------------------------------------------------------------------------

    def checkout(self, timeout: float | None = None) -> Session:
        """A reader for this thread until `checkin`; its statements end with KIP_4001 after `timeout` seconds."""
        limit = self.settings.timeout if timeout is None else timeout
        if self._closed:
            raise self.closed_error()
        if self.in_memory:
            self._take_turn(limit)
            session = self._writer
        else:
            try:
                session = self._readers.pop()
            except IndexError:
                with self._translated(limit):
                    session = Session(self._connect())
        session.deadline = time.monotonic() + limit
        return session

    def checkin(self, session: Session) -> None:
        session.deadline = 0.0
        if self.in_memory:
            self._lock.release()
        else:
            self._readers.append(session)
        if self._closed:
            self._close_idle()

    def watch(self, session: Session) -> int:
        """A number that has changed when the last statement of this session saw other data than the one before."""
        version = session.connection.data_version()
        if version != session.seen:
            session.seen = version
            self.moment += 1
        return self.moment

    @contextmanager
    def read(self, timeout: float | None = None, *, deadline: float | None = None) -> Iterator[Session]:
        """One consistent snapshot for several statements. With `deadline` they end at that moment, if it is sooner."""
        limit = self.settings.timeout if timeout is None else timeout
        session = self.checkout(limit)
        try:
            if deadline is not None:
                session.deadline = min(deadline, session.deadline)
            with self._translated(limit):
                if self.in_memory:
                    yield session
                    return
                session.execute("BEGIN")
                try:
                    yield session
                finally:
                    session.deadline = 0.0
                    self._undo(session)
        finally:
            self.checkin(session)

    # --- writing ----------------------------------------------------------------------------------

    @contextmanager
    def write(self, timeout: float | None = None, *, counted: bool = False) -> Iterator[Session]:
        """The one write transaction: commits at the end of the block, undone whole by any exception.

        Raise `Rollback` inside to undo without an error. `counted`: `schema_writes` tells of every change of schemas.
        """
        limit = self.settings.timeout if timeout is None else timeout
        if self._closed:
            raise self.closed_error()
        deadline = time.monotonic() + limit
        self._take_turn(limit)
        session = self._writer
        session.patience = deadline
        try:
            session.execute("BEGIN IMMEDIATE")
            version = session.connection.data_version()
            if version != session.committed:
                session.committed = version
                session.foreign += 1
                self.moment += 1
            elif not counted:
                session.foreign += 1
            session.deadline = deadline
            try:
                yield session
                session.deadline = 0.0
                session.execute("COMMIT")
                session.committed = session.connection.data_version()
            except BaseException as error:
                session.deadline = 0.0
                if session.connection.in_transaction:
                    self._undo(session)
                if not isinstance(error, Rollback):
                    raise
        except apsw.Error as error:
            if self._closed:
                raise self.closed_error() from None
            raise translate(error, self.path, limit) from None
        finally:
            self._lock.release()
            if self._closed:
                self._close_idle()

    def _take_turn(self, limit: float) -> None:
        if not self._lock.acquire(limit):
            raise self.closed_error() if self._closed else too_long(limit)
        if self._closed:
            self._lock.release()
            raise self.closed_error()

    def _undo(self, session: Session) -> None:
        try:
            session.execute("ROLLBACK")
        except apsw.Error:
            if not self._closed:  # the connection is about to be closed, which undoes the transaction
                raise

    def _wait(self, tries: int) -> bool:
        """Between processes: short, uneven waits as long as the writer's patience lasts."""
        if self._closed or time.monotonic() > self._writer.patience:
            return False
        time.sleep(random.uniform(0.0002, 0.002 if tries < 20 else 0.006))
        return True

    @contextmanager
    def _translated(self, limit: float) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            if self._closed:
                raise self.closed_error() from None
            raise translate(error, self.path, limit) from None

    # --- upkeep -----------------------------------------------------------------------------------

    def backup(self, destination: str) -> None:
        """A consistent copy while in use. StoreError if `destination` exists."""
        if os.path.lexists(destination):
            raise StoreError(f"{destination} already exists.", "Choose another name, or move the old file away.")
        self._copy(destination)

    def _copy(self, destination: str) -> None:
        """What is committed, as a new file; none is left when that fails."""
        done = False
        session = self.checkout(timeout=3_600)
        try:
            with self._translated(3_600), opening(destination):
                target = apsw.Connection(destination)
                try:
                    session.execute("BEGIN")  # one snapshot: else a write of another process makes it start over
                    session.rows("SELECT 1 FROM sqlite_schema LIMIT 1")
                    with target.backup("main", session.connection, "main") as job:
                        while not job.done:
                            if self._closed:
                                raise self.closed_error()
                            job.step(2_000)
                    done = True
                finally:
                    if session.connection.in_transaction:
                        self._undo(session)
                    target.close()
                    if not done:
                        Path(destination).unlink(missing_ok=True)
        finally:
            self.checkin(session)

    def query_plan(self, session: Session, sql: str, bindings: Any) -> list[str]:
        """SQLite's own account of how it runs a statement, indented by depth."""
        depth = {0: -1}
        lines = []
        for number, parent, _, detail in session.rows("EXPLAIN QUERY PLAN " + sql, bindings):
            depth[number] = depth.get(parent, -1) + 1
            lines.append("  " * depth[number] + str(detail))
        return lines

    def integrity(self) -> list[str]:
        """SQLite's own findings; empty when sound."""
        with self.read(timeout=600) as session:
            found = [str(row[0]) for row in session.rows("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    # --- closing ----------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the store takes no more commands; those that run then end with `closed_error`."""
        return self._closed

    def closed_error(self) -> KipError:
        """The error of a command that comes too late."""
        if self._forked:
            return KipError(
                "KIP_4003",
                "This knowledge base was opened before the process forked, and is closed in this process.",
                "Open it again here, with trivium.open(url).",
            )
        return KipError("KIP_4003", "The knowledge base is closed.", "Open it again with trivium.open(url).")

    def close(self) -> None:
        """Close every connection; the last one to leave folds the log into the file.

        Running statements are interrupted. Each connection is closed while nobody uses it: here, or, if a command
        takes longer than `CLOSING_SECONDS` to notice, by that command when it ends.
        """
        with self._mutex:
            if self._closed:
                return
            self._closed = True
        _open_stores.discard(self)
        if self._checkpointer is not None:
            self._checkpointer.stop()
        end = time.monotonic() + CLOSING_SECONDS
        self._close_idle()
        while self._opened and time.monotonic() < end:
            with self._mutex:
                for connection in self._opened:
                    connection.interrupt()
            self._close_idle(patience=0.01)

    def _close_idle(self, patience: float = 0.0) -> None:
        """Close the connections that no command uses."""
        while self._readers:
            with suppress(IndexError):
                self._discard(self._readers.pop().connection)
        if self._lock.acquire(patience):
            self._discard(self._writer.connection)
            self._lock.release()

    def _discard(self, connection: apsw.Connection) -> None:
        with self._mutex:
            if not self._forked and connection in self._opened:
                self._opened.remove(connection)
                with suppress(apsw.Error):
                    connection.execute("SELECT 1")  # ends the state of an interrupt, which would leave the log unfolded
                connection.close(True)

    def abandon(self) -> None:
        """After a fork, in the child: SQLite forbids both to use its connections and to close them here."""
        self._closed = self._forked = True
        self._mutex = threading.Lock()
        self._lock = FairLock()
        with suppress(ImportError, AttributeError):
            import ctypes

            for connection in self._opened:  # never deallocated, since that would close them
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


_open_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()


def _abandon_all() -> None:
    for store in list(_open_stores):
        store.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)


class Rollback(Exception):
    """Ends a write transaction without effect and without an error."""
