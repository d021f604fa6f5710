"""Many writers raise one counter under `EXPECT VERSION`, and no step may be lost.

    python -m scripts.counters --processes 8 --steps 500

Each writer reads the counter with its version, adds one, writes it guarded, and reads again on KIP_3005 (§2.11.2).
First several processes share a file, then several threads share one open knowledge base. Readers run alongside. The
counter must end at exactly writers times steps, it must never be seen to go back, and no answer but KIP_3005 may ever
be an error. Prints a table; exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import trivium

READ = 'FIND(?c.attributes.value, ?c.attributes.log, ?c.metadata._version) WHERE { ?c {type: "Counter", name: "all"} }'
WRITE = """
UPSERT {
  CONCEPT {
    {type: "Counter", name: "all"}
    EXPECT VERSION :version
    SET ATTRIBUTES { value: :value, log: :log }
  }
}
"""
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Counter"} }
  CONCEPT { {type: "Counter", name: "all"} SET ATTRIBUTES { value: 0, log: {} } }
}
"""
CONFLICT = "KIP_3005"
MANY = 20
"""Faults after which a writer gives up."""


class Queue(Protocol):
    """Where workers leave what they have counted."""

    def put(self, item: Any, /) -> None: ...


class Flag(Protocol):
    """Tells readers to stop."""

    def is_set(self) -> bool: ...


@dataclass
class Figures:
    """What one run has shown."""

    writers: str
    expected: int
    counter: int = 0
    log: dict[str, int] = field(default_factory=dict)
    conflicts: int = 0
    reads: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """The counter and each writer's own entry in the log are complete, and nothing else went wrong."""
        return self.counter == self.expected == sum(self.log.values()) and not self.faults

    def table(self) -> str:
        rows = {
            "writers": self.writers,
            "expected": self.expected,
            "counter": self.counter,
            "sum of the writers' own entries": sum(self.log.values()),
            "conflicts that were retried": self.conflicts,
            "reads alongside": self.reads,
            "faults": sum(self.faults.values()),
            "seconds": f"{self.seconds:.1f}",
        }
        return "\n".join(f"{name:34}{value}" for name, value in rows.items())


def write(kb: trivium.KnowledgeBase, name: str, steps: int, queue: Queue) -> None:
    """Raise the counter `steps` times, with this writer's own entry in its log."""
    conflicts = 0
    faults: Counter[str] = Counter()
    for _ in range(steps):
        while sum(faults.values()) < MANY:
            answer = kb.execute_kip({"command": READ})
            if "error" in answer:
                faults[f"read: {answer['error']}"] += 1
                continue
            (value,), (log,), (version,) = answer["result"]
            log[name] = log.get(name, 0) + 1
            answer = kb.execute_kip(
                {"command": WRITE, "parameters": {"version": version, "value": value + 1, "log": log}}
            )
            if "error" not in answer:
                break
            if answer["error"]["code"] != CONFLICT:
                faults[f"write: {answer['error']}"] += 1
            conflicts += 1
    queue.put((conflicts, 0, faults))


def watch(kb: trivium.KnowledgeBase, stop: Flag, queue: Queue) -> None:
    """Read until told to stop; the counter only rises, and value and log belong together."""
    reads = last = 0
    faults: Counter[str] = Counter()
    while not stop.is_set():
        answer = kb.execute_kip({"command": READ}, readonly=True)
        reads += 1
        if "error" in answer:
            faults[f"reader: {answer['error']}"] += 1
            continue
        (value,), (log,), _ = answer["result"]
        if value < last or sum(log.values()) != value:
            faults[f"reader: {value} after {last}, log of {sum(log.values())}"] += 1
        last = value
    queue.put((0, reads, faults))


def _write_process(path: str, name: str, steps: int, queue: Queue) -> None:
    with trivium.open(path) as kb:
        write(kb, name, steps, queue)


def _watch_process(path: str, stop: Flag, queue: Queue) -> None:
    with trivium.open(path) as kb:
        watch(kb, stop, queue)


