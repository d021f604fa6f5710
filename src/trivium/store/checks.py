"""Whether what the tables promise together holds: ends, counters, indexes, contents, vectors, sequences."""

from __future__ import annotations

from typing import Any

import apsw

from trivium.errors import KipError
from trivium.store import chunks, contexts, schema
from trivium.store.sqlite import SqliteStore

PATIENCE = 600.0
"""Seconds that one check may take."""

_END = (
    "NOT EXISTS (SELECT 1 FROM concept WHERE id = l.{end} AND ctx = l.ctx"
    " UNION ALL SELECT 1 FROM link WHERE id = l.{end} AND ctx = l.ctx)"
)

_OWNED = ("concept", "link", "counter", "source", "document", "chunk", "artifact", "vector", "repository")
_NOWHERE = "NOT IN (SELECT id FROM context UNION ALL SELECT ctx FROM removed)"

_KEPT = "NOT IN (SELECT ctx FROM removed)"
"""What a context is of which nothing is being removed."""


def _differing(kind: str, real: str) -> str:
    """How many counters of a kind are not the numbers that there really are, missing ones included."""
    counted = f"SELECT ctx, key, n FROM counter WHERE kind = '{kind}' AND n <> 0"
    return (
        f"WITH counted(ctx, key, n) AS ({counted}), real(ctx, key, n) AS ({real})"
        " SELECT count(*) FROM (SELECT ctx, key FROM (SELECT * FROM counted EXCEPT SELECT * FROM real)"
        " UNION SELECT ctx, key FROM (SELECT * FROM real EXCEPT SELECT * FROM counted)"
        f") WHERE ctx {_KEPT}"
    )


_CHECKS: tuple[tuple[str, str, str], ...] = (
    (
        "links have both ends",
        f"SELECT count(*) FROM link AS l WHERE ({_END.format(end='s')} OR {_END.format(end='o')}) AND l.ctx {_KEPT}",
        "links with a missing end",
    ),
    (
        "type counters are right",
        _differing("t", "SELECT ctx, type, count(*) FROM concept GROUP BY ctx, type"),
        "type counters that differ",
    ),
    (
        "predicate counters are right",
        _differing("p", "SELECT ctx, p, count(*) FROM link GROUP BY ctx, p"),
        "predicate counters that differ",
    ),
    (
        "everything belongs to a context",
        "SELECT " + " + ".join(f"(SELECT count(*) FROM {table} WHERE ctx {_NOWHERE})" for table in _OWNED),
        "rows of contexts that were never made or are gone",
    ),
    (
        "the text index is complete",
        "SELECT abs((SELECT count(*) FROM concept) - (SELECT count(*) FROM concept_text))",
        "concepts without an entry, or entries without a concept",
    ),
    (
        "sources and documents are whole",
        "SELECT (SELECT count(*) FROM source WHERE id NOT IN (SELECT source FROM source_content))"
        " + (SELECT count(*) FROM document WHERE id NOT IN (SELECT document FROM document_text))"
        " + (SELECT count(*) FROM source_content WHERE source NOT IN (SELECT id FROM source))"
        " + (SELECT count(*) FROM document_text WHERE document NOT IN (SELECT id FROM document))"
        " + (SELECT count(*) FROM chunk WHERE document NOT IN (SELECT id FROM document))",
        "sources or documents without their content, or the other way round",
    ),
    (
        "no vector is left behind",
        "SELECT count(*) FROM vector AS v WHERE NOT EXISTS ("
        "SELECT 1 FROM concept WHERE v.kind = 'concept' AND ctx = v.ctx AND id = CAST(v.item AS INTEGER)"
        " UNION ALL SELECT 1 FROM chunk WHERE v.kind = 'chunk' AND ctx = v.ctx AND key = v.item"
        " UNION ALL SELECT 1 FROM artifact WHERE v.kind = 'artifact' AND ctx = v.ctx AND key = v.item)",
        "vectors of items that are gone",
    ),
    (
        "ids are below their sequences",
        "SELECT (SELECT count(*) FROM concept WHERE id >> 1 >= (SELECT next FROM sequence WHERE kind = 'concept'))"
        " + (SELECT count(*) FROM link WHERE id >> 1 >= (SELECT next FROM sequence WHERE kind = 'link'))",
        "ids that could be given twice",
    ),
)


def examine(store: SqliteStore) -> list[dict[str, Any]]:
    """Every check as `{"name", "ok", "detail"}`. Damage is a finding, not an exception."""
    return [
        _integrity(store),
        *(_count(store, *check) for check in _CHECKS),
        _passages(store),
        _deletions(store),
    ]


def _integrity(store: SqliteStore) -> dict[str, Any]:
    try:
        found = store.integrity()
    except KipError as error:
        found = [error.message]
    return {"name": "the file is sound", "ok": not found, "detail": "; ".join(found[:5]) or "ok"}


def _count(store: SqliteStore, name: str, sql: str, what: str) -> dict[str, Any]:
    try:
        with store.read(timeout=PATIENCE) as session:
            number = session.value(sql)
    except KipError as error:
        return {"name": name, "ok": False, "detail": error.message}
    return {"name": name, "ok": number == 0, "detail": "ok" if number == 0 else f"{number} {what}"}


def _passages(store: SqliteStore) -> dict[str, Any]:
    """Whether each context's text index holds its live chunks and artifacts, and no others."""
    name, faults = "the indexes of chunks and artifacts are complete", 0
    try:
        with store.read(timeout=PATIENCE) as session:
            for ctx in contexts.all_ids(session):
                if chunks.has_index(session, ctx):
                    faults += chunks.index_faults(session, ctx)
    except KipError as error:
        return {"name": name, "ok": False, "detail": error.message}
    detail = f"{faults} live rows without an entry, or entries without a live row"
    return {"name": name, "ok": not faults, "detail": detail if faults else "ok"}


def _deletions(store: SqliteStore) -> dict[str, Any]:
    """What deletions that were cut short have left is no fault: a knowledge base goes on with it when it is opened."""
    name = "deleted contexts are gone"
    try:
        with store.read(timeout=PATIENCE) as session:
            left = len(contexts.removed(session))
    except KipError as error:
        return {"name": name, "ok": False, "detail": error.message}
    return {"name": name, "ok": True, "detail": f"what {left} of them held is still being removed" if left else "ok"}


def size(store: SqliteStore, table: str) -> int | None:
    """How many rows a table has; None when it cannot be read."""
    try:
        with store.read(timeout=PATIENCE) as session:
            return int(session.value(f"SELECT count(*) FROM {table}"))
    except KipError:
        return None


def versions() -> dict[str, Any]:
    """Of the tables and of the engine."""
    return {"store": schema.VERSION, "sqlite": apsw.sqlite_lib_version(), "apsw": apsw.apsw_version()}
