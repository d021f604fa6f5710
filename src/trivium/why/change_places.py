"""Which files are change logs, by their path: whole logs, the file of one release, the fragment of one change (4.3).

A name with a version, a year or `old` behind it is a part of a log: `CHANGELOG-1.x.md`, `ChangeLog.2020`. A file named
after a version in a folder of releases holds that release: `docs/releases/4.2.txt`. A fragment waits for the next
release: `changelog.d/123.feature.rst`, `.changeset/brave-cats.md`. Whether a suffix is read is told by `places`.
"""

from __future__ import annotations

import re

from msgspec import Struct

UNRELEASED = "Unreleased"

_NAMES = (
    *("changelog", "changes", "history", "news", "releases"),
    *("release_notes", "releasenotes", "whatsnew", "whats_new"),
)
_BEGINNINGS = ("changelog", "changes", "history", "news", "release", "whats")
_VERSION = r"v?\d+(?:[._-](?:\d+|x))*(?:[._-]?(?:a|b|rc|alpha|beta|dev|pre|post|final)[._-]?\d*)?"
_PART = (
    rf"(?:{_VERSION}|v?x|old|older|archived?|legacy|previous|past|current|next|latest|unreleased|stable|main|master|pre"
    r"|alpha|beta|en|de|fr|es|it|pt|nl|pl|cs|ru|uk|tr|zh|ja|ko|cn|tw|br|hans|hant)"
)
_PART_OF_LOG = re.compile(rf"(?:{'|'.join(_NAMES)})(?:[-_. ]*{_VERSION}|(?:[-_. ]{_PART})+)")
_FOLDERS = frozenset({*_NAMES, "changelogs", "release"})
_RELEASE = re.compile(
    r"(?:(?:version|release)[-_ ]?)?(v?\d+(?:\.(?:\d+|x))+(?:[._-]?(?:a|b|rc|alpha|beta|dev|pre|post)[._-]?\d*)?"
    r"|\d{4}[-_.]\d{2}(?:[-_.]\d{2})?|v\d{1,3})(?:[-_](?:release[-_]?)?(?:notes|changes|changelog))?"
)
_DATE = re.compile(r"\d{4}[-_.]\d{2}")
_WRITTEN = frozenset({"news", "history"})
"""Folders in which a date is no release but when something was written."""
_FRAGMENT_FOLDERS = frozenset(
    {"changelog.d", "changes.d", "news.d", "newsfragments", "newsfragment", "changelog_fragments"}
)
_CHANGESETS = ".changeset"
_KIND_NAMES = (
    "feature features feat bugfix bug fix fixed fixes doc docs documentation removal removed remove misc breaking"
    " change changed changes added add new deprecation deprecated security enhancement improvement internal trivial"
    " packaging performance perf vendor contrib significant notable dependency dependencies deps api process"
)
_KINDS = frozenset(_KIND_NAMES.split())
_FRAGMENT = re.compile(r"[+\w-]{1,80}\.([a-z]{2,20})(?:\.\d{1,4})?")
_NO_FRAGMENT = re.compile(r"(?:readme|index|_?template.*|contributing|config)\b")


class ChangePlace(Struct, frozen=True):
    """What a path says about changes; `release` is the one that holds what no heading of the file does."""

    is_log: bool
    release: str = ""
    fragment: bool = False
    """Whether the file is one change, unless it is a list."""


def has_own_ending(path: str, name: str, suffix: str) -> bool:
    """Whether the ending of a path is no type of file; `name` is its last part in lower case.

    >>> has_own_ending("changelog.old", "changelog.old", ".old"), has_own_ending("changelog.py", "changelog.py", ".py")
    (True, False)
    """
    if suffix[1:] in _KINDS:
        return _has_kind(name) and _holds_fragments(path.lower().rpartition("/")[0].rpartition("/")[2])
    return name.startswith(_BEGINNINGS) and _PART_OF_LOG.fullmatch(_plain(name)) is not None


def change_place(path: str, suffix: str, *, named: bool) -> ChangePlace:
    """What the path of a text says; `named` tells that the configuration names it as a change log.

    >>> change_place("docs/changes/1.2.rst", ".rst", named=False)
    ChangePlace(is_log=True, release='1.2', fragment=False)
    """
    *folders, name = path.lower().split("/")
    stem = name.removesuffix(suffix) if suffix else name
    if name.startswith(_BEGINNINGS):
        plain = _plain(stem)
        if plain.split(".", 1)[0] in _NAMES or _PART_OF_LOG.fullmatch(plain):
            return ChangePlace(True)
    if _is_fragment(stem, suffix, folders) and not _NO_FRAGMENT.match(stem):
        return ChangePlace(True, UNRELEASED, fragment=True)
    folder = _plain(folders[-1]) if folders else ""
    if named or folder in _FOLDERS:
        released = _RELEASE.fullmatch(stem)
        if released is not None and _DATE.match(released.group(1)) and folder in _WRITTEN and not named:
            released = None
        return ChangePlace(named or released is not None, released.group(1) if released else "")
    return ChangePlace(False)


def _is_fragment(stem: str, suffix: str, folders: list[str]) -> bool:
    """A text of a folder for fragments, which may have sections; elsewhere one whose name ends in a kind of change."""
    if folders[-1:] == [_CHANGESETS]:
        return suffix == ".md"
    if suffix and not _FRAGMENT_FOLDERS.isdisjoint(folders):
        return _RELEASE.fullmatch(stem) is None
    return _has_kind(stem) and any(_holds_fragments(folder) for folder in folders[-1:])


def _holds_fragments(folder: str) -> bool:
    return folder in _FRAGMENT_FOLDERS or _plain(folder) in _FOLDERS


def _has_kind(stem: str) -> bool:
    kind = _FRAGMENT.fullmatch(stem)
    return kind is not None and kind.group(1) in _KINDS


def _plain(name: str) -> str:
    return re.sub(r"[- ]", "_", name)
