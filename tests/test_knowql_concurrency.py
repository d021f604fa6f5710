"""Many threads and several processes on one store: one turn at a time in a session, one end for each turn."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.knowql_models import ScriptedModels
from trivium.knowql.ending import RESTARTED, TERMINAL
from trivium.knowql.errors import QueryError
from trivium.store import turns as rows
from trivium.store import workers


def opened(path: Path, **settings: Any) -> trivium.KnowledgeBase:
    kb = trivium.open(str(path), embedder="none", **settings)
    kb.models = ScriptedModels()
    return kb


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with opened(tmp_path / "x.db", workers=16) as kb:
        kb.create_context("notes", kind="work")
        yield kb
        kb.models.composer.released.set()
        kb.turns.close(0)


def together(number: int, call: Callable[[int], Any]) -> list[Any]:
    """Call from so many threads at once; results and errors in the order of the threads."""
    results: list[Any] = [None] * number
    barrier = threading.Barrier(number)

    def work(place: int) -> None:
        barrier.wait()
        try:
            results[place] = call(place)
        except QueryError as error:
            results[place] = error.reason

    threads = [threading.Thread(target=work, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def test_of_many_turns_at_once_a_session_takes_one(kb: trivium.KnowledgeBase) -> None:
    session_id = kb.ask("x", scope=["notes"], vars={"script": {"sleep": 0.3}})["session_id"]
    for _ in range(5):
        results = together(12, lambda place: kb.ask(f"ask {place}", session_id=session_id))
        done = [result for result in results if isinstance(result, dict)]
        assert [document["status"] for document in done] == ["completed"]
        assert Counter(result for result in results if isinstance(result, str)) == {"query_in_progress": 11}
    queries = kb.turns.session(session_id)["queries"]
    assert [query["previous_query_id"] for query in queries] == [None, *(query["id"] for query in queries[:-1])]


def test_of_many_submissions_with_one_key_one_is_a_turn(kb: trivium.KnowledgeBase) -> None:
    document = {"ask": "x", "scope": ["notes"], "background": True}
    accepted = together(12, lambda place: kb.turns.submit(document, idempotency_key="k"))
    assert len({one.query_id for one in accepted}) == 1
    assert [one.replayed for one in accepted].count(False) == 1
    assert len(kb.turns.sessions()["sessions"]) == 1


def test_cancel_deadline_and_result_race_for_one_end(kb: trivium.KnowledgeBase) -> None:
    for attempt in range(15):
        script = {"sleep": attempt * 0.002, "pieces": ["a", "b"], "text": "ab"}
        document = {"ask": "x", "scope": ["notes"], "background": True, "vars": {"script": script}}
        query_id = kb.turns.submit(document).query_id
        results = together(4, lambda place: kb.turns.cancel(query_id))  # noqa: B023
        end = kb.turns.wait(query_id)
        assert results == [end] * 4
        kinds = [event[1] for event in kb.turns.events(query_id) if event]
        assert sum(kind in ("response.completed", "response.cancelled", "response.failed") for kind in kinds) == 1
        assert kinds[-1] == f"response.{end['status']}"


def test_the_pool_runs_no_more_turns_than_it_has_workers(tmp_path: Path) -> None:
    with opened(tmp_path / "y.db", workers=3) as kb:
        kb.create_context("notes", kind="work")
        running, most, mutex = [0], [0], threading.Lock()
        real = kb.models.composer.compose

        def compose(task: Any, progress: Any) -> Any:
            with mutex:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.02)
            try:
                return real(task, progress)
            finally:
                with mutex:
                    running[0] -= 1

        kb.models.composer.compose = compose
        document = {"ask": "x", "scope": ["notes"], "background": True}
        ids = [one.query_id for one in together(24, lambda place: kb.turns.submit(document))]
        assert {kb.turns.wait(query_id)["status"] for query_id in ids} == {"completed"}
        assert most[0] <= 3


def test_synchronous_turns_one_after_another_never_find_their_own_slot_taken(tmp_path: Path) -> None:
    with opened(tmp_path / "y.db", workers=1) as kb:
        kb.create_context("notes", kind="work")
        for _ in range(60):
            assert kb.ask("x", scope=["notes"], retrieval_only=True)["status"] == "completed"


def test_the_watch_leaves_turns_alone_that_are_just_being_created(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.knowql.engine.WATCH_SECONDS", 0.0005)
    results = together(4, lambda place: [kb.ask("x", scope=["notes"]) for _ in range(50)])
    assert {document["status"] for documents in results for document in documents} == {"completed"}


# --- several processes ----------------------------------------------------------------------------


def test_a_follower_in_another_process_hears_everything(tmp_path: Path, kb: trivium.KnowledgeBase) -> None:
    """Two knowledge bases on one file are as two processes to each other: they share nothing but the store."""
    with opened(tmp_path / "x.db") as other:
        script = {"text": "abcdef", "pieces": list("abcdef"), "between": 0.08}
        accepted = kb.turns.submit({"ask": "x", "scope": ["notes"], "stream": True, "vars": {"script": script}})
        there: list[Any] = []
        reader = threading.Thread(target=lambda: there.extend(filter(None, other.turns.stream(accepted.query_id))))
        reader.start()
        here = [event for event in kb.turns.stream(accepted.query_id) if event]
        reader.join(20)
        assert there == here
        assert other.turns.wait(accepted.query_id) == kb.turns.response(accepted.query_id)


def test_of_many_turns_from_two_processes_a_session_takes_one(tmp_path: Path, kb: trivium.KnowledgeBase) -> None:
    session_id = kb.ask("x", scope=["notes"], vars={"script": {"sleep": 0.2}})["session_id"]
    with opened(tmp_path / "x.db", workers=16) as other:
        for _ in range(5):
            results = together(12, lambda place: (kb, other)[place % 2].ask(f"ask {place}", session_id=session_id))
            done = [result for result in results if isinstance(result, dict)]
            assert [document["status"] for document in done] == ["completed"]
            assert Counter(result for result in results if isinstance(result, str)) == {"query_in_progress": 11}
    assert len(kb.turns.session(session_id)["queries"]) == 6


def test_a_turn_can_be_cancelled_from_another_process(tmp_path: Path, kb: trivium.KnowledgeBase) -> None:
    with opened(tmp_path / "x.db") as other:
        document = {"ask": "x", "scope": ["notes"], "background": True, "vars": {"script": {"hang": True}}}
        query_id = kb.turns.submit(document).query_id
        assert kb.models.composer.begun.wait(10)
        session_id = other.turns.response(query_id)["session_id"]
        with pytest.raises(QueryError, match="in progress"):
            other.turns.submit({"ask": "y", "session_id": session_id})
        assert other.turns.cancel(query_id)["status"] == "cancelled"
        begun = time.monotonic()
        while any(thread.name == f"trivium-{query_id}" for thread in threading.enumerate()):
            assert time.monotonic() - begun < 5, "the composer was not told"
            time.sleep(0.05)
        assert kb.ask("y", session_id=session_id, retrieval_only=True)["status"] == "completed"


def _hold(path: str, document: dict[str, Any], pipe: Any) -> None:
    kb = opened(Path(path))
    pipe.send(kb.turns.submit(document).query_id)
    time.sleep(60)


@pytest.fixture
def killed(tmp_path: Path, kb: trivium.KnowledgeBase) -> tuple[str, str]:
    """A turn in progress whose process was killed, and its session."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    document = {"ask": "x", "scope": ["notes"], "background": True, "vars": {"script": {"hang": True}}}
    process = context.Process(target=_hold, args=(str(tmp_path / "x.db"), document, theirs), daemon=True)
    process.start()
    assert mine.poll(30)
    query_id = mine.recv()
    found = kb.turns.response(query_id)
    assert found["status"] == "in_progress"
    process.kill()
    process.join()
    return query_id, found["session_id"]


