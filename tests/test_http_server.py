"""The HTTP server under what clients and networks do: silence, haste, half-sent bodies, faults, many at once."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.http_server import LocalServer, frames, running, scripted
from tests.knowql_doors import prepare
from tests.knowql_runner import load_setup
from trivium.answers.composer import Composed, Progress, Task
from trivium.doors.http import bodies, packs, streams, uploads
from trivium.doors.http.access import Rights
from trivium.ingest.tasks import BusyError


@pytest.fixture(scope="module")
def running_server() -> Iterator[LocalServer]:
    with running() as server:
        yield server


@pytest.fixture
def kb() -> Iterator[trivium.KnowledgeBase]:
    with scripted() as kb:
        prepare(kb, load_setup("contracts"))
        yield kb


@pytest.fixture
def server(running_server: LocalServer, kb: trivium.KnowledgeBase) -> LocalServer:
    running_server.hold(kb)
    return running_server


def call(server: LocalServer, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, content, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")
    finally:
        connection.close()


def raw(server: LocalServer, *parts: bytes, pause: float = 0.0) -> socket.socket:
    """A connection over which these bytes have been sent."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    for part in parts:
        connection.sendall(part)
        time.sleep(pause)
    return connection


def head(path: str, length: int | str, kind: str = "application/json") -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def answer(connection: socket.socket) -> tuple[int, Any]:
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, json.loads(response.read())


def hanging(kb: trivium.KnowledgeBase, **script: Any) -> dict[str, Any]:
    return {"ask": "x", "scope": ["contracts"], "vars": {"script": {"hang": True, **script}}}


