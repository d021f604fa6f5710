"""KIP commands against hand-written SQL on the same file: ratios, times and goals.

Every response is compared with the hand-written one; a difference ends the run with exit code 1. Times never do: they
are printed beside their goals.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.graph import SCALES, graph_file
from benchmarks.queries import ReadBench, run_cached, run_unseen
from benchmarks.report import DifferentError, Line, show_head
from benchmarks.start import run_start
from benchmarks.writes import run_import, run_writes

PARTS = ("query", "unseen", "write", "import", "start")


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--scale", choices=sorted(SCALES), default="full")
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(tempfile.gettempdir()) / "trivium-bench",
        help="where built graphs are kept (default: %(default)s)",
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="for each query shape and mode")
    parser.add_argument("--runs", type=int, default=15, help="of a whole process")
    parser.add_argument("--part", action="append", choices=PARTS, help="run these parts only")
    parser.add_argument("--only", default="", help="a part of the names of the shapes to run")
    parser.add_argument("--json", type=Path, help="write the report to a file as well")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> list[Line]:
    """All chosen parts, printed as they come."""
    path = graph_file(options.dir, SCALES[options.scale])
    parts = options.part or PARTS
    lines: list[Line] = []
    if "query" in parts:
        show_head("Queries: texts repeated, and parameters", "us")
        lines += _reading(path, lambda bench: run_cached(bench, options.only, options.seconds))
    if "unseen" in parts:
        show_head("Queries: texts never seen before", "us")
        lines += _reading(path, lambda bench: run_unseen(bench, options.only))
    if "write" in parts:
        show_head("Writes: one transaction each", "us")
        lines += run_writes(path, options.dir, options.only, options.scale)
    if "import" in parts:
        show_head("Import: capsules of 200 blocks (us for one element)", "us")
        lines += run_import(options.dir, options.scale)
    if "start" in parts:
        show_head("A whole process", "ms")
        lines += run_start(path, options.runs)
    return lines


def _reading(path: Path, work: Callable[[ReadBench], list[Line]]) -> list[Line]:
    bench = ReadBench(path)
    try:
        return work(bench)
    finally:
        bench.close()


def main(arguments: list[str] | None = None) -> int:
    options = options_of(arguments)
    try:
        lines = run(options)
    except DifferentError as error:
        print(error, file=sys.stderr)
        return 1
    over = sum(not found.ok for found in lines)
    print(f"\n{len(lines)} lines, all results equal, {over} over their goals")
    if options.json:
        options.json.write_text(json.dumps([found.to_dict() for found in lines], indent=1) + "\n")
    return 0
