"""Files, folders and archives to sources: verbatim, hashed, and only what changed."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from trivium.errors import NotFoundError
from trivium.ingest import formats
from trivium.ingest.dates import of_timestamp
from trivium.ingest.found import Found, again
from trivium.ingest.names import UnsafeName, is_hidden, source_path
from trivium.settings import Settings
from trivium.store import contexts, sources
from trivium.store.sqlite import Session, SqliteStore

SMALL = 8 << 20
"""Bytes of a file that is read at once; larger ones are read twice, in pieces."""
BATCH_BYTES = 16 << 20
BATCH_FILES = 500


class Report(Struct):
    """What an import did; `skipped` are the files that were left out, each with the reason."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    bytes: int = 0
    skipped: list[dict[str, str]] = []

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


Check = Callable[[int, int], None]
"""Called between files with how many were looked at and the total, 0 while unknown; raises when the work is to stop."""


def no_check(done: int, total: int) -> None:
    """The check of work that nobody watches."""


# --- finding --------------------------------------------------------------------------------------


def found_in(
    paths: Iterable[str | os.PathLike[str]], settings: Settings, database: Path | None = None
) -> Iterator[Found]:
    """The files that these paths name: themselves, those in folders, those in archives.

    Files of a folder are named from the folder on (`contracts/acme.md`), those of `.` without it; those of an archive
    as they are named in it. `database` is left out, with the files beside it that belong to it.

    Raises: NotFoundError when one of the paths does not exist, before any file is given.
    """
    paths = list(paths)
    if "" in paths:
        raise NotFoundError("An empty path names nothing.", "For the current folder say `.`; is a variable unset?")
    places = [_place(path) for path in paths]
    for place in places:
        if "\0" in str(place) or not place.exists():
            raise NotFoundError(f"There is no file or folder {str(place)!r}.", "Check the path.")
    return _found(places, settings, _Own(database))


def _found(places: list[Path], settings: Settings, own: _Own) -> Iterator[Found]:
    for place in places:
        if place.is_dir():
            yield from _in_folder(place, _prefix(place), settings, own)
        else:
            yield from _file(place, place.name, settings, own)


class _Own:
    """The files of the database that is imported into."""

    def __init__(self, database: Path | None) -> None:
        self._folder = database.parent if database else None
        self._names = {database.name + end for end in ("", "-wal", "-shm", "-journal")} if database else set()

    def holds(self, place: Path) -> bool:
        if self._folder is None or place.name not in self._names:
            return False
        try:
            return place.parent.samefile(self._folder)
        except OSError:
            return False


def _place(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.expanduser(path))  # noqa: PTH111 - a name such as ~x stays as it is


def _prefix(folder: Path) -> str:
    return folder.name + "/" if folder.name not in ("", "..") else ""


def _in_folder(folder: Path, prefix: str, settings: Settings, own: _Own) -> Iterator[Found]:
    """The files of a folder in the order of their names, without recursion; links and hidden files are left out."""
    stack: list[tuple[str, str]] = [(str(folder), prefix)]
    while stack:
        place, name = stack.pop()
        if name and not name.endswith("/"):
            yield from _file(Path(place), name, settings, own)
            continue
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            yield Found(name or place, reason=f"the folder cannot be read ({error.strerror})", unseen=name)
            continue
        for entry in entries:
            if is_hidden(entry.name):
                yield Found(name + entry.name, reason="hidden")
            elif entry.is_symlink():
                yield Found(name + entry.name, reason="a symbolic link, which is not followed")
            else:
                folded = entry.is_dir(follow_symlinks=False)
                stack.append((entry.path, name + entry.name + ("/" if folded else "")))


def _file(place: Path, name: str, settings: Settings, own: _Own) -> Iterator[Found]:
    try:
        status = place.stat()
    except OSError as error:
        yield Found(name, reason=f"the file cannot be read ({error.strerror})")
        return
    if not stat.S_ISREG(status.st_mode):
        yield Found(name, reason="not a regular file")
    elif own.holds(place):
        yield Found(name, reason="the database itself")
    elif formats.is_archive(name):
        from trivium.ingest.archives import found_in_archive

        try:
            with place.open("rb") as file:
                folder = name.rpartition("/")[0]
                for found in found_in_archive(file, name, settings):
                    yield found.within(folder)
        except OSError as error:
            reason = f"the file cannot be read ({error.strerror})"
            yield Found(place.name, reason=reason, unseen="").within(name.rpartition("/")[0])
    else:
        yield Found(name, status.st_size, of_timestamp(status.st_mtime), lambda: place.open("rb"))


