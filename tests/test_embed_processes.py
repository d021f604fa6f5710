"""The backlog in real processes, against a real endpoint: killed, at the same time, and with a model that changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.meaning_support import WordEmbedder, define, found, put
from trivium.search.embed_worker import BATCH
from trivium.store import vectors as stored

NOTES = 150
PROGRAM = [sys.executable, "-c", "from trivium.doors.cli import main; main()"]


class Endpoint(ThreadingHTTPServer):
    """An embeddings endpoint whose model, pace and health can be changed. It counts the texts that it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = WordEmbedder("first")
        self.pause = 0.0
        self.hangs = threading.Event()
        self.texts: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.server.texts += texts
        time.sleep(self.server.pause)
        while self.server.hangs.is_set():
            time.sleep(0.05)
        vectors = self.server.model.embed(texts)
        data = [{"index": place, "embedding": vector.tolist()} for place, vector in enumerate(vectors)]
        try:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": data}).encode())
        except OSError:
            pass

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.hangs.clear()
        server.shutdown()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with trivium.open(path, embedder="none") as kb:
        define(kb, "Note")
        for number in range(NOTES):
            put(kb, "Note", f"note {number}", description="pain" if number == 7 else f"thing {number}")
    return path


def opened(path: Path, endpoint: Endpoint) -> trivium.KnowledgeBase:
    kb = trivium.open(path, embedder=endpoint.url)
    kb.hold_embedding()
    return kb


def start(path: Path, endpoint: Endpoint, *arguments: str) -> subprocess.Popen[str]:
    command = [*PROGRAM, "--db", str(path), *(arguments or ("embed", "--json"))]
    environment = {**os.environ, "TRIVIUM_EMBEDDER": endpoint.url, "TRIVIUM_MODEL": "builtin/extractive"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, Any]:
    out, _ = process.communicate(timeout=60)
    return process.returncode, json.loads(out)


def vectors_in(path: Path) -> int:
    with trivium.open(path, embedder="none") as kb, kb._store.read() as session:
        return sum(stored.models(session).values())


def wait_for_vectors(path: Path) -> None:
    end = time.monotonic() + 30
    while not vectors_in(path):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_killed_run_loses_no_finished_batch_and_the_next_goes_on(path: Path, endpoint: Endpoint) -> None:
    endpoint.pause = 0.3
    process = start(path, endpoint)
    wait_for_vectors(path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    made = vectors_in(path)
    assert 0 < made < NOTES
    endpoint.pause = 0.0
    code, done = ended(start(path, endpoint))
    assert (code, done["backlog"]) == (0, 0)
    assert vectors_in(path) == made + done["embedded"]
    with opened(path, endpoint) as kb:
        assert kb.doctor()["ok"]
        assert "note 7" in found(kb, "headache", 'MODE "semantic"')


def test_of_two_runs_the_later_one_finishes_the_work(path: Path, endpoint: Endpoint) -> None:
    endpoint.pause = 0.5
    first = start(path, endpoint)
    wait_for_vectors(path)
    code, done = ended(start(path, endpoint))
    assert (code, done["backlog"]) == (0, 0)
    code, error = ended(first)
    assert code == 1
    assert "Another process has taken the work over" in error["error"]["message"]
    with opened(path, endpoint) as kb:
        assert kb.doctor()["ok"]


@pytest.mark.parametrize("dimensions", [64, 96])
def test_another_model_under_the_same_name_is_noticed_before_anything_is_mixed(
    path: Path, endpoint: Endpoint, dimensions: int
) -> None:
    assert ended(start(path, endpoint))[0] == 0
    endpoint.model = WordEmbedder("second", dimensions=dimensions)
    with opened(path, endpoint) as kb:
        assert next(iter(found(kb, "note 7"))) == "note 7"
        assert "no longer the model" in str(kb.doctor()["capabilities"]["embedder_fault"])
        put(kb, "Note", "new")
    code, error = ended(start(path, endpoint))
    assert code == 1
    assert "embed --prune" in error["error"]["hint"]
    code, done = ended(start(path, endpoint, "embed", "--prune", "--json"))
    assert (code, done["backlog"]) == (0, 0)
    assert done["embedded"] == vectors_in(path)
    with opened(path, endpoint) as kb:
        assert "note 7" in found(kb, "headache", 'MODE "semantic"')
        assert "embedder_fault" not in kb.doctor()["capabilities"]


def test_a_model_that_changes_while_a_process_runs_is_noticed_after_the_fault(path: Path, endpoint: Endpoint) -> None:
    assert ended(start(path, endpoint))[0] == 0
    with opened(path, endpoint) as kb:
        assert "note 7" in found(kb, "headache", 'MODE "semantic"')
        endpoint.model = WordEmbedder("second", dimensions=96)
        assert found(kb, "a new question") is not None
        assert "96 dimensions, after 64" in str(kb.doctor()["capabilities"]["embedder_fault"])
        kb.meaning._silent_until = 0.0
        assert found(kb, "another question") is not None
        assert "no longer the model" in str(kb.doctor()["capabilities"]["embedder_fault"])


@pytest.mark.slow
def test_a_question_to_a_store_whose_endpoint_hangs_is_answered_by_words(path: Path, endpoint: Endpoint) -> None:
    assert ended(start(path, endpoint))[0] == 0
    endpoint.hangs.set()
    began = time.monotonic()
    code, hits = ended(start(path, endpoint, "kip", "--json", 'SEARCH CONCEPT "note 7" LIMIT 1'))
    assert (code, hits["result"][0]["name"]) == (0, "note 7")
    assert time.monotonic() - began < 40


def test_the_background_of_one_process_leaves_the_work_to_another(path: Path, endpoint: Endpoint) -> None:
    endpoint.pause = 0.2
    with trivium.open(path, embedder=endpoint.url) as kb:
        kb.start_embedding()
        wait_for_vectors(path)
        code, done = ended(start(path, endpoint))
        assert (code, done["backlog"]) == (0, 0)
        assert kb.doctor()["ok"]
    again = len(endpoint.texts) - len(set(endpoint.texts))
    assert again <= 2 * BATCH + 10  # the first texts of all, and the batch that was under way
