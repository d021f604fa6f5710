"""Reading what a context holds page by page, as people and programs browse it: folders, lists, counts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trivium.store.chunks import ArtifactRow, ChunkRow, artifacts, chunks
from trivium.store.sqlite import Session

SOURCES, DOCUMENTS = "source WHERE ctx = ?1", "document WHERE ctx = ?1 AND live = 1"
"""What has paths that make folders."""


class Entry(Struct, frozen=True):
    """Something in a folder: a name, and for a folder (`files` is not None) how many paths are below it."""

    name: str
    path: str
    files: int | None


class Line(Struct, frozen=True):
    """A source with what the last curate made of it; `live_hash` is the hash it had then, None if it was not there.

    `state` is `live`, `changed` (a newer version waits for the next curate), `new` or `unreadable`.
    """

    path: str
    media_type: str
    size: int
    hash: str
    dated: str | None
    imported_at: str
    live_hash: str | None
    problem: str | None
    state: str


# --- folders --------------------------------------------------------------------------------------


def folder(session: Session, table: str, ctx: int, prefix: str, after: str, limit: int) -> list[Entry]:
    """What is directly in a folder (`prefix` is "" or ends with "/"), in the order of paths, behind the entry `after`.

    A name behind which paths go on is a folder, and stands where these stand. Each entry is one look into the index.
    """
    found: list[Entry] = []
    start = _behind(prefix + after) if after else prefix
    end = _end(prefix)
    while len(found) < limit:
        sql = f"SELECT min(path) FROM {table} AND path >= ?2 AND (?3 IS NULL OR path < ?3)"
        path = session.value(sql, (ctx, start, end))
        if path is None:
            break
        name, slash, _ = path[len(prefix) :].partition("/")
        files = None
        if slash:
            below = f"SELECT count(*) FROM {table} AND path >= ?2 AND path < ?3"
            files = int(session.value(below, (ctx, f"{prefix}{name}/", _end(f"{prefix}{name}/"))))
        found.append(Entry(name, prefix + name, files))
        start = _behind(prefix + name + slash)
    return found


def _behind(place: str) -> str | None:
    """The first text behind a path, or behind all that is in a folder; paths hold no control characters."""
    return _end(place) if place.endswith("/") else place + "\x01"


def _end(prefix: str) -> str | None:
    """The first text behind all that begin with a prefix; None when there is none."""
    prefix = prefix.rstrip("\U0010ffff")
    if not prefix:
        return None
    following = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if following == 0xD800 else following)  # surrogates are no characters


# --- sources and the ledger -----------------------------------------------------------------------

_STATE = (
    "CASE WHEN d.id IS NULL THEN 'new' WHEN d.source_hash <> s.hash THEN 'changed'"
    " WHEN d.problem IS NOT NULL THEN 'unreadable' ELSE 'live' END"
)
_FROM = "FROM source AS s LEFT JOIN document AS d ON d.ctx = s.ctx AND d.path = s.path AND d.live = 1 WHERE s.ctx = ?1"
_LINE = (
    f"SELECT s.path, s.media_type, s.size, s.hash, s.dated, s.imported_at, d.source_hash, d.problem, {_STATE} {_FROM}"
)


def lines(session: Session, ctx: int, after: str = "", limit: int = -1, prefix: str = "") -> list[Line]:
    """Sources in the order of their paths, behind the path `after`, that begin with `prefix`; `limit` -1 is all."""
    sql = f"{_LINE} AND s.path > ?2 AND s.path >= ?3 AND (?4 IS NULL OR s.path < ?4) ORDER BY s.path LIMIT ?5"
    return [Line(*row) for row in session.execute(sql, (ctx, after, prefix, _end(prefix), limit))]


def line(session: Session, ctx: int, path: str) -> Line | None:
    row = session.row(f"{_LINE} AND s.path = ?2", (ctx, path))
    return None if row is None else Line(*row)


def pending_deletes(session: Session, ctx: int, limit: int) -> list[str]:
    """Documents that are hidden because their source was deleted."""
    sql = "SELECT path FROM document WHERE ctx = ? AND live = -1 ORDER BY path LIMIT ?"
    return [row[0] for row in session.execute(sql, (ctx, limit))]


def media_types(session: Session, ctx: int) -> dict[str, dict[str, int]]:
    """Files and bytes of each media type."""
    sql = "SELECT media_type, count(*), sum(size) FROM source WHERE ctx = ? GROUP BY media_type ORDER BY media_type"
    return {row[0]: {"files": row[1], "bytes": row[2]} for row in session.execute(sql, (ctx,))}


def states(session: Session, ctx: int) -> dict[str, int]:
    """How many sources are in each state (see `Line`)."""
    sql = f"SELECT {_STATE} AS state, count(*) {_FROM} GROUP BY state"
    return dict.fromkeys(("live", "changed", "new", "unreadable"), 0) | dict(session.rows(sql, (ctx,)))


# --- what curate wrote ----------------------------------------------------------------------------


def document_titles(session: Session, ctx: int, paths: list[str]) -> dict[str, tuple[str, int]]:
    """Title and length of live documents."""
    sql = "SELECT path, title, chars FROM document WHERE ctx = ? AND path = ? AND live = 1"
    rows = (session.row(sql, (ctx, path)) for path in paths)
    return {row[0]: (row[1], row[2]) for row in rows if row is not None}


def artifact_page(session: Session, ctx: int, after: str, limit: int) -> list[tuple[str, str, str, str]]:
    """Key, name, type and kind of live artifacts in the order of their keys, behind the key `after`."""
    sql = (
        "SELECT key, name, type, kind FROM artifact INDEXED BY artifact_key"
        " WHERE ctx = ? AND key > ? AND live = 1 ORDER BY key LIMIT ?"
    )
    return session.rows(sql, (ctx, after, limit))


def chunk_page(session: Session, ctx: int, path: str, after: int, limit: int) -> list[tuple[int, str, int, int, int]]:
    """Position, key, first line, last line and length of the chunks of a live document, behind position `after`."""
    sql = (
        "SELECT c.position, c.key, c.first_line, c.last_line, c.stop - c.start FROM document AS d CROSS JOIN chunk AS c"
        " ON c.ctx = d.ctx AND c.document = d.id WHERE d.ctx = ? AND d.path = ? AND d.live = 1 AND c.live = 1"
        " AND c.position > ? ORDER BY c.position LIMIT ?"
    )
    return session.rows(sql, (ctx, path, after, limit))


def chunk(session: Session, ctx: int, key: str) -> ChunkRow | None:
    """The live chunk of a key."""
    sql = (
        "SELECT c.id FROM chunk AS c CROSS JOIN document AS d ON d.id = c.document"
        " WHERE c.ctx = ? AND c.key = ? AND c.live = 1 AND d.live = 1 LIMIT 1"
    )
    number = session.value(sql, (ctx, key))
    return None if number is None else chunks(session, ctx, [number]).get(number)


def artifact(session: Session, ctx: int, key: str) -> ArtifactRow | None:
    """The live artifact of a key."""
    number = session.value("SELECT id FROM artifact WHERE ctx = ? AND key = ? AND live = 1", (ctx, key))
    return None if number is None else artifacts(session, ctx, [number]).get(number)


def knowledge_counts(session: Session, ctx: int) -> dict[str, Any]:
    """Characters of the live documents, and the live artifacts of each type."""
    sql = "SELECT type, count(*) FROM artifact WHERE ctx = ? AND live = 1 GROUP BY type ORDER BY type"
    chars = session.value("SELECT coalesce(sum(chars), 0) FROM document WHERE ctx = ? AND live = 1", (ctx,))
    return {"chars": int(chars), "artifact_types": dict(session.rows(sql, (ctx,)))}
