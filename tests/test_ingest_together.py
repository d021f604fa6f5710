"""Several processes that add to one context at the same time: they take turns, and all that they add is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import trivium


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
    return tmp_path / "together.db"


def adding(place: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "trivium", "--db", str(place), "add", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def folder_of(parent: Path, name: str, count: int) -> Path:
    folder = parent / name
    folder.mkdir()
    for number in range(count):
        text = f"# {name} {number}\n\n" + f"The {name} of day {number} is on the list.\n\n" * 20
        (folder / f"{number:03}.md").write_text(text)
    return folder


def sources_of(context: trivium.Context, word: str) -> set[str]:
    answer = context.ask(word, retrieval_only=True)
    return {item["source"].partition("/")[0] for item in answer["output_json"]["chunks"]}


def test_processes_that_add_at_once_all_succeed_and_all_of_it_is_found(tmp_path: Path, place: Path) -> None:
    names = ["lighthouse", "harbour", "anchorage"]
    children = [adding(place, folder_of(tmp_path, name, 100)) for name in names]
    ends = [(child.communicate(timeout=120), child.returncode) for child in children]
    assert [code for _, code in ends] == [0, 0, 0], ends
    with trivium.open(place) as kb:
        context = kb.context("default")
        described = context.describe(stats=True)
        assert (described["stale"], described["is_curating"]) == (False, False)
        assert {item["state"] for item in context.sources()} == {"live"}
        assert len(context.documents()) == 300
        for name in names:
            assert sources_of(context, name) == {name}


def test_an_add_waits_for_the_curate_that_runs_and_then_reads_what_it_added(tmp_path: Path, place: Path) -> None:
    folder = folder_of(tmp_path, "harbour", 3)
    children: list[subprocess.Popen[str]] = []
    with trivium.open(place) as kb:
        context = kb.context("default")
        context.add_bytes("first.md", b"# Lighthouse\n\nIt is lit.\n")

        def progress(done: int, total: int) -> None:
            if not children:
                children.append(adding(place, folder))
                assert children[0].stderr is not None
                assert "waiting for another curate of default to end (task tsk_" in children[0].stderr.readline()

        context.curate(progress=progress)
        out, err = children[0].communicate(timeout=60)
        assert (children[0].returncode, err) == (0, "")
        assert "Version 2 of default is live: 4 documents" in out
        assert sources_of(context, "harbour") == {"harbour"}


@pytest.mark.parametrize("command", ["add", "curate"])
def test_a_curate_that_runs_too_long_is_told_and_what_was_added_is_kept(
    tmp_path: Path, place: Path, command: str
) -> None:
    folder = folder_of(tmp_path, "harbour", 3)
    ended: list[subprocess.CompletedProcess[str]] = []
    with trivium.open(place) as kb:
        context = kb.context("default")
        context.add_bytes("first.md", b"# Lighthouse\n\nIt is lit.\n")

        def progress(done: int, total: int) -> None:
            if not ended:
                line = [sys.executable, "-m", "trivium", "--db", str(place), command, "--wait", "1"]
                line += [str(folder)] * (command == "add")
                ended.append(subprocess.run(line, capture_output=True, text=True, timeout=60))

        context.curate(progress=progress)
        assert ended[0].returncode == 1
        assert "Another curate of the context 'default' is still running after 1 second (task tsk_" in ended[0].stderr
        assert (
            "hint: Wait longer with --wait SECONDS, or run later: trivium curate --context default" in ended[0].stderr
        )
        if command == "add":
            assert context.describe()["stale"]
            assert context.curate()["documents"] == 4
            assert sources_of(context, "harbour") == {"harbour"}
