"""Examination of a store: integrity, counters, text index, dangling links, versions, capabilities."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import apsw

from trivium.errors import KipError
from trivium.store import schema
from trivium.store.sqlite import SqliteStore

_END = (
    "NOT EXISTS (SELECT 1 FROM concept WHERE id = l.{end} AND ctx = l.ctx"
    " UNION ALL SELECT 1 FROM link WHERE id = l.{end} AND ctx = l.ctx)"
)

_CHECKS: tuple[tuple[str, str, str], ...] = (
    (
        "links have both ends",
        f"SELECT count(*) FROM link AS l WHERE {_END.format(end='s')} OR {_END.format(end='o')}",
        "links with a missing end",
    ),
    (
        "type counters are right",
        "SELECT count(*) FROM (SELECT ctx, key, n FROM counter WHERE kind = 't' AND n <> 0"
        " EXCEPT SELECT ctx, type, count(*) FROM concept GROUP BY ctx, type)",
        "type counters that differ",
    ),
    (
        "predicate counters are right",
        "SELECT count(*) FROM (SELECT ctx, key, n FROM counter WHERE kind = 'p' AND n <> 0"
        " EXCEPT SELECT ctx, p, count(*) FROM link GROUP BY ctx, p)",
        "predicate counters that differ",
    ),
    (
        "the text index is complete",
        "SELECT abs((SELECT count(*) FROM concept) - (SELECT count(*) FROM concept_text))",
        "concepts without an entry, or entries without a concept",
    ),
    (
        "ids are below their sequences",
        "SELECT (SELECT count(*) FROM concept WHERE id >> 1 >= (SELECT next FROM sequence WHERE kind = 'concept'))"
        " + (SELECT count(*) FROM link WHERE id >> 1 >= (SELECT next FROM sequence WHERE kind = 'link'))",
        "ids that could be given twice",
    ),
)

_EXTRAS = {"mcp": "mcp"}


def examine(store: SqliteStore) -> dict[str, Any]:
    """See `KnowledgeBase.doctor`. Damage is a finding, not an exception."""
    checks = [_integrity(store)]
    checks += [_count(store, *check) for check in _CHECKS]
    size = {table: _size(store, table) for table in ("context", "concept", "link")}
    return {
        "ok": all(check["ok"] for check in checks),
        "checks": checks,
        "versions": {
            "trivium": metadata.version("trivium"),
            "store": schema.VERSION,
            "sqlite": apsw.sqlite_lib_version(),
            "apsw": apsw.apsw_version(),
            "python": platform.python_version(),
            "platform": sys.platform,
        },
        "capabilities": {
            "search_modes": ["keyword"],
            "durability": store.settings.synchronous,
            "extras": {extra: find_spec(module) is not None for extra, module in _EXTRAS.items()},
            "size": {"contexts": size["context"], "concepts": size["concept"], "links": size["link"]},
        },
    }


def _integrity(store: SqliteStore) -> dict[str, Any]:
    try:
        found = store.integrity()
    except KipError as error:
        found = [error.message]
    return {"name": "the file is sound", "ok": not found, "detail": "; ".join(found[:5]) or "ok"}


def _count(store: SqliteStore, name: str, sql: str, what: str) -> dict[str, Any]:
    try:
        with store.read(timeout=600) as session:
            number = session.value(sql)
    except KipError as error:
        return {"name": name, "ok": False, "detail": error.message}
    return {"name": name, "ok": number == 0, "detail": "ok" if number == 0 else f"{number} {what}"}


def _size(store: SqliteStore, table: str) -> int | None:
    try:
        with store.read(timeout=600) as session:
            return int(session.value(f"SELECT count(*) FROM {table}"))
    except KipError:
        return None
