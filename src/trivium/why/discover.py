"""Which files a repository has, and their bytes (reference 2.1).

In a git work tree the list is git's: tracked files, and untracked ones that no ignore rule matches. Elsewhere, without
a git program, and in a folder that git itself ignores, the folder is walked and the `.gitignore` files found on disk
apply. Links are never followed, and neither submodules nor repositories inside the work tree are entered.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from trivium.why import git
from trivium.why.config import Config, globs
from trivium.why.model import MAX_PATH, Coverage, File, sha256
from trivium.why.names import below, name_of, text_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

DISCOVER_VERSION = "2"
MAX_REASON = 1024
MAX_LISTING_BYTES = 64 << 20
MAX_IGNORE_BYTES = 1 << 20
LISTING_SECONDS = 60.0

_PASSING = frozenset({"time-limit", "file-limit", "byte-limit", "unreadable"})
"""Codes of what may come out otherwise though nothing has changed."""

_FOLDERS = frozenset(
    [
        ".git",
        "node_modules",
        "dist",
        "build",
        "coverage",
        ".trivium",
        ".doc-bridge",
        ".turbo",
        ".next",
        "out",
        ".svelte-kit",
        ".venv",
        "venv",
        "__pycache__",
        ".tox",
        ".mypy_cache",
        "site-packages",
    ]
)
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OPEN_FILE = _OPEN | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd


Passed = tuple[str, int, int]
"""A listed name that is no file: its path, its kind as in a mode (0 for none), its time in nanoseconds if a folder."""


class Trace:
    """How a list came about, for a quick look later on; of no account when lists are compared.

    `listing` is a digest of what git printed, `passed` are listed names that were no files at `moment` (nanoseconds):
    removed ones, links, folders. `steady` tells that the same again gives the same files: no limit was met, nothing was
    left open.
    """

    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("listing", "moment", "passed", "steady")

    def __init__(self, listing: str, passed: list[Passed], steady: bool, moment: int = 0) -> None:
        self.listing = listing
        self.passed = passed
        self.steady = steady
        self.moment = moment

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace)


class Discovery(msgspec.Struct):
    """The files in code-point order of their paths, and the codes of what was left out (see `coverage`).

    Codes: `file-limit`, `byte-limit`, `time-limit` (the list ends early), `path-encoding`, `path-characters`,
    `path-limit` (names that cannot be repository paths), `unreadable`, `git-missing`, `git-failed` (walked instead).
    """

    files: list[File]
    reasons: list[str]
    source: Literal["git", "walk"]
    repositories: list[str] = []
    """Folders that are repositories of their own (submodules and others) and were not entered, ascending."""
    trace: Trace = msgspec.field(default_factory=lambda: Trace("", [], False))

    def coverage(self) -> list[Coverage]:
        """What was left out: `files` are `partial`, `submodules` are `not-analyzed` (reference 5); else no record."""
        records: list[Coverage] = []
        if self.reasons:
            records.append(Coverage("discovery", "files", "partial", DISCOVER_VERSION, ", ".join(self.reasons)))
        if self.repositories:
            reason = _not_entered(self.repositories)
            records.append(Coverage("discovery", "submodules", "not-analyzed", DISCOVER_VERSION, reason))
        return records


def _not_entered(folders: list[str]) -> str:
    """The folders as far as a reason has room for them (reference 5)."""
    count = "1 repository" if len(folders) == 1 else f"{len(folders):,} repositories"
    told = f"{count} inside this one not entered: "
    listed = ", ".join(folders)
    room = MAX_REASON - len(told)
    return told + (listed if len(listed) <= room else f"{listed[: room - 2]} …")


class Read(NamedTuple):
    """What `read_bytes` found: bytes and the file as it was then, or a reason code and None."""

    data: bytes | None
    file: File
    reason: str | None = None


def discover(root: str | Path, config: Config) -> Discovery:
    """List the files of the repository at `root` (reference 2.1). Never raises for what the folder holds."""
    root = Path(os.path.realpath(root))
    deadline = time.monotonic() + _seconds(config)
    reasons: set[str] = set()
    own: set[str] = set()
    repository = git.locate(root)
    if repository is not None:
        listing = Listing(repository, max(deadline - time.monotonic(), 0.001))
        names = _listed(listing, reasons, own)
        if names or (names is not None and not repository.prefix):
            found = _collect(root, config, names, deadline, reasons, own, "git")
            found.trace.listing = listing.digest
            return found
    own.clear()
    walk = _walk(root, config, repository is not None, deadline, reasons, own)
    return _collect(root, config, walk, deadline, reasons, own, "walk")


def _seconds(config: Config) -> float:
    return LISTING_SECONDS if config.max_time_ms is None else config.max_time_ms / 1000


class Listing:
    """Git's list of a folder's files: `names` gives them as git prints them; `digest` and `outcome` are known then."""

    def __init__(self, repository: git.Repository, seconds: float = LISTING_SECONDS) -> None:
        self._reading = git.Reading(
            repository,
            ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            seconds=seconds,
            max_bytes=MAX_LISTING_BYTES,
            folder=repository.prefix,
        )
        self.digest = ""

    @property
    def outcome(self) -> str:
        """As that of `git.Reading`."""
        return self._reading.outcome

    def names(self) -> list[bytes]:
        names = list(self._reading.tokens())
        self.digest = sha256(b"\0".join(names))
        return names


def _listed(listing: Listing, reasons: set[str], own: set[str]) -> list[str] | None:
    """Git's list, sorted; None if git cannot give one. `own` takes repositories inside the work tree."""
    names: set[str] = set()
    for token in listing.names():
        try:
            name = token.decode()
        except UnicodeDecodeError:
            reasons.add("path-encoding")
            continue
        if name.endswith("/"):
            own.add(name.rstrip("/"))
        else:
            names.add(name)
    if listing.outcome in ("missing", "failed"):
        reasons.add(f"git-{listing.outcome}")
        return None
    if listing.outcome != "done":
        reasons.add("time-limit" if listing.outcome == "time-limit" else "file-limit")
    return sorted(names)


