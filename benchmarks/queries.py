"""Timing of query shapes: texts seen before, parameters, and texts never seen."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import trivium
from benchmarks.report import (
    ANCHORED_GOAL,
    LONG_GOAL,
    UNSEEN_GOAL,
    DifferentError,
    Line,
    Response,
    check_same,
    line,
    rows_of,
    show,
)
from benchmarks.shapes import ANCHORED, SHAPES, Shape, Values
from benchmarks.timing import Pair, interleave, once, rounds_for
from trivium.settings import Settings
from trivium.store.sqlite import Session, SqliteStore

DISTINCT = 32
UNSEEN = 200
LONG = 50
FOREVER = 1e9

UNSEEN_SHAPES = {
    "point by type and name": "a",
    "one hop, name only": "b",
    "two hops, number filter": "c",
    "NOT": "b",
    "OPTIONAL, three projections": "b",
    "ancestors {1,4} of a leaf": "b",
}
"""Shapes that are also timed with texts never seen, and the variable that a filter is added to."""


class ReadBench:
    """An open knowledge base beside a second connection to the same file, opened with the same settings."""

    def __init__(self, path: Path) -> None:
        self.knowledge_base = trivium.open(str(path))
        self._store = SqliteStore(str(path), Settings())
        self.session: Session = self._store.checkout(timeout=FOREVER)

    def close(self) -> None:
        self.knowledge_base.close()
        self._store.close()

    def ours(self, text: str, parameters: dict[str, Any] | None = None) -> partial[Response]:
        """The call of a command."""
        request: dict[str, Any] = {"command": text}
        if parameters is not None:
            request["parameters"] = parameters
        return partial(self.knowledge_base.execute_kip, request)


# --- texts seen before ----------------------------------------------------------------------------


def run_cached(bench: ReadBench, only: str, seconds: float) -> list[Line]:
    """Every shape by `text` (a few dozen texts, repeated) and by `parameters` (one text)."""
    lines = []
    for shape in SHAPES:
        if only not in shape.name:
            continue
        values = shape.values(bench.session, DISTINCT)
        if not values:
            raise DifferentError(f"{shape.name}: the graph has no values for it")
        for mode in ("text", "parameters"):
            lines.append(_cached(bench, shape, values, mode, seconds))
            show(lines[-1])
    return lines


def _cached(bench: ReadBench, shape: Shape, values: list[Values], mode: str, seconds: float) -> Line:
    pairs = _pairs(bench, shape, values, literal=mode == "text")
    sizes = []
    for hand, our in pairs:
        expected = hand()
        check_same(shape.name, expected, our(), ordered=shape.ordered)
        sizes.append(len(rows_of(expected)))
    rows = int(median(sizes))
    timing = interleave(pairs, rounds_for(pairs, seconds))
    goal = ANCHORED_GOAL if shape.goal == ANCHORED and rows < LONG else LONG_GOAL
    return line("query", shape.name, mode, rows, timing, goal)


def _pairs(bench: ReadBench, shape: Shape, values: list[Values], *, literal: bool) -> list[Pair]:
    pairs: list[Pair] = []
    for given in values:
        own, theirs = _second_page(bench, shape, given, literal=literal) if shape.follow else (given, given)
        our = bench.ours(shape.literal(own)) if literal else bench.ours(shape.text, own)
        pairs.append((partial(shape.hand, bench.session, theirs), our))
    return pairs


def _second_page(bench: ReadBench, shape: Shape, values: Values, *, literal: bool) -> tuple[Values, Values]:
    """The values of both sides, each with its own cursor from its own first page."""
    first = replace(shape, text=shape.text.replace(" CURSOR :cursor", ""))
    ours = bench.ours(first.literal(values)) if literal else bench.ours(first.text, values)
    hand = first.hand(bench.session, values)
    return {**values, "cursor": ours()["next_cursor"]}, {**values, "cursor": hand["next_cursor"]}


# --- texts never seen -----------------------------------------------------------------------------


def run_unseen(bench: ReadBench, only: str) -> list[Line]:
    """Each text runs once: new values in a known shape, and a shape that was never there."""
    lines = []
    for shape in SHAPES:
        if only in shape.name and shape.name in UNSEEN_SHAPES:
            values = shape.values(bench.session, UNSEEN)
            for given in values:  # the pages that they need are then in memory for both sides
                shape.hand(bench.session, given)
            for mode, texts in (("known shape", _literals(shape, values)), ("new shape", _new_shapes(shape, values))):
                lines.append(_unseen(bench, shape, values, texts, mode))
                show(lines[-1])
    return lines


def _unseen(bench: ReadBench, shape: Shape, values: list[Values], texts: list[str], mode: str) -> Line:
    pairs: list[Pair] = [
        (partial(shape.hand, bench.session, given), bench.ours(text)) for given, text in zip(values, texts, strict=True)
    ]
    timing, results = once(pairs, warm=min(5, len(pairs) // 2))
    for hand, ours in results:
        check_same(shape.name, hand, ours, ordered=shape.ordered)
    rows = int(median(len(rows_of(hand)) for hand, _ in results))
    return line("unseen", shape.name, mode, rows, timing, UNSEEN_GOAL)


def _literals(shape: Shape, values: list[Values]) -> list[str]:
    return [shape.literal(given) for given in values]


def _new_shapes(shape: Shape, values: list[Values]) -> list[str]:
    """A filter on a key that no node has makes every text a shape, and an SQL statement, of its own."""
    var = UNSEEN_SHAPES[shape.name]
    return [
        f"{text[:-2]} FILTER(IS_NULL(?{var}.attributes.unused_{number})) }}"
        for number, text in enumerate(_literals(shape, values))
    ]
