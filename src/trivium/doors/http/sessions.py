"""Sessions: list, read, rename, delete (KnowQL reference 5, 6.1)."""

from __future__ import annotations

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from trivium.doors.http import schemas
from trivium.doors.http.access import Own
from trivium.doors.http.answers import Answer
from trivium.doors.http.bodies import json_object
from trivium.doors.http.limits import flag, whole_number
from trivium.knowql.sessions import LISTED, MOST_LISTED


def router() -> APIRouter:
    """The routes of sessions."""
    routes = APIRouter(tags=["sessions"])

    @routes.get("/sessions", **schemas.route("Sessions, newest first", gives="SessionList", fails=(400, 404)))
    def sessions(
        own: Own,
        limit: schemas.TurnLimit = None,
        cursor: schemas.CursorParameter = None,
        context: schemas.ContextParameter = None,
        queries_active: schemas.FlagParameter = None,
    ) -> Response:
        most = whole_number("limit", limit, LISTED, MOST_LISTED)
        return Answer(own.turns.sessions(most, cursor, context, flag("queries_active", queries_active)))

    @routes.get("/sessions/{id}", **schemas.route("A session with its turns", gives="Session", fails=(404,)))
    def session(id: str, own: Own) -> Response:
        return Answer(own.turns.session(id))

    @routes.get("/sessions/{id}/queries", **schemas.route("Turns, oldest first", gives="QueryList", fails=(400, 404)))
    def queries(id: str, own: Own, limit: schemas.TurnLimit = None, cursor: schemas.CursorParameter = None) -> Response:
        most = whole_number("limit", limit, LISTED, MOST_LISTED)
        return Answer(own.turns.session_queries(id, most, cursor))

    @routes.patch(
        "/sessions/{id}",
        **schemas.route("Change the title", body="SessionChange", gives="Session", fails=(400, 404, 408, 413, 415)),
    )
    async def rename(id: str, request: Request, own: Own) -> Response:
        given = await json_object(request)
        return Answer(await to_thread.run_sync(own.turns.rename_session, id, given))

    @routes.delete("/sessions/{id}", **schemas.route("Delete a session and its turns", gives="Deleted", fails=(404,)))
    def delete(id: str, own: Own) -> Response:
        return Answer({"deleted": own.turns.delete_session(id)})

    return routes