def _collect(figures: Figures, kb: trivium.KnowledgeBase, notes: list[tuple[int, int, Counter[str]]]) -> Figures:
    for conflicts, reads, faults in notes:
        figures.conflicts += conflicts
        figures.reads += reads
        figures.faults += faults
    (figures.counter,), (figures.log,), _ = kb.execute_kip({"command": READ})["result"]
    if not kb.doctor()["ok"]:
        figures.faults["doctor finds faults"] += 1
    return figures


def with_processes(path: Path, processes: int, steps: int, readers: int = 2) -> Figures:
    """Writers in processes of their own on one file."""
    figures = Figures(f"{processes} processes", processes * steps)
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    stop = context.Event()
    with trivium.open(str(path)) as kb:
        kb.execute_kip({"command": SCHEMA})
        begin = time.perf_counter()
        writing = [
            context.Process(target=_write_process, args=(str(path), f"w{index}", steps, queue), daemon=True)
            for index in range(processes)
        ]
        reading = [
            context.Process(target=_watch_process, args=(str(path), stop, queue), daemon=True) for _ in range(readers)
        ]
        for process in writing + reading:
            process.start()
        notes = [queue.get(timeout=600) for _ in writing]
        stop.set()
        notes += [queue.get(timeout=600) for _ in reading]
        for process in writing + reading:
            process.join()
            if process.exitcode:
                figures.faults[f"exit code {process.exitcode}"] += 1
        figures.seconds = time.perf_counter() - begin
        return _collect(figures, kb, notes)


def with_threads(path: str, threads: int, steps: int, readers: int = 2) -> Figures:
    """Writers in threads that share one open knowledge base."""
    figures = Figures(f"{threads} threads, {'memory' if path == ':memory:' else 'file'}", threads * steps)
    notes: list[tuple[int, int, Counter[str]]] = []
    stop = threading.Event()

    class Notes:
        def put(self, item: Any, /) -> None:
            notes.append(item)

    with trivium.open(path) as kb:
        kb.execute_kip({"command": SCHEMA})
        begin = time.perf_counter()
        writing = [
            threading.Thread(target=write, args=(kb, f"w{index}", steps, Notes()), daemon=True)
            for index in range(threads)
        ]
        reading = [threading.Thread(target=watch, args=(kb, stop, Notes()), daemon=True) for _ in range(readers)]
        for thread in writing + reading:
            thread.start()
        for thread in writing:
            thread.join()
        stop.set()
        for thread in reading:
            thread.join()
        figures.seconds = time.perf_counter() - begin
        if len(notes) != threads + readers:
            figures.faults["threads that ended with an exception"] += threads + readers - len(notes)
        return _collect(figures, kb, notes)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.counters", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--processes", type=int, default=8, help="writing processes (default: 8)")
    parser.add_argument("--threads", type=int, default=8, help="writing threads (default: 8)")
    parser.add_argument("--readers", type=int, default=2, help="readers alongside (default: 2)")
    parser.add_argument("--steps", type=int, default=500, help="steps of each writer (default: 500)")
    options = parser.parse_args(arguments)
    ok = True
    with tempfile.TemporaryDirectory(prefix="trivium-counters-") as folder:
        home = Path(folder)
        runs: list[Callable[[], Figures]] = [
            lambda: with_processes(home / "processes.db", options.processes, options.steps, options.readers),
            lambda: with_threads(str(home / "threads.db"), options.threads, options.steps, options.readers),
            lambda: with_threads(":memory:", options.threads, options.steps, options.readers),
        ]
        for run in runs:
            figures = run()
            print(figures.table(), end="\n\n", flush=True)
            for fault, count in figures.faults.most_common(10):
                print(f"{count} x {fault}")
            ok = ok and figures.ok
    return 0 if ok else 1


if __name__ == "__main__":
    from scripts import counters  # under this name the processes import it

    sys.exit(counters.main())
