"""Two thousand random queries, answered by the engine and by the oracle (see tests/oracle)."""

from __future__ import annotations

import pytest

from tests.oracle.differential import run_graph

QUERIES_PER_GRAPH = 40
GRAPHS_PER_CHUNK = 5
CHUNKS = 10


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_engine_agrees_with_the_oracle(chunk: int) -> None:
    found: list[str] = []
    queries = non_empty = 0
    for seed in range(chunk * GRAPHS_PER_CHUNK, (chunk + 1) * GRAPHS_PER_CHUNK):
        figures = run_graph(seed, QUERIES_PER_GRAPH, stop_after=1)
        found += figures.mismatches
        queries += figures.queries
        non_empty += figures.non_empty
    assert not found, "\n\n".join(found)
    assert queries == QUERIES_PER_GRAPH * GRAPHS_PER_CHUNK
    assert non_empty > queries / 2
