"""What a repository is right now, as one fingerprint: made with an index, and again to see whether it is still true.

Kept apart from the build so that a query need not load what reads files.
"""

from __future__ import annotations

from pathlib import Path

from trivium.why.config import Config
from trivium.why.discover import Discovery
from trivium.why.fingerprint import FileHashes, fingerprint
from trivium.why.languages import is_source, language_of
from trivium.why.manifests import is_manifest
from trivium.why.places import DocumentRules, is_document
from trivium.why.symbols import analyser_versions

READING_VERSION = "1"
"""Raise it when what is read out of a file changes: kept parts are then read again."""


_SETTINGS = "."


def state_of(root: Path, config: Config, discovery: Discovery, hashes: FileHashes) -> str:
    """The fingerprint of a repository as it is: equal to that of a build when its index is still true.

    It ends in the digest of the settings, so that these can be told from the files.
    """
    rules = rules_of(config)
    state = fingerprint(
        root,
        config,
        discovery,
        versions=versions(discovery),
        hashes=hashes,
        content=lambda path: is_read(path, rules),
    )
    return f"{state}{_SETTINGS}{config.digest}"


def same_settings(mark: str, config: Config) -> bool:
    """Whether a fingerprint of `state_of` was made with these settings, as far as it tells."""
    _, told, digest = mark.rpartition(_SETTINGS)
    return not told or digest == config.digest


def rules_of(config: Config) -> DocumentRules:
    return DocumentRules(config.records, config.glossaries, config.changelogs, config.generated_markers)


def versions(discovery: Discovery) -> dict[str, str]:
    """The versions of everything that reads files of this repository."""
    languages = {language for file in discovery.files if (language := language_of(file.path)) is not None}
    return analyser_versions(languages) | {"reading": READING_VERSION}


def is_read(path: str, rules: DocumentRules) -> bool:
    """Whether the index depends on the bytes of this file; of others only the name counts."""
    return is_source(path) or is_document(path, rules) or is_manifest(path)
