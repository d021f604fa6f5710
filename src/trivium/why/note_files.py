"""Which notes of people and agents a repository has, by their source (reference 6)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from trivium.why.config import Config
from trivium.why.exclusion import is_private, plain_folders, unfit
from trivium.why.model import File
from trivium.why.names import below
from trivium.why.walking import entries_in

MAX_LISTED = 100_000
"""Notes of one folder that are looked at; how many of them are read is up to `safety.maxFiles`."""
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
            names = {name for folder in config.memory_dirs for name in _notes(root, folder)}
            found["agent-memory"] = _plain_files(root, names)
        elif adapter == "cursor-rules":
            found["cursor"] = _plain_files(root, _notes(root, ".cursor/rules"))
        elif adapter == "instructions":
            found["instructions"] = _plain_files(root, _INSTRUCTIONS)
    return found


def _notes(root: Path, folder: str) -> Iterator[str]:
    return islice(_every_note(root, folder), MAX_LISTED)


def _every_note(root: Path, folder: str) -> Iterator[str]:
    if not plain_folders(root)(folder):
        return
    stack, reasons = [folder], set[str]()
    while stack:
        for path, is_folder in sorted(entries_in(root, stack.pop(), reasons), reverse=True):
            if is_folder:
                stack.append(path)
            elif path.endswith((".md", ".mdc", ".mdx")):
                yield path


def _plain_files(root: Path, names: Iterable[str]) -> list[File]:
    files: list[File] = []
    plain = plain_folders(root)
    for path in sorted(names):
        if unfit(path) is not None or is_private(path.rpartition("/")[2]):
            continue
        try:
            found = os.lstat(below(root, path))
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and plain(path.rpartition("/")[0]):
            files.append(File(path, found.st_size, found.st_mtime_ns))
    return files
