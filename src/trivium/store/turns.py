"""Sessions, turns, their events, and idempotency keys (KnowQL reference 4, 5, 7).

The rule that a turn ends once is kept here: `finish` and `append` have effect only while the turn is `in_progress`.
JSON columns hold text, so that numbers stay as they were written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from trivium.store.sqlite import Session

IN_PROGRESS, COMPLETED, FAILED, CANCELLED = "in_progress", "completed", "failed", "cancelled"
LONGEST_CHAIN = 1_000
"""How many turns back completed ones are looked for."""
MOST_REPLAYED, MOST_READ = 50, 4 << 20
"""How many completed turns a history holds at most, and how many bytes of them are read for it."""
_LAST = "~"
"""Stands behind every id."""

Event = tuple[str, dict[str, Any]]
"""The type of an event and its data."""


class SessionRow(Struct, frozen=True):
    """A session. `pinned` is what its first turn fixed, with `scope_ids` (UUIDs) and `scope_numbers` (store ids)."""

    id: str
    title: str | None
    pinned: dict[str, Any]
    last_query: str | None
    created_at: str
    updated_at: str


class QueryRow(Struct, frozen=True):
    """A turn. `number` is its place in the session, from 1; `request` what was asked, `result` what came of it."""

    workspace: str
    id: str
    session: str
    number: int
    previous: str | None
    status: str
    worker: str | None
    created_ms: int
    deadline_ms: int
    finished_ms: int | None
    request: dict[str, Any]
    result: dict[str, Any]
    feedback: dict[str, Any] | None = None


def to_json(value: Any) -> str:
    """JSON text as it is stored. Raises: ValueError, TypeError, RecursionError for what is no JSON value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# --- sessions -------------------------------------------------------------------------------------

_SESSION = "SELECT id, title, pinned, last_query, created_at, updated_at FROM session"


def _session(row: tuple[Any, ...]) -> SessionRow:
    id_, title, pinned, last, created, updated = row
    return SessionRow(id_, title, json.loads(pinned), last, created, updated)


def find_session(session: Session, workspace: str, id_: str) -> SessionRow | None:
    row = session.row(f"{_SESSION} WHERE workspace = ? AND id = ?", (workspace, id_))
    return None if row is None else _session(row)


def add_session(
    session: Session, workspace: str, id_: str, title: str, pinned: dict[str, Any], contexts: Iterable[int], now: str
) -> None:
    session.execute(
        "INSERT INTO session(workspace, id, title, pinned, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
        (workspace, id_, title, to_json(pinned), now, now),
    )
    for ctx in contexts:
        session.execute("INSERT INTO session_scope VALUES (?, ?, ?)", (workspace, ctx, id_))


def list_sessions(
    session: Session, workspace: str, limit: int, before: str | None = None, ctx: int | None = None
) -> list[SessionRow]:
    """Newest first, those before the id `before`; with `ctx` the ones whose scope holds that context."""
    values = {"workspace": workspace, "limit": limit, "before": _LAST if before is None else before, "ctx": ctx}
    sql = f"{_SESSION} WHERE workspace = :workspace AND id < :before ORDER BY id DESC LIMIT :limit"
    if ctx is not None:
        chosen = (
            "SELECT session FROM session_scope WHERE workspace = :workspace AND ctx = :ctx AND session < :before"
            " ORDER BY session DESC LIMIT :limit"
        )
        sql = f"{_SESSION} WHERE workspace = :workspace AND id IN ({chosen}) ORDER BY id DESC"
    return [_session(row) for row in session.execute(sql, values)]


def rename_session(session: Session, workspace: str, id_: str, title: str, now: str) -> None:
    session.execute(
        "UPDATE session SET title = ?, updated_at = ? WHERE workspace = ? AND id = ?", (title, now, workspace, id_)
    )


def delete_session(session: Session, workspace: str, row: SessionRow) -> None:
    """Remove a session with its turns, their events and keys."""
    queries = "SELECT id FROM query WHERE workspace = ?1 AND session = ?2"
    session.execute(f"DELETE FROM event WHERE workspace = ?1 AND query IN ({queries})", (workspace, row.id))
    session.execute(f"DELETE FROM idempotency WHERE workspace = ?1 AND query IN ({queries})", (workspace, row.id))
    session.execute("DELETE FROM query WHERE workspace = ? AND session = ?", (workspace, row.id))
    for ctx in row.pinned["scope_numbers"]:
        session.execute(
            "DELETE FROM session_scope WHERE workspace = ? AND ctx = ? AND session = ?", (workspace, ctx, row.id)
        )
    session.execute("DELETE FROM session WHERE workspace = ? AND id = ?", (workspace, row.id))