def found_in_bytes(path: str, data: bytes | BinaryIO, settings: Settings, dated: str | None = None) -> Iterator[Found]:
    """A file that was sent, or the files of an archive that was. An open file must be one that can seek."""
    file = io.BytesIO(data) if isinstance(data, bytes) else data
    if formats.is_archive(path):
        from trivium.ingest.archives import found_in_archive

        folder = path.rpartition("/")[0]
        for found in found_in_archive(file, path, settings):
            yield found.within(folder)
    else:
        yield Found(path, file.seek(0, io.SEEK_END), dated, again(file))


# --- importing ------------------------------------------------------------------------------------


class _Ready(Struct):
    """A file whose hash is known; `data` is None for one that is read again while it is stored."""

    path: str
    media_type: str
    hash: str
    size: int
    dated: str | None
    data: bytes | None
    open: Callable[[], BinaryIO]


class Importer:
    """Brings files into a context, in short transactions."""

    def __init__(self, store: SqliteStore, ctx: int, settings: Settings, clock: Callable[[], str]) -> None:
        self._store = store
        self._ctx = ctx
        self._settings = settings
        self._clock = clock
        self._batch: list[_Ready] = []
        self._waiting = 0
        self.report = Report(skipped=[])
        self.seen: set[str] = set()
        """Paths that were looked at, whether or not they changed."""
        self._there: set[str] = set()
        """Paths that were come across, also those of files that could not be read."""
        self._unseen: set[str] = set()
        """Folders, with `/` or empty, that may hold what was not come across."""
        with store.read() as session:
            rows = list(sources.rows(session, ctx))
        self._known = {row.path: row.hash for row in rows}
        self._sizes = {row.path: row.size for row in rows}
        self._files, self._bytes = len(rows), sum(self._sizes.values())

    def run(self, files: Iterable[Found], prefix: str = "", check: Check = no_check) -> Report:
        """Import the files. A file that cannot be is left out and told in the report; the others are imported."""
        for done, found in enumerate(files):
            check(done, 0)
            self._take(found, prefix)
        self._flush()
        return self.report

    def _take(self, found: Found, prefix: str) -> None:
        if found.unseen is not None:
            self._unseen.add(_folder_path(prefix + found.unseen))
        try:
            path = source_path(prefix + found.path)
        except UnsafeName as error:
            self._skip(found.path, str(error))
            return
        self._there.add(path)
        reason = found.reason or self._refusal(path, found)
        if reason is not None:
            self._skip(path, reason)
            return
        assert found.open is not None
        try:
            ready = _read(path, found, found.open)
        except (OSError, ValueError, EOFError) as error:
            self._skip(path, _why(error))
            return
        self.seen.add(path)
        known = self._known.get(path)
        if known == ready.hash:
            self.report.unchanged += 1
            return
        if reason := self._full(path, ready.size):
            self._skip(path, reason)
            return
        self._batch.append(ready)
        self._waiting += 0 if ready.data is None else ready.size
        self._files += known is None
        self._bytes += ready.size - self._sizes.get(path, 0)
        if ready.data is None or self._waiting >= BATCH_BYTES or len(self._batch) >= BATCH_FILES:
            self._flush()

    def _refusal(self, path: str, found: Found) -> str | None:
        if path in self.seen:
            return "another file of this import has the same name"
        if found.size > self._settings.max_file_bytes:
            return f"larger than {self._settings.max_file_bytes:,} bytes (TRIVIUM_MAX_FILE_BYTES)"
        return formats.no_text(path)

    def _full(self, path: str, size: int) -> str | None:
        if path not in self._known and self._files >= self._settings.max_context_files:
            return f"the context holds {self._settings.max_context_files:,} files already (TRIVIUM_MAX_CONTEXT_FILES)"
        growth = size - self._sizes.get(path, 0)
        if growth > 0 and self._bytes + growth > self._settings.max_context_bytes:
            return f"the context would hold more than {self._settings.max_context_bytes:,} bytes" + (
                " (TRIVIUM_MAX_CONTEXT_BYTES)"
            )
        return None

    def _skip(self, path: str, reason: str) -> None:
        self.report.skipped.append({"path": path, "reason": reason})

    def _flush(self) -> None:
        if not self._batch:
            return
        now = self._clock()
        with self._store.write(timeout=max(self._settings.timeout, 120)) as session:
            contexts.require(session, self._ctx)
            stored = [self._save(session, ready, now) for ready in self._batch]
            contexts.note_import(session, self._ctx, now)
        for ready, done in zip(self._batch, stored, strict=True):
            self._count(ready, done)
        self._batch.clear()
        self._waiting = 0

    def _count(self, ready: _Ready, stored: bool) -> None:
        """Tell of a file that was stored; give back the room of one that was not."""
        is_new = ready.path not in self._known
        if not stored:
            self._files -= is_new
            self._bytes -= ready.size - self._sizes.get(ready.path, 0)
            return
        self.report.added += is_new
        self.report.changed += not is_new
        self.report.bytes += ready.size
        self._known[ready.path], self._sizes[ready.path] = ready.hash, ready.size

    def _save(self, session: Session, ready: _Ready, now: str) -> bool:
        """Store a file; False, and told as left out, when it is no longer what it was."""
        facts = (self._ctx, ready.path, ready.media_type, ready.hash, ready.size, ready.dated, now)
        if ready.data is not None:
            sources.save(session, *facts, ready.data)
            return True
        try:
            with ready.open() as stream:
                sources.save(session, *facts, _Verified(stream, ready.hash))
        except (OSError, ValueError) as error:
            self._skip(ready.path, _why(error))
            return False
        return True

    def folders(self, paths: Iterable[str | os.PathLike[str]], prefix: str) -> list[str]:
        """Under which prefixes the sources stand that come from the folders among these paths."""
        return [_folder_path(prefix + _prefix(place)) for place in map(_place, paths) if place.is_dir()]

    def remove_missing(self, prefix: str) -> None:
        """Delete the sources under a prefix that are no longer there; what could not be looked at may still be."""
        unseen = tuple(self._unseen)
        missing = [path for path in self._known if path.startswith(prefix) and path not in self._there]
        gone = [path for path in missing if not path.startswith(unseen)]
        for path in gone:
            if delete_source(self._store, self._ctx, path, self._clock):
                self.report.removed += 1


