"""`POST /query` and what is told of a turn afterwards (KnowQL reference 6.1, 7)."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from trivium.doors.http import schemas
from trivium.doors.http.access import Own
from trivium.doors.http.answers import Answer
from trivium.doors.http.bodies import json_object
from trivium.doors.http.streams import Follower, resume_point
from trivium.knowql.service import BACKGROUND, STREAM

POLL_SECONDS = "2"


def router(follower: Follower) -> APIRouter:
    """The routes of turns."""
    routes = APIRouter(tags=["queries"])

    @routes.post("/query", **schemas.turn("Run one turn"))
    async def query(request: Request, own: Own) -> Response:
        document = await json_object(request)
        accepted = await to_thread.run_sync(
            lambda: own.turns.submit(
                document,
                strict=_is_strict(request.headers.getlist("prefer")),
                accept_stream=prefers_stream(request.headers.getlist("accept")),
                idempotency_key=request.headers.get("idempotency-key"),
            )
        )
        if accepted.delivery == STREAM:
            return await follower.response(own.turns, accepted.query_id)
        if accepted.delivery == BACKGROUND:
            found = await to_thread.run_sync(own.turns.response, accepted.query_id)
            place = request.url.path.rsplit("/query", 1)[0] + f"/queries/{accepted.query_id}"
            return Answer(found, 202, {"Location": place, "Retry-After": POLL_SECONDS})
        return await to_thread.run_sync(lambda: Answer(own.turns.wait(accepted.query_id)), limiter=follower.limiter())

    @routes.get("/queries/{id}", **schemas.route("A turn as it stands", gives="ResponseDocument", fails=(404,)))
    def get(id: str, own: Own) -> Response:
        return Answer(own.turns.response(id))

    @routes.get("/queries/{id}/events", **schemas.stream("Replay the turn's events, then follow it"))
    async def events(id: str, request: Request, own: Own) -> Response:
        return await follower.response(own.turns, id, resume_point(request.headers.get("last-event-id")))

    @routes.post("/queries/{id}/cancel", **schemas.route("Cancel", gives="ResponseDocument", fails=(404,)))
    def cancel(id: str, own: Own) -> Response:
        return Answer(own.turns.cancel(id))

    @routes.get("/queries/{id}/trace", **schemas.route("The recorded trace", gives="Trace", fails=(404,)))
    def trace(id: str, own: Own) -> Response:
        return Answer(own.turns.trace(id))

    @routes.post(
        "/queries/{id}/feedback",
        **schemas.route("Rate the answer", body="Feedback", status=204, fails=(400, 404, 408, 413, 415)),
    )
    async def feedback(id: str, request: Request, own: Own) -> Response:
        given: dict[str, Any] = await json_object(request)
        await to_thread.run_sync(own.turns.feedback, id, given)
        return Response(status_code=204)

    @routes.get("/models", **schemas.route("Models and defaults", gives="Models"))
    def models(own: Own) -> Response:
        return Answer(own.turns.models())

    return routes


def prefers_stream(accept: list[str]) -> bool:
    """Whether `Accept` names an event stream, and no JSON that it likes as much; `*/*` asks for none (3.5).

    >>> prefers_stream(["text/event-stream"]), prefers_stream(["*/*"]), prefers_stream(["application/json, text/*"])
    (True, False, False)
    """
    quality = {"text/event-stream": 0.0, "application/json": 0.0}
    for part in ",".join(accept).lower().split(","):
        kind, *rest = (piece.strip() for piece in part.split(";"))
        if kind in quality:
            quality[kind] = max(quality[kind], next((_number(p[2:]) for p in rest if p.startswith("q=")), 1.0))
    return quality["text/event-stream"] > quality["application/json"]


def _number(text: str) -> float:
    try:
        return min(1.0, float(text))
    except ValueError:
        return 0.0


def _is_strict(prefer: list[str]) -> bool:
    wishes = (wish.strip().lower() for line in prefer for wish in line.split(","))
    return any(wish.partition(";")[0].replace(" ", "").replace('"', "") == "handling=strict" for wish in wishes)
