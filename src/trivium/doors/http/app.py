"""The application: routes under `/api/v0` and `/api`, KIP beside them, health, and the machine-readable contract."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.responses import Response

from trivium.doors.http import browsing, contexts, faults, kip, packs, pages, queries, schemas, sessions, tasks
from trivium.doors.http.access import Rights
from trivium.doors.http.answers import Answer
from trivium.doors.http.guard import Guard
from trivium.doors.http.log import RequestLog
from trivium.doors.http.streams import Follower

if TYPE_CHECKING:
    from trivium import KnowledgeBase

PREFIXES = ("/api/v0", "/api")
"""The same routes under both; the contract lists the first (KnowQL reference 6)."""


def create_app(kb: KnowledgeBase, *, hosts: Iterable[str] | None = ()) -> FastAPI:
    """An ASGI application over an open knowledge base; its caller stops the turns and closes it.

    It answers to the names of this machine and to `hosts`; with None to any name.
    """
    from trivium import __version__

    app = FastAPI(
        title="Trivium",
        version=__version__,
        summary="Remember (KIP 1.0-RC10), ask (KnowQL 0.1.0) and explain, over one store.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.rights = Rights(kb, kb.turns)
    faults.install(app)
    follower = Follower()
    shelf = app.state.shelf = packs.Shelf()
    for prefix in PREFIXES:
        asking = (queries.router(follower), sessions.router())
        keeping = (packs.router(shelf), contexts.router(), browsing.router(), tasks.router())
        for part in (*asking, *keeping, kip.router()):
            app.include_router(part, prefix=prefix, include_in_schema=prefix == PREFIXES[0])
    app.include_router(kip.router())

    @app.get("/healthz", tags=["service"], **schemas.route("Liveness", gives="Health"))
    def healthz() -> Response:
        return Answer({"status": "ok", "name": "trivium", "version": __version__})

    pages.install(app)
    app.add_middleware(Guard, hosts=hosts)
    app.add_middleware(RequestLog, clock=kb.now)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Put our schemas in the place of those that the framework would derive."""
    derived = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = schemas.complete(derived())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