LOOKS: dict[str, Callable[[Any, str, str], Any]] = {
    "get": lambda turns, query, session: turns.response(query),
    "wait": lambda turns, query, session: turns.wait(query, 10),
    "events": lambda turns, query, session: list(turns.events(query)),
    "session": lambda turns, query, session: turns.session(session),
    "session_queries": lambda turns, query, session: turns.session_queries(session),
    "sessions": lambda turns, query, session: turns.sessions(queries_active=True),
    "cancel": lambda turns, query, session: turns.cancel(query),
    "trace": lambda turns, query, session: turns.trace(query),
    "submit": lambda turns, query, session: turns.submit({"ask": "y", "session_id": session, "background": True}),
}


@pytest.mark.parametrize("look", LOOKS)
def test_whoever_looks_fails_a_turn_whose_process_is_gone(
    kb: trivium.KnowledgeBase, killed: tuple[str, str], look: str
) -> None:
    query_id, session_id = killed
    LOOKS[look](kb.turns, query_id, session_id)
    with kb._store.read() as session:
        row = rows.find_query(session, "default", query_id)
    assert row is not None
    assert (row.status, row.result["error"]) == ("failed", RESTARTED)
    kinds = [event[1] for event in kb.turns.events(query_id) if event]
    assert kinds[-2:] == ["response.trace", "response.failed"]
    assert kb.turns.response(query_id)["rollup"] is None


def test_opening_fails_turns_whose_process_is_gone(
    tmp_path: Path, kb: trivium.KnowledgeBase, killed: tuple[str, str]
) -> None:
    with opened(tmp_path / "x.db") as other:
        assert other.turns is not None
        with kb._store.read() as session:
            row = rows.find_query(session, "default", killed[0])
    assert row is not None
    assert row.status == "failed"


