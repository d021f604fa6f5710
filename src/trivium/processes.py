"""Another process of this interpreter that answers messages: for work in native code that may crash or never end.

The other process is started with a piece of code, which calls `serving` and then answers what it `receive`s. It is
ended by `stop`, or by itself when it passed a limit that it set with `time_limit`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

PATIENCE = 8
"""How many times as long as it may work a process may take in all."""
_LENGTH = struct.Struct("<Q")
_READY = b"ready"
_ROOT = str(Path(__file__).parents[1])


def start(code: str, *arguments: str) -> subprocess.Popen[bytes] | None:
    """A process that runs this code and is ready; None where none can be had.

    The code finds the folder of the package in `sys.argv[1]`, to be put at the end of `sys.path`, and the arguments
    behind it.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    # -P keeps the working folder, which may be anybody's, out of the module search path.
    import subprocess

    command = [sys.executable, "-P", "-c", code, _ROOT, *arguments]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except (OSError, ValueError):
        return None
    assert process.stdout is not None
    if receive(process.stdout) != _READY:
        stop(process)
        return None
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process at once, whatever it is doing."""
    process.kill()
    with contextlib.suppress(OSError, ValueError):
        process.communicate()


def send(stream: IO[bytes], message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """One message; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


def was_too_slow(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process that ended by itself passed its time limit, as far as the system tells."""
    import subprocess

    try:
        code = process.wait(1)
    except subprocess.TimeoutExpired:
        return False
    return sys.platform != "win32" and code in (-signal.SIGPROF, -signal.SIGALRM)


# --- in the other process -------------------------------------------------------------------------


def serving() -> tuple[IO[bytes], IO[bytes]]:
    """Where messages come in and go out, once the caller knows that this process is ready."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what a library prints must not stand among the answers
    send(outgoing, _READY)
    return incoming, outgoing


def time_limit() -> Callable[[float], object]:
    """What ends this process after so many seconds, even inside native code; zero takes that back.

    They are seconds of work, so that a busy machine ends nothing early; it may wait PATIENCE times as long.
    """
    if sys.platform != "win32":
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        return lambda seconds: (
            signal.setitimer(signal.ITIMER_PROF, seconds),
            signal.setitimer(signal.ITIMER_REAL, seconds * PATIENCE),
        )
    nowhere = os.open(os.devnull, os.O_WRONLY)
    return lambda seconds: (
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        if seconds
        else faulthandler.cancel_dump_traceback_later()
    )
