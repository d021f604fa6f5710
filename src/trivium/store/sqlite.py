"""SQLite through APSW: opening, the pool of readers, the queue of writers, deadlines and checkpoints.

One writer at a time: first come, first served within a process, and a bounded wait between processes. Readers are
never blocked (write-ahead log). Every fault leaves as `KipError` or `StoreError` with its cause named.
"""

from __future__ import annotations

import os
import random
import stat
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from trivium.errors import KipError, NewerStoreError, StoreError
from trivium.settings import Settings
from trivium.store import schema

CHECKPOINT_PAGES = 1_000
"""Growth of the log after which it is folded into the file."""
LARGE_LOG = 16_000
"""Pages of a log that is emptied even if writers must wait a moment for it."""
QUIET_SECONDS = 20.0
"""After this time without growth, what is left in the log is folded as well."""
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


class FairLock:
    """A lock that is granted in the order in which it was asked for."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float) -> bool:
        with self._mutex:
            if not self._held and not self._waiting:
                self._held = True
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        with self._mutex:
            if turn.is_set():
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False


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
        self._checkpointer: _Checkpointer | None = None
        try:
            with _opening(path):
                if not self.in_memory:
                    _refuse_special(path)
                    Path(path).parent.mkdir(parents=True, exist_ok=True)
                self._writer = Session(self._connect())
                _claim(self._writer.connection, path)
                self._writer.patience = time.monotonic() + settings.timeout
                self._writer.connection.set_busy_handler(self._wait)
                self._migrate()
        except BaseException:
            for connection in self._opened:
                connection.close(True)
            raise
        if not self.in_memory:
            self._checkpointer = _Checkpointer(path, self._lock)
            self._writer.connection.set_wal_hook(self._checkpointer.notice)
        _open_stores.add(self)

    # --- connections ------------------------------------------------------------------------------

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(self.path, statementcachesize=300)
        connection.set_busy_timeout(min(int(self.settings.timeout * 1000), 2_000_000_000))
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
        if not self.in_memory:
            _refuse_foreign(connection, self.path)
            _enter_wal(connection, self.settings.timeout)
            connection.execute("PRAGMA mmap_size = 268435456")
        connection.execute(f"PRAGMA synchronous = {self.settings.synchronous}")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA temp_store = MEMORY")
        _register_functions(connection)
        with self._mutex:
            if self._closed:
                connection.close(True)
                raise self.closed_error()
            self._opened.append(connection)
        return connection

    def _migrate(self) -> None:
        connection = self._writer.connection
        version = connection.pragma("user_version")
        if version > schema.VERSION:
            raise NewerStoreError(
                f"{self.path} was written by a newer Trivium (store version {version}, this program knows "
                f"{schema.VERSION}).",
                "Upgrade with: pip install --upgrade trivium",
            )
        if version == schema.VERSION:
            return
        if version > 0:
            self.backup(f"{self.path}.v{version}.backup")
        with self.write():
            for number in range(connection.pragma("user_version"), schema.VERSION):
                connection.execute(schema.MIGRATIONS[number])
            connection.execute(f"PRAGMA user_version = {schema.VERSION}")

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
    def read(self, timeout: float | None = None) -> Iterator[Session]:
        """One consistent snapshot for several statements."""
        session = self.checkout(timeout)
        try:
            with self._translated(self.settings.timeout):
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
            raise self.closed_error() if self._closed else _too_long(limit)
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
        done = False
        session = self.checkout(timeout=3_600)
        try:
            with self._translated(3_600), _opening(destination):
                target = apsw.Connection(destination)
                try:
                    session.execute(
                        "BEGIN"
                    )  # one snapshot: else the copy starts over at every write of another process
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


class _Checkpointer:
    """Folds the log into the file on a thread of its own, so that no commit waits for it.

    The thread is woken when the log has grown by `CHECKPOINT_PAGES`, and looks again in quiet times as long as there
    is something to fold. Readers of old snapshots keep the log from beginning anew; a log that became large all the
    same is emptied by waiting for them, which makes writers wait too: for a second at most, and seldom.
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


