"""What a repository is right now, as one fingerprint: made with an index, and again to see whether it is still true.

Kept apart from the build so that a query need not load what reads files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trivium.code.languages import PYTHON, is_source, language_of
from trivium.code.model import ModuleSymbols
from trivium.code.symbols import analyser_versions
from trivium.why.config import Config
from trivium.why.discover import Discovery, discover
from trivium.why.fingerprint import FileHashes, fingerprint, history_state
from trivium.why.manifests import is_manifest
from trivium.why.model import File
from trivium.why.note_files import discover_memory
from trivium.why.places import DocumentRules, is_beside, is_document

READING_VERSION = "7"
"""Raise it when what is read out of a file changes: kept parts are then read again."""
PYTHON_GRAMMAR = f"{sys.version_info[0]}.{sys.version_info[1]}"
"""The version of the grammar of Python files: that of Python itself."""

_SETTINGS = "."
_GRAMMAR = "+"


class Survey(NamedTuple):
    """What there is of a repository at one time: all that its index is made from, but for what the files hold."""

    root: Path
    config: Config
    discovery: Discovery
    history: dict[str, Any] | None
    memory: dict[str, list[File]]


def survey(root: Path, config: Config, *, listing: Callable[[Path, Config], Discovery] = discover) -> Survey:
    """Look at a repository; history comes first, so that what is found is never older."""
    history = history_state(root, config) if config.entities else None
    found = listing(root, config)
    return Survey(root, config, found, history, discover_memory(root, config) if config.entities else {})


def state_of(found: Survey, hashes: FileHashes) -> str:
    """The fingerprint of a repository as it is: equal to that of a build when its index is still true.

    It ends in the digest of the settings, so that these can be told from the files.
    """
    state = fingerprint(
        found.root,
        found.config,
        found.discovery,
        versions=versions(languages_of(file.path for file in found.discovery.files)),
        hashes=hashes,
        content=reads(found.config),
        history=found.history,
        memory=found.memory,
    )
    return f"{state}{_SETTINGS}{found.config.digest}"


def marked(state: str, modules: Mapping[str, ModuleSymbols]) -> str:
    """The mark of an index of this state: with the grammar that could not parse some of its Python files, if any.

    Another Python may be able to; what one grammar parses, all of them read alike.
    """
    unread = any(module.language == PYTHON and not module.parsed for module in modules.values())
    return f"{state}{_GRAMMAR}{PYTHON_GRAMMAR}" if unread else state


def is_marked(mark: str, state: str) -> bool:
    """Whether an index with this mark is one of this state."""
    return mark.partition(_GRAMMAR)[0] == state and not foreign_grammar(mark)


def foreign_grammar(mark: str) -> bool:
    """Whether files were left unparsed by another Python than this one."""
    _, told, grammar = mark.partition(_GRAMMAR)
    return bool(told) and grammar != PYTHON_GRAMMAR


def same_settings(mark: str, config: Config) -> bool:
    """Whether a mark was made with these settings, as far as it tells."""
    _, told, digest = mark.partition(_GRAMMAR)[0].rpartition(_SETTINGS)
    return not told or digest == config.digest


def rules_of(config: Config) -> DocumentRules:
    return DocumentRules(config.records, config.glossaries, config.changelogs, config.generated_markers)


def languages_of(paths: Iterable[str]) -> list[str]:
    """The languages of these files, ascending."""
    return sorted({language for path in paths if (language := language_of(path)) is not None})


def versions(languages: Iterable[str]) -> dict[str, str]:
    """The versions of everything that reads files of these languages."""
    return analyser_versions(languages) | {"reading": READING_VERSION}


def reads(config: Config) -> Callable[[str], bool]:
    """A test whether the index depends on the bytes of a file; of others only the name counts."""
    rules = rules_of(config)
    return lambda path: is_source(path) or is_document(path, rules) or is_manifest(path) or is_beside(path)
