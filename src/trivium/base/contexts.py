"""The contexts of a knowledge base: find, make, describe, change and delete them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trivium.base.core import Core
from trivium.base.purging import Purger
from trivium.errors import ConflictError, NotFoundError
from trivium.kip import CAPSULE_VERSION
from trivium.store import contexts
from trivium.store.codec import encode

if TYPE_CHECKING:
    from trivium.store.contexts import ContextRow
    from trivium.store.sqlite import Session

DEFAULT_CONTEXT = "default"
FIELDS = ("name", "description", "guide", "manifest", "kind")


class Entry(Struct, eq=False):
    """A context as this knowledge base knows it; `slug` and `fields` are those that were seen last."""

    number: int
    slug: str
    fields: dict[str, Any]


class Contexts:
    """Knows every context by its number, which it keeps for as long as it exists. Thread-safe."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._purger = Purger(core.store)
        self._entries: dict[int, Entry] = {}
        self._mutex = threading.Lock()

    def open(self) -> Entry:
        """The context `default`, made at first open; capsules are completed when this version ships newer ones.

        What a deletion that was cut short has left behind is removed in the background.
        """
        core = self._core
        with core.store.read() as session:
            row = contexts.find(session, core.workspace, DEFAULT_CONTEXT)
            outdated = contexts.outdated(session, CAPSULE_VERSION)
            removed = contexts.removed(session)
        if row is None or outdated:
            with core.store.write() as session:
                row = contexts.find(session, core.workspace, DEFAULT_CONTEXT)
                number = self._insert(session, DEFAULT_CONTEXT, {}) if row is None else row.id
                for old in contexts.outdated(session, CAPSULE_VERSION):
                    self._install(session, old)
            core.store.moment += 1
            found = self._known(number, DEFAULT_CONTEXT, {} if row is None else row.fields)
        else:
            found = self._entry(row)
        if removed:
            self._purger.start()
        return found

    def close(self) -> None:
        """Before the store closes."""
        self._purger.close()

    def _entry(self, row: ContextRow) -> Entry:
        return self._known(row.id, row.slug, row.fields)

    def _known(self, number: int, slug: str, fields: dict[str, Any]) -> Entry:
        with self._mutex:
            entry = self._entries.get(number)
            if entry is None:
                entry = self._entries[number] = Entry(number, slug, fields)
            entry.slug, entry.fields = slug, fields
            return entry

    # --- looking ----------------------------------------------------------------------------------

    def all(self) -> list[Entry]:
        """In order of their slugs."""
        with self._core.store.read() as session:
            rows = contexts.all_rows(session, self._core.workspace)
        return [self._entry(row) for row in rows]

    def find(self, slug: str) -> Entry:
        """By slug or UUID. Raises: NotFoundError, TypeError."""
        name = _checked_text(slug)
        with self._core.store.read() as session:
            row = contexts.find(session, self._core.workspace, name)
            known = [] if row is not None else [one.slug for one in contexts.all_rows(session, self._core.workspace)]
        if row is None:
            raise NotFoundError(f"There is no context {slug!r}.", _missing_hint(name, known))
        return self._entry(row)

    def slug_of(self, entry: Entry) -> str:
        """What the context is called now: another process may have renamed it. The last slug of one that is gone."""
        with self._core.store.read() as session:
            row = contexts.get(session, entry.number)
        return entry.slug if row is None else row.slug

    def describe(self, entry: Entry, *, stats: bool = False) -> dict[str, Any]:
        """See `Context.describe`."""
        from trivium.ingest.describing import describe

        self._core.tasks.settle()
        with self._core.store.read() as session:
            row = contexts.get(session, entry.number)
            if row is None:
                raise deleted(entry)
            return describe(session, self._core.workspace, row, stats=stats)

    # --- making and changing ----------------------------------------------------------------------

    def create(self, slug: str, fields: dict[str, Any]) -> Entry:
        """See `KnowledgeBase.create_context`."""
        from trivium.ingest.describing import SLUG, SLUG_RULE, checked_fields

        if not SLUG.fullmatch(_checked_text(slug)):
            raise ValueError(f"{slug!r} is no slug: {SLUG_RULE}.")
        _check_encodable(fields)
        kept = checked_fields(fields)
        with self._core.store.write() as session:
            if contexts.find(session, self._core.workspace, slug) is not None:
                raise _taken(slug, "Use it, or choose another slug.")
            number = self._insert(session, slug, kept)
        self._core.store.moment += 1
        return self._known(number, slug, kept)

    def _insert(self, session: Session, slug: str, fields: dict[str, Any]) -> int:
        core = self._core
        number = contexts.insert(session, core.workspace, slug, core.ids.uuid(), fields, core.clock())
        self._install(session, number)
        return number

    def _install(self, session: Session, number: int) -> None:
        """Give the graph of a context the standard capsules, or those that it lacks."""
        from trivium.kip.install import install
        from trivium.search.index import index_texts
        from trivium.store.graph_writer import GraphWriter

        graph = GraphWriter(session, number, self._core.clock(), index_texts)
        install(graph)
        graph.finish()
        contexts.set_capsules(session, number, CAPSULE_VERSION)

    def update(self, entry: Entry, fields: dict[str, Any]) -> dict[str, Any]:
        """See `Context.update`."""
        from trivium.ingest.describing import SLUG, SLUG_RULE, checked_fields
        from trivium.ingest.manifest import ManifestError, knobs_of

        core = self._core
        slug = fields.pop("slug", None)
        for key in fields:
            if key not in FIELDS:
                raise ManifestError(f"A context has no field {key!r}; there are slug, {', '.join(FIELDS[:-1])}.", key)
        if slug is not None and slug != entry.slug and not SLUG.fullmatch(_checked_text(slug)):
            raise ValueError(f"{slug!r} is no slug: {SLUG_RULE}.")
        _check_encodable(fields)
        changes = checked_fields(fields)
        with core.store.write() as session:
            row = contexts.get(session, entry.number)
            if row is None:
                raise deleted(entry)
            if "kind" in changes and changes["kind"] != (row.fields.get("kind") or "search"):
                raise ManifestError("The kind of a context is fixed when it is made.", "kind")
            new = slug if slug is not None else row.slug
            if new != row.slug:
                self._check_renaming(session, row, new)
            kept = {**row.fields, **changes}
            now = core.clock()
            contexts.set_fields(session, row.id, new, kept, now)
            if knobs_of(kept.get("manifest")) != knobs_of(row.fields.get("manifest")) and row.live_version:
                contexts.note_stale(session, row.id, now)
        return self.describe(self._known(row.id, new, kept))

    def _check_renaming(self, session: Session, row: ContextRow, new: str) -> None:
        if row.slug == DEFAULT_CONTEXT:
            hint = "Make another one instead."
            raise ConflictError("The context 'default' cannot be renamed.", hint, "default_context")
        if contexts.find(session, self._core.workspace, new) is not None:
            raise _taken(new, "Choose another slug.")

    # --- deleting ---------------------------------------------------------------------------------

    def delete(self, entry: Entry) -> None:
        """See `KnowledgeBase.delete_context`."""
        from trivium.ingest.tasks import BusyError
        from trivium.store import tasks
        from trivium.store.workers import now_ms

        core = self._core
        if entry.slug == DEFAULT_CONTEXT:
            hint = "Delete what it holds with KIP commands."
            raise ConflictError("The context 'default' cannot be deleted.", hint, "default_context")
        with core.store.write() as session:
            tasks.settle(session, core.workspace, now_ms(), core.clock())
            for row in tasks.open_rows(session, core.workspace, entry.number):
                raise BusyError(row.workflow, entry.slug, row.id)
            contexts.remove(session, entry.number)
        core.store.moment += 1
        with self._mutex:
            self._entries.pop(entry.number, None)
        self._purger.run()


def deleted(entry: Entry) -> NotFoundError:
    """What is said of a context that is gone."""
    return NotFoundError(f"The context {entry.slug!r} has been deleted.", "`trivium contexts` lists what there is.")


def _taken(slug: str, hint: str) -> ConflictError:
    return ConflictError(f"The context {slug!r} exists already.", hint, "slug_exists")


def _check_encodable(fields: dict[str, Any]) -> None:
    try:
        encode(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"The fields of a context must be JSON values: {error}.") from None


def _checked_text(slug: object) -> str:
    if not isinstance(slug, str):
        raise TypeError(f"slug must be a text such as 'work', not {slug!r}.")
    return slug


def _missing_hint(slug: str, known: Iterable[str]) -> str:
    """What helps when a context is not there; a name that none can have is not offered for creation."""
    from trivium.ingest.describing import SLUG, SLUG_RULE
    from trivium.knowql.hints import Hint, did_you_mean

    near = did_you_mean(slug, known)
    if SLUG.fullmatch(slug):
        return Hint(near + "{create} creates it.", slug=slug)
    return Hint(f"{near}No context can have this name; for one, {SLUG_RULE}. {{contexts}} lists what there is.")
