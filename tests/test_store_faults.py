"""Real faults of disks, files and neighbours: each is named, none shows its bowels, and the store opens afterwards."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from trivium.errors import StoreError
from trivium.store import schema

NODE = 'UPSERT { CONCEPT { {type: "Domain", name: :name} SET ATTRIBUTES { n: :n, text: :text } } }'
COUNT = 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }'
STANDARD = 4
"""Domains of an empty store."""
BOWELS = ("Traceback", "apsw", "sqlite3.", "Error(", "SQLITE_", "None")


def put(kb: trivium.KnowledgeBase, name: str, n: int = 0, text: str = "") -> dict[str, Any]:
    return kb.execute_kip({"command": NODE, "parameters": {"name": name, "n": n, "text": text}})


def count(kb: trivium.KnowledgeBase) -> int:
    response = kb.execute_kip({"command": COUNT})
    assert "result" in response, response
    number: int = response["result"]
    return number - STANDARD


def well_told(message: str, hint: str | None) -> bool:
    """A sentence and a hint, without the words of a library."""
    text = f"{message} {hint}"
    return bool(message.strip()) and bool(hint and hint.strip()) and not any(word in text for word in BOWELS)


def assert_error(response: dict[str, Any], code: str, *words: str) -> None:
    assert "error" in response, response
    error = response["error"]
    assert error["code"] == code, error
    assert well_told(error["message"], error["hint"]), error
    for word in words:
        assert word in error["message"].lower(), error


def assert_refused(path: Path | str, *words: str, kind: type[Exception] = trivium.StoreError) -> trivium.StoreError:
    with pytest.raises(kind) as caught:
        trivium.open(str(path), timeout=2.0)
    assert isinstance(caught.value, trivium.StoreError)
    assert well_told(caught.value.message, caught.value.hint), (caught.value.message, caught.value.hint)
    for word in words:
        assert word in caught.value.message.lower(), caught.value.message
    return caught.value


def opened(path: Path | str) -> trivium.KnowledgeBase | None:
    """An open store, or None if it was refused as it should be."""
    try:
        return trivium.open(str(path), timeout=2.0)
    except trivium.StoreError as error:
        if not well_told(error.message, error.hint):
            raise AssertionError(f"not well told: {error.message!r}, {error.hint!r}") from error
        return None


def assert_sound(path: Path, nodes: int | None = None) -> None:
    with trivium.open(str(path), timeout=5.0) as kb:
        assert kb.doctor()["ok"], kb.doctor()["checks"]
        if nodes is not None:
            assert count(kb) == nodes
        assert "result" in put(kb, "afterwards")


# --- a full disk ----------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB, where the rights suffice to mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    done = subprocess.run([mount, "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path) -> None:
    """Use up what is left of a disk."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4_096)
    with contextlib.suppress(OSError), path.open("ab", buffering=0) as file:
        while True:
            file.write(b"\0")


def test_a_full_disk_fails_the_write_and_loses_nothing(small_disk: Path) -> None:
    path = small_disk / "memory.db"
    ballast = small_disk / "ballast"
    with trivium.open(str(path)) as kb:
        assert "result" in put(kb, "first")
        fill(ballast)
        written = 1
        for number in range(100):
            response = put(kb, f"n{number}", text="x" * 50_000)
            if "error" in response:
                break
            written += 1
        assert_error(response, "KIP_4003", "full")
        assert count(kb) == written
        assert_error(put(kb, "again", text="x" * 50_000), "KIP_4003", "full")
        ballast.unlink()
        assert "result" in put(kb, "after")
        assert count(kb) == written + 1
    assert_sound(path, written + 1)


def test_a_store_on_a_full_disk_opens_once_there_is_space(small_disk: Path) -> None:
    path = small_disk / "memory.db"
    with trivium.open(str(path)) as kb:
        put(kb, "first")
    ballast = small_disk / "ballast"
    fill(ballast)
    kb = opened(path)
    if kb is not None:
        with kb:
            assert count(kb) == 1
    ballast.unlink()
    assert_sound(path, 1)


def test_creating_a_store_on_a_full_disk_says_so(small_disk: Path) -> None:
    fill(small_disk / "ballast")
    path = small_disk / "memory.db"
    error = assert_refused(path)
    assert "full" in error.message.lower(), error.message
    (small_disk / "ballast").unlink()
    assert_sound(path, 0)


