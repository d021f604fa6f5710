"""The public objects: a knowledge base and its contexts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from trivium.context_browsing import ContextBrowsing
from trivium.context_documents import ContextDocuments
from trivium.errors import KipError, NotFoundError, StoreError, TriviumError
from trivium.ids import Ids
from trivium.kip.capsule_version import CAPSULE_VERSION
from trivium.knowledge_contexts import DEFAULT_CONTEXT, KnowledgeContexts
from trivium.knowledge_turns import ContextTurns, KnowledgeTurns
from trivium.location import MEMORY, locate
from trivium.settings import Settings
from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session, SqliteStore

if TYPE_CHECKING:
    from trivium.kip.nexus import Clock, Nexus
    from trivium.search.embedder import Embedder
    from trivium.why.config import Config
    from trivium.why.stored import Indexed, Loaded

WORKSPACE = KnowledgeContexts.workspace


def utc_now() -> str:
    """The current time as RFC 3339 UTC text with milliseconds."""
    milliseconds = time.time_ns() // 1_000_000
    return f"{_second(milliseconds // 1_000)}.{milliseconds % 1_000:03d}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _checked_clock(clock: Clock | None) -> Clock:
    """A clock that never gives anything but a time. Raises: TypeError, StoreError, before anything is opened."""
    if clock is None:
        return utc_now
    if not callable(clock):
        raise TypeError(f"clock must be a function that gives the current time as ISO 8601 text, not {clock!r}.")
    from datetime import datetime

    def read() -> str:
        try:
            moment = clock()
        except Exception as error:
            raise _clock_error(f"raised {type(error).__name__}: {error}") from error
        try:
            datetime.fromisoformat(moment)
        except (TypeError, ValueError):
            raise _clock_error(f"gave {moment!r}") from None
        return moment

    try:
        read()
    except KipError as error:
        raise StoreError(error.message, error.hint) from error.__cause__
    return read


def _clock_error(what: str) -> KipError:
    return KipError(
        "KIP_4003",
        f"The clock given to trivium.open {what}.",
        "It must give the current time as ISO 8601 text, such as '2026-08-01T12:00:00.000Z'.",
    )


class Context(ContextDocuments, ContextBrowsing, ContextTurns):
    """One unit of knowledge: a Cognitive Nexus of its own, named by `slug` within its knowledge base."""

    def __init__(self, knowledge_base: KnowledgeBase, number: int, slug: str, fields: dict[str, Any]) -> None:
        self.knowledge_base = knowledge_base
        self.slug = slug
        self.fields = fields
        self._number = number
        self._loaded: Loaded | None = None

    def __repr__(self) -> str:
        return f"Context({self.slug!r})"

    @cached_property
    def _nexus(self) -> Nexus:
        """Made when first used: a process that only asks `why` needs no engine."""
        from trivium.kip.nexus import Nexus

        base = self.knowledge_base
        identity = f"{self._number} {self.slug}"
        return Nexus(base._store, self._number, base.settings, base._clock, identity, lambda: base.meaning)

    @cached_property
    def _execute(self) -> Callable[..., dict[str, Any]]:
        from trivium.kip.request import execute

        return partial(execute, self._nexus)

    def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
        """Run a KIP request object (§6.1) and give its response object (§6.2).

        The request has exactly one of `command` (text) and `commands` (a batch), and optionally `parameters` and
        `dry_run`. With `readonly` only FIND, DESCRIBE, SEARCH and EXPORT run. A bad command gives an `error` object
        with code, name, message, hint and, where it applies, position; it never raises.

        >>> import trivium
        >>> with trivium.open() as kb:
        ...     kb.execute_kip({"command": "FIND(?p.name) WHERE { ?p {type: :t} } ORDER BY ?p.name",
        ...                     "parameters": {"t": "Person"}})
        {'result': ['$self', '$system']}
        """
        return self._execute(request, readonly=readonly)

    def explain_kip(
        self, command: str, parameters: dict[str, Any] | None = None, *, readonly: bool = False
    ) -> dict[str, Any]:
        """Run one command and tell what became of it at every stage; a write takes effect unless `readonly`.

        Keys: `tokens`, `tree`, `plan` (lines), `sql`, `bindings`, `timing_us` (stage to microseconds), `response`.
        With `readonly` a command that writes is refused, in `response`; as `execute_kip`, this never raises.
        """
        from trivium.kip.request import explain

        return explain(self._nexus, command, {} if parameters is None else parameters, readonly=readonly)

    # --- why --------------------------------------------------------------------------------------

    def why(
        self, target: str, *, kind: str | None = None, limit: int = 20, budget_tokens: int | None = None
    ) -> dict[str, Any]:
        """Which decisions, concepts and changes are recorded about a path, symbol or concept (Knowledge query v1).

        Answers from the stored index alone: no file is read, no process started; `check_index` tells whether it still
        describes the repository. The answer is that of `trivium.why.query.knowledge_why`.

        Raises: IndexMissingError, IndexDamagedError (hint: build it), WhyRequestError for a bad argument.
        """
        from trivium.why.query import knowledge_why

        loaded = self.repository_index()
        return knowledge_why(
            loaded.prepared, target, kind=kind, limit=limit, budget_tokens=budget_tokens, root=loaded.root
        )

    def repository_index(self) -> Loaded:
        """The stored index, decoded once for as long as it stays the same."""
        from trivium.store.repository import current_hash
        from trivium.why.stored import load_index

        store = self.knowledge_base._store
        if self._loaded is not None:
            with store.read() as session:
                if self._loaded.index_hash == current_hash(session, self._number):
                    return self._loaded
        self._loaded = load_index(store, self._number)
        return self._loaded

    def opened_index(self) -> AbstractContextManager[Loaded]:
        """The stored index for a question or two, which read what they need of it while this is open.

        It is no longer to be used afterwards. Where many questions follow, `repository_index` is faster.
        """
        from trivium.why.stored import opened_index

        return opened_index(self.knowledge_base._store, self._number)

    @property
    def repository_root(self) -> Path | None:
        """The root folder of the repository whose index this context holds, if it holds one."""
        from trivium.store.repository import root_of
        from trivium.why.names import path_of

        with self.knowledge_base._store.read() as session:
            root = root_of(session, self._number)
        return None if root is None else path_of(root)

    def index_repository(
        self,
        root: str | Path,
        *,
        config: Config | None = None,
        cache: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> Indexed:
        """Read a repository into the index of this context and its graph, replacing both in one transaction.

        `config` None reads the repository's own, with entities on unless it switches them off. `progress` is called
        with files read and their total. Raises: ConfigError; StoreError when `root` is no folder.
        """
        from trivium.why.stored import build_into

        folder = Path(root).resolve()
        if not folder.is_dir():
            raise StoreError(f"{root} is no folder.", "Name the root folder of a repository.")
        base = self.knowledge_base
        chosen = self.index_settings(folder, config)
        return build_into(base._store, self._number, folder, chosen, base._clock, cache=cache, progress=progress)

    def index_settings(self, root: str | Path, config: Config | None = None) -> Config:
        """What `index_repository` goes by: `config` or the repository's own, with this database left out of the index.

        Raises: ConfigError.
        """
        from trivium.why.stored import settings_for

        return settings_for(self.knowledge_base._store, Path(root).resolve(), config)

    def check_index(self, *, config: Config | None = None, cache: bool = True) -> None:
        """Raises: IndexStaleError, IndexMissingError. Returns when the index still describes its repository."""
        from trivium.why.stored import check_fresh

        store = self.knowledge_base._store
        check_fresh(store, self._number, lambda root: self.index_settings(root, config), cache=cache)


class KnowledgeBase(KnowledgeTurns):
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
        self._clock: Callable[[], str] = _checked_clock(clock)
        self._ids = Ids(self._clock, randomness)
        self._store = SqliteStore(self.url, self.settings)
        self._contexts: dict[str, Context] = {}
        self._mutex = threading.Lock()
        try:
            self._default = self._open_default()
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
            self._stop_turns()
            self._stop_work()
            self._stop_embedding()
        self._store.close()

    # --- KIP on the default context ---------------------------------------------------------------

    @property
    def slug(self) -> str:
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

    # --- contexts ---------------------------------------------------------------------------------

    def repository_context(self, root: str | Path, *, create: bool = False) -> Context:
        """The context bound to a repository's root folder; NotFoundError if none is, unless `create`.

        A new one is named after the folder, with a number behind it when the name is taken.
        """
        from trivium.store.repository import context_of
        from trivium.why.names import text_of

        folder = Path(root).resolve()
        with self._store.read() as session:
            slug = context_of(session, WORKSPACE, text_of(folder))
        if slug is not None:
            return self.context(slug)
        if not create:
            raise NotFoundError(f"No context holds an index of {folder}.", "Build it with: trivium index")
        from trivium.ingest.describing import slug_like  # a question needs none of it

        base = slug_like(folder.name, "repository")[:50].rstrip("-_")
        taken = {context.slug for context in self.contexts()}
        names = [base, *(f"{base}-{number}" for number in range(2, len(taken) + 3))]
        return self.create_context(next(name for name in names if name not in taken))

    def _remember(self, number: int, slug: str, fields: dict[str, Any]) -> Context:
        with self._mutex:
            known = self._contexts.get(slug)
            if known is None or known._number != number:
                known = self._contexts[slug] = Context(self, number, slug, fields)
            known.fields = fields
            return known

    def _open_default(self) -> Context:
        """The default context, made at first open; capsules are completed when this version ships newer ones."""
        with self._store.read() as session:
            row = _context_row(session, DEFAULT_CONTEXT)
            outdated = session.value("SELECT 1 FROM context WHERE capsules <> ? LIMIT 1", (CAPSULE_VERSION,))
        if row is None or outdated:
            with self._store.write() as session:
                row = _context_row(session, DEFAULT_CONTEXT)
                if row is None:
                    row = (self._insert_context(session, DEFAULT_CONTEXT, {}), {})
                for (number,) in session.rows("SELECT id FROM context WHERE capsules <> ?", (CAPSULE_VERSION,)):
                    self._install(session, number)
            self._store.moment += 1
        return self._remember(row[0], DEFAULT_CONTEXT, row[1])

    def _insert_context(self, session: Session, slug: str, fields: dict[str, Any]) -> int:
        number = int(session.value("SELECT next FROM sequence WHERE kind = 'context'"))
        session.execute("UPDATE sequence SET next = ? WHERE kind = 'context'", (number + 1,))
        now = self._clock()
        session.execute(
            "INSERT INTO context(id, workspace, slug, uuid, fields, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, jsonb(?), ?, ?)",
            (number, WORKSPACE, slug, self._ids.uuid(), encode(fields), now, now),
        )
        self._install(session, number)
        return number

    def _install(self, session: Session, number: int) -> None:
        from trivium.kip.install import install
        from trivium.search.index import index_texts
        from trivium.store.graph import Graph

        graph = Graph(session, number, self._clock(), index_texts)
        install(graph)
        graph.finish()
        session.execute("UPDATE context SET capsules = ? WHERE id = ?", (CAPSULE_VERSION, number))

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


def _context_row(session: Session, slug: str) -> tuple[int, dict[str, Any]] | None:
    row = session.row("SELECT id, json(fields) FROM context WHERE workspace = ? AND slug = ?", (WORKSPACE, slug))
    return None if row is None else (row[0], decode(row[1]))
