"""KIP over HTTP: `POST /kip` with a method and its params, as existing KIP clients send it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from trivium.doors.http import schemas
from trivium.doors.http.access import Own
from trivium.doors.http.answers import Answer
from trivium.doors.http.bodies import json_object
from trivium.doors.http.faults import invalid

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase

BODY_LIMIT = 12 << 20
"""Bytes: a command text of the largest size that the language allows, escaped."""
METHODS = ("execute_kip", "execute_kip_readonly")

_STATUS = {"KIP_3002": 404, "KIP_3003": 409, "KIP_3005": 409, "KIP_3004": 403, "KIP_4001": 408, "KIP_4003": 500}


def router() -> APIRouter:
    """`/kip` for the context `default` and `/contexts/{slug}/kip` for any."""
    routes = APIRouter(tags=["kip"])
    fails = (400, 404, 408, 409, 413, 415, 500)
    described = schemas.kip("Execute KIP", fails)

    @routes.post("/kip", **described)
    async def kip(request: Request, own: Own) -> Response:
        return await _execute(own.kb, request)

    @routes.post("/contexts/{slug}/kip", **described)
    async def kip_of_context(slug: str, request: Request, own: Own) -> Response:
        context = await to_thread.run_sync(own.kb.context, slug)
        return await _execute(context, request)

    return routes


async def _execute(place: KnowledgeBase | Context, request: Request) -> Response:
    call = await json_object(request, BODY_LIMIT)
    method, params = call.get("method"), call.get("params", {})
    if method not in METHODS:
        raise invalid("method", f"There is no method {str(method)[:80]!r}.", f"Methods: {', '.join(METHODS)}.")
    for name in call.keys() - {"method", "params"}:
        raise invalid(name, f"A call has no member {name[:80]!r}.", "Send method and params.")
    if not isinstance(params, dict):
        raise invalid("params", "params must be an object.", 'Send {"command": "DESCRIBE PRIMER"}.')
    readonly = params.pop("readonly", False)
    if not isinstance(readonly, bool):
        raise invalid("readonly", "readonly must be true or false.", "Leave it out for false.")
    readonly = readonly or method == "execute_kip_readonly"

    def execute() -> Response:
        answer = place.execute_kip(params, readonly=readonly)
        return Answer(answer, status_of(answer))

    return await to_thread.run_sync(execute)


def status_of(answer: dict[str, Any]) -> int:
    """200 on success and for a batch that was run, whatever became of its commands; else by the error's code."""
    if "error" not in answer:
        return 200
    return _STATUS.get(answer["error"]["code"], 400)
