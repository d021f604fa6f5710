"""`index` and `why` on a synthetic repository, against what they cannot do without: ratios of one run, and goals.

The floor of an index is parsing alone: `ast.parse` of the Python files, markdown-it for the documents and tree-sitter
for the rest, in one process. Answers of the command and the library are compared; a difference ends the run with exit
code 1. Times never do.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.report import DifferentError
from benchmarks.repository import SIZES, repository
from benchmarks.start import BARE, compiled_environment
from benchmarks.timing import no_collection, timed

COLD_GOAL, WARM_GOAL, START_GOAL, QUERY_GOAL, MEMORY_GOAL = 2.0, 0.2, 5.0, 5.0, 300.0
COMMAND = "from trivium.doors.program import main; main()"
MIB = 1 << 20


@dataclass(slots=True, frozen=True)
class Figure:
    """One row of the report: `base` and `ours` in `unit`; `judged` is what the goal bounds."""

    name: str
    base: float | None
    ours: float
    unit: str
    judged: float
    goal: float

    @property
    def ok(self) -> bool:
        return self.judged <= self.goal

    def show(self) -> None:
        base = "" if self.base is None else f"{self.base:.1f}"
        print(
            f"{self.name:56}{base:>10}{self.ours:>10.1f} {self.unit:5}{self.judged:>8.2f}"
            f"  {'ok' if self.ok else 'over':5}{self.goal:g}",
            flush=True,
        )


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.why", description=__doc__)
    parser.add_argument("--scale", choices=sorted(SIZES), default="full")
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(tempfile.gettempdir()) / "trivium-bench",
        help="where the repository is kept (default: %(default)s)",
    )
    parser.add_argument("--rounds", type=int, default=5, help="of a cold index, a warm one and their floor")
    parser.add_argument("--runs", type=int, default=15, help="of a whole process")
    parser.add_argument("--json", type=Path, help="write the report to a file as well")
    return parser.parse_args(arguments)


# --- indexing -------------------------------------------------------------------------------------


def parse_alone(root: Path) -> int:
    """Read and parse every file of the repository, and keep nothing."""
    from markdown_it import MarkdownIt
    from semble_grammars import get_language
    from tree_sitter import Parser

    markdown = MarkdownIt("commonmark").enable("table")
    typescript = Parser(get_language("typescript"))
    number = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            data = Path(folder, name).read_bytes()
            number += 1
            if name.endswith(".py"):
                ast.parse(data)
            elif name.endswith(".md"):
                markdown.parse(data.decode())
            elif name.endswith(".ts"):
                typescript.parse(data)
    return number


def index_into(database: Path, root: Path) -> Any:
    """One `index` of the repository into a database, as the command does it; no process of it is left."""
    import trivium
    from trivium.code import parse_worker

    with trivium.open(str(database)) as kb:
        summary = kb.repository_context(root, create=True).index_repository(root).summary
    parse_worker.close()
    return summary


def run_index(root: Path, folder: Path, rounds: int) -> list[Figure]:
    """Floor, cold index and index after one change, in turn; medians."""
    floor, cold, warm = [], [], []
    for number in range(rounds):
        database = folder / f"cold-{number}.db"
        floor.append(_timed(partial(parse_alone, root)))
        cold.append(_timed(partial(index_into, database, root)))
        with ChangedFile(root, number):
            warm.append(_timed(partial(index_into, database, root)))
    base, full, again = median(floor), median(cold), median(warm)
    figures = [
        Figure("index, cold / parsing alone (CPU)", base, full, "ms", min(cold) / min(floor), COLD_GOAL),
        Figure("index after one changed file / cold (CPU)", full, again, "ms", min(warm) / min(cold), WARM_GOAL),
    ]
    for figure in figures:
        figure.show()
    return figures


class ChangedFile:
    """One module with another text for as long as this is open."""

    def __init__(self, root: Path, number: int) -> None:
        modules = sorted(root.glob("src/*/*.py"))
        self.file = modules[random.Random(number).randrange(len(modules))]
        self.before = self.file.read_bytes()
        self.times = self.file.stat().st_mtime_ns

    def __enter__(self) -> None:
        self.file.write_bytes(self.before + b"\n\ndef added_by_the_benchmark() -> None: ...\n")

    def __exit__(self, *_: object) -> None:
        self.file.write_bytes(self.before)
        os.utime(self.file, ns=(self.times, self.times))


def _timed(call: Callable[[], object]) -> float:
    """CPU milliseconds, those of child processes included: other work on the machine disturbs them least."""
    gc.collect()
    start = _cpu()
    call()
    return (_cpu() - start) * 1000


# --- asking ---------------------------------------------------------------------------------------


def run_command(root: Path, database: Path, targets: list[str], runs: int) -> list[Figure]:
    """`why` as a whole process with its freshness check, against a process that imports APSW and json.

    Both find their modules compiled, as installed programs do.
    """
    bare = [sys.executable, "-c", BARE]
    commands = [[sys.executable, "-c", COMMAND, "why", target, "--json"] for target in targets]
    environment = compiled_environment() | {"TRIVIUM_DB": str(database)}
    for command, target in zip(commands, targets, strict=True):
        check_same(command, environment, root, database, target)
    process(bare, environment, root)
    bases: list[tuple[float, float]] = []
    samples: list[list[tuple[float, float]]] = [[] for _ in commands]
    for _ in range(runs):
        bases.append(process(bare, environment, root))
        for command, found in zip(commands, samples, strict=True):
            found.append(process(command, environment, root))
    figures = []
    for number, mode in enumerate(("wall", "CPU")):
        base = [times[number] for times in bases]
        asked = [[times[number] for times in found] for found in samples]
        for name, ours in (("why, whole process", asked[0]), ("why, slowest kind of target", max(asked, key=min))):
            name = f"{name} / import apsw, json ({mode})"
            figures.append(Figure(name, median(base), median(ours), "ms", min(ours) / min(base), START_GOAL))
            figures[-1].show()
    return figures


def check_same(why: list[str], environment: dict[str, str], root: Path, database: Path, target: str) -> None:
    """The command must print what the library answers."""
    import trivium

    with trivium.open(str(database)) as kb:
        expected = kb.repository_context(root).why(target)
    printed = subprocess.run(why, env=environment, cwd=root, check=True, capture_output=True, text=True).stdout
    if json.loads(printed) != expected:
        raise DifferentError(f"why {target}: the command and the library differ")


def process(command: list[str], environment: dict[str, str], place: Path) -> tuple[float, float]:
    """Wall and CPU milliseconds of a process and its children."""
    before = _cpu()
    start = perf_counter()
    subprocess.run(command, env=environment, cwd=place, check=True, stdout=subprocess.DEVNULL)
    return (perf_counter() - start) * 1000, (_cpu() - before) * 1000


def _cpu() -> float:
    """CPU seconds of this process and of the children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def run_library(root: Path, database: Path, targets: list[str]) -> list[Figure]:
    """The call on a loaded index: the slowest kind of target, by its median."""
    import trivium

    with trivium.open(str(database)) as kb:
        context = kb.repository_context(root)
        context.why(targets[0])
        with no_collection():
            slowest = max(median(timed(partial(context.why, target)) for _ in range(50)) for target in targets) / 1e6
    figure = Figure("why, library call on a loaded index (wall)", None, slowest, "ms", slowest, QUERY_GOAL)
    figure.show()
    return [figure]


