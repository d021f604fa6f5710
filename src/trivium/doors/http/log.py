"""One line of JSON for each request, without anything that was said in it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from typing import Any

from trivium.doors.http.guard import GONE, Receive, Scope, Send

log = logging.getLogger("trivium.http.access")


class RequestLog:
    """ASGI middleware: method, route, status, milliseconds, bytes sent. Never bodies, queries or names in paths."""

    def __init__(self, app: Any, clock: Callable[[], str]) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not log.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        seen = {"status": 0, "bytes": 0}

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
            elif message["type"] == "http.response.body":
                seen["bytes"] += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            line = {
                "time": self._clock(),
                "method": scope["method"],
                "route": getattr(scope.get("route"), "path", None),
                "status": GONE if scope.get("trivium.gone") else seen["status"],
                "ms": round((time.perf_counter() - begun) * 1_000, 1),
                "bytes": seen["bytes"],
            }
            log.info(json.dumps(line))