def test_a_backup_to_a_full_disk_says_so_and_can_be_repeated(small_disk: Path, tmp_path: Path) -> None:
    fill(small_disk / "ballast")
    copy = small_disk / "copy.db"
    with trivium.open(str(tmp_path / "memory.db")) as kb:
        put(kb, "first")
        with pytest.raises(trivium.StoreError) as caught:
            kb.backup(str(copy))
        assert well_told(caught.value.message, caught.value.hint)
        assert "full" in caught.value.message.lower(), caught.value.message
        (small_disk / "ballast").unlink()
        kb.backup(str(copy))
        assert "result" in put(kb, "second")
    assert_sound(copy, 1)


LIMITED = """
import json, resource, sys, trivium
path = sys.argv[1]
kb = trivium.open(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
command = sys.argv[2]
answers = []
for number in range(100):
    given = {"name": f"n{number}", "n": number, "text": "x" * 50_000}
    answers.append(kb.execute_kip({"command": command, "parameters": given}))
    if "error" in answers[-1]:
        break
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
given = {"name": "after", "n": 0, "text": "x"}
after = kb.execute_kip({"command": command, "parameters": given})
print(json.dumps([len(answers) - 1, answers[-1], after]))
kb.close()
"""


def test_a_file_that_may_not_grow_fails_the_write_and_loses_nothing(tmp_path: Path) -> None:
    import json

    path = tmp_path / "memory.db"
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path), NODE], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    written, failed, after = json.loads(done.stdout)
    assert_error(failed, "KIP_4003")
    assert "result" in after, after
    assert 5 < written < 100
    assert_sound(path, written + 1)


# --- read-only ------------------------------------------------------------------------------------


def _made(path: Path) -> Path:
    with trivium.open(str(path)) as kb:
        put(kb, "first")
    return path


def test_a_read_only_disk_is_named(small_disk: Path) -> None:
    path = _made(small_disk / "memory.db")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        assert_refused(path)
        with pytest.raises(StoreError, match="cannot be written to"):
            trivium.open(str(path))
        assert_refused(small_disk / "new.db")
        assert_refused(small_disk / "folder" / "new.db")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert_sound(path, 1)


@pytest.fixture
def unchangeable(tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """Makes files unchangeable even for root, where the file system knows how."""
    chattr = shutil.which("chattr")
    probe = tmp_path / "probe"
    probe.touch()
    if chattr is None or subprocess.run([chattr, "+i", str(probe)], capture_output=True).returncode:
        pytest.skip("chattr +i does not work here")
    subprocess.run([chattr, "-i", str(probe)], check=True)
    frozen: list[Path] = []

    def freeze(path: Path) -> None:
        subprocess.run([str(chattr), "+i", str(path)], check=True)
        frozen.append(path)

    yield freeze
    for path in frozen:
        subprocess.run([chattr, "-i", str(path)], check=True)


def test_an_unchangeable_file_is_named(tmp_path: Path, unchangeable: Callable[[Path], None]) -> None:
    path = _made(tmp_path / "memory.db")
    unchangeable(path)
    kb = opened(path)
    if kb is not None:  # for reading it will do
        with kb:
            assert count(kb) == 1
            assert_error(put(kb, "second"), "KIP_4003", "read-only")
    subprocess.run(["chattr", "-i", str(path)], check=True)
    assert_sound(path, 1)


OTHER_USER = """
import json, os, sys, trivium
from trivium.errors import StoreError
write = {"command": 'UPSERT { CONCEPT { {type: "Domain", name: "no"} } }'}
with trivium.open() as kb:  # what is imported when used must be there before this is another user
    kb.execute_kip(write)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
told = []
for path in sys.argv[1:]:
    try:
        kb = trivium.open(path, timeout=2.0)
    except StoreError as error:
        told.append([error.message, error.hint])
    else:
        told.append(kb.execute_kip(write))
        kb.close()
print(json.dumps(told))
"""


def test_files_and_folders_of_others_are_named(tmp_path: Path) -> None:
    import json

    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    for folder in [tmp_path, *tmp_path.parents]:
        with contextlib.suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | 0o111)
    path = _made(tmp_path / "closed" / "memory.db")
    foreign = _made(tmp_path / "open" / "memory.db")
    path.parent.chmod(0o755)
    path.chmod(0o644)
    foreign.parent.chmod(0o777)
    foreign.chmod(0o644)
    hidden = _made(tmp_path / "hidden" / "memory.db")
    hidden.parent.chmod(0o700)
    paths = [path, path.with_name("new.db"), foreign, hidden, path.parent / "sub" / "new.db"]
    done = subprocess.run(
        [sys.executable, "-c", OTHER_USER, *map(str, paths)], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    for place, told in zip(paths, json.loads(done.stdout), strict=True):
        if isinstance(told, dict):
            assert_error(told, "KIP_4003", "read-only")
        else:
            assert well_told(*told), (place, told)
    for file in (path, foreign, hidden):
        assert_sound(file, 1)


# --- files that are something else ----------------------------------------------------------------


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE concept(id INTEGER PRIMARY KEY, name TEXT)")
        other.execute("INSERT INTO concept VALUES (1, 'mine')")
        other.commit()
    before = path.read_bytes()
    assert_refused(path, "another program")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


def test_a_marked_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.gpkg"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA application_id = 0x47504B47")
        other.execute("PRAGMA user_version = 1")
    before = path.read_bytes()
    assert_refused(path, "another program")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"Dear diary,\n" * 500, b"xy", b"\x00" * 100, b"SQLite format 3\x00", b"PK\x03\x04" * 900]
)
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert_refused(path)
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    assert_sound(path, 0)


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    assert_refused(tmp_path)
    (tmp_path / "file").touch()
    assert_refused(tmp_path / "file" / "memory.db")
    assert_refused("/proc/nowhere/memory.db")


