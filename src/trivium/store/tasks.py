"""Rows of tasks: imports, curates, packs and restores, with their state and progress (KnowQL reference 11.2)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trivium.store import workers
from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session

SCHEDULED, STARTING, RUNNING, STOPPING = "scheduled", "starting", "running", "stopping"
COMPLETED, CANCELLED, FAILED = "completed", "cancelled", "failed"
OPEN = (SCHEDULED, STARTING, RUNNING, STOPPING)
STATES = (*OPEN, COMPLETED, CANCELLED, FAILED)

INTERRUPTED = "interrupted: the process that ran it has ended"


class TaskRow(Struct, frozen=True):
    """`done` of `total` are what the workflow counts: files, documents. `detail` holds `result` once it is there."""

    id: str
    ctx: int
    workflow: str
    state: str
    worker: str | None
    created_at: str
    updated_at: str
    done: int
    total: int
    error: str | None
    detail: dict[str, Any]


_ROW = "SELECT id, ctx, workflow, state, worker, created_at, updated_at, done, total, error, json(detail) FROM task"


def _task(row: tuple[Any, ...]) -> TaskRow:
    id_, ctx, workflow, state, worker, created, updated, done, total, error, detail = row
    return TaskRow(id_, ctx, workflow, state, worker, created, updated, done, total, error, decode(detail))


def insert(
    session: Session, workspace: str, id_: str, ctx: int, workflow: str, state: str, worker: str, now: str
) -> None:
    session.execute(
        "INSERT INTO task(workspace, id, ctx, workflow, state, worker, created_at, updated_at, detail)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, jsonb('{}'))",
        (workspace, id_, ctx, workflow, state, worker, now, now),
    )


def get(session: Session, workspace: str, id_: str) -> TaskRow | None:
    row = session.row(f"{_ROW} WHERE workspace = ? AND id = ?", (workspace, id_))
    return None if row is None else _task(row)


def move(session: Session, workspace: str, id_: str, from_: tuple[str, ...], to: str, now: str) -> bool:
    """From one of these states to another; False if the task was in none of them."""
    session.execute(
        "UPDATE task SET state = ?, updated_at = ? WHERE workspace = ? AND id = ?"
        " AND state IN (SELECT value FROM json_each(?))",
        (to, now, workspace, id_, encode(list(from_))),
    )
    return session.connection.changes() > 0


def note(session: Session, workspace: str, id_: str, done: int, total: int, now: str) -> str | None:
    """Note progress; gives the state, None when the task is gone."""
    session.execute(
        "UPDATE task SET done = ?, total = ?, updated_at = ? WHERE workspace = ? AND id = ?",
        (done, total, now, workspace, id_),
    )
    found: str | None = session.value("SELECT state FROM task WHERE workspace = ? AND id = ?", (workspace, id_))
    return found


def finish(
    session: Session, workspace: str, id_: str, state: str, error: str | None, detail: dict[str, Any], now: str
) -> None:
    """End an open task; one that has ended stays as it is."""
    session.execute(
        "UPDATE task SET state = ?, error = ?, detail = jsonb(?), updated_at = ? WHERE workspace = ? AND id = ?"
        " AND state IN (SELECT value FROM json_each(?))",
        (state, error, encode(detail), now, workspace, id_, encode(list(OPEN))),
    )


def prune(session: Session, workspace: str, keep: int) -> None:
    """Forget the oldest tasks that have ended; about `keep` of them stay."""
    border = session.value(
        "SELECT id FROM task WHERE workspace = ? ORDER BY id DESC LIMIT 1 OFFSET ?", (workspace, keep)
    )
    if border is not None:
        ended = encode([COMPLETED, CANCELLED, FAILED])
        sql = "DELETE FROM task WHERE workspace = ? AND id <= ? AND state IN (SELECT value FROM json_each(?))"
        session.execute(sql, (workspace, border, ended))


def open_rows(session: Session, workspace: str, ctx: int | None = None) -> list[TaskRow]:
    """The tasks that have not ended, oldest first."""
    sql = f"{_ROW} WHERE workspace = ?1 AND (?2 IS NULL OR ctx = ?2) AND state IN (SELECT value FROM json_each(?3))"
    return [_task(row) for row in session.execute(sql + " ORDER BY id", (workspace, ctx, encode(list(OPEN))))]


def settle(session: Session, workspace: str, now_ms: int, now: str) -> None:
    """Tasks whose worker is gone have failed."""
    for row in open_rows(session, workspace):
        if not workers.is_alive(session, row.worker, now_ms):
            finish(session, workspace, row.id, FAILED, INTERRUPTED, row.detail, now)


def unsettled(session: Session, workspace: str, now_ms: int) -> bool:
    """Whether `settle` has anything to do."""
    return any(not workers.is_alive(session, row.worker, now_ms) for row in open_rows(session, workspace))


def rows(
    session: Session,
    workspace: str,
    *,
    limit: int,
    before: str | None = None,
    workflow: str | None = None,
    state: str | None = None,
    ctx: int | None = None,
    text: str | None = None,
) -> list[TaskRow]:
    """The newest tasks first, at most `limit`, of those that were made before the task `before`."""
    sql = (
        f"{_ROW} WHERE workspace = ?1 AND (?2 IS NULL OR id < ?2) AND (?3 IS NULL OR workflow = ?3)"
        " AND (?4 IS NULL OR state = ?4) AND (?5 IS NULL OR ctx = ?5)"
        " AND (?6 IS NULL OR instr(id || ' ' || workflow || ' ' || coalesce(error, ''), ?6) > 0)"
        " ORDER BY id DESC LIMIT ?7"
    )
    return [_task(row) for row in session.execute(sql, (workspace, before, workflow, state, ctx, text, limit))]


def last(session: Session, workspace: str, ctx: int, workflow: str) -> TaskRow | None:
    """The newest task of a workflow in a context."""
    row = session.row(
        f"{_ROW} WHERE workspace = ? AND ctx = ? AND workflow = ? ORDER BY id DESC LIMIT 1", (workspace, ctx, workflow)
    )
    return None if row is None else _task(row)
