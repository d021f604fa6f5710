"""What a context does with documents: import, curate, look, describe. The second half of `Context`."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from trivium.errors import NotFoundError

if TYPE_CHECKING:
    from trivium.ingest.tasks import Work
    from trivium.knowledge_base import Context, KnowledgeBase

Progress = Callable[[int, int], None]
"""Called with what is done and the total (0 while it is not known)."""


class ContextDocuments:
    """The part of a context that works on documents."""

    knowledge_base: KnowledgeBase
    slug: str
    fields: dict[str, Any]
    _number: int

    # --- the context itself -----------------------------------------------------------------------

    def describe(self, *, stats: bool = False) -> dict[str, Any]:
        """The context as an object (KnowQL reference 11.1). Raises: NotFoundError when it has been deleted."""
        from trivium.ingest.describing import describe
        from trivium.store import contexts

        base = self.knowledge_base
        base.tasks.settle()
        with base._store.read() as session:
            row = contexts.get(session, self._number)
            if row is None:
                raise self._deleted()
            return describe(session, base.workspace, row, stats=stats)

    def update(self, **fields: Any) -> dict[str, Any]:
        """Change fields; gives the context as `describe` does. What is not named stays.

        `slug` renames; `name`, `description` and `guide` are texts ("" clears); `manifest` replaces the manifest
        ({} resets it). A changed manifest acts at the next curate, which redoes no more than it touches.

        Raises: ManifestError for a value that is wrong, ValueError for a bad slug, StoreError for one that is taken.
        """
        return self.knowledge_base._update_context(cast("Context", self), fields)

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
        from trivium.ingest.importing import Importer, found_in

        base = self.knowledge_base
        chosen = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        database = None if base._store.in_memory else Path(base._store.path)
        files = found_in(chosen, base.settings, database)

        def work(report: Progress) -> dict[str, Any]:
            importer = Importer(base._store, self._number, base.settings, base._clock)
            importer.run(files, prefix, report)
            if sync:
                for folder in importer.folders(chosen, prefix):
                    importer.remove_missing(folder)
            return importer.report.to_dict()

        return base.tasks.run(self._number, "import", work, progress)

    def add_bytes(self, path: str, data: bytes | BinaryIO, *, dated: str | None = None) -> dict[str, Any]:
        """Import one file, or the files of one archive, from memory or an open file; the report is that of `add`."""
        from trivium.ingest.importing import Importer, found_in_bytes

        if not isinstance(path, str):
            raise TypeError(f"path must be a text such as 'papers/msa.md', not {path!r}.")
        if not isinstance(data, bytes) and not hasattr(data, "read"):
            raise TypeError(f"data must be bytes or an open binary file, not {type(data).__name__}.")
        base = self.knowledge_base

        def work(report: Progress) -> dict[str, Any]:
            importer = Importer(base._store, self._number, base.settings, base._clock)
            return importer.run(found_in_bytes(path, data, base.settings, dated), check=report).to_dict()

        return base.tasks.run(self._number, "import", work)

    def start_add_bytes(self, path: str, data: bytes | BinaryIO, *, dated: str | None = None) -> str:
        """`add_bytes` in the background; gives the task's id at once. An open file is closed when the task has ended.

        The task's `result` is the report.
        """
        from trivium.ingest.importing import Importer, found_in_bytes

        base = self.knowledge_base

        def work(report: Progress) -> dict[str, Any]:
            try:
                importer = Importer(base._store, self._number, base.settings, base._clock)
                return importer.run(found_in_bytes(path, data, base.settings, dated), check=report).to_dict()
            finally:
                if not isinstance(data, bytes):
                    data.close()

        return base.tasks.start(self._number, "import", work)

    def sources(self, prefix: str = "") -> list[dict[str, Any]]:
        """The sources by path, each with its size, hash, dates, and what became of it at the last curate.

        `state` is `live`, `changed` (a newer version waits for the next curate), `new` or `unreadable`; `problem` says
        why one could not be read.
        """
        from trivium.store import contexts, documents, sources

        start = unicodedata.normalize("NFC", prefix)
        with self.knowledge_base._store.read() as session:
            contexts.require(session, self._number)
            live = {row.path: row for row in documents.states(session, self._number)}
            rows = [row for row in sources.rows(session, self._number) if row.path.startswith(start)]
        found = []
        for row in rows:
            document = live.get(row.path)
            state = "new" if document is None else "live" if document.source_hash == row.hash else "changed"
            if document is not None and state == "live" and document.problem:
                state = "unreadable"
            found.append(
                {
                    "path": row.path,
                    "media_type": row.media_type,
                    "size": row.size,
                    "hash": row.hash,
                    "dated": row.dated,
                    "imported_at": row.imported_at,
                    "state": state,
                    "problem": document.problem if document is not None and state == "unreadable" else None,
                }
            )
        return found

    def read_source(self, path: str) -> bytes:
        """The bytes of a source as they were imported. Raises: NotFoundError."""
        from trivium.ingest.names import as_stored
        from trivium.store import contexts, sources

        with self.knowledge_base._store.read() as session:
            contexts.require(session, self._number)
            row = sources.find(session, self._number, as_stored(path))
            if row is None:
                raise _no_source(self.slug, path)
            return sources.content(session, row.id)

    def delete_source(self, path: str) -> None:
        """Delete a source. It answers no question from now on; the next curate removes what is left of it.

        Raises: NotFoundError.
        """
        from trivium.ingest.importing import delete_source
        from trivium.ingest.names import as_stored

        base = self.knowledge_base
        if not delete_source(base._store, self._number, as_stored(path), base._clock):
            raise _no_source(self.slug, path)

    # --- curate -----------------------------------------------------------------------------------

    def curate(self, *, force: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Read what changed since the last curate and make the next version live, in one step.

        The report tells `live_version`, how many `documents`, `chunks` and `artifacts` there are now, how many files
        were `read`, `reused` and `removed`, which `failed` (each with `path` and `reason`) and `notes` on others.
        `force` reads everything again.

        Raises: NoSourcesError when nothing was ever imported, BusyError when another curate is running.
        """
        return self.knowledge_base.tasks.run(self._number, "curate", self._curating(force), progress)

    def start_curate(self, *, force: bool = False) -> str:
        """`curate` in the background; gives the task's id at once. Raises: NoSourcesError, BusyError."""
        from trivium.ingest.curate import check_sources

        base = self.knowledge_base
        check_sources(base._store, self._number)
        return base.tasks.start(self._number, "curate", self._curating(force))

    def _curating(self, force: bool) -> Work:
        from trivium.ingest.curate import Curator

        base = self.knowledge_base

        def work(report: Progress) -> dict[str, Any]:
            return Curator(base._store, self._number, base._clock, report).run(force=force).to_dict()

        return work

    def pack(self, destination: str | os.PathLike[str], *, progress: Progress | None = None) -> dict[str, Any]:
        """Write the context to one new file that `kb.restore` reads: sources, manifest and other fields, graph.

        Raises: StoreError when the file exists or cannot be written.
        """
        return self.knowledge_base.tasks.run(self._number, "pack", self._packing(destination), progress)

    def start_pack(self, destination: str | os.PathLike[str]) -> str:
        """`pack` in the background; gives the task's id at once. Raises: BusyError."""
        return self.knowledge_base.tasks.start(self._number, "pack", self._packing(destination))

    def _packing(self, destination: str | os.PathLike[str]) -> Work:
        from trivium.ingest.pack import Place, write_pack

        base = self.knowledge_base
        place = Place(base._store, base.settings, base._clock)
        return lambda report: write_pack(place, self._number, Path(destination), report)

    def documents(self, prefix: str = "") -> list[dict[str, Any]]:
        """The live documents by path: title, date, size in characters, hash, media type, problem, and outline."""
        from trivium.store import contexts, documents

        start = unicodedata.normalize("NFC", prefix)
        with self.knowledge_base._store.read() as session:
            contexts.require(session, self._number)
            rows = [row for row in documents.rows(session, self._number) if row.path.startswith(start)]
        return [_document(row) for row in rows]

    def read_document(self, path: str) -> dict[str, Any]:
        """A live document with its `text`; citations quote from it. Raises: NotFoundError."""
        from trivium.ingest.names import as_stored
        from trivium.store import contexts, documents

        with self.knowledge_base._store.read() as session:
            contexts.require(session, self._number)
            row = documents.find(session, self._number, as_stored(path))
            if row is None:
                raise NotFoundError(f"{self.slug!r} has no live document {path!r}.", "`trivium sources` lists them.")
            return {**_document(row), "text": documents.text_of(session, row.id)}

    def _deleted(self) -> NotFoundError:
        return NotFoundError(f"The context {self.slug!r} has been deleted.", "`trivium contexts` lists what there is.")


def _document(row: Any) -> dict[str, Any]:
    return {
        "path": row.path,
        "title": row.title,
        "dated": row.dated,
        "chars": row.chars,
        "hash": row.hash,
        "problem": row.problem,
        "media_type": row.outline.get("media_type"),
        "pages": row.outline.get("pages", 0),
        "headings": row.outline.get("headings", []),
        "notes": row.outline.get("notes", []),
    }


def _no_source(slug: str, path: str) -> NotFoundError:
    return NotFoundError(f"{slug!r} has no source {path!r}.", f"List them with: trivium sources --context {slug}")
