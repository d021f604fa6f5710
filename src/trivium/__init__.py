"""Trivium: one knowledge base, three query languages over one store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trivium.errors import (
    KipError,
    MissingExtraError,
    NewerStoreError,
    NotFoundError,
    StoreError,
    TriviumError,
)

if TYPE_CHECKING:
    from os import PathLike

    from trivium.knowledge_base import Context, KnowledgeBase

__version__ = "0.1.0"

__all__ = [
    "Context",
    "KipError",
    "KnowledgeBase",
    "MissingExtraError",
    "NewerStoreError",
    "NotFoundError",
    "StoreError",
    "TriviumError",
    "__version__",
    "open",
]


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
    from trivium.knowledge_base import KnowledgeBase

    return KnowledgeBase(url, **settings)


def __getattr__(name: str) -> Any:
    if name in ("Context", "KnowledgeBase"):
        from trivium import knowledge_base

        return getattr(knowledge_base, name)
    raise AttributeError(f"module 'trivium' has no attribute {name!r}")
