"""Git, asked read-only and without trust in the repository's own settings (reference 4.4, safety).

Every command runs with the repository named explicitly, without prompts, pager, hooks, monitors, helper programs,
replacement objects or any transport, and within a time and an output bound. Nothing is written.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from trivium.errors import TriviumError
from trivium.why.names import name_of, text_of

OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
MAX_ERROR_BYTES = 2048
_KEPT = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"))
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS": "",
}
_SETTINGS = (
    "core.attributesFile=" + os.devnull,
    "core.fsmonitor=false",
    "core.hooksPath=" + os.devnull,
    "core.pager=cat",
    "core.quotePath=false",
    "credential.helper=",
    "gc.auto=0",
    "log.follow=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
)


class Repository(NamedTuple):
    """A work tree and its data. `prefix` is the asked folder relative to `top`, empty at the top itself."""

    top: Path
    git_dir: Path
    common_dir: Path
    prefix: str


def locate(root: str | Path) -> Repository | None:
    """The work tree that holds `root`, found by reading `.git` folders and files; linked work trees included."""
    start = Path(os.path.realpath(root))
    for folder in (start, *start.parents):
        git_dir = _git_dir(folder)
        if git_dir is not None:
            common = _small(git_dir / "commondir")
            common_dir = Path(os.path.realpath(git_dir / name_of(common))) if common else git_dir
            prefix = text_of(start.relative_to(folder).as_posix())
            return Repository(folder, git_dir, common_dir, "" if prefix == "." else prefix)
    return None


def _git_dir(folder: Path) -> Path | None:
    place = folder / ".git"
    if place.is_file():
        text = _small(place)
        if not text or not text.startswith("gitdir: "):
            return None
        place = folder / name_of(text[8:])
    place = Path(os.path.realpath(place))
    return place if (place / "HEAD").is_file() else None


def _small(file: Path) -> str | None:
    """The text of a small file without its final line ending, or None."""
    try:
        with file.open("rb") as stream:
            return stream.read(8192).decode("utf-8", "surrogateescape").rstrip("\r\n")
    except OSError:
        return None


def unread(root: str | Path) -> bool:
    """Whether there is a `.git` at or above a folder, which `locate` passes over when it holds no repository."""
    start = Path(os.path.realpath(root))
    return any(os.path.lexists(folder / ".git") for folder in (start, *start.parents))


def bare(root: str | Path) -> Path | None:
    """The bare repository that a folder is or lies in, if it is in no work tree: what is there is git's own data."""
    if locate(root) is not None:
        return None
    start = Path(os.path.realpath(root))
    return next((folder for folder in (start, *start.parents) if _is_git_data(folder)), None)


class BareRepositoryError(TriviumError):
    """A folder is a repository without a work tree, or lies in one: its files are git's own."""


def require_work_tree(root: str | Path) -> None:
    """Raises: BareRepositoryError, with the clone to make, where all there is to read is git's own data."""
    folder = bare(root)
    if folder is not None:
        raise BareRepositoryError(
            f"{folder} is a bare repository of git: it has no work tree to read.",
            f"Clone it and index the clone: {shlex.join(['git', 'clone', str(folder), 'FOLDER'])}",
        )


