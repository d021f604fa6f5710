"""Curate: sources to documents, chunks and the text index, and from version to version in one step.

Only what changed is read again: a document stays as long as its source's hash and the recipe (the readers' version and
the knobs) do. Documents are staged in short transactions, so that a curate that was killed goes on where it stood; one
last transaction makes the staged ones live, removes those they replace, and fills the index. A reader sees the old
version or the new one.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from trivium.errors import TriviumError
from trivium.ingest import formats
from trivium.ingest.artifacts import build_artifacts, note_terms
from trivium.ingest.formats import extension_of
from trivium.ingest.manifest import Knobs, knobs_of
from trivium.ingest.parse import VERSION, reader_of
from trivium.ingest.reading import Read, failed, open_source, read_source, tokens_of, unexpected
from trivium.ingest.reading_apart import Readers, processors
from trivium.ingest.samples import sample_queries
from trivium.ingest.staging import Stager
from trivium.search import passage_text
from trivium.store import chunks as index
from trivium.store import contexts, documents, sources
from trivium.store.codec import canonical
from trivium.store.documents import HIDDEN, LIVE, STAGED, DocumentState
from trivium.store.faults import EngineError
from trivium.store.sources import SourceRow
from trivium.store.sqlite import Session, SqliteStore

FLIP_SECONDS = 3_600.0
MANY = 8 << 20
"""Bytes of files for each process that reads them: starting one takes as long as reading so much."""
LONG = 8 << 20
"""Bytes of a text file whose chunks are made piece by piece, in this process."""
SMALL = 64 << 10
"""Bytes of an HTML, e-mail or code file that may be read in this process: some parsers' time grows as the square."""


Progress = Callable[[int, int], None]
"""Told how many of the documents are done; may raise to stop the work, which keeps what is staged."""


class NoSourcesError(TriviumError):
    """There is nothing to curate."""


def check_sources(store: SqliteStore, ctx: int) -> None:
    """Raises: NoSourcesError when a curate would find nothing, now or from before."""
    with store.read() as session:
        context = contexts.require(session, ctx)
        if not context.live_version and not sources.totals(session, ctx)[0]:
            raise NoSourcesError(
                f"The context {context.slug!r} has no sources to curate.",
                f"Import some: trivium add PATH --context {context.slug}",
            )


class Curated(Struct):
    """What a curate did. `failed` are the sources that could not be read, each with the reason."""

    live_version: int = 0
    documents: int = 0
    chunks: int = 0
    artifacts: int = 0
    read: int = 0
    reused: int = 0
    removed: int = 0
    failed: list[dict[str, str]] = []
    notes: list[dict[str, str]] = []
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


class _Plan(Struct):
    """What is to be done: `wanted` are sources to read, `ready` documents that become live as they are."""

    knobs: Knobs
    first: bool
    wanted: list[SourceRow] = []
    kept: int = 0
    ready: set[int] = set()


