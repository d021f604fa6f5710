"""`trivium why TARGET` as a process: the short way into a terminal, and how it ends."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.git_repository import GitRepository
from tests.why_repositories import make
from trivium.doors.program import Question, plain_question

PROGRAM = [sys.executable, "-c", "from trivium.doors.cli import main; main()"]
SHORT = [sys.executable, "-c", "from trivium.doors.program import main; main()"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    for name, value in {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "TRIVIUM_DB": str(tmp_path / "k.db"),
        "NO_COLOR": "",
    }.items():
        monkeypatch.setenv(name, value)
    made = make(tmp_path / "work")
    monkeypatch.chdir(made.root)
    subprocess.run([*PROGRAM, "index"], check=True, capture_output=True)
    return made


def on_terminal(command: list[str], **environment: str) -> tuple[bytes, int]:
    """What a command prints on a terminal, and its exit code."""
    import pty

    ours, its = pty.openpty()
    process = subprocess.Popen(command, stdout=its, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    os.close(its)
    found = b""
    with contextlib.suppress(OSError):  # the terminal is gone when the process has ended
        while data := os.read(ours, 4096):
            found += data
    os.close(ours)
    return found, process.wait()


@pytest.mark.skipif(os.name == "nt", reason="there the whole command line prints to terminals")
@pytest.mark.parametrize(
    "arguments",
    [
        ["src/app/cache.py"],
        ["Cache", "--json"],
        ["nothing like it"],
        ["src"],
        ["--kind", "decision", "src/app/cache.py", "--limit=1"],
        ["src/app/cache.py", "--budget-tokens", "40", "--json"],
    ],
)
@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_a_terminal_shows_what_the_whole_command_line_shows(
    place: GitRepository, arguments: list[str], environment: dict[str, str]
) -> None:
    short, whole = (on_terminal([*command, "why", *arguments], **environment) for command in (SHORT, PROGRAM))
    assert short == whole
    assert short[1] == 0
    assert (b"\x1b[1m" in short[0]) == (not environment and "--json" not in arguments)


WORDS = ["src/app.py", "x", "", "-", "--", "-h", "--json", "--json=1", "--kind", "--kind=decision", "--kind="]
WORDS += ["concept", "--limit", "--limit=3", "--limit=0", "--limit=x", "3", "07", "\u0663", "1_0", "--budget-tokens"]
WORDS += ["--budget-tokens=9", "--no-cache", "--profile", "service", "--db=x", "--lim=3", "-5"]


def test_what_is_answered_the_short_way_is_what_the_command_line_reads() -> None:
    from trivium.doors.cli_options import Choices
    from trivium.doors.cli_why import why

    random = Random(1)
    taken = 0
    for _ in range(20_000):
        arguments = random.choices(WORDS, k=random.randint(0, 6))
        question = plain_question(["why", *arguments])
        if question is None or question.limit not in range(1, 101):  # the latter is refused when it is asked
            continue
        context = why.make_context("why", list(arguments))
        choices = context.find_object(Choices) or Choices()
        read = Question(json=choices.json, **{name: context.params[name] for name in ASKED})
        assert (question, choices.db, choices.context) == (read, None, None)
        assert (context.params["no_cache"], context.params["profile"]) == (False, "local")
        taken += 1
    assert taken > 500


ASKED = ("target", "kind", "limit", "budget_tokens")


def test_a_question_loads_what_it_needs_and_no_more(place: GitRepository) -> None:
    """What is loaded is half of the time that an answer takes."""
    rooms = (
        "trivium.ingest",
        "trivium.knowql",
        "trivium.models",
        "trivium.answers",
        "trivium.language",
        "trivium.kip",
        "trivium.search",
    )
    code = (
        "import sys\nfrom trivium.doors.program import main\nsys.argv = ['trivium', 'why', 'Cache']\n"
        f"heavy = ('click', 'rich', 'typing_extensions', 'dataclasses', 'inspect', 'socket', 'asyncio', *{rooms})\n"
        "def loaded(name):\n    return any(name == one or name.startswith(one + '.') for one in heavy)\n"
        "try:\n    main()\nfinally:\n    print('loaded:', sorted(filter(loaded, sys.modules)))"
    )
    printed, code_of_exit = on_terminal([sys.executable, "-c", code])
    assert printed.endswith(b"loaded: ['trivium.kip']\r\n")
    assert code_of_exit == 0


def test_a_database_that_is_in_use_stays_whole(place: GitRepository) -> None:
    """The process ends without taking everything apart: what it wrote is there all the same."""
    os.utime(place.root / "docs/guide.md")
    for _ in range(2):
        done = subprocess.run([*SHORT, "why", "Cache"], check=True, capture_output=True)
        assert done.stdout.startswith(b"Why: Cache\n")
    files = sorted(file.name for file in place.root.parent.iterdir())
    assert files == ["k.db", "work"]  # the log is folded in
    done = subprocess.run([*PROGRAM, "doctor"], check=False, capture_output=True)
    assert done.returncode == 0
