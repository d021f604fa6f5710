"""The window of git history that change entities are made from (reference 4.4).

One `git log` reads the newest commits of the first-parent line of HEAD. Merges are compared with their first parent;
renames are not sought, so that both sides of one are among the paths. Where the root is a folder inside a work tree,
the window holds the commits that touched this folder, with paths relative to it: the rest of the repository is not
part of the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from trivium.why import git
from trivium.why.config import Config
from trivium.why.model import (
    HISTORY_VERSION,
    MAX_METADATA,
    MAX_NAME,
    MAX_PATH,
    CommitChange,
    Conventional,
    Coverage,
    History,
)

HISTORY_SECONDS = 30.0
HISTORY_BYTES = 64 << 20

_LOG = [
    "log",
    "--first-parent",
    "--diff-merges=first-parent",
    "--raw",
    "--no-renames",
    "--no-abbrev",
    "-z",
    "--no-color",
    "--no-decorate",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--ignore-submodules=none",
    "-O/dev/null",
    "--encoding=UTF-8",
    "--format=%x00%H%x00%as%x00%s%x00%b%x00",
]
_CONVENTIONAL = re.compile(r"([a-z][a-z0-9-]*)(?:\(([^)]+)\))?(!)?:\s+\S")
_BREAKING = re.compile(r"^BREAKING[ -]CHANGE:", re.MULTILINE)


def read_history(
    root: str | Path,
    config: Config,
    *,
    head: str | None = None,
    seconds: float = HISTORY_SECONDS,
    max_bytes: int = HISTORY_BYTES,
) -> History:
    """Commits of the window, newest first, with the coverage record of scope `git:first-parent` (reference 4.4, 5).

    `head` is the commit to start from, by default the one HEAD names now. A commit without a subject has its object
    id as subject. A commit whose parents the repository does not have keeps no paths. Never raises: without a usable
    history the list is empty and the record says why.
    """
    if config.profile == "service":
        return _not_analyzed("The restricted profile reads no local history.")
    repository = git.locate(root)
    if repository is None:
        if git.unread(root):
            return _not_analyzed("There is a .git, but it holds no repository that git can read.")
        return _not_analyzed("This folder is not in a git work tree.")
    if git.program(repository.top) is None:
        return _not_analyzed("No git program was found.")
    head = head or git.head(repository)
    if head is None:
        failure = git.why_no_head(repository)
        if failure is not None:
            return _failed(failure)
        return _not_analyzed("The repository has no commits yet.")
    since = None
    if config.since_tag is not None:
        since = git.tag(repository, config.since_tag)
        if since is None:
            return _not_analyzed(f"There is no tag {config.since_tag} that names a commit.")
        if not git.is_ancestor(repository, since, head):
            return _not_analyzed(f"The tag {config.since_tag} is not an ancestor of HEAD.")
    window = _Window(repository, config.max_commits)
    reading = git.Reading(
        repository,
        _arguments(repository, config.max_commits, head, since),
        seconds=seconds,
        max_bytes=max_bytes,
        folder=repository.prefix,
    )
    window.read(reading.tokens())
    if reading.outcome in ("failed", "missing"):
        return _failed(reading.error.splitlines()[0] if reading.error else "")
    return window.history(reading.outcome, config)


def _arguments(repository: git.Repository, count: int, head: str, since: str | None) -> list[str]:
    arguments = [*_LOG, f"--max-count={count + 1}", "--relative" if repository.prefix else "--no-relative", head]
    if since is not None:
        arguments.append(f"^{since}")
    return [*arguments, "--", *(["."] if repository.prefix else [])]


def _failed(said: str) -> History:
    return _not_analyzed(f"Git could not read the history{f': {said[:256]}' if said else ''}.")


def _not_analyzed(reason: str) -> History:
    return History([], Coverage("knowledge-entities", "git:first-parent", "not-analyzed", HISTORY_VERSION, reason))


class _Commit(msgspec.Struct):
    sha: str
    date: str
    subject: str
    breaking: bool
    paths: list[str] = []


class _Window:
    """Commits as they come out of `git log`, and what was met on the way."""

    def __init__(self, repository: git.Repository, count: int) -> None:
        self.count = count
        self.cut = _cut_commits(repository)
        self.commits: list[CommitChange] = []
        self.older = False
        self.parentless = 0
        self.unfit_paths = 0
        self._open: _Commit | None = None

    def read(self, tokens: Iterator[bytes]) -> None:
        """Take a header of four fields, then records of a `:` token and a path; no message can be read as a path."""
        for token in tokens:
            token = token.removeprefix(b"\n")
            if not token:
                continue
            if token.startswith(b":"):
                self._path(next(tokens, b""))
                continue
            self._close()
            fields = [next(tokens, None) for _ in range(3)]
            if fields[2] is None:
                return
            date, subject, body = (str(field, "utf-8", "replace") for field in fields if field is not None)
            self._open = _Commit(token.decode(), date, subject.strip(), _BREAKING.search(body) is not None)

    def _path(self, raw: bytes) -> None:
        if not raw or self._open is None:
            return  # cut short by a bound
        try:
            path = raw.decode()
        except UnicodeDecodeError:
            self.unfit_paths += 1
            return
        if len(path) > MAX_PATH or "\\" in path:
            self.unfit_paths += 1
        else:
            self._open.paths.append(path)

    def _close(self) -> None:
        commit, self._open = self._open, None
        if commit is None:
            return
        if len(self.commits) == self.count:
            self.older = True
            return
        paths = sorted(set(commit.paths))
        if commit.sha in self.cut:
            self.parentless += 1
            paths = []
        subject = commit.subject[:MAX_NAME].rstrip() or commit.sha
        self.commits.append(
            CommitChange(commit.sha, subject, commit.date, paths, conventional(commit.subject, commit.breaking))
        )

    def history(self, outcome: str, config: Config) -> History:
        """Close the window: a commit that a bound cut in the middle is left out."""
        if outcome == "done":
            self._close()
        one = len(self.commits) == 1
        count, were = f"{len(self.commits):,} commit{'' if one else 's'}", "was" if one else "were"
        after = f" after {config.since_tag}" if config.since_tag else ""
        missing = []
        if outcome != "done":
            bound = "time" if outcome == "time-limit" else "size"
            missing.append(f"The {bound} limit ended the reading after {count}{after}.")
        elif self.older:
            missing.append(f"The newest {count}{after} {were} read; older ones were not.")
        if self.parentless:
            missing.append("The repository lacks the parents of its oldest commits (shallow or grafted).")
        if self.unfit_paths:
            missing.append(f"{self.unfit_paths:,} touched paths cannot be index paths and were left out.")
        reason = " ".join(missing) or f"All {count}{after} of the first-parent line {were} read."
        status = "partial" if missing else "complete"
        coverage = Coverage("knowledge-entities", "git:first-parent", "complete", HISTORY_VERSION, reason)
        return History(self.commits, msgspec.structs.replace(coverage, status=status), outcome == "done")


def _cut_commits(repository: git.Repository) -> frozenset[str]:
    """Commits whose parents are hidden: the border of a shallow clone, and grafted ones."""
    cut: set[str] = set()
    for name in ("shallow", "info/grafts"):
        try:
            text = (repository.common_dir / name).read_text("ascii", "replace")
        except OSError:
            continue
        cut.update(line.split()[0] for line in text.splitlines() if line.strip())
    return frozenset(cut)


def conventional(subject: str, breaking: bool) -> Conventional | None:
    """The parts of a subject of the form `type(scope)!: …`, the type in lower case; `breaking` is the footer's word."""
    match = _CONVENTIONAL.match(subject)
    if match is None:
        return None
    scope = match[2][:MAX_METADATA] if match[2] else None
    return Conventional(match[1][:MAX_METADATA], bool(match[3]) or breaking, scope)