# --- turns ----------------------------------------------------------------------------------------

_QUERY = (
    "SELECT workspace, id, session, number, previous, status, worker, created_ms, deadline_ms, finished_ms, request,"
    " result, feedback FROM query"
)


def _query(row: tuple[Any, ...]) -> QueryRow:
    workspace, id_, session, number, previous, status, worker, created, deadline, finished, *texts = row
    request, result, feedback = (None if text is None else json.loads(text) for text in texts)
    assert request is not None
    assert result is not None
    return QueryRow(
        workspace,
        id_,
        session,
        number,
        previous,
        status,
        worker,
        created,
        deadline,
        finished,
        request,
        result,
        feedback,
    )


def find_query(session: Session, workspace: str, id_: str) -> QueryRow | None:
    row = session.row(f"{_QUERY} WHERE workspace = ? AND id = ?", (workspace, id_))
    return None if row is None else _query(row)


def add_query(session: Session, row: QueryRow, now: str) -> None:
    """Enter a turn that is in progress as the newest of its session, with the event that tells so."""
    session.execute(
        "INSERT INTO query(workspace, id, session, number, previous, status, worker, created_ms, deadline_ms, request,"
        " result) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.workspace,
            row.id,
            row.session,
            row.number,
            row.previous,
            row.status,
            row.worker,
            row.created_ms,
            row.deadline_ms,
            to_json(row.request),
            to_json(row.result),
        ),
    )
    session.execute(
        "UPDATE session SET last_query = ?, updated_at = ? WHERE workspace = ? AND id = ?",
        (row.id, now, row.workspace, row.session),
    )
    append(session, row.workspace, row.id, [("response.created", {"session_id": row.session})])


def next_number(session: Session, workspace: str, session_id: str) -> int:
    """The place that the next turn of a session gets."""
    sql = "SELECT coalesce(max(number), 0) + 1 FROM query WHERE workspace = ? AND session = ?"
    return int(session.value(sql, (workspace, session_id)))


def running_query(session: Session, workspace: str, session_id: str) -> QueryRow | None:
    """The turn of a session that is in progress."""
    row = session.row(
        f"{_QUERY} WHERE workspace = ? AND session = ? AND status = 'in_progress'", (workspace, session_id)
    )
    return None if row is None else _query(row)


def list_queries(session: Session, workspace: str, session_id: str, limit: int, after: int = 0) -> list[QueryRow]:
    """Turns of a session in the order of creation, those after number `after`; all of them with a negative limit."""
    sql = f"{_QUERY} WHERE workspace = ? AND session = ? AND number > ? ORDER BY number LIMIT ?"
    return [_query(row) for row in session.execute(sql, (workspace, session_id, after, limit))]


class PastTurn(Struct, frozen=True):
    """What a later turn is told of a completed one. `counts` are those of a retrieval turn, `value` a shaped answer."""

    ask: str
    text: str
    value: str | None = None
    counts: dict[str, int] | None = None


def past_turns(session: Session, workspace: str, id_: str | None) -> tuple[list[PastTurn], bool]:
    """The newest completed turns of the branch that ends in a turn, newest first, and whether there are older ones.

    However long the branch is, at most `MOST_REPLAYED` are read, and no more once they come to `MOST_READ` bytes.
    """
    found: list[PastTurn] = []
    read = 0
    for _ in range(LONGEST_CHAIN):
        row = None if id_ is None else session.row(_LINK, (workspace, id_))
        if row is None:
            return found, False
        id_, status, size, key = row
        if status != COMPLETED:
            continue
        if len(found) == MOST_REPLAYED or (found and read + size > MOST_READ):
            return found, True
        read += size
        found.append(_past(session.row(_PAST, (key,))))
    return found, id_ is not None


_LINK = (
    "SELECT previous, status, octet_length(request) + octet_length(result), row FROM query"
    " WHERE workspace = ? AND id = ?"
)
_PAST = (
    "SELECT request ->> '$.ask', request ->> '$.mode', result ->> '$.text', result -> '$.output_json',"
    " result -> '$.output_json.counts' FROM query WHERE row = ?"
)


def _past(row: tuple[Any, ...] | None) -> PastTurn:
    assert row is not None
    ask, mode, text, value, counts = row
    if mode is not None:
        return PastTurn(ask, text, counts=json.loads(counts))
    return PastTurn(ask, text, None if value == "null" else value)


