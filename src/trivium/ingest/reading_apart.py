"""Sources read in other processes: several at a time, and so that a hostile file harms itself only.

A process may take MEMORY bytes, and a bounded time for each file. It is given bytes and answers with text; it opens no
file. One that crashes, bloats or never ends is replaced, and its file is told as one that cannot be read. Where no
process can be had, files are read in this one.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from trivium.ingest.manifest import Knobs
from trivium.ingest.reading import Read, failed, read_source
from trivium.processes import receive, send, serving, start, stop, time_limit, was_too_slow

SECONDS = 12.0
"""The time of the processor for a file, with SECONDS_FOR_MB more for each megabyte of it."""
SECONDS_FOR_MB = 4.0
MEMORY = 4 << 30
LEAST_MEMORY, MEMORY_FOR_BYTE = 1 << 30, 128
"""What a process may take for a small file, and how much more for each byte, up to MEMORY."""
MOST = 4
"""Processes at a time, if there are as many processors."""
IN_FLIGHT = 64 << 20
"""Bytes of files that are under way at a time; a larger one is alone."""

_START = "import sys; sys.path.append(sys.argv[1]); from trivium.ingest.reading_apart import serve; serve()"

Item = TypeVar("Item")


class Request(msgspec.Struct, array_like=True):
    path: str
    media_type: str
    knobs: Knobs
    seconds: float


def processors() -> int:
    """How many processes may work at a time."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, count)


class Reader:
    """One other process, started when it is first needed and again after a file that ended it. For one thread."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, path: str, media_type: str, data: bytes, knobs: Knobs) -> Read:
        """As `reading.read_source`."""
        self._process = process = self._process or start(_START, str(self._memory))
        if process is None:
            return read_source(path, media_type, data, knobs)
        seconds = self._seconds + SECONDS_FOR_MB * len(data) / 1e6
        try:
            answer = _ask(process, Request(path, media_type, knobs, seconds), data)
        except BaseException:
            self.close()  # interrupted: its answer must not be taken for that of the next file
            raise
        if answer is None:
            slow = was_too_slow(process)
            self.close()
            why = (
                f"it takes more than {seconds:.0f} seconds to read"
                if slow
                else "its reader crashed, or took too much memory"
            )
            return failed(path, media_type, why)
        return msgspec.msgpack.decode(answer, type=Read)

    def close(self) -> None:
        """End the process; a later file starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            stop(process)


class Readers:
    """Several other processes. A context manager: at its end they end, whatever they are doing."""

    def __init__(self, count: int) -> None:
        self._readers = [Reader() for _ in range(count)]
        self._idle: queue.SimpleQueue[Reader] = queue.SimpleQueue()
        for reader in self._readers:
            self._idle.put(reader)
        self._threads = ThreadPoolExecutor(count, "trivium-reading")
        self._stopping = threading.Event()

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for reader in self._readers:
            reader.close()
        self._threads.shutdown(wait=True)

    def read(self, path: str, media_type: str, data: bytes, knobs: Knobs) -> Read:
        """Read a source in whichever process is idle."""
        reader = self._idle.get()
        try:
            if self._stopping.is_set():
                return failed(path, media_type, "reading it was stopped")
            return reader.read(path, media_type, data, knobs)
        finally:
            if self._stopping.is_set():
                reader.close()
            self._idle.put(reader)

    def each(
        self, items: Iterable[Item], size_of: Callable[[Item], int], work: Callable[[Item], Read | None]
    ) -> Iterator[tuple[Item, Read | None]]:
        """What the work gives for each item, in order; it is done on threads of its own, some items ahead."""
        waiting: deque[tuple[Item, int, Future[Read | None]]] = deque()
        size = 0
        for item in items:
            own = size_of(item)
            while waiting and (size + own > IN_FLIGHT or len(waiting) >= 4 * len(self._readers)):
                first, freed, future = waiting.popleft()
                size -= freed
                yield first, future.result()
            waiting.append((item, own, self._threads.submit(work, item)))
            size += own
        for first, _, future in waiting:
            yield first, future.result()


def _ask(process: subprocess.Popen[bytes], request: Request, data: bytes) -> bytes | None:
    """The other process's answer; None when it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        send(process.stdin, msgspec.msgpack.encode(request))
        send(process.stdin, data)
        return receive(process.stdout)
    except (OSError, ValueError):  # ValueError: the pipe was closed by another thread
        return None


# --- in the other process -------------------------------------------------------------------------


def serve() -> None:
    """Answer requests from standard input until it ends; a request that takes too long ends the process."""
    bound_memory = _memory_limit(int(sys.argv[2]))
    limit = time_limit()
    incoming, outgoing = serving()
    while (message := receive(incoming)) is not None:
        request = msgspec.msgpack.decode(message, type=Request)
        data = receive(incoming)
        if data is None:
            return
        bound_memory(len(data))
        limit(request.seconds)
        answer = msgspec.msgpack.encode(read_source(request.path, request.media_type, data, request.knobs))
        limit(0)
        del data
        send(outgoing, answer)


def _memory_limit(most: int) -> Callable[[int], None]:
    """What bounds the memory of this process for a file of so many bytes; without effect where the system cannot."""
    try:
        import resource
    except ImportError:
        return lambda size: None

    def limit(size: int) -> None:
        with contextlib.suppress(ValueError, OSError):
            bound = min(most, _taken() + LEAST_MEMORY + MEMORY_FOR_BYTE * size)
            resource.setrlimit(resource.RLIMIT_AS, (bound, resource.getrlimit(resource.RLIMIT_AS)[1]))

    return limit


def _taken() -> int:
    """The memory that this process has already, of which earlier files may have left some; 0 if nobody tells."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0
