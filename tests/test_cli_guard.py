"""The program as a whole: help, start-up, and every kind of end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli_support import heed_interrupts, run
from trivium.doors.cli import COMMANDS

pytestmark = pytest.mark.usefixtures("own_home")

PROGRAM = [sys.executable, "-c", "from trivium.doors.cli import main; main()"]


def test_help_lists_every_command_and_each_explains_itself() -> None:
    listing = run("--help").out
    for name in COMMANDS:
        assert f"\n  {name} " in listing
        outcome = run(name, "--help")
        assert outcome.code == 0
        assert "Usage: trivium " + name in outcome.out


def test_version_and_unknown_commands() -> None:
    assert run("--version").out.startswith("trivium 0.")
    outcome = run("bogus")
    assert outcome.code == 2
    assert "No such command" in outcome.err
    assert run("--bogus").code == 2


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["kip", "DESCRIBE PRIMER"]])
def test_plain_commands_load_no_heavy_library(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom trivium.doors.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'rich', 'mcp', 'pydantic', 'asyncio'}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_an_unexpected_fault_is_a_sentence_and_a_trace_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something odd")

    monkeypatch.setattr("trivium.open", broken)
    outcome = run("kip", "DESCRIBE PRIMER")
    assert outcome.code == 1
    assert outcome.err.startswith("error: Trivium met an unexpected fault (RuntimeError: something odd).")
    assert "Traceback" not in outcome.err
    monkeypatch.setenv("TRIVIUM_DEBUG", "1")
    assert "Traceback" in run("kip", "DESCRIBE PRIMER").err
    error = json.loads(run("--json", "kip", "DESCRIBE PRIMER").out)["error"]
    assert error["name"] == "RuntimeError"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_reader_that_leaves_ends_the_program_quietly() -> None:
    command = " ".join(f"'{part}'" for part in PROGRAM)
    script = f"{command} kip 'FIND(?t) WHERE {{ ?t {{type: \"$ConceptType\"}} }}' | head -c 10"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{")
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_ends_the_program_quietly() -> None:
    child = subprocess.Popen(
        [*PROGRAM, "kip", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write('{"command": "DESCRIBE PRIMER"}\n')
    child.stdin.flush()
    assert child.stdout.readline().startswith('{"result"')
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert child.returncode == 130
    assert errors == "\nInterrupted.\n"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIVIUM_DB")
    (tmp_path / "data").write_text("a file where a folder should be")
    outcome = run("kip", "DESCRIBE PRIMER")
    assert outcome.code == 1
    assert "TRIVIUM_DB" in outcome.err


def test_output_in_a_poor_encoding_is_escaped_not_broken() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    write = 'UPSERT { CONCEPT { {type: "Domain", name: "深色"} } }'
    for command in (write, 'FIND(?d.name) WHERE { ?d {type: "Domain", name: "深色"} }'):
        done = subprocess.run([*PROGRAM, "kip", command, "--table"], capture_output=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
    assert b"\\u6df1\\u8272" in done.stdout


def test_a_mistyped_command_is_recognised() -> None:
    outcome = run("aks", "x")
    assert outcome.code == 2
    assert "No such command 'aks'. Did you mean 'ask'?" in outcome.err
