"""What turns need from the rest of the program, given to them by the knowledge base; fakes of it serve the tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from trivium.answers.composer import Choice, Composer
from trivium.ids import Ids
from trivium.search.passage import Evidence
from trivium.search.retrieval import ScopedContext
from trivium.store.sqlite import SqliteStore
from trivium.store.workers import Worker


class Models(Protocol):
    """The model catalogue as turns see it."""

    def choose(self, wanted: Sequence[str]) -> Choice:
        """The first of these ids and tiers that can be used."""
        ...

    def composer_for(self, model: str) -> Composer:
        """Raises: TriviumError when it cannot be had."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The answer of `GET /models` (reference 12.2)."""
        ...


class Retrieve(Protocol):
    def __call__(
        self,
        scope: Sequence[ScopedContext],
        ask: str,
        *,
        kind: str = "both",
        limit: int = 20,
        expand: int = 0,
        variants: Sequence[str] = (),
    ) -> Evidence: ...


class Parts(Struct, frozen=True):
    """`execute_kip` and `why` take the UUID or slug of a context first and never write."""

    store: SqliteStore
    clock: Callable[[], str]
    ids: Ids
    worker: Worker
    workers: int
    models: Models
    retrieve: Retrieve
    execute_kip: Callable[[str, dict[str, Any]], dict[str, Any]]
    why: Callable[[str, dict[str, Any]], dict[str, Any]]
