"""What curate makes of the sources of a context: made, listed and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trivium.base.contexts import Entry, deleted
from trivium.base.core import Core, Progress
from trivium.base.listing import Page, file_entry, folder_entry, next_after, prefix_of
from trivium.errors import NotFoundError

if TYPE_CHECKING:
    from trivium.ingest.tasks import Work
    from trivium.store.browsing import Line
    from trivium.store.chunks import ArtifactRow, ChunkRow
    from trivium.store.documents import DocumentRow
    from trivium.store.sqlite import Session

DOCUMENTS, ARTIFACTS, CHUNKS = "documents", "artifacts", "chunks"
"""The folders of what curate wrote; chunks are listed under their document."""
PENDING = 1_000
"""The most pending deletions that the ledger names."""


class Knowledge:
    """The live version of one context. Each method is described at `Context`."""

    def __init__(self, core: Core, entry: Entry) -> None:
        self._core = core
        self._entry = entry
        self._ctx = entry.number

    # --- curate -----------------------------------------------------------------------------------

    def curate(self, force: bool, progress: Progress | None) -> dict[str, Any]:
        return self._core.tasks.run(self._ctx, "curate", self._curating(force), progress)

    def start_curate(self, force: bool) -> str:
        from trivium.ingest.curate import check_sources

        check_sources(self._core.store, self._ctx)
        return self._core.tasks.start(self._ctx, "curate", self._curating(force))

    def _curating(self, force: bool) -> Work:
        from trivium.ingest.curate import Curator

        core = self._core

        def work(report: Progress) -> dict[str, Any]:
            return Curator(core.store, self._ctx, core.clock, report).run(force=force).to_dict()

        return work

    def ledger(self, after: str, limit: int) -> dict[str, Any]:
        from trivium.store import browsing, contexts, tasks

        core = self._core
        core.tasks.settle()
        with core.store.read() as session:
            row = contexts.get(session, self._ctx)
            if row is None:
                raise deleted(self._entry)
            last = tasks.last(session, core.workspace, self._ctx, "curate")
            found = browsing.lines(session, self._ctx, after, limit + 1)
            return {
                "live_version": row.live_version,
                "last_curated_at": row.curated_at,
                "stale": row.stale,
                "is_curating": last is not None and last.state in tasks.OPEN,
                "curate_task_id": None if last is None else last.id,
                "sources": [_ledger(line) for line in found[:limit]],
                "next": found[limit - 1].path if len(found) > limit else None,
                "pending_deletes": browsing.pending_deletes(session, self._ctx, PENDING),
            }

    def stats(self) -> dict[str, Any]:
        from trivium.store import browsing, contexts, documents

        with self._core.store.read() as session:
            row = contexts.get(session, self._ctx)
            count, unreadable, chunks, artifacts = documents.totals(session, self._ctx)
            return {
                "live_version": 0 if row is None else row.live_version,
                "last_curated_at": None if row is None else row.curated_at,
                "stale": row is not None and row.stale,
                "documents": count,
                "unreadable": unreadable,
                "chunks": chunks,
                "artifacts": artifacts,
                **browsing.knowledge_counts(session, self._ctx),
                **contexts.graph_totals(session, self._ctx),
            }

    # --- folders ----------------------------------------------------------------------------------

    def folder(self, folder: str, after: str, limit: int) -> Page:
        top, _, rest = folder.partition("/")
        with self._core.store.read() as session:
            if not folder:
                return [_place(DOCUMENTS), _place(ARTIFACTS)], None
            if top == ARTIFACTS and not rest:
                return self._artifact_page(session, after, limit)
            if top == DOCUMENTS:
                found, further = self._document_page(session, rest, after, limit)
                if found or not rest or after:
                    return found, further
        slug = self._entry.slug
        raise NotFoundError(f"{slug!r} has no knowledge folder {folder!r}.", "List the folder above it.")

    def _document_page(self, session: Session, folder: str, after: str, limit: int) -> Page:
        from trivium.store import browsing

        found = browsing.folder(session, browsing.DOCUMENTS, self._ctx, prefix_of(folder), after, limit + 1)
        if not found and folder:
            return self._chunk_page(session, folder, after, limit)
        files = [entry.path for entry in found[:limit] if entry.files is None]
        titles = browsing.document_titles(session, self._ctx, files)
        entries = []
        for entry in found[:limit]:
            shown = folder_entry(entry) if entry.files is not None else file_entry(entry.name) | {"type": "document"}
            shown["path"] = f"{DOCUMENTS}/{entry.path}"
            if entry.path in titles:
                shown["title"], shown["chars"] = titles[entry.path]
            entries.append(shown)
        return entries, next_after(found, limit)

    def _chunk_page(self, session: Session, path: str, after: str, limit: int) -> Page:
        from trivium.ingest.names import as_stored
        from trivium.store import browsing

        start = int(after) if after.isascii() and after.isdigit() else -1
        found = browsing.chunk_page(session, self._ctx, as_stored(path), start, limit + 1)
        entries = [
            {"name": key, "path": f"{CHUNKS}/{key}", "type": "chunk", "lines": [first, last], "chars": chars}
            for _, key, first, last, chars in found[:limit]
        ]
        return entries, str(found[limit - 1][0]) if len(found) > limit else None

    def _artifact_page(self, session: Session, after: str, limit: int) -> Page:
        from trivium.store import browsing

        found = browsing.artifact_page(session, self._ctx, after, limit + 1)
        entries = [
            {"name": name, "path": f"{ARTIFACTS}/{key}", "type": "artifact", "artifact_type": type_, "kind": kind}
            for key, name, type_, kind in found[:limit]
        ]
        return entries, found[limit - 1][0] if len(found) > limit else None

    # --- reading ----------------------------------------------------------------------------------

    def documents(self, prefix: str) -> list[dict[str, Any]]:
        from trivium.ingest.names import beginning_as_stored
        from trivium.store import contexts, documents

        start = beginning_as_stored(prefix)
        with self._core.store.read() as session:
            contexts.require(session, self._ctx)
            rows = [row for row in documents.rows(session, self._ctx) if row.path.startswith(start)]
        return [{"path": row.path, **_document(row)} for row in rows]

    def document(self, path: str) -> dict[str, Any]:
        from trivium.store import contexts

        with self._core.store.read() as session:
            contexts.require(session, self._ctx)
            found = self._document(session, path)
        if found is None:
            slug = self._entry.slug
            raise NotFoundError(f"{slug!r} has no live document {path!r}.", "`trivium sources` lists them.")
        row, text = found
        return {"path": row.path, **_document(row), "text": text}

    def read(self, path: str) -> dict[str, Any]:
        from trivium.store import browsing

        slug = self._entry.slug
        top, _, rest = path.partition("/")
        with self._core.store.read() as session:
            if top == CHUNKS and (chunk := browsing.chunk(session, self._ctx, rest)):
                return _chunk(chunk, slug)
            if top == ARTIFACTS and (artifact := browsing.artifact(session, self._ctx, rest)):
                return _artifact(artifact, slug)
            if top == DOCUMENTS and (found := self._document(session, rest)):
                row, text = found
                return {"type": "document", "context": slug, "source": row.path, **_document(row), "text": text}
        raise NotFoundError(f"{slug!r} has no knowledge {path!r}.", "List its knowledge for what there is.")

    def _document(self, session: Session, path: str) -> tuple[DocumentRow, str] | None:
        """The live document of a path, however that is typed, with its text."""
        from trivium.ingest.names import as_stored
        from trivium.store import documents

        row = documents.find(session, self._ctx, as_stored(path))
        return None if row is None else (row, documents.text_of(session, row.id))


def _place(name: str) -> dict[str, Any]:
    return {"name": name, "type": "folder", "path": name}


def _ledger(line: Line) -> dict[str, Any]:
    return {
        "path": line.path,
        "hash": line.hash,
        "live_hash": line.live_hash,
        "imported_at": line.imported_at,
        "state": line.state,
    }


def _document(row: DocumentRow) -> dict[str, Any]:
    return {
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


def _chunk(row: ChunkRow, slug: str) -> dict[str, Any]:
    sections = row.place.get("sections", [])
    return {
        "type": "chunk",
        "id": row.key,
        "context": slug,
        "source": row.path,
        "title": row.title,
        "dated": row.dated,
        "section_path": " > ".join(sections[0]) if sections and sections[0] else None,
        "section_paths": sections,
        "pages": row.place.get("pages", []),
        "lines": [row.first_line, row.last_line],
        "chars": len(row.text),
        "text": row.text,
    }


def _artifact(row: ArtifactRow, slug: str) -> dict[str, Any]:
    return {
        "type": "artifact",
        "id": row.key,
        "context": slug,
        "name": row.name,
        "artifact_type": row.type,
        "kind": row.kind,
        "scope": row.scope,
        "format": row.format,
        "sources": row.sources,
        "edges": row.edges,
        "chars": len(row.text),
        "text": row.text,
    }
