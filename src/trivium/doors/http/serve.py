"""Running the application: one process, one port, logs to standard error, an orderly end."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import h11
import uvicorn
from anyio import to_thread
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.doors.http.app import create_app
from trivium.doors.http.faults import envelope
from trivium.doors.http.guard import HEADERS, is_loopback
from trivium.errors import StoreError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from trivium import KnowledgeBase

KEEP_ALIVE_SECONDS = 30
DEAF_MILLISECONDS = 60_000
"""How long sent bytes may stay unacknowledged before a connection is given up."""
LAST_SECONDS = 5
"""After the grace, what open answers get to be sent whole."""


def serve(
    kb: KnowledgeBase,
    host: str,
    port: int,
    *,
    grace: float,
    hosts: Sequence[str] = (),
    access_log: bool = True,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGINT or SIGTERM; then running turns have `grace` seconds to finish, and those left fail.

    Further names of the server are `hosts`. `ready` gets the URL once the port is open. Raises: StoreError.
    """
    _log_to_stderr(access_log)
    listener = listen(host, port)
    try:
        names = hosts if hosts or is_loopback(host) else None
        server = Server(create_app(kb, hosts=names), kb, grace)
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}")
        server.run(sockets=[listener])
    finally:
        listener.close()


class Server(uvicorn.Server):
    """A server that ends the turns at its own end, so that whoever waits for one gets its document or last frames."""

    def __init__(self, app: FastAPI, kb: KnowledgeBase, grace: float) -> None:
        config = uvicorn.Config(
            app,
            http=Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=max(1, round(grace) + LAST_SECONDS),
            h11_max_incomplete_event_size=64 << 10,
        )
        super().__init__(config)
        self._app = app
        self._kb = kb
        self._grace = grace

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal that ends the server has done its work then, and is not sent to the process once more."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.create_task(to_thread.run_sync(self._kb.turns.close, self._grace))
        await super().shutdown(sockets)
        while not ending.done():
            await asyncio.wait((ending,), timeout=0.1)
            if self.force_exit:
                await to_thread.run_sync(self._kb.turns.close, 0.0)
        self._app.state.shelf.close()


class Protocol(H11Protocol):
    """HTTP/1.1 whose answer to what is no request has the form of all other errors."""

    def send_400_response(self, msg: str) -> None:
        answer = envelope(400, "bad_request", msg, hint="Send HTTP/1.1 with headers of at most 64 KiB.")
        headers = [*answer.raw_headers, *HEADERS.items(), (b"connection", b"close")]
        events = (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        )
        try:
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:
            pass  # an answer is under way already
        self.transport.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises: StoreError."""
    listener = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAF_MILLISECONDS)
        listener.bind(address)
        listener.listen(2_048)
    except (OSError, UnicodeError, OverflowError) as error:
        if listener is not None:
            listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreError(
            f"{host}:{port} cannot be served: {reason}.", "Choose another --host or --port; port 0 takes a free one."
        ) from None
    return listener


def _log_to_stderr(access_log: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    root = logging.getLogger("trivium")
    root.addHandler(handler)
    root.setLevel(logging.INFO if access_log else logging.WARNING)
    uvicorn_log = logging.getLogger("uvicorn.error")
    uvicorn_log.addHandler(handler)
    uvicorn_log.setLevel(logging.WARNING)
