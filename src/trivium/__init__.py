"""Trivium: one knowledge base, three query languages over one store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trivium.errors import (
    ConflictError,
    EmbeddingError,
    KipError,
    MissingExtraError,
    NewerStoreError,
    NotFoundError,
    StoreError,
    TriviumError,
)

if TYPE_CHECKING:
    from os import PathLike

    from trivium.base.context import Context
    from trivium.base.knowledge_base import KnowledgeBase
    from trivium.ingest.curate import NoSourcesError
    from trivium.ingest.manifest import ManifestError
    from trivium.ingest.pack import PackError
    from trivium.ingest.tasks import BusyError, TaskCancelled
    from trivium.knowql.errors import QueryError
    from trivium.why.config import ConfigError
    from trivium.why.git import BareRepositoryError
    from trivium.why.request import WhyRequestError
    from trivium.why.stored import IndexDamagedError, IndexMissingError, IndexStaleError

__version__ = "0.1.0"

__all__ = [
    "BareRepositoryError",
    "BusyError",
    "ConfigError",
    "ConflictError",
    "Context",
    "EmbeddingError",
    "IndexDamagedError",
    "IndexMissingError",
    "IndexStaleError",
    "KipError",
    "KnowledgeBase",
    "ManifestError",
    "MissingExtraError",
    "NewerStoreError",
    "NoSourcesError",
    "NotFoundError",
    "PackError",
    "QueryError",
    "StoreError",
    "TaskCancelled",
    "TriviumError",
    "WhyRequestError",
    "__version__",
    "open",
]

_HOMES = {
    "BareRepositoryError": "trivium.why.git",
    "BusyError": "trivium.ingest.tasks",
    "ConfigError": "trivium.why.config",
    "Context": "trivium.base.context",
    "IndexDamagedError": "trivium.why.stored",
    "IndexMissingError": "trivium.why.stored",
    "IndexStaleError": "trivium.why.stored",
    "KnowledgeBase": "trivium.base.knowledge_base",
    "ManifestError": "trivium.ingest.manifest",
    "NoSourcesError": "trivium.ingest.curate",
    "PackError": "trivium.ingest.pack",
    "QueryError": "trivium.knowql.errors",
    "TaskCancelled": "trivium.ingest.tasks",
    "WhyRequestError": "trivium.why.request",
}
"""Where the names are that are imported when they are first asked for, so that importing the package stays light."""


def open(url: str | PathLike[str] = ":memory:", **settings: Any) -> KnowledgeBase:
    """Open a knowledge base: a file (`~` is the user's home), or `":memory:"`, which keeps nothing.

    Keyword arguments are the fields of `trivium.settings.Settings` and win over `TRIVIUM_*`; `clock` (a callable that
    gives the current time as ISO 8601 text) may be given for tests. Use it as a context manager, or call `close`.

    Raises: StoreError if it cannot be opened (with a hint), TypeError and ValueError for an argument of the wrong kind
    or out of range; nothing is created then.

    >>> with open(":memory:") as kb:
    ...     kb.execute_kip({"command": 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }'})
    {'result': 4}
    """
    from trivium.base.knowledge_base import KnowledgeBase

    return KnowledgeBase(url, **settings)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'trivium' has no attribute {name!r}")
