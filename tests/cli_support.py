"""The command line inside the test process: arguments and input in, exit code and output out."""

from __future__ import annotations

import io
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trivium.doors.cli import main


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The standard output as JSON."""
        return json.loads(self.out)


Run = Callable[..., Outcome]


class _Stream(io.TextIOWrapper):
    """A text stream over memory that can pass for a terminal."""

    def __init__(self, data: bytes = b"", *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


def run(
    *arguments: object, stdin: str | bytes = b"", terminal: bool = False, program: Callable[[list[str]], Any] = main
) -> Outcome:
    """Run `trivium` (or another program) with these arguments; `terminal` makes output and error pass for one."""
    before = sys.stdin, sys.stdout, sys.stderr
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = _Stream(terminal=terminal), _Stream(terminal=terminal)
    sys.stdin, sys.stdout, sys.stderr = _Stream(data), out, err
    try:
        program([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    assert isinstance(code, int)
    return Outcome(code, out.text(), err.text())


def heed_interrupts() -> None:
    """For a child process: a shell that starts the tests in the background has told them to ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
