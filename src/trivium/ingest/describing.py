"""Contexts as people see them: what fields they have, what these may hold, and the object of KnowQL reference 11.1."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from trivium.ingest.manifest import ManifestError, check_manifest
from trivium.store import contexts, documents, sources, tasks
from trivium.store.contexts import ContextRow
from trivium.store.sqlite import Session
from trivium.store.tasks import OPEN

SLUG = re.compile(r"[a-z][a-z0-9_-]{2,63}")
SLUG_RULE = "use 3 to 64 lower-case letters, digits, '-' and '_', a letter first"
KINDS = ("search", "work")
LONGEST_TEXT = 32_768


def slug_like(text: str, otherwise: str = "context") -> str:
    """A slug that resembles a text, or `otherwise` when there is nothing to go by.

    >>> slug_like("My Notes!"), slug_like("2024"), slug_like("Äpfel"), slug_like("")
    ('my-notes', 'c-2024', 'apfel', 'context')
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    slug = re.sub(r"[^a-z0-9_-]+", "-", plain.lower()).strip("-_")
    if not slug:
        return otherwise
    if not slug[0].isalpha() or len(slug) < 3:
        slug = f"c-{slug}"
    return slug[:60].rstrip("-_")


def checked_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a context as they are kept. Raises: ManifestError naming the field that is wrong."""
    name = fields.get("name")
    if name is not None and (not isinstance(name, str) or not 1 <= len(name.strip()) <= 128):
        raise ManifestError("name must be a text of 1 to 128 characters.", "name")
    for key in ("description", "guide"):
        text = fields.get(key)
        if text is not None and (not isinstance(text, str) or len(text) > LONGEST_TEXT):
            raise ManifestError(f"{key} must be a text of at most {LONGEST_TEXT:,} characters.", key)
    if fields.get("kind") is not None and fields["kind"] not in KINDS:
        raise ManifestError(f"kind must be one of {', '.join(KINDS)}.", "kind")
    check_manifest(fields.get("manifest"))
    return {key: value for key, value in fields.items() if value is not None}


def is_queryable(session: Session, row: ContextRow) -> bool:
    """Whether questions may be asked of a context: a curate has gone live, it is of the kind `work`, or its graph
    holds knowledge of its own, which needs no curate."""
    return row.curated_at is not None or row.fields.get("kind") == "work" or contexts.knows(session, row.id)


def describe(session: Session, workspace: str, row: ContextRow, *, stats: bool = False) -> dict[str, Any]:
    """The context object. `stats` adds how much the context holds."""
    fields = row.fields
    importing = tasks.last(session, workspace, row.id, "import")
    curating = tasks.last(session, workspace, row.id, "curate")
    files, size = sources.totals(session, row.id)
    described: dict[str, Any] = {
        "id": row.uuid,
        "object": "context",
        "slug": row.slug,
        "name": fields.get("name") or row.slug,
        "kind": fields.get("kind") or "search",
        "description": fields.get("description") or "",
        "guide": fields.get("guide") or "",
        "manifest": fields.get("manifest") or {},
        "queryable": is_queryable(session, row),
        "has_sources": files > 0,
        "is_importing": importing is not None and importing.state in OPEN,
        "is_curating": curating is not None and curating.state in OPEN,
        "is_optimizing": False,
        "import_task_id": importing.id if importing else None,
        "curate_task_id": curating.id if curating else None,
        "last_source_import_at": row.imported_at,
        "last_curated_at": row.curated_at,
        "live_version": row.live_version,
        "stale": row.stale,
        "sample_queries": row.ledger.get("sample_queries", []),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
    if stats:
        count, unreadable, chunks, artifacts = documents.totals(session, row.id)
        described["stats"] = {
            "sources": files,
            "bytes": size,
            "documents": count,
            "unreadable": unreadable,
            "chunks": chunks,
            "artifacts": artifacts,
            **contexts.graph_totals(session, row.id),
        }
    return described
