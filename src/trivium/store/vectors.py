"""Stored vectors: float16, little-endian, one row for each item, kind and model.

An item is a concept (its id as decimal text), a chunk or an artifact (its key). What has no vector of a model yet, or
one of an older text, is that model's backlog. Rows go with their items (triggers in `schema`), in one transaction;
`state` tells cheaply whether anything has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session

CONCEPT, CHUNK, ARTIFACT = "concept", "chunk", "artifact"
KINDS = (CONCEPT, CHUNK, ARTIFACT)


class Set(Struct, frozen=True):
    """Which vectors: those of one kind in one context by one model."""

    ctx: int
    kind: str
    model: str


class NewVector(Struct, frozen=True):
    """A vector to be stored; `version` is a concept's, 0 for others; `digest` is that of the text behind it."""

    item: str
    version: int
    digest: str
    data: bytes


class Lacking(Struct, frozen=True):
    """An item of the backlog with what its text is made of.

    `digest` is that of the text which its present vector was made of, "" when it has none.
    """

    item: str
    version: int
    digest: str
    name: str
    parts: Any
    text: str
    after: int | str
    """Pass it on to get the items behind this one."""


# --- reading --------------------------------------------------------------------------------------


def state(session: Session, of: Set) -> tuple[int, int]:
    """The last id given and the number of rows ever removed; (0, 0) if there never was a vector."""
    sql = "SELECT last, removed FROM vector_state WHERE ctx = ? AND kind = ? AND model = ?"
    row = session.row(sql, (of.ctx, of.kind, of.model))
    return (0, 0) if row is None else (row[0], row[1])


def rows_after(session: Session, of: Set, after: int) -> Iterable[tuple[int, str, str, bytes]]:
    """Id, item, digest and data of the vectors with a larger id, by id."""
    sql = (
        "SELECT id, item, digest, data FROM vector INDEXED BY vector_added"
        " WHERE ctx = ? AND kind = ? AND model = ? AND id > ? ORDER BY id"
    )
    return session.execute(sql, (of.ctx, of.kind, of.model, after))


def data_of(session: Session, of: Set, item: str) -> bytes | None:
    """The vector of one item."""
    sql = "SELECT data FROM vector WHERE ctx = ? AND kind = ? AND item = ? AND model = ?"
    found: bytes | None = session.value(sql, (of.ctx, of.kind, item, of.model))
    return found


def sets(session: Session, model: str) -> list[Set]:
    """Where there are or were vectors of a model."""
    sql = "SELECT ctx, kind FROM vector_state WHERE model = ? ORDER BY ctx, kind"
    return [Set(ctx, kind, model) for ctx, kind in session.rows(sql, (model,))]


def newest(session: Session, of: Set, number: int) -> list[tuple[str, str, bytes]]:
    """Item, digest and data of the vectors that were made last."""
    sql = (
        "SELECT item, digest, data FROM vector INDEXED BY vector_added"
        " WHERE ctx = ? AND kind = ? AND model = ? ORDER BY id DESC LIMIT ?"
    )
    return session.rows(sql, (of.ctx, of.kind, of.model, number))


def ids(session: Session, of: Set) -> list[int]:
    """The ids of all vectors, ascending."""
    sql = "SELECT id FROM vector INDEXED BY vector_added WHERE ctx = ? AND kind = ? AND model = ? ORDER BY id"
    return [row[0] for row in session.execute(sql, (of.ctx, of.kind, of.model))]


def count(session: Session, of: Set) -> int:
    sql = "SELECT count(*) FROM vector INDEXED BY vector_added WHERE ctx = ? AND kind = ? AND model = ?"
    return int(session.value(sql, (of.ctx, of.kind, of.model)))


def live_places(session: Session, ctx: int, kind: str) -> list[tuple[str, int]]:
    """Key and id of every live chunk or artifact, from an index alone."""
    sql = f"SELECT key, id FROM {kind} INDEXED BY {kind}_key WHERE ctx = ? AND live = 1"
    return session.rows(sql, (ctx,))


# --- the backlog ----------------------------------------------------------------------------------

_LACKS_CONCEPT = (
    " FROM concept AS c NOT INDEXED LEFT JOIN vector AS v INDEXED BY vector_item"
    " ON v.ctx = c.ctx AND v.kind = 'concept' AND v.item = CAST(c.id AS TEXT) AND v.model = ?2"
    " WHERE c.ctx = ?1 AND (v.id IS NULL OR v.version <> c.version)"
)
_LACKS_PIECE = (
    " FROM {kind} AS c INDEXED BY {kind}_key WHERE c.ctx = ?1 AND c.live = 1 AND NOT EXISTS"
    " (SELECT 1 FROM vector WHERE ctx = ?1 AND kind = '{kind}' AND item = c.key AND model = ?2)"
)


def backlog(session: Session, of: Set) -> int:
    """How many items lack a vector, or have one of an older version."""
    where = _LACKS_CONCEPT if of.kind == CONCEPT else _LACKS_PIECE.format(kind=of.kind)
    return int(session.value(f"SELECT count(*){where}", (of.ctx, of.model)))


def lacking(session: Session, of: Set, after: int | str | None, limit: int) -> list[Lacking]:
    """The next items of the backlog, behind `after` (None: from the beginning)."""
    if of.kind == CONCEPT:
        sql = f"SELECT c.id, c.version, coalesce(v.digest, ''), c.name, json(c.attrs){_LACKS_CONCEPT}"
        rows = session.rows(f"{sql} AND c.id > ?3 ORDER BY c.id LIMIT ?4", (of.ctx, of.model, after or 0, limit))
        return [Lacking(str(row[0]), row[1], row[2], row[3], decode(row[4]), "", row[0]) for row in rows]
    sql = f"SELECT c.id{_LACKS_PIECE.format(kind=of.kind)} AND c.key > ?3 ORDER BY c.key LIMIT ?4"
    found = [row[0] for row in session.execute(sql, (of.ctx, of.model, after or "", limit))]
    return _pieces(session, of, found)


