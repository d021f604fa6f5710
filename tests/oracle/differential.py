"""Runs random queries on the engine and on the oracle and reports where they differ.

Usage: ``python -m tests.oracle.differential --seed N --graphs G --queries Q [--start I]``
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.oracle.compare import Mismatch, check_query, expected_text
from tests.oracle.engine import Engine, load, open_engine
from tests.oracle.evaluator import BudgetExceededError
from tests.oracle.features import features
from tests.oracle.generate import QueryMaker
from tests.oracle.generate_graph import make_graph
from tests.oracle.model import Graph, Query, to_kip
from tests.oracle.projection import Answer, answer
from tests.oracle.shrink import is_valid, shrink

BUDGET = 300_000
MAX_ROWS = 4_000
MAX_PAGES = 40
LEFT_OUT = {0: 0.75, 1: 0.4}
"""Share of the queries with so few rows that are passed over: most say little."""


@dataclass
class Figures:
    """What a run has covered."""

    queries: int = 0
    skipped: int = 0
    non_empty: int = 0
    paged: int = 0
    pages: int = 0
    features: Counter[str] = field(default_factory=Counter)
    mismatches: list[str] = field(default_factory=list)

    def add(self, other: Figures) -> None:
        for name in ("queries", "skipped", "non_empty", "paged", "pages"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.features += other.features
        self.mismatches += other.mismatches

    def __str__(self) -> str:
        share = self.non_empty / self.queries if self.queries else 0.0
        head = (
            f"{self.queries} queries ({self.skipped} too large were skipped), {share:.0%} with a non-empty answer, "
            f"{self.paged} followed over {self.pages} pages, {len(self.mismatches)} mismatches"
        )
        return "\n".join([head, *(f"  {name}: {count}" for name, count in sorted(self.features.items()))])


def cases(
    choice: Random, maker: QueryMaker, graph: Graph, queries: int, figures: Figures
) -> Iterator[tuple[int, Query, Answer]]:
    """The queries of one graph with their answers; what is too large is counted and left out."""
    index = 0
    while index < queries:
        query = maker.query()
        if not is_valid(query):
            raise AssertionError(f"the generator made an invalid query: {to_kip(query, graph)}")
        try:
            expected = answer(query, graph, BUDGET)
        except BudgetExceededError:
            figures.skipped += 1
            continue
        if len(expected.rows) > MAX_ROWS:
            figures.skipped += 1
            continue
        rows = len(expected.rows) if expected.scalars is None else 2 * any(expected.scalars)
        if choice.random() < LEFT_OUT.get(rows, 0):
            continue
        yield index, query, expected
        index += 1


def run_graph(
    seed: int,
    queries: int,
    start: int = 0,
    opener: Callable[[], Engine] = open_engine,
    small: bool = True,
    stop_after: int = 5,
) -> Figures:
    """Compare the queries of one seed; each seed has a graph of its own."""
    figures = Figures()
    graph = make_graph(Random(f"graph {seed}"))
    choice = Random(f"queries {seed}")
    maker = QueryMaker(choice, graph)
    engine = opener()
    load(engine, graph)
    for index, query, expected in cases(choice, maker, graph, queries, figures):
        if index < start:
            continue
        figures.queries += 1
        figures.features.update(features(query))
        figures.non_empty += bool(expected.rows) or any(expected.scalars or ())
        pages = query.limit is not None and index % 2 == 0 and len(expected.rows) <= MAX_PAGES * query.limit
        try:
            read = check_query(query, graph, engine, expected, pages)
        except Mismatch as error:
            figures.mismatches.append(report(seed, index, query, graph, engine, str(error), small))
            if len(figures.mismatches) >= stop_after:
                break
        else:
            if pages and read > 1:
                figures.paged += 1
                figures.pages += read
    return figures


def report(seed: int, index: int, query: Query, graph: Graph, engine: Engine, reason: str, small: bool) -> str:
    """Text on one mismatch, with a shrunken query where one is found."""
    lines = [f"seed {seed}, query {index}: {reason}", to_kip(query, graph)]
    if small:

        def differs(candidate: Query) -> bool:
            return _mismatch(candidate, graph, engine) is not None

        query = shrink(query, differs)
        lines += [f"shrunk: {_mismatch(query, graph, engine)}", to_kip(query, graph)]
    lines.append(f"expected: {expected_text(query, graph)}")
    lines.append(f"actual:   {_clip(engine.execute_kip({'command': to_kip(query, graph)}))}")
    return "\n".join(lines)


def _mismatch(query: Query, graph: Graph, engine: Engine) -> str | None:
    try:
        expected = answer(query, graph, BUDGET)
        if len(expected.rows) <= MAX_ROWS:
            check_query(query, graph, engine, expected, pages=query.limit is not None)
    except BudgetExceededError:
        return None
    except Mismatch as error:
        return str(error)
    return None


def _clip(response: Any) -> str:
    text = repr(response)
    return text if len(text) <= 1200 else text[:1200] + " …"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.differential", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first graph")
    parser.add_argument("--graphs", type=int, default=10, help="graphs, each with the next seed")
    parser.add_argument("--queries", type=int, default=40, help="queries per graph")
    parser.add_argument("--start", type=int, default=0, help="index of the first query to compare")
    parser.add_argument("--no-shrink", action="store_true", help="report mismatches as found")
    parser.add_argument("--stop-after", type=int, default=5, help="mismatches per graph before the next graph")
    options = parser.parse_args(arguments)
    total = Figures()
    for seed in range(options.seed, options.seed + options.graphs):
        figures = run_graph(
            seed, options.queries, options.start, small=not options.no_shrink, stop_after=options.stop_after
        )
        for text in figures.mismatches:
            sys.stdout.write(f"--- {text}\n\n")
            sys.stdout.flush()
        total.add(figures)
    sys.stdout.write(f"{total}\n")
    return 1 if total.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
