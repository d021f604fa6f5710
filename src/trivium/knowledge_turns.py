"""What a knowledge base and its contexts do with questions: the service of turns, and `ask`. Halves of both classes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from trivium.knowledge_contexts import DEFAULT_CONTEXT, KnowledgeContexts
from trivium.knowledge_meaning import KnowledgeMeaning

if TYPE_CHECKING:
    from trivium.knowledge_base import KnowledgeBase
    from trivium.knowql.parts import Models, Parts
    from trivium.knowql.service import Turns

GRACE_SECONDS = 5.0
"""How long `close` waits for turns that are in progress."""


class KnowledgeTurns(KnowledgeContexts, KnowledgeMeaning):
    """The part of a knowledge base that runs turns."""

    _turns: Turns | None = None
    _models: Models | None = None
    _opening = threading.Lock()

    @property
    def turns(self) -> Turns:
        """Turns and sessions: submit, follow, cancel, look back. Made when first asked for."""
        from trivium.knowql.service import Caller, Turns

        with self._opening:
            if self._turns is None:
                self._turns = Turns.open(self._turn_parts(), Caller(self.workspace))
            return self._turns

    def ask(self, document: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
        """`Context.ask` with the context `default` as the scope of a new session that names none."""
        from trivium.knowql.asking import ask

        return ask(self.turns, DEFAULT_CONTEXT, document, fields)

    @property
    def models(self) -> Models:
        """The language models that may compose answers; settable before the first turn."""
        if self._models is None:
            from trivium.models.catalogue import Catalogue

            self._models = Catalogue.from_settings(self.settings, lambda: self.meaning.embedder())
        return self._models

    @models.setter
    def models(self, models: Models) -> None:
        self._models = models

    def _turn_parts(self) -> Parts:
        from trivium.knowql.gathering import Gatherer
        from trivium.knowql.parts import Parts
        from trivium.search.retrieval import Retriever

        return Parts(
            store=self._store,
            clock=self._clock,
            ids=self._ids,
            worker=self.worker,
            workers=self.settings.workers,
            models=self.models,
            retrieve=Gatherer(self._store, Retriever(self._store, self.meaning)).retrieve,
            execute_kip=self._read_kip,
            why=self._read_why,
        )

    def _read_kip(self, slug: str, request: dict[str, Any]) -> dict[str, Any]:
        return self.context(slug).execute_kip(request, readonly=True)

    def _read_why(self, slug: str, options: dict[str, Any]) -> dict[str, Any]:
        return self.context(slug).why(**options)

    def _stop_turns(self) -> None:
        """Before the store closes: turns in progress get a moment to finish, then they fail."""
        if self._turns is not None:
            self._turns.close(GRACE_SECONDS)


class ContextTurns:
    """The part of a context that asks it."""

    knowledge_base: KnowledgeBase
    slug: str
    _number: int

    def ask(self, document: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Ask a question and give the Response Document (KnowQL reference 3 and 4) once its turn has ended.

        `document` is the question, or a whole query document; keyword arguments are more of its fields. A new session
        is about this context unless `scope` says otherwise; `session_id` or `previous_query_id` continues one. With
        `background=True` the document is given at once, and `kb.turns` tells what becomes of it.

        Raises: QueryError (with `status`, `reason`, `param` and a hint) for a document that is refused; a turn that
        fails is no error but a document with `status` "failed".
        """
        from trivium.knowql.asking import ask
        from trivium.store import contexts

        base = self.knowledge_base
        with base._store.read() as session:
            row = contexts.get(session, self._number)  # another process may have renamed it
        return ask(base.turns, self.slug if row is None else row.slug, document, fields)
