"""A look at sizes and times says that an index is still true only where the fingerprint would (reference 2.5)."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.git_repository import GitRepository
from tests.why_repositories import Editor, make
from trivium import Context
from trivium.store import repository as kept
from trivium.why import build, glance, stored
from trivium.why.config import Config
from trivium.why.glance import Glance
from trivium.why.stored import IndexStaleError

OLD = 1_700_000_000_000_000_001


@pytest.fixture(autouse=True)
def neutral_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def place(tmp_path: Path) -> GitRepository:
    made = make(tmp_path / "work")
    made.write(".gitignore", "*.tmp\n")
    made.write("docs/gone.md", "# Gone\n")
    made.write("linked/a.md", "# A\n")
    made.commit("more", "docs/other.md")
    (made.root / "docs/gone.md").unlink()
    made.git("tag", "v0", "HEAD~1")
    made.write("trivium.toml", '[index.knowledgeEntities]\nsinceTag = "v0"\n')
    settle(made.root)
    return made


@pytest.fixture
def context(place: GitRepository, tmp_path: Path) -> Iterator[Context]:
    with trivium.open(str(tmp_path / "k.db")) as kb:
        made = kb.repository_context(place.root, create=True)
        made.index_repository(place.root)
        yield made


def settle(root: Path) -> None:
    """Let everything be old enough that its time tells whether it has changed."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in [*names, "."]:
            if not Path(folder, name).is_symlink():
                os.utime(Path(folder, name), ns=(OLD, OLD))


def seen(context: Context) -> Glance | None:
    with context.knowledge_base._store.read() as session:
        mark = kept.load_mark(session, context._number)
        assert mark is not None
        return stored._stored_glance(session, context._number, mark)


