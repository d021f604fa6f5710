"""Syntax trees are made in a process of their own, so that a grammar that fails or never ends harms one file only.

Grammars are native code. Some stop their process, or turn for ever, on a few hundred odd bytes; a file must not be able
to stop a build. The process starts with the first file that needs it and ends with this one. It is given texts, many at
once, and answers with the symbols of each in turn, so that the one that ended it is known; it reads no file but the
grammars, and runs nothing of the repository.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO

import msgspec

from .collector import unparsed
from .grammars import NoGrammar
from .model import ModuleSymbols

SECONDS = 10.0
MAX_FAILURES = 16
"""After so many files that ended the process the rest is left unread, and coverage says so."""


_READY, _MISSING = b"ready", b"missing"
_LENGTH = struct.Struct("<I")
# Without the collector, and without `typing_extensions`, of which msgspec takes nothing that `typing` has not as well.
_START = """
import gc, sys
gc.disable()
sys.path.append(sys.argv[1])
sys.modules["typing_extensions"] = None
import msgspec
del sys.modules["typing_extensions"]
from trivium.why.parse_worker import serve
serve(float(sys.argv[2]))
"""

Text = tuple[str, str, bytes]
"""A file's path, its language and its content as UTF-8."""


def analyse_apart(texts: Sequence[Text]) -> list[ModuleSymbols | None]:
    """The symbols of files that have a grammar; `parsed` False and none where reading failed or took ten seconds.

    None when the grammar, or a process to load it in, is not to be had here.
    """
    return _worker(os.getpid()).analyse_all(texts)


def close() -> None:
    """End this process's worker, as after a build in a program that goes on; a later file starts it again."""
    _worker(os.getpid()).close()


class Worker:
    """The other process, started when it is first needed and again after a file that ended it."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._failures = 0
        atexit.register(self.close)

    def analyse(self, path: str, language: str, text: bytes) -> ModuleSymbols:
        """The symbols of one file. NoGrammar when it cannot be read here."""
        (found,) = self.analyse_all([(path, language, text)])
        if found is None:
            raise NoGrammar(language)
        return found

    def analyse_all(self, texts: Sequence[Text]) -> list[ModuleSymbols | None]:
        """See `analyse_apart`."""
        found: list[ModuleSymbols | None] = []
        with self._lock:
            while len(found) < len(texts):
                if self._failures >= MAX_FAILURES or not self._is_up():
                    return found + [None] * (len(texts) - len(found))
                answers = self._answers(texts[len(found) :])
                found += answers
                if len(found) < len(texts):  # the next one ended the process
                    self._failures += 1
                    self._stop()
                    found.append(unparsed(texts[len(found)][1]))
        return found

    def _answers(self, texts: Sequence[Text]) -> list[ModuleSymbols | None]:
        """What the process says of each text, up to the one that ends it."""
        assert self._process is not None
        found: list[ModuleSymbols | None] = []
        try:
            for answer in _ask(self._process, texts):
                found.append(None if answer == _MISSING else _symbols(answer))
        except BaseException:
            self._stop()  # interrupted: its answers must not be taken for those of other files
            raise
        return found

    def close(self) -> None:
        """End the process and forget its failures; a later file starts a new one."""
        if self._owner == os.getpid():  # a forked process leaves it to the one that started it
            with self._lock:
                self._stop()
                self._failures = 0

    def _is_up(self) -> bool:
        """Whether there is a process, started if need be. One that does not come up is not tried again."""
        if self._process is not None:
            return True
        root = str(Path(__file__).parents[2])
        # -P keeps the working folder, which may be the repository, out of the module search path.
        command = [sys.executable, "-P", "-c", _START, root, str(self._seconds)]
        try:
            if not sys.executable or getattr(sys, "frozen", False):
                raise OSError("no interpreter")
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except (OSError, ValueError):
            self._failures = MAX_FAILURES
            return False
        if self._process.stdout is None or _receive(self._process.stdout) != _READY:
            self._failures = MAX_FAILURES
            self._stop()
            return False
        return True

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()


@cache
def _worker(_process_id: int) -> Worker:
    """The worker of this process; a forked one gets its own."""
    return Worker()


_symbols = msgspec.msgpack.Decoder(ModuleSymbols).decode


def _ask(process: subprocess.Popen[bytes], texts: Sequence[Text]) -> Iterator[bytes]:
    """The other process's answers in turn, as many as it gives before it ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        _send(process.stdin, msgspec.msgpack.encode(texts))
        for _ in texts:
            answer = _receive(process.stdout)
            if answer is None:
                return
            yield answer


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes | None:
    """One message; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


# --- in the other process -------------------------------------------------------------------------


def serve(seconds: float) -> None:
    """Answer requests from standard input until it ends; a text that takes longer ends the process."""
    from .symbols_tree import analyse_tree

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.enable()
    gc.set_threshold(100_000)
    limit = _limit()
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    _send(outgoing, _READY)
    encode = msgspec.msgpack.Encoder().encode
    while (request := _receive(incoming)) is not None:
        for path, language, text in msgspec.msgpack.decode(request, type=list[Text]):
            limit(seconds)
            try:
                answer = encode(analyse_tree(path, language, text))
            except NoGrammar:
                answer = _MISSING
            limit(0)
            _send(outgoing, answer)


def _limit() -> Callable[[float], object]:
    """What ends this process after so many seconds, even inside native code; zero takes that back."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        return lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    return lambda seconds: (
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        if seconds
        else faulthandler.cancel_dump_traceback_later()
    )
