"""Workers: who is at work, and how it is noticed that one is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import trivium
from trivium.store import workers
from trivium.store.workers import LEASE_MS, host_name, now_ms, process_started


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(tmp_path / "a.db") as opened:
        yield opened


def enter(kb: trivium.KnowledgeBase, id_: str, host: str, pid: int, started: str, lease: int) -> bool:
    """Whether a worker that is entered with these facts counts as alive."""
    with kb._store.write() as session:
        workers.register(session, id_, host, pid, started, lease)
        return workers.is_alive(session, id_, now_ms())


def test_a_worker_registers_when_it_is_asked_for_and_leaves_when_its_store_closes(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "a.db") as other:
        with trivium.open(tmp_path / "a.db") as kb:
            with other._store.read() as session:
                assert session.value("SELECT count(*) FROM worker") == 0
            id_ = kb.worker.id
            assert kb.worker.id == id_
            assert id_.startswith("wrk_")
            with other._store.read() as session:
                assert workers.is_alive(session, id_, now_ms())
                assert not workers.is_alive(session, id_, now_ms() + LEASE_MS + 1)
        with other._store.read() as session:
            assert not workers.is_alive(session, id_, now_ms())
            assert session.value("SELECT count(*) FROM worker") == 0


def test_a_lease_is_renewed_while_the_store_is_open(kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "RENEWAL_SECONDS", 0.01)
    id_ = kb.worker.id
    with kb._store.write() as session:
        workers.renew(session, id_, now_ms() - 1)
    for _ in range(200):
        time.sleep(0.01)
        with kb._store.read() as session:
            if workers.is_alive(session, id_, now_ms()):
                return
    pytest.fail("the lease was not renewed")


def test_a_worker_that_was_swept_by_mistake_enters_again(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "RENEWAL_SECONDS", 0.01)
    id_ = kb.worker.id
    with kb._store.write() as session:
        workers.leave(session, id_)
    for _ in range(200):
        time.sleep(0.01)
        with kb._store.read() as session:
            if workers.is_alive(session, id_, now_ms()):
                return
    pytest.fail("the worker did not enter again")


def test_what_tells_that_a_worker_is_gone(kb: trivium.KnowledgeBase) -> None:
    here, own, later = host_name(), os.getpid(), now_ms() + 60_000
    started = process_started(own)
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    assert enter(kb, "wrk_own", here, own, started, later)
    assert not enter(kb, "wrk_expired", here, own, started, now_ms() - 1)
    assert not enter(kb, "wrk_ended", here, int(ended.stdout), "1", later)
    assert enter(kb, "wrk_elsewhere", "another host", int(ended.stdout), "1", later)
    if started:
        assert not enter(kb, "wrk_of_an_older_process", here, own, started + "0", later)
    with kb._store.write() as session:
        assert not workers.is_alive(session, "wrk_unknown", now_ms())
        assert not workers.is_alive(session, None, now_ms())
        gone = set(workers.sweep(session, now_ms()))
        assert gone >= {"wrk_expired", "wrk_ended"}
        assert not gone & {"wrk_own", "wrk_elsewhere"}