def _folder_path(name: str) -> str:
    """The folder as names of sources begin with it; empty for all of them."""
    try:
        return source_path(name) + "/"
    except UnsafeName:
        return ""


def delete_source(store: SqliteStore, ctx: int, path: str, clock: Callable[[], str]) -> bool:
    """Delete a source; its document is hidden in the same transaction, and the next curate removes it."""
    from trivium.store import documents

    with store.write() as session:
        contexts.require(session, ctx)
        found = sources.delete(session, ctx, path)
        if found:
            documents.hide(session, ctx, path)
            contexts.note_import(session, ctx, clock())
    return found


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"the file cannot be read ({error.strerror})"
    return str(error) or f"the file cannot be read ({type(error).__name__})"


def _read(path: str, found: Found, open_: Callable[[], BinaryIO]) -> _Ready:
    media_type = formats.by_name(path)[1]
    with open_() as stream:
        data = stream.read(SMALL + 1)
        if len(data) <= SMALL:
            digest = hashlib.sha256(data).hexdigest()
            return _Ready(path, media_type, digest, len(data), found.dated, data, open_)
        hashing, size = hashlib.sha256(data), len(data)
        while size <= found.size and (piece := stream.read(sources.PIECE)):
            hashing.update(piece)
            size += len(piece)
    if size != found.size:
        raise ValueError("the file changed while it was read")
    return _Ready(path, media_type, hashing.hexdigest(), size, found.dated, None, open_)


class _Verified:
    """A stream that must have the hash it had before."""

    def __init__(self, stream: BinaryIO, digest: str) -> None:
        self._stream = stream
        self._digest = digest
        self._hashing = hashlib.sha256()

    def read(self, size: int) -> bytes:
        piece = self._stream.read(size)
        self._hashing.update(piece)
        if not piece and self._hashing.hexdigest() != self._digest:
            raise ValueError("the file changed while it was read")
        return piece