@pytest.mark.parametrize("name", ["a\0b.db", "", "x" * 300 + ".db", "with space ünï 東京 %20?mode=ro#x.db"])
def test_strange_paths_open_or_are_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        kb = opened(name)
    except ValueError:  # no path at all
        return
    if kb is None:
        return
    with kb:
        assert "result" in put(kb, "first")
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    error = assert_refused(path, "newer", kind=trivium.NewerStoreError)
    assert "upgrade" in str(error.hint).lower()
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA user_version").fetchone() == (schema.VERSION + 1,)
        other.execute(f"PRAGMA user_version = {schema.VERSION}")
    assert_sound(path, 1)


# --- damage ---------------------------------------------------------------------------------------


def _large(path: Path) -> Path:
    with trivium.open(str(path)) as kb:
        for number in range(60):
            assert "result" in put(kb, f"n{number}", number, f"text {number} " * 300)
    return path


@pytest.mark.parametrize("begin", [0, 20, 100, 4_096, 40_000, -20_000])
def test_an_overwritten_part_is_told_and_never_raised(tmp_path: Path, begin: int) -> None:
    path = _large(tmp_path / "memory.db")
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    with path.open("r+b") as file:
        file.seek(begin, os.SEEK_END if begin < 0 else os.SEEK_SET)
        file.write(bytes(range(1, 256)) * 40)
    kb = opened(path)
    if kb is not None:
        with kb:
            for command in (
                COUNT,
                "FIND(?s, ?p, ?o) WHERE { (?s, ?p, ?o) }",
                'FIND(?d) WHERE { ?d {type: "Domain"} }',
                'SEARCH CONCEPT "text"',
                "DESCRIBE PRIMER",
                'EXPORT ?d WHERE { ?d {type: "Domain"} }',
                'UPSERT { CONCEPT { {type: "Domain", name: "new"} } }',
                'UPDATE ?d SET ATTRIBUTES {n: 1} WHERE { ?d {type: "Domain"} FILTER(STARTS_WITH(?d.name, "n")) }',
            ):
                response = kb.execute_kip({"command": command})
                if "error" in response:
                    assert_error(response, "KIP_4003")
            report = kb.doctor()
            assert not report["ok"], "the damage was not found"
            assert all(check["detail"] for check in report["checks"])
            with contextlib.suppress(trivium.TriviumError):
                kb.backup(str(tmp_path / "backup.db"))
    assert_sound(copy, 60)