def items(session: Session, of: Set, keys: Sequence[str]) -> list[Lacking]:
    """Concepts, or live chunks or artifacts, of these keys, as items of the backlog whatever vectors they have."""
    if of.kind == CONCEPT:
        sql = (
            "SELECT id, version, name, json(attrs) FROM concept NOT INDEXED WHERE ctx = ?1"
            " AND id IN (SELECT CAST(value AS INTEGER) FROM json_each(?2)) ORDER BY id"
        )
        rows = session.rows(sql, (of.ctx, encode(list(keys))))
        return [Lacking(str(row[0]), row[1], "", row[2], decode(row[3]), "", row[0]) for row in rows]
    sql = (
        f"SELECT id FROM {of.kind} INDEXED BY {of.kind}_key WHERE ctx = ?1 AND live = 1"
        " AND key IN (SELECT value FROM json_each(?2)) ORDER BY key"
    )
    return _pieces(session, of, [row[0] for row in session.execute(sql, (of.ctx, encode(list(keys))))])


def _pieces(session: Session, of: Set, found: list[int]) -> list[Lacking]:
    if of.kind == CHUNK:
        sql = (
            "SELECT c.key, d.title, json(c.place), c.text FROM chunk AS c CROSS JOIN document AS d ON d.id = c.document"
            " WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.key"
        )
    else:
        sql = "SELECT key, name, '{}', text FROM artifact WHERE id IN (SELECT value FROM json_each(?)) ORDER BY key"
    rows = session.execute(sql, (encode(found),))
    return [Lacking(key, 0, "", name, decode(parts), text, key) for key, name, parts, text in rows]


def artifact_digests(session: Session, of: Set) -> list[tuple[str, str, str, str]]:
    """Key, name, text and digest of the vector of every live artifact that has one: their texts change under a key."""
    sql = (
        "SELECT c.key, c.name, c.text, v.digest FROM artifact AS c INDEXED BY artifact_key CROSS JOIN vector AS v"
        " ON v.ctx = ?1 AND v.kind = 'artifact' AND v.item = c.key AND v.model = ?2 WHERE c.ctx = ?1 AND c.live = 1"
    )
    return session.rows(sql, (of.ctx, of.model))


# --- writing --------------------------------------------------------------------------------------

_ITEM_IS_THERE = {
    CONCEPT: "EXISTS (SELECT 1 FROM concept WHERE ctx = ?1 AND id = CAST(?3 AS INTEGER))",
    CHUNK: "EXISTS (SELECT 1 FROM chunk WHERE ctx = ?1 AND key = ?3)",
    ARTIFACT: "EXISTS (SELECT 1 FROM artifact WHERE ctx = ?1 AND key = ?3)",
}


def put(session: Session, of: Set, vectors: Iterable[NewVector]) -> int:
    """Store vectors in place of older ones of the same items; gives how many. Items gone meanwhile are passed by."""
    stored = 0
    for new in vectors:
        session.execute(
            "DELETE FROM vector WHERE ctx = ? AND kind = ? AND item = ? AND model = ?",
            (of.ctx, of.kind, new.item, of.model),
        )
        sql = (
            "INSERT INTO vector(ctx, kind, item, model, version, digest, data)"
            f" SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE {_ITEM_IS_THERE[of.kind]}"
        )
        session.execute(sql, (of.ctx, of.kind, new.item, of.model, new.version, new.digest, new.data))
        stored += session.connection.changes()
    return stored


def confirm(session: Session, of: Set, items: Iterable[tuple[str, int]]) -> None:
    """Note for concepts whose text is what it was that their vectors hold for this version too."""
    sql = "UPDATE vector SET version = ? WHERE ctx = ? AND kind = ? AND item = ? AND model = ?"
    for item, version in items:
        session.execute(sql, (version, of.ctx, of.kind, item, of.model))


def remove_model(session: Session, model: str) -> None:
    """Delete the vectors of a model."""
    session.execute("DELETE FROM vector WHERE model = ?", (model,))


def remove_other_models(session: Session, model: str) -> int:
    """Delete the vectors of every other model; gives how many there were."""
    removed = int(session.value("SELECT count(*) FROM vector WHERE model <> ?", (model,)))
    session.execute("DELETE FROM vector WHERE model <> ?", (model,))
    session.execute("DELETE FROM vector_state WHERE model <> ?", (model,))
    return removed


def models(session: Session) -> dict[str, int]:
    """Each model that vectors are stored of, with their number."""
    return dict(session.rows("SELECT model, count(*) FROM vector GROUP BY model ORDER BY model"))


# --- one worker at a time -------------------------------------------------------------------------


def take_lease(session: Session, model: str, holder: str, now: int, seconds: int, *, steal: bool = False) -> bool:
    """Become or stay the one process that embeds with a model; False while another one holds the lease.

    A lease that ends later than one taken now was taken by a clock that was wrong.
    """
    sql = (
        "INSERT INTO vector_lease VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET holder = ?2, until = ?3"
        " WHERE holder = ?2 OR until < ?4 OR until > ?3 OR ?5"
    )
    session.execute(sql, (model, holder, now + seconds, now, steal))
    return bool(session.connection.changes())


def drop_lease(session: Session, model: str, holder: str) -> None:
    session.execute("DELETE FROM vector_lease WHERE model = ? AND holder = ?", (model, holder))
