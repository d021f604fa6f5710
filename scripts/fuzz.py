"""Throw damaged and generated texts at the parser and at `execute_kip`.

    python -m scripts.fuzz --texts 1000000

Whatever the text, the parser answers with a tree or a KipError, and `execute_kip` with a response object that JSON can
carry: never KIP_4003, never another exception, never a hang. What parses must format, and parse again to an equal
tree; what a capsule importer cuts must be the text again. After every chunk `doctor` must find nothing. A part of the
texts is executed on a small nexus in memory, with parameters of any kind and with malformed requests.

A chunk follows from the seed and its number alone; `--chunk` runs one again. Prints a table and one example of each
kind of fault; exits with 1 if there was any.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import multiprocessing
import os
import queue
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trivium
from scripts import fuzz_texts
from scripts.fuzz_texts import Case
from trivium.errors import KIP_CODES, KipError, TriviumError
from trivium.kip.capsule_text import split_statements
from trivium.kip.check import check
from trivium.kip.format import format_command
from trivium.kip.lexer import MAX_BYTES
from trivium.kip.parser import Parsed, parse

CHUNK = 2_000
SLOW = 2.0
"""Seconds of processor time that one text may take."""
HUNG = 60.0
"""Seconds on the clock after which a text counts as a hang and its process is killed."""
STATEMENT_TIMEOUT = 1.5
MEMORY = 4 << 30
"""Address space of a worker, so that a fault cannot take the machine down."""


@dataclass
class Figures:
    """What was run and what went wrong."""

    texts: int = 0
    parsed: int = 0
    executed: int = 0
    succeeded: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0
    slowest_at: int = -1
    slowest_size: int = 0
    peak: int = 0
    """Resident memory of the largest worker, in KiB."""
    seconds: float = 0.0

    def add(self, other: Figures) -> None:
        self.texts += other.texts
        self.parsed += other.parsed
        self.executed += other.executed
        self.succeeded += other.succeeded
        self.codes += other.codes
        self.faults += other.faults
        self.examples = other.examples | self.examples
        if other.slowest > self.slowest:
            self.slowest, self.slowest_at, self.slowest_size = other.slowest, other.slowest_at, other.slowest_size
        self.peak = max(self.peak, other.peak)

    def fault(self, kind: str, example: str) -> None:
        self.faults[kind] += 1
        self.examples.setdefault(kind, example)

    @property
    def ok(self) -> bool:
        return not self.faults

    def table(self) -> str:
        rows = {
            "texts": f"{self.texts:,}",
            "parsed": f"{self.parsed:,} ({_share(self.parsed, self.texts)})",
            "executed": f"{self.executed:,} ({_share(self.executed, self.texts)})",
            "executed with success": f"{self.succeeded:,} ({_share(self.succeeded, self.executed)})",
            "errors by code": ", ".join(f"{code} {count:,}" for code, count in sorted(self.codes.items())),
            "faults": sum(self.faults.values()),
            "slowest text": f"{self.slowest * 1e3:.0f} ms (number {self.slowest_at}, {self.slowest_size:,} characters)",
            "peak memory of a worker": f"{self.peak / 1024:.0f} MB",
            "seconds": f"{self.seconds:.0f}",
        }
        return "\n".join(f"{name:26}{value}" for name, value in rows.items())

    def report(self) -> str:
        return "\n\n".join(f"{count} x {kind}\n{self.examples[kind]}" for kind, count in self.faults.most_common())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "none"


# --- one text -------------------------------------------------------------------------------------


class Runner:
    """Runs the cases of one chunk in order, on a nexus of its own."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.figures = Figures()
        self.kb = trivium.open(timeout=STATEMENT_TIMEOUT, max_rows=20_000)
        for name in fuzz_texts.SETUPS:
            text = (fuzz_texts.SUITES / "setups" / f"{name}.kip").read_text(encoding="utf-8")
            response = self.kb.execute_kip({"command": text})
            if "error" in response:
                raise ValueError(f"the setup {name} does not load: {response['error']}")

    def run(self, number: int) -> None:
        case = fuzz_texts.make(self.seed, number)
        self.figures.texts += 1
        begin = time.thread_time()
        if case.request is None:
            self._guard(number, case, "parser", lambda: self._parse(number, case))
        else:
            self.figures.executed += 1
            self._guard(number, case, "execute_kip", lambda: self._execute(number, case))
        taken = time.thread_time() - begin
        if taken > self.figures.slowest:
            self.figures.slowest, self.figures.slowest_at = taken, number
            self.figures.slowest_size = len(case.text)
        if taken > SLOW:
            self._fault(f"took more than {SLOW:g} s", number, case, f"{taken:.1f} s")

    def finish(self) -> Figures:
        report = self.kb.doctor()
        for finding in report["checks"]:
            if not finding["ok"]:
                self.figures.fault(f"doctor: {finding['name']}", finding["detail"])
        self.kb.close()
        return self.figures

    def _guard(self, number: int, case: Case, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            self._fault(f"{what} raised {type(error).__name__} at {place}", number, case, _clip(error))

    def _fault(self, kind: str, number: int, case: Case, detail: str) -> None:
        request = "" if case.request is None else f"\n  request: {_clip(case.request)}"
        self.figures.fault(kind, f"  number {number}: {detail}\n  text: {_clip(case.text)}{request}")

    def _parse(self, number: int, case: Case) -> None:
        try:
            parsed = parse(case.text)
        except KipError as error:
            self.figures.codes[error.code] += 1
            if error.code not in ("KIP_1001", "KIP_1002", "KIP_4002"):
                self._fault(f"parser answered {error.code}", number, case, error.message)
            self._check_error(number, case, error.to_dict())
        else:
            self.figures.parsed += 1
            self._format(number, case, parsed)
        if number % 31 == 0:
            self._split(number, case)
        if number % 37 == 0:
            check(case.text)

    def _format(self, number: int, case: Case, parsed: Parsed) -> None:
        once = format_command(parsed)
        if len(once.encode()) > MAX_BYTES:
            return  # the layout is wider than the text was, and a text has its limit
        again = parse(once)
        if repr(again.command) != repr(parsed.command):
            self._fault("the formatted text has another tree", number, case, _clip(once))
        elif format_command(again) != once:
            self._fault("formatting twice is not formatting once", number, case, _clip(once))

    def _split(self, number: int, case: Case) -> None:
        try:
            parts = list(split_statements(case.text))
        except TriviumError:
            return
        if parts and "".join(parts) != case.text:
            self._fault("the cut capsule is not the capsule", number, case, f"{len(parts)} parts")

    def _execute(self, number: int, case: Case) -> None:
        response = self.kb.execute_kip(case.request, readonly=case.readonly)
        self._check_response(number, case, response)
        if number % 41 == 0 and isinstance(case.request, dict) and isinstance(case.request.get("command"), str):
            self.kb.explain_kip(case.request["command"], {})

    def _check_response(self, number: int, case: Case, response: Any, depth: int = 0) -> None:
        batch = isinstance(case.request, dict) and "commands" in case.request and depth == 0
        if not isinstance(response, dict) or not (
            set(response) <= {"result", "next_cursor"} or set(response) == {"error"}
        ):
            self._fault("a response of another shape", number, case, _clip(response))
        elif "error" in response:
            self.figures.codes[response["error"]["code"]] += 1
            self._check_error(number, case, response["error"])
        elif "result" not in response:
            self._fault("a response without a result", number, case, _clip(response))
        elif batch:
            for member in response["result"]:
                self._check_response(number, case, member, depth + 1)
        else:
            self.figures.succeeded += depth == 0
            self._check_json(number, case, response)

    def _check_error(self, number: int, case: Case, error: Any) -> None:
        code = error.get("code")
        if code == "KIP_4003" or code not in KIP_CODES:
            message = str(error.get("message"))
            self._fault(f"answered {code}: {message[:60]}", number, case, message)
        elif (
            set(error) - {"position"} != {"code", "name", "message", "hint"}
            or not error["message"]
            or not error["hint"]
        ):
            self._fault("an error of another shape", number, case, _clip(error))
        self._check_json(number, case, error)

    def _check_json(self, number: int, case: Case, value: Any) -> None:
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            self._fault(f"a response that JSON cannot carry: {type(error).__name__}", number, case, _clip(value))


def _clip(value: Any, longest: int = 600) -> str:
    try:
        text = ascii(value)
    except (RecursionError, ValueError) as error:
        return f"<{type(value).__name__}: {error}>"
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 3 :]}"


