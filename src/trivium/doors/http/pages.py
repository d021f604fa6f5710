"""The contract for programs (`/openapi.json`) and for people (`/docs`), which loads nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import fastapi_offline
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.responses import FileResponse

from trivium.doors.http.answers import Answer
from trivium.doors.http.faults import envelope

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For `/docs`; scripts come from this server alone, and none stands in the page itself."""
FILES = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "favicon.png": "image/png",
}
START = """\
window.addEventListener("load", () => SwaggerUIBundle({
  url: "openapi.json", dom_id: "#page", deepLinking: true, defaultModelsExpandDepth: 0, validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
}));
"""
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trivium: the HTTP API</title>
<link rel="icon" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<script src="docs/swagger-ui-bundle.js" defer></script>
<script src="docs/start.js" defer></script>
</head>
<body><div id="page"></div></body>
</html>
"""


def install(app: FastAPI) -> None:
    """Serve the contract, and what tells a visitor of the root where it is."""

    @app.get("/", include_in_schema=False)
    def root() -> Response:
        return Answer({"name": "trivium", "version": app.version, "docs": "/docs", "openapi": "/openapi.json"})

    @app.get("/openapi.json", include_in_schema=False)
    def contract() -> Response:
        return Answer(app.openapi())

    @app.get("/docs", include_in_schema=False)
    def page() -> Response:
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": PAGE_POLICY})

    @app.get("/docs/{name}", include_in_schema=False)
    def file(name: str, request: Request) -> Response:
        if name == "start.js":
            return Response(START, media_type="text/javascript; charset=utf-8")
        if name not in FILES:
            message = f"There is nothing at {request.url.path}."
            return envelope(404, "not_found", message, reason="route_not_found", hint="See /docs.")
        return FileResponse(_folder() / name, media_type=FILES[name], headers={"Cache-Control": "max-age=3600"})


@cache
def _folder() -> Path:
    """Where the files of the page are."""
    return Path(fastapi_offline.__file__).parent / "static"
