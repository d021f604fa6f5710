"""What all turns of one open knowledge base share: the pool, the bells, deadlines, and the one way to end a turn.

Who may end a turn: the thread that runs it, its deadline, a caller who cancels it, the closing of the knowledge base,
and whoever finds that its worker is gone. All go through `Engine.finish`, which has effect once (see `ending.end`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial

from trivium.errors import TriviumError
from trivium.ids import milliseconds
from trivium.knowql import turn
from trivium.knowql.chores import Chores
from trivium.knowql.ending import RESTARTED, STOPPED, Outcome, end, failed, timed_out
from trivium.knowql.events import Hub
from trivium.knowql.parts import Parts
from trivium.knowql.pool import Pool, Running
from trivium.knowql.recorder import Recorder
from trivium.knowql.ticker import Ticker
from trivium.store import turns, workers
from trivium.store.sqlite import Session
from trivium.store.turns import Event, QueryRow

log = logging.getLogger("trivium.turns")
log.addHandler(logging.NullHandler())

WATCH_SECONDS = 1.0
"""How soon this process notices that another one has ended a turn that it runs."""
RETRY_SECONDS = 0.5
BRIEF_SECONDS = 0.5
"""How long what is done for many turns on one thread waits for the store: then it is the next one's turn."""


class Engine:
    """Runs turns for every caller of one knowledge base."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.hub = Hub()
        self.pool = Pool(parts.workers, self._run)
        self._ticker = Ticker("trivium-ticker")
        self._pieces = Chores("trivium-pieces")
        self._endings = Chores("trivium-endings")
        self._worker: str | None = None
        self._mutex = threading.Lock()
        self._watching = False
        self.fail_orphans()

    @property
    def _brief(self) -> float:
        return min(BRIEF_SECONDS, self.parts.store.settings.timeout)

    def now_ms(self) -> int:
        return milliseconds(self.parts.clock())

    @property
    def worker(self) -> str:
        """The id under which this process runs turns. Ask for it outside of a transaction."""
        self._worker = self.parts.worker.id
        return self._worker

    # --- running ----------------------------------------------------------------------------------

    def prepare(self, workspace: str, query_id: str, seconds: int) -> Running:
        """A turn that is being created; its time runs from now."""
        recorder = Recorder(partial(self._store_events, workspace, query_id), partial(self._after, self._pieces))
        return Running(workspace, query_id, seconds, time.monotonic() + seconds, recorder)

    def start(self, running: Running) -> None:
        """Run a turn whose row is there."""
        running.is_created = True
        self._ticker.at(running.deadline, partial(self._overdue, running))
        self.pool.start(running)
        with self._mutex:
            if not self._watching and not self.parts.store.in_memory:
                self._watching = True
                self._after(self._endings, WATCH_SECONDS, self._watch)

    def _after(self, chores: Chores, seconds: float, call: Callable[[], None]) -> None:
        """Have a call made in so many seconds, or when its turn comes then."""
        self._ticker.at(time.monotonic() + seconds, partial(chores.do, call))

    def _run(self, running: Running) -> None:
        try:
            outcome = turn.run(self.parts, running)
        except BaseException as error:  # SystemExit of a composer, for one; nothing is above this thread
            log.exception("turn %s was left", running.id)
            outcome = failed(f"internal error ({type(error).__name__})")
        if outcome is None:
            outcome = failed("internal error: the turn was given up by what ran it")
        outcome.untold = running.recorder.close()
        self.finish_surely(running.workspace, running.id, outcome)

    def _store_events(self, workspace: str, query_id: str, events: list[Event]) -> bool:
        with self.parts.store.write(self._brief) as session:
            if not turns.is_in_progress(session, workspace, query_id):
                return False
            turns.append(session, workspace, query_id, events)
        self.hub.ring(query_id)
        return True

    # --- ending -----------------------------------------------------------------------------------

    def finish(self, workspace: str, query_id: str, outcome: Outcome, patience: float | None = None) -> bool:
        """End a turn; False, without effect, if it has ended already."""
        try:
            with self.parts.store.write(patience) as session:
                done = self.end(session, workspace, query_id, outcome)
                self.pool.note_ending(workspace, query_id)
        except BaseException:
            self.pool.note_ending(workspace, query_id, False)
            raise
        self.settle(workspace, query_id)
        return done

    def end(self, session: Session, workspace: str, query_id: str, outcome: Outcome) -> bool:
        """As `finish`, within a write transaction; call `settle` when it is committed."""
        now = self.parts.clock()
        return end(session, workspace, query_id, outcome, milliseconds(now), now)

    def settle(self, workspace: str, query_id: str) -> None:
        """A turn has ended: free what it held in this process, and tell those who follow it."""
        self.pool.settle(workspace, query_id)
        self.hub.ring(query_id)

    def finish_surely(self, workspace: str, query_id: str, outcome: Outcome, patience: float | None = None) -> None:
        """As `finish`; if the store cannot take it now, again later."""
        try:
            self.finish(workspace, query_id, outcome, patience)
        except TriviumError as error:
            if self.parts.store.closed:
                self.settle(workspace, query_id)
                return
            log.warning("turn %s could not be ended yet: %s", query_id, error.message)
            again = partial(self.finish_surely, workspace, query_id, outcome, self._brief)
            self._after(self._endings, RETRY_SECONDS, again)
        except (ValueError, TypeError, RecursionError, OverflowError):
            log.exception("turn %s has a result that cannot be stored", query_id)
            self.finish_surely(workspace, query_id, failed("internal error: the answer cannot be stored as JSON"))

    def _overdue(self, running: Running) -> None:
        """Tell a turn to stop at once, and have it ended."""
        if self.pool.find(running.workspace, running.id) is running:
            running.recorder.stop()
            self._endings.do(partial(self._time_out, running))

    def _time_out(self, running: Running) -> None:
        outcome = timed_out(running.seconds)
        outcome.untold = running.recorder.close()
        self.finish_surely(running.workspace, running.id, outcome, self._brief)

    def _watch(self) -> None:
        """Notice the turns of this process that another one has ended."""
        with self._mutex:
            running = self.pool.all()
            self._watching = bool(running) and not self.parts.store.closed
            if not self._watching:
                return
        self._after(self._endings, WATCH_SECONDS, self._watch)
        created = [one for one in running if one.is_created]
        with self.parts.store.read() as session:
            ended = [one for one in created if not turns.is_in_progress(session, one.workspace, one.id)]
        for one in ended:
            self.settle(one.workspace, one.id)

    # --- turns whose worker is gone ---------------------------------------------------------------

    def is_orphan(self, session: Session, workspace: str, query_id: str, worker: str | None) -> bool:
        """Whether nobody runs this turn any more, which is in progress by the store."""
        if worker == self._worker:
            return self.pool.find(workspace, query_id) is None
        return not workers.is_alive(session, worker, workers.now_ms())

    def end_orphan(self, session: Session, row: QueryRow) -> bool:
        """Within a write transaction, fail a turn that nobody runs; False if somebody does or it has ended."""
        if not self.is_orphan(session, row.workspace, row.id, row.worker):
            return False
        return self.end(session, row.workspace, row.id, failed(RESTARTED, closed=False))

    def fail_orphans(self) -> None:
        """Fail every turn in the store that nobody runs."""
        with self.parts.store.read() as session:
            left = [one for one in turns.in_progress(session) if self.is_orphan(session, *one)]
        for workspace, query_id, _ in left:
            self.fail_orphan(workspace, query_id)

    def fail_orphan(self, workspace: str, query_id: str) -> None:
        with self.parts.store.write() as session:
            row = turns.find_query(session, workspace, query_id)
            done = row is not None and self.end_orphan(session, row)
        if done:
            self.settle(workspace, query_id)

    # --- closing ----------------------------------------------------------------------------------

    def close(self, grace: float) -> None:
        """Take no more turns; those that have not ended after `grace` seconds fail. Calling it twice is harmless."""
        for running in self.pool.close(grace):
            self.finish_surely(running.workspace, running.id, failed(STOPPED, closed=False))
        self._ticker.clear()
        self._pieces.clear()
        self._endings.clear()
