"""A real HTTP server that speaks OpenAI's protocol as a script tells it: chat with streaming, models, embeddings.

    with OpenAIServer([text("Net 30 [1]."), status(429, retry_after="0")]) as server:
        ...  # server.base_url; server.requests holds what was asked

Each chat request takes the next step of the script; the last one stays. A step is what the functions below make, or a
callable that gets the request's body and gives one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Step = dict[str, Any]
Script = Sequence[Step | Callable[[dict[str, Any]], Step]]
KEY = "sk-test-secret-0123456789"


def text(content: str, **more: Any) -> Step:
    """An answer; `pieces` characters to a delta (default 7), `finish`, `usage`, `delay` seconds before each delta."""
    return {"text": content, **more}


def calls(*wanted: tuple[str, Any], **more: Any) -> Step:
    """Tool calls: names with arguments, as an object or as raw text."""
    return {"calls": list(wanted), **more}


def status(code: int, body: Any = None, *, retry_after: str | None = None) -> Step:
    """An error. Its message holds the key, as careless endpoints do."""
    shown = {"error": {"message": f"went wrong for {KEY}", "type": "server_error"}} if body is None else body
    return {"status": code, "body": shown, "headers": {"Retry-After": retry_after} if retry_after else {}}


def raw(content: bytes, content_type: str = "text/event-stream") -> Step:
    """Bytes instead of an answer."""
    return {"raw": content, "content_type": content_type}


def broken(content: str, how: str = "close") -> Step:
    """A stream that breaks off after some text: `close` ends it in order, `reset` drops the connection."""
    return {"text": content, "broken": how}


def hang(seconds: float = 60.0, *, after: str = "") -> Step:
    """Nothing more comes for a while, from the start or after some text; ends when the client goes away."""
    return {"hang": seconds, "text": after}


def endless(content: str) -> Step:
    """The same text again and again, until the client goes away."""
    return {"endless": content}


class OpenAIServer:
    """Serves on a free port of this machine while entered."""

    def __init__(self, script: Script = (), *, models: Sequence[str] = ("test-model",), refuses: Sequence[str] = ()):
        self.script = list(script)
        self.models = list(models)
        self.refuses = list(refuses)
        """Parts of a chat request that are answered with 400."""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.gone = threading.Event()
        """Set when a client went away before it had everything."""
        self._mutex = threading.Lock()
        self._served = 0

    def __enter__(self) -> OpenAIServer:
        outer = self

        class Handler(_Handler):
            owner = outer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.gone.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def next_step(self, body: dict[str, Any]) -> Step:
        with self._mutex:
            self.requests.append(body)
            if not self.script:
                return text("NOT FOUND")
            step = self.script[min(self._served, len(self.script) - 1)]
            self._served += 1
        return step(body) if callable(step) else step


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: OpenAIServer

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.owner.models]
            self._json(200, {"object": "list", "data": data})
        else:
            self._json(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.owner.headers.append({name.lower(): value for name, value in self.headers.items()})
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if self.path == "/v1/embeddings":
                self._json(200, _embeddings(body))
            elif self.path == "/v1/chat/completions":
                self._chat(body)
            else:
                self._json(404, {"error": {"message": "no such path"}})
            return
        self.owner.gone.set()
        self.close_connection = True

    def _chat(self, body: dict[str, Any]) -> None:
        refused = next((part for part in self.owner.refuses if part in body), None)
        if refused is not None:
            self.owner.requests.append(body)
            self._json(400, {"error": {"message": f"Unsupported parameter: {refused}", "code": "unsupported"}})
            return
        step = self.owner.next_step(body)
        if "status" in step:
            self._json(step["status"], step["body"], step["headers"])
        elif "raw" in step:
            self._begin(step["content_type"], len(step["raw"]))
            self.wfile.write(step["raw"])
        elif body.get("stream"):
            self._stream(body, step)
        else:
            self._json(200, _whole(body, step))

    def _stream(self, body: dict[str, Any], step: Step) -> None:
        self._begin("text/event-stream", None)
        for delta in _deltas(step):
            time.sleep(step.get("delay", 0))
            self._event(_chunk(body, delta, None))
        if "endless" in step:
            while True:
                self._event(_chunk(body, {"content": step["endless"]}, None))
        if "hang" in step:
            until = time.monotonic() + step["hang"]
            while time.monotonic() < until and not self.owner.gone.wait(0.02):
                self._part(b": waiting\n\n")
            return
        if step.get("broken") == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True
            return
        if "broken" not in step:
            finish = step.get("finish") or ("tool_calls" if step.get("calls") else "stop")
            self._event(_chunk(body, {}, finish))
            if (body.get("stream_options") or {}).get("include_usage") and step.get("usage", {}) is not None:
                self._event({**_chunk(body, None, None), "choices": [], "usage": _usage(body, step)})
            self._part(b"data: [DONE]\n\n")
        self._part(b"")

    def _begin(self, content_type: str, length: int | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _event(self, data: Any) -> None:
        self._part(f"data: {json.dumps(data)}\n\n".encode())

    def _part(self, content: bytes) -> None:
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def _json(self, code: int, value: Any, headers: dict[str, str] | None = None) -> None:
        content = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/html" if isinstance(value, str) else "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)


def _deltas(step: Step) -> Iterator[dict[str, Any]]:
    """The deltas of a stream: text in small pieces, tool calls with their arguments in two halves."""
    content: str = step.get("text") or ""
    size = step.get("pieces", 7)
    yield {"role": "assistant", "content": ""}
    for start in range(0, len(content), size):
        yield {"content": content[start : start + size]}
    if step.get("refusal"):
        yield {"refusal": step["refusal"]}
    for index, (name, arguments) in enumerate(step.get("calls", ())):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        half = len(written) // 2
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        yield {"tool_calls": [{**head, "function": {"name": name, "arguments": written[:half]}}]}
        yield {"tool_calls": [{"index": index, "function": {"arguments": written[half:]}}]}


def _chunk(body: dict[str, Any], delta: dict[str, Any] | None, finish: str | None) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    return {**head, "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}]}


def _whole(body: dict[str, Any], step: Step) -> dict[str, Any]:
    wanted = [
        {
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for index, (name, given) in enumerate(step.get("calls", ()))
    ]
    message = {"role": "assistant", "content": step.get("text"), "tool_calls": wanted or None}
    finish = step.get("finish") or ("tool_calls" if wanted else "stop")
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body["model"]}
    return {**head, "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": _usage(body, step)}


def _usage(body: dict[str, Any], step: Step) -> dict[str, Any]:
    written = sum(len(str(message.get("content") or "")) for message in body["messages"]) // 4
    given = {"prompt_tokens": written, "completion_tokens": len(step.get("text") or "") // 4 + 1}
    return {**given, "total_tokens": sum(given.values()), **step.get("usage", {})}


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Vectors of 16 numbers, the same for the same text."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [
        {"object": "embedding", "index": index, "embedding": [byte / 255 - 0.5 for byte in _digest(one)]}
        for index, one in enumerate(texts)
    ]
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def _digest(one: str) -> bytes:
    return hashlib.sha256(one.encode()).digest()[:16]
