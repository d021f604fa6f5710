"""Bringing a file to the version of this program: forwards only, in one transaction, with the old file kept beside."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import apsw

from trivium.errors import NewerStoreError
from trivium.store import schema


def is_current(connection: apsw.Connection, path: str) -> bool:
    """Whether nothing has to be done. NewerStoreError for a file that this program does not know."""
    version = connection.pragma("user_version")
    if version > schema.VERSION:
        raise NewerStoreError(
            f"{path} was written by a newer Trivium (store version {version}, this program knows {schema.VERSION}).",
            "Upgrade with: pip install --upgrade trivium",
        )
    return bool(version == schema.VERSION)


def migrate(connection: apsw.Connection, path: str, copy: Callable[[str], None]) -> None:
    """Take the steps that the file lacks. Call it inside the write transaction: another process may have been first.

    `copy` writes what is committed to a new file.
    """
    if is_current(connection, path):
        return
    version = connection.pragma("user_version")
    if version > 0:
        _keep_old(f"{path}.v{version}.backup", copy)
    for number in range(version, schema.VERSION):
        connection.execute(schema.MIGRATIONS[number])
    connection.execute(f"PRAGMA user_version = {schema.VERSION}")


def _keep_old(place: str, copy: Callable[[str], None]) -> None:
    """Have a whole copy at `place`, under a number if another one is there: no copy of the user's is ever replaced.

    A copy that was cut short is begun anew; one that an upgrade made before it was cut short serves again.
    """
    part = f"{place}.part"
    for ending in ("", "-journal", "-wal", "-shm"):
        Path(part + ending).unlink(missing_ok=True)
    copy(part)
    for number in count(1):
        kept = place if number == 1 else f"{place}.{number}"
        if not os.path.lexists(kept):
            Path(part).replace(kept)
            return
        if _same(part, kept):
            Path(part).unlink()
            return


def _same(one: str, other: str) -> bool:
    from filecmp import cmp

    try:
        return cmp(one, other, shallow=False)
    except OSError:
        return False
