"""The text index of chunks and artifacts, one pair of FTS5 tables for each context, and the rows behind its hits.

Each context has tables of its own, so that how rare a word is depends on that context alone. They are fed with tokens
that `trivium.search.passage_text` cut; what they hold of rows that are not live is never given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session

IndexRow = tuple[int, str, str]
"""A row for the index: the id of a chunk or artifact, the tokens of its heading or name, those of its text."""

HEADING_WEIGHT, NAME_WEIGHT = 0.5, 3.0
"""How much a word in the heading (of a chunk) or in the name (of an artifact) counts beside one in the text."""

BEGINNING = 2_000
"""Characters of a text that tell what kind of text it is."""

_FTS = "content='', contentless_delete=1, tokenize=\"ascii tokenchars '-_.'\""


class ChunkRow(Struct, frozen=True):
    """A live chunk with what a reader must know of its document."""

    id: int
    key: str
    document: int
    position: int
    start: int
    stop: int
    first_line: int
    last_line: int
    place: dict[str, Any]
    text: str
    path: str
    title: str
    dated: str | None


class ArtifactRow(Struct, frozen=True):
    """A live artifact."""

    id: int
    key: str
    name: str
    type: str
    kind: str
    scope: str
    format: str
    sources: list[str]
    edges: list[dict[str, Any]]
    text: str


# --- the index ------------------------------------------------------------------------------------


def create_index(session: Session, ctx: int) -> None:
    """Make the index tables of a context; nothing happens to those that are there."""
    session.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {_chunk_table(ctx)} USING fts5(heading, body, {_FTS})")
    session.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {_artifact_table(ctx)} USING fts5(name, body, {_FTS})")
    for table in (_chunk_table(ctx), _artifact_table(ctx)):
        session.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {table}_word USING fts5vocab({table}, row)")


def drop_index(session: Session, ctx: int) -> None:
    """Remove the index tables of a context, if it has any."""
    for table in (_chunk_table(ctx), _artifact_table(ctx)):
        session.execute(f"DROP TABLE IF EXISTS {table}_word")
        session.execute(f"DROP TABLE IF EXISTS {table}")


def has_index(session: Session, ctx: int) -> bool:
    sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return session.value(sql, (_chunk_table(ctx),)) is not None


def add_chunks(session: Session, ctx: int, rows: Iterable[IndexRow]) -> None:
    """Enter chunks into the index, none of which may be in it."""
    session.connection.executemany(f"INSERT INTO {_chunk_table(ctx)}(rowid, heading, body) VALUES (?, ?, ?)", rows)


def add_artifacts(session: Session, ctx: int, rows: Iterable[IndexRow]) -> None:
    """Enter artifacts into the index, none of which may be in it."""
    session.connection.executemany(f"INSERT INTO {_artifact_table(ctx)}(rowid, name, body) VALUES (?, ?, ?)", rows)


def remove_chunks(session: Session, ctx: int, ids: Iterable[int]) -> None:
    """Take chunks out of the index; those that are not in it do no harm."""
    session.connection.executemany(f"DELETE FROM {_chunk_table(ctx)} WHERE rowid = ?", ((id_,) for id_ in ids))


def remove_artifacts(session: Session, ctx: int, ids: Iterable[int]) -> None:
    """Take artifacts out of the index; those that are not in it do no harm."""
    session.connection.executemany(f"DELETE FROM {_artifact_table(ctx)} WHERE rowid = ?", ((id_,) for id_ in ids))


def clear_chunks(session: Session, ctx: int) -> None:
    """Take all chunks out of the index, and forget those that wait."""
    session.execute(f"DELETE FROM {_chunk_table(ctx)}")
    session.execute("DELETE FROM staged_text WHERE ctx = ?", (ctx,))


def stage_chunks(session: Session, ctx: int, rows: Iterable[IndexRow]) -> None:
    """Keep the tokens of chunks that are not live yet beside the index, for `enter_staged`."""
    sql = "INSERT OR REPLACE INTO staged_text(chunk, ctx, heading, body) VALUES (?, ?, ?, ?)"
    session.connection.executemany(sql, ((row[0], ctx, row[1], row[2]) for row in rows))


def enter_staged(session: Session, ctx: int) -> None:
    """Enter the chunks that waited into the index."""
    rows = "SELECT chunk, heading, body FROM staged_text WHERE ctx = ? ORDER BY chunk"
    session.execute(f"INSERT INTO {_chunk_table(ctx)}(rowid, heading, body) {rows}", (ctx,))
    session.execute("DELETE FROM staged_text WHERE ctx = ?", (ctx,))


def unindexed(
    session: Session, ctx: int, after: int, limit: int = 1_000
) -> list[tuple[int, dict[str, Any], str, str, str]]:
    """Live chunks that the index lacks, from the id `after` on: id, place, text, path and title."""
    sql = (
        "SELECT c.id, json(c.place), c.text, d.path, d.title FROM document AS d CROSS JOIN chunk AS c"
        " ON c.ctx = d.ctx AND c.document = d.id WHERE d.ctx = ?1 AND d.live = 1"
        f" AND c.id > ?2 AND c.id NOT IN (SELECT rowid FROM {_chunk_table(ctx)}) ORDER BY c.id LIMIT ?3"
    )
    return [(row[0], decode(row[1]), row[2], row[3], row[4]) for row in session.execute(sql, (ctx, after, limit))]


def index_faults(session: Session, ctx: int) -> int:
    """How many live rows have no entry, and how many entries no row.

    Chunks of a context whose manifest switches the index off need none; those of a curate that was cut short may have.
    """
    off = session.value("SELECT ledger ->> '$.keyword' FROM context WHERE id = ?", (ctx,)) == 0
    documents = "SELECT id FROM document WHERE ctx = ?1 AND live = 1"
    parts = (
        (_chunk_table(ctx), "chunk", f"document IN ({documents})"),
        (_artifact_table(ctx), "artifact", "live = 1"),
    )
    faults = 0
    for table, rows, shown in parts:
        live = f"SELECT id FROM {rows} WHERE ctx = ?1 AND {shown}"
        entries = f"SELECT id FROM {table}_docsize"
        if rows == "artifact" or not off:
            faults += int(session.value(f"SELECT count(*) FROM ({live} EXCEPT {entries})", (ctx,)))
        other = f"SELECT id FROM {rows} WHERE ctx = ?1"
        faults += int(session.value(f"SELECT count(*) FROM ({entries} EXCEPT {other})", (ctx,)))
    return faults


def _chunk_table(ctx: int) -> str:
    return f"chunk_text_{int(ctx)}"


def _artifact_table(ctx: int) -> str:
    return f"artifact_text_{int(ctx)}"


# --- searching ------------------------------------------------------------------------------------


class Reach(Struct, frozen=True):
    """Which of the two indexes of a context is searched, and what a word in its first column counts."""

    table: str
    rows: str
    heading: float
    live: str


def chunk_reach(ctx: int) -> Reach:
    return Reach(
        _chunk_table(ctx),
        "chunk",
        HEADING_WEIGHT,
        "SELECT c.id FROM chunk AS c NOT INDEXED CROSS JOIN document AS d ON d.id = c.document"
        " WHERE c.ctx = ?1 AND c.live = 1 AND d.live = 1 AND c.id IN (SELECT value FROM json_each(?2))",
    )


def artifact_reach(ctx: int) -> Reach:
    return Reach(
        _artifact_table(ctx),
        "artifact",
        NAME_WEIGHT,
        "SELECT id FROM artifact NOT INDEXED WHERE ctx = ?1 AND live = 1 AND id IN (SELECT value FROM json_each(?2))",
    )


def holders(session: Session, reach: Reach, tokens: Sequence[str]) -> dict[str, int]:
    """For each token how many rows of the index hold it."""
    sql = f"SELECT doc FROM {reach.table}_word WHERE term = ?"
    return {token: int(session.value(sql, (token,)) or 0) for token in tokens}


def indexed(session: Session, reach: Reach) -> int:
    """How many rows the index holds."""
    return int(session.value(f"SELECT count(*) FROM {reach.table}"))


class Match(NamedTuple):
    """A row of the index that matched: `bm25` is positive, higher is better; bit n of `held` tells of token n."""

    id: int
    bm25: float
    held: int


def ranked(session: Session, reach: Reach, tokens: Sequence[str], limit: int, *, every: bool = False) -> list[Match]:
    """Rows that hold any of the tokens (or every one), best first; some may no longer be live."""
    if not tokens or limit < 1:
        return []
    table = reach.table
    match = (" AND " if every else " OR ").join('"' + token.replace('"', '""') + '"' for token in tokens)
    sql = (
        f"SELECT rowid, -rank, held_phrases({table}) FROM {table} WHERE {table} MATCH ? AND rank MATCH ?"
        " ORDER BY rank LIMIT ?"
    )
    return [Match(*row) for row in session.execute(sql, (match, f"bm25({reach.heading}, 1.0)", limit))]


def texts(session: Session, ctx: int, reach: Reach, ids: Sequence[int]) -> dict[int, str]:
    """The beginnings of the texts behind these rows of the index."""
    sql = (
        f"SELECT id, substr(text, 1, {BEGINNING}) FROM {reach.rows} NOT INDEXED"
        " WHERE ctx = ?1 AND id IN (SELECT value FROM json_each(?2))"
    )
    return dict(session.rows(sql, (ctx, encode(list(ids)))))


def live(session: Session, ctx: int, reach: Reach, ids: Sequence[int]) -> set[int]:
    """Those of the ids that are live."""
    return {row[0] for row in session.execute(reach.live, (ctx, encode(list(ids))))}


# --- the rows -------------------------------------------------------------------------------------

_CHUNK = (
    "c.id, c.key, c.document, c.position, c.start, c.stop, c.first_line, c.last_line, json(c.place), c.text,"
    " d.path, d.title, d.dated FROM chunk AS c CROSS JOIN document AS d ON d.id = c.document"
)
_CHUNK_BY_ID = _CHUNK.replace(" AS c ", " AS c NOT INDEXED ")
_ARTIFACT = "id, key, name, type, kind, scope, format, json(sources), json(edges), text FROM artifact"


def _chunk(row: tuple[Any, ...]) -> ChunkRow:
    id_, key, document, position, start, stop, first, last, place, text, path, title, dated = row
    return ChunkRow(id_, key, document, position, start, stop, first, last, decode(place), text, path, title, dated)


def _artifact(row: tuple[Any, ...]) -> ArtifactRow:
    id_, key, name, type_, kind, scope, format_, sources, edges, text = row
    return ArtifactRow(id_, key, name, type_, kind, scope, format_, decode(sources), decode(edges), text)


def chunks(session: Session, ctx: int, ids: Iterable[int]) -> dict[int, ChunkRow]:
    """The live chunks among these ids."""
    alive = "c.ctx = ?1 AND c.live = 1 AND d.live = 1"
    sql = f"SELECT {_CHUNK_BY_ID} WHERE {alive} AND c.id IN (SELECT value FROM json_each(?2))"
    return {row[0]: _chunk(row) for row in session.execute(sql, (ctx, encode(list(ids))))}


def chunk_ids(session: Session, ctx: int, keys: Iterable[str]) -> dict[str, int]:
    """Key to id of the live chunks among these keys."""
    sql = (
        "SELECT c.key, c.id FROM chunk AS c INDEXED BY chunk_key CROSS JOIN document AS d ON d.id = c.document"
        " WHERE c.ctx = ?1 AND c.live = 1 AND d.live = 1 AND c.key IN (SELECT value FROM json_each(?2))"
    )
    return dict(session.rows(sql, (ctx, encode(list(keys)))))


def artifacts(session: Session, ctx: int, ids: Iterable[int]) -> dict[int, ArtifactRow]:
    """The live artifacts among these ids."""
    sql = f"SELECT {_ARTIFACT} NOT INDEXED WHERE ctx = ?1 AND live = 1 AND id IN (SELECT value FROM json_each(?2))"
    return {row[0]: _artifact(row) for row in session.execute(sql, (ctx, encode(list(ids))))}


def neighbours(session: Session, ctx: int, chunk: ChunkRow, width: int) -> list[ChunkRow]:
    """The live chunks at most `width` places before and after a chunk in its document, in order, without it."""
    sql = (
        f"SELECT {_CHUNK} WHERE c.ctx = ?1 AND c.document = ?2 AND c.position BETWEEN ?3 AND ?4"
        " AND c.live = 1 AND d.live = 1 AND c.id <> ?5 ORDER BY c.position"
    )
    place = (chunk.position - width, chunk.position + width)
    return [_chunk(row) for row in session.execute(sql, (ctx, chunk.document, *place, chunk.id))]
