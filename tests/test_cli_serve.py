"""`trivium serve` as a process: its start, its end, and what it refuses to serve."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.cli_support import run
from tests.http_server import frames

pytestmark = pytest.mark.usefixtures("own_home")

PROGRAM = [sys.executable, "-c", "from tests.cli_support import heed_interrupts; heed_interrupts();"]
CLI = "from trivium.doors.cli import main; main()"
ROOT = Path(__file__).resolve().parents[1]


class Process:
    """A server process; `url` once it serves."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=_environment())
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        self.port = int(self.said.split("127.0.0.1:")[1].split()[0].split("/")[0])

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, path, content, {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read().decode()
            if response.getheader("Content-Type", "").startswith("text/event-stream"):
                return response.status, frames(text)
            return response.status, json.loads(text)
        finally:
            connection.close()

    def end(self, *signals: signal.Signals) -> int:
        for one in signals:
            self.process.send_signal(one)
            time.sleep(0.3)
        return self.process.wait(60)


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT), "TRIVIUM_EMBEDDER": "none"}


@contextmanager
def serving(*arguments: str) -> Iterator[Process]:
    """`trivium serve` on a free port."""
    code = PROGRAM[2] + CLI
    served = Process(sys.executable, "-c", code, "serve", "--port", "0", *arguments)
    try:
        yield served
    finally:
        served.process.kill()
        served.process.communicate()


@contextmanager
def scripted(grace: float, *, workers: int = 4) -> Iterator[Process]:
    """The same server with scripted models over test.db, which holds a context `notes`."""
    with trivium.open("test.db") as kb:
        context = kb.create_context("notes")
        context.add_bytes("tea.md", b"# Tea\n\nGreen tea is steeped at 70 degrees.\n")
        context.curate()
    served = Process(sys.executable, "-m", "tests.serve_scripted", "test.db", str(workers), str(grace))
    try:
        yield served
    finally:
        served.process.kill()
        served.process.communicate()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_end(sign: signal.Signals) -> None:
    with serving() as server:
        assert server.said.startswith("Trivium serves http://127.0.0.1:")
        assert server.call("GET", "/healthz")[0] == 200
        created = server.call("POST", "/api/v0/contexts", {"slug": "notes", "name": "Notes"})
        assert created[0] == 201
        assert server.end(sign) == 0
        left = server.process.stderr.read()  # type: ignore[union-attr]
    lines = [json.loads(line) for line in left.splitlines()]
    assert [(line["method"], line["status"]) for line in lines] == [("GET", 200), ("POST", 201)]
    assert "notes" not in left  # neither names in paths nor bodies are logged
    with trivium.open("test.db") as kb:
        assert [context.slug for context in kb.contexts()] == ["default", "notes"]
        with kb._store.read() as session:
            assert session.rows("SELECT * FROM worker") == []


def test_the_access_log_can_be_left_out() -> None:
    with serving("--no-access-log") as server:
        server.call("GET", "/healthz")
        assert server.end(signal.SIGTERM) == 0
        assert server.process.stderr.read() == ""  # type: ignore[union-attr]


def ask_in_background(server: Process, script: dict[str, Any], **fields: Any) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    document = {"ask": "green tea", "scope": ["notes"], "vars": {"script": script}, **fields}
    thread = threading.Thread(target=lambda: found.append(server.call("POST", "/api/query", document)))
    thread.start()
    time.sleep(0.5)
    return thread, found


def test_at_its_end_running_turns_finish_and_all_hear_of_it() -> None:
    script = {"pieces": ["Green ", "tea [1]."], "text": "Green tea [1].", "between": 0.6}
    with scripted(grace=20) as server:
        streamed, frames_ = ask_in_background(server, script, stream=True)
        waited, documents = ask_in_background(server, script)
        begun = time.monotonic()
        assert server.end(signal.SIGTERM) == 0
        assert time.monotonic() - begun < 15
        streamed.join()
        waited.join()
    assert frames_[0][1][-2]["event"] == "response.completed"
    assert frames_[0][1][-1]["data"]["status"] == "completed"
    assert documents[0][1]["status"] == "completed"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))


def test_turns_that_outlast_the_grace_fail_and_all_hear_of_it() -> None:
    with scripted(grace=0.5) as server:
        streamed, frames_ = ask_in_background(server, {"hang": True}, stream=True)
        waited, documents = ask_in_background(server, {"hang": "deaf"})
        assert server.end(signal.SIGTERM) == 0
        streamed.join()
        waited.join()
    assert frames_[0][1][-2]["event"] == "response.failed"
    assert frames_[0][1][-1]["data"]["error"] == "interrupted: the service stopped"
    assert documents[0][1]["status"] == "failed"
    query_id = documents[0][1]["id"]
    with trivium.open("test.db") as kb:
        assert kb.turns.response(query_id)["error"] == "interrupted: the service stopped"


def test_a_second_signal_ends_it_at_once() -> None:
    with scripted(grace=60) as server:
        thread, _ = ask_in_background(server, {"hang": True}, background=True)
        thread.join()
        begun = time.monotonic()
        assert server.end(signal.SIGINT, signal.SIGINT) == 0
        assert time.monotonic() - begun < 15


def test_an_address_that_others_reach_wants_to_be_said_twice() -> None:
    outcome = run("serve", "--host", "0.0.0.0", "--port", "0")
    assert outcome.code == 1
    assert "--insecure" in outcome.err
    assert run("serve", "--host", "example.invalid", "--port", "0").code == 1


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        outcome = run("serve", "--port", taken.getsockname()[1])
    assert outcome.code == 1
    assert "cannot be served" in outcome.err
    assert "--port" in outcome.err


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.doors.cli_serve.find_spec", lambda name: None)
    outcome = run("serve")
    assert outcome.code == 1
    assert "pip install 'trivium[server]'" in outcome.err


def test_further_names_can_be_allowed() -> None:
    with serving("--allow-host", "trivium.example") as server:
        for host, origin, status in (
            ("trivium.example", None, 200),
            ("trivium.example:443", "https://trivium.example", 200),
            ("127.0.0.1", "https://trivium.example", 200),
            ("evil.example", None, 403),
            ("trivium.example", "https://evil.example", 403),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            headers = {"Host": host, "Content-Type": "application/json"} | ({"Origin": origin} if origin else {})
            body = json.dumps({"method": "execute_kip", "params": {"command": "DESCRIBE PRIMER"}})
            connection.request("POST", "/kip", body, headers)
            assert connection.getresponse().status == status, (host, origin)
            connection.close()
