"""Every failure as the error envelope of KnowQL reference 10.4: no stack trace, no body of another form.

What nobody foresaw is caught by `guard`, which stands around all of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from trivium.doors.http.answers import Answer
from trivium.errors import (
    ConflictError,
    KipError,
    MissingExtraError,
    NotFoundError,
    StoreError,
    TriviumError,
)
from trivium.ingest.curate import NoSourcesError
from trivium.ingest.manifest import ManifestError
from trivium.ingest.tasks import BusyError
from trivium.knowql.errors import QueryError
from trivium.knowql.hints import HTTP

_CODES = {404: "not_found", 405: "method_not_allowed", 413: "payload_too_large", 415: "unsupported_media_type"}


def install(app: FastAPI) -> None:
    """Give the application its handlers."""
    app.add_exception_handler(QueryError, _query_error)
    app.add_exception_handler(TriviumError, _trivium_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


def invalid(param: str | None, message: str, hint: str | None = None) -> QueryError:
    """A value that is refused: 400 `invalid_value`."""
    return QueryError(400, "bad_request", "invalid_value", message, param=param, hint=hint)


@contextmanager
def missing(reason: str, param: str) -> Iterator[None]:
    """What is not found inside is told with this reason."""
    try:
        yield
    except NotFoundError as error:
        raise QueryError(404, "not_found", reason, error.message, param=param, hint=error.hint) from None


def envelope(
    status: int,
    code: str,
    message: str,
    *,
    reason: str | None = None,
    param: str | None = None,
    hint: str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """`{"error": {code, message, reason, param, hint}}`."""
    return _answered(QueryError(status, code, reason, message, param=param, hint=hint), headers)


def _answered(error: QueryError, headers: dict[str, str] | None = None) -> Answer:
    return Answer(error.to_dict(HTTP), error.status, headers)


async def _query_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, QueryError)
    return _answered(error, {"Retry-After": "2"} if error.passing else None)


async def _trivium_error(request: Request, error: Exception) -> Response:
    """An error of the library that no handler has told more about."""
    assert isinstance(error, TriviumError)
    if isinstance(error, NotFoundError):
        return _told(404, "not_found", "context_not_found", error)
    if isinstance(error, MissingExtraError):
        return _told(501, "not_installed", error.extra, error)
    if isinstance(error, ConflictError):
        return _told(409, "conflict", error.reason, error)
    if isinstance(error, BusyError):
        return _told(409, "conflict", f"{error.workflow}_in_progress", error)
    if isinstance(error, NoSourcesError):
        return _told(409, "conflict", "no_sources", error)
    if isinstance(error, StoreError) or (isinstance(error, KipError) and error.code.startswith("KIP_400")):
        return _told(503, "unavailable", "storage", error, headers={"Retry-After": "2"})
    param = error.param if isinstance(error, ManifestError) else None
    return _told(400, "bad_request", "invalid_value", error, param=param)


def _told(
    status: int, code: str, reason: str, error: TriviumError, *, param: str | None = None, headers: Any = None
) -> Answer:
    return envelope(status, code, error.message, reason=reason, param=param, hint=error.hint, headers=headers)


async def _validation_error(request: Request, error: Exception) -> Response:
    """A query-string or path value that its declaration refuses."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = str(first["loc"][-1])
    return envelope(
        400,
        "bad_request",
        f"{name}: {first['msg']}.",
        reason="invalid_value",
        param=name,
        hint="The parameters of each path are in /openapi.json.",
    )


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "bad_request")
    path = request.url.path
    if error.status_code == 404:
        return envelope(404, code, f"There is nothing at {path}.", reason="route_not_found", hint="See /openapi.json.")
    if error.status_code == 405:
        allowed = ", ".join(_allowed(request))
        message = f"{request.method} is not allowed at {path}."
        return envelope(405, code, message, hint=f"Allowed: {allowed}.", headers={"Allow": allowed})
    return envelope(error.status_code, code, str(error.detail), headers=dict(error.headers or {}))


def _allowed(request: Request) -> list[str]:
    """The methods that some route has for the path of a request."""
    routes = request.app.router.routes
    scopes = ({**request.scope, "method": method} for method in ("GET", "POST", "PUT", "PATCH", "DELETE"))
    return [scope["method"] for scope in scopes if any(route.matches(scope)[0] is Match.FULL for route in routes)]
