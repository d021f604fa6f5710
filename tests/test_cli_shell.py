"""`trivium shell`: multi-line input, dot-commands, completion, a session on a real terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import trivium
from tests.cli_support import heed_interrupts, run
from trivium.doors.cli_shell import Shell, completer, is_complete

pytestmark = pytest.mark.usefixtures("own_home")

READ = 'FIND(?d.name)\nWHERE { ?d {type: "Domain"} }\n'


def test_commands_run_when_complete_or_on_an_empty_line() -> None:
    outcome = run("shell", stdin=READ + "DESCRIBE CONCEPT TYPES\nFIND(?x)\n\n")
    assert outcome.code == 1  # the last one is incomplete
    assert outcome.out.count('"result"') == 2
    assert "The text ends too early" in outcome.err
    assert run("shell", stdin=READ).code == 0


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", False),
        ("FIND(?x)", False),
        ('FIND(?x) WHERE { ?x {type: "T"}', False),
        ('FIND(?x) WHERE { ?x {type: "}"} ', False),
        ('FIND(?x) WHERE { ?x {type: "T"} }', True),
        ("DESCRIBE", False),
        ("DESCRIBE PRIMER", True),
        ("FIND ?x", True),
        ("nonsense", True),
        ("FIND(?x))", True),
    ],
)
def test_a_text_is_complete_when_more_cannot_help(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


def test_dot_commands_switch_and_set() -> None:
    script = """\
.help
.params name=CoreSchema
.params {"limit": 1}
FIND(?d.name) WHERE { ?d {type: "Domain", name: :name} } LIMIT :limit
.params clear
.readonly on
UPSERT { CONCEPT { {type: "Domain", name: "Tea"} } }
.readonly off
.explain
DESCRIBE PRIMER
.explain off
.quit
DESCRIBE NOTHING
"""
    outcome = run("shell", stdin=script)
    assert "Type a KIP command" in outcome.out
    assert '{"name": "CoreSchema", "limit": 1}' in outcome.out
    assert '"CoreSchema"\n' in outcome.out
    assert "readonly is on" in outcome.out
    assert "KIP_1001" in outcome.err
    assert "tokens\n" in outcome.out
    assert "NOTHING" not in outcome.err


@pytest.mark.parametrize(
    "line", [".bogus", ".readonly maybe", ".params 5", ".params {broken", '.params x={"a": 1, "a": 2}']
)
def test_wrong_dot_commands_are_explained(line: str) -> None:
    outcome = run("shell", stdin=line + "\nDESCRIBE PRIMER\n")
    assert outcome.code == 1
    assert "hint: " in outcome.err
    assert '"result"' in outcome.out


def test_completion_knows_keywords_names_paths_and_dot_commands() -> None:
    with trivium.open(":memory:") as kb:
        shell = Shell(kb)
        assert shell.completions("FI") == ["FILTER", "FIND"]
        assert '"Person"' in shell.completions('"Per')
        assert shell.completions('"belongs_to_d') == ['"belongs_to_domain"']
        assert shell.completions("?x.attr") == ["?x.attributes"]
        assert shell.completions(".re") == [".readonly"]
        assert shell.completions("zzz") == []
        complete = completer(shell.completions)
        assert [complete("FI", state) for state in range(3)] == ["FILTER", "FIND", None]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_session_on_a_terminal(own_home: Path) -> None:
    import pty

    master, slave = pty.openpty()
    code = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from trivium.doors.cli import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "shell"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "100"},
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    os.close(slave)
    try:
        assert "context default" in _talk(master, b"", "kip> ")
        _talk(master, b"FIND(?d.name)\n", "...> ")
        _talk(master, b"\x03", "kip> ", again=1.0)  # Ctrl-C drops what is typed
        shown = _talk(master, b'FIND(?d.name) WHERE { ?d {type: "Dom\t, name: "CoreSchema"} }\n', "1 row\r\nkip> ")
        assert '"Domain"' in shown
        assert "?d.name" in shown
        os.write(master, b"\x04")
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.wait()
        os.close(master)
    history = own_home / "data" / "trivium" / "history"
    assert "CoreSchema" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def _talk(master: int, text: bytes, until: str, *, again: float = 60.0) -> str:
    """Type a text, and again after so many seconds, and read until something is shown."""
    import select

    os.write(master, text)
    shown = ""
    typed = start = time.monotonic()
    while until not in shown:
        assert time.monotonic() - start < 20, shown
        if time.monotonic() - typed > again:
            os.write(master, text)
            typed = time.monotonic()
        if select.select([master], [], [], 0.2)[0]:
            shown += os.read(master, 65_536).decode(errors="replace")
    return shown


def test_json_output_is_one_document_for_each_command() -> None:
    outcome = run("shell", "--json", stdin="DESCRIBE CONCEPT TYPES\nBROKEN\n")
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(outcome.out)
    second, _ = decoder.raw_decode(outcome.out[end:].strip())
    assert "result" in first
    assert second["error"]["code"] == "KIP_1001"
