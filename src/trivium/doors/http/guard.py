"""What stands before every route: who may call from a browser, headers of every answer, and the last resort on faults.

A page of another site that is open in a browser on this machine can send requests to a local server, also under a name
of its own that it has made to resolve to this machine (DNS rebinding). So a server of a loopback address answers only
to names of this machine, and no server takes a request that changes something from a page of another origin.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect

from trivium.doors.http.faults import envelope

log = logging.getLogger("trivium.http")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HARMLESS = ("GET", "HEAD", "OPTIONS")
CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'"
HEADERS = {
    b"knowql-version": b"0.1.0",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"content-security-policy": CLOSED_POLICY.encode(),
}
"""Headers of every answer; a route may set its own value."""
GONE = 499
"""The status that the log shows when the client went away before it was answered."""


class Guard:
    """ASGI middleware. `hosts` are further names of this server; None checks no name (it is not on loopback)."""

    def __init__(self, app: Any, hosts: Iterable[str] | None) -> None:
        self._app = app
        self._hosts = None if hosts is None else {_plain(host) for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = _completed(message.get("headers", ()))
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, watched)
            return
        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            scope["trivium.gone"] = True
            if not started:  # nobody hears it, but the server wants to see an answer
                await envelope(400, "bad_request", "The request ended before it was whole.")(scope, receive, watched)
        except Exception as error:
            log.error("unexpected fault at %s", _route(scope), exc_info=error)
            if started:
                raise
            await _unexpected(error)(scope, receive, watched)

    def _refusal(self, scope: Scope) -> Any:
        """The answer to a request that another site may have sent, None for all others."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if self._hosts is not None and not self._is_own(host):
            return envelope(
                403,
                "forbidden",
                f"This server answers to names of this machine, not to {host[:200]!r}.",
                reason="foreign_host",
                hint="Call it by its address, or serve with --allow-host NAME.",
            )
        origin = headers.get(b"origin")
        if origin is None or scope["method"] in HARMLESS or self._is_same_site(origin.decode("latin-1"), host):
            return None
        return envelope(
            403,
            "forbidden",
            f"A page of {origin.decode('latin-1')[:200]!r} may not change anything here.",
            reason="foreign_origin",
            hint="Call from the server's own pages or a program; --allow-host NAME admits a name of yours.",
        )

    def _is_own(self, host: str) -> bool:
        name = _plain(_name_of(f"//{host}"))
        return name in (self._hosts or ()) or is_loopback(name)

    def _is_same_site(self, origin: str, host: str) -> bool:
        """Whether a page comes from this server: its host and port are those asked for, or its name is ours."""
        try:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https"):
                return False
        except ValueError:
            return False
        return parts.netloc.lower() == host.lower() or _plain(_name_of(origin)) in (self._hosts or ())


def is_loopback(name: str) -> bool:
    """Whether a name or address means this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("127.0.0.1.nip.io")
    (True, True, True, False)
    """
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _name_of(address: str) -> str:
    try:
        parts = urlsplit(address)
        _ = parts.port
        return parts.hostname or ""
    except ValueError:
        return ""


def _plain(name: str) -> str:
    return name.lower().rstrip(".")


def _completed(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    names = {name.lower() for name, _ in given}
    return given + [(name, value) for name, value in HEADERS.items() if name not in names]


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", None) or "an unknown route"


def _unexpected(error: Exception) -> Any:
    return envelope(
        500,
        "internal_error",
        f"The server met an unexpected fault ({type(error).__name__}).",
        hint="The server's log tells where; run `trivium doctor`.",
    )