# --- many texts -----------------------------------------------------------------------------------


def run_chunk(seed: int, chunk: int, size: int = CHUNK, at: Any = None) -> Figures:
    """The texts of one chunk. `at` is shared memory in which a watcher can see the number at hand and its beginning."""
    runner = Runner(seed)
    for number in range(chunk * CHUNK, chunk * CHUNK + size):
        if at is not None:
            at[0], at[1] = number, time.monotonic()
        runner.run(number)
    figures = runner.finish()
    figures.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return figures


def _work(seed: int, chunks: list[tuple[int, int]], at: Any, results: Any) -> None:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    fuzz_texts.corpus()
    for chunk, size in chunks:
        results.put((chunk, run_chunk(seed, chunk, size, at)))
    at[1] = float("inf")


class _Worker:
    """A process and the chunks it still has to do."""

    def __init__(self, seed: int, chunks: list[tuple[int, int]], results: Any) -> None:
        self.seed = seed
        self.chunks = chunks
        self.results = results
        self.context = multiprocessing.get_context("spawn")
        self.start()

    def start(self) -> None:
        self.at = self.context.Array("d", [-1, time.monotonic() + HUNG], lock=False)
        self.process = self.context.Process(
            target=_work, args=(self.seed, self.chunks, self.at, self.results), daemon=True
        )
        self.process.start()

    def done(self, chunk: int) -> bool:
        """Take note of a finished chunk, if it is one of this worker."""
        before = len(self.chunks)
        self.chunks = [item for item in self.chunks if item[0] != chunk]
        return len(self.chunks) < before

    def watch(self, figures: Figures) -> None:
        """Kill a process that hangs, and go on behind the chunk in which it hung or died."""
        hung = time.monotonic() - self.at[1] > HUNG
        if not self.chunks or (self.process.is_alive() and not hung):
            return
        number = int(self.at[0])
        case = _clip(fuzz_texts.make(self.seed, number)) if number >= 0 else "before the first text"
        if hung and self.process.is_alive():
            figures.fault("a text hangs", f"  number {number}: {case}")
            if self.process.pid is not None:
                os.kill(self.process.pid, signal.SIGABRT)  # faulthandler prints where it was
        else:
            figures.fault(f"a worker died with exit code {self.process.exitcode}", f"  number {number}: {case}")
        self.process.join()
        self.chunks = self.chunks[1:]
        if self.chunks:
            self.start()


