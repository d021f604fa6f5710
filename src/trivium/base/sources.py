"""The sources of a context: imported, listed, read and deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from trivium.base.contexts import Entry
from trivium.base.core import Core, Progress
from trivium.base.listing import Page, file_entry, folder_entry, next_after, prefix_of
from trivium.errors import NotFoundError

if TYPE_CHECKING:
    from trivium.ingest.importing import Importer
    from trivium.store.browsing import Line


class Sources:
    """What was imported into one context. Each method is described at `Context`."""

    def __init__(self, core: Core, entry: Entry) -> None:
        self._core = core
        self._entry = entry
        self._ctx = entry.number

    # --- importing --------------------------------------------------------------------------------

    def add(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        prefix: str,
        sync: bool,
        progress: Progress | None,
    ) -> dict[str, Any]:
        from trivium.ingest.importing import found_in

        store = self._core.store
        chosen = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        files = found_in(chosen, self._core.settings, None if store.in_memory else Path(store.path))

        def work(report: Progress) -> dict[str, Any]:
            importer = self._importer()
            importer.run(files, prefix, report)
            if sync:
                for folder in importer.folders(chosen, prefix):
                    importer.remove_missing(folder)
            return importer.report.to_dict()

        return self._core.tasks.run(self._ctx, "import", work, progress)

    def add_bytes(self, path: str, data: bytes | BinaryIO, dated: str | None) -> dict[str, Any]:
        if not isinstance(path, str):
            raise TypeError(f"path must be a text such as 'papers/msa.md', not {path!r}.")
        if not isinstance(data, bytes) and not hasattr(data, "read"):
            raise TypeError(f"data must be bytes or an open binary file, not {type(data).__name__}.")
        return self._core.tasks.run(self._ctx, "import", self._adding(path, data, dated))

    def start_add_bytes(self, path: str, data: bytes | BinaryIO, dated: str | None) -> str:
        adding = self._adding(path, data, dated)

        def work(report: Progress) -> dict[str, Any]:
            try:
                return adding(report)
            finally:
                if not isinstance(data, bytes):
                    data.close()

        return self._core.tasks.start(self._ctx, "import", work)

    def _adding(self, path: str, data: bytes | BinaryIO, dated: str | None) -> Callable[[Progress], dict[str, Any]]:
        from trivium.ingest.importing import found_in_bytes

        def work(report: Progress) -> dict[str, Any]:
            found = found_in_bytes(path, data, self._core.settings, dated)
            return self._importer().run(found, check=report).to_dict()

        return work

    def _importer(self) -> Importer:
        from trivium.ingest.importing import Importer

        return Importer(self._core.store, self._ctx, self._core.settings, self._core.clock)

    def delete(self, path: str) -> None:
        from trivium.ingest.importing import delete_source
        from trivium.ingest.names import as_stored

        if not delete_source(self._core.store, self._ctx, as_stored(path), self._core.clock):
            raise self._missing(path)

    # --- looking ----------------------------------------------------------------------------------

    def all(self, prefix: str) -> list[dict[str, Any]]:
        from trivium.ingest.names import beginning_as_stored
        from trivium.store import browsing, contexts

        with self._core.store.read() as session:
            contexts.require(session, self._ctx)
            found = browsing.lines(session, self._ctx, prefix=beginning_as_stored(prefix))
        return [_source(line) for line in found]

    def page(self, after: str, limit: int) -> Page:
        from trivium.store import browsing

        with self._core.store.read() as session:
            found = browsing.lines(session, self._ctx, after, limit + 1)
        return [_source(line) for line in found[:limit]], found[limit - 1].path if len(found) > limit else None

    def folder(self, folder: str, after: str, limit: int) -> Page:
        from trivium.store import browsing

        with self._core.store.read() as session:
            found = browsing.folder(session, browsing.SOURCES, self._ctx, prefix_of(folder), after, limit + 1)
            if not found and folder and not after:
                raise NotFoundError(f"{self._entry.slug!r} has no folder {folder!r}.", "List the folder above it.")
            entries = []
            for entry in found[:limit]:
                line = None if entry.files is not None else browsing.line(session, self._ctx, entry.path)
                entries.append(folder_entry(entry) if line is None else {**file_entry(entry.name), **_source(line)})
        return entries, next_after(found, limit)

    def stats(self) -> dict[str, Any]:
        from trivium.store import browsing, sources

        with self._core.store.read() as session:
            files, size = sources.totals(session, self._ctx)
            return {
                "files": files,
                "bytes": size,
                "media_types": browsing.media_types(session, self._ctx),
                "states": browsing.states(session, self._ctx),
            }

    # --- reading ----------------------------------------------------------------------------------

    def read(self, path: str) -> bytes:
        from trivium.ingest.names import as_stored
        from trivium.store import contexts, sources

        with self._core.store.read() as session:
            contexts.require(session, self._ctx)
            row = sources.find(session, self._ctx, as_stored(path))
            if row is None:
                raise self._missing(path)
            return sources.content(session, row.id)

    def one(self, path: str) -> dict[str, Any]:
        from trivium.ingest.names import as_stored
        from trivium.store import browsing

        with self._core.store.read() as session:
            line = browsing.line(session, self._ctx, as_stored(path))
        if line is None:
            raise self._missing(path)
        return _source(line)

    def copy(self, path: str, to: BinaryIO) -> dict[str, Any]:
        from trivium.ingest.names import as_stored
        from trivium.store import browsing, sources

        with self._core.store.read() as session:
            row = sources.find(session, self._ctx, as_stored(path))
            line = browsing.line(session, self._ctx, as_stored(path))
            if row is None or line is None:
                raise self._missing(path)
            for piece in sources.pieces(session, row.id):
                to.write(piece)
            return _source(line)

    def _missing(self, path: str) -> NotFoundError:
        slug = self._entry.slug
        return NotFoundError(f"{slug!r} has no source {path!r}.", f"List them with: trivium sources --context {slug}")


def _source(line: Line) -> dict[str, Any]:
    return {
        "path": line.path,
        "media_type": line.media_type,
        "size": line.size,
        "hash": line.hash,
        "dated": line.dated,
        "imported_at": line.imported_at,
        "state": line.state,
        "problem": line.problem if line.state == "unreadable" else None,
    }