def recipe_of(knobs: Knobs, path: str) -> str:
    """What besides the source decides a document and its tokens: the versions of what reads it, and the knobs."""
    parts = [VERSION, passage_text.VERSION, reader_of(path, knobs.chunking.strategy), canonical(_plain(knobs))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _plain(knobs: Knobs) -> dict[str, Any]:
    chunking = knobs.chunking
    facts = {name: getattr(chunking, name) for name in chunking.__struct_fields__}
    return {"chunks": knobs.chunks, **facts}


def _is_apart(format_: str, size: int) -> bool:
    """Whether a file must be read in a process of its own."""
    if format_ == formats.CODE:
        return SMALL < size <= LONG  # longer files are not parsed
    return format_ in formats.NATIVE or (format_ in formats.APART and size > SMALL)


class Curator:
    """One curate of one context."""

    def __init__(self, store: SqliteStore, ctx: int, clock: Callable[[], str], progress: Progress | None) -> None:
        self._store = store
        self._ctx = ctx
        self._clock = clock
        self._progress = progress
        self._recipes: dict[str, str] = {}

    def run(self, *, force: bool = False) -> Curated:
        """Build the next version and make it live. Raises: NoSourcesError when nothing was ever imported."""
        began = time.monotonic()
        check_sources(self._store, self._ctx)
        plan = self._plan(force)
        total = len(plan.wanted)
        report = Curated(read=total, reused=plan.kept + len(plan.ready), failed=[], notes=[])
        self._tell(0, total)
        stager = Stager(self._store, self._ctx, plan.first and plan.knobs.keyword, plan.ready)
        self._read(plan, stager)
        stager.flush()
        note_terms(self._store, self._ctx, plan.knobs)
        self._tell(total, total)
        self._flip(plan, report)
        report.seconds = round(time.monotonic() - began, 3)
        return report

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    # --- planning ---------------------------------------------------------------------------------

    def _plan(self, force: bool) -> _Plan:
        with self._store.read(timeout=600) as session:
            context = contexts.require(session, self._ctx)
            every = list(sources.rows(session, self._ctx))
            known: dict[str, list[DocumentState]] = {}
            for live in (LIVE, STAGED, HIDDEN):
                for row in documents.states(session, self._ctx, live):
                    known.setdefault(row.path, []).append(row)
        plan = _Plan(knobs_of(context.fields.get("manifest")), context.live_version == 0, [], 0, set())
        for source in every:
            fresh = None if force else self._fresh(source, known.get(source.path, []), plan.knobs)
            if fresh is None:
                plan.wanted.append(source)
            elif fresh.live == LIVE:
                plan.kept += 1
            else:
                plan.ready.add(fresh.id)
        return plan

    def _fresh(self, source: SourceRow, found: list[DocumentState], knobs: Knobs) -> DocumentState | None:
        """The document of a source that need not be read again."""
        recipe = self._recipe(source.path, knobs)
        return next((row for row in found if row.source_hash == source.hash and row.recipe == recipe), None)

    def _recipe(self, path: str, knobs: Knobs) -> str:
        key = extension_of(path) or path.rpartition("/")[2]
        if key not in self._recipes:
            self._recipes[key] = recipe_of(knobs, path)
        return self._recipes[key]

    # --- reading ----------------------------------------------------------------------------------

    def _read(self, plan: _Plan, stager: Stager) -> None:
        """Read and stage what is wanted: in several processes when it is much, hostile formats never in this one."""
        knobs, total = plan.knobs, len(plan.wanted)
        count = min(processors(), sum(source.size for source in plan.wanted) // MANY)
        many = count > 1
        with Readers(max(1, count)) as readers:

            def work(source: SourceRow) -> Read | None:
                apart = _is_apart(self._format(source), source.size)
                if source.size > LONG and not apart:
                    return None
                data = self._content(source)
                if data is None:
                    return None
                if many or apart:
                    return readers.read(source.path, source.media_type, data, knobs)
                return read_source(source.path, source.media_type, data, knobs)

            for number, (source, read) in enumerate(readers.each(plan.wanted, lambda item: item.size, work), 1):
                recipe = self._recipe(source.path, knobs)
                if read is not None:
                    stager.add(source, recipe, read)
                elif source.size > LONG:
                    self._read_long(source, recipe, knobs, stager)
                if stager.is_full() or number == total:
                    stager.flush()
                    self._tell(number, total)

    def _content(self, source: SourceRow) -> bytes | None:
        """The bytes of a source; None when it was deleted or replaced meanwhile: the next curate sees to it."""
        with self._store.read(timeout=120) as session:
            data = sources.content(session, source.id)
        return data if len(data) == source.size else None

    def _read_long(self, source: SourceRow, recipe: str, knobs: Knobs, stager: Stager) -> None:
        data = self._content(source)
        if data is None:
            return
        try:
            found = open_source(source.path, source.media_type, data, knobs)
            del data
            if isinstance(found, Read):
                stager.add(source, recipe, found)
            else:
                stager.add_long(source, recipe, found, knobs)
        except (TriviumError, EngineError):
            raise
        except Exception as error:  # as in `read_source`
            stager.add(source, recipe, failed(source.path, source.media_type, unexpected(error)))

    def _format(self, source: SourceRow) -> str:
        with self._store.read(timeout=120) as session:
            return formats.format_of(source.path, sources.head(session, source.id, 1_024))

    # --- the flip ---------------------------------------------------------------------------------

    def _flip(self, plan: _Plan, report: Curated) -> None:
        ctx, now = self._ctx, self._clock()
        with self._store.write(timeout=FLIP_SECONDS) as session:
            context = contexts.get(session, ctx)
            if context is None:
                raise TriviumError("The context was deleted while it was curated.", "Choose another one.")
            index.create_index(session, ctx)
            current = {row.path: row.hash for row in sources.rows(session, ctx)}
            others = [*documents.states(session, ctx, STAGED), *documents.states(session, ctx, HIDDEN)]
            ready = {row.path: row for row in others if row.id in plan.ready and row.path in current}
            gone = [row for row in others if ready.get(row.path) is not row]
            live = list(documents.states(session, ctx, LIVE))
            gone += [row for row in live if row.path in ready or row.path not in current]
            documents.discard(session, ctx, [row.id for row in gone])
            documents.publish(session, ctx, [row.id for row in ready.values()])
            self._index(session, plan.knobs)
            changed = bool(ready or gone) or context.ledger.get("keyword") != plan.knobs.keyword
            changed = build_artifacts(session, context, plan.knobs) or changed or plan.first
            now_live = list(documents.states(session, ctx, LIVE))
            stale = {row.path: row.source_hash for row in now_live} != current
            stale = stale or knobs_of(context.fields.get("manifest")) != plan.knobs
            report.removed = len({row.path for row in gone} - current.keys())
            ledger = {"keyword": plan.knobs.keyword, "sample_queries": sample_queries(session, ctx)}
            version = contexts.note_curate(session, ctx, ledger, changed=changed, stale=stale, now=now)
            report.live_version = version
            report.documents, _, report.chunks, report.artifacts = documents.totals(session, ctx)
            report.failed = [{"path": row.path, "reason": row.problem} for row in now_live if row.problem]
            report.notes = [{"path": path, "note": note} for path, note in documents.notes(session, ctx)]

    def _index(self, session: Session, knobs: Knobs) -> None:
        """The text index holds the live chunks, or none when the manifest says so."""
        if not knobs.keyword:
            index.clear_chunks(session, self._ctx)
            return
        index.enter_staged(session, self._ctx)
        if index.indexed(session, index.chunk_reach(self._ctx)) == documents.totals(session, self._ctx)[2]:
            return
        last = 0  # the knob was off, or a first curate was cut short
        while missing := index.unindexed(session, self._ctx, last):
            rows = [(number, *tokens_of(path, title, place, text)) for number, place, text, path, title in missing]
            index.add_chunks(session, self._ctx, rows)
            last = missing[-1][0]
