"""A connection to the file: what may be opened at all, and how each connection is set up."""

from __future__ import annotations

import os
import random
import stat
import time
from pathlib import Path

import apsw

from trivium.errors import StoreError
from trivium.settings import Settings
from trivium.store import functions, schema


def connect(path: str, settings: Settings, *, in_memory: bool) -> apsw.Connection:
    """A connection with our settings and functions. StoreError for a database of another program."""
    connection = apsw.Connection(path, statementcachesize=300)
    connection.set_busy_timeout(min(int(settings.timeout * 1000), 2_000_000_000))
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    if not in_memory:
        _refuse_foreign(connection, path)
        _enter_wal(connection, settings.timeout)
        connection.execute("PRAGMA mmap_size = 268435456")
    connection.execute(f"PRAGMA synchronous = {settings.synchronous}")
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute("PRAGMA temp_store = MEMORY")
    functions.register(connection)
    return connection


def claim(connection: apsw.Connection) -> None:
    """Mark the file as one of ours."""
    if connection.pragma("application_id") != schema.APPLICATION_ID:
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")


def make_room(path: str) -> None:
    """Make the folder of the file. What is no regular file is refused: opening a pipe would wait for ever."""
    _refuse_special(path)
    Path(path).parent.mkdir(parents=True, exist_ok=True)


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
