"""The exported names of a source file, and what the coverage records say about them (reference 2.4 and 5).

Files are read as text and never run. A parser is loaded when the first file of its language is met, so a repository of
Python files needs none but Python's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from .collector import unparsed
from .languages import ANALYSED, GRAMMARS, PYTHON, extension_of, language_of
from .model import Coverage, CoverageEvidence, ModuleSymbols

ANALYSER_VERSIONS: dict[str, str] = dict.fromkeys(sorted(ANALYSED), "1")
"""Raised whenever the analyser of a language reads any file differently; part of an index's fingerprint."""

MAX_SOURCE_BYTES = 2 << 20
"""Longer files are data rather than source code: entries without symbols."""
MAX_PYTHON_BYTES = 1 << 20
"""Python's own parser needs up to a kilobyte of memory for each byte of a hostile file."""

_SNIFFED = 64 << 10
_MAX_TEXTS, _MAX_TEXT_BYTES = 64, 1 << 20
"""How many texts, or from which size of them all, are analysed at once."""
_ANALYZER = "source-symbols"
_MAX_RECORDS = 24
_MAX_REASON = 1024
_MAX_EVIDENCE = 32
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
        from .parse_worker import analyse_apart

        texts, self._texts, self._size = self._texts, [], 0
        for (path, _, _), symbols in zip(texts, analyse_apart(texts), strict=True):
            if symbols is not None:
                self._found[path] = symbols


def _analyse_python(path: str, data: bytes) -> ModuleSymbols:
    if len(data) > MAX_PYTHON_BYTES:
        return unparsed(PYTHON)
    from .symbols_python import analyse_python

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
        from .grammars import versions as grammar_versions

        versions["grammars"] = grammar_versions()
    return versions


def coverage(files: Iterable[str], results: Mapping[str, ModuleSymbols]) -> list[Coverage]:
    """One record `symbols:<language>` for each language seen, ascending by scope (reference 5).

    `files` are all discovered paths; others than source files are passed over. `results` holds what `analyse` gave.
    A file whose language has an analyser but that has no result counts as not analysed.
    """
    groups: dict[str, list[str]] = {}
    for path in sorted(files):
        result = results.get(path)
        language = result.language if result is not None else language_of(path)
        if language is not None:
            groups.setdefault(language, []).append(path)
    ranked = sorted(groups, key=lambda language: (language not in ANALYSED, -len(groups[language]), language))
    kept, rest = ranked[:_MAX_RECORDS], ranked[_MAX_RECORDS:]
    records = [_record(language, groups[language], results) for language in kept]
    if rest:
        records.append(_not_analysed("other", [path for language in rest for path in groups[language]]))
    return sorted(records, key=lambda record: record.scope)


def _record(language: str, paths: list[str], results: Mapping[str, ModuleSymbols]) -> Coverage:
    if language not in ANALYSED:
        return _not_analysed(language, paths)
    missing = [path for path in paths if path not in results]
    if len(missing) == len(paths):
        return _not_analysed(language, paths, "their parser is not available or they were not read")
    broken = [path for path in paths if path in results and not results[path].parsed]
    parts = []
    if broken:
        parts.append(f"{len(broken)} of {_files(len(paths))} did not parse as a whole")
    if missing:
        parts.append(f"{len(missing)} of {_files(len(paths))} not read")
    return Coverage(
        analyzer=_ANALYZER,
        analyzer_version=ANALYSER_VERSIONS[language],
        scope=f"symbols:{language}",
        status="partial" if parts else "complete",
        reason="; ".join(parts) or None,
        evidence=[CoverageEvidence(path, 1) for path in sorted(broken + missing)[:_MAX_EVIDENCE]],
    )


def _not_analysed(language: str, paths: list[str], why: str = "no analyser for this language") -> Coverage:
    extensions = Counter(extension_of(path) for path in paths)
    listed = ", ".join(f".{extension} {count}" for extension, count in sorted(extensions.items()))
    reason = f"{_files(len(paths))} ({listed}) found by path only: {why}"
    return Coverage(analyzer=_ANALYZER, scope=f"symbols:{language}", status="not-analyzed", reason=reason[:_MAX_REASON])


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"
