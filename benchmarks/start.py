"""A whole process that opens a file and asks one question, against one that only imports APSW and json."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.report import START_GOAL, Line, show

BARE = "import apsw, json"
OURS = """import trivium
kb = trivium.open({file!r})
assert "result" in kb.execute_kip({{"command": 'FIND(?d.name) WHERE {{ ?d {{type: "Domain"}} }}'}})
"""


def run_start(path: Path, runs: int) -> list[Line]:
    """Wall and CPU milliseconds, medians of interleaved runs; both find their modules compiled, as when installed."""
    bare, ours = BARE, OURS.format(file=str(path))
    run(bare)
    run(ours)
    samples = [(run(bare), run(ours)) for _ in range(runs)]
    lines = []
    for place, mode in enumerate(("wall", "CPU")):
        hand = median(first[place] for first, _ in samples)
        own = median(second[place] for _, second in samples)
        best = min(second[place] for _, second in samples) / min(first[place] for first, _ in samples)
        name = "first FIND in a new process"
        lines.append(Line("start", name, mode, runs, hand, own, best, START_GOAL, own <= 5 * hand))
        show(lines[-1])
    return lines


def compiled_environment() -> dict[str, str]:
    """The environment without the word that forbids Python to keep compiled modules."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(code: str) -> tuple[float, float]:
    """Wall and CPU milliseconds of a Python process."""
    start = perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], env=compiled_environment())
    _, status, usage = os.wait4(process.pid, 0)
    wall = perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the process failed with {process.returncode}")
    return wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000
