"""What the coverage records say about the exported names of source files (reference 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from trivium.code.languages import ANALYSED, extension_of, language_of
from trivium.code.model import ModuleSymbols
from trivium.code.symbols import ANALYSER_VERSIONS
from trivium.why.model import Coverage, CoverageEvidence

_ANALYZER = "source-symbols"
_MAX_RECORDS = 24
_MAX_REASON = 1024
_MAX_EVIDENCE = 32


def symbol_coverage(files: Iterable[str], results: Mapping[str, ModuleSymbols]) -> list[Coverage]:
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
