"""Tree-sitter grammars, loaded when the first file of their language is read; nothing is fetched over a network.

The grammars come packed in a wheel and are unpacked once into the user's cache folder. Where that folder cannot be
written or holds a damaged file, a grammar is unpacked into a temporary folder for this process alone. Without the
packages, or on a system for which they have no grammar, the languages are reported as not analysed.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
import time
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Tree

_FOLDER = "SEMBLE_GRAMMARS_CACHE_DIR"
_PACKAGES = ("tree-sitter", "semble-grammars")
_WATCHED_BYTES = 8 << 10
_SECONDS = 5.0
_STATEMENT_ENDS = re.compile(rb"[;{}]")
_MAX_OPEN_ANGLES = 4000
_LOCK = threading.Lock()


class NoGrammar(Exception):
    """A grammar cannot be loaded here: its language is reported as not analysed."""


def parse(grammar: str, data: bytes) -> Node | None:
    """The root of a syntax tree. None when no tree was made within five seconds of processor time.

    Some texts that are no source code take a parser quadratic time; the limit keeps them from stopping a build.
    NoGrammar when there is none of this name here.
    """
    language = _language(grammar)
    if language is None:
        raise NoGrammar(grammar)
    if grammar in ("java", "csharp") and _has_endless_generics(data):
        return None
    from tree_sitter import Parser

    parser = Parser(language)
    if len(data) <= _WATCHED_BYTES:
        return parser.parse(data).root_node
    deadline = time.thread_time() + _SECONDS

    def read(offset: int, _point: Point) -> bytes:
        return data[offset:] if offset else data

    def late(_offset: int, _error: bool) -> bool:
        return time.thread_time() > deadline

    try:
        tree: Tree = parser.parse(read, progress_callback=late)
    except ValueError:
        return None
    return tree.root_node


def _has_endless_generics(data: bytes) -> bool:
    """Thousands of `<` in one statement: their recovery from it is one quadratic step that no limit interrupts."""
    if data.count(b"<") <= _MAX_OPEN_ANGLES:
        return False
    return any(statement.count(b"<") > _MAX_OPEN_ANGLES for statement in _STATEMENT_ENDS.split(data))


def available(grammar: str) -> bool:
    """Whether the grammar can be loaded here."""
    return _language(grammar) is not None


@lru_cache(maxsize=1)
def versions() -> str:
    """The versions of the packages that hold parser and grammars, without loading them; `none` for a missing one."""
    return " ".join(map(_version, _PACKAGES))


def _version(package: str) -> str:
    """As the name of the installed package's folder says, since the library that reads metadata is slow to load."""
    start = f"{package.replace('-', '_')}-"
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as scan:
                names = [entry.name for entry in scan]
        except OSError:
            continue
        for name in names:
            if name.startswith(start) and name.endswith(".dist-info"):
                return name.removeprefix(start).removesuffix(".dist-info")
    return "none"


@lru_cache(maxsize=64)
def _language(grammar: str) -> Language | None:
    try:
        import semble_grammars as grammars  # type: ignore[import-untyped]
    except ImportError:
        return None
    with _LOCK:
        for load in (grammars.get_language, _unpack_apart):
            try:
                language: Language = load(grammar)
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
