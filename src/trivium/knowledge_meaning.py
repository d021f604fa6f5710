"""What a knowledge base does about meaning: its embedder, and the vectors that are made in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.search.embedder import Embedder
    from trivium.search.meaning import Meaning
    from trivium.settings import Settings
    from trivium.store.sqlite import SqliteStore


class KnowledgeMeaning:
    """The part of a knowledge base that searches by meaning."""

    settings: Settings
    _store: SqliteStore
    _embedder: Embedder | None
    _embeds_by_itself = True

    _making = threading.Lock()

    @cached_property
    def meaning(self) -> Meaning:
        """The embedder and its vectors. Nothing is loaded before it is needed."""
        from trivium.search.meaning import Meaning

        with self._making:
            found: Meaning | None = self.__dict__.get("meaning")
            return found or Meaning(self._store, self.settings, self._embedder, by_itself=self._embeds_by_itself)

    def start_embedding(self) -> None:
        """Make vectors in the background from now on, where there is an embedder.

        Without this call that begins with the first SEARCH by meaning, or the first question.
        """
        self.meaning.start()

    def hold_embedding(self) -> None:
        """Never make vectors in the background: for a program that ends soon. `embed_pending` still makes them.

        Call it before anything else.
        """
        self._embeds_by_itself = False

    def embed_pending(
        self, limit: int | None = None, *, progress: Callable[[int], None] | None = None, prune: bool = False
    ) -> dict[str, Any]:
        """Make the vectors that are missing, here and now, or `limit` of them.

        `prune` also deletes those of other models. Gives `{"model", "embedded", "confirmed", "pruned", "backlog"}`;
        `confirmed` are concepts that changed while their text stayed. Raises: MissingExtraError, EmbeddingError.
        """
        from trivium.store import vectors as stored

        meaning = self.meaning
        report = meaning.embed_pending(limit, progress=progress)
        model = meaning.embedder().info().model
        pruned = 0
        if prune:
            with self._store.write() as session:
                pruned = stored.remove_other_models(session, model)
        backlog = self.embedding_backlog()
        done = {"model": model, "embedded": report.embedded, "confirmed": report.confirmed}
        return {**done, "pruned": pruned, "backlog": backlog}

    def embedding_backlog(self) -> int:
        """How many concepts, chunks and artifacts lack a vector of the present embedder; 0 when there is none."""
        from trivium.store import vectors as stored

        model = self.meaning.model
        if model is None:
            return 0
        with self._store.read(timeout=600) as session:
            sets = [stored.Set(ctx, kind, model) for ctx in stored.live_contexts(session) for kind in stored.KINDS]
            return sum(stored.backlog(session, of) for of in sets)

    def _stop_embedding(self) -> None:
        """Before the store closes."""
        meaning: Meaning | None = self.__dict__.get("meaning")
        if meaning is not None:
            meaning.close()
