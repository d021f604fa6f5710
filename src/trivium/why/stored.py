"""The index of a context: built into the store, loaded whole or in part, and checked for freshness.

Loading and checking are what every `why` does, so the build and the projection are imported only to build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trivium.errors import TriviumError
from trivium.store import contexts, repository
from trivium.store.sqlite import Session, SqliteStore
from trivium.why import git, glance
from trivium.why.collecting import rare_collections
from trivium.why.config import Config, load_config
from trivium.why.fingerprint import FileHashes
from trivium.why.glance import Glance
from trivium.why.lookup import LookupIndex, MissingPageError, pages_of
from trivium.why.model import Index, sha256
from trivium.why.names import path_of, text_of
from trivium.why.prepared import PreparedIndex
from trivium.why.state import is_marked, same_settings, state_of, survey

if TYPE_CHECKING:
    from trivium.why.build import Build, Parts, Progress, Summary
    from trivium.why.projection import ProjectionReport

_GLANCE = "glance"


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
    the index is as it was, since people may have changed what it projects. Raises: BareRepositoryError;
    NotFoundError when the context has been deleted meanwhile.
    """
    from trivium.search.index import index_texts
    from trivium.store.graph_writer import GraphWriter
    from trivium.why.build import Parts, build
    from trivium.why.projection import ProjectionReport, project

    git.require_work_tree(root)
    report = ProjectionReport()
    with rare_collections():
        parts, hashes = _earlier(store, ctx) if cache else (Parts(), FileHashes())
        built = build(root, config, parts=parts, hashes=hashes, progress=progress)
        stored = repository.StoredIndex(
            text_of(root), built.index.index_hash, built.fingerprint, built.hashes.to_json(), built.body
        )
        pages = [*pages_of(PreparedIndex(built.index)), *_glance_page(built.glance)]
        with store.write(timeout=max(600.0, store.settings.timeout)) as session:
            repository.release(session, contexts.require(session, ctx))
            changed = repository.current_hash(session, ctx) != stored.index_hash
            graph = GraphWriter(session, ctx, clock(), index_texts)
            report = project(graph, built.index)
            graph.finish()
            repository.save(session, ctx, stored, built.parts.to_bytes(), pages, clock())
        built.parts = Parts()  # stored, like the pages, and of no use any more
        del pages
    store.moment += 1
    return Indexed(built.summary, report, changed, built)


def _earlier(store: SqliteStore, ctx: int) -> tuple[Parts, FileHashes]:
    from trivium.why.build import Parts

    with store.read() as session:
        found = repository.load_parts(session, ctx)
    if found is None:
        return Parts(), FileHashes()
    return Parts.from_bytes(found[1]), FileHashes.from_json(found[0])


def _glance_page(seen: Glance | None) -> list[repository.Page]:
    return [] if seen is None else [(_GLANCE, 0, seen.to_bytes())]


def settings_for(store: SqliteStore, root: Path, config: Config | None) -> Config:
    """The configuration, by default the repository's own, with the database named if it lies in the repository."""
    chosen = config or load_config(root, entities=True)
    database = None if store.in_memory else Path(store.path).resolve()
    if database is None or not database.is_relative_to(root):
        return chosen
    return msgspec.structs.replace(chosen, database=text_of(database.relative_to(root).as_posix()))


# --- loading --------------------------------------------------------------------------------------


def load_index(store: SqliteStore, ctx: int) -> Loaded:
    """The whole index, ready for many questions. Raises: IndexMissingError, IndexDamagedError."""
    with store.read() as session:
        found = repository.load(session, ctx)
    if found is None:
        raise _missing()
    return Loaded(PreparedIndex(_decoded(found)), found.root, found.index_hash)


@contextmanager
def opened_index(store: SqliteStore, ctx: int) -> Iterator[Loaded]:
    """The index for a question or two, which read what they need of it while this is open.

    Raises: IndexMissingError, IndexDamagedError, the latter also for a look-up inside.
    """
    with store.read() as session:
        mark = repository.load_mark(session, ctx)
        if mark is None:
            raise _missing()
        read = partial(repository.page, session, ctx, mark.index_hash)
        whole = partial(_whole, session, ctx)
        try:
            try:
                prepared: PreparedIndex = LookupIndex(read, whole)
            except MissingPageError:  # stored by a version that cut no such pages
                prepared = PreparedIndex(whole())
            yield Loaded(prepared, mark.root, mark.index_hash)
        except (repository.DamagedPageError, MissingPageError):
            raise _damaged() from None


