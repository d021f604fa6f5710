"""Seeded random graphs: hubs, cycles, self-links, links about links, values of mixed kinds."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from tests.oracle.model import Element, Graph

TYPES = ("Alpha", "Beta", "Gamma", "Delta")
PREDICATES = ("likes", "part_of", "follows", "said", "near_to")
NAMES = (
    "Ann", "bob", "Zoë", "Ångström", "東京", "naïve café", "😀 grin", "\uff5e wave", "42", "7.0", "true", "null",
    'say "hi"', "back\\slash", "tab\there", "two\nlines", "Ann B", "ann", "a:b", "?x", "// no comment", "{id}",
    "likes", "Alpha", "x1", "x2", "x10", "mid", "end", "o'neil",
)  # fmt: skip
STRINGS = ("red", "Red", "green", "blue", "3", "3.0", "10", "true", "", "é", "😀", "\uff5e", "2025-01-01T00:00:00Z")
ATTRIBUTE_KEYS = ("rank", "score", "tag", "flag", "mix", "box", "list")
METADATA_KEYS = ("confidence", "source", "mix")
BOX_KEYS = ("k", "inner")


def attribute_value(rng: Random, key: str) -> Any:
    """A value for one key. Floats are multiples of 1/4, so that sums are exact in any order."""
    if rng.random() < 0.07:
        return None
    if key == "rank":
        return rng.choice((1, 2, 3, 3.0, 4, 10, -2, 0))
    if key in ("score", "confidence"):
        return rng.choice((0.25, 0.5, 0.75, 1.0, 1, 2.5, 0.0))
    if key in ("tag", "source"):
        return rng.choice(STRINGS)
    if key == "flag":
        return rng.random() < 0.5
    if key == "list":
        return rng.choice(([], [1], [1.0], ["1"], [1, 2], [True], ["red", None], [[1], {"k": 1}]))
    if key == "box":
        return rng.choice(
            ({}, {"k": 1}, {"k": 1.0}, {"k": "1"}, {"k": None}, {"k": 2, "inner": {"k": True}}, {"inner": [1]})
        )
    return rng.choice(
        (1, 1.0, "1", True, False, 0, 3, "3", 2.5, "red", "Red", [1], [2, 1], {"k": 1}, {"k": 2},
         9007199254740993, 9007199254740992.0, 9007199254740992, -7, "", "null")
    )  # fmt: skip


def _values(rng: Random, keys: tuple[str, ...], share: float) -> dict[str, Any]:
    return {key: attribute_value(rng, key) for key in keys if rng.random() < share}


def make_graph(rng: Random) -> Graph:
    """10 to 28 nodes and about 20 to 65 links over a few types and predicates."""
    graph = Graph()
    graph.types = list(TYPES[: rng.randint(2, 4)])
    graph.predicates = list(PREDICATES[: rng.randint(3, 5)])
    share = rng.choice((0.35, 0.6, 0.85))
    for _ in range(rng.randint(10, 28)):
        type_, name = _skewed(rng, graph.types), rng.choice(NAMES)
        if graph.find_node(type_, name) is None:
            graph.add_node(type_, name, _values(rng, ATTRIBUTE_KEYS, share), _values(rng, METADATA_KEYS, 0.4))
    ring = rng.sample(graph.nodes, rng.randint(2, 4))
    for start, end in zip(ring, ring[1:] + ring[:1], strict=True):
        _connect(rng, graph, start, graph.predicates[0], end, share)
    chain = rng.sample(graph.nodes, rng.randint(3, 5))
    for start, end in pairwise(chain):
        _connect(rng, graph, start, graph.predicates[1], end, share)
    higher = rng.choice((0.1, 0.2, 0.35))
    for _ in range(rng.randint(16, 58)):
        subject = _endpoint(rng, graph, higher)
        object_ = subject if rng.random() < 0.1 else _endpoint(rng, graph, higher)
        _connect(rng, graph, subject, _skewed(rng, graph.predicates), object_, share)
    return graph


def _skewed(rng: Random, items: list[Any]) -> Any:
    """Early items more often than late ones."""
    return items[int(len(items) * rng.random() ** 1.7)]


def _endpoint(rng: Random, graph: Graph, higher: float) -> Element:
    if rng.random() < higher:
        return rng.choice(graph.links)
    chosen: Element = _skewed(rng, graph.nodes)
    return chosen


def _connect(rng: Random, graph: Graph, subject: Element, predicate: str, object_: Element, share: float) -> None:
    if graph.find_link(subject, predicate, object_) is None:
        attributes = _values(rng, ("rank", "tag", "mix", "box"), share * 0.6)
        graph.add_link(subject, predicate, object_, attributes, _values(rng, METADATA_KEYS, 0.5))
