"""A context as its users hold it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from trivium.base.contexts import Contexts, Entry
from trivium.base.core import Core, Progress
from trivium.base.once import once

if TYPE_CHECKING:
    from trivium.base.knowledge import Knowledge
    from trivium.base.knowledge_base import KnowledgeBase
    from trivium.base.listing import Page
    from trivium.base.repository import Repository
    from trivium.base.sources import Sources
    from trivium.kip.nexus import Nexus
    from trivium.why.config import Config
    from trivium.why.stored import Indexed, Loaded


class Context:
    """One unit of knowledge: a Cognitive Nexus of its own, named by `slug` within its knowledge base."""

    def __init__(self, knowledge_base: KnowledgeBase, core: Core, contexts: Contexts, entry: Entry) -> None:
        self.knowledge_base = knowledge_base
        self._core = core
        self._contexts = contexts
        self._entry = entry
        self._number = entry.number
        self._mutex = threading.RLock()

    def __repr__(self) -> str:
        return f"Context({self.slug!r})"

    @property
    def slug(self) -> str:
        """Its name, as it was seen last: `update(slug=…)` changes it, also in another process."""
        return self._entry.slug

    @property
    def fields(self) -> dict[str, Any]:
        """What people set: `name`, `description`, `guide`, `manifest`, `kind`, and whatever it was made with."""
        return self._entry.fields

    # --- its parts, each made when it is first needed ---------------------------------------------

    @once
    def _nexus(self) -> Nexus:
        from trivium.kip.nexus import Nexus

        core = self._core
        identity = f"{self._number} {self.slug}"
        return Nexus(core.store, self._number, core.settings, core.clock, identity, lambda: core.meaning)

    @once
    def _execute(self) -> Callable[..., dict[str, Any]]:
        from trivium.kip.request import execute

        return partial(execute, self._nexus)

    @once
    def _sources(self) -> Sources:
        from trivium.base.sources import Sources

        return Sources(self._core, self._entry)

    @once
    def _knowledge(self) -> Knowledge:
        from trivium.base.knowledge import Knowledge

        return Knowledge(self._core, self._entry)

    @once
    def _repository(self) -> Repository:
        from trivium.base.repository import Repository

        return Repository(self._core, self._number)

    # --- KIP --------------------------------------------------------------------------------------

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
        return self._repository.why(target, kind, limit, budget_tokens)

    def repository_index(self) -> Loaded:
        """The stored index, decoded once for as long as it stays the same."""
        return self._repository.index()

    def opened_index(self) -> AbstractContextManager[Loaded]:
        """The stored index for a question or two, which read what they need of it while this is open.

        It is no longer to be used afterwards. Where many questions follow, `repository_index` is faster.
        """
        return self._repository.opened_index()

    @property
    def repository_root(self) -> Path | None:
        """The root folder of the repository whose index this context holds, if it holds one."""
        return self._repository.root()

    def index_repository(
        self,
        root: str | Path,
        *,
        config: Config | None = None,
        cache: bool = True,
        progress: Progress | None = None,
    ) -> Indexed:
        """Read a repository into the index of this context and its graph, replacing both in one transaction.

        `config` None reads the repository's own, with entities on unless it switches them off. `progress` is called
        with files read and their total. Raises: ConfigError; StoreError when `root` is no folder; BareRepositoryError
        when it is a repository of git without a work tree; NotFoundError when the context has been deleted.
        """
        return self._repository.build(root, config, cache, progress)

    def index_settings(self, root: str | Path, config: Config | None = None) -> Config:
        """What `index_repository` goes by: `config` or the repository's own, with this database left out of the index.

        Raises: ConfigError.
        """
        return self._repository.settings(root, config)

    def check_index(self, *, config: Config | None = None, cache: bool = True) -> None:
        """Raises: IndexStaleError, IndexMissingError. Returns when the index still describes its repository."""
        self._repository.check(config, cache)

    # --- ask --------------------------------------------------------------------------------------

    def ask(self, document: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Ask a question and give the Response Document (KnowQL reference 3 and 4) once its turn has ended.

        `document` is the question, or a whole query document; keyword arguments are more of its fields. A new session
        is about this context unless `scope` says otherwise; `session_id` or `previous_query_id` continues one. With
        `background=True` the document is given at once, and `kb.turns` tells what becomes of it.

        Raises: QueryError (with `status`, `reason`, `param` and a hint) for a document that is refused; a turn that
        fails is no error but a document with `status` "failed".
        """
        from trivium.knowql.asking import ask

        return ask(self.knowledge_base.turns, self._contexts.slug_of(self._entry), document, fields)

    # --- the context itself -----------------------------------------------------------------------

    def describe(self, *, stats: bool = False) -> dict[str, Any]:
        """The context as an object (KnowQL reference 11.1). Raises: NotFoundError when it has been deleted."""
        return self._contexts.describe(self._entry, stats=stats)

    def update(self, **fields: Any) -> dict[str, Any]:
        """Change fields; gives the context as `describe` does. What is not named stays.

        `slug` renames; `name`, `description` and `guide` are texts ("" clears); `manifest` replaces the manifest
        ({} resets it). A changed manifest acts at the next curate, which redoes no more than it touches.

        Raises: ManifestError for a value that is wrong, ValueError for a bad slug, StoreError for one that is taken.
        """
        return self._contexts.update(self._entry, fields)

    def pack(self, destination: str | os.PathLike[str], *, progress: Progress | None = None) -> dict[str, Any]:
        """Write the context to one new file that `kb.restore` reads: sources, manifest and other fields, graph.

        Raises: StoreError when the file exists or cannot be written.
        """
        from trivium.base.packs import packing

        return self._core.tasks.run(self._number, "pack", packing(self._core, self._number, destination), progress)

    def start_pack(self, destination: str | os.PathLike[str]) -> str:
        """`pack` in the background; gives the task's id at once. Raises: BusyError."""
        from trivium.base.packs import packing

        return self._core.tasks.start(self._number, "pack", packing(self._core, self._number, destination))

    def embed_pending(
        self, limit: int | None = None, *, progress: Callable[[int], None] | None = None
    ) -> dict[str, Any]:
        """Make the vectors that the context lacks, here and now, or `limit` of them.

        Gives `{"model", "embedded", "confirmed", "backlog"}`, as `kb.embed_pending` does for all contexts. Raises:
        MissingExtraError, EmbeddingError.
        """
        from trivium.base.embedding import embed

        return embed(self._core, self._number, limit, progress)

    # --- sources ----------------------------------------------------------------------------------

    def add(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        prefix: str = "",
        sync: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Import files, folders and archives; `curate` then makes them answer questions.

        The report counts `added`, `changed`, `unchanged` and `removed` files and lists in `skipped` those that were
        left out, each with `path` and `reason`. `prefix` is put before the names. With `sync`, sources that are no
        longer in the folders are deleted.

        Raises: NotFoundError when a path does not exist; nothing is imported then.
        """
        return self._sources.add(paths, prefix, sync, progress)

    def add_bytes(self, path: str, data: bytes | BinaryIO, *, dated: str | None = None) -> dict[str, Any]:
        """Import one file, or the files of one archive, from memory or an open file; the report is that of `add`."""
        return self._sources.add_bytes(path, data, dated)

    def start_add_bytes(self, path: str, data: bytes | BinaryIO, *, dated: str | None = None) -> str:
        """`add_bytes` in the background; gives the task's id at once. An open file is closed when the task has ended.

        The task's `result` is the report.
        """
        return self._sources.start_add_bytes(path, data, dated)

    def sources(self, prefix: str = "") -> list[dict[str, Any]]:
        """The sources by path, each with its size, hash, dates, and what became of it at the last curate.

        `state` is `live`, `changed` (a newer version waits for the next curate), `new` or `unreadable`; `problem` says
        why one could not be read.
        """
        return self._sources.all(prefix)

    def source_folder(self, folder: str = "", *, after: str = "", limit: int = 200) -> Page:
        """What is directly in a folder of the sources; `after` is what the page before gave, "" begins.

        Raises: NotFoundError when there is no such folder.
        """
        return self._sources.folder(folder, after, limit)

    def source_page(self, *, after: str = "", limit: int = 200) -> Page:
        """The sources by path, each with its hash, dates, and what became of it at the last curate."""
        return self._sources.page(after, limit)

    def source_stats(self) -> dict[str, Any]:
        """How many files and bytes there are, by media type and by state."""
        return self._sources.stats()

    def read_source(self, path: str) -> bytes:
        """The bytes of a source as they were imported. Raises: NotFoundError."""
        return self._sources.read(path)

    def source(self, path: str) -> dict[str, Any]:
        """One source, as `sources` lists it. Raises: NotFoundError."""
        return self._sources.one(path)

    def copy_source(self, path: str, to: BinaryIO) -> dict[str, Any]:
        """Write the bytes of a source into an open file, in pieces; gives its facts. Raises: NotFoundError."""
        return self._sources.copy(path, to)

    def delete_source(self, path: str) -> None:
        """Delete a source. It answers no question from now on; the next curate removes what is left of it.

        Raises: NotFoundError.
        """
        self._sources.delete(path)

    # --- what curate makes of them ----------------------------------------------------------------

    def curate(self, *, force: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Read what changed since the last curate and make the next version live, in one step.

        The report tells `live_version`, how many `documents`, `chunks` and `artifacts` there are now, how many files
        were `read`, `reused` and `removed`, which `failed` (each with `path` and `reason`) and `notes` on others.
        `force` reads everything again.

        Raises: NoSourcesError when nothing was ever imported, BusyError when another curate is running.
        """
        return self._knowledge.curate(force, progress)

    def start_curate(self, *, force: bool = False) -> str:
        """`curate` in the background; gives the task's id at once. Raises: NoSourcesError, BusyError."""
        return self._knowledge.start_curate(force)

    def ledger(self, *, after: str = "", limit: int = 200) -> dict[str, Any]:
        """What the live version was made of: its number, the hash of each source then and now, pending deletions.

        `sources` is a page, and `next` where the next one goes on.
        """
        return self._knowledge.ledger(after, limit)

    def documents(self, prefix: str = "") -> list[dict[str, Any]]:
        """The live documents by path: title, date, size in characters, hash, media type, problem, and outline."""
        return self._knowledge.documents(prefix)

    def read_document(self, path: str) -> dict[str, Any]:
        """A live document with its `text`; citations quote from it. Raises: NotFoundError."""
        return self._knowledge.document(path)

    def knowledge_folder(self, folder: str = "", *, after: str = "", limit: int = 200) -> Page:
        """What is in a folder of what curate wrote: `documents/…` as the sources stand, `artifacts`; "" is the root.

        A document is listed as a folder of its chunks. Raises: NotFoundError.
        """
        return self._knowledge.folder(folder, after, limit)

    def read_knowledge(self, path: str) -> dict[str, Any]:
        """A document (`documents/…`), artifact (`artifacts/art_…`) or chunk (`chunks/chk_…`) with its text.

        Raises: NotFoundError.
        """
        return self._knowledge.read(path)

    def knowledge_stats(self) -> dict[str, Any]:
        """How much the live version holds."""
        return self._knowledge.stats()