def run(texts: int, seed: int = 1, workers: int = 2, progress: Callable[[Figures], None] | None = None) -> Figures:
    """Run that many texts, spread over processes that are watched."""
    begin = time.perf_counter()
    figures = Figures()
    sizes = [(chunk, min(CHUNK, texts - chunk * CHUNK)) for chunk in range((texts + CHUNK - 1) // CHUNK)]
    results: Any = multiprocessing.get_context("spawn").Queue()
    crew = [_Worker(seed, sizes[index::workers], results) for index in range(workers)]
    while any(worker.chunks for worker in crew):
        try:
            chunk, found = results.get(timeout=0.5)
        except queue.Empty:
            for worker in crew:
                worker.watch(figures)
            continue
        figures.add(found)
        for worker in crew:
            worker.done(chunk)
        figures.seconds = time.perf_counter() - begin
        if progress is not None:
            progress(figures)
    for worker in crew:
        worker.process.join()
    figures.seconds = time.perf_counter() - begin
    return figures


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--texts", type=int, default=1_000_000, help="how many texts (default: 1000000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all texts (default: 1)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--chunk", type=int, help="run only this chunk of 2000 texts, in this process")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print one case instead of running any")
    options = parser.parse_args(arguments)
    if options.show is not None:
        case = fuzz_texts.make(options.seed, options.show)
        print(ascii(case.text), ascii(case.request), f"readonly={case.readonly}", sep="\n")
        return 0

    def progress(figures: Figures) -> None:
        if sys.stderr.isatty():
            print(f"\r{figures.texts:,} texts, {sum(figures.faults.values())} faults", end=" ", file=sys.stderr)

    if options.chunk is not None:
        figures = run_chunk(options.seed, options.chunk)
    else:
        figures = run(options.texts, options.seed, options.workers, progress)
    print(figures.table())
    if not figures.ok:
        print(f"\n{figures.report()}")
    return 0 if figures.ok else 1


if __name__ == "__main__":
    from scripts import fuzz  # under this name the workers import it

    sys.exit(fuzz.main())