PEAK = """import resource, sys
from pathlib import Path
from benchmarks.why import index_into
index_into(Path(sys.argv[1]), Path(sys.argv[2]))
peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
Path(sys.argv[3]).write_text(str(peak if sys.platform == "darwin" else peak * 1024))
"""


def run_memory(root: Path, folder: Path) -> list[Figure]:
    """Peak resident memory of a process that makes a cold index, with that of its largest child."""
    report = folder / "peak.txt"
    command = [sys.executable, "-c", PEAK, str(folder / "peak.db"), str(root), str(report)]
    subprocess.run(command, cwd=Path(__file__).parents[1], check=True)
    peak = int(report.read_text()) / MIB
    figure = Figure("index, cold: peak memory", None, peak, "MiB", peak, MEMORY_GOAL)
    figure.show()
    return [figure]


# --- all together ---------------------------------------------------------------------------------


def targets_of(root: Path) -> list[str]:
    """A path, a symbol, a directory, a record, a path with a line, and one that nothing matches."""
    from trivium.code.symbols import analyse

    module = sorted(root.glob("src/*/*.py"))[0]
    path = module.relative_to(root).as_posix()
    found = analyse(path, module.read_bytes())
    record = sorted(root.glob("docs/adr/*.md"))[0].relative_to(root).as_posix()
    symbol = found.exports[0] if found is not None else path
    return [path, symbol, "src", record, f"{path}:12", "Nothing of this name"]


def run_all(options: argparse.Namespace) -> list[Figure]:
    root = repository(options.dir, options.scale)
    targets = targets_of(root)
    print(f"{'':56}{'base':>10}{'ours':>10} {'':5}{'judged':>8}  {'':5}goal")
    with tempfile.TemporaryDirectory(prefix="trivium-why-") as name:
        folder = Path(name)
        figures = run_index(root, folder, options.rounds)
        database = folder / "why.db"
        index_into(database, root)
        figures += run_command(root, database, targets, options.runs)
        figures += run_library(root, database, targets)
        figures += run_memory(root, folder)
    return figures


def main(arguments: list[str] | None = None) -> int:
    options = options_of(arguments)
    try:
        figures = run_all(options)
    except DifferentError as error:
        print(error, file=sys.stderr)
        return 1
    over = sum(not figure.ok for figure in figures)
    print(f"\n{len(figures)} figures, {over} over their goals")
    if options.json:
        rows = [asdict(figure) | {"ok": figure.ok} for figure in figures]
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
