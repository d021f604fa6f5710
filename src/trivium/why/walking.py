"""The files of a folder for which git gives no list, by the `.gitignore` files found on disk (reference 2.1)."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trivium.why.config import Config, globs
from trivium.why.exclusion import encodes, exclusion
from trivium.why.model import MAX_PATH
from trivium.why.names import below, text_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_IGNORE_BYTES = 1 << 20


class _Rules(NamedTuple):
    """The rules of one `.gitignore` file; `base` is the length of its folder's path with the slash."""

    base: int
    spec: GitIgnoreSpec


def walk(
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
        for path, is_folder in entries_in(root, folder, reasons):
            name = f"{path}/" if is_folder else path
            if len(path) > MAX_PATH:
                reasons.add("path-limit")
            elif not _ignored(name, rules) and not (is_folder and left_out(f"{path}/x")):
                found.append((name, (path, rules) if is_folder else path))
        found.sort(key=lambda pair: pair[0], reverse=True)
        stack += [entry for _, entry in found]


def entries_in(root: Path, folder: str, reasons: set[str]) -> list[tuple[str, bool]]:
    entries: list[tuple[str, bool]] = []
    try:
        with os.scandir(below(root, folder)) as scan:
            for entry in scan:
                name = text_of(entry.name)
                if not encodes(name):
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
