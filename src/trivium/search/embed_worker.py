"""Making the vectors that are missing: in batches, outside of transactions, in one process at a time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from trivium.search import embedding_text
from trivium.search.embedder import Embedder
from trivium.search.vectors import packed
from trivium.store import vectors as stored
from trivium.store.sqlite import Session, SqliteStore

if TYPE_CHECKING:
    import numpy as np

BATCH = 32
POLL_SECONDS = 2.0
LEASE_SECONDS = 120
REST = 0.5
"""How long the background rests after a batch, as a part of the time that the batch took."""
LONGEST_REST = 300.0

Stop = Callable[[], bool]


class Elsewhere(Exception):
    """Another process is embedding with this model."""


class Report:
    """What a run has done so far."""

    def __init__(self, limit: int | None = None) -> None:
        self.embedded = 0
        self.confirmed = 0
        self._limit = limit

    @property
    def items(self) -> int:
        return self.embedded + self.confirmed

    @property
    def next(self) -> int:
        """How many items the next batch may hold; 0 ends the run."""
        return BATCH if self._limit is None else max(0, min(BATCH, self._limit - self.items))


class Batches:
    """Works off the backlog of one model."""

    def __init__(self, store: SqliteStore, embedder: Embedder, holder: str) -> None:
        self._store = store
        self._embedder = embedder
        self._holder = holder
        self._checked: dict[int, int] = {}
        self._leased = False

    def run(
        self, contexts: list[int] | None = None, *, limit: int | None = None, steal: bool = False
    ) -> Generator[Report, None, None]:
        """Go through the backlog once, or through `limit` items of it, one report after each batch.

        With `steal` the work is taken away from another process, else that one is left to it. Raises: EmbeddingError,
        Elsewhere.
        """
        report = Report(limit)
        self._leased = False
        model = self._embedder.info().model
        with self._store.read() as session:
            chosen = stored.live_contexts(session) if contexts is None else contexts
        try:
            for ctx in chosen:
                for kind in stored.KINDS:
                    yield from self._run_set(stored.Set(ctx, kind, model), report, steal)
        finally:
            if self._leased and not self._store.closed:
                with self._store.write() as session:
                    stored.drop_lease(session, model, self._holder)

    def _run_set(self, of: stored.Set, report: Report, steal: bool) -> Iterator[Report]:
        after: int | str | None = None
        while size := report.next:
            with self._store.read(timeout=600) as session:
                batch = stored.lacking(session, of, after, size)
            if not batch:
                break
            after = batch[-1].after
            self._embed(of, batch, report, steal)
            yield report
        if of.kind == stored.ARTIFACT and report.next and (outdated := self._outdated(of)):
            for start in range(0, len(outdated), BATCH):
                with self._store.read() as session:
                    batch = stored.pieces(session, of, outdated[start : start + BATCH])
                self._embed(of, batch, report, steal)
                yield report

    def _outdated(self, of: stored.Set) -> list[str]:
        """Keys of artifacts whose text has changed since their vectors were made; looked for once in a live version."""
        with self._store.read() as session:
            version = stored.live_version(session, of.ctx)
            if self._checked.get(of.ctx) == version:
                return []
            rows = stored.artifact_digests(session, of)
        self._checked[of.ctx] = version
        return [
            key
            for key, name, text, digest in rows
            if embedding_text.digest(embedding_text.of_artifact(name, text)) != digest
        ]

    def _embed(self, of: stored.Set, batch: list[stored.Lacking], report: Report, steal: bool) -> None:
        texts = [text_of(of.kind, item) for item in batch]
        digests = [embedding_text.digest(text) for text in texts]
        changed = [place for place, item in enumerate(batch) if item.digest != digests[place]]
        if not self._leased:
            with self._store.write() as session:
                self._lease(session, of, steal)
        vectors: np.ndarray | list[np.ndarray] = []
        if changed:
            vectors = self._embedder.embed([texts[place] for place in changed])
        new = [
            stored.NewVector(batch[place].item, batch[place].version, digests[place], packed(vector))
            for place, vector in zip(changed, vectors, strict=True)
        ]
        same = [(item.item, item.version) for place, item in enumerate(batch) if place not in set(changed)]
        with self._store.write() as session:
            self._lease(session, of, steal)
            report.embedded += stored.put(session, of, new)
            stored.confirm(session, of, same)
        report.confirmed += len(same)

    def _lease(self, session: Session, of: stored.Set, steal: bool) -> None:
        now = int(time.time())
        self._leased = stored.take_lease(session, of.model, self._holder, now, LEASE_SECONDS, steal=steal)
        if not self._leased:
            raise Elsewhere


def text_of(kind: str, item: stored.Lacking) -> str:
    """The text of an item of the backlog that is embedded."""
    if kind == stored.CONCEPT:
        return embedding_text.of_concept(item.name, item.parts)
    if kind == stored.CHUNK:
        return embedding_text.of_chunk(item.name, item.parts.get("sections") or [], item.text)
    return embedding_text.of_artifact(item.name, item.text)


class Background(threading.Thread):
    """Looks for a backlog every few seconds and works it off, slowly: foreground work goes first.

    `told` is called with None after a run that went well and with the error after one that did not; the next try
    comes later and later.
    """

    def __init__(self, store: SqliteStore, batches: Callable[[], Batches], told: Callable[[Exception | None], None]):
        super().__init__(name="trivium-embedding", daemon=True)
        self._store = store
        self._batches = batches
        self._told = told
        self._ending = threading.Event()
        self._wanted = threading.Event()

    def wake(self) -> None:
        """Look at once."""
        self._wanted.set()

    def end(self, patience: float = 5.0) -> None:
        """Ask the thread to end, and wait until it has or the patience is over."""
        self._ending.set()
        self._wanted.set()
        if self.is_alive() and threading.current_thread() is not self:
            self.join(patience)

    def run(self) -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        batches: Batches | None = None
        rest, faults, seen = 0.0, 0, -1
        while not self._pause(rest):
            try:
                moment = self._moment()
                rest = POLL_SECONDS
                if moment != seen:
                    batches = batches or self._batches()
                    start = time.monotonic()
                    found = self._work_off(batches)
                    seen, faults = moment, 0
                    self._told(None)
                    if not found:  # looking costs time that grows with the store
                        rest = min(30.0, max(rest, 20 * (time.monotonic() - start)))
            except Elsewhere:
                rest = LEASE_SECONDS / 4
            except Exception as error:
                if self._store.closed:
                    return
                faults += 1
                rest = min(LONGEST_REST, 5.0 * 2 ** (faults - 1))
                self._told(error)

    def _work_off(self, batches: Batches) -> bool:
        """Whether there was anything to do."""
        found = False
        start = time.monotonic()
        for _ in batches.run():
            found = True
            if self._pause(min(2.0, REST * (time.monotonic() - start))):
                break
            start = time.monotonic()
        return found

    def _pause(self, seconds: float) -> bool:
        """Wait, less long when woken; whether it is time to end."""
        if seconds:
            self._wanted.wait(seconds)
        self._wanted.clear()
        return self._ending.is_set() or self._store.closed

    def _moment(self) -> int:
        """Changes whenever the store may hold something new."""
        with self._store.read() as session:
            return session.connection.total_changes() if self._store.in_memory else self._store.watch(session)