def _collect(
    root: Path,
    config: Config,
    names: Iterable[str],
    deadline: float,
    reasons: set[str],
    own: set[str],
    source: Literal["git", "walk"],
) -> Discovery:
    files: list[File] = []
    passed: list[Passed] = []
    steady = True
    moment = time.time_ns()
    left_out = exclusion(config)
    plain = _plain_folders(root)
    budget = _byte_budget(config)
    base = below(root, "")
    for number, path in enumerate(names):
        if number % 256 == 255 and time.monotonic() > deadline:
            reasons.add("time-limit")
            break
        if (reason := _unfit(path)) is not None:
            reasons.add(reason)
            continue
        if left_out(path):
            continue
        if not plain(path.rpartition("/")[0]):
            steady = False
            continue
        place = base + name_of(path)
        try:
            found = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            passed.append(passed_by(path, None))
            continue  # removed from the work tree, or gone since it was listed
        except (OSError, ValueError):
            reasons.add("unreadable")
            continue
        if not stat.S_ISREG(found.st_mode):
            passed.append(passed_by(path, found))
            if stat.S_ISDIR(found.st_mode) and _is_repository(place):
                own.add(path)
            continue
        budget -= found.st_size
        if len(files) == config.max_files or budget < 0:
            reasons.add("file-limit" if len(files) == config.max_files else "byte-limit")
            break
        files.append(File(path, found.st_size, found.st_mtime_ns))
    inside = sorted(path for path in own if _unfit(path) is None and not left_out(f"{path}/x"))
    kept = _one_spelling(root, files)
    steady = steady and len(kept) == len(files) and _PASSING.isdisjoint(reasons)
    return Discovery(kept, sorted(reasons), source, inside, Trace("", passed, steady, moment))


def passed_by(path: str, found: os.stat_result | None) -> Passed:
    """What stands where no file does: what it is, and for a folder its time, which tells when its names change."""
    if found is None:
        return path, 0, 0
    return path, stat.S_IFMT(found.st_mode), found.st_mtime_ns if stat.S_ISDIR(found.st_mode) else 0