def by_glance(context: Context, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a look alone finds the index true."""
    with monkeypatch.context() as patch:
        patch.setattr(stored, "_check_closely", lambda *_: pytest.fail("looked closely"))
        try:
            context.check_index()
        except pytest.fail.Exception:
            return False
    return True


def test_after_a_build_a_look_is_enough(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_glance(context, monkeypatch)
    monkeypatch.setattr(stored, "survey", None)
    monkeypatch.setattr("builtins.open", None)
    context.check_index()
    with pytest.raises(TypeError):
        context.check_index(cache=False)


def link_file(place: GitRepository) -> None:
    file = place.root / "docs/other.md"
    file.rename(place.root.parent / "other.md")
    file.symlink_to(place.root.parent / "other.md")


def link_folder(place: GitRepository) -> None:
    """The same files with the same sizes and times, reached through a link."""
    folder = place.root / "linked"
    folder.rename(place.root.parent / "elsewhere")
    folder.symlink_to(place.root.parent / "elsewhere")


def replace_by_folder(place: GitRepository) -> None:
    (place.root / "docs/other.md").unlink()
    (place.root / "docs/other.md").mkdir()


def same_size(place: GitRepository) -> None:
    before = (place.root / "docs/guide.md").read_bytes()
    place.write("docs/guide.md", before.swapcase())


def same_time(place: GitRepository) -> None:
    place.write("docs/guide.md", "# Longer than before, and as old as it was, which does not hide it\n" * 9)
    settle(place.root)


def ignore(place: GitRepository) -> None:
    place.git("rm", "-q", "--cached", "docs/other.md")
    place.write(".git/info/exclude", "other.md\n")


STALE: dict[str, Callable[[GitRepository], object]] = {
    "edited": lambda place: place.write("docs/guide.md", "# Other\n"),
    "edited, same size": same_size,
    "edited, same time": same_time,
    "added": lambda place: place.write("docs/new.md"),
    "added where nothing reads": lambda place: place.write("deep/er/LICENSE"),
    "removed": lambda place: (place.root / "docs/guide.md").unlink(),
    "renamed": lambda place: (place.root / "docs/guide.md").rename(place.root / "docs/guides.md"),
    "come back": lambda place: place.write("docs/gone.md", "# Gone\n"),
    "a link now": link_file,
    "a linked folder now": link_folder,
    "a folder now": replace_by_folder,
    "ignored now": ignore,
    "not ignored any more": lambda place: (place.write("x.tmp"), place.write(".gitignore", "#tmp\n")),
    "committed": lambda place: place.commit("only history"),
    "tag moved": lambda place: place.git("tag", "-f", "v0", "HEAD"),
    "note edited": lambda place: place.write(".agent-memory/note.md", "Other note of Cache\n"),
    "note added": lambda place: place.write(".agent-memory/more.md", "A note of Cache\n"),
    "configured": lambda place: place.write("trivium.toml", '[safety]\nexclude = ["docs/other.md"]\n'),
    "repository inside": lambda place: GitRepository(place.root / "inner").commit("start", "a.md"),
}


@pytest.mark.parametrize("change", STALE)
def test_whatever_makes_an_index_stale_is_seen(
    place: GitRepository, context: Context, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    assert by_glance(context, monkeypatch)
    STALE[change](place)
    assert not by_glance(context, monkeypatch)
    for cache in (True, False, True):
        with pytest.raises(IndexStaleError):
            context.check_index(cache=cache)
    context.index_repository(place.root)
    context.check_index()


def touch_all(place: GitRepository) -> None:
    for file in place.root.rglob("*.*"):
        if file.is_file() and ".git" not in file.parts:
            os.utime(file, ns=(OLD + 9, OLD + 9))


FRESH: dict[str, Callable[[GitRepository], object]] = {
    "touched": lambda place: os.utime(place.root / "docs/guide.md", ns=(OLD + 9, OLD + 9)),
    "all touched": touch_all,
    "added to git": lambda place: place.git("add", "trivium.toml"),
    "ignored file": lambda place: place.write("docs/x.tmp"),
    "empty folder": lambda place: (place.root / "empty").mkdir(),
    "comment": lambda place: place.write("trivium.toml", '# ours\n[index.knowledgeEntities]\nsinceTag = "v0"\n'),
    "rights": lambda place: (place.root / "docs/guide.md").chmod(0o600),
}


@pytest.mark.parametrize("change", FRESH)
def test_whatever_changes_nothing_keeps_an_index_fresh(
    place: GitRepository, context: Context, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    FRESH[change](place)
    if (place.root / "trivium.toml").stat().st_mtime_ns != OLD:
        settle(place.root)
    context.check_index()
    assert by_glance(context, monkeypatch)  # be it that one closer look was needed


def test_looks_and_fingerprints_agree_after_many_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "work")
    editor = Editor(place, 11)
    with trivium.open(str(tmp_path / "k.db")) as kb:
        context = kb.repository_context(place.root, create=True)
        looks = 0
        for number in range(60):
            if number % 3 == 0:
                context.index_repository(place.root)
            editor.edit()
            try:
                context.check_index(cache=False)
                fresh = True
            except IndexStaleError:
                fresh = False
            looks += by_glance(context, monkeypatch)
            assert fresh or not by_glance(context, monkeypatch), editor.log
            try:
                context.check_index()
                assert fresh, editor.log
            except IndexStaleError:
                assert not fresh, editor.log
        assert looks


# --- where a look is not trusted ------------------------------------------------------------------


def test_a_file_written_a_moment_ago_is_looked_at_closely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "work")
    ahead = time.time_ns() + 10**12
    os.utime(place.root / "docs/guide.md", ns=(ahead, ahead))
    with trivium.open(str(tmp_path / "k.db")) as kb:
        context = kb.repository_context(place.root, create=True)
        context.index_repository(place.root)
        assert seen(context) is None
        context.check_index()
        assert not by_glance(context, monkeypatch)
        settle(place.root)
        context.check_index()
        assert by_glance(context, monkeypatch)


@pytest.mark.parametrize(
    "config", [Config(max_files=3), Config(max_bytes=300), Config(entities=True, max_files=5)], ids=str
)
def test_a_list_that_met_a_limit_is_looked_at_closely(place: GitRepository, tmp_path: Path, config: Config) -> None:
    with trivium.open(str(tmp_path / "l.db")) as kb:
        context = kb.repository_context(place.root, create=True)
        context.index_repository(place.root, config=config)
        context.check_index(config=config)
        assert seen(context) is None


def test_without_git_files_are_looked_at_closely(place: GitRepository, tmp_path: Path) -> None:
    shutil.rmtree(place.root / ".git")
    (place.root / "trivium.toml").unlink()
    with trivium.open(str(tmp_path / "l.db")) as kb:
        context = kb.repository_context(place.root, create=True)
        context.index_repository(place.root)
        context.check_index()
        assert seen(context) is None
        place.write("docs/new.md")
        with pytest.raises(IndexStaleError):
            context.check_index()


@pytest.mark.parametrize("damage", ["flipped", "cut", "gone", "other"])
def test_a_damaged_look_is_none(context: Context, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    with context.knowledge_base._store.write() as session:
        (value,) = session.row("SELECT value FROM repository_page WHERE part = 'glance'") or (b"",)
        bad = bytearray(value)
        bad[len(bad) // 2] ^= 4
        new = {"flipped": bytes(bad), "cut": value[:-9], "gone": b"", "other": value[:4] + b"\x90"}[damage]
        session.execute("UPDATE repository_page SET value = ? WHERE part = 'glance'", (new,))
    assert not by_glance(context, monkeypatch)
    context.check_index()
    assert by_glance(context, monkeypatch)


def test_other_versions_of_what_reads_files_are_looked_at_closely(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.why.state.READING_VERSION", "next")
    assert not by_glance(context, monkeypatch)
    with pytest.raises(IndexStaleError):
        context.check_index()


def test_an_index_with_files_that_another_python_could_not_parse_is_stale(
    place: GitRepository, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.why.state.PYTHON_GRAMMAR", "9.9")
    assert by_glance(context, monkeypatch)  # all of them parsed: no other version can tell more
    monkeypatch.undo()
    place.write("src/app/odd.py", "def f(:\n")
    settle(place.root)
    context.index_repository(place.root)
    assert by_glance(context, monkeypatch)
    monkeypatch.setattr("trivium.why.state.PYTHON_GRAMMAR", "9.9")
    assert not by_glance(context, monkeypatch)
    with pytest.raises(IndexStaleError):
        context.check_index()


@pytest.mark.parametrize(
    "change", ["edited", "added", "removed", "come back", "note added", "a folder now", "committed"]
)
def test_what_changes_while_an_index_is_built_makes_it_stale(
    place: GitRepository, context: Context, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    plain = build.entries.build_entries

    def late(*arguments: Any) -> Any:
        STALE[change](place)
        settle(place.root)
        return plain(*arguments)

    monkeypatch.setattr(build.entries, "build_entries", late)
    place.write("docs/first.md", "# First\n")
    settle(place.root)
    context.index_repository(place.root)
    monkeypatch.undo()
    for _ in range(2):
        with pytest.raises(IndexStaleError):
            context.check_index()


def test_a_look_is_not_kept_when_the_index_was_replaced_meanwhile(
    place: GitRepository, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = glance.take

    def late(*arguments: object) -> Glance | None:
        found = plain(*arguments)  # type: ignore[arg-type]
        monkeypatch.undo()
        place.write("docs/new.md")
        context.index_repository(place.root)
        return found

    os.utime(place.root / "docs/guide.md", ns=(OLD + 9, OLD + 9))
    monkeypatch.setattr(glance, "take", late)
    context.check_index()
    context.check_index()
    assert context.why("docs/new.md")["coverage"]
