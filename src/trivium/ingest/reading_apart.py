"""Readers that run in a process of their own, so that a file that crashes, bloats or never ends harms itself only.

PDF, Office and large HTML and e-mail files are read there. The process starts with the first file that needs it, may
take MEMORY bytes and a bounded time for each file, and ends with `close`. It is given bytes and answers with text; it
opens no file. Where no process can be had, the readers run in this one.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import struct
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import IO

import msgspec

from trivium.errors import MissingExtraError
from trivium.ingest import formats
from trivium.ingest.parsed import Block, Heading, Parsed, Unreadable

SECONDS = 120.0
"""The time for a file, with SECONDS_FOR_MB more for each megabyte of it."""
SECONDS_FOR_MB = 4.0
MEMORY = 4 << 30
SMALL = 1 << 20
"""Bytes of an HTML or e-mail file that is read in this process."""

_LENGTH = struct.Struct("<Q")
_READY = b"ready"
_START = "import sys; sys.path.append(sys.argv[1]); from trivium.ingest.reading_apart import serve; serve()"


class SentDocument(msgspec.Struct, array_like=True):
    """`Parsed` with its blocks as a list."""

    text: str
    blocks: list[Block]
    title: str
    dated: str | None
    headings: list[Heading]
    pages: list[tuple[int, int]]
    notes: list[str]


class Answer(msgspec.Struct, array_like=True):
    """What the other process found: a document, a reason, or the extra that is missing and what for."""

    parsed: SentDocument | None = None
    reason: str | None = None
    missing: tuple[str, str] | None = None


def read_apart(format_: str, data: bytes) -> Parsed:
    """Read a file of one of the formats `formats.APART`. Raises: Unreadable, MissingExtraError."""
    if format_ in (formats.HTML, formats.MAIL) and len(data) <= SMALL:
        return read_here(format_, data)
    return _worker(os.getpid()).read(format_, data)


def read_here(format_: str, data: bytes) -> Parsed:
    """The reader of a format, in this process. Raises: Unreadable, MissingExtraError."""
    if format_ == formats.HTML:
        from trivium.ingest.read_html import read_html

        return read_html(data)
    if format_ == formats.MAIL:
        from trivium.ingest.read_mail import read_mail

        return read_mail(data)
    if format_ == formats.PDF:
        from trivium.ingest.read_pdf import read_pdf

        return read_pdf(data)
    from trivium.ingest.read_office import read_office

    return read_office(data, format_)


def close() -> None:
    """End this process's worker, as after a curate; a later file starts it again."""
    _worker(os.getpid()).close()


class Worker:
    """The other process, started when it is first needed and again after a file that ended it."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._owner = os.getpid()
        atexit.register(self.close)

    def read(self, format_: str, data: bytes) -> Parsed:
        """See `read_apart`."""
        with self._lock:
            process = self._process or self._start()
            if process is None:
                return read_here(format_, data)
            seconds = self._seconds + SECONDS_FOR_MB * len(data) / 1e6
            try:
                answer = _ask(process, format_, seconds, data)
            except BaseException:
                self._stop()  # interrupted: its answer must not be taken for that of the next file
                raise
            if answer is None:
                self._stop()
                raise Unreadable(f"reading it crashed, or took longer than {seconds:.0f} seconds")
        return _given(msgspec.msgpack.decode(answer, type=Answer))

    def close(self) -> None:
        """End the process; a later file starts a new one."""
        if self._owner == os.getpid():  # a forked process leaves it to the one that started it
            with self._lock:
                self._stop()

    def _start(self) -> subprocess.Popen[bytes] | None:
        if not sys.executable or getattr(sys, "frozen", False):
            return None
        # -P keeps the working folder out of the module search path.
        command = [sys.executable, "-P", "-c", _START, str(Path(__file__).parents[2]), str(self._memory)]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:
            return None
        self._process = process
        assert process.stdout is not None
        if _receive(process.stdout) != _READY:
            self._stop()
            return None
        return process

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


def _given(answer: Answer) -> Parsed:
    if answer.missing is not None:
        raise MissingExtraError(*answer.missing)
    if answer.parsed is None:
        raise Unreadable(answer.reason or "there is no text in it")
    sent = answer.parsed
    return Parsed(sent.text, sent.blocks, sent.title, sent.dated, sent.headings, sent.pages, sent.notes)


def _ask(process: subprocess.Popen[bytes], format_: str, seconds: float, data: bytes) -> bytes | None:
    """The other process's answer; None when it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _send(process.stdin, msgspec.msgpack.encode((format_, seconds)))
        _send(process.stdin, data)
        return _receive(process.stdout)
    except OSError:
        return None


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


def serve() -> None:
    """Answer requests from standard input until it ends; a request that takes too long ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _bound_memory(int(sys.argv[2]))
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what a library prints must not stand among the answers
    _send(outgoing, _READY)
    while (request := _receive(incoming)) is not None:
        format_, seconds = msgspec.msgpack.decode(request, type=tuple[str, float])
        data = _receive(incoming)
        if data is None:
            return
        timer = threading.Timer(seconds, os._exit, (1,))
        timer.daemon = True
        timer.start()
        _alarm(seconds + 1)
        answer = _answer(format_, data)
        timer.cancel()
        _alarm(0)
        del data
        _send(outgoing, answer)


def _alarm(seconds: float) -> None:
    """End this process after so many seconds, even inside native code that holds the interpreter; 0 takes it back."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _answer(format_: str, data: bytes) -> bytes:
    try:
        found = read_here(format_, data)
        blocks = list(found.blocks)
        sent = SentDocument(found.text, blocks, found.title, found.dated, found.headings, found.pages, found.notes)
        return msgspec.msgpack.encode(Answer(sent))
    except Unreadable as error:
        return msgspec.msgpack.encode(Answer(reason=str(error)))
    except MissingExtraError as error:
        return msgspec.msgpack.encode(Answer(missing=(error.extra, error.purpose)))
    except MemoryError:
        return msgspec.msgpack.encode(Answer(reason="reading it takes too much memory"))
    except Exception as error:  # a reader met what it does not expect: that file is not read, the others are
        reason = f"reading it failed ({type(error).__name__}: {error})"
        return msgspec.msgpack.encode(Answer(reason=reason[:500].encode(errors="replace").decode()))
