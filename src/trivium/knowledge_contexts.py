"""What a knowledge base does with its contexts: make, find, change and delete them. The second half of the class."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

from trivium.errors import ConflictError, NotFoundError
from trivium.store.codec import encode

if TYPE_CHECKING:
    from trivium.ids import Ids
    from trivium.ingest.tasks import Tasks, Work
    from trivium.knowledge_base import Context
    from trivium.settings import Settings
    from trivium.store.sqlite import Session, SqliteStore
    from trivium.store.workers import Worker

DEFAULT_CONTEXT = "default"
PURGE_ROWS = 2_000
FIELDS = ("name", "description", "guide", "manifest", "kind")


class KnowledgeContexts:
    """The part of a knowledge base that keeps contexts."""

    workspace = "default"
    settings: Settings
    _clock: Callable[[], str]
    _ids: Ids
    _store: SqliteStore
    _contexts: dict[str, Context]
    _mutex: threading.Lock

    def _remember(self, number: int, slug: str, fields: dict[str, Any]) -> Context:
        raise NotImplementedError

    def _insert_context(self, session: Session, slug: str, fields: dict[str, Any]) -> int:
        raise NotImplementedError

    # --- work in the background -------------------------------------------------------------------

    @cached_property
    def worker(self) -> Worker:
        """This knowledge base as one that runs tasks and turns."""
        from trivium.store.workers import Worker

        return Worker(self._store, self._ids.ulid)

    @cached_property
    def tasks(self) -> Tasks:
        """The tasks of all contexts: list, look, cancel."""
        from trivium.ingest.tasks import Tasks

        return Tasks(self._store, self.workspace, self._clock, self._ids.ulid, self.worker)

    def _stop_work(self) -> None:
        """Before the store closes: background tasks end, and other processes learn that nothing runs here any more."""
        if "tasks" in self.__dict__:
            self.tasks.close()
        if "worker" in self.__dict__:
            self.worker.stop()

    # --- contexts ---------------------------------------------------------------------------------

    def contexts(self) -> list[Context]:
        """All contexts in order of their slugs."""
        from trivium.store import contexts

        with self._store.read() as session:
            rows = contexts.all_rows(session, self.workspace)
        return [self._remember(row.id, row.slug, row.fields) for row in rows]

    def context(self, slug: str) -> Context:
        """The context of that slug, or of that UUID. NotFoundError if there is none."""
        from trivium.store import contexts

        name = checked_text(slug)
        with self._store.read() as session:
            row = contexts.find(session, self.workspace, name)
            known = [] if row is not None else [one.slug for one in contexts.all_rows(session, self.workspace)]
        if row is None:
            raise NotFoundError(f"There is no context {slug!r}.", _missing_hint(name, known))
        return self._remember(row.id, row.slug, row.fields)

    def create_context(self, slug: str, **fields: Any) -> Context:
        """Create an empty context with Genesis and the standard capsules.

        A slug is 3 to 64 lower-case letters, digits, `-` and `_`, a letter first. Fields are `name`, `description`,
        `guide` (standing instructions for every turn over the context), `kind` (`search` or `work`), `manifest`, and
        any others, which are kept.

        Raises: ValueError for a bad slug, TypeError for one that is no text or fields that are no JSON values,
        ManifestError for a field that holds what it may not, StoreError if the context exists.
        """
        from trivium.ingest.describing import SLUG, SLUG_RULE, checked_fields
        from trivium.store import contexts

        if not SLUG.fullmatch(checked_text(slug)):
            raise ValueError(f"{slug!r} is no slug: {SLUG_RULE}.")
        _check_encodable(fields)
        kept = checked_fields(fields)
        with self._store.write() as session:
            if contexts.find(session, self.workspace, slug) is not None:
                hint = "Use it, or choose another slug."
                raise ConflictError(f"The context {slug!r} exists already.", hint, "slug_exists")
            number = self._insert_context(session, slug, kept)
        self._store.moment += 1
        return self._remember(number, slug, kept)

    def _update_context(self, context: Context, fields: dict[str, Any]) -> dict[str, Any]:
        from trivium.ingest.describing import SLUG, SLUG_RULE, checked_fields
        from trivium.ingest.manifest import ManifestError, knobs_of
        from trivium.store import contexts

        slug = fields.pop("slug", None)
        for key in fields:
            if key not in FIELDS:
                raise ManifestError(f"A context has no field {key!r}; there are slug, {', '.join(FIELDS[:-1])}.", key)
        if slug is not None and slug != context.slug and not SLUG.fullmatch(checked_text(slug)):
            raise ValueError(f"{slug!r} is no slug: {SLUG_RULE}.")
        _check_encodable(fields)
        changes = checked_fields(fields)
        with self._store.write() as session:
            row = contexts.get(session, context._number)
            if row is None:
                raise context._deleted()
            if "kind" in changes and changes["kind"] != (row.fields.get("kind") or "search"):
                raise ManifestError("The kind of a context is fixed when it is made.", "kind")
            new = slug if slug is not None else row.slug
            if new != row.slug:
                if row.slug == DEFAULT_CONTEXT:
                    hint = "Make another one instead."
                    raise ConflictError("The context 'default' cannot be renamed.", hint, "default_context")
                if contexts.find(session, self.workspace, new) is not None:
                    raise ConflictError(f"The context {new!r} exists already.", "Choose another slug.", "slug_exists")
            kept = {**row.fields, **changes}
            now = self._clock()
            contexts.set_fields(session, row.id, new, kept, now)
            if knobs_of(kept.get("manifest")) != knobs_of(row.fields.get("manifest")) and row.live_version:
                contexts.note_stale(session, row.id, now)
        with self._mutex:
            self._contexts.pop(row.slug, None)
            context.slug, context.fields = new, kept
            self._contexts[new] = context
        return context.describe()

    def delete_context(self, slug: str) -> None:
        """Delete a context with all it holds: graph, sources, documents, index, vectors, tasks. `default` stays.

        It is gone at once for everybody; what it held is then removed in short steps.

        Raises: NotFoundError; StoreError for `default`; BusyError while one of its tasks is running.
        """
        from trivium.ingest.tasks import BusyError
        from trivium.store import contexts, tasks
        from trivium.store.workers import now_ms

        context = self.context(slug)
        if context.slug == DEFAULT_CONTEXT:
            hint = "Delete what it holds with KIP commands."
            raise ConflictError("The context 'default' cannot be deleted.", hint, "default_context")
        with self._store.write() as session:
            tasks.settle(session, self.workspace, now_ms(), self._clock())
            for row in tasks.open_rows(session, self.workspace, context._number):
                raise BusyError(row.workflow, context.slug, row.id)
            contexts.remove(session, context._number)
        self._store.moment += 1
        with self._mutex:
            self._contexts.pop(context.slug, None)
        self._purge()

    def restore(
        self,
        pack: str | os.PathLike[str] | BinaryIO,
        *,
        slug: str | None = None,
        curate: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Make a context of a pack that `Context.pack` wrote, under its old slug or another one.

        The report has `slug`, what was imported (as `Context.add` tells it), how many `statements` of the graph, and
        the report of the curate that follows. When it fails no context is left behind.

        Raises: PackError for what is no pack, StoreError when the slug is taken, NotFoundError without such a file.
        """
        return self._restoring(pack, slug, curate)(progress or (lambda done, total: None))

    def start_restore(
        self, pack: str | os.PathLike[str] | BinaryIO, *, slug: str | None = None, curate: bool = True
    ) -> str:
        """`restore` in the background; gives the task's id at once. The task's `result` is the report.

        An open file is closed when the task has ended.
        """
        restoring = self._restoring(pack, slug, curate)

        def work(report: Callable[[int, int], None]) -> dict[str, Any]:
            try:
                return restoring(report)
            finally:
                if not isinstance(pack, str | os.PathLike):
                    pack.close()

        return self.tasks.start(0, "restore", work)

    def _restoring(self, pack: str | os.PathLike[str] | BinaryIO, slug: str | None, curate: bool) -> Work:
        from pathlib import Path

        from trivium.ingest.pack import Place, restore_pack

        source = Path(pack) if isinstance(pack, str | os.PathLike) else pack
        if isinstance(source, Path) and not source.is_file():
            raise NotFoundError(f"There is no file {str(source)!r}.", "Check the path.")
        place = Place(self._store, self.settings, self._clock)

        def create(name: str, fields: dict[str, Any]) -> Context:
            return self.create_context(name, **fields)

        def work(report: Callable[[int, int], None]) -> dict[str, Any]:
            return restore_pack(place, source, create, self.delete_context, report, slug=slug, curate=curate)

        return work

    def _purge(self) -> None:
        """Remove what deleted contexts held, also those whose deletion was cut short."""
        from trivium.store import contexts

        with self._store.read() as session:
            left = contexts.removed(session)
        for number in left:
            more = True
            while more:
                with self._store.write(timeout=120) as session:
                    more = contexts.purge(session, number, PURGE_ROWS)


def _check_encodable(fields: dict[str, Any]) -> None:
    try:
        encode(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"The fields of a context must be JSON values: {error}.") from None


def checked_text(slug: object) -> str:
    if not isinstance(slug, str):
        raise TypeError(f"slug must be a text such as 'work', not {slug!r}.")
    return slug


def _missing_hint(slug: str, known: list[str]) -> str:
    """What helps when a context is not there; a name that none can have is not offered for creation."""
    from trivium.ingest.describing import SLUG, SLUG_RULE
    from trivium.knowql.hints import Hint, did_you_mean

    near = did_you_mean(slug, known)
    if SLUG.fullmatch(slug):
        return Hint(near + "{create} creates it.", slug=slug)
    return Hint(f"{near}No context can have this name; for one, {SLUG_RULE}. {{contexts}} lists what there is.")