@pytest.mark.parametrize("left", [100, 4_096, 50_000])
def test_a_cut_file_is_told_and_never_raised(tmp_path: Path, left: int) -> None:
    path = _large(tmp_path / "memory.db")
    with path.open("r+b") as file:
        file.truncate(left)
    kb = opened(path)
    if kb is None:
        return
    with kb:
        for command in (COUNT, 'FIND(?d) WHERE { ?d {type: "Domain"} }', 'SEARCH CONCEPT "text"'):
            response = kb.execute_kip({"command": command})
            if "error" in response:
                assert_error(response, "KIP_4003")
        assert not kb.doctor()["ok"]


@pytest.mark.parametrize("junk", [b"", b"junk" * 5_000, b"\x37\x7f\x06\x82" + b"\0" * 40_000])
def test_a_foreign_log_beside_the_file_does_no_harm(tmp_path: Path, junk: bytes) -> None:
    path = _made(tmp_path / "memory.db")
    path.with_name("memory.db-wal").write_bytes(junk)
    assert_sound(path, 1)


# --- locks ----------------------------------------------------------------------------------------


HOLDER = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
other.execute("UPDATE concept SET version = version + 1000")
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held_lock(path: Path) -> Iterator[None]:
    """Another process has the write lock of a file and a change that is not committed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield
        finally:
            holder.communicate()


def test_a_lock_held_too_long_is_a_deadline_and_nothing_else(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    with trivium.open(str(path), timeout=0.5) as kb:
        with held_lock(path):
            for _ in range(2):
                assert_error(put(kb, "waits"), "KIP_4001", "lock")
            assert_error(
                kb.execute_kip({"command": 'DELETE CONCEPT ?d DETACH WHERE { ?d {name: "first"} }'}), "KIP_4001"
            )
            batch = kb.execute_kip({"commands": [NODE, COUNT], "parameters": {"name": "b", "n": 1, "text": ""}})
            assert_error(batch["result"][0], "KIP_4001")
            assert len(batch["result"]) == 1
            with pytest.raises(trivium.TriviumError) as caught:
                kb.create_context("other")
            assert well_told(caught.value.message, caught.value.hint)
        assert "result" in put(kb, "second")
        assert count(kb) == 2
        kb.create_context("other")
    assert_sound(path, 2)


def test_reading_and_opening_go_on_while_another_writes(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    versions = 'FIND(MAX(?d.metadata._version)) WHERE { ?d {type: "Domain"} }'
    with trivium.open(str(path), timeout=0.5) as kb, held_lock(path):
        for command in (
            COUNT,
            versions,
            'SEARCH CONCEPT "first"',
            "DESCRIBE PRIMER",
            'EXPORT ?d WHERE { ?d {type: "Domain"} }',
        ):
            assert "result" in kb.execute_kip({"command": command}), command
        assert kb.execute_kip({"command": versions})["result"] < 1_000
        assert kb.doctor()["ok"]
        kb.backup(str(tmp_path / "copy.db"))
        with trivium.open(str(path), timeout=0.5) as other:
            assert count(other) == 1
    assert_sound(tmp_path / "copy.db", 1)


def test_threads_that_wait_too_long_for_each_other_get_a_deadline(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    answers: list[dict[str, Any]] = []
    with trivium.open(str(path), timeout=0.5) as kb:
        with held_lock(path):
            threads = [threading.Thread(target=lambda: answers.append(put(kb, "waits"))) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(answers) == 6
        for answer in answers:
            assert_error(answer, "KIP_4001")
        assert "result" in put(kb, "second")


def test_a_long_write_never_blocks_readers(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    blocks = "".join(f'CONCEPT {{ {{type: "Domain", name: "w{n}"}} SET ATTRIBUTES {{n: {n}}} }}' for n in range(2_500))
    seen: list[Any] = []
    done = threading.Event()

    with trivium.open(str(path)) as kb, trivium.open(str(path)) as other:

        def read(reader: trivium.KnowledgeBase) -> None:
            last = False
            while not last:
                last = done.is_set()
                seen.append(reader.execute_kip({"command": COUNT}))

        readers = [threading.Thread(target=read, args=(reader,)) for reader in (kb, kb, other)]
        for thread in readers:
            thread.start()
        response = kb.execute_kip({"command": f"UPSERT {{ {blocks} }}"})
        done.set()
        for thread in readers:
            thread.join()
        assert "result" in response, response
    assert all("result" in answer for answer in seen)
    assert {answer["result"] - STANDARD for answer in seen} <= {1, 2_501}
    assert seen[-1]["result"] - STANDARD == 2_501


def test_a_read_that_is_stopped_tells_its_own_limit(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with trivium.open(_made(tmp_path / "memory.db")) as kb:
        with pytest.raises(trivium.KipError, match=r"within 0\.2 s") as caught, kb._store.read(timeout=0.2) as session:
            session.rows(endless)
        assert caught.value.code == "KIP_4001"
        end = time.monotonic() + 0.1
        with pytest.raises(trivium.KipError, match="within 30 s"), kb._store.read(deadline=end) as session:
            session.rows(endless)
        assert time.monotonic() < end + 5
        assert count(kb) == 1


def test_closing_while_others_use_it_ends_in_errors_not_in_exceptions(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    kb = trivium.open(str(path))
    begun = threading.Barrier(5)
    answers: list[Any] = []
    raised: list[BaseException] = []

    def use(number: int) -> None:
        begun.wait()
        try:
            for step in range(100_000):
                response = put(kb, f"t{number}", step) if number % 2 else kb.execute_kip({"command": COUNT})
                answers.append(response)
                if "error" in response:
                    break
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    while len(answers) < 40:
        pass
    try:
        kb.close()
    except BaseException as error:
        raised.append(error)
    for thread in threads:
        thread.join()
    assert raised == []
    for answer in answers:
        if "error" in answer:
            assert_error(answer, "KIP_4003", "closed")
    kb.close()
    assert_sound(path)


SLOW = (
    'FIND(COUNT(?a)) WHERE { ?a {type: "Domain"} ?b {type: "Domain"} ?c {type: "Domain"} FILTER(?a.name != ?b.name) }'
)
WIDE = (
    "UPSERT { "
    + "".join(f'CONCEPT {{ {{type: "Domain", name: "w{n}"}} SET ATTRIBUTES {{n: {n}}} }}' for n in range(2_500))
    + " }"
)


@pytest.mark.parametrize("place", ["file", "memory"])
@pytest.mark.parametrize("command", [SLOW, WIDE])
def test_closing_interrupts_what_runs_and_leaves_nothing_half_done(tmp_path: Path, place: str, command: str) -> None:
    path = tmp_path / "memory.db"
    answers: list[dict[str, Any]] = []
    with trivium.open(path if place == "file" else ":memory:") as kb:
        for number in range(0, 600, 100):
            blocks = "".join(f'CONCEPT {{ {{type: "Domain", name: "s{number + n}"}} }}' for n in range(100))
            assert "result" in kb.execute_kip({"command": f"UPSERT {{ {blocks} }}"})
        running = threading.Thread(target=lambda: answers.append(kb.execute_kip({"command": command})))
        running.start()
        time.sleep(0.05)
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    running.join(5)
    assert not running.is_alive()
    done = "result" in answers[0] and command == WIDE  # the last statement may have been through
    if not done:
        assert_error(answers[0], "KIP_4003", "closed")
    assert kb._store._opened == []
    if place == "file":
        assert sorted(file.name for file in tmp_path.iterdir()) == ["memory.db"], "a connection stayed open"
        assert_sound(path, 600 + (2_500 if done else 0))


def test_closing_wakes_those_who_wait_for_another_process(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    answers: list[dict[str, Any]] = []
    kb = trivium.open(path)
    with held_lock(path):
        threads = [threading.Thread(target=lambda: answers.append(put(kb, "waits"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        kb.close()
        for thread in threads:
            thread.join(5)
    assert len(answers) == 4
    for answer in answers:
        assert_error(answer, "KIP_4003", "closed")
    assert_sound(path, 1)


def test_closing_ends_a_backup_and_leaves_no_part_of_it(tmp_path: Path) -> None:
    path = _made(tmp_path / "memory.db")
    kb = trivium.open(path)
    caught: list[BaseException] = []
    asked = threading.Event()

    def work() -> None:
        asked.set()
        try:
            for number in range(10_000):
                kb.backup(tmp_path / f"copy-{number}.db")
                (tmp_path / f"copy-{number}.db").unlink()
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    asked.wait()
    time.sleep(0.05)
    kb.close()
    thread.join(10)
    assert isinstance(caught[0], trivium.KipError)
    assert "closed" in caught[0].message
    assert sorted(file.name for file in tmp_path.iterdir()) == ["memory.db"]


FORKED = """
import json, os, sys, trivium
kb = trivium.open(sys.argv[1])
command = 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }'
kb.execute_kip({"command": command})
inside, outside = os.pipe()
child = os.fork()
if child == 0:
    told = [kb.execute_kip({"command": command}), kb.explain_kip(command)["response"]]
    try:
        kb.create_context("other")
    except trivium.TriviumError as error:
        told.append({"error": {"message": error.message, "hint": error.hint}})
    kb.close()
    with trivium.open(sys.argv[1]) as own:
        told.append(own.execute_kip({"command": command}))
    os.write(outside, json.dumps(told).encode())
    sys.exit(0)