def wait_for(condition: Any, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


class Verbose:
    """A model whose answer is far larger than what a connection holds by itself."""

    def compose(self, task: Task, progress: Progress) -> Composed:
        for _ in range(20):
            progress.delta("word " * 200_000)
            time.sleep(0.06)
        return Composed("word " * 4_000_000, [])


# --- streams --------------------------------------------------------------------------------------


def open_stream(server: LocalServer, document: dict[str, Any]) -> tuple[socket.socket, Any]:
    body = json.dumps({**document, "stream": True}).encode()
    connection = raw(server, head("/api/query", len(body)), body)
    return connection, connection.makefile("rb")


def test_a_silent_stream_is_kept_alive(
    server: LocalServer, kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.5)
    connection, lines = open_stream(server, hanging(kb))
    with connection:
        seen = b""
        while b": keep-alive\n\n" not in seen:
            seen += lines.readline()
    assert b"event: response.created" in seen


def test_a_client_that_goes_away_does_not_stop_the_turn_and_leaves_nothing_held(
    server: LocalServer, kb: trivium.KnowledgeBase
) -> None:
    script = {"pieces": ["one ", "two ", "three [1]"], "text": "one two three [1]", "between": 0.2}
    document = {"ask": "payment terms", "scope": ["contracts"], "vars": {"script": script}}
    connection, lines = open_stream(server, document)
    seen = b""
    while b"session_id" not in seen:
        seen += lines.readline()
    query_id = json.loads(seen.split(b"data: ")[1])["query_id"]
    lines.close()
    connection.close()
    assert kb.turns.wait(query_id, 20)["status"] == "completed"
    wait_for(lambda: not kb.turns._engine.hub.has_listeners(query_id))
    status, found = call(server, "GET", f"/api/queries/{query_id}")
    assert (status, found["output"][0]["content"][0]["text"]) == (200, "one two three [1]")


def test_a_client_that_does_not_read_is_let_go(
    server: LocalServer, kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(kb.models, "composer", Verbose())
    accepted = kb.turns.submit({"ask": "long", "scope": ["contracts"], "background": True})
    assert kb.turns.wait(accepted.query_id, 30)["status"] == "completed"
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    listener.connect(("127.0.0.1", server.port))
    with listener:
        listener.sendall(f"GET /api/queries/{accepted.query_id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        wait_for(lambda: kb.turns._engine.hub.has_listeners(accepted.query_id))
        wait_for(lambda: not kb.turns._engine.hub.has_listeners(accepted.query_id))


def test_many_streams_wait_side_by_side_and_others_are_served(server: LocalServer, kb: trivium.KnowledgeBase) -> None:
    accepted = kb.turns.submit({**hanging(kb), "background": True})
    path = f"GET /api/queries/{accepted.query_id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    connections = [raw(server, path) for _ in range(120)]
    try:
        for connection in connections:
            assert b"200 OK" in connection.recv(100)
        begun = time.monotonic()
        assert call(server, "GET", "/healthz")[0] == 200
        assert call(server, "GET", f"/api/queries/{accepted.query_id}")[1]["status"] == "in_progress"
        assert time.monotonic() - begun < 5
        assert call(server, "POST", f"/api/queries/{accepted.query_id}/cancel")[1]["status"] == "cancelled"
        for connection in connections:
            received = b""
            while b"event: query" not in received:
                more = connection.recv(65_536)
                assert more
                received += more
            assert b"event: response.cancelled" in received
    finally:
        for connection in connections:
            connection.close()


def test_a_stream_whose_session_is_deleted_ends_as_cancelled(server: LocalServer, kb: trivium.KnowledgeBase) -> None:
    connection, lines = open_stream(server, hanging(kb))
    with connection:
        seen = b""
        while b"session_id" not in seen:
            seen += lines.readline()
        session_id = json.loads(seen.split(b"data: ")[1])["session_id"]
        assert call(server, "DELETE", f"/api/sessions/{session_id}") == (200, {"deleted": True})
        while b"event: query" not in seen:
            line = lines.readline()
            assert line
            seen += line
        assert b"event: response.cancelled" in seen
        assert json.loads(lines.readline().removeprefix(b"data: "))["status"] == "cancelled"


# --- bodies ---------------------------------------------------------------------------------------


def test_a_body_that_does_not_come_is_408(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    with raw(server, head("/api/query", 100), b'{"ask"') as connection:
        status, found = answer(connection)
    assert (status, found["error"]["code"]) == (408, "request_timeout")


def test_a_client_that_goes_away_within_its_body_leaves_nothing(server: LocalServer, kb: trivium.KnowledgeBase) -> None:
    for path, kind in (
        ("/api/query", "application/json"),
        ("/api/contexts/empty/import/upload", "multipart/form-data; boundary=b"),
    ):
        part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\nhalf'
        raw(server, head(path, 10_000, kind), part, pause=0.05).close()
    assert call(server, "GET", "/healthz")[0] == 200
    assert call(server, "GET", "/api/sessions")[1]["sessions"] == []
    assert call(server, "GET", "/api/tasks?context=empty")[1]["tasks"] == []


def test_an_upload_is_bounded_while_it_arrives(
    running_server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads.tempfile, "tempdir", str(tmp_path))
    with trivium.open(":memory:", max_file_bytes=100_000, max_context_bytes=300_000, embedder="none") as kb:
        running_server.hold(kb)
        kb.create_context("notes")
        path = "/api/contexts/notes/import/upload"
        for name, limit in (("a.md", 100_000), ("a.zip", 300_000)):
            start = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
            declared = 360_000
            with raw(
                running_server, head(path, declared, "multipart/form-data; boundary=b"), start, b"x" * (limit + 1)
            ) as connection:
                status, found = answer(connection)  # although not all of the body was sent
            assert (status, found["error"]["code"], found["error"]["reason"]) == (413, "payload_too_large", "file")
        with raw(
            running_server, head(path, 400_000, "multipart/form-data; boundary=b"), start
        ) as connection:  # by its length alone
            assert answer(connection)[0] == 413
        assert call(running_server, "GET", "/api/tasks")[1]["tasks"] == []
    assert list(tmp_path.iterdir()) == []


def test_an_upload_that_stalls_is_408(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "SILENCE_SECONDS", 0.3)
    request = head("/api/contexts/empty/import/upload", 500, "multipart/form-data; boundary=b")
    with raw(server, request, b"--b\r\n") as connection:
        status, found = answer(connection)
    assert (status, found["error"]["code"]) == (408, "request_timeout")


def test_a_large_source_comes_back_as_it_was_sent(server: LocalServer, kb: trivium.KnowledgeBase) -> None:
    data = bytes(range(256)) * 40_000
    kb.context("empty").add_bytes("big.txt", data)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/api/contexts/empty/source/read/big.txt")
    response = connection.getresponse()
    assert response.read() == data
    connection.close()


# --- faults ---------------------------------------------------------------------------------------


def test_a_fault_is_told_without_its_trace(
    server: LocalServer, kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("secret of the inside")

    monkeypatch.setattr(kb.turns, "models", broken)
    status, found = call(server, "GET", "/api/models")
    assert (status, found["error"]["code"]) == (500, "internal_error")
    assert "secret" not in json.dumps(found)
    assert "Traceback" not in json.dumps(found)


def test_a_closed_store_is_503(running_server: LocalServer) -> None:
    with scripted() as kb:
        running_server.hold(kb)
        assert kb.turns is not None
    for method, path, body in (
        ("GET", "/api/sessions", None),
        ("GET", "/api/contexts", None),
        ("GET", "/api/tasks", None),
        ("POST", "/api/query", {"ask": "x", "scope": ["default"]}),
    ):
        status, found = call(running_server, method, path, body)
        assert (status, found["error"]["code"], found["error"]["reason"]) == (503, "unavailable", "storage"), path


def test_texts_that_are_no_unicode_can_be_answered(
    server: LocalServer, kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kb.turns, "models", lambda: {"default": "torn \ud800"})
    status, found = call(server, "GET", "/api/models")
    assert (status, found) == (200, {"default": "torn \ud800"})


def test_what_is_no_http_is_answered_in_the_same_form(server: LocalServer) -> None:
    for request in (b"NONSENSE\r\n\r\n", b"GET / HTTP/1.1\r\nBad Header\r\n\r\n", b"GET /" + b"x" * 100_000):
        with raw(server, request) as connection:
            status, found = answer(connection)
        assert (status, found["error"]["code"]) == (400, "bad_request")


def test_websockets_are_not_served(server: LocalServer) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    status, found = call(server, "GET", "/api/query", None, **headers)
    assert (status, found["error"]["code"]) == (405, "method_not_allowed")


def test_handlers_see_rights_and_never_the_store_of_another(server: LocalServer, kb: trivium.KnowledgeBase) -> None:
    with scripted() as other:
        prepare(other, load_setup("contracts"))
        other.ask("of the other", scope=["contracts"], retrieval_only=True)
        server.app.state.rights = Rights(other, other.turns)
        assert len(call(server, "GET", "/api/sessions")[1]["sessions"]) == 1
        server.hold(kb)
        assert call(server, "GET", "/api/sessions")[1]["sessions"] == []


def test_requests_at_once_on_one_session_are_refused_but_one(server: LocalServer, kb: trivium.KnowledgeBase) -> None:
    first = kb.ask("x", scope=["contracts"], retrieval_only=True, vars={"script": {"sleep": 0.3}})
    seen: list[int] = []

    def ask() -> None:
        document = {"ask": "again", "session_id": first["session_id"]}
        seen.append(call(server, "POST", "/api/query", document)[0])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen.count(200) >= 1
    assert set(seen) <= {200, 409, 429}


def test_frames_are_parsed_strictly() -> None:
    assert frames("id: 1\nevent: e\ndata: {}\n\n: keep-alive\n\nevent: query\ndata: {}\n\n") == [
        {"id": 1, "event": "e", "data": {}},
        {"id": None, "event": "query", "data": {}},
    ]


# --- packs ----------------------------------------------------------------------------------------


def upload(server: LocalServer, path: str, name: str, data: bytes) -> tuple[int, Any]:
    part = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + data
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    connection.request("POST", path, part + b"\r\n--b--\r\n", headers)
    response = connection.getresponse()
    try:
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def ended(server: LocalServer, task_id: str) -> dict[str, Any]:
    while (task := call(server, "GET", f"/api/tasks/{task_id}")[1])["state"] not in ("completed", "failed"):
        time.sleep(0.02)
    found: dict[str, Any] = task
    return found


def test_a_pack_that_was_fetched_can_be_restored(server: LocalServer, kb: trivium.KnowledgeBase) -> None:
    task = ended(server, call(server, "POST", "/api/contexts/contracts/pack")[1]["task_id"])
    path = f"/api/tasks/{task['id']}/files/read/{task['result']['file']}"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", path)
    data = connection.getresponse().read()
    connection.close()
    assert upload(server, "/api/contexts/restore", "contracts.context.zip", data)[0] == 409
    status, started = upload(server, "/api/contexts/restore?slug=copied", "contracts.context.zip", data)
    assert (status, started["state"]) == (200, "restoring")
    assert ended(server, started["task_id"])["result"]["slug"] == "copied"
    for slug in ("contracts", "copied"):
        found = kb.ask("Globex termination notice", scope=[slug], chunks_only=True, max_retrieved=1)
        assert found["output_json"]["chunks"][0]["source"] == "globex.md"
    kb.delete_context("contracts")
    assert upload(server, "/api/contexts/restore", "contracts.context.zip", data)[0] == 200


def refuse(self: trivium.Context, destination: Path) -> str:
    raise BusyError("pack", self.slug, "tsk_other")


def test_packs_that_are_refused_take_no_room(
    server: LocalServer, kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "KEPT", 2)
    done = ended(server, call(server, "POST", "/api/contexts/contracts/pack")[1]["task_id"])
    with monkeypatch.context() as patched:
        patched.setattr(trivium.Context, "start_pack", refuse)
        for _ in range(3):
            assert call(server, "POST", "/api/contexts/contracts/pack")[0] == 409
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", f"/api/tasks/{done['id']}/files/read/{done['result']['file']}")
    assert connection.getresponse().status == 200
    connection.close()


def test_a_source_that_the_caller_has_is_not_copied(
    server: LocalServer, kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    [source, *_] = kb.context("contracts").sources()
    monkeypatch.setattr(trivium.Context, "copy_source", None)
    path = f"/api/contexts/contracts/source/read/{source['path']}"
    for known in (f'"{source["hash"]}"', f'"x", W/"{source["hash"]}"', "*"):
        assert call(server, "GET", path, **{"If-None-Match": known})[0] == 304


def test_old_packs_make_room_for_new_ones(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "KEPT", 2)
    tasks = [ended(server, call(server, "POST", "/api/contexts/empty/pack")[1]["task_id"]) for _ in range(3)]
    found = [call_status(server, f"/api/tasks/{task['id']}/files/read/empty.context.zip") for task in tasks]
    assert found == [404, 200, 200]


def call_status(server: LocalServer, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", path)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
def test_the_page_of_the_contract_works_under_its_strict_policy(server: LocalServer, tmp_path: Path) -> None:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    further = ["--disable-component-update", "--enable-logging=stderr", "--virtual-time-budget=15000", "--dump-dom"]
    command = ["chromium", f"--user-data-dir={tmp_path}", *options, *further, f"{server.url}/docs"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.stdout.count('class="opblock ') > 30
    assert "Content Security Policy" not in done.stderr


def test_the_root_tells_what_this_is_and_a_running_curate_asks_to_wait(
    server: LocalServer, kb: trivium.KnowledgeBase
) -> None:
    root = {"name": "trivium", "version": trivium.__version__, "docs": "/docs", "openapi": "/openapi.json"}
    assert call(server, "GET", "/") == (200, root)
    fresh = kb.create_context("fresh")
    fresh.add_bytes("tea.md", b"# Tea\n\nTea is hot.\n")
    go_on = threading.Event()
    task = kb.tasks.start(fresh._number, "curate", lambda report: {"waited": go_on.wait(30)})
    try:
        request = json.dumps({"ask": "x", "scope": ["fresh"]}).encode()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("POST", "/api/v0/query", request, {"Content-Type": "application/json"})
        response = connection.getresponse()
        error = json.loads(response.read())["error"]
        connection.close()
    finally:
        go_on.set()
    assert (response.status, response.headers["Retry-After"]) == (409, "2")
    assert task in error["message"]
    assert f"GET /api/v0/tasks/{task}" in error["hint"]
