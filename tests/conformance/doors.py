"""Two ways to a nexus for the conformance runner: the Python API and the command line."""

from __future__ import annotations

import importlib
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

Json = Any

#: Seconds to wait for one response line of a child process.
LINE_TIMEOUT = 60.0


class PythonNexus:
    """A nexus in memory, spoken to through ``trivium.open``."""

    def __init__(self) -> None:
        self._kb = importlib.import_module("trivium").open(":memory:")

    def execute(self, request: Json, readonly: bool) -> Json:
        """Send one request; the answer passes through JSON, as on any other door."""
        response = self._kb.execute_kip(request, readonly=readonly)
        return json.loads(json.dumps(response, allow_nan=False))

    def close(self) -> None:
        """Close the nexus."""
        close = getattr(self._kb, "close", None)
        if callable(close):
            close()


def cli_command() -> list[str]:
    """Return the words that start the command line program."""
    script = Path(sys.executable).with_name("trivium")
    if script.is_file():
        return [str(script)]
    found = shutil.which("trivium")
    if found:
        return [found]
    return [sys.executable, "-c", "from trivium.doors.cli import main; main()"]


def request_line(request: Json, readonly: bool) -> str:
    """Write one line for ``trivium kip --jsonl``."""
    if readonly:
        return json.dumps({"request": request, "readonly": True})
    if isinstance(request, dict):
        return json.dumps(request)
    return json.dumps({"request": request})


class CliNexus:
    """A nexus in a fresh file, spoken to through one child process, line by line."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="trivium-conformance-"))
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        database = str(self._folder / "nexus.db")
        self._process = subprocess.Popen(
            [*cli_command(), "--db", database, "kip", "--request", "-", "--jsonl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def execute(self, request: Json, readonly: bool) -> Json:
        """Write one request line and read one response line."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request_line(request, readonly).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise AssertionError(f"the program has gone: {self._stderr()}") from error
        try:
            line = self._lines.get(timeout=LINE_TIMEOUT)
        except queue.Empty:
            raise AssertionError(f"no response line in {LINE_TIMEOUT} s") from None
        if not line:
            raise AssertionError(f"the program ended without a response: {self._stderr()}")
        return json.loads(line)

    def _stderr(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-2000:]

    def finish(self) -> int:
        """Close the input and wait for the end; return the exit status."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        return self._process.wait(LINE_TIMEOUT)

    def close(self) -> None:
        """End the child process and remove its files."""
        try:
            self.finish()
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(LINE_TIMEOUT)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class CliPool:
    """Keeps child processes started ahead, so that start-up overlaps with the running case."""

    def __init__(self, ahead: int = 2) -> None:
        self._ahead = ahead
        self._ready: deque[CliNexus] = deque()

    def take(self) -> CliNexus:
        """Return a fresh nexus and start the next ones."""
        while len(self._ready) <= self._ahead:
            self._ready.append(CliNexus())
        return self._ready.popleft()

    def close(self) -> None:
        """End the processes that nobody took."""
        while self._ready:
            self._ready.popleft().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
