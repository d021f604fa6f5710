"""Syntax trees are made in a process of their own, so that a grammar that fails or never ends harms one file only.

Grammars are native code. Some stop their process, or turn for ever, on a few hundred odd bytes; a file must not be able
to stop a build. The process starts with the first file that needs it and ends with this one. It is given texts, many at
once, and answers with the symbols of each in turn, so that the one that ended it is known; it reads no file but the
grammars, and runs nothing of the repository.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from trivium.code.collector import unparsed
from trivium.code.grammars import NoGrammar
from trivium.code.model import ModuleSymbols
from trivium.code.parse_serving import MISSING, Text
from trivium.processes import receive, send, start, stop

if TYPE_CHECKING:
    from subprocess import Popen

SECONDS = 10.0
"""The time of the processor for a file, to which its size adds: for what `parsing` lets pass and yet never ends."""
MAX_FAILURES = 16
"""After so many files that ended the process the rest is left unread, and coverage says so."""

# Without the collector, and without `typing_extensions`, of which msgspec takes nothing that `typing` has not as well.
_START = """
import gc, sys
gc.disable()
sys.path.append(sys.argv[1])
sys.modules["typing_extensions"] = None
import msgspec
del sys.modules["typing_extensions"]
from trivium.code.parse_serving import serve
serve(float(sys.argv[2]))
"""


def analyse_apart(texts: Sequence[Text]) -> list[ModuleSymbols | None]:
    """The symbols of files that have a grammar; `parsed` False and none where reading failed or took too much.

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
        self._process: Popen[bytes] | None = None
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
                process = self._running()
                if process is None:
                    return found + [None] * (len(texts) - len(found))
                found += self._answers(process, texts[len(found) :])
                if len(found) < len(texts):  # the next one ended the process
                    self._failures += 1
                    self._stop()
                    found.append(unparsed(texts[len(found)][1]))
        return found

    def _answers(self, process: Popen[bytes], texts: Sequence[Text]) -> list[ModuleSymbols | None]:
        """What the process says of each text, up to the one that ends it."""
        try:
            return [None if answer == MISSING else _symbols(answer) for answer in _ask(process, texts)]
        except BaseException:
            self._stop()  # interrupted: its answers must not be taken for those of other files
            raise

    def close(self) -> None:
        """End the process and forget its failures; a later file starts a new one."""
        if self._owner == os.getpid():  # a forked process leaves it to the one that started it
            with self._lock:
                self._stop()
                self._failures = 0

    def _running(self) -> Popen[bytes] | None:
        """The process, started if need be; None after too many failures, or where none came up."""
        if self._failures >= MAX_FAILURES:
            return None
        if self._process is None:
            self._process = start(_START, str(self._seconds))
            if self._process is None:
                self._failures = MAX_FAILURES
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            stop(process)


@cache
def _worker(_process_id: int) -> Worker:
    """The worker of this process; a forked one gets its own."""
    return Worker()


_symbols = msgspec.msgpack.Decoder(ModuleSymbols).decode


def _ask(process: Popen[bytes], texts: Sequence[Text]) -> Iterator[bytes]:
    """The other process's answers in turn, as many as it gives before it ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        send(process.stdin, msgspec.msgpack.encode(texts))
        for _ in texts:
            answer = receive(process.stdout)
            if answer is None:
                return
            yield answer
