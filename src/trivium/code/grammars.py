"""Tree-sitter grammars, loaded when the first file of their language is read; nothing is fetched over a network.

The grammars come packed in a wheel and are unpacked once into the user's cache folder. Where that folder cannot be
written or holds a damaged file, a grammar is unpacked into a temporary folder for this process alone. Without the
packages, or on a system for which they have no grammar, the languages are reported as not analysed.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language

_FOLDER = "SEMBLE_GRAMMARS_CACHE_DIR"
_PACKAGES = ("tree-sitter", "semble-grammars")
_METADATA = ".dist-info"


class NoGrammar(Exception):
    """A grammar cannot be loaded here: its language is reported as not analysed."""


@lru_cache(maxsize=1)
def versions() -> str:
    """The versions of the packages that hold parser and grammars, without loading them; `none` for a missing one."""
    found: dict[str, str] = {}
    for folder in sys.path:
        if len(found) < len(_PACKAGES):
            found = _versions_in(folder or ".") | found
    return " ".join(found.get(package) or _version(package) for package in _PACKAGES)


def _versions_in(folder: str) -> dict[str, str]:
    """The versions of our packages that are installed in a folder, from the names of their folders of metadata."""
    found: dict[str, str] = {}
    try:
        with os.scandir(folder) as scan:
            names = sorted(entry.name for entry in scan if entry.name.endswith(_METADATA))
    except OSError:
        return found
    for name in names:
        package, _, version = name.removesuffix(_METADATA).partition("-")
        found.setdefault(package.replace("_", "-"), version)
    return {package: found[package] for package in _PACKAGES if package in found}


def _version(package: str) -> str:
    """The version of a package that is installed in another way."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


@lru_cache(maxsize=64)
def load(grammar: str) -> Language | None:
    """The grammar of this name; None when there is none here."""
    try:
        import semble_grammars as grammars  # type: ignore[import-untyped]
    except ImportError:
        return None
    for get in (grammars.get_language, _unpack_apart):
        try:
            language: Language = get(grammar)
        except (grammars.LanguageNotFoundError, grammars.UnsupportedPlatformError):
            return None
        except (grammars.GrammarLoadError, OSError, RuntimeError):
            continue
        return language
    return None


def _unpack_apart(grammar: str) -> Language:
    """Unpack into a folder that only this user can enter, load, and remove the folder where the system allows it."""
    from semble_grammars import get_language

    before = os.environ.get(_FOLDER)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="trivium-grammar-", ignore_cleanup_errors=True) as folder:
        os.environ[_FOLDER] = folder
        try:
            language: Language = get_language(grammar)
            return language
        finally:
            if before is None:
                del os.environ[_FOLDER]
            else:
                os.environ[_FOLDER] = before