def test_a_worker_whose_lease_is_over_counts_as_gone(tmp_path: Path, kb: trivium.KnowledgeBase) -> None:
    """On another host nothing but the lease tells."""
    with opened(tmp_path / "x.db") as other:
        document = {"ask": "x", "scope": ["notes"], "background": True, "vars": {"script": {"hang": True}}}
        query_id = kb.turns.submit(document).query_id
        with kb._store.write() as session:
            session.execute("UPDATE worker SET host = 'elsewhere'")
        assert other.turns.response(query_id)["status"] == "in_progress"
        with kb._store.write() as session:
            session.execute("UPDATE worker SET lease_until = ?", (workers.now_ms() - 1,))
        assert other.turns.response(query_id)["error"] == RESTARTED
        assert kb.turns.wait(query_id, 5)["error"] == RESTARTED


def test_a_turn_of_this_process_that_nobody_runs_is_failed(kb: trivium.KnowledgeBase) -> None:
    document = {"ask": "x", "scope": ["notes"], "background": True, "vars": {"script": {"hang": True}}}
    query_id = kb.turns.submit(document).query_id
    kb.turns._engine.pool._running.clear()
    assert kb.turns.response(query_id)["error"] == RESTARTED


# --- a store that another process holds -----------------------------------------------------------

HELD = 2.5


def _occupy(path: str, seconds: float, pipe: Any) -> None:
    """Hold the file's one writer for so long."""
    import apsw

    connection = apsw.Connection(path)
    connection.set_busy_timeout(10_000)
    connection.execute("BEGIN IMMEDIATE")
    pipe.send(True)
    time.sleep(seconds)
    connection.execute("ROLLBACK")


@contextmanager
def held(path: Path, seconds: float = HELD) -> Iterator[None]:
    """Within the block, from its beginning on for so long, another process writes."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_occupy, args=(str(path), seconds, theirs), daemon=True)
    process.start()
    assert mine.poll(30)
    yield
    process.join()


def test_turns_stream_on_while_another_process_holds_the_store(tmp_path: Path) -> None:
    pieces = [f"piece {number} " for number in range(40)]
    script = {"pieces": pieces, "text": "".join(pieces), "between": 0.02, "steps": 2}
    document = {"ask": "x", "scope": ["notes"], "stream": True, "vars": {"script": script}}
    with opened(tmp_path / "z.db", workers=20) as kb:
        kb.create_context("notes", kind="work")
        composed: list[float] = []
        real = kb.models.composer.compose

        def compose(task: Any, progress: Any) -> Any:
            result = real(task, progress)
            composed.append(time.monotonic())
            return result

        kb.models.composer.compose = compose
        ids = [kb.turns.submit(document).query_id for _ in range(20)]
        with held(tmp_path / "z.db"):
            begun = time.monotonic()
            documents = [kb.turns.wait(query_id, 30) for query_id in ids]
        assert max(composed) < begun + HELD - 0.2, "a composer waited for the store"
        for query_id, ended in zip(ids, documents, strict=True):
            assert (ended["status"], ended["error"]) == ("completed", None)
            kinds = [event[1] for event in kb.turns.events(query_id) if event]
            assert sum(kind in TERMINAL for kind in kinds) == 1
            told = "".join(event[2]["delta"] for event in kb.turns.events(query_id) if event and "delta" in event[2])
            assert told == script["text"] == ended["output"][0]["content"][0]["text"]
            assert [step["step_id"] for step in ended["steps"]] == ["retrieval", "s0", "s1"]
            assert {step["status"] for step in ended["steps"]} == {"completed"}


def test_composers_stop_in_time_while_another_process_holds_the_store(tmp_path: Path) -> None:
    script = {"hang": True, "pieces": ["begun"], "text": "begun"}
    document = {"ask": "x", "scope": ["notes"], "background": True, "timeout_seconds": 1, "vars": {"script": script}}
    with opened(tmp_path / "z.db", workers=20) as kb:
        kb.create_context("notes", kind="work")
        stopped: list[float] = []
        real = kb.models.composer.compose

        def compose(task: Any, progress: Any) -> Any:
            try:
                return real(task, progress)
            finally:
                stopped.append(time.monotonic() - task.deadline)

        kb.models.composer.compose = compose
        ids = [kb.turns.submit(document).query_id for _ in range(20)]
        with held(tmp_path / "z.db"):
            documents = [kb.turns.wait(query_id, 30) for query_id in ids]
        assert {(one["status"], one["error"]) for one in documents} == {("failed", "timed out after 1s")}
        assert len(stopped) == 20
        assert max(stopped) < 1.0, "a composer was told late"
        for query_id in ids:
            kinds = [event[1] for event in kb.turns.events(query_id) if event]
            assert sum(kind in TERMINAL for kind in kinds) == 1