def _whole(session: Session, ctx: int) -> Index:
    found = repository.load(session, ctx)
    if found is None:
        raise _missing()
    return _decoded(found)


def _decoded(stored: repository.StoredIndex) -> Index:
    """Raises: IndexDamagedError when the hash does not fit."""
    if sha256(stored.body) != stored.index_hash:
        raise _damaged()
    with rare_collections():
        try:
            index = msgspec.json.decode(stored.body, type=Index)
        except msgspec.MsgspecError:
            raise IndexDamagedError(
                "The stored repository index is of another version.", "Build it again with: trivium index"
            ) from None
    index.index_hash = stored.index_hash
    return index


def _missing() -> IndexMissingError:
    return IndexMissingError("This context has no repository index.", "Build it with: trivium index")


def _damaged() -> IndexDamagedError:
    return IndexDamagedError("The stored repository index is damaged.", "Build it again with: trivium index")


# --- freshness ------------------------------------------------------------------------------------


def check_fresh(store: SqliteStore, ctx: int, settings: Callable[[Path], Config], *, cache: bool = True) -> str:
    """The hash of the stored index, if it still describes its repository (reference 2.5).

    `settings` gives the configuration in force at a root. Files that had to be read, though they are as they were, are
    known by their new times afterwards. Raises: IndexMissingError, IndexDamagedError, IndexStaleError.
    """
    with store.read() as session:
        mark = repository.load_mark(session, ctx)
        if mark is None:
            raise _missing()
        if repository.body_hash(session, ctx) != mark.index_hash:
            raise _damaged()
        seen = _stored_glance(session, ctx, mark) if cache else None
    root = path_of(mark.root)
    config = settings(root)
    if seen is None or not glance.is_same(seen, root, config, mark.fingerprint):
        _check_closely(store, ctx, mark, root, config, cache)
    return mark.index_hash


def _stored_glance(session: Session, ctx: int, mark: repository.Mark) -> Glance | None:
    try:
        data = repository.page(session, ctx, mark.index_hash, _GLANCE, 0)
    except repository.DamagedPageError:
        return None
    return None if data is None else Glance.from_bytes(data)


def _check_closely(
    store: SqliteStore, ctx: int, mark: repository.Mark, root: Path, config: Config, cache: bool
) -> None:
    """Work the fingerprint out; when it is the old one, remember what the repository looks like."""
    hashes = FileHashes()
    if cache:
        with store.read() as session:
            hashes = FileHashes.from_json(repository.load_hashes(session, ctx))
    known = dict(hashes.entries)
    found = survey(root, config)
    if not is_marked(mark.fingerprint, state_of(found, hashes)):
        raise _stale(store, ctx, mark, config)
    if not cache:
        return
    seen = glance.take(found, hashes, mark.fingerprint)
    if seen is None and hashes.entries == known:
        return
    with suppress(TriviumError), store.write(timeout=1.0) as session:
        if repository.load_mark(session, ctx) == mark:
            repository.save_hashes(session, ctx, hashes.to_json())
            repository.save_pages(session, ctx, mark.index_hash, _glance_page(seen))


def _stale(store: SqliteStore, ctx: int, mark: repository.Mark, config: Config) -> IndexStaleError:
    """Why the index is out of date: other settings if they differ, else what it describes."""
    held = _holds_entities(store, ctx)
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
    if not same_settings(mark.fingerprint, config):
        return IndexSettingsError(
            "The repository index no longer describes the configuration: it was built with other settings.",
            "Build and ask with the same trivium.toml and the same --config.",
        )
    return IndexStaleError(
        "The repository index no longer describes the files, the history or the configuration.",
        "Build it again with: trivium index",
    )


def _holds_entities(store: SqliteStore, ctx: int) -> bool:
    """Whether the stored index was built with entities."""
    with suppress(IndexMissingError), opened_index(store, ctx) as loaded:
        return loaded.prepared.head.enabled
    return False


def entities_switch(config: Config) -> str:
    """Where the configuration switches entities on and off, as one writes it."""
    name = "trivium.toml" if config.path is None else Path(config.path).name
    if name.endswith(".toml"):
        return f"`enabled` under [index.knowledgeEntities] in {name}"
    return f"index.knowledgeEntities.enabled in {name}"
