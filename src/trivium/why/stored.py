"""The index of a context: built into the store, loaded, and checked for freshness.

Loading and checking are what every `why` does, so the build and the projection are imported only to build.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trivium.errors import TriviumError
from trivium.store import repository
from trivium.store.sqlite import SqliteStore
from trivium.why.collecting import rare_collections
from trivium.why.config import Config, load_config
from trivium.why.discover import discover
from trivium.why.fingerprint import FileHashes
from trivium.why.model import Index, sha256
from trivium.why.prepared import PreparedIndex
from trivium.why.state import same_settings, state_of

if TYPE_CHECKING:
    from trivium.why.build import Build, Parts, Progress, Summary
    from trivium.why.projection import ProjectionReport


class IndexMissingError(TriviumError):
    """The context has no repository index."""


class IndexStaleError(TriviumError):
    """The stored index no longer describes the files, the history or the configuration."""


class IndexSettingsError(IndexStaleError):
    """The stored index was built with other settings; `setting` tells what to write into the configuration."""

    def __init__(self, message: str, setting: str, command: str = "trivium index") -> None:
        super().__init__(message, f"{setting} Build it with: {command}")
        self.setting = setting


class IndexDamagedError(TriviumError):
    """The stored index does not match its own hash."""


class Loaded(msgspec.Struct):
    """An index ready for queries, with the repository root that it was built from."""

    prepared: PreparedIndex
    root: str
    index_hash: str


class Indexed(msgspec.Struct):
    """What `build_into` did."""

    summary: Summary
    projection: ProjectionReport
    changed: bool
    build: Build


def build_into(
    store: SqliteStore,
    ctx: int,
    root: Path,
    config: Config,
    clock: Callable[[], str],
    *,
    cache: bool = True,
    progress: Progress | None = None,
) -> Indexed:
    """Build the index of a repository and put it in the context, graph included, in one transaction.

    Without `cache` every file is read again. On any failure the old index stays. The graph is brought in step also when
    the index is as it was, since people may have changed what it projects.
    """
    from trivium.search.index import index_texts
    from trivium.store.graph import Graph
    from trivium.why.build import Parts, build
    from trivium.why.projection import ProjectionReport, project

    report = ProjectionReport()
    with rare_collections():
        parts, hashes = _earlier(store, ctx) if cache else (Parts(), FileHashes())
        built = build(root, config, parts=parts, hashes=hashes, progress=progress)
        stored = repository.StoredIndex(
            str(root), built.index.index_hash, built.fingerprint, built.hashes.to_json(), built.body
        )
        with store.write(timeout=max(600.0, store.settings.timeout)) as session:
            changed = repository.current_hash(session, ctx) != stored.index_hash
            graph = Graph(session, ctx, clock(), index_texts)
            report = project(graph, built.index)
            graph.finish()
            repository.save(session, ctx, stored, built.parts.to_bytes(), clock())
    store.moment += 1
    return Indexed(built.summary, report, changed, built)


def _earlier(store: SqliteStore, ctx: int) -> tuple[Parts, FileHashes]:
    from trivium.why.build import Parts

    with store.read() as session:
        found = repository.load_parts(session, ctx)
    if found is None:
        return Parts(), FileHashes()
    return Parts.from_bytes(found[1]), FileHashes.from_json(found[0])


def settings_for(store: SqliteStore, root: Path, config: Config | None) -> Config:
    """The configuration, by default the repository's own, with the database named if it lies in the repository."""
    chosen = config or load_config(root, entities=True)
    database = None if store.in_memory else Path(store.path).resolve()
    if database is None or not database.is_relative_to(root):
        return chosen
    return msgspec.structs.replace(chosen, database=database.relative_to(root).as_posix())


def stored_index(store: SqliteStore, ctx: int) -> repository.StoredIndex:
    """The stored row. Raises: IndexMissingError."""
    with store.read() as session:
        found = repository.load(session, ctx)
    if found is None:
        raise IndexMissingError("This context has no repository index.", "Build it with: trivium index")
    return found


def prepare(stored: repository.StoredIndex) -> Loaded:
    """Decode a stored index. Raises: IndexDamagedError when its hash does not fit."""
    _check_whole(stored)
    with rare_collections():
        try:
            index = msgspec.json.decode(stored.body, type=Index)
        except msgspec.MsgspecError:
            raise IndexDamagedError(
                "The stored repository index is of another version.", "Build it again with: trivium index"
            ) from None
        index.index_hash = stored.index_hash
        return Loaded(PreparedIndex(index), stored.root, stored.index_hash)


def _check_whole(stored: repository.StoredIndex) -> None:
    if not stored.whole and sha256(stored.body) != stored.index_hash:
        raise IndexDamagedError("The stored repository index is damaged.", "Build it again with: trivium index")
    stored.whole = True


def check_fresh(
    store: SqliteStore, ctx: int, stored: repository.StoredIndex, root: Path, config: Config, *, cache: bool = True
) -> None:
    """Raises: IndexStaleError unless the index still describes the repository, IndexDamagedError (reference 2.5).

    Files that had to be read, though they are as they were, are known by their new times afterwards.
    """
    _check_whole(stored)
    hashes = FileHashes.from_json(stored.hashes) if cache else FileHashes()
    known = dict(hashes.entries)
    mark = state_of(root, config, discover(root, config), hashes)
    if mark != stored.fingerprint:
        raise _stale(stored, config)
    if cache and hashes.entries != known:
        with suppress(TriviumError), store.write(timeout=1.0) as session:
            repository.save_hashes(session, ctx, hashes.to_json())


def _stale(stored: repository.StoredIndex, config: Config) -> IndexStaleError:
    """Why the index is out of date: other settings if they differ, else what it describes."""
    held = holds_entities(stored)
    switch = entities_switch(config)
    if held and not config.entities:
        return IndexSettingsError(
            "The repository index no longer describes the configuration: it holds decisions, concepts and changes, and "
            "the settings in force leave them out (the default of ak-docs).",
            f"To keep them set {switch} to true; to do without them, to false.",
        )
    if config.entities and not held:
        return IndexSettingsError(
            "The repository index no longer describes the configuration: it was built without decisions, concepts and "
            "changes (the default of ak-docs), and the settings in force ask for them.",
            f"With {switch} set to true both trivium and ak-docs read them.",
        )
    if not same_settings(stored.fingerprint, config):
        return IndexSettingsError(
            "The repository index no longer describes the configuration: it was built with other settings.",
            "Build and ask with the same trivium.toml and the same --config.",
        )
    return IndexStaleError(
        "The repository index no longer describes the files, the history or the configuration.",
        "Build it again with: trivium index",
    )


class _Entities(msgspec.Struct):
    """Of an index only whether it has entities; they are not decoded."""

    entities: msgspec.Raw = msgspec.Raw(b"null")


def holds_entities(stored: repository.StoredIndex) -> bool:
    """Whether an index was built with entities."""
    try:
        return bytes(msgspec.json.decode(stored.body, type=_Entities).entities) != b"null"
    except msgspec.MsgspecError:
        return False


def entities_switch(config: Config) -> str:
    """Where the configuration switches entities on and off, as one writes it."""
    name = "trivium.toml" if config.path is None else Path(config.path).name
    if name.endswith(".toml"):
        return f"`enabled` under [index.knowledgeEntities] in {name}"
    return f"index.knowledgeEntities.enabled in {name}"
