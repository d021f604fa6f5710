"""Archives to files, without writing anything to disk and within bounds.

Only regular files with relative names come out; links, devices, absolute names and names with `..` are told apart and
left out, and so are encrypted members. What an archive gives in all is bounded, by what a context may hold and by
RATIO times its own size, so that a bomb ends early.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

from trivium.ingest import formats
from trivium.ingest.dates import of_timestamp
from trivium.ingest.found import Found, again
from trivium.ingest.names import UnsafeName, is_hidden, source_path
from trivium.ingest.zip_names import member_names
from trivium.settings import Settings

RATIO = 200
"""How many times its own size an archive may give, beside FREE bytes."""
FREE = 64 << 20
MAX_MEMBERS = 1_000_000
IN_MEMORY = 16 << 20
_PIECE = 1 << 18
_LONG_HEADER = 1 << 20

_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, KeyError)


class _TooMuch(Exception):
    """An archive gives more than it may."""


def found_in_archive(file: BinaryIO, name: str, settings: Settings) -> Iterator[Found]:
    """The files of an archive, named as in it; one that is damaged or too large ends with a `Found` that says so."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    budget = _Budget(FREE + min(settings.max_context_bytes, RATIO * size))
    lower = name.lower()
    members = _zip(file, settings, budget) if lower.endswith(".zip") else _tar(file, lower, settings, budget)
    base = name.rpartition("/")[2]
    count = 0
    try:
        for found in members:
            count += 1
            if count > MAX_MEMBERS:
                raise _TooMuch
            yield found
    except _TooMuch:
        reason = "the archive holds far more than its size allows; the rest of it was left out"
        yield Found(base, reason=reason, unseen="")
    except (NotImplementedError, RuntimeError) as error:
        yield Found(base, reason=f"the archive cannot be read ({error})", unseen="")
    except _DAMAGE as error:
        rest = "the archive is damaged" if not count else "the archive is damaged; the rest of it was left out"
        yield Found(base, reason=f"{rest} ({error or type(error).__name__})", unseen="")


class _Budget:
    """How many more bytes an archive may give."""

    def __init__(self, left: int) -> None:
        self._left = left

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _TooMuch


def _refusal(name: str) -> str | None:
    """Why a member is left out because of its name alone; the rest is checked as for any file."""
    try:
        source_path(name)  # here, since a folder that is put before the name would make an absolute one relative
    except UnsafeName as error:
        return str(error)
    if is_hidden(name):
        return "hidden"
    if formats.is_archive(name):
        return "an archive within an archive, which is not unpacked"
    return formats.no_text(name)


class _Long(Exception):
    """A member is larger than a file may be."""


def _member(name: str, stream: Any, dated: str | None, settings: Settings, budget: _Budget) -> Iterator[Found]:
    """A member, held in memory, or in a temporary file when it is long, until the next one is asked for."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as held:
        try:
            size = _copy(stream, held, settings.max_file_bytes, budget)
        except _Long:
            yield Found(name, reason=f"larger than {settings.max_file_bytes:,} bytes (TRIVIUM_MAX_FILE_BYTES)")
            return
        yield Found(name, size, dated, again(held))


def _copy(stream: Any, held: IO[bytes], most: int, budget: _Budget) -> int:
    size = 0
    while piece := stream.read(_PIECE):
        size += len(piece)
        budget.spend(len(piece))
        if size > most:
            raise _Long
        held.write(piece)
    return size


# --- zip ------------------------------------------------------------------------------------------


def _zip(file: BinaryIO, settings: Settings, budget: _Budget) -> Iterator[Found]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        for info, told in zip(members, member_names(members), strict=True):
            name = told.replace("\\", "/")
            if info.is_dir() or name.endswith("/"):
                continue
            reason = _refusal(name) or _zip_refusal(info, settings)
            if reason is not None:
                yield Found(name, reason=reason)
                continue
            try:
                with archive.open(info) as stream:
                    yield from _member(name, stream, _zip_date(info), settings, budget)
            except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError) as error:
                yield Found(name, reason=f"damaged in the archive ({error or type(error).__name__})")


def _zip_refusal(info: zipfile.ZipInfo, settings: Settings) -> str | None:
    mode = info.external_attr >> 16
    if mode and not (stat.S_ISREG(mode) or stat.S_IFMT(mode) == 0):
        return "a symbolic link, which is not followed" if stat.S_ISLNK(mode) else "not a regular file"
    if info.flag_bits & 1:
        return "encrypted"
    if info.file_size > settings.max_file_bytes:
        return f"larger than {settings.max_file_bytes:,} bytes (TRIVIUM_MAX_FILE_BYTES)"
    return None


def _zip_date(info: zipfile.ZipInfo) -> str | None:
    from datetime import datetime

    from trivium.ingest.dates import as_moment

    try:
        moment = datetime(*info.date_time)
    except ValueError:
        return None
    return as_moment(moment) if moment.year > 1980 else None


# --- tar ------------------------------------------------------------------------------------------


class _Limited(io.RawIOBase):
    """A decompressed stream that may give so many bytes and no more."""

    def __init__(self, stream: Any, budget: _Budget) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        self._budget.spend(len(data))
        return data


class _Header(tarfile.TarInfo):
    """A member header; those that would make the reader hold or skip absurd amounts are damage."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        long = self.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE) or self.type in (
            tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK,
        )
        if self.size < 0 or (long and self.size > _LONG_HEADER):
            raise tarfile.HeaderError("a header is out of bounds")
        return super()._proc_member(archive)  # type: ignore[misc,no-any-return]


def _tar(file: BinaryIO, name: str, settings: Settings, budget: _Budget) -> Iterator[Found]:
    stream: Any = file
    if name.endswith(("gz", "tgz")):
        stream = gzip.GzipFile(fileobj=file)
    elif name.endswith(("bz2", "tbz2")):
        stream = bz2.BZ2File(file)
    elif name.endswith("xz"):
        stream = lzma.LZMAFile(file)  # noqa: SIM115 - the file it reads is closed by who opened it
    passed = _Budget(2 * FREE + min(settings.max_context_bytes, RATIO * file.seek(0, io.SEEK_END)))
    file.seek(0)
    with tarfile.open(fileobj=_Limited(stream, passed), mode="r|", tarinfo=_Header) as archive:
        for info in archive:
            archive.members = []  # type: ignore[attr-defined]  # they would be kept until the end
            if info.isdir():
                continue
            reason = _refusal(info.name) or _tar_refusal(info, settings)
            if reason is not None:
                yield Found(info.name, reason=reason)
                continue
            member = archive.extractfile(info)
            assert member is not None
            yield from _member(info.name, member, of_timestamp(info.mtime), settings, budget)


def _tar_refusal(info: tarfile.TarInfo, settings: Settings) -> str | None:
    if info.issym() or info.islnk():
        return "a link, which is not followed"
    if not info.isreg() or info.issparse():
        return "not a regular file"
    if info.size > settings.max_file_bytes:
        return f"larger than {settings.max_file_bytes:,} bytes (TRIVIUM_MAX_FILE_BYTES)"
    return None