def finish(session: Session, row: QueryRow, status: str, now_ms: int, now: str, result: dict[str, Any]) -> bool:
    """End a turn, with its result; False if it has ended already, and then nothing changes."""
    session.execute(
        "UPDATE query SET status = ?, finished_ms = ?, result = ? WHERE workspace = ? AND id = ?"
        " AND status = 'in_progress'",
        (status, now_ms, to_json(result), row.workspace, row.id),
    )
    if not session.connection.changes():
        return False
    session.execute(
        "UPDATE session SET updated_at = ? WHERE workspace = ? AND id = ?", (now, row.workspace, row.session)
    )
    return True


def in_progress(session: Session) -> list[tuple[str, str, str | None]]:
    """Workspace, id and worker of every turn in progress."""
    sql = "SELECT workspace, id, worker FROM query WHERE worker > '' AND status = 'in_progress' ORDER BY worker, id"
    return [(row[0], row[1], row[2]) for row in session.execute(sql)]


def is_in_progress(session: Session, workspace: str, id_: str) -> bool:
    sql = "SELECT status FROM query WHERE workspace = ? AND id = ?"
    return bool(session.value(sql, (workspace, id_)) == IN_PROGRESS)


def active_sessions(session: Session, workspace: str, ids: Iterable[str]) -> set[str]:
    """Those of the sessions that have a turn in progress."""
    sql = (
        "SELECT session FROM query WHERE workspace = ? AND status = 'in_progress'"
        " AND session IN (SELECT value FROM json_each(?))"
    )
    return {row[0] for row in session.execute(sql, (workspace, to_json(list(ids))))}


def set_feedback(session: Session, workspace: str, id_: str, feedback: dict[str, Any]) -> bool:
    """Keep the latest feedback on a turn; False if there is no such turn."""
    session.execute("UPDATE query SET feedback = ? WHERE workspace = ? AND id = ?", (to_json(feedback), workspace, id_))
    return session.connection.changes() > 0


def set_trace(session: Session, workspace: str, id_: str, trace: dict[str, Any]) -> None:
    session.execute("UPDATE query SET trace = ? WHERE workspace = ? AND id = ?", (to_json(trace), workspace, id_))


def trace_of(session: Session, workspace: str, id_: str) -> dict[str, Any] | None:
    """The recorded trace, or None while there is none."""
    text = session.value("SELECT trace FROM query WHERE workspace = ? AND id = ?", (workspace, id_))
    found: dict[str, Any] | None = None if text is None else json.loads(text)
    return found


# --- events ---------------------------------------------------------------------------------------


def append(session: Session, workspace: str, id_: str, new: Iterable[Event]) -> None:
    """Store events behind those that a turn has; the caller has seen, in this transaction, that it may have more."""
    last = last_event(session, workspace, id_)
    for number, (kind, data) in enumerate(new, last + 1):
        text = to_json({"type": kind, "query_id": id_, **data})
        session.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", (workspace, id_, number, kind, text))


def events(
    session: Session, workspace: str, id_: str, after: int = 0, kind: str | None = None
) -> list[tuple[int, str, dict[str, Any]]]:
    """Number, type and data of the events after number `after`; of one type if `kind` is given."""
    sql = "SELECT number, type, data FROM event WHERE workspace = ? AND query = ? AND number > ?"
    values: tuple[Any, ...] = (workspace, id_, after)
    if kind is not None:
        sql, values = sql + " AND type = ?", (*values, kind)
    return [
        (number, type_, json.loads(data)) for number, type_, data in session.execute(sql + " ORDER BY number", values)
    ]


def last_event(session: Session, workspace: str, id_: str) -> int:
    sql = "SELECT coalesce(max(number), 0) FROM event WHERE workspace = ? AND query = ?"
    return int(session.value(sql, (workspace, id_)))


# --- idempotency ----------------------------------------------------------------------------------


def find_key(session: Session, workspace: str, key: str, now_ms: int) -> tuple[str, str] | None:
    """Digest and turn of a key that is still remembered."""
    row = session.row(
        "SELECT digest, query FROM idempotency WHERE workspace = ? AND key = ? AND expires_ms > ?",
        (workspace, key, now_ms),
    )
    return None if row is None else (row[0], row[1])


def remember_key(
    session: Session, workspace: str, key: str, digest: str, query: str, now_ms: int, expires_ms: int
) -> None:
    """Remember a key, and forget those whose time is over."""
    session.execute("DELETE FROM idempotency WHERE expires_ms <= ?", (now_ms,))
    session.execute(
        "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)", (workspace, key, digest, query, expires_ms)
    )
