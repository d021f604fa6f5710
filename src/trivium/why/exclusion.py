"""Which paths no index holds: private and generated ones, and names that cannot be repository paths (reference 2.1)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path

from trivium.why.config import Config, globs
from trivium.why.model import MAX_PATH
from trivium.why.names import below

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


def unfit(path: str) -> str | None:
    """Why a name cannot be a path of the index (reference 3.1), or None."""
    if len(path) > MAX_PATH:
        return "path-limit"
    if "\\" in path or path.startswith("/") or (".." in path and ".." in path.split("/")):
        return "path-characters"
    return None if path.isascii() or encodes(path) else "path-encoding"


def encodes(path: str) -> bool:
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
        return name in _FOLDERS or name.endswith(".egg-info") or is_private(name)

    def test(path: str) -> bool:
        parent, _, name = path.rpartition("/")
        if (parent and folder(parent)) or is_private(name) or name == ".git" or name.endswith(".egg-info"):
            return True
        return path in own or path.startswith(beside) or extra(path)

    return test


def is_private(name: str) -> bool:
    """Whether a name says that a file or folder holds secrets."""
    name = name.lower()
    return (
        "secret" in name
        or "credential" in name
        or name == ".env"
        or name.startswith(".env.")
        or name.endswith((".pem", ".key"))
    )


def plain_folders(root: Path) -> Callable[[str], bool]:
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
