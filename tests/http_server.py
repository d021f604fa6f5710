"""A real HTTP server in a thread of the tests: uvicorn on a real port, over a knowledge base that tests exchange."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx2

import trivium
from tests.conformance.runner import Mismatch
from tests.knowql_doors import prepare
from tests.knowql_models import ScriptedModels
from tests.knowql_runner import Json, Reply
from trivium.doors.http.access import Rights
from trivium.doors.http.app import create_app
from trivium.doors.http.serve import Server, listen

BASE = "/api/v0"


class LocalServer:
    """One server for many tests: each `hold`s a knowledge base of its own."""

    def __init__(self, kb: trivium.KnowledgeBase) -> None:
        self.app = create_app(kb)
        self._server = Server(self.app, kb, 0.5)
        self._listener = listen("127.0.0.1", 0)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)

    def start(self) -> None:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    def hold(self, kb: trivium.KnowledgeBase) -> None:
        """Serve this knowledge base from now on."""
        self.app.state.rights = Rights(kb, kb.turns)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        self._listener.close()


@contextmanager
def scripted() -> Iterator[trivium.KnowledgeBase]:
    """A knowledge base in memory with scripted models and two workers."""
    kb = trivium.open(":memory:", workers=2, embedder="none")
    models = ScriptedModels()
    kb.models = models
    try:
        yield kb
    finally:
        models.composer.released.set()
        kb.close()


@contextmanager
def running() -> Iterator[LocalServer]:
    """A server over an empty knowledge base with scripted models."""
    with scripted() as kb:
        server = LocalServer(kb)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def frames(text: str) -> list[Json]:
    """The frames of an event stream, its heartbeats left out. Raises: Mismatch for what is no such stream."""
    found = []
    if text and not text.endswith("\n\n"):
        raise Mismatch("frames", "the stream is cut", "an empty line at its end", text[-80:])
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        fields = dict(line.split(": ", 1) for line in lines)
        if len(fields) != len(lines) or fields.keys() - {"id", "event", "data"}:
            raise Mismatch("frames", "a frame has id, event and data once", None, block)
        number = int(fields["id"]) if "id" in fields else None
        found.append({"id": number, "event": fields["event"], "data": json.loads(fields["data"])})
    return found


class HttpDoor:
    """The door of the conformance runner over a server; the contexts of a case are prepared behind it."""

    def __init__(self, server: LocalServer) -> None:
        self._context = scripted()
        self.kb = self._context.__enter__()
        server.hold(self.kb)
        self._client = httpx2.Client(base_url=server.url + BASE, timeout=30)

    def prepare(self, setup: Json) -> None:
        prepare(self.kb, setup)

    def call(self, operation: str, argument: Json, options: Any) -> Reply:
        method, path, body, headers, query = _request(operation, argument, dict(options))
        content = None if body is _NONE else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        response = self._client.request(method, path, content=content, headers=headers, params=query)
        return _reply(response)

    def close(self) -> None:
        self._client.close()
        self._context.__exit__(None, None, None)


_NONE = object()


def _request(operation: str, argument: Any, options: dict[str, Any]) -> tuple[str, str, Any, dict[str, Any], Any]:
    if operation == "submit":
        headers = {}
        if options.get("strict"):
            headers["Prefer"] = "handling=strict"
        if options.get("accept_stream"):
            headers["Accept"] = "text/event-stream"
        if "idempotency_key" in options:
            headers["Idempotency-Key"] = options["idempotency_key"]
        return "POST", "/query", argument, headers, None
    if operation == "events":
        return (
            "GET",
            f"/queries/{quote(argument, safe='')}/events",
            _NONE,
            {"Last-Event-ID": str(options.get("after", ""))},
            None,
        )
    if operation in ("feedback", "rename"):
        method, path = ("POST", "/queries/{}/feedback") if operation == "feedback" else ("PATCH", "/sessions/{}")
        return method, path.format(quote(argument[0], safe="")), argument[1], {}, None
    method, path = {
        "get": ("GET", "/queries/{}"),
        "cancel": ("POST", "/queries/{}/cancel"),
        "trace": ("GET", "/queries/{}/trace"),
        "sessions": ("GET", "/sessions"),
        "session": ("GET", "/sessions/{}"),
        "session_queries": ("GET", "/sessions/{}/queries"),
        "delete": ("DELETE", "/sessions/{}"),
        "delete_context": ("DELETE", "/contexts/{}"),
        "models": ("GET", "/models"),
    }[operation]
    query = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in options.items()
        if value is not None
    }
    return method, path.format(quote(str(argument), safe="")), _NONE, {}, query


def _reply(response: httpx2.Response) -> Reply:
    kind = response.headers.get("content-type", "")
    if kind.startswith("text/event-stream"):
        return Reply(response.status_code, None, frames(response.text))
    if not response.content:
        return Reply(response.status_code)
    assert kind == "application/json", kind
    assert response.headers["knowql-version"] == "0.1.0"
    return Reply(response.status_code, response.json())
