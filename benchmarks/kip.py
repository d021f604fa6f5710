"""KIP commands against hand-written SQL on the same file: times, ratios and goals.

Every response is compared with the hand-written one before anything is timed; a difference ends the run with exit
code 1. Times never do: they are printed beside their goals.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import trivium
from benchmarks.graph import SCALES, Scale, graph_file
from benchmarks.shapes import ANCHORED, SHAPES, Response, Shape, Values
from benchmarks.timing import Pair, Timing, interleave, rounds_for
from trivium.settings import Settings
from trivium.store.sqlite import Session, SqliteStore

DISTINCT = 32
FOREVER = 1e9


class DifferentError(Exception):
    """The two sides do not give the same result."""


@dataclass(slots=True, frozen=True)
class Line:
    """One row of the report. Times are microseconds unless the unit says otherwise."""

    part: str
    name: str
    mode: str
    rows: int
    hand: float
    ours: float
    ratio: float
    goal: str
    ok: bool


class Bench:
    """An open knowledge base beside a second connection to the same file, opened with the same settings."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path = path
        self.seconds = seconds
        self.knowledge_base = trivium.open(str(path))
        self._store = SqliteStore(str(path), Settings())
        self.session: Session = self._store.checkout(timeout=FOREVER)

    def close(self) -> None:
        self.knowledge_base.close()
        self._store.close()

    def ask(self, text: str, parameters: dict[str, Any] | None = None) -> Response:
        request: dict[str, Any] = {"command": text}
        if parameters is not None:
            request["parameters"] = parameters
        return self.knowledge_base.execute_kip(request)


# --- queries --------------------------------------------------------------------------------------


def rows_of(response: Response) -> list[Any]:
    """The rows of a result: members of one column, or tuples across several."""
    result = response["result"]
    if result and all(isinstance(column, list) for column in result):
        return list(zip(*result, strict=True))
    return list(result)


def check_same(shape: Shape, hand: Response, ours: Response) -> None:
    """The responses must be equal; where the order of rows is free, as bags. Cursor tokens are each side's own."""
    if ("next_cursor" in hand) == ("next_cursor" in ours) and "result" in ours:
        if hand["result"] == ours["result"]:
            return
        if not shape.ordered and _bag(hand) == _bag(ours):
            return
    raise DifferentError(f"{shape.name}: the responses differ\n  SQL {_short(hand)}\n  KIP {_short(ours)}")


def _bag(response: Response) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows_of(response))


def _short(response: Response) -> str:
    text = json.dumps(response, ensure_ascii=False)
    return text if len(text) < 600 else text[:600] + "…"


def query_pairs(bench: Bench, shape: Shape, values: list[Values], *, literal: bool) -> list[tuple[Call, Call]]:
    """Calls of both sides for every set of values."""
    pairs: list[Pair] = []
    for own in values:
        theirs = dict(own)
        if shape.follow:
            own, theirs = _second_page(bench, shape, own, literal=literal)
        text = shape.literal(own) if literal else shape.text
        request: dict[str, Any] = {"command": text} if literal else {"command": text, "parameters": own}
        pairs.append((partial(shape.hand, bench.session, theirs), partial(bench.knowledge_base.execute_kip, request)))
    return pairs


def _second_page(bench: Bench, shape: Shape, values: Values, *, literal: bool) -> tuple[Values, Values]:
    """The values of both sides with their own cursors."""
    first = Shape(shape.name, shape.goal, shape.text.replace(" CURSOR :cursor", ""), (), "", shape.hand)
    ours = bench.ask(first.literal(values)) if literal else bench.ask(first.text, values)
    hand = first.hand(bench.session, values)
    return {**values, "cursor": ours["next_cursor"]}, {**values, "cursor": hand["next_cursor"]}


Call = Callable[[], Any]


def run_queries(bench: Bench, only: str) -> list[Line]:
    lines = []
    for shape in SHAPES:
        if only not in shape.name:
            continue
        values = shape.values(bench.session, DISTINCT)
        if not values:
            raise DifferentError(f"{shape.name}: the graph has no values for it")
        for mode, literal in (("text", True), ("parameters", False)):
            pairs = query_pairs(bench, shape, values, literal=literal)
            sizes = []
            for hand, our in pairs:
                expected = hand()
                check_same(shape, expected, our())
                sizes.append(len(rows_of(expected)))
            timing = interleave(pairs, rounds_for(pairs, bench.seconds))
            lines.append(query_line(shape, mode, int(median(sizes)), timing))
            show(lines[-1])
    return lines


def query_line(shape: Shape, mode: str, rows: int, timing: Timing) -> Line:
    if shape.goal == ANCHORED and rows < 50:
        goal, ok = "1.5x + 30 us", timing.ours <= 1.5 * timing.hand + 30
    else:
        goal, ok = "1.3x", timing.ratio <= 1.3
    return Line("query", shape.name, mode, rows, timing.hand, timing.ours, timing.ratio, goal, ok)


# --- report ---------------------------------------------------------------------------------------

HEAD = f"{'':38}{'mode':12}{'rows':>6}{'ratio':>8}{'SQL us':>11}{'KIP us':>11}{'extra':>10}  goal"


def show(line: Line) -> None:
    print(
        f"{line.name:38}{line.mode:12}{line.rows:>6}{line.ratio:>8.2f}{line.hand:>11.1f}{line.ours:>11.1f}"
        f"{line.ours - line.hand:>10.1f}  {'ok  ' if line.ok else 'over'} {line.goal}",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--scale", choices=sorted(SCALES), default="full")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "trivium-bench")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each shape and mode")
    parser.add_argument("--only", default="", help="a part of the names of the query shapes to run")
    parser.add_argument("--json", type=Path, help="write the report to a file as well")
    options = parser.parse_args(arguments)
    scale: Scale = SCALES[options.scale]
    bench = Bench(graph_file(options.dir, scale), options.seconds)
    try:
        print(HEAD)
        lines = run_queries(bench, options.only)
    except DifferentError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        bench.close()
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in lines], indent=1) + "\n")
    return 0
