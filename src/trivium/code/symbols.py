"""The exported names of a source file (reference 2.4).

Files are read as text and never run. A parser is loaded when the first file of its language is met, so a repository of
Python files needs none but Python's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from trivium.code.collector import unparsed
from trivium.code.languages import ANALYSED, GRAMMARS, PYTHON, extension_of, language_of
from trivium.code.model import ModuleSymbols

ANALYSER_VERSIONS: dict[str, str] = {language: "4" if language in GRAMMARS else "1" for language in sorted(ANALYSED)}
"""Raised whenever the analyser of a language reads any file differently; part of an index's fingerprint."""

MAX_SOURCE_BYTES = 2 << 20
"""Longer files are data rather than source code: entries without symbols."""
MAX_PYTHON_BYTES = 1 << 20
"""Python's own parser needs up to a kilobyte of memory for each byte of a hostile file."""

_SNIFFED = 64 << 10
_MAX_TEXTS, _MAX_TEXT_BYTES = 64, 1 << 20
"""How many texts, or from which size of them all, are analysed at once."""
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_CPLUSPLUS = re.compile(rb"^\s*(?:class|namespace|template|using|constexpr)\b|::|\b(?:public|private|protected):", re.M)


def analyse(path: str, data: bytes) -> ModuleSymbols | None:
    """The symbols of one file; None when its language has no analyser here (reference 2.4).

    `path` is the file's repository path: it decides the language and whether a Python file is a package's
    `__init__`. A file that cannot be parsed gives `parsed` False; nothing that a file holds raises an error.

    >>> analyse("a.py", b"def f(): ...").exports
    ['f']
    """
    found = Analysis()
    found.add(path, data)
    return found.results().get(path)


class Analysis:
    """Files analysed as they come, those that need a grammar many at once, which is faster than one by one."""

    def __init__(self) -> None:
        self._found: dict[str, ModuleSymbols] = {}
        self._texts: list[tuple[str, str, bytes]] = []
        self._size = 0

    def add(self, path: str, data: bytes) -> None:
        """Take a file; see `analyse`."""
        language = language_of(path)
        if language is None or language not in ANALYSED:
            return
        if language == PYTHON:
            self._found[path] = _analyse_python(path, data)
            return
        if language == "c" and extension_of(path) == "h" and _CPLUSPLUS.search(data, 0, _SNIFFED):
            language = "cpp"
        text = _utf8(data)
        if text is None or len(text) > MAX_SOURCE_BYTES:
            self._found[path] = unparsed(language)
            return
        self._texts.append((path, language, text))
        self._size += len(text)
        if len(self._texts) >= _MAX_TEXTS or self._size >= _MAX_TEXT_BYTES:
            self._analyse_texts()

    def results(self) -> dict[str, ModuleSymbols]:
        """The symbols of all files that were taken, by path; none for those without an analyser here."""
        if self._texts:
            self._analyse_texts()
        return self._found

    def _analyse_texts(self) -> None:
        from trivium.code.parse_worker import analyse_apart

        texts, self._texts, self._size = self._texts, [], 0
        for (path, _, _), symbols in zip(texts, analyse_apart(texts), strict=True):
            if symbols is not None:
                self._found[path] = symbols


def _analyse_python(path: str, data: bytes) -> ModuleSymbols:
    if len(data) > MAX_PYTHON_BYTES:
        return unparsed(PYTHON)
    from trivium.code.symbols_python import analyse_python

    return analyse_python(path, data)


def _utf8(data: bytes) -> bytes | None:
    """The text as UTF-8 without a byte-order mark, no line ended by `\\r` alone; None for what is no text."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError:
            return None
    if b"\0" in data:
        return None
    if _LONE_RETURN.search(data):
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.removeprefix(b"\xef\xbb\xbf")


def analyser_versions(languages: Iterable[str]) -> dict[str, str]:
    """What the fingerprint holds about the analysers of these languages: our version and that of their grammars.

    Python's own grammar is left to `state.marked`: it counts only where it failed.
    """
    seen = sorted(ANALYSED.intersection(languages))
    versions = {language: ANALYSER_VERSIONS[language] for language in seen}
    if GRAMMARS.keys() & versions.keys():
        from trivium.code.grammars import versions as grammar_versions

        versions["grammars"] = grammar_versions()
    return versions
