"""What a context holds: its sources, and what curate wrote (KnowQL reference 11.2)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, cast
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.background import BackgroundTask

from trivium.doors.http import schemas
from trivium.doors.http.access import Own
from trivium.doors.http.answers import Answer
from trivium.doors.http.contexts import LISTED, MOST_LISTED
from trivium.doors.http.faults import missing
from trivium.doors.http.limits import whole_number
from trivium.knowql.list_cursor import from_cursor, to_cursor

IN_MEMORY = 4 << 20
_PIECE = 256 << 10
DOWNLOAD_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""A file of somebody is never a page of ours: it is saved, and where it is shown all the same it can do nothing."""


def router() -> APIRouter:
    """The routes of sources and of knowledge."""
    routes = APIRouter()
    _sources(routes)
    _knowledge(routes)
    return routes


def _sources(routes: APIRouter) -> None:
    base = "/contexts/{slug}/source"
    tags: Any = ["sources"]

    def listed(slug: str, path: str, own: Own, limit: str | None, cursor: str | None) -> Response:
        most = whole_number("limit", limit, LISTED, MOST_LISTED)
        context = own.kb.context(slug)
        with missing("source_not_found", "path"):
            entries, further = context.source_folder(path, after=from_cursor(cursor), limit=most)
        return Answer({"path": path, "entries": entries, "next_cursor": to_cursor(further)})

    described = schemas.route("A folder of the sources", gives="Folder", fails=(400, 404))

    @routes.get(f"{base}/list", tags=tags, **described)
    def list_root(
        slug: str, own: Own, limit: schemas.ListLimit = None, cursor: schemas.CursorParameter = None
    ) -> Response:
        return listed(slug, "", own, limit, cursor)

    @routes.get(f"{base}/list/{{path:path}}", tags=tags, **described)
    def list_folder(
        slug: str, path: str, own: Own, limit: schemas.ListLimit = None, cursor: schemas.CursorParameter = None
    ) -> Response:
        return listed(slug, path.strip("/"), own, limit, cursor)

    @routes.get(f"{base}/manifest", tags=tags, **schemas.route("All sources", gives="SourceManifest", fails=(400, 404)))
    def manifest(
        slug: str, own: Own, limit: schemas.ListLimit = None, cursor: schemas.CursorParameter = None
    ) -> Response:
        most = whole_number("limit", limit, LISTED, MOST_LISTED)
        found, further = own.kb.context(slug).source_page(after=from_cursor(cursor), limit=most)
        return Answer({"sources": found, "next_cursor": to_cursor(further)})

    @routes.get(f"{base}/stats", tags=tags, **schemas.route("Counts of sources", gives="SourceStats", fails=(404,)))
    def stats(slug: str, own: Own) -> Response:
        return Answer(own.kb.context(slug).source_stats())

    @routes.get(f"{base}/read/{{path:path}}", tags=tags, **schemas.download("A source as it was imported"))
    def read(slug: str, path: str, request: Request, own: Own) -> Response:
        context = own.kb.context(slug)
        known = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
        with missing("source_not_found", "path"):
            tag = _tag(context.source(path))
        if tag in known or known == ["*"]:
            return Response(status_code=304, headers={"ETag": tag})
        file = cast("BinaryIO", tempfile.SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115 - closed with the answer
        try:
            with missing("source_not_found", "path"):
                facts = context.copy_source(path, file)
        except BaseException:
            file.close()
            raise
        return attachment(file, path.rpartition("/")[2], facts["media_type"], facts["size"], {"ETag": _tag(facts)})

    @routes.delete(
        f"{base}/delete/{{path:path}}", tags=tags, **schemas.route("Delete a source", gives="SourceGone", fails=(404,))
    )
    def delete(slug: str, path: str, own: Own) -> Response:
        context = own.kb.context(slug)
        with missing("source_not_found", "path"):
            context.delete_source(path)
        return Answer({"deleted": True, "path": path})


def _tag(source: dict[str, Any]) -> str:
    return f'"{source["hash"]}"'


def _knowledge(routes: APIRouter) -> None:
    base = "/contexts/{slug}/knowledge"
    tags: Any = ["knowledge"]

    def listed(slug: str, path: str, own: Own, limit: str | None, cursor: str | None) -> Response:
        most = whole_number("limit", limit, LISTED, MOST_LISTED)
        context = own.kb.context(slug)
        with missing("knowledge_not_found", "path"):
            entries, further = context.knowledge_folder(path, after=from_cursor(cursor), limit=most)
        return Answer({"path": path, "entries": entries, "next_cursor": to_cursor(further)})

    described = schemas.route("A folder of what curate wrote", gives="Folder", fails=(400, 404))

    @routes.get(f"{base}/list", tags=tags, **described)
    def list_root(
        slug: str, own: Own, limit: schemas.ListLimit = None, cursor: schemas.CursorParameter = None
    ) -> Response:
        return listed(slug, "", own, limit, cursor)

    @routes.get(f"{base}/list/{{path:path}}", tags=tags, **described)
    def list_folder(
        slug: str, path: str, own: Own, limit: schemas.ListLimit = None, cursor: schemas.CursorParameter = None
    ) -> Response:
        return listed(slug, path.strip("/"), own, limit, cursor)

    @routes.get(
        f"{base}/stats", tags=tags, **schemas.route("Counts of what is live", gives="KnowledgeStats", fails=(404,))
    )
    def stats(slug: str, own: Own) -> Response:
        return Answer(own.kb.context(slug).knowledge_stats())

    @routes.get(
        f"{base}/read/{{path:path}}",
        tags=tags,
        **schemas.route("A document, an artifact or a chunk", gives="Knowledge", fails=(404,)),
    )
    def read(slug: str, path: str, own: Own) -> Response:
        context = own.kb.context(slug)
        with missing("knowledge_not_found", "path"):
            return Answer(context.read_knowledge(path))


def attachment(file: BinaryIO, name: str, media_type: str, size: int, headers: dict[str, str]) -> Response:
    """An open file to be saved under a name; it is closed when it has been sent."""
    file.seek(0)
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else "_" for c in name)
    headers = {
        **headers,
        "Content-Length": str(size),
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}",
        "Content-Security-Policy": DOWNLOAD_POLICY,
    }
    response = StreamingResponse(_pieces(file), headers=headers, background=BackgroundTask(file.close))
    response.headers["Content-Type"] = media_type
    return response


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece
