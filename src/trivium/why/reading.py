"""The bytes of discovered files, read so that no link leads out of the repository (reference 2.1)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from trivium.why.exclusion import unfit
from trivium.why.model import File
from trivium.why.names import below, name_of

_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OPEN_FILE = _OPEN | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd


class Read(NamedTuple):
    """What `read_bytes` found: bytes and the file as it was then, or a reason code and None."""

    data: bytes | None
    file: File
    reason: str | None = None


def read_bytes(root: str | Path, file: File, limit: int | None = None) -> Read:
    """The bytes of a discovered file, or a reason: `outside`, `missing`, `unreadable`, `document-limit`, `changed`.

    A path that leaves the root or passes a link is refused. A file that changes while it is read is read once more;
    if it changes again, the reason is `changed`. `Read.file` has the size and time that belong to the bytes.
    """
    with Reader(root) as reader:
        return reader.read(file, limit)


class Reader:
    """Reads files below one root as `read_bytes` does; the folder of the last one stays open for the next."""

    def __init__(self, root: str | Path) -> None:
        self._root = Path(root)
        self._folder = ""
        self._handle = -1

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def read(self, file: File, limit: int | None = None) -> Read:
        """See `read_bytes`."""
        if unfit(file.path) is not None or not file.path or "\0" in file.path:
            return Read(None, file, "outside")
        return _read(self._root, file, limit, self._open)

    def _open(self, path: str) -> int:
        """Open a file part by part, so that no folder on the way can be a link."""
        folder, _, name = path.rpartition("/")
        if not _BY_FOLDER:
            return _open_by_name(self._root, folder, name)
        if self._handle < 0 or folder != self._folder:
            self.close()
            self._handle, self._folder = _open_folder(self._root, folder), folder
        return os.open(name_of(name), _OPEN_FILE, dir_fd=self._handle)


def _read(root: Path, file: File, limit: int | None, opening: Callable[[str], int]) -> Read:
    for _ in range(2):
        try:
            handle = opening(file.path)
        except (FileNotFoundError, NotADirectoryError):
            return Read(None, file, "outside" if os.path.lexists(below(root, file.path)) else "missing")
        except OSError:
            return Read(None, file, "outside" if Path(below(root, file.path)).is_symlink() else "unreadable")
        try:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                return Read(None, file, "outside")
            if limit is not None and before.st_size > limit:
                return Read(None, file, "document-limit")
            data = _read_all(handle, before.st_size + 1)
            after = os.fstat(handle)
        except OSError:
            return Read(None, file, "unreadable")
        finally:
            os.close(handle)
        same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        if same and len(data) == after.st_size:
            return Read(data, File(file.path, after.st_size, after.st_mtime_ns))
    return Read(None, file, "changed")


def _read_all(handle: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (part := os.read(handle, min(size, 1 << 24))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _open_folder(root: Path, path: str) -> int:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for part in path.split("/") if path else ():
        above = folder
        try:
            folder = os.open(name_of(part), _OPEN | os.O_DIRECTORY, dir_fd=above)
        finally:
            os.close(above)
    return folder


def _open_by_name(root: Path, folder: str, name: str) -> int:
    """Where folders cannot be opened: the resolved path must be the one that was asked for."""
    parent = Path(below(root, folder))
    if parent.resolve() != root.resolve() / name_of(folder) or (parent / name).is_symlink():
        raise NotADirectoryError(name)
    return os.open(parent / name_of(name), _OPEN_FILE)
