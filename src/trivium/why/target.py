"""What a target names: a repository path in one of the ways people write paths, with or without lines (reference 7).

Only text is looked at. Whether a path exists is asked of the index.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import NamedTuple

_NUMBER = r"[1-9][0-9]{0,8}"
_LINES = rf"(?::|\#L)(?P<first>{_NUMBER})(?:-L?(?P<last>{_NUMBER}))?(?::{_NUMBER})?"
_PATH_AND_LINES = (rf"(?s:(?P<path>.+){_LINES})", rf"(?s:(?P<path>.+?){_LINES})")
"""With the longest path, then with the shortest one: `a:1:2` is a line of `a:1`, else a line and a column of `a`."""
_DRIVE = r"[A-Za-z]:/"
CHANGE = "knowledge-change:"
"""How ids of changes begin; the whole id of the commit follows."""
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Located(NamedTuple):
    """A target read as a path: `path` is None when the index knows no such path; `spelling` is the form to compare."""

    path: str | None
    lines: tuple[int, int] | None
    spelling: str


def locate(target: str, knows: Callable[[str], bool], root: str | None = None, folder: str = "") -> Located:
    """The repository path that a target names, as written or after it was put in the index's form.

    `./x`, `a//b`, `a/../x`, `../root/x`, backslashes, an absolute path inside `root`, and a suffix `:12`, `:3-9`,
    `:12:5` (line and column) or `#L12` are understood (reference 7, normalisation). A path that exists as written
    always wins; nothing is looked up on disk. With `folder` the target is read from this folder of the repository
    instead of from its root.

    >>> locate(".\\\\src\\\\x.ts:12", {"src/x.ts"}.__contains__)
    Located(path='src/x.ts', lines=(12, 12), spelling='src/x.ts')
    >>> locate("../x.ts", {"src/x.ts"}.__contains__, folder="src/deep").path
    'src/x.ts'
    """
    whole = _known(target, knows, root, folder)
    if whole is not None and knows(whole):
        return Located(whole, None, whole)
    spelling = whole or target
    for pattern in _PATH_AND_LINES:
        match = re.fullmatch(pattern, target)
        if match is None:
            break
        path = _known(match["path"], knows, root, folder)
        if path is not None and knows(path):
            first = int(match["first"])
            last = int(match["last"] or first)
            return Located(path, (min(first, last), max(first, last)), path)
        spelling = path or spelling
    return Located(None, None, spelling)


def is_relative(target: str) -> bool:
    """Whether a target says that it is read from the working folder: `.`, `./x`, `../x`."""
    return re.match(r"\.{1,2}(?:[/\\]|\Z)", target) is not None


def _known(text: str, knows: Callable[[str], bool], root: str | None, folder: str) -> str | None:
    """The path as written, if there is one, else in the index's form."""
    return text if text and not folder and knows(text) else _normal(text, root, folder)


def _normal(text: str, root: str | None, folder: str) -> str | None:
    """The path relative to the repository's root, with `/` and without `.` and `..`; None if it lies outside."""
    path = text.replace("\\", "/")
    if path.startswith("/") or re.match(_DRIVE, path):
        return None if root is None else _inside(posixpath.normpath(path), root)
    written = posixpath.join(folder, path)
    path = posixpath.normpath(written)
    if path == ".." or path.startswith("../"):  # it may come back by the name of the root's own folder
        return None if root is None else _inside(posixpath.normpath(posixpath.join(root, written)), root)
    return "" if path == "." else path


def _inside(path: str, root: str) -> str | None:
    base = posixpath.normpath(root.replace("\\", "/")).rstrip("/")
    if path == base:
        return ""
    return path[len(base) + 1 :] if path.startswith(f"{base}/") else None
