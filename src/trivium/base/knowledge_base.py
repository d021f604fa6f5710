"""A knowledge base as its users hold it: it owns the store and everything that works on it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from trivium.base.clock import Clock, checked_clock
from trivium.base.context import Context
from trivium.base.contexts import DEFAULT_CONTEXT, Contexts, Entry
from trivium.base.core import Core, Progress
from trivium.errors import NotFoundError, StoreError, TriviumError
from trivium.ids import Ids
from trivium.location import MEMORY, locate
from trivium.settings import Settings
from trivium.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from trivium.base.packs import Pack
    from trivium.ingest.tasks import Tasks, Work
    from trivium.knowql.parts import Models, Parts
    from trivium.knowql.service import Turns
    from trivium.search.embedder import Embedder
    from trivium.search.meaning import Meaning
    from trivium.store.workers import Worker

GRACE_SECONDS = 5.0
"""How long `close` waits for turns that are in progress."""


class KnowledgeBase:
    """An open store. It acts on the context `default` itself; others are had by `context` and `create_context`.

    Thread-safe: reads run side by side, writes take turns. Several processes may open one file.
    """

    def __init__(
        self,
        url: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        randomness: Callable[[int], bytes] = os.urandom,
        embedder: str | Embedder | None = None,
        **settings: Any,
    ) -> None:
        self.url = locate(url)
        self._embedder: Embedder | None = None
        if isinstance(embedder, str) or not hasattr(embedder, "embed"):
            settings |= {} if embedder is None else {"embedder": embedder}
        else:
            self._embedder = embedder
        self.settings = Settings.from_environment(**settings)
        self._clock = checked_clock(clock)
        self._ids = Ids(self._clock, randomness)
        self._store = SqliteStore(self.url, self.settings)
        self._core = Core(self._store, self.settings, self._clock, self._ids, self._embedder)
        self._contexts = Contexts(self._core)
        self._handles: dict[int, Context] = {}
        self._models: Models | None = None
        self._turns: Turns | None = None
        self._opening = threading.Lock()
        """While `turns` are opened, which uses the store."""
        try:
            self._default = self._handle(self._contexts.open())
        except TriviumError as error:
            self._store.close()
            raise StoreError(error.message, error.hint) from None
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.url!r})"

    def close(self) -> None:
        """Close all connections. Commands that other threads run are interrupted and end with KIP_4003.

        Calling it twice is harmless.
        """
        if not self._store.closed:
            if self._turns is not None:
                self._turns.close(GRACE_SECONDS)
            self._core.close()
            self._contexts.close()
        self._store.close()

    @property
    def workspace(self) -> str:
        """Whose contexts, tasks and turns these are."""
        return self._core.workspace

    def now(self) -> str:
        """The current time by the clock of this knowledge base, as ISO 8601 text."""
        return self._clock()

    # --- the default context ----------------------------------------------------------------------

    @property
    def slug(self) -> str:
        """The slug of the default context."""
        return self._default.slug

    def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
        """`Context.execute_kip` on the context `default`."""
        return self._default._execute(request, readonly=readonly)

    def explain_kip(
        self, command: str, parameters: dict[str, Any] | None = None, *, readonly: bool = False
    ) -> dict[str, Any]:
        """`Context.explain_kip` on the context `default`."""
        return self._default.explain_kip(command, parameters, readonly=readonly)

    def why(
        self, target: str, *, kind: str | None = None, limit: int = 20, budget_tokens: int | None = None
    ) -> dict[str, Any]:
        """`Context.why` on the context `default`."""
        return self._default.why(target, kind=kind, limit=limit, budget_tokens=budget_tokens)

    def ask(self, document: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
        """`Context.ask` with the context `default` as the scope of a new session that names none."""
        from trivium.knowql.asking import ask

        return ask(self.turns, DEFAULT_CONTEXT, document, fields)

    # --- contexts ---------------------------------------------------------------------------------

    def contexts(self) -> list[Context]:
        """All contexts in order of their slugs."""
        return [self._handle(entry) for entry in self._contexts.all()]

    def context(self, slug: str) -> Context:
        """The context of that slug, or of that UUID. NotFoundError if there is none."""
        return self._handle(self._contexts.find(slug))

    def create_context(self, slug: str, **fields: Any) -> Context:
        """Create an empty context with Genesis and the standard capsules.

        A slug is 3 to 64 lower-case letters, digits, `-` and `_`, a letter first. Fields are `name`, `description`,
        `guide` (standing instructions for every turn over the context), `kind` (`search` or `work`), `manifest`, and
        any others, which are kept.

        Raises: ValueError for a bad slug, TypeError for one that is no text or fields that are no JSON values,
        ManifestError for a field that holds what it may not, StoreError if the context exists.
        """
        return self._handle(self._contexts.create(slug, fields))

    def delete_context(self, slug: str) -> None:
        """Delete a context with all it holds: graph, sources, documents, index, vectors, tasks. `default` stays.

        It is gone at once for everybody; what it held is then removed in short steps.

        Raises: NotFoundError; StoreError for `default`; BusyError while one of its tasks is running.
        """
        entry = self._contexts.find(slug)
        self._contexts.delete(entry)
        self._handles.pop(entry.number, None)

    def repository_context(self, root: str | Path, *, create: bool = False) -> Context:
        """The context bound to a repository's root folder; NotFoundError if none is, unless `create`.

        A new one is named after the folder, with a number behind it when the name is taken. Until its first index is
        built it stays reserved for this folder, so that a build at the same time or after one that was cut short takes
        the same one.
        """
        from trivium.base.repository import context_of, reserved

        folder = Path(root).resolve()
        slug = context_of(self._core, folder)
        if slug is not None:
            return self.context(slug)
        if not create:
            raise NotFoundError(f"No context holds an index of {folder}.", "Build it with: trivium index")
        return reserved(self._core, folder, self.create_context, self.context)

    def restore(
        self, pack: Pack, *, slug: str | None = None, curate: bool = True, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Make a context of a pack that `Context.pack` wrote, under its old slug or another one.

        The report has `slug`, what was imported (as `Context.add` tells it), how many `statements` of the graph, and
        the report of the curate that follows. When it fails no context is left behind.

        Raises: PackError for what is no pack, StoreError when the slug is taken, NotFoundError without such a file.
        """
        return self._restoring(pack, slug, curate)(progress or (lambda done, total: None))

    def start_restore(self, pack: Pack, *, slug: str | None = None, curate: bool = True) -> str:
        """`restore` in the background; gives the task's id at once. The task's `result` is the report.

        An open file is closed when the task has ended.
        """
        from trivium.base.packs import closing

        return self.tasks.start(0, "restore", closing(pack, self._restoring(pack, slug, curate)))

    def _restoring(self, pack: Pack, slug: str | None, curate: bool) -> Work:
        from trivium.base.packs import restoring

        def create(name: str, fields: dict[str, Any]) -> Context:
            return self.create_context(name, **fields)

        return restoring(self._core, pack, create, self.delete_context, slug, curate)

    def _handle(self, entry: Entry) -> Context:
        """The one `Context` of an entry: what it has read and decoded serves all its users."""
        known = self._handles.get(entry.number)
        return known or self._handles.setdefault(entry.number, Context(self, self._core, self._contexts, entry))

    # --- tasks and turns --------------------------------------------------------------------------

    @property
    def worker(self) -> Worker:
        """This knowledge base as one that runs tasks and turns."""
        return self._core.worker

    @property
    def tasks(self) -> Tasks:
        """The tasks of all contexts: list, look, cancel."""
        return self._core.tasks

    @property
    def turns(self) -> Turns:
        """Turns and sessions: submit, follow, cancel, look back. Made when first asked for."""
        from trivium.knowql.service import Caller, Turns

        with self._opening:
            if self._turns is None:
                self._turns = Turns.open(self._turn_parts(), Caller(self.workspace))
            return self._turns

    @property
    def models(self) -> Models:
        """The language models that may compose answers; settable before the first turn."""
        return self._core.catalogue if self._models is None else self._models

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
            execute_kip=lambda slug, request: self.context(slug).execute_kip(request, readonly=True),
            why=lambda slug, options: self.context(slug).why(**options),
        )

    # --- search by meaning ------------------------------------------------------------------------

    @property
    def meaning(self) -> Meaning:
        """The embedder and its vectors. Nothing is loaded before it is needed."""
        return self._core.meaning

    def start_embedding(self) -> None:
        """Make vectors in the background from now on, where there is an embedder.

        Without this call that begins with the first SEARCH by meaning, or the first question.
        """
        self.meaning.start()

    def hold_embedding(self) -> None:
        """Never make vectors in the background: for a program that ends soon. `embed_pending` still makes them.

        Call it before anything else.
        """
        self._core.embeds_by_itself = False

    def embed_pending(
        self, limit: int | None = None, *, progress: Callable[[int], None] | None = None, prune: bool = False
    ) -> dict[str, Any]:
        """Make the vectors that are missing, here and now, or `limit` of them.

        `prune` also deletes those of other models, and first those that one made under the present name. Gives
        `{"model", "embedded", "confirmed", "pruned", "backlog"}`; `confirmed` are concepts that changed while their
        text stayed. Raises: MissingExtraError, EmbeddingError, also for texts that the embedder refuses, when all
        others are done.
        """
        from trivium.base import embedding

        report = embedding.embed(self._core, None, limit, progress, renew=prune)
        backlog = report.pop("backlog")
        return {**report, "pruned": embedding.prune(self._core) if prune else 0, "backlog": backlog}

    def embedding_backlog(self) -> int:
        """How many concepts, chunks and artifacts lack a vector of the present embedder; 0 when there is none."""
        from trivium.base.embedding import backlog

        return backlog(self._core, None)

    # --- upkeep -----------------------------------------------------------------------------------

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a consistent copy to a new file, while in use. StoreError if `path` exists or cannot be written."""
        place = locate(path)
        if place == MEMORY:
            raise StoreError("A backup is a file, and :memory: is none.", "Name a new file, such as backup.db.")
        self._store.backup(place)

    def doctor(self) -> dict[str, Any]:
        """Check integrity and tell versions and capabilities.

        `{"ok": bool, "checks": [{"name", "ok", "detail"}], "versions": {…}, "capabilities": {…}}`
        """
        from trivium.doctor import examine

        if self._store.closed:
            raise self._store.closed_error()
        return examine(self._store, self.meaning)
