"""Which files a repository has, and their bytes (reference 2.1).

In a git work tree the list is git's: tracked files, and untracked ones that no ignore rule matches. Elsewhere, without
a git program, and in a folder that git itself ignores, the folder is walked and the `.gitignore` files found on disk
apply. Links are never followed, and neither submodules nor repositories inside the work tree are entered.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from trivium.why import git
from trivium.why.config import Config
from trivium.why.exclusion import exclusion, plain_folders, unfit
from trivium.why.model import Coverage, CoverageEvidence, File, sha256
from trivium.why.names import below, name_of
from trivium.why.reasons import counted
from trivium.why.walking import walk

DISCOVER_VERSION = "3"
MAX_REASON = 1024
MAX_LISTING_BYTES = 64 << 20
LISTING_SECONDS = 60.0

_PASSING = frozenset({"time-limit", "file-limit", "byte-limit", "listing-limit", "unreadable"})
"""Codes of what may come out otherwise though nothing has changed."""
_COUNTED = {"git": 100_000, "walk": 10_000}
"""How many files beyond a bound are counted: git has listed them all, a walk has yet to find them."""


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


class LeftOut(msgspec.Struct, frozen=True):
    """Files beyond a bound: its code, the setting with its value, the first of them, and how many there are."""

    code: str
    setting: str
    first: str
    number: int
    whole: bool = True
    """Whether they were counted to the end; else there are more."""

    def told(self) -> str:
        return f"{'' if self.whole else 'at least '}{counted(self.number, 'file')} left out by {self.setting}"


class Discovery(msgspec.Struct):
    """The files in code-point order of their paths, and the codes of what was left out (see `coverage`).

    Codes: `file-limit`, `byte-limit`, `time-limit`, `listing-limit` (the list ends early), `path-encoding`,
    `path-characters`, `path-limit` (names that cannot be repository paths), `unreadable`, `git-missing`, `git-failed`
    (walked instead).
    """

    files: list[File]
    reasons: list[str]
    source: Literal["git", "walk"]
    repositories: list[str] = []
    """Folders that are repositories of their own (submodules and others) and were not entered, ascending."""
    left_out: LeftOut | None = None
    trace: Trace = msgspec.field(default_factory=lambda: Trace("", [], False))

    def coverage(self) -> list[Coverage]:
        """What was left out: `files` are `partial`, `submodules` are `not-analyzed` (reference 5); else no record."""
        records: list[Coverage] = []
        if self.reasons:
            reason = ", ".join(self.told())
            first = [] if self.left_out is None else [CoverageEvidence(self.left_out.first, 1)]
            records.append(Coverage("discovery", "files", "partial", DISCOVER_VERSION, reason, first))
        if self.repositories:
            reason = _not_entered(self.repositories)
            records.append(Coverage("discovery", "submodules", "not-analyzed", DISCOVER_VERSION, reason))
        return records

    def told(self) -> list[str]:
        """The codes, that of a bound with how many files it left out."""
        beyond = self.left_out
        return [
            f"{code}: {beyond.told()}" if beyond is not None and code == beyond.code else code for code in self.reasons
        ]


def _not_entered(folders: list[str]) -> str:
    """The folders as far as a reason has room for them (reference 5)."""
    number = "1 repository" if len(folders) == 1 else f"{len(folders):,} repositories"
    told = f"{number} inside this one not entered: "
    listed = ", ".join(folders)
    room = MAX_REASON - len(told)
    return told + (listed if len(listed) <= room else f"{listed[: room - 2]} …")


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
    walked = walk(root, config, repository is not None, deadline, reasons, own)
    return _collect(root, config, walked, deadline, reasons, own, "walk")


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
        reasons.add("time-limit" if listing.outcome == "time-limit" else "listing-limit")
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
    is_excluded = exclusion(config)
    plain = plain_folders(root)
    budget, bound = _byte_budget(config)
    beyond: list[str] = []
    whole = True
    base = below(root, "")
    for number, path in enumerate(names):
        if number % 256 == 255 and time.monotonic() > deadline:
            whole = False
            reasons.add("time-limit")
            break
        if (reason := unfit(path)) is not None:
            reasons.add(reason)
            continue
        if is_excluded(path):
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
        if not beyond and len(files) < config.max_files and budget >= 0:
            files.append(File(path, found.st_size, found.st_mtime_ns))
            continue
        beyond.append(path)
        if len(beyond) == _COUNTED[source]:
            whole = False
            break
    left_out = None
    if beyond:
        full = len(files) == config.max_files
        setting = f"safety.maxFiles ({config.max_files:,})" if full else bound
        left_out = LeftOut("file-limit" if full else "byte-limit", setting, beyond[0], len(beyond), whole)
        reasons.add(left_out.code)
    inside = sorted(path for path in own if unfit(path) is None and not is_excluded(f"{path}/x"))
    kept = _one_spelling(root, files)
    steady = steady and len(kept) == len(files) and _PASSING.isdisjoint(reasons)
    return Discovery(kept, sorted(reasons), source, inside, left_out, Trace("", passed, steady, moment))


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


def _byte_budget(config: Config) -> tuple[float, str]:
    """The total size of listed files, `maxBytes` or what would fit into `maxMemoryMb`, and the setting that says so."""
    limits = [(float("inf"), "")]
    if config.max_bytes is not None:
        limits.append((config.max_bytes, f"safety.maxBytes ({config.max_bytes:,})"))
    if config.max_memory_mb is not None:
        limits.append((config.max_memory_mb << 20, f"safety.maxMemoryMb ({config.max_memory_mb:,})"))
    return min(limits)


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