def _is_repository(folder: str) -> bool:
    """Whether a folder that git lists like a file is a submodule: checked out, or empty because it is not."""
    try:
        with os.scandir(folder) as scan:
            names = {entry.name for entry in scan}
    except OSError:
        return True
    return not names or ".git" in names


def _byte_budget(config: Config) -> float:
    """The total size of listed files: `maxBytes`, and no more than would fit into `maxMemoryMb`."""
    limits = [float("inf") if config.max_bytes is None else config.max_bytes]
    if config.max_memory_mb is not None:
        limits.append(config.max_memory_mb << 20)
    return min(limits)


def _unfit(path: str) -> str | None:
    """Why a name cannot be a path of the index (reference 3.1), or None."""
    if len(path) > MAX_PATH:
        return "path-limit"
    if "\\" in path or path.startswith("/") or (".." in path and ".." in path.split("/")):
        return "path-characters"
    return None if path.isascii() or _encodes(path) else "path-encoding"


def _encodes(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def exclusion(config: Config) -> Callable[[str], bool]:
    """A test for files that no index holds: the fixed exclusions and those of the configuration."""
    extra = globs(config.exclude)
    own = {config.out_file}
    if config.database:
        own.update(f"{config.database}{suffix}" for suffix in ("", "-wal", "-shm", "-journal"))
    beside = f"{config.out_file}."

    @cache
    def folder(path: str) -> bool:
        parent, _, name = path.rpartition("/")
        if parent and folder(parent):
            return True
        return name in _FOLDERS or name.endswith(".egg-info") or _is_private(name)

    def test(path: str) -> bool:
        parent, _, name = path.rpartition("/")
        if (parent and folder(parent)) or _is_private(name) or name == ".git" or name.endswith(".egg-info"):
            return True
        return path in own or path.startswith(beside) or extra(path)

    return test


def _is_private(name: str) -> bool:
    """Whether a name says that a file or folder holds secrets."""
    name = name.lower()
    return (
        "secret" in name
        or "credential" in name
        or name == ".env"
        or name.startswith(".env.")
        or name.endswith((".pem", ".key"))
    )


def _plain_folders(root: Path) -> Callable[[str], bool]:
    """A test whether a folder is reached without any link."""

    @cache
    def plain(path: str) -> bool:
        if not path:
            return True
        if not plain(path.rpartition("/")[0]):
            return False
        try:
            return stat.S_ISDIR(os.lstat(below(root, path)).st_mode)
        except (OSError, ValueError):
            return False

    return plain


def _one_spelling(root: Path, files: list[File]) -> list[File]:
    """Drop stale spellings: after a rename of case alone, a folder that ignores case answers to both names."""
    spellings: dict[str, list[File]] = {}
    for file in files:
        spellings.setdefault(file.path.casefold(), []).append(file)
    if len(spellings) == len(files):
        return files
    stale = {
        file.path for group in spellings.values() if len(group) > 1 for file in group if not _spelled(root, file.path)
    }
    return [file for file in files if file.path not in stale]


def _spelled(root: Path, path: str) -> bool:
    """Whether every part of the path stands in its folder exactly so."""
    folder = root
    for part in map(name_of, path.split("/")):
        try:
            if part not in {entry.name for entry in folder.iterdir()}:
                return False
        except OSError:
            return False
        folder = folder / part
    return True


# --- walking --------------------------------------------------------------------------------------


class _Rules(NamedTuple):
    """The rules of one `.gitignore` file; `base` is the length of its folder's path with the slash."""

    base: int
    spec: GitIgnoreSpec


def _walk(
    root: Path, config: Config, skip_repositories: bool, deadline: float, reasons: set[str], own: set[str]
) -> Iterator[str]:
    """Paths below `root` in code-point order, ignored ones and links left out; folders are entered lazily.

    `own` takes the repositories that are skipped.
    """
    left_out = exclusion(config)
    stack: list[tuple[str, list[_Rules]] | str] = [("", [])]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        if time.monotonic() > deadline:
            reasons.add("time-limit")
            return
        folder, rules = item
        if skip_repositories and folder and os.path.lexists(below(root, f"{folder}/.git")):
            own.add(folder)
            continue
        rules = _with_rules(root, folder, rules)
        found: list[tuple[str, tuple[str, list[_Rules]] | str]] = []
        for path, is_folder in _entries(root, folder, reasons):
            name = f"{path}/" if is_folder else path
            if len(path) > MAX_PATH:
                reasons.add("path-limit")
            elif not _ignored(name, rules) and not (is_folder and left_out(f"{path}/x")):
                found.append((name, (path, rules) if is_folder else path))
        found.sort(key=lambda pair: pair[0], reverse=True)
        stack += [entry for _, entry in found]


def _entries(root: Path, folder: str, reasons: set[str]) -> list[tuple[str, bool]]:
    entries: list[tuple[str, bool]] = []
    try:
        with os.scandir(below(root, folder)) as scan:
            for entry in scan:
                name = text_of(entry.name)
                if not _encodes(name):
                    reasons.add("path-encoding")
                elif not entry.is_symlink():
                    path = f"{folder}/{name}" if folder else name
                    entries.append((path, entry.is_dir(follow_symlinks=False)))
    except OSError:
        reasons.add("unreadable")
    return entries


def _with_rules(root: Path, folder: str, rules: list[_Rules]) -> list[_Rules]:
    sources = [f"{folder}/.gitignore" if folder else ".gitignore"]
    if not folder:
        sources.insert(0, ".git/info/exclude")
    for source in sources:
        file = Path(below(root, source))
        try:
            if not stat.S_ISREG(os.lstat(file).st_mode):
                continue
            with file.open("rb") as stream:
                text = stream.read(MAX_IGNORE_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        rules = [*rules, _Rules(len(folder) + 1 if folder else 0, _spec(text.split("\n")))]
    return rules


def _spec(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        globs((line,))
    except ValueError:
        return False
    return True


def _ignored(name: str, rules: list[_Rules]) -> bool:
    """The nearest `.gitignore` file that says anything about a name decides; a folder's name ends in a slash."""
    for base, spec in reversed(rules):
        include = spec.check_file(name[base:]).include
        if include is not None:
            return include
    return False


# --- memory notes ---------------------------------------------------------------------------------

_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md")


def discover_memory(root: str | Path, config: Config) -> dict[str, list[File]]:
    """Memory files by source: `agent-memory`, `cursor`, `instructions` (reference 6), in path order.

    Ignore rules do not apply; links are left out, and a missing folder is empty.
    """
    root = Path(os.path.realpath(root))
    found: dict[str, list[File]] = {}
    if not config.memory:
        return found
    for adapter in config.memory_adapters:
        if adapter == "playbook-memory":
            names = {name for folder in config.memory_dirs for name in _notes(root, folder, config.max_files)}
            found["agent-memory"] = _plain_files(root, names)
        elif adapter == "cursor-rules":
            found["cursor"] = _plain_files(root, _notes(root, ".cursor/rules", config.max_files))
        elif adapter == "instructions":
            found["instructions"] = _plain_files(root, _INSTRUCTIONS)
    return found


def _notes(root: Path, folder: str, limit: int) -> Iterator[str]:
    if not _plain_folders(root)(folder):
        return
    stack, reasons = [folder], set[str]()
    while stack and limit > 0:
        for path, is_folder in sorted(_entries(root, stack.pop(), reasons), reverse=True):
            if is_folder:
                stack.append(path)
            elif path.endswith((".md", ".mdc", ".mdx")):
                limit -= 1
                yield path


def _plain_files(root: Path, names: Iterable[str]) -> list[File]:
    files: list[File] = []
    plain = _plain_folders(root)
    for path in sorted(names):
        if _unfit(path) is not None or _is_private(path.rpartition("/")[2]):
            continue
        try:
            found = os.lstat(below(root, path))
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and plain(path.rpartition("/")[0]):
            files.append(File(path, found.st_size, found.st_mtime_ns))
    return files


# --- reading --------------------------------------------------------------------------------------


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
        if _unfit(file.path) is not None or not file.path or "\0" in file.path:
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
