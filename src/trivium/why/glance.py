"""A look at names, sizes and times, which mostly tells that nothing has changed since an index was found true.

The fingerprint follows from git's list of the files, from the size and time of each, from the notes, the history, the
configuration and the versions of what reads files. A `Glance` holds all these as they were under a fingerprint; as long
as they are the same, the fingerprint is. Whatever differs, or cannot be told so, is left to the fingerprint itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trivium.why import git
from trivium.why.config import Config
from trivium.why.discover import DISCOVER_VERSION, Listing, Passed, passed_by
from trivium.why.fingerprint import FileHashes, history_state, is_settled
from trivium.why.model import FORMAT_VERSION, MAX_DOCUMENT_BYTES, Closed, File
from trivium.why.names import name_of, names_of
from trivium.why.note_files import discover_memory
from trivium.why.state import Survey, foreign_grammar, languages_of, reads, versions


class Glance(Closed):
    """What a repository looked like under the fingerprint `mark`; paths with size and time in nanoseconds."""

    mark: str
    rules: list[str]
    languages: list[str]
    listing: str
    folders: list[str]
    paths: list[str]
    sizes: list[int]
    times: list[int]
    passed: list[Passed]
    memory: dict[str, list[tuple[str, int, int]]]
    """Notes with their sizes and times."""
    history: dict[str, Any] | None

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Glance | None:
        try:
            return msgspec.msgpack.decode(data, type=cls)
        except msgspec.MsgspecError:
            return None

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)


def take(found: Survey, hashes: FileHashes, mark: str) -> Glance | None:
    """The look of a repository that was just found to have this fingerprint; None where a look cannot be trusted.

    Each file whose bytes count must be known by its size and time, unless it is too large to be read.
    """
    trace, files = found.discovery.trace, found.discovery.files
    if found.discovery.source != "git" or not trace.steady:
        return None
    if not all(is_settled(changed, trace.moment) for _, _, changed in trace.passed if changed):
        return None
    counts = reads(found.config)
    notes = [file for some in found.memory.values() for file in some]
    for file in (*filter(lambda file: counts(file.path), files), *notes):
        if file.size <= MAX_DOCUMENT_BYTES and hashes.known(file) is None:
            return None
    languages = languages_of(file.path for file in files)
    return Glance(
        mark,
        _rules(found.config, languages),
        languages,
        trace.listing,
        _folders(file.path for file in files),
        [file.path for file in files],
        [file.size for file in files],
        [file.mtime_ns for file in files],
        trace.passed,
        _seen(found.memory),
        found.history,
    )


def is_same(glance: Glance, root: Path, config: Config, mark: str) -> bool:
    """Whether the repository looks as it did when it had this fingerprint, so that it has it still."""
    if glance.mark != mark or foreign_grammar(mark) or glance.rules != _rules(config, glance.languages):
        return False
    repository = git.locate(root)
    if repository is None:
        return False
    listing = Listing(repository)
    listing.names()
    if listing.outcome != "done" or listing.digest != glance.listing or not _are_same(glance, root):
        return False
    if not config.entities:
        return True
    return _seen(discover_memory(root, config)) == glance.memory and history_state(root, config) == glance.history


def _are_same(glance: Glance, root: Path) -> bool:
    """Whether every listed file is there with its size and time, and all folders are folders."""
    base = f"{os.path.realpath(root)}{os.sep}"
    look = os.lstat
    try:
        for path in names_of(glance.folders):
            if not stat.S_ISDIR(look(base + path).st_mode):
                return False
        for path, size, changed in zip(names_of(glance.paths), glance.sizes, glance.times, strict=True):
            found = look(base + path)
            if found.st_mtime_ns != changed or found.st_size != size or not stat.S_ISREG(found.st_mode):
                return False
    except (OSError, ValueError):
        return False
    return all(_is_as_passed(base + name_of(path), kind, changed) for path, kind, changed in glance.passed)


def _is_as_passed(place: str, kind: int, changed: int) -> bool:
    try:
        found = passed_by("", os.lstat(place))
    except (FileNotFoundError, NotADirectoryError):
        found = passed_by("", None)
    except (OSError, ValueError):
        return False
    return found == ("", kind, changed)


def _seen(memory: Mapping[str, list[File]]) -> dict[str, list[Passed]]:
    return {source: [(file.path, file.size, file.mtime_ns) for file in found] for source, found in memory.items()}


def _folders(paths: Iterable[str]) -> list[str]:
    """Every folder on the way to these files."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(folders)


def _rules(config: Config, languages: Iterable[str]) -> list[str]:
    """What a fingerprint depends on beside the repository."""
    known = versions(languages) | {"discover": DISCOVER_VERSION, "format": str(FORMAT_VERSION)}
    return [config.digest, config.database or "", *(f"{name} {known[name]}" for name in sorted(known))]
