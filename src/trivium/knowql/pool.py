"""The turns that run in this process: a bounded number at once, background turns in a queue behind them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from trivium.knowql.errors import refusal
from trivium.knowql.recorder import Recorder

MOST_LOST = 8
"""Threads for each worker that may go on after their turn has ended, such as one that waits for a hung provider."""
ENDING_SECONDS = 1.0
"""How long a slot is waited for whose turn is just ending."""


class Running:
    """One turn of this process, from its creation to its end. `deadline` is a moment of `time.monotonic`."""

    def __init__(self, workspace: str, id_: str, seconds: int, deadline: float, recorder: Recorder) -> None:
        self.workspace = workspace
        self.id = id_
        self.seconds = seconds
        self.deadline = deadline
        self.recorder = recorder
        self.has_slot = False
        self.thread: threading.Thread | None = None
        self.is_over = False
        """Whether its thread has done all it does."""
        self.is_created = False
        """Whether its row is committed; before, only this process knows of it."""
        self.is_ending = False
        """Whether its end is being committed: others may see it already, while the slot is not free yet."""


class Pool:
    """Slots for turns. A slot belongs to a turn, not to its thread: when the turn ends, a hung thread keeps none."""

    def __init__(self, workers: int, run: Callable[[Running], None]) -> None:
        self._workers = workers
        self._run = run
        self._changed = threading.Condition()
        self._taken = 0
        self._lost = 0
        self._queue: deque[Running] = deque()
        self._running: dict[tuple[str, str], Running] = {}
        self._closed = False

    def take(self) -> None:
        """Take a slot for a turn that somebody waits for. Raises: QueryError `workers_busy`."""
        with self._changed:
            if self._closed:
                raise refusal("storage", "The service is stopping.", hint="Ask again when it has started.")
            end = time.monotonic() + ENDING_SECONDS
            while self._is_full():
                if not any(running.is_ending for running in self._running.values()) or time.monotonic() > end:
                    raise refusal(
                        "workers_busy",
                        f"All {self._workers} workers are busy.",
                        hint="Retry in a moment, or send background: true to wait in the queue.",
                    )
                self._changed.wait(0.05)
            self._taken += 1

    def give_back(self) -> None:
        """Give back a slot that no turn has got."""
        with self._changed:
            self._taken -= 1
            self._start_queued()

    def admit(self, running: Running, *, has_slot: bool) -> None:
        """Enter a turn that is being created."""
        with self._changed:
            if self._closed:
                raise refusal("storage", "The service is stopping.", hint="Ask again when it has started.")
            running.has_slot = has_slot
            self._running[running.workspace, running.id] = running

    def start(self, running: Running) -> None:
        """Run an admitted turn, at once if it has a slot and else in its turn."""
        with self._changed:
            if running.has_slot:
                self._start(running)
            else:
                self._queue.append(running)
                self._start_queued()

    def find(self, workspace: str, id_: str) -> Running | None:
        with self._changed:
            return self._running.get((workspace, id_))

    def all(self) -> list[Running]:
        with self._changed:
            return list(self._running.values())

    def note_ending(self, workspace: str, id_: str, is_ending: bool = True) -> None:
        """The end of a turn is about to be committed, or could not be."""
        with self._changed:
            running = self._running.get((workspace, id_))
            if running is not None:
                running.is_ending = is_ending

    def settle(self, workspace: str, id_: str) -> None:
        """A turn has ended: its slot is free, and its thread, if it still runs, is told to stop."""
        with self._changed:
            running = self._running.pop((workspace, id_), None)
            if running is None:
                return
            running.recorder.stop()
            if running.has_slot:
                self._taken -= 1
                if running.thread not in (None, threading.current_thread()) and not running.is_over:
                    self._lost += 1
                    running.has_slot = False
            self._start_queued()
            self._changed.notify_all()

    def close(self, grace: float) -> list[Running]:
        """Take no more turns, wait for those there are, and give those that have not ended within the time."""
        end = time.monotonic() + grace
        with self._changed:
            self._closed = True
            while self._running and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
            self._queue.clear()
            return list(self._running.values())

    def _is_full(self) -> bool:
        return self._taken >= self._workers or self._lost >= self._workers * MOST_LOST

    def _start_queued(self) -> None:
        while self._queue and not self._is_full():
            running = self._queue.popleft()
            if (running.workspace, running.id) in self._running:
                self._taken += 1
                running.has_slot = True
                if not self._start(running):
                    return

    def _start(self, running: Running) -> bool:
        thread = threading.Thread(target=self._work, args=(running,), name=f"trivium-{running.id}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads: it waits for others to end
            self._taken -= 1
            running.has_slot = False
            self._queue.appendleft(running)
            return False
        running.thread = thread
        return True

    def _work(self, running: Running) -> None:
        try:
            self._run(running)
        finally:
            with self._changed:
                running.is_over = True
                if not running.has_slot:
                    self._lost -= 1
                    self._start_queued()
