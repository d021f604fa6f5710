"""A file of an older version becomes one of this version: whole or not at all, with a copy of it kept."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import trivium
from trivium.store import migration, schema

OLD = 3
NODE = 'UPSERT { CONCEPT { {type: "Domain", name: :name} } }'


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file as version 3 left it, with something in it."""
    path = tmp_path / "memory.db"
    with trivium.open(path) as kb:
        add(kb, "kept")
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.executescript(
            "DROP TRIGGER repository_leaves_no_page; DROP TABLE repository_page;"
            f"PRAGMA user_version = {OLD}; PRAGMA journal_mode = DELETE"
        )
    return path


def add(kb: trivium.KnowledgeBase, name: str) -> None:
    response = kb.execute_kip({"command": NODE, "parameters": {"name": name}})
    assert "result" in response, response


def version(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as other:
        return int(other.execute("PRAGMA user_version").fetchone()[0])


def holds(path: Path, name: str) -> bool:
    with contextlib.closing(sqlite3.connect(path)) as other:
        return bool(other.execute("SELECT count(*) FROM concept WHERE name = ?", (name,)).fetchone()[0])


def assert_upgraded(path: Path, *copies: str) -> None:
    with trivium.open(path) as kb:
        assert kb.doctor()["ok"]
    assert version(path) == schema.VERSION
    assert holds(path, "kept")
    found = sorted(file.name for file in path.parent.iterdir() if "backup" in file.name)
    assert found == sorted(copies)
    for copy in copies:
        assert version(path.with_name(copy)) == OLD


def test_an_upgrade_leaves_one_copy_of_the_old_file(old: Path) -> None:
    for _ in range(2):
        assert_upgraded(old, "memory.db.v3.backup")
    assert holds(old.with_name("memory.db.v3.backup"), "kept")


@pytest.mark.parametrize("times", [1, 3])
def test_an_upgrade_that_was_cut_short_after_its_backup_goes_through(
    old: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    steps = (*schema.MIGRATIONS[:OLD], "CREATE TABLE half(a); SELECT no_such_function()")
    for _ in range(times):
        with monkeypatch.context() as patch:
            patch.setattr(schema, "MIGRATIONS", steps)
            with pytest.raises(trivium.TriviumError):
                trivium.open(old)
        assert version(old) == OLD
    assert_upgraded(old, "memory.db.v3.backup")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("place", ["copied", "kept"])
def test_an_upgrade_that_was_killed_goes_through(old: Path, place: str) -> None:
    """Killed with a half copy, or right after the copy was made."""
    code = (
        "import os, signal, sys\nimport trivium\nfrom pathlib import Path\nfrom trivium.store import migration\n"
        "keep = migration._keep_old\n"
        "def die(*_):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "def copied(place, copy):\n    copy(f'{place}.part')\n    os.truncate(f'{place}.part', 8192)\n    die()\n"
        "def kept(place, copy):\n    keep(place, copy)\n    die()\n"
        f"migration._keep_old = {place}\ntrivium.open(sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(old)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert_upgraded(old, "memory.db.v3.backup")


def test_a_copy_of_other_content_is_never_replaced(old: Path) -> None:
    """Who went back to an older file, or put another one in its place, keeps every copy."""
    saved = old.with_name("saved.db")
    shutil.copy(old, saved)
    assert_upgraded(old, "memory.db.v3.backup")
    first = old.with_name("memory.db.v3.backup").read_bytes()
    shutil.copy(saved, old)
    with contextlib.closing(sqlite3.connect(old)) as other, other:
        other.execute("UPDATE concept SET name = 'renamed' WHERE name = 'Insight' AND type = 'Domain'")
        other.execute("CREATE TABLE more(a)")
    with trivium.open(old):
        pass
    assert old.with_name("memory.db.v3.backup").read_bytes() == first
    assert version(old.with_name("memory.db.v3.backup.2")) == OLD


def _open(path: str, barrier: object, answers: object) -> None:
    barrier.wait()  # type: ignore[attr-defined]
    try:
        with trivium.open(path) as kb:
            answers.put(kb.doctor()["ok"])  # type: ignore[attr-defined]
    except Exception as error:  # told to the parent
        answers.put(repr(error))  # type: ignore[attr-defined]


def test_processes_that_open_an_old_file_at_once_all_get_it(old: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    barrier, answers = spawn.Barrier(4), spawn.Queue()
    workers = [spawn.Process(target=_open, args=(str(old), barrier, answers)) for _ in range(4)]
    for worker in workers:
        worker.start()
    assert [answers.get(timeout=60) for _ in workers] == [True] * 4
    for worker in workers:
        worker.join()
    assert_upgraded(old, "memory.db.v3.backup")


def test_an_upgrade_may_take_longer_than_a_command(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) FROM n;"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:OLD], slow + schema.MIGRATIONS[OLD]))
    with trivium.open(old, timeout=0.1):
        pass
    assert_upgraded(old, "memory.db.v3.backup")


def test_a_full_disk_while_the_copy_is_made_leaves_the_old_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(place: str, copy: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(migration, "_keep_old", full)
        with pytest.raises(trivium.StoreError, match="No space left"):
            trivium.open(old)
    assert version(old) == OLD
    assert_upgraded(old, "memory.db.v3.backup")
