"""A first build that is cut short, or that others do at the same time, ends with one context for the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import trivium
from tests.git_repository import GitRepository
from trivium.why.git import BareRepositoryError
from trivium.why.stored import IndexMissingError

PROGRAM = [sys.executable, "-c", "from trivium.doors.program import main; main()", "index"]
CUT_SHORT = """
import os, sys
import trivium.why.build
trivium.why.build.build = lambda *arguments, **options: os._exit(9)
from trivium.doors.cli import main
main(["index"])
"""


@pytest.fixture
def repository(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    made = GitRepository(own_home / "shop")
    made.commit("feat: begin", "src/a.py", "docs/adr/0001-a.md")
    monkeypatch.chdir(made.root)
    return made


def slugs() -> list[str]:
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        return [context.slug for context in kb.contexts()]


def test_a_first_build_that_was_killed_leaves_its_context_to_the_next(repository: GitRepository) -> None:
    assert subprocess.run([sys.executable, "-c", CUT_SHORT], check=False).returncode == 9
    assert slugs() == ["default", "shop"]
    built = subprocess.run(PROGRAM, check=True, capture_output=True, text=True)
    assert "context 'shop'." in built.stdout
    assert slugs() == ["default", "shop"]


@pytest.mark.parametrize("named", [[], ["--context", "shop"]], ids=["bound", "named"])
def test_first_builds_at_the_same_time_share_a_context(repository: GitRepository, named: list[str]) -> None:
    command = [*PROGRAM, *named]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in running]
    assert [(err, code) for (_, err), code in ended] == [("", 0)] * 3
    assert slugs() == ["default", "shop"]


def test_a_context_is_reserved_for_one_folder_and_until_its_index(repository: GitRepository) -> None:
    other = GitRepository(repository.root.parent / "elsewhere" / "shop")
    other.commit("feat: begin", "src/b.py")
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        kb.create_context("shop-2")
        first = kb.repository_context(repository.root, create=True)
        second = kb.repository_context(other.root, create=True)
        assert (first.slug, second.slug) == ("shop", "shop-3")
        assert kb.repository_context(repository.root, create=True).slug == "shop"
        first.index_repository(repository.root)
        kb.context("shop").update(slug="store")
        assert kb.repository_context(repository.root, create=True).slug == "store"
        first.index_repository(other.root)
        assert kb.repository_context(repository.root, create=True).slug == "shop"


def test_a_repository_without_a_work_tree_is_refused_from_python_as_from_the_command_line(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = own_home / "shop.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        for folder in (bare, bare / "refs"):
            context = kb.create_context(f"of-{folder.name[:4]}")
            with pytest.raises(BareRepositoryError) as refused:
                context.index_repository(folder)
            assert f"git clone {bare} FOLDER" in (refused.value.hint or "")
            with pytest.raises(IndexMissingError):
                context.repository_index()
    monkeypatch.chdir(bare)
    told = subprocess.run(PROGRAM, check=False, capture_output=True, text=True)
    assert (told.returncode, str(refused.value) in told.stderr) == (1, True)
    assert f"git clone {bare} FOLDER" in told.stderr