# --- opening --------------------------------------------------------------------------------------


def _enter_wal(connection: apsw.Connection, patience: float) -> None:
    """Switch to the write-ahead log; several processes may try at once on a new file."""
    end = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.wal_autocheckpoint(0)
            return
        except apsw.BusyError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01 + random.random() * 0.02)


def _refuse_foreign(connection: apsw.Connection, path: str) -> None:
    """A database of another program is left alone, before anything is written to it."""
    mark = connection.pragma("application_id")
    if mark == schema.APPLICATION_ID:
        return
    if mark != 0 or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
        # Another process may be creating our tables right now: ours carry the mark from the first commit on.
        if connection.pragma("application_id") == schema.APPLICATION_ID:
            return
        raise StoreError(f"{path} is a database of another program.", "Choose another path with --db or TRIVIUM_DB.")


def _claim(connection: apsw.Connection, path: str) -> None:
    if connection.pragma("application_id") != schema.APPLICATION_ID:
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")


def _refuse_special(path: str) -> None:
    """What is no regular file is told apart from damage; opening a pipe would wait for ever."""
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if path.endswith(("/", os.sep)):
            raise StoreError(f"{path} names a folder.", f"Name a file in it, such as {path}memory.db.") from None
        return
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} is a folder.", f"Name a file in it, such as {Path(path) / 'memory.db'}.")
    if not stat.S_ISREG(mode):
        raise StoreError(
            f"{path} is a device, a pipe or a socket, and no file.",
            "Choose a file, or :memory: to keep nothing.",
        )


