"""Curate: sources to documents, chunks and the text index, and from version to version in one step.

Only what changed is read again: a document stays as long as its source's hash and the recipe (the readers' version and
the knobs) do. Documents are staged in short transactions, so that a curate that was killed goes on where it stood; one
last transaction makes the staged ones live, removes those they replace, and fills the index. A reader sees the old
version or the new one.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from trivium.errors import MissingExtraError, TriviumError
from trivium.ingest import reading_apart
from trivium.ingest.artifacts import build_artifacts, note_terms
from trivium.ingest.chunking import Chunk, chunks
from trivium.ingest.formats import extension_of
from trivium.ingest.manifest import Knobs, knobs_of
from trivium.ingest.parse import VERSION, parse, reader_of
from trivium.ingest.parsed import Parsed, Unreadable
from trivium.search import passage_text
from trivium.search.passage_text import chunk_texts
from trivium.store import chunks as index
from trivium.store import contexts, documents, sources
from trivium.store.codec import canonical
from trivium.store.documents import HIDDEN, LIVE, STAGED, DocumentState, NewChunk
from trivium.store.sources import SourceRow
from trivium.store.sqlite import Session, SqliteStore

BATCH_CHARS = 1 << 20
BATCH_DOCUMENTS = 200
BATCH_SECONDS = 0.5
FLIP_SECONDS = 3_600.0
MAX_HEADINGS = 5_000


Progress = Callable[[int, int], None]
"""Told how many of the documents are done; may raise to stop the work, which keeps what is staged."""


class NoSourcesError(TriviumError):
    """There is nothing to curate."""


def check_sources(store: SqliteStore, ctx: int) -> None:
    """Raises: NoSourcesError when a curate would find nothing, now or from before."""
    with store.read() as session:
        context = contexts.get(session, ctx)
        if context is not None and not context.live_version and not sources.totals(session, ctx)[0]:
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
        for number, source in enumerate(plan.wanted, 1):
            self._stage(stager, source, plan.knobs)
            if stager.is_full():
                stager.flush()
                self._tell(number, total)
        stager.flush()
        reading_apart.close()
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
            context = contexts.get(session, self._ctx)
            if context is None:
                raise TriviumError("The context has been deleted.", "Choose another one.")
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

    # --- staging ----------------------------------------------------------------------------------

    def _stage(self, stager: Stager, source: SourceRow, knobs: Knobs) -> None:
        with self._store.read(timeout=120) as session:
            data = sources.content(session, source.id)
        if len(data) != source.size:
            return  # deleted or replaced meanwhile: the next curate sees to it
        recipe = self._recipe(source.path, knobs)
        try:
            parsed = parse(source.path, data, knobs.chunking.strategy)
        except Unreadable as error:
            stager.failed(source, recipe, str(error))
        except MissingExtraError as error:
            stager.failed(source, recipe, f"{error.message} Install it with: {error.hint}")
        else:
            del data
            stager.add(source, recipe, parsed, knobs)

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
            ledger = {"keyword": plan.knobs.keyword}
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
        if index.indexed_chunks(session, self._ctx) == documents.totals(session, self._ctx)[2]:
            return
        last = 0  # the knob was off, or a first curate was cut short
        while missing := index.unindexed(session, self._ctx, last):
            rows = [(number, *_tokens(path, title, place, text)) for number, place, text, path, title in missing]
            index.add_chunks(session, self._ctx, rows)
            last = missing[-1][0]


class Stager:
    """Writes staged documents in batches; `ready` gathers the ids of those that are whole.

    Before the first version is live nobody sees the index, and it is filled at once; later the tokens wait beside it.
    """

    def __init__(self, store: SqliteStore, ctx: int, index_now: bool, ready: set[int]) -> None:
        self._store = store
        self._ctx = ctx
        self._index_now = index_now
        self._ready = ready
        self._waiting: list[tuple[SourceRow, str, _Document, list[NewChunk]]] = []
        self._size = 0
        self._since = time.monotonic()

    def is_full(self) -> bool:
        full = self._size >= BATCH_CHARS or len(self._waiting) >= BATCH_DOCUMENTS
        return full or time.monotonic() - self._since > BATCH_SECONDS

    def flush(self) -> None:
        if self._waiting:
            with self._store.write(timeout=120) as session:
                for source, recipe, document, made in self._waiting:
                    number = self._begin(session, source, document)
                    self._add(session, number, 0, made)
                    self._complete(session, number, recipe)
        self._waiting.clear()
        self._size = 0
        self._since = time.monotonic()

    def failed(self, source: SourceRow, recipe: str, problem: str) -> None:
        """A source that could not be read has a document that says so."""
        self._waiting.append((source, recipe, _Document(source.path, None, "", problem, _outline(source, None)), []))

    def add(self, source: SourceRow, recipe: str, parsed: Parsed, knobs: Knobs) -> None:
        """Stage a document, a long one in several transactions."""
        title = parsed.title
        made = _batches(source.path, parsed, knobs)
        first = next(made, [])
        following = next(made, None)
        document = _Document(title, parsed.dated, parsed.text, None, _outline(source, parsed))
        if following is None:
            self._waiting.append((source, recipe, document, first))
            self._size += len(parsed.text)
            return
        with self._store.write(timeout=120) as session:
            number = self._begin(session, source, document)
            self._add(session, number, 0, first)
        position = len(first)
        while following is not None:
            with self._store.write(timeout=120) as session:
                self._add(session, number, position, following)
            position += len(following)
            following = next(made, None)
        with self._store.write(timeout=120) as session:
            documents.set_outline(session, number, _outline(source, parsed))
            self._complete(session, number, recipe)

    def _begin(self, session: Session, source: SourceRow, document: _Document) -> int:
        return documents.stage(
            session,
            self._ctx,
            source.path,
            source.hash,
            document.title,
            document.dated or source.dated,
            hashlib.sha256(document.text.encode()).hexdigest(),
            document.text,
            document.problem,
            document.outline,
        )

    def _add(self, session: Session, number: int, position: int, made: list[NewChunk]) -> None:
        ids = documents.add_chunks(session, self._ctx, number, position, made)
        rows = [(id_, chunk.heading, chunk.body) for id_, chunk in zip(ids, made, strict=True) if chunk.body]
        if self._index_now:
            index.create_index(session, self._ctx)
            index.add_chunks(session, self._ctx, rows)
        else:
            index.stage_chunks(session, self._ctx, rows)

    def _complete(self, session: Session, number: int, recipe: str) -> None:
        documents.complete(session, number, recipe)
        self._ready.add(number)


class _Document(Struct):
    title: str
    dated: str | None
    text: str
    problem: str | None
    outline: dict[str, Any]


def _outline(source: SourceRow, parsed: Parsed | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"media_type": source.media_type, "headings": [], "notes": [], "pages": 0}
    if parsed is not None:
        facts["headings"] = [
            {"level": item.level, "title": item.title, "line": item.line, "start": item.start}
            for item in parsed.headings[:MAX_HEADINGS]
        ]
        facts["notes"] = parsed.notes
        facts["pages"] = len(parsed.pages)
    return facts


def _batches(path: str, parsed: Parsed, knobs: Knobs) -> Iterator[list[NewChunk]]:
    """The chunks of a document with their tokens, in lists of about BATCH_CHARS."""
    if not knobs.chunks:
        for _ in parsed.blocks:  # the outline is complete once they are used up
            pass
        return
    batch: list[NewChunk] = []
    size = 0
    for chunk in chunks(path, parsed, knobs.chunking):
        heading, body = _tokens(path, parsed.title, chunk.place, chunk.text) if knobs.keyword else ("", "")
        batch.append(_new_chunk(chunk, heading, body))
        size += len(chunk.text)
        if size >= BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _new_chunk(chunk: Chunk, heading: str, body: str) -> NewChunk:
    lines = (chunk.first_line, chunk.last_line)
    return NewChunk(chunk.key, chunk.start, chunk.stop, *lines, chunk.place, chunk.text, heading, body)


def _tokens(path: str, title: str, place: dict[str, Any], text: str) -> tuple[str, str]:
    """The tokens of a chunk; those of a table's header row count as its heading."""
    sections = place["sections"]
    if "header" in place:
        sections = [*sections, [place["header"]]]
    return chunk_texts(path, title, sections, text)
