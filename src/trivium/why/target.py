"""What a target names: a repository path in one of the ways people write paths, with or without lines (reference 7).

Only text is looked at. Whether a path exists is asked of the index.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import NamedTuple

_LINES = r"(?s:(?P<path>.+):(?P<first>[1-9][0-9]{0,8})(?:-(?P<last>[1-9][0-9]{0,8}))?)"
_DRIVE = r"[A-Za-z]:/"


class Located(NamedTuple):
    """A target read as a path: `path` is None when the index knows no such path; `spelling` is the form to compare."""

    path: str | None
    lines: tuple[int, int] | None
    spelling: str


def locate(target: str, knows: Callable[[str], bool], root: str | None = None) -> Located:
    """The repository path that a target names, as written or after it was put in the index's form.

    `./x`, `a//b`, `a/../x`, backslashes, an absolute path inside `root`, and a suffix `:12` or `:3-9` are understood
    (reference 7, normalisation). A path that exists as written always wins; nothing is looked up on disk.

    >>> locate(".\\\\src\\\\x.ts:12", {"src/x.ts"}.__contains__)
    Located(path='src/x.ts', lines=(12, 12), spelling='src/x.ts')
    """
    if target and knows(target):
        return Located(target, None, target)
    whole = _normal(target, root)
    if whole is not None and knows(whole):
        return Located(whole, None, whole)
    match = re.fullmatch(_LINES, target)
    if match is None:
        return Located(None, None, whole or target)
    written = match["path"]
    path = written if knows(written) else _normal(written, root)
    if path is None or not knows(path):
        return Located(None, None, path or target)
    first = int(match["first"])
    last = int(match["last"] or first)
    return Located(path, (min(first, last), max(first, last)), path)


def _normal(text: str, root: str | None) -> str | None:
    """The path relative to the repository's root, with `/` and without `.` and `..`; None if it lies outside."""
    path = text.replace("\\", "/")
    if path.startswith("/") or re.match(_DRIVE, path):
        return None if root is None else _inside(posixpath.normpath(path), root)
    path = posixpath.normpath(path)
    if path == ".." or path.startswith("../"):
        return None
    return "" if path == "." else path


def _inside(path: str, root: str) -> str | None:
    base = posixpath.normpath(root.replace("\\", "/")).rstrip("/")
    if path == base:
        return ""
    return path[len(base) + 1 :] if path.startswith(f"{base}/") else None
