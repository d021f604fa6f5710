"""Documents that were read, written beside the live ones in short transactions."""

from __future__ import annotations

import hashlib
import time

from trivium.ingest.dates import date_in_path, date_in_text
from trivium.ingest.manifest import Knobs
from trivium.ingest.parsed import Parsed
from trivium.ingest.reading import Read, batches, outline_of
from trivium.store import chunks as index
from trivium.store import documents
from trivium.store.documents import NewChunk
from trivium.store.sources import SourceRow
from trivium.store.sqlite import Session, SqliteStore

BATCH_CHARS = 1 << 20
BATCH_DOCUMENTS = 200
BATCH_SECONDS = 0.5
PATIENCE = 120.0
"""Seconds that a batch waits for other writers."""


class Stager:
    """Writes staged documents in batches; `ready` gathers the ids of those that are whole.

    Before the first version is live nobody sees the index, and it is filled at once; later the tokens wait beside it.
    """

    def __init__(self, store: SqliteStore, ctx: int, index_now: bool, ready: set[int]) -> None:
        self._store = store
        self._ctx = ctx
        self._index_now = index_now
        self._ready = ready
        self._waiting: list[tuple[SourceRow, str, Read]] = []
        self._size = 0
        self._since = time.monotonic()

    def add(self, source: SourceRow, recipe: str, read: Read) -> None:
        """Stage a document that was read whole."""
        self._waiting.append((source, recipe, read))
        self._size += len(read.text)

    def is_full(self) -> bool:
        full = self._size >= BATCH_CHARS or len(self._waiting) >= BATCH_DOCUMENTS
        return full or time.monotonic() - self._since > BATCH_SECONDS

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            with self._store.write(timeout=PATIENCE) as session:
                for source, recipe, read in self._waiting:
                    number = self._begin(session, source, read)
                    self._add(session, number, 0, read.chunks)
                    self._complete(session, number, recipe)
        self._waiting.clear()
        self._size = 0
        self._since = time.monotonic()

    def add_long(self, source: SourceRow, recipe: str, parsed: Parsed, knobs: Knobs) -> None:
        """Stage a document whose chunks are made piece by piece, so that they are never all in memory."""
        self.flush()
        made = batches(source.path, parsed, knobs)
        first = next(made, [])
        read = Read(parsed.title, parsed.text, parsed.dated, None, outline_of(source.media_type, parsed))
        with self._store.write(timeout=PATIENCE) as session:
            number = self._begin(session, source, read)
            self._add(session, number, 0, first)
        position = len(first)
        for batch in made:
            with self._store.write(timeout=PATIENCE) as session:
                self._add(session, number, position, batch)
            position += len(batch)
        with self._store.write(timeout=PATIENCE) as session:
            documents.set_outline(session, number, outline_of(source.media_type, parsed))
            self._complete(session, number, recipe)

    def _begin(self, session: Session, source: SourceRow, read: Read) -> int:
        return documents.stage(
            session,
            self._ctx,
            source.path,
            source.hash,
            read.title,
            read.dated or date_in_path(source.path) or date_in_text(read.title, read.text) or source.dated,
            hashlib.sha256(read.text.encode()).hexdigest(),
            read.text,
            read.problem,
            read.outline,
        )

    def _add(self, session: Session, number: int, position: int, made: list[NewChunk]) -> None:
        ids = documents.add_chunks(session, self._ctx, number, position, made)
        rows = [(id_, chunk.heading, chunk.body) for id_, chunk in zip(ids, made, strict=True) if chunk.body]
        if not self._index_now:
            index.stage_chunks(session, self._ctx, rows)
        elif rows:
            index.create_index(session, self._ctx)
            index.add_chunks(session, self._ctx, rows)

    def _complete(self, session: Session, number: int, recipe: str) -> None:
        documents.complete(session, number, recipe)
        self._ready.add(number)