os.close(outside)
told = json.loads(os.fdopen(inside, "rb").read())
assert os.waitpid(child, 0)[1] == 0
told.append(kb.execute_kip({"command": command}))
print(json.dumps(told))
kb.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_is_told_to_open_the_file_anew(tmp_path: Path) -> None:
    import json

    path = _made(tmp_path / "memory.db")
    done = subprocess.run([sys.executable, "-c", FORKED, str(path)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    *refused, anew, parent = json.loads(done.stdout)
    for answer in refused:
        assert "forked" in answer["error"]["message"]
        assert "trivium.open" in answer["error"]["hint"]
    assert anew == parent == {"result": 1 + STANDARD}
    assert_sound(path, 1)


# --- many at once ---------------------------------------------------------------------------------


def _open_and_write(path: str, number: int, start: Any, results: Any) -> None:
    start.wait()
    try:
        with trivium.open(path) as kb:
            results.put((number, put(kb, f"p{number}")))
    except BaseException as error:
        results.put((number, {"error": repr(error)}))


@pytest.mark.slow
def test_sixteen_processes_make_one_new_store(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["trivium.base.knowledge_base"])
    path = tmp_path / "memory.db"
    start, results = context.Barrier(16), context.Queue()
    processes = [
        context.Process(target=_open_and_write, args=(str(path), number, start, results), daemon=True)
        for number in range(16)
    ]
    for process in processes:
        process.start()
    answers = [results.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert [answer for _, answer in answers if "result" not in answer] == []
    assert_sound(path, 16)


def test_threads_make_one_new_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    start = threading.Barrier(8)
    answers: list[Any] = []

    def work(number: int) -> None:
        start.wait()
        with trivium.open(str(path)) as kb:
            answers.append(put(kb, f"p{number}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all("result" in answer for answer in answers)
    assert_sound(path, 8)


# --- backups under load ---------------------------------------------------------------------------

PAIR = """
UPSERT {
  CONCEPT { {type: "Domain", name: "left"} SET ATTRIBUTES { n: :n } }
  CONCEPT { {type: "Domain", name: "right"} SET ATTRIBUTES { n: :n } }
}
"""


def _write_pairs(path: str, begun: Any, stop: Any) -> None:
    with trivium.open(path) as kb:
        number = 0
        while not stop.is_set():
            number += 1
            if "error" in kb.execute_kip({"command": PAIR, "parameters": {"n": number}}):
                os._exit(3)
            begun.set()


@pytest.mark.parametrize("megabytes", [0, pytest.param(24, marks=pytest.mark.slow)])
def test_a_backup_under_load_is_consistent_and_ends(tmp_path: Path, megabytes: int) -> None:
    path = tmp_path / "memory.db"
    context = multiprocessing.get_context("forkserver")
    begun, stop = context.Event(), context.Event()
    with trivium.open(str(path)) as kb:
        for number in range(megabytes * 5):
            assert "result" in put(kb, f"n{number}", text="x" * 180_000)
        writer = context.Process(target=_write_pairs, args=(str(path), begun, stop), daemon=True)
        writer.start()
        begun.wait(60)
        try:
            for number in range(3):
                taken = threading.Thread(target=kb.backup, args=(str(tmp_path / f"copy-{number}.db"),), daemon=True)
                taken.start()
                taken.join(30)
                endless = taken.is_alive()
                if endless:
                    stop.set()
                    taken.join(60)
                assert not endless, "the backup did not end while another process was writing"
        finally:
            stop.set()
            writer.join()
        assert writer.exitcode == 0
    for number in range(3):
        with trivium.open(str(tmp_path / f"copy-{number}.db")) as copy:
            assert copy.doctor()["ok"]
            answer = copy.execute_kip(
                {"command": 'FIND(?d.attributes.n) WHERE { ?d {type: "Domain"} FILTER(?d.attributes.n > 0) }'}
            )
            left, right = answer["result"]
            assert left == right
            assert count(copy) == megabytes * 5 + 2


@pytest.mark.parametrize("place", ["there.db", "folder", "missing/copy.db", "file/copy.db"])
def test_a_backup_that_cannot_be_written_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "there.db").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with trivium.open(str(tmp_path / "memory.db")) as kb:
        put(kb, "first")
        with pytest.raises(trivium.StoreError) as caught:
            kb.backup(str(tmp_path / place))
        assert well_told(caught.value.message, caught.value.hint), (caught.value.message, caught.value.hint)
        assert "result" in put(kb, "second")
    assert (tmp_path / "there.db").read_text() == "mine"


@pytest.mark.slow
def test_the_log_is_folded_into_the_file_while_in_use(tmp_path: Path) -> None:
    """A log that only grows makes every read and every start after a crash slower, and fills the disk."""
    path = tmp_path / "memory.db"
    with trivium.open(str(path)) as kb:
        for number in range(400):
            assert "result" in put(kb, f"n{number % 40}", number, f"{number} " * 8_000)
        for turn in range(300):  # the folding has a thread of its own: let it have its turn
            if path.stat().st_size > 100_000:
                break
            put(kb, "turn", turn)
            threading.Event().wait(0.02)
        log = path.with_name("memory.db-wal").stat().st_size
        assert path.stat().st_size > 100_000, f"nothing is in the file, {log:,} bytes are in the log"
    assert_sound(path)


def test_the_log_is_folded_without_waking_at_every_commit(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with trivium.open(path) as kb:
        folding = kb._store._checkpointer
        assert folding is not None
        woken = 0
        wake = folding._wanted.set

        def counted() -> None:
            nonlocal woken
            woken += 1
            wake()

        folding._wanted.set = counted  # type: ignore[method-assign]
        with kb._store.read() as session:  # a reader of an old snapshot: the log cannot begin anew
            session.rows("SELECT 1 FROM concept LIMIT 1")
            for number in range(40):
                put(kb, f"n{number}", number, f"{number} " * 30_000)
            log = path.with_name("memory.db-wal").stat().st_size // 4_096
            before = woken
            for number in range(200):
                put(kb, "small", number)
        assert log > 1_000
        assert before >= 1
        assert woken - before < 10
    assert_sound(path)


def test_what_the_last_writer_left_is_folded_in_quiet_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.store.checkpoints.QUIET_SECONDS", 0.05)
    path = tmp_path / "memory.db"
    with trivium.open(path) as kb:
        with kb._store.read() as session:
            session.rows("SELECT 1 FROM concept LIMIT 1")
            for number in range(60):
                put(kb, f"n{number}", number, f"{number} " * 30_000)
            time.sleep(0.3)
            size = path.stat().st_size
        for _ in range(100):
            if path.stat().st_size > size + 2_000_000:
                break
            time.sleep(0.05)
        assert path.stat().st_size > size + 2_000_000


def test_a_large_log_is_emptied_under_steady_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.store.checkpoints.CHECKPOINT_PAGES", 50)
    monkeypatch.setattr("trivium.store.checkpoints.LARGE_LOG", 500)
    path = tmp_path / "memory.db"
    stop = threading.Event()
    largest = 0
    with trivium.open(path) as kb:
        assert kb._store._checkpointer is not None

        def read(delay: float) -> None:
            time.sleep(delay)
            while not stop.is_set():
                with kb._store.read() as session:
                    session.rows("SELECT 1 FROM concept LIMIT 1")
                    time.sleep(0.02)

        readers = [threading.Thread(target=read, args=(number * 0.007,)) for number in range(3)]
        for thread in readers:
            thread.start()
        for number in range(1_500):
            kb._store._checkpointer._next_emptying = 0.0
            assert "result" in put(kb, f"n{number % 20}", number, f"{number} " * 500)
            largest = max(largest, path.with_name("memory.db-wal").stat().st_size // 4_096)
        stop.set()
        for thread in readers:
            thread.join()
    assert largest < 5_000, f"the log grew to {largest:,} pages"
    assert_sound(path)
