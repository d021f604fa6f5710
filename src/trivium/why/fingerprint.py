"""Is a stored index still true? One fingerprint answers without a rebuild (reference 2.5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trivium.errors import printable
from trivium.why import git
from trivium.why.config import Config
from trivium.why.discover import DISCOVER_VERSION, Discovery
from trivium.why.model import FORMAT_VERSION, HISTORY_VERSION, MAX_DOCUMENT_BYTES, File, canonical, sha256
from trivium.why.note_files import discover_memory
from trivium.why.reading import read_bytes

_SETTLED_NS = 100_000_000
_SETTLED_COARSE_NS = 2_000_000_000


class FileHashes(msgspec.Struct):
    """SHA-256 of files' bytes by path, size and modification time, kept from one run to the next.

    A file modified moments before it was read is not kept: another edit could leave size and time as they are.
    """

    entries: dict[str, tuple[int, int, str]] = {}

    @classmethod
    def from_json(cls, data: bytes | str) -> FileHashes:
        """Read what `to_json` wrote; anything else gives an empty cache, since it only saves reading."""
        try:
            return msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return cls()

    def to_json(self) -> bytes:
        return canonical(self)

    def known(self, file: File) -> str | None:
        """The hash of this file as it was discovered, if it is kept."""
        entry = self.entries.get(file.path)
        return entry[2] if entry is not None and entry[0] == file.size and entry[1] == file.mtime_ns else None

    def record(self, file: File, data: bytes, *, now_ns: int | None = None) -> str:
        """Keep and return the hash of bytes just read; `file` must be the one that `read_bytes` gave back."""
        digest = sha256(data)
        if is_settled(file.mtime_ns, time.time_ns() if now_ns is None else now_ns):
            self.entries[file.path] = (file.size, file.mtime_ns, digest)
        else:
            self.entries.pop(file.path, None)
        return digest

    def digest(self, root: Path, file: File) -> str:
        """The hash of a file, read only if it is not kept; for an unreadable file, the reason in its place."""
        kept = self.known(file)
        if kept is not None:
            return kept
        read = read_bytes(root, file, MAX_DOCUMENT_BYTES)
        return f"!{read.reason}" if read.data is None else self.record(read.file, read.data)

    def keep_only(self, paths: Iterable[str]) -> None:
        """Forget files that are no longer discovered."""
        wanted = set(paths)
        for path in [path for path in self.entries if path not in wanted]:
            del self.entries[path]


def is_settled(mtime_ns: int, now_ns: int) -> bool:
    """Whether a time is old enough that another change would not leave it as it is; some systems count seconds."""
    coarse = mtime_ns % 1_000_000_000 == 0
    return now_ns - mtime_ns > (_SETTLED_COARSE_NS if coarse else _SETTLED_NS)


def fingerprint(
    root: str | Path,
    config: Config,
    discovery: Discovery,
    *,
    versions: Mapping[str, str],
    hashes: FileHashes,
    content: Callable[[str], bool] | None = None,
    history: dict[str, Any] | None = None,
    memory: Mapping[str, list[File]] | None = None,
) -> str:
    """64 hex digits that change whenever an index built from this state could (reference 2.5).

    `versions` are those of the analysers. `content` tells which paths' bytes the index depends on (by default all);
    of the others only the name counts. With entities on, HEAD, the tag's commit, the borders of a shallow clone and
    the memory notes count too; `history` and `memory` are what `history_state` and `discover_memory` told, if they were
    asked already. For `--no-cache` pass an empty `FileHashes`.
    """
    root = Path(root)
    files = [
        [file.path, hashes.digest(root, file)] if content is None or content(file.path) else [file.path]
        for file in discovery.files
    ]
    state: dict[str, object] = {
        "configuration": config.digest,
        "versions": dict(versions) | {"discover": DISCOVER_VERSION, "format": str(FORMAT_VERSION)},
        "files": files,
        "reasons": discovery.told(),
        "repositories": discovery.repositories,
    }
    if config.entities:
        state["history"] = history_state(root, config) if history is None else history
        state["memory"] = {
            source: [[file.path, hashes.digest(root, file)] for file in found]
            for source, found in (discover_memory(root, config) if memory is None else memory).items()
        }
    return sha256(canonical(state))


def history_state(root: str | Path, config: Config) -> dict[str, Any] | None:
    """What the history window depends on; no process unless a tag is configured or refs are not files."""
    repository = None if config.profile == "service" else git.locate(root)
    if repository is None:
        return None
    return {
        "version": HISTORY_VERSION,
        "head": git.head(repository),
        "since": None if config.since_tag is None else git.tag(repository, config.since_tag),
        "window": config.max_commits,
        "folder": printable(repository.prefix),
        "cut": [_digest(repository.common_dir / name) for name in ("shallow", "info/grafts")],
    }


def _digest(file: Path) -> str | None:
    try:
        return sha256(file.read_bytes())
    except OSError:
        return None
