"""Kill services with SIGKILL while they run turns, and examine what they leave behind.

    python -m scripts.crash_ask --points 100
    python -m scripts.crash_ask --points 100 --http

A child process opens a file and asks on several threads: synchronous, streamed and background turns, turns that
continue and branch, cancels, deletions, with a scripted model that writes in pieces. It reports every turn that was
accepted and every document of a turn that has ended. The parent kills it at a random moment and opens the file again;
at some points it has had the file open all along, or a second child works on the same sessions and lives on. With
`--http` the child is the real HTTP server, and the parent asks it on several connections: what an answer or a frame has
told is what was acknowledged.

Every accepted turn must be there with exactly one end; a document that was seen must be there unchanged; the stored
events must tell one whole story; and every session must take a new turn. Prints a table; exits with 1 if not.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import trivium
from tests.knowql_models import ScriptedModels
from trivium.knowql.ending import RESTARTED
from trivium.knowql.errors import QueryError

POINTS_PER_FILE = 10
THREADS = 3
LONGEST_WAIT = 60.0
"""Seconds after which a child that says nothing counts as hung."""
TERMINAL = {"response.completed", "response.failed", "response.cancelled"}
SOURCE = "# Acme\n\n## Terms\n\nInvoices of Acme are payable net 30 days from receipt.\n"


# --- the child ------------------------------------------------------------------------------------


def child(path: str, seed: int, pipe: Connection, shared: list[str]) -> None:
    """Ask until killed."""
    mutex = threading.Lock()

    def tell(*message: Any) -> None:
        with mutex, suppress(BrokenPipeError):
            pipe.send(message)

    tell("open")
    kb = trivium.open(path, workers=THREADS, embedder="none")
    kb.models = ScriptedModels()
    threads = [
        threading.Thread(target=_ask, args=(kb, seed * 100 + n, tell, shared), daemon=True) for n in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    rng = random.Random(f"close {seed}")
    time.sleep(rng.uniform(0.5, 4.0))
    tell("close")
    kb.close()
    tell("closed")
    pipe.close()


def _ask(kb: trivium.KnowledgeBase, seed: int, tell: Any, shared: list[str]) -> None:
    rng = random.Random(f"ask {seed}")
    sessions: list[str] = list(shared)
    while True:
        try:
            _step(kb, rng, tell, sessions)
        except QueryError as error:
            if error.status == 503:
                return
            if error.reason not in ("query_in_progress", "workers_busy", "session_not_found", "query_not_found"):
                tell("fault", f"{error.reason}: {error.message}")
                return


def _document(rng: random.Random, sessions: list[str]) -> dict[str, Any]:
    """A question of one of the kinds."""
    pieces = [f"piece {number} " for number in range(rng.randint(1, 6))]
    script = {"text": "".join(pieces) + "[1]", "pieces": [*pieces, "[1]"], "between": rng.choice([0, 0.01, 0.06])}
    document: dict[str, Any] = {"ask": f"Acme terms {rng.random()}", "vars": {"script": script}}
    if sessions and rng.random() < 0.5:
        document["session_id"] = rng.choice(sessions)
    else:
        document["scope"] = ["contracts"]
    kind = rng.random()
    if kind < 0.3:
        document["retrieval_only"] = True
    elif kind < 0.7:
        document["background"] = True
    elif kind < 0.8:
        document["stream"] = True
    return document


def _step(kb: trivium.KnowledgeBase, rng: random.Random, tell: Any, sessions: list[str]) -> None:
    turns = kb.turns
    document = _document(rng, sessions)
    accepted = turns.submit(document)
    tell("accepted", accepted.query_id)
    if document.get("background") and rng.random() < 0.3:
        time.sleep(rng.random() * 0.05)
        found = turns.cancel(accepted.query_id)
    elif document.get("stream"):
        *_, last = turns.stream(accepted.query_id)
        found = last[2]
    elif document.get("background") and rng.random() < 0.5:
        return
    else:
        found = turns.wait(accepted.query_id, 20)
    if found["status"] == "in_progress":
        tell("fault", f"{accepted.query_id} did not end")
        return
    if found["error"] == RESTARTED:
        tell("fault", f"{accepted.query_id} was failed by another process, while its own lives")
    tell("ended", found)
    if rng.random() < 0.05 and found["session_id"] not in sessions:
        tell("deleting", found["session_id"])
        turns.delete_session(found["session_id"])
        tell("deleted", found["session_id"])
    elif len(sessions) < 6:
        sessions.append(found["session_id"])


# --- the child as a server, and its clients -------------------------------------------------------


def serving_child(path: str, seed: int, pipe: Connection, shared: list[str]) -> None:
    """Serve until killed; sometimes it is told to end before."""
    from trivium.doors.http.serve import serve

    kb = trivium.open(path, workers=THREADS, embedder="none")
    kb.models = ScriptedModels()
    rng = random.Random(f"close {seed}")
    timer = threading.Timer(rng.uniform(0.5, 4.0), os.kill, (os.getpid(), signal.SIGTERM))
    timer.daemon = True
    timer.start()
    with kb, suppress(BrokenPipeError):
        serve(kb, "127.0.0.1", 0, grace=rng.uniform(0, 1), access_log=False, ready=lambda url: pipe.send(("open", url)))
        pipe.send(("closed",))
    pipe.close()


class Client:
    """One connection's worth of requests at a time to a server that may die at any moment."""

    def __init__(self, url: str) -> None:
        self._address = url.removeprefix("http://")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The body of an answer. Raises: QueryError for one that is refused."""
        connection = http.client.HTTPConnection(self._address, timeout=LONGEST_WAIT)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, f"/api{path}", content, {"Content-Type": "application/json"})
            response = connection.getresponse()
            found = json.loads(response.read())
            if response.status >= 400:
                error = found["error"]
                raise QueryError(response.status, error["code"], error["reason"], error["message"])
            return found
        finally:
            connection.close()

    def stream(self, document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Kind and data of the frames of a streamed turn, each as it comes. Raises: QueryError."""
        connection = http.client.HTTPConnection(self._address, timeout=LONGEST_WAIT)
        try:
            connection.request("POST", "/api/query", json.dumps(document), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status >= 400:
                error = json.loads(response.read())["error"]
                raise QueryError(response.status, error["code"], error["reason"], error["message"])
            kind = ""
            for line in response:
                if line.startswith(b"event: "):
                    kind = line[7:-1].decode()
                elif line.startswith(b"data: "):
                    yield kind, json.loads(line[6:])
        finally:
            connection.close()


def _ask_over_http(url: str, seed: int, tell: Any, shared: list[str]) -> None:
    rng = random.Random(f"ask {seed}")
    client, sessions = Client(url), list(shared)
    while True:
        try:
            _step_over_http(client, rng, tell, sessions)
        except QueryError as error:
            if error.status == 503:
                return
            if error.reason not in ("query_in_progress", "workers_busy", "session_not_found", "query_not_found"):
                tell("fault", f"{error.reason}: {error.message}")
                return
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return  # the server is gone


def _step_over_http(client: Client, rng: random.Random, tell: Any, sessions: list[str]) -> None:
    document = _document(rng, sessions)
    found: Any = None
    if document.get("stream"):
        for kind, data in client.stream(document):
            if kind == "response.created":
                tell("accepted", data["query_id"])
            elif kind == "query":
                found = data
    else:
        found = client.call("POST", "/query", document)
        tell("accepted", found["id"])
        if document.get("background"):
            if rng.random() < 0.5:
                return
            action = ("POST", f"/queries/{found['id']}/cancel") if rng.random() < 0.3 else None
            time.sleep(rng.random() * 0.05)
            end = time.monotonic() + 20
            while found["status"] == "in_progress" and time.monotonic() < end:
                found = client.call(*(action or ("GET", f"/queries/{found['id']}")))
                time.sleep(0.01)
    if found is None:
        return  # the stream was cut
    if found["status"] == "in_progress":
        tell("fault", f"{found['id']} did not end")
        return
    if found["error"] == RESTARTED:
        tell("fault", f"{found['id']} was failed by another process, while its own lives")
    tell("ended", found)
    if rng.random() < 0.05 and found["session_id"] not in sessions:
        tell("deleting", found["session_id"])
        client.call("DELETE", f"/sessions/{found['session_id']}")
        tell("deleted", found["session_id"])
    elif len(sessions) < 6:
        sessions.append(found["session_id"])


# --- the parent -----------------------------------------------------------------------------------


@dataclass
class Figures:
    """What was seen in one run."""

    points: int = 0
    accepted: int = 0
    seen: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    changed: int = 0
    stories: int = 0
    slowest_open: float = 0.0
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.faults

    def table(self) -> str:
        rows = [
            ("points", self.points),
            ("turns accepted", self.accepted),
            ("of these seen to end before the kill", self.seen),
            *((f"ended as {name}", number) for name, number in sorted(self.ends.items())),
            ("lost", self.lost),
            ("changed after their end", self.changed),
            ("with events that tell no whole story", self.stories),
            ("slowest opening (s)", f"{self.slowest_open:.2f}"),
            ("seconds", f"{self.seconds:.0f}"),
        ]
        return "\n".join(f"| {name} | {value} |" for name, value in [("figure", "value"), ("---", "---"), *rows])


class Heard:
    """What children have told."""

    def __init__(self) -> None:
        self.accepted: set[str] = set()
        self.ended: dict[str, dict[str, Any]] = {}
        self.deleted: set[str] = set()
        self.faults: list[str] = []

    def hear(self, message: tuple[Any, ...]) -> None:
        word, *facts = message
        if word == "accepted":
            self.accepted.add(facts[0])
        elif word == "ended":
            self.ended[facts[0]["id"]] = facts[0]
        elif word == "deleting":
            self.deleted.add(facts[0])
        elif word == "fault":
            self.faults.append(facts[0])


class Harness:
    """One run: files that go through several kills each."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.rng = random.Random(f"crash ask {seed}")
        self.seed = seed
        self.figures = Figures()
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(
            ["trivium.base.knowledge_base", "tests.knowql_models", "trivium.knowql.service"]
        )

    def run(self, points: int) -> Figures:
        begin = time.perf_counter()
        path, heard = self.folder / "none", Heard()
        for point in range(points):
            if point % POINTS_PER_FILE == 0:
                path, heard = self.folder / f"{point}.db", Heard()
                _prepare(path)
            try:
                self.point(path, heard, point)
            except (AssertionError, trivium.TriviumError) as error:
                self.figures.faults.append(f"point {point}: {type(error).__name__}: {error}")
            self.figures.points += 1
        self.figures.seconds = time.perf_counter() - begin
        return self.figures

    def point(self, path: Path, heard: Heard, point: int) -> None:
        """Run one or two children, kill the first, examine the file; the second lives on and is asked to end."""
        before = set(heard.accepted)
        shared = sorted({document["session_id"] for document in heard.ended.values()} - heard.deleted)[:2]
        observer = trivium.open(str(path), embedder="none") if self.rng.random() < 0.3 else None
        if observer is not None:
            observer.models = ScriptedModels()
        two = self.rng.random() < 0.3
        try:
            first = self._start(path, point * 2, shared)
            second = self._start(path, point * 2 + 1, shared) if two else None
            self._until(first, heard, self.rng.random() * 2.5, observer)
            self._end(first)
            if second is not None:
                self._until(second, heard, 0.3, observer)
                self._end(second)
            for one in filter(None, (first, second)):
                with suppress(EOFError):
                    while one[1].poll(1):
                        heard.hear(one[1].recv())
            self.figures.accepted += len(heard.accepted - before)
            if observer is not None:
                self._examine(observer, heard, before)
            begin = time.perf_counter()
            with trivium.open(str(path), timeout=10.0, embedder="none") as kb:
                kb.models = ScriptedModels()
                assert kb.turns is not None
                self.figures.slowest_open = max(self.figures.slowest_open, time.perf_counter() - begin)
                self._examine(kb, heard, before, count=True)
                self._ask_again(kb, shared)
        finally:
            if observer is not None:
                observer.close()

    def _end(self, one: Any) -> None:
        """A child was killed: wait for it."""
        one[0].kill()
        one[0].join()

    def _start(self, path: Path, seed: int, shared: list[str]) -> Any:
        mine, theirs = self.context.Pipe(duplex=False)
        arguments = (str(path), self.seed * 1_000_003 + seed, theirs, shared)
        process = self.context.Process(target=child, args=arguments, daemon=True)
        process.start()
        theirs.close()
        return process, mine

    def _until(self, one: Any, heard: Heard, seconds: float, observer: trivium.KnowledgeBase | None) -> None:
        process, pipe = one
        assert pipe.poll(LONGEST_WAIT), "the child says nothing"
        end = time.monotonic() + seconds
        with suppress(EOFError):
            while (left := end - time.monotonic()) > 0 and process.is_alive():
                if pipe.poll(min(left, 0.05)):
                    heard.hear(pipe.recv())
                elif observer is not None:
                    observer.turns.sessions(queries_active=True)

    def _examine(self, kb: trivium.KnowledgeBase, heard: Heard, before: set[str], *, count: bool = False) -> None:
        assert not heard.faults, heard.faults
        for query_id in sorted(heard.accepted):
            try:
                document = kb.turns.response(query_id)
            except QueryError:
                known = heard.ended.get(query_id)
                if known is not None and known["session_id"] in heard.deleted:
                    continue
                self.figures.lost += 1
                raise AssertionError(f"{query_id} is lost") from None
            self._one_end(kb, document)
            seen = heard.ended.get(query_id)
            if seen is not None and seen != document:
                self.figures.changed += 1
                raise AssertionError(f"{query_id} changed: {seen} to {document}")
            if count and query_id not in before:
                self.figures.seen += seen is not None
                self.figures.ends["interrupted" if document["error"] == RESTARTED else document["status"]] += 1

    def _one_end(self, kb: trivium.KnowledgeBase, document: dict[str, Any]) -> None:
        """Whether the events of a turn tell one whole story, the one of its document."""
        events = [event for event in kb.turns.events(document["id"]) if event is not None]
        kinds = [kind for _, kind, _ in events]
        ends = [kind for kind in kinds if kind in TERMINAL]
        told = "".join(data["delta"] for _, kind, data in events if kind.endswith("delta"))
        text = "".join(part["text"] for item in document["output"] for part in item["content"])
        faults = [
            [number for number, _, _ in events] != list(range(1, len(events) + 1)) and "numbers",
            kinds[0] != "response.created" and "beginning",
            ends != [f"response.{document['status']}"] and "ends",
            kinds[-1:] != ends[-1:] and "something behind the end",
            document["status"] == "completed" and told != text and "deltas",
            document["status"] != "completed" and document["output"] != [] and "output",
            document["trace_ref"] is None and "trace",
        ]
        found = [fault for fault in faults if fault]
        if found:
            self.figures.stories += 1
            raise AssertionError(f"{document['id']} ({document['status']}): {', '.join(map(str, found))} in {kinds}")

    def _ask_again(self, kb: trivium.KnowledgeBase, sessions: list[str]) -> None:
        for session_id in sessions:
            document = kb.ask("Acme terms", session_id=session_id, retrieval_only=True)
            assert document["status"] == "completed", document["error"]


class HttpHarness(Harness):
    """The same with HTTP servers as children."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        self.context.set_forkserver_preload(["tests.knowql_models", "trivium.doors.http.serve"])
        self._mutex = threading.Lock()

    def _start(self, path: Path, seed: int, shared: list[str]) -> Any:
        mine, theirs = self.context.Pipe(duplex=False)
        number = self.seed * 1_000_003 + seed
        process = self.context.Process(target=serving_child, args=(str(path), number, theirs, shared), daemon=True)
        process.start()
        theirs.close()
        return process, mine, [], (number, shared)

    def _until(self, one: Any, heard: Heard, seconds: float, observer: trivium.KnowledgeBase | None) -> None:
        process, pipe, clients, (seed, shared) = one

        def tell(*message: Any) -> None:
            with self._mutex:
                heard.hear(message)

        if not clients:
            assert pipe.poll(LONGEST_WAIT), "the server says nothing"
            with suppress(EOFError):
                _, url = pipe.recv()
                for n in range(THREADS):
                    arguments = (url, seed * 100 + n, tell, shared)
                    clients.append(threading.Thread(target=_ask_over_http, args=arguments, daemon=True))
                    clients[-1].start()
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.is_alive():
            if observer is not None:
                observer.turns.sessions(queries_active=True)
            time.sleep(0.02)

    def _end(self, one: Any) -> None:
        super()._end(one)
        for client in one[2]:
            client.join(LONGEST_WAIT)
            assert not client.is_alive(), "a client hangs although its server is gone"


def _prepare(path: Path) -> None:
    with trivium.open(str(path), embedder="none") as kb:
        context = kb.create_context("contracts")
        context.add_bytes("acme.md", SOURCE.encode())
        context.curate()


def run(folder: Path, points: int, seed: int = 1, *, over_http: bool = False) -> Figures:
    """Kill services at `points` moments and give the figures."""
    return (HttpHarness if over_http else Harness)(folder, seed).run(points)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.crash_ask", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--points", type=int, default=100, help="kills (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the load and of the moments (default: 1)")
    parser.add_argument("--http", action="store_true", help="kill HTTP servers, and ask over HTTP")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="trivium-crash-ask-"))
    try:
        figures = run(folder, options.points, options.seed, over_http=options.http)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(figures.table())
    for fault in figures.faults:
        print(f"fault at {fault}")
    return 0 if figures.ok else 1


if __name__ == "__main__":
    from scripts import crash_ask  # under this name the children import it

    sys.exit(crash_ask.main())
