"""Tasks: long work on a context with a state, progress and an end, at once or in the background.

A task belongs to the worker that runs it (`store.workers`); when that is gone, whoever looks next finds it failed.
Cancelling is asking: the work stops at its next step and keeps what is whole.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from trivium.errors import NotFoundError, TriviumError
from trivium.store import contexts, tasks
from trivium.store.sqlite import SqliteStore
from trivium.store.tasks import CANCELLED, COMPLETED, FAILED, OPEN, RUNNING, SCHEDULED, STOPPING, TaskRow
from trivium.store.workers import Worker, now_ms

IMPORT, CURATE, PACK, RESTORE = "import", "curate", "pack", "restore"
WORKFLOWS = (IMPORT, CURATE, PACK, RESTORE)
NOTE_SECONDS = 0.5
AT_ONCE = 2
"""Tasks that run in the background at the same time; the others wait, scheduled."""
MAX_LISTED = 1_000
KEPT = 10_000
"""Tasks that have ended and are remembered."""
MOST_TOLD = 1_000
"""Items of a list (files that were left out, for example) that a task remembers of its result."""

Report = Callable[[int, int], None]
"""Called by the work with what is done and the total; raises `TaskCancelled` when the work is to stop."""
Work = Callable[[Report], dict[str, Any]]


class TaskCancelled(TriviumError):
    """The task was cancelled; what was whole before is kept."""


class BusyError(TriviumError):
    """The same workflow runs already on the context; `task_id` is the task, `workflow` what it does."""

    def __init__(self, workflow: str, slug: str, task_id: str) -> None:
        super().__init__(
            f"Another {workflow} of the context {slug!r} is running (task {task_id}).",
            "Wait until it has ended, or cancel it.",
        )
        self.task_id = task_id
        self.workflow = workflow


class Place(Protocol):
    """A context, as `Tasks.list` needs it."""

    _number: int


class Tasks:
    """The tasks of one open knowledge base. Thread-safe."""

    def __init__(
        self,
        store: SqliteStore,
        workspace: str,
        clock: Callable[[], str],
        new_id: Callable[[str], str],
        worker: Worker,
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._clock = clock
        self._new_id = new_id
        self._worker = worker
        self._slots = threading.Semaphore(AT_ONCE)
        self._mutex = threading.Lock()
        self._stops: dict[str, threading.Event] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._closing = False

    # --- running ----------------------------------------------------------------------------------

    def run(self, ctx: int, workflow: str, work: Work, progress: Report | None = None) -> dict[str, Any]:
        """Do the work here and now; gives its result with `task_id`. Raises: what the work raises, BusyError."""
        id_ = self._open(ctx, workflow, RUNNING)
        return self._work(id_, work, progress)

    def start(self, ctx: int, workflow: str, work: Work) -> str:
        """Do the work on a thread of its own; gives the task's id at once. Raises: BusyError.

        `ctx` is 0 for work on no context, or on one that it makes.
        """
        id_ = self._open(ctx, workflow, SCHEDULED)
        thread = threading.Thread(target=self._background, args=(id_, work), name=f"trivium-{workflow}", daemon=True)
        with self._mutex:
            self._threads[id_] = thread
        thread.start()
        return id_

    def _open(self, ctx: int, workflow: str, state: str) -> str:
        worker = self._worker.id
        id_ = self._new_id("tsk_")
        now = self._clock()
        with self._store.write() as session:
            tasks.settle(session, self._workspace, now_ms(), now)
            if ctx:
                contexts.require(session, ctx)
            if workflow in (CURATE, PACK):
                for row in tasks.open_rows(session, self._workspace, ctx):
                    if row.workflow == workflow:
                        context = contexts.get(session, ctx)
                        raise BusyError(workflow, context.slug if context else "", row.id)
            tasks.prune(session, self._workspace, KEPT)
            tasks.insert(session, self._workspace, id_, ctx, workflow, state, worker, now)
        with self._mutex:
            self._stops[id_] = threading.Event()
        return id_

    def _background(self, id_: str, work: Work) -> None:
        stop = self._stops[id_]
        try:
            while not self._slots.acquire(timeout=0.2):
                if stop.is_set():
                    self._finish(id_, CANCELLED, self._why_stopped(), {})
                    return
            try:
                with self._store.write() as session:
                    due = tasks.move(session, self._workspace, id_, (SCHEDULED,), RUNNING, self._clock())
                if due and not stop.is_set():
                    self._work(id_, work, None)
                else:  # it was cancelled, here or by another process, while it waited
                    self._finish(id_, CANCELLED, self._why_stopped(), {})
            finally:
                self._slots.release()
        except Exception:
            # The task's row says what went wrong; if even that could not be written, its worker's lease ends it.
            return
        finally:
            with self._mutex:
                self._threads.pop(id_, None)

    def _work(self, id_: str, work: Work, progress: Report | None) -> dict[str, Any]:
        try:
            result = work(self._report(id_, progress))
        except TaskCancelled as error:
            self._finish(id_, CANCELLED, error.message, {})
            raise
        except BaseException as error:
            self._finish(id_, FAILED, _sentence(error), {})
            raise
        self._finish(id_, COMPLETED, None, {"result": _bounded(result)})
        return {"task_id": id_, **result}

    def _report(self, id_: str, progress: Report | None) -> Report:
        stop = self._stops[id_]
        noted = time.monotonic()

        def report(done: int, total: int) -> None:
            nonlocal noted
            if stop.is_set():
                raise TaskCancelled(self._why_stopped(), "Start it again.")
            if progress is not None:
                progress(done, total)
            now = time.monotonic()
            if now - noted >= NOTE_SECONDS or done == total > 0:
                noted = now
                with self._store.write() as session:
                    state = tasks.note(session, self._workspace, id_, done, total, self._clock())
                if state not in (RUNNING, SCHEDULED):
                    stop.set()
                    raise TaskCancelled("cancelled by caller", "Start it again.")

        return report

    def _why_stopped(self) -> str:
        return "the knowledge base was closed" if self._closing else "cancelled by caller"

    def _finish(self, id_: str, state: str, error: str | None, detail: dict[str, Any]) -> None:
        with self._mutex:
            self._stops.pop(id_, None)
        if self._store.closed:
            return
        with self._store.write() as session:
            tasks.finish(session, self._workspace, id_, state, error, detail, self._clock())

    def close(self, patience: float = 5.0) -> None:
        """Stop what runs in the background and wait a while for it to end."""
        self._closing = True
        with self._mutex:
            for stop in self._stops.values():
                stop.set()
            threads = list(self._threads.values())
        end = time.monotonic() + patience
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))

    # --- looking ----------------------------------------------------------------------------------

    def settle(self) -> None:
        """Tasks whose worker is gone have failed: say so."""
        with self._store.read() as session:
            unsettled = tasks.unsettled(session, self._workspace, now_ms())
        if unsettled:
            with self._store.write() as session:
                tasks.settle(session, self._workspace, now_ms(), self._clock())

    def get(self, id_: str) -> dict[str, Any]:
        """One task. Raises: NotFoundError."""
        self.settle()
        with self._store.read() as session:
            row = tasks.get(session, self._workspace, id_)
            context = contexts.get(session, row.ctx) if row else None
        if row is None:
            raise NotFoundError(f"There is no task {id_!r}.", "List them with kb.tasks.list().")
        return _shown(row, context.slug if context else None)

    def list(
        self,
        *,
        limit: int = 30,
        before: str | None = None,
        workflow: str | None = None,
        state: str | None = None,
        context: Place | None = None,
        text: str | None = None,
    ) -> list[dict[str, Any]]:
        """The newest tasks first, of all contexts or one; `text` is looked for in their ids, workflows and errors."""
        self.settle()
        with self._store.read() as session:
            found = tasks.rows(
                session,
                self._workspace,
                limit=max(1, min(limit, MAX_LISTED + 1)),  # one more tells whether there are others
                before=before,
                workflow=workflow,
                state=state,
                ctx=None if context is None else context._number,
                text=text,
            )
            slugs = {row.id: row.slug for row in contexts.all_rows(session, self._workspace)}
        return [_shown(row, slugs.get(row.ctx)) for row in found]

    def cancel(self, id_: str) -> dict[str, Any]:
        """Ask a task to stop; one that has ended stays as it is. Raises: NotFoundError."""
        self.get(id_)
        with self._store.write() as session:
            tasks.move(session, self._workspace, id_, OPEN, STOPPING, self._clock())
        with self._mutex:
            stop = self._stops.get(id_)
        if stop is not None:
            stop.set()
        return self.get(id_)

    def wait(self, id_: str, timeout: float | None = None) -> dict[str, Any]:
        """The task once it has ended, or as it stands after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self.get(id_)
            if found["state"] not in OPEN or (end is not None and time.monotonic() > end):
                return found
            time.sleep(0.05)


def _shown(row: TaskRow, slug: str | None) -> dict[str, Any]:
    return {
        "id": row.id,
        "object": "task",
        "workflow": row.workflow,
        "context": slug,
        "state": row.state,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "done": row.done,
        "total": row.total,
        "error": row.error,
        "result": row.detail.get("result"),
    }


def _bounded(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the far end of long lists; `<name>_left_out` tells how many items that are."""
    kept = dict(result)
    for name, value in result.items():
        if isinstance(value, list) and len(value) > MOST_TOLD:
            kept[name], kept[f"{name}_left_out"] = value[:MOST_TOLD], len(value) - MOST_TOLD
    return kept


def _sentence(error: BaseException) -> str:
    if isinstance(error, TriviumError):
        return error.message
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return f"an unexpected fault ({type(error).__name__}: {error})"
