"""A look at names, sizes and times, which mostly tells that nothing has changed since an index was found true.

The fingerprint follows from git's list of the files, from the size and time of each, from the notes, the history, the
configuration and the versions of what reads files. A `Glance` holds all these as they were under a fingerprint; as long
as they are the same, the fingerprint is. Whatever differs, or cannot be told so, is left to the fingerprint itself.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from . import git
from .config import Config
from .discover import DISCOVER_VERSION, Discovery, Listing, discover_memory
from .fingerprint import FileHashes, history_state, is_settled
from .model import FORMAT_VERSION, MAX_DOCUMENT_BYTES, Closed, File
from .names import below, names_of
from .state import foreign_grammar, languages_of, versions

_Seen = tuple[str, int, int]


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
    passed: list[_Seen]
    """Listed names that are no files, with what they are and, for folders, their time."""
    memory: dict[str, list[_Seen]]
    history: dict[str, Any] | None

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Glance | None:
        try:
            return msgspec.msgpack.decode(data, type=cls)
        except msgspec.MsgspecError:
            return None

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)


def take(
    root: Path,
    config: Config,
    discovery: Discovery,
    hashes: FileHashes,
    is_read: Callable[[str], bool],
    mark: str,
    history: dict[str, Any] | None,
) -> Glance | None:
    """The look of a repository that was just found to have this fingerprint; None where a look cannot be trusted.

    `is_read` tells which files' bytes count. Each of them must be known by its size and time, unless it is too large to
    be read.
    """
    if discovery.source != "git" or not discovery.trace.steady:
        return None
    files = discovery.files
    memory = discover_memory(root, config) if config.entities else {}
    read = [file for file in files if is_read(file.path)] + [file for found in memory.values() for file in found]
    passed = [_passed(root, path) for path in discovery.trace.passed]
    settled = all(is_settled(changed, time.time_ns()) for _, _, changed in passed if changed)
    if not settled or any(file.size <= MAX_DOCUMENT_BYTES and hashes.known(file) is None for file in read):
        return None
    languages = languages_of(file.path for file in files)
    return Glance(
        mark,
        _rules(config, languages),
        languages,
        discovery.trace.listing,
        _folders(file.path for file in files),
        [file.path for file in files],
        [file.size for file in files],
        [file.mtime_ns for file in files],
        passed,
        {source: [_seen(file) for file in found] for source, found in memory.items()},
        history,
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
    memory = {source: [_seen(file) for file in found] for source, found in discover_memory(root, config).items()}
    return memory == glance.memory and history_state(root, config) == glance.history


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
    return all(_passed(root, seen[0]) == seen for seen in glance.passed)


def _passed(root: Path, path: str) -> _Seen:
    try:
        found = os.lstat(below(root, path))
    except (OSError, ValueError):
        return path, 0, 0
    kind = stat.S_IFMT(found.st_mode)
    return path, kind, found.st_mtime_ns if stat.S_ISDIR(kind) else 0


def _seen(file: File) -> _Seen:
    return file.path, file.size, file.mtime_ns


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
