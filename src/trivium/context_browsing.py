"""Looking through what a context holds, page by page: its sources, and what curate wrote. A part of `Context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from trivium.errors import NotFoundError

if TYPE_CHECKING:
    from trivium.knowledge_base import KnowledgeBase
    from trivium.store.browsing import Line
    from trivium.store.chunks import ArtifactRow, ChunkRow
    from trivium.store.sqlite import Session

DOCUMENTS, ARTIFACTS, CHUNKS = "documents", "artifacts", "chunks"
"""The folders of what curate wrote; chunks are listed under their document."""
PENDING = 1_000
"""The most pending deletions that the ledger names."""

Page = tuple[list[dict[str, Any]], str | None]
"""Entries, and where the next page goes on; None after the last."""


class ContextBrowsing:
    """The part of a context that is browsed. `after` is what the page before gave; "" begins."""

    knowledge_base: KnowledgeBase
    slug: str
    _number: int

    # --- sources ----------------------------------------------------------------------------------

    def source_folder(self, folder: str = "", *, after: str = "", limit: int = 200) -> Page:
        """What is directly in a folder of the sources. Raises: NotFoundError when there is no such folder."""
        from trivium.store import browsing

        with self.knowledge_base._store.read() as session:
            found = browsing.folder(session, browsing.SOURCES, self._number, _prefix(folder), after, limit + 1)
            if not found and folder and not after:
                raise NotFoundError(f"{self.slug!r} has no folder {folder!r}.", "List the folder above it.")
            entries = []
            for entry in found[:limit]:
                line = None if entry.files is not None else browsing.line(session, self._number, entry.path)
                entries.append(_folder(entry) if line is None else {**_file(entry.name), **_source(line)})
        return entries, _next(found, limit)

    def source_page(self, *, after: str = "", limit: int = 200) -> Page:
        """The sources by path, each with its hash, dates, and what became of it at the last curate."""
        from trivium.store import browsing

        with self.knowledge_base._store.read() as session:
            found = browsing.lines(session, self._number, after, limit + 1)
        return [_source(line) for line in found[:limit]], found[limit - 1].path if len(found) > limit else None

    def source_stats(self) -> dict[str, Any]:
        """How many files and bytes there are, by media type and by state."""
        from trivium.store import browsing, sources

        with self.knowledge_base._store.read() as session:
            files, size = sources.totals(session, self._number)
            return {
                "files": files,
                "bytes": size,
                "media_types": browsing.media_types(session, self._number),
                "states": browsing.states(session, self._number),
            }

    def copy_source(self, path: str, to: BinaryIO) -> dict[str, Any]:
        """Write the bytes of a source into an open file, in pieces; gives its facts. Raises: NotFoundError."""
        from trivium.store import browsing, sources

        with self.knowledge_base._store.read() as session:
            row = sources.find(session, self._number, path)
            line = browsing.line(session, self._number, path)
            if row is None or line is None:
                hint = f"List them with: trivium sources --context {self.slug}"
                raise NotFoundError(f"{self.slug!r} has no source {path!r}.", hint)
            for piece in sources.pieces(session, row.id):
                to.write(piece)
            return _source(line)

    # --- what curate wrote ------------------------------------------------------------------------

    def ledger(self, *, after: str = "", limit: int = 200) -> dict[str, Any]:
        """What the live version was made of: its number, the hash of each source then and now, pending deletions.

        `sources` is a page, and `next` where the next one goes on.
        """
        from trivium.store import browsing, contexts, tasks

        base = self.knowledge_base
        base.tasks.settle()
        with base._store.read() as session:
            row = contexts.get(session, self._number)
            if row is None:
                raise NotFoundError(f"The context {self.slug!r} has been deleted.", "Choose another one.")
            last = tasks.last(session, base.workspace, self._number, "curate")
            found = browsing.lines(session, self._number, after, limit + 1)
            return {
                "live_version": row.live_version,
                "last_curated_at": row.curated_at,
                "stale": row.stale,
                "is_curating": last is not None and last.state in tasks.OPEN,
                "curate_task_id": None if last is None else last.id,
                "sources": [_ledger(line) for line in found[:limit]],
                "next": found[limit - 1].path if len(found) > limit else None,
                "pending_deletes": browsing.pending_deletes(session, self._number, PENDING),
            }

    def knowledge_folder(self, folder: str = "", *, after: str = "", limit: int = 200) -> Page:
        """What is in a folder of what curate wrote: `documents/…` as the sources stand, `artifacts`; "" is the root.

        A document is listed as a folder of its chunks. Raises: NotFoundError.
        """
        top, _, rest = folder.partition("/")
        with self.knowledge_base._store.read() as session:
            if not folder:
                return [_place(DOCUMENTS), _place(ARTIFACTS)], None
            if top == ARTIFACTS and not rest:
                return self._artifact_page(session, after, limit)
            if top == DOCUMENTS:
                found, further = self._document_page(session, rest, after, limit)
                if found or not rest or after:
                    return found, further
        raise NotFoundError(f"{self.slug!r} has no knowledge folder {folder!r}.", "List the folder above it.")

    def _document_page(self, session: Session, folder: str, after: str, limit: int) -> Page:
        from trivium.store import browsing

        found = browsing.folder(session, browsing.DOCUMENTS, self._number, _prefix(folder), after, limit + 1)
        if not found and folder:
            return self._chunk_page(session, folder, after, limit)
        files = [entry.path for entry in found[:limit] if entry.files is None]
        titles = browsing.document_titles(session, self._number, files)
        entries = []
        for entry in found[:limit]:
            shown = _folder(entry) if entry.files is not None else _file(entry.name) | {"type": "document"}
            shown["path"] = f"{DOCUMENTS}/{entry.path}"
            if entry.path in titles:
                shown["title"], shown["chars"] = titles[entry.path]
            entries.append(shown)
        return entries, _next(found, limit)

    def _chunk_page(self, session: Session, path: str, after: str, limit: int) -> Page:
        from trivium.store import browsing

        start = int(after) if after.isascii() and after.isdigit() else -1
        found = browsing.chunk_page(session, self._number, path, start, limit + 1)
        entries = [
            {"name": key, "path": f"{CHUNKS}/{key}", "type": "chunk", "lines": [first, last], "chars": chars}
            for _, key, first, last, chars in found[:limit]
        ]
        return entries, str(found[limit - 1][0]) if len(found) > limit else None

    def _artifact_page(self, session: Session, after: str, limit: int) -> Page:
        from trivium.store import browsing

        found = browsing.artifact_page(session, self._number, after, limit + 1)
        entries = [
            {"name": name, "path": f"{ARTIFACTS}/{key}", "type": "artifact", "artifact_type": type_, "kind": kind}
            for key, name, type_, kind in found[:limit]
        ]
        return entries, found[limit - 1][0] if len(found) > limit else None

    def read_knowledge(self, path: str) -> dict[str, Any]:
        """A document (`documents/…`), artifact (`artifacts/art_…`) or chunk (`chunks/chk_…`) with its text.

        Raises: NotFoundError.
        """
        from trivium.store import browsing, documents

        top, _, rest = path.partition("/")
        with self.knowledge_base._store.read() as session:
            if top == CHUNKS and (chunk := browsing.chunk(session, self._number, rest)):
                return _chunk(chunk, self.slug)
            if top == ARTIFACTS and (artifact := browsing.artifact(session, self._number, rest)):
                return _artifact(artifact, self.slug)
            if top == DOCUMENTS and (row := documents.find(session, self._number, rest)):
                return {
                    "type": "document",
                    "context": self.slug,
                    "source": row.path,
                    "title": row.title,
                    "dated": row.dated,
                    "media_type": row.outline.get("media_type"),
                    "pages": row.outline.get("pages", 0),
                    "headings": row.outline.get("headings", []),
                    "notes": row.outline.get("notes", []),
                    "problem": row.problem,
                    "hash": row.hash,
                    "chars": row.chars,
                    "text": documents.text_of(session, row.id),
                }
        raise NotFoundError(f"{self.slug!r} has no knowledge {path!r}.", "List its knowledge for what there is.")

    def knowledge_stats(self) -> dict[str, Any]:
        """How much the live version holds."""
        from trivium.store import browsing, contexts, documents

        with self.knowledge_base._store.read() as session:
            row = contexts.get(session, self._number)
            count, unreadable, chunks, artifacts = documents.totals(session, self._number)
            return {
                "live_version": 0 if row is None else row.live_version,
                "last_curated_at": None if row is None else row.curated_at,
                "stale": row is not None and row.stale,
                "documents": count,
                "unreadable": unreadable,
                "chunks": chunks,
                "artifacts": artifacts,
                **browsing.knowledge_counts(session, self._number),
                **contexts.graph_totals(session, self._number),
            }


def _prefix(folder: str) -> str:
    return folder.rstrip("/") + "/" if folder.strip("/") else ""


def _next(found: list[Any], limit: int) -> str | None:
    """The entry behind which the next page begins; a folder is named with its slash."""
    if len(found) <= limit:
        return None
    last = found[limit - 1]
    return str(last.name) if last.files is None else f"{last.name}/"


def _file(name: str) -> dict[str, Any]:
    return {"name": name, "type": "file"}


def _folder(entry: Any) -> dict[str, Any]:
    return {"name": entry.name, "type": "folder", "path": entry.path, "files": entry.files}


def _place(name: str) -> dict[str, Any]:
    return {"name": name, "type": "folder", "path": name}


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


def _ledger(line: Line) -> dict[str, Any]:
    return {
        "path": line.path,
        "hash": line.hash,
        "live_hash": line.live_hash,
        "imported_at": line.imported_at,
        "state": line.state,
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