@contextmanager
def _opening(path: str) -> Iterator[None]:
    try:
        yield
    except apsw.NotADBError:
        raise StoreError(f"{path} is not a database.", "Choose another path with --db or TRIVIUM_DB.") from None
    except (apsw.CantOpenError, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise StoreError(f"{path} cannot be opened: {reason}.", "Check that the folder exists and is yours.") from None
    except (apsw.ReadOnlyError, apsw.PermissionsError):
        raise StoreError(f"{path} is read-only.", "Make the file and its folder writable, or copy it.") from None
    except apsw.BusyError:
        raise StoreError(f"{path} is held by another process.", "Try again when it has finished.") from None
    except apsw.CorruptError as error:
        raise StoreError(
            f"{path} is damaged: {error}.", "Restore it from a backup made with `trivium backup`."
        ) from None
    except apsw.FullError:
        raise StoreError(f"The disk that holds {path} is full.", "Free some space and try again.") from None
    except apsw.IOError as error:
        raise StoreError(f"{path}: the disk reports a fault: {error}.", "Check the disk and try again.") from None


# --- faults ---------------------------------------------------------------------------------------


def _too_long(limit: float) -> KipError:
    return KipError(
        "KIP_4001", f"Waited {limit:g} s for other writers of this knowledge base.", "Retry; writers take turns."
    )


_TOO_LARGE = {
    "at most 64 tables": "it reads more than 64 patterns and elements at once",
    "too many columns": "it has more than 2,000 columns",
    "Expression tree": "its NOT blocks and the FILTERs in them nest too deep together",
    "too large": "",
    "too many": "",
    "Recursion limit": "",
    "stack overflow": "",
}
"""What SQLite says of a statement beyond its limits, and what that means where it can be told."""


def translate(error: apsw.Error, path: str, limit: float) -> KipError:
    """The KIP error that stands for a fault of SQLite, with its cause."""
    if isinstance(error, apsw.InterruptError):
        return KipError("KIP_4001", f"The command did not end within {limit:g} s and was stopped.")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return KipError(
            "KIP_4001",
            f"Another process held the write lock of {path} for more than {limit:g} s.",
            "Retry when that process has finished.",
        )
    if isinstance(error, apsw.NoMemError | apsw.TooBigError):
        return KipError("KIP_4002", f"The command needs more memory than there is: {error}.")
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return KipError(
            "KIP_4003", f"{path} is damaged: {error}.", "Restore it from a backup made with `trivium backup`."
        )
    if isinstance(error, apsw.FullError):
        return KipError(
            "KIP_4003", f"The disk that holds {path} is full; nothing was changed.", "Free space and retry."
        )
    if isinstance(error, apsw.ReadOnlyError):
        return KipError("KIP_4003", f"{path} is read-only; nothing was changed.", "Make the file writable and retry.")
    limits = [text for text in _TOO_LARGE if text in str(error)] if isinstance(error, apsw.SQLError) else []
    if limits:
        return KipError(
            "KIP_4002",
            f"The command is too large for one statement: {_TOO_LARGE[limits[0]] or error}.",
            "Split it into several commands: fewer patterns, nested blocks, alternatives or columns in each.",
        )
    if isinstance(error, apsw.SQLError) and "integer overflow" in str(error):
        return KipError("KIP_4002", "The sum is larger than a 64-bit integer.", "Sum fewer or smaller values.")
    return KipError("KIP_4003", f"The store failed: {error}.")


# --- functions inside SQL -------------------------------------------------------------------------


def _register_functions(connection: apsw.Connection) -> None:
    connection.create_scalar_function("kip_regex", _regex, 2, deterministic=True)
    connection.create_scalar_function("kip_json_equal", _json_equal, 2, deterministic=True)
    connection.create_scalar_function("kip_canonical", _canonical, 1, deterministic=True)
    connection.create_scalar_function("kip_compare_numbers", _compare_numbers, 2, deterministic=True)
    connection.register_fts5_function("held_phrases", _held_phrases)


def _held_phrases(match: Any, *_: Any) -> int:
    """Which phrases of a full-text query a row holds, as bits: the first phrase is the lowest."""
    return sum(1 << place for place in range(match.phrase_count) if match.phrase_columns(place))


_patterns: dict[str, Any] = {}


def compile_pattern(pattern: str) -> Any:
    """A compiled RE2 pattern, or None when it is not one (§3.4.3 REGEX: linear time, no look-around)."""
    found = _patterns.get(pattern)
    if found is None:
        import re2

        options = re2.Options()
        options.log_errors = False
        options.max_mem = 8 << 20
        try:
            found = re2.compile(pattern, options)
        except re2.error:
            return None
        if len(_patterns) > 500:
            _patterns.clear()
        _patterns[pattern] = found
    return found


def _regex(*arguments: Any) -> bool:
    text, pattern = arguments
    if not isinstance(text, str) or not isinstance(pattern, str):
        return False
    compiled = compile_pattern(pattern)
    return compiled is not None and compiled.search(text) is not None


def _json_equal(*arguments: Any) -> bool:
    import json

    left, right = arguments
    return left is not None and right is not None and equal(json.loads(left), json.loads(right))


def _canonical(*arguments: Any) -> str | None:
    import json

    (text,) = arguments
    if text is None:
        return None
    return json.dumps(_plain_numbers(json.loads(text)), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain_numbers(value: Any) -> Any:
    """Floats of integral value as integers, at any depth."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain_numbers(member) for member in value]
    if isinstance(value, dict):
        return {key: _plain_numbers(member) for key, member in value.items()}
    return value


def _compare_numbers(*arguments: Any) -> int | None:
    import json

    left, right = arguments
    if left is None or right is None:
        return None
    a, b = json.loads(left), json.loads(right)
    return int(a > b) - int(a < b)


def equal(left: Any, right: Any) -> bool:
    """Structural equality of JSON values: numbers by value, booleans apart from numbers."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(equal(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right) and (isinstance(left, str) == isinstance(right, str))
