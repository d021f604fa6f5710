"""Faults of SQLite as errors of ours, each with its cause named: while opening, and while a command runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from trivium.errors import KipError, StoreError

EngineError = apsw.Error
"""What the engine raises while a session is in use; `translate` tells what it means."""


@contextmanager
def opening(path: str) -> Iterator[None]:
    """StoreError for whatever keeps a file from being opened or made."""
    try:
        yield
    except apsw.NotADBError:
        raise StoreError(f"{path} is not a database.", "Choose another path with --db or TRIVIUM_DB.") from None
    except (apsw.CantOpenError, OSError) as error:
        if os.path.isfile(path) and not os.access(Path(path).parent, os.W_OK):  # noqa: PTH113 - never raises
            raise StoreError(
                f"{path} lies in a folder that cannot be written to.",
                "The log is kept beside the file: make the folder writable, or copy the file to one that is.",
            ) from None
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


def too_long(limit: float) -> KipError:
    """The error of a command that other writers of this process kept waiting."""
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