def _is_git_data(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def program(root: Path) -> str | None:
    """The git program on the search path; one that lies in the repository itself is not used."""
    found = _which("git.exe" if os.name == "nt" else "git")
    if found is None or not Path(found).is_absolute():
        return None
    return None if Path(found).resolve().is_relative_to(os.path.realpath(root)) else found


def _which(name: str) -> str | None:
    """The program of this name on the search path (`shutil` has this too, and is slow to load)."""
    for folder in os.get_exec_path():
        place = os.path.join(folder, name)  # noqa: PTH118 (an empty folder stands for the working one)
        if os.access(place, os.X_OK) and not os.path.isdir(place):  # noqa: PTH112
            return place
    return None


def head(repository: Repository) -> str | None:
    """The commit that HEAD names, read without a process where refs are files; None before the first commit."""
    text = _small(repository.git_dir / "HEAD")
    for _ in range(5):
        if text is None:
            return None
        if OBJECT_ID.fullmatch(text):
            return text
        name = text.removeprefix("ref: ").strip()
        if not name.startswith("refs/") or ".." in name.split("/"):
            break
        if (repository.common_dir / "reftable").is_dir():
            break
        text = _ref(repository, name)
    return resolve(repository, "HEAD^{commit}")


def _ref(repository: Repository, name: str) -> str | None:
    for folder in dict.fromkeys((repository.git_dir, repository.common_dir)):
        place = folder / name_of(name)
        if place.is_file() and (text := _small(place)):
            return text
    try:
        packed = (repository.common_dir / "packed-refs").read_bytes()
    except OSError:
        return None
    match = re.search(
        rb"^([0-9a-f]{40,64}) " + re.escape(name.encode("utf-8", "surrogateescape")) + rb"$", packed, re.MULTILINE
    )
    return match[1].decode() if match else None


def tag(repository: Repository, name: str) -> str | None:
    """The commit that a tag stands for, annotated tags followed; None if there is none."""
    return resolve(repository, f"refs/tags/{name}^{{commit}}")


def resolve(repository: Repository, revision: str) -> str | None:
    """The object id of a revision, by one process."""
    text = _output(repository, ["rev-parse", "--verify", "--quiet", "--end-of-options", revision])
    text = (text or "").strip()
    return text if OBJECT_ID.fullmatch(text) else None


def why_no_head(repository: Repository) -> str | None:
    """What git says of a HEAD that names no commit; None before the first commit."""
    reading = Reading(repository, ["log", "--max-count=1", "--format=%H"], seconds=10.0, max_bytes=1 << 10)
    list(reading.tokens())
    if "does not have any commits yet" in reading.error:
        return None
    return reading.error.splitlines()[0] if reading.error else reading.outcome


def is_ancestor(repository: Repository, commit: str, of: str) -> bool:
    return _output(repository, ["merge-base", "--is-ancestor", commit, of]) is not None


def _output(repository: Repository, arguments: Sequence[str]) -> str | None:
    reading = Reading(repository, arguments, seconds=10.0, max_bytes=1 << 20)
    tokens = list(reading.tokens())
    return "\0".join(token.decode("utf-8", "replace") for token in tokens) if reading.outcome == "done" else None


class Reading:
    """One git command, its output read as NUL-separated tokens.

    `outcome` is set when `tokens` ends: `done`, `missing` (no git program), `failed` (with `error`, git's last
    words), `time-limit` or `byte-limit`. A token that was cut short is never given out.
    """

    def __init__(
        self, repository: Repository, arguments: Sequence[str], *, seconds: float, max_bytes: int, folder: str = ""
    ) -> None:
        self.repository = repository
        self.arguments = arguments
        self.seconds = seconds
        self.max_bytes = max_bytes
        self.folder = repository.top / name_of(folder)
        self.outcome = "failed"
        self.error = ""
        self._expired = False

    def tokens(self) -> Iterator[bytes]:
        git = program(self.repository.top)
        if git is None:
            self.outcome = "missing"
            return
        try:
            process = self._start(git)
        except OSError as error:
            self.error = error.strerror or "cannot start"
            return
        assert process.stderr is not None
        words = bytearray()
        listener = threading.Thread(target=_listen, args=(process.stderr, words), daemon=True)
        listener.start()
        with process:
            try:
                yield from self._read(process)
            finally:
                listener.join(timeout=1.0)
        self.error = words.decode("utf-8", "replace").strip()

    def _start(self, git: str) -> subprocess.Popen[bytes]:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT
        }
        environment.update(_ENVIRONMENT)
        command = [git, f"--git-dir={self.repository.git_dir}", f"--work-tree={self.repository.top}"]
        for setting in (f"safe.directory={self.repository.top.as_posix()}", *_SETTINGS):
            command += ["-c", setting]
        return subprocess.Popen(
            [*command, *self.arguments],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _read(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        assert process.stdout is not None
        timer = threading.Timer(self.seconds, self._expire, (process,))
        timer.daemon = True
        timer.start()
        parts: list[bytes] = []
        left = self.max_bytes
        try:
            while chunk := os.read(process.stdout.fileno(), min(1 << 16, left + 1)):
                full = len(chunk) > left
                chunk = chunk[:left]
                left -= len(chunk)
                first, *others = chunk.split(b"\0")
                parts.append(first)
                if others:
                    yield b"".join(parts)
                    yield from others[:-1]
                    parts = [others[-1]]
                if full:
                    self.outcome = "byte-limit"
                    return
            code = process.wait()
            self.outcome = "time-limit" if self._expired else "done" if code == 0 else "failed"
            if self.outcome == "done" and any(parts):
                yield b"".join(parts)
        finally:
            timer.cancel()
            process.kill()

    def _expire(self, process: subprocess.Popen[bytes]) -> None:
        self._expired = True
        process.kill()


def _listen(stream: IO[bytes], words: bytearray) -> None:
    """Read all that git has to say beside its output, so that it never waits, and keep the beginning."""
    while chunk := os.read(stream.fileno(), 4096):
        words += chunk[: MAX_ERROR_BYTES - len(words)]
