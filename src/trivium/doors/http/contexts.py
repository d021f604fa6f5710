"""Contexts: make, look, change, delete, and curate (KnowQL reference 11.1, 11.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from trivium.doors.http import schemas
from trivium.doors.http.access import Own
from trivium.doors.http.answers import Answer
from trivium.doors.http.bodies import json_object, optional_object
from trivium.doors.http.faults import invalid
from trivium.doors.http.limits import whole_number
from trivium.doors.http.uploads import receive
from trivium.knowql.list_cursor import from_cursor, to_cursor

if TYPE_CHECKING:
    from trivium import KnowledgeBase

LISTED, MOST_LISTED = 200, 1_000
FIELDS = ("slug", "name", "description", "guide", "manifest", "kind")
_BODY = (400, 408, 413, 415)


def router() -> APIRouter:
    """The routes of contexts themselves."""
    routes = APIRouter(tags=["contexts"])

    @routes.get("/contexts", **schemas.route("Contexts, newest first", gives="ContextList"))
    def contexts(own: Own) -> Response:
        found = [context.describe(stats=True) for context in own.kb.contexts()]
        found.sort(key=lambda item: str(item["created_at"]), reverse=True)
        return Answer(found)

    @routes.post(
        "/contexts",
        **schemas.route("Make a context", body="NewContext", gives="Context", status=201, fails=(*_BODY, 409)),
    )
    async def create(request: Request, own: Own) -> Response:
        given = _given(await json_object(request))
        made = await to_thread.run_sync(_create, own.kb, given)
        place = request.url.path.rstrip("/") + f"/{made['slug']}"
        return Answer(made, 201, {"Location": place})

    @routes.get("/contexts/{slug}", **schemas.route("A context", gives="Context", fails=(404,)))
    def get(slug: str, own: Own) -> Response:
        return Answer(own.kb.context(slug).describe())

    @routes.put(
        "/contexts/{slug}",
        **schemas.route("Change a context", body="ContextChange", gives="Context", fails=(*_BODY, 404, 409)),
    )
    async def change(slug: str, request: Request, own: Own) -> Response:
        given = _given(await json_object(request), FIELDS[:-1])
        return Answer(await to_thread.run_sync(_change, own.kb, slug, given))

    @routes.delete("/contexts/{slug}", **schemas.route("Delete a context with all it holds", fails=(404, 409)))
    def delete(slug: str, own: Own) -> Response:
        own.kb.delete_context(slug)
        return Response()

    @routes.get("/contexts/{slug}/manifest", **schemas.route("Its manifest", gives="Manifest", fails=(404,)))
    def manifest(slug: str, own: Own) -> Response:
        return Answer(own.kb.context(slug).describe()["manifest"])

    @routes.post(
        "/contexts/{slug}/import/upload",
        **schemas.route("Import one file or archive", body="Upload", gives="Started", fails=(*_BODY, 404)),
    )
    async def upload(slug: str, request: Request, own: Own, path: schemas.FolderParameter = "") -> Response:
        context = await to_thread.run_sync(own.kb.context, slug)
        received = await receive(request, path, own.kb.settings)
        try:
            task = await to_thread.run_sync(context.start_add_bytes, received.path, received.file)
        except BaseException:
            received.file.close()
            raise
        return Answer({"task_id": task, "state": "importing"})

    @routes.post(
        "/contexts/{slug}/curate",
        **schemas.route("Make the sources answer", body="Curate", gives="Started", fails=(*_BODY, 404, 409)),
    )
    async def curate(slug: str, request: Request, own: Own) -> Response:
        given = await optional_object(request)
        force = given.pop("force", None)
        if force not in (None, True, False) or isinstance(force, int) is not isinstance(force, bool):
            raise invalid("force", "force must be true or false.", "Leave it out for false.")
        for name in given:
            raise invalid(name, f"A curate has no field {name[:80]!r}.", 'Send {"force": true}, or nothing.')
        task = await to_thread.run_sync(lambda: own.kb.context(slug).start_curate(force=bool(force)))
        return Answer({"task_id": task, "state": "curating"})

    @routes.get(
        "/contexts/{slug}/curate", **schemas.route("What is live, and of what", gives="Ledger", fails=(400, 404))
    )
    def ledger(
        slug: str, own: Own, limit: schemas.ListLimit = None, cursor: schemas.CursorParameter = None
    ) -> Response:
        most = whole_number("limit", limit, LISTED, MOST_LISTED)
        found = own.kb.context(slug).ledger(after=from_cursor(cursor), limit=most)
        return Answer(found | {"next_cursor": to_cursor(found.pop("next"))})

    return routes


def _given(body: dict[str, Any], fields: tuple[str, ...] = FIELDS) -> dict[str, Any]:
    """The fields that the body gives; null is as good as absent. Raises: QueryError."""
    for name in body:
        if name not in fields:
            what = "is fixed when a context is made" if name in FIELDS else "is no field of a context"
            raise invalid(name, f"{name[:80]!r} {what}.", f"Send any of {', '.join(fields)}.")
    given = {name: value for name, value in body.items() if value is not None}
    if not isinstance(given.get("slug", ""), str):
        raise invalid("slug", "slug must be a text.", 'For example "contracts".')
    return given


def _create(kb: KnowledgeBase, given: dict[str, Any]) -> dict[str, Any]:
    for name in ("slug", "name"):
        if name not in given:
            raise invalid(name, f"{name} is required.", 'Send at least {"slug": "contracts", "name": "Contracts"}.')
    try:
        return kb.create_context(given.pop("slug"), **given).describe()
    except ValueError as error:
        raise invalid("slug", str(error), 'For example "contracts".') from None


def _change(kb: KnowledgeBase, slug: str, given: dict[str, Any]) -> dict[str, Any]:
    try:
        return kb.context(slug).update(**given)
    except ValueError as error:
        raise invalid("slug", str(error), 'For example "contracts".') from None
