"""Freshness (reference 2.5 and the freshness row of 17) and watching (reference 11)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.git_repository import GitRepository
from trivium.why import fingerprint as module
from trivium.why.config import Config, load_config
from trivium.why.discover import discover
from trivium.why.fingerprint import FileHashes, fingerprint
from trivium.why.model import File
from trivium.why.watch import watch

ENTITIES = Config(entities=True)


@pytest.fixture(autouse=True)
def neutral_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    place = GitRepository(tmp_path / "work")
    place.commit("start", "a.md", "src/b.py")
    settle(place.root)
    return place


def settle(root: Path) -> None:
    """Let the files be old enough for their hashes to be kept."""
    for file in root.rglob("*"):
        if file.is_file() and ".git" not in file.parts:
            os.utime(file, ns=(1_700_000_000_000_000_001, 1_700_000_000_000_000_001))


def mark(place: GitRepository, config: Config = ENTITIES, hashes: FileHashes | None = None, **options: Any) -> str:
    options.setdefault("versions", {"symbols": "1"})
    found = discover(place.root, config)
    return fingerprint(place.root, config, found, hashes=hashes or FileHashes(), **options)


# --- what makes an index stale --------------------------------------------------------------------


def edit(place: GitRepository) -> None:
    place.write("a.md", "edited\n")


def add(place: GitRepository) -> None:
    place.write("new.md")


def add_empty(place: GitRepository) -> None:
    place.write("Makefile", "")


def remove(place: GitRepository) -> None:
    (place.root / "a.md").unlink()


def rename(place: GitRepository) -> None:
    (place.root / "a.md").rename(place.root / "A.md")


def ignore(place: GitRepository) -> None:
    place.write(".git/info/exclude", "extra.md\n")


def commit_only(place: GitRepository) -> None:
    place.commit("history only")


def amend(place: GitRepository) -> None:
    place.git("commit", "-q", "--amend", "-m", "other words")


def note(place: GitRepository) -> None:
    place.write(".agent-memory/n.md", "edited note\n")


@pytest.mark.parametrize(
    "change", [edit, add, add_empty, remove, rename, ignore, commit_only, amend, note], ids=lambda item: item.__name__
)
def test_a_change_of_files_history_or_notes_makes_the_index_stale(
    repository: GitRepository, change: Callable[[GitRepository], None]
) -> None:
    repository.write(".gitignore", ".agent-memory/\n")
    repository.write(".agent-memory/n.md", "note\n")
    repository.write("extra.md")
    hashes = FileHashes()
    before = mark(repository, hashes=hashes)
    assert mark(repository, hashes=hashes) == before
    change(repository)
    assert mark(repository, hashes=hashes) != before
    assert mark(repository, hashes=hashes) == mark(repository)


def test_without_entities_history_and_notes_do_not_count(repository: GitRepository) -> None:
    before = mark(repository, Config())
    repository.write(".git/info/exclude", ".agent-memory/\n")
    note(repository)
    commit_only(repository)
    assert mark(repository, Config()) == before
    edit(repository)
    assert mark(repository, Config()) != before


def test_a_moved_tag_makes_the_index_stale_and_a_tag_remade_on_its_commit_does_not(
    repository: GitRepository,
) -> None:
    repository.git("tag", "v1")
    repository.commit("more")
    config = Config(entities=True, since_tag="v1")
    before = mark(repository, config)
    repository.git("tag", "-f", "-a", "-m", "annotated", "v1", "HEAD~1")
    assert mark(repository, config) == before
    repository.git("tag", "-f", "v1", "HEAD")
    assert mark(repository, config) != before


def test_edited_configuration_and_new_analysers_make_the_index_stale(repository: GitRepository) -> None:
    file = repository.write("../trivium.toml", "[index.knowledgeEntities]\nenabled = true\n")
    before = mark(repository, load_config(repository.root, file))
    file.write_text("# a comment\n[index.knowledgeEntities]\nenabled = true\n")
    assert mark(repository, load_config(repository.root, file)) == before
    file.write_text("[index.knowledgeEntities]\nenabled = true\nmaxCommits = 9\n")
    assert mark(repository, load_config(repository.root, file)) != before
    assert mark(repository, load_config(repository.root, file), versions={"symbols": "2"}) != before


def test_unshallowing_makes_the_index_stale(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit("more", "a.md")
    GitRepository(tmp_path, start=False).git("clone", "-q", "--depth", "1", f"file://{repository.root}", "clone")
    clone = GitRepository(tmp_path / "clone", start=False)
    before = mark(clone)
    clone.git("fetch", "-q", "--unshallow")
    assert mark(clone) != before


def test_a_clone_elsewhere_has_the_same_fingerprint(repository: GitRepository, tmp_path: Path) -> None:
    GitRepository(tmp_path, start=False).git("clone", "-q", str(repository.root), "clone")
    assert mark(GitRepository(tmp_path / "clone", start=False)) == mark(repository)


def test_a_new_time_alone_changes_nothing(repository: GitRepository) -> None:
    hashes = FileHashes()
    before = mark(repository, hashes=hashes)
    os.utime(repository.root / "a.md")
    assert mark(repository, hashes=hashes) == before


def test_of_files_that_no_analyser_reads_only_the_name_counts(repository: GitRepository) -> None:
    def is_document(path: str) -> bool:
        return path.endswith(".md")

    before = mark(repository, content=is_document)
    repository.write("src/b.py", "edited\n")
    assert mark(repository, content=is_document) == before
    repository.write("src/c.py")
    assert mark(repository, content=is_document) != before


# --- the cache of hashes --------------------------------------------------------------------------


def test_unchanged_files_are_not_read_again_and_head_needs_no_process(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = FileHashes()
    before = mark(repository, hashes=hashes)
    found = discover(repository.root, ENTITIES)
    stored = FileHashes.from_json(hashes.to_json())
    monkeypatch.setattr(module, "read_bytes", None)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert fingerprint(repository.root, ENTITIES, found, versions={"symbols": "1"}, hashes=stored) == before


def test_an_empty_cache_rereads_files_whose_size_and_time_were_kept_by_an_edit(repository: GitRepository) -> None:
    hashes = FileHashes()
    before = mark(repository, hashes=hashes)
    size = (repository.root / "a.md").stat().st_size
    repository.write("a.md", "y" * size)
    settle(repository.root)
    assert mark(repository, hashes=hashes) == before
    assert mark(repository) != before


def test_the_hash_of_a_file_modified_a_moment_ago_is_not_kept() -> None:
    now = 1_700_000_000_123_456_789
    for mtime, kept in (
        (now - 10**9, True),
        (now - 10**7, False),
        (now + 10**12, False),
        (1_700_000_000 * 10**9, False),
    ):
        hashes = FileHashes()
        hashes.record(File("a", 1, mtime), b"x", now_ns=now)
        assert (hashes.known(File("a", 1, mtime)) is not None) == kept
        assert hashes.known(File("a", 2, mtime)) is None


def test_a_damaged_cache_is_an_empty_one_and_gone_files_are_forgotten() -> None:
    for data in (b"", b"{", b"[]", b'{"entries":{"a":[1,2]}}', b"\xff"):
        assert FileHashes.from_json(data) == FileHashes()
    hashes = FileHashes({"a": (1, 2, "x"), "b": (1, 2, "y")})
    hashes.keep_only(["b", "c"])
    assert hashes.entries == {"b": (1, 2, "y")}


def test_a_file_that_cannot_be_read_has_a_fingerprint_too(repository: GitRepository) -> None:
    found = discover(repository.root, Config())
    remove(repository)
    gone = fingerprint(repository.root, Config(), found, versions={}, hashes=FileHashes())
    assert len(gone) == 64


# --- watching -------------------------------------------------------------------------------------


class Watched:
    """A watch in a thread; `calls` are the moments of its calls."""

    def __init__(self, root: Path, config: Config, answer: Config | None = None) -> None:
        self.calls: list[float] = []
        self.stop = Event()
        self.answer = answer
        self.thread = Thread(
            target=watch, args=(root, config, self.called), kwargs={"stop": self.stop, "interval": 0.03}
        )

    def called(self) -> Config | None:
        self.calls.append(time.monotonic())
        return self.answer

    def __enter__(self) -> Watched:
        self.thread.start()
        time.sleep(0.15)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join(5)
        assert not self.thread.is_alive()

    def wait(self, count: int) -> None:
        end = time.monotonic() + 5
        while len(self.calls) < count and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.15)
        assert len(self.calls) == count


def test_watching_calls_once_for_a_burst_and_again_for_history_and_configuration(repository: GitRepository) -> None:
    file = repository.write("../own.toml", "[index.knowledgeEntities]\nenabled = true\n")
    with Watched(repository.root, load_config(repository.root, file)) as watched:
        watched.wait(0)
        for number in range(5):
            repository.write(f"burst{number}.md")
        watched.wait(1)
        repository.commit("history")
        watched.wait(2)
        file.write_text("[index.knowledgeEntities]\nenabled = false\n# longer\n")
        watched.wait(3)


def test_watching_goes_on_with_a_new_configuration(repository: GitRepository) -> None:
    with Watched(repository.root, Config(), Config(exclude=("*.tmp",))) as watched:
        repository.write("a.tmp")
        watched.wait(1)
        repository.write("b.tmp")
        watched.wait(1)
        repository.write("b.md")
        watched.wait(2)


def test_an_error_of_the_callback_ends_the_watch(repository: GitRepository) -> None:
    def fail() -> None:
        raise LookupError("stop here")

    Thread(target=lambda: (time.sleep(0.15), repository.write("new.md"))).start()
    with pytest.raises(LookupError):
        watch(repository.root, Config(), fail, stop=Event(), interval=0.03)
