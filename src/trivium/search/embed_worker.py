"""Making the vectors that are missing: in batches, outside of transactions, in one process at a time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress

from trivium.search import embedding_text
from trivium.search.embed_parted import vectors_of
from trivium.search.embedder import Embedder, Refusal
from trivium.search.vectors import packed
from trivium.store import contexts as context_rows
from trivium.store import vectors as stored
from trivium.store.sqlite import Session, SqliteStore

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
    """What a run has done so far. `refused` are items that the embedder gives no vector for, the last time why."""

    def __init__(self, limit: int | None = None) -> None:
        self.embedded = 0
        self.confirmed = 0
        self.refused = 0
        self.refusal: Refusal | None = None
        self._limit = limit

    def refuse(self, refusal: Refusal) -> None:
        self.refused += 1
        self.refusal = refusal

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
        self._refused: dict[tuple[stored.Set, str, str], Refusal] = {}
        self._leased = False

    def run(
        self, contexts: list[int] | None = None, *, limit: int | None = None, steal: bool = False
    ) -> Generator[Report, None, None]:
        """Go through the backlog once, or through `limit` items of it, one report after each batch.

        With `steal` the work is taken away from another process at first, else that one is left to it. Raises:
        EmbeddingError, Elsewhere.
        """
        report = Report(limit)
        self._leased = False
        model = self._embedder.info().model
        with self._store.read() as session:
            chosen = context_rows.all_ids(session) if contexts is None else contexts
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
        if of.kind == stored.ARTIFACT and report.next:
            yield from self._run_outdated(of, report, steal)

    def _run_outdated(self, of: stored.Set, report: Report, steal: bool) -> Iterator[Report]:
        """Artifacts whose text has changed since their vectors were made; looked for once in a live version."""
        with self._store.read(timeout=600) as session:
            version = context_rows.live_version(session, of.ctx)
            if self._checked.get(of.ctx) == version:
                return
            rows = stored.artifact_digests(session, of)
        outdated = [
            key
            for key, name, text, digest in rows
            if embedding_text.digest(embedding_text.of_artifact(name, text)) != digest
        ]
        while outdated and (size := report.next):
            with self._store.read() as session:
                batch = stored.items(session, of, outdated[:size])
            del outdated[:size]
            self._embed(of, batch, report, steal)
            yield report
        if not outdated:
            self._checked[of.ctx] = version

    def _embed(self, of: stored.Set, batch: list[stored.Lacking], report: Report, steal: bool) -> None:
        texts = {item.item: embedding_text.of_item(of.kind, item) for item in batch}
        digests = {key: embedding_text.digest(text) for key, text in texts.items()}
        same = [(item.item, item.version) for item in batch if item.digest == digests[item.item]]
        changed = []
        for item in batch:
            refusal = self._refused.get((of, item.item, digests[item.item]))
            if refusal is not None:
                report.refuse(refusal)
            elif item.digest != digests[item.item]:
                changed.append(item)
        if not same and not changed:
            return
        if not self._leased:
            with self._store.write() as session:
                self._lease(session, of, steal=steal)
        made = vectors_of(self._embedder.embed, [texts[item.item] for item in changed]) if changed else []
        new = []
        for item, vector in zip(changed, made, strict=True):
            if isinstance(vector, Refusal):
                self._refused[of, item.item, digests[item.item]] = vector
                report.refuse(vector)
            else:
                new.append(stored.NewVector(item.item, item.version, digests[item.item], packed(vector)))
        with self._store.write() as session:
            self._lease(session, of)
            report.embedded += stored.put(session, of, new)
            stored.confirm(session, of, same)
        report.confirmed += len(same)

    def _lease(self, session: Session, of: stored.Set, *, steal: bool = False) -> None:
        now = int(time.time())
        self._leased = stored.take_lease(session, of.model, self._holder, now, LEASE_SECONDS, steal=steal)
        if not self._leased:
            raise Elsewhere


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

    def end(self, patience: float = 5.0) -> None:
        """Ask the thread to end, and wait until it has or the patience is over."""
        self._ending.set()
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
                    report = self._work_off(batches)
                    seen, faults = moment, 0
                    self._told(None if report is None else report.refusal)
                    if report is None:  # looking costs time that grows with the store
                        rest = min(30.0, max(rest, 20 * (time.monotonic() - start)))
            except Elsewhere:
                rest = LEASE_SECONDS / 4
            except Exception as error:
                if self._store.closed:
                    return
                batches = None
                faults += 1
                rest = min(LONGEST_REST, 5.0 * 2 ** (faults - 1))
                self._told(error)

    def _work_off(self, batches: Batches) -> Report | None:
        """What was done; None if there was nothing to do."""
        report = None
        start = time.monotonic()
        for done in batches.run():
            report = done
            if self._pause(min(2.0, REST * (time.monotonic() - start))):
                break
            start = time.monotonic()
        return report

    def _pause(self, seconds: float) -> bool:
        """Wait; whether it is time to end."""
        return self._ending.wait(seconds) or self._store.closed

    def _moment(self) -> int:
        """Changes whenever the store may hold something new."""
        with self._store.read() as session:
            return session.connection.total_changes() if self._store.in_memory else self._store.watch(session)
