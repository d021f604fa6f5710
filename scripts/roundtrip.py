"""Export a store, import it into an empty one, and export again: nothing may differ.

    python -m scripts.roundtrip --graphs 40

Runs over the demo knowledge and over generated graphs, which hold links about links, every kind of JSON value, numbers
at the edges, texts of many scripts, a schema of their own and edits of `$self`, and which have been through UPDATE,
MERGE and DELETE. Each is exported in pages of several sizes, by one EXPORT statement and by the export helper. The
pages are imported in order, and then once more, which must change no version. Queries must give the same answers on
both stores. Prints a table; exits with 1 if anything differed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import trivium
from tests.oracle.generate import QueryMaker
from tests.oracle.generate_graph import make_graph
from tests.oracle.model import Graph, quote, to_kip
from trivium.kip.capsule_export import export_capsule
from trivium.kip.capsule_import import import_capsules
from trivium.kip.capsule_text import split_statements

CAPSULES = Path(trivium.__file__).parent / "capsules"
PAGES = (7, 64, 5_000)
CLOCK = "2026-01-02T03:04:05.678Z"

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.0, -0.0, 0.1, 1e16, 1e22, 1e-7, 123456789.125, 1.7976931348623157e308, 5e-324,
    2.2250738585072014e-308, 9007199254740993, 9223372036854775807, -9223372036854775808, 18446744073709551615, "",
    " ", "null", "1", "a\tb\nc\r\u0001\u001f\u007f", 'quote " and \\ and /', "\u2028\u2029\ufeff\u200b", "東京 深色",
    "e\u0301 é", "😀👩‍👩‍👧", "עברית العربية", ":name ?x // no comment", "}{)(][", [], {}, [[]], [{}], {"a": {}},
    [1, 1.0, "1", True, None, [1], {"k": [1.50]}], {"": 1, "odd key": 2, "_x": 3, "ключ": {"nested": [{"deep": -0.0}]}},
    {"b": 1, "a": 2}, [0.30000000000000004, 3.0, 3], "x" * 3_000,
)  # fmt: skip
"""Every kind of JSON value, and the edges of each."""

QUERIES = (
    'FIND(?t.name, ?t.attributes) WHERE { ?t {type: "$ConceptType"} }',
    'FIND(?p.name, ?p.attributes) WHERE { ?p {type: "$PropositionType"} }',
    "FIND(?p, COUNT(?l)) WHERE { ?l (?s, ?p, ?o) }",
    "FIND(?s.name, ?p, ?o.name) WHERE { (?s, ?p, ?o) }",
    "FIND(?q, ?p, ?l.attributes) WHERE { ?l (?a, ?p, ?b) (?l, ?q, ?o) }",
    'FIND(?d.name, COUNT(?n)) WHERE { ?d {type: "Domain"} OPTIONAL { (?n, "belongs_to_domain", ?d) } }',
    'FIND(?p.attributes, ?p.name) WHERE { ?p {type: "Person"} }',
    "DESCRIBE DOMAINS",
    "DESCRIBE CONCEPT TYPES",
    "DESCRIBE PROPOSITION TYPES",
    'DESCRIBE CONCEPT TYPE "Domain"',
    'SEARCH CONCEPT "programming" LIMIT 20',
    'SEARCH CONCEPT "東京" LIMIT 20',
    'SEARCH CONCEPT "memory" LIMIT 20',
)  # fmt: skip


@dataclass
class Figures:
    """What a run has compared and what differed."""

    stores: int = 0
    trips: int = 0
    pages: int = 0
    elements: int = 0
    queries: int = 0
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.faults

    def table(self) -> str:
        rows = {
            "stores": self.stores,
            "round trips": self.trips,
            "pages": self.pages,
            "elements compared": self.elements,
            "queries compared": self.queries,
            "differences": len(self.faults),
            "seconds": f"{self.seconds:.0f}",
        }
        return "\n".join(f"{name:20}{value}" for name, value in rows.items())


def _run(kb: trivium.KnowledgeBase, command: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    response = kb.execute_kip({"command": command, "parameters": parameters or {}})
    if "error" in response:
        raise AssertionError(f"{response['error']} for {command[:2_000]}")
    return response


def new_store() -> trivium.KnowledgeBase:
    return trivium.open(clock=lambda: CLOCK)


# --- what a store holds ---------------------------------------------------------------------------


@dataclass
class Contents:
    """All elements of a store: identities for its ids, contents and versions by identity."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)


def contents(kb: trivium.KnowledgeBase) -> Contents:
    """Everything in a store; values as text, so that 1 and 1.0 differ."""
    found = Contents()
    types: list[str] = _run(kb, "DESCRIBE CONCEPT TYPES")["result"]
    for type_ in types:
        for node in _run(kb, f"FIND(?n) WHERE {{ ?n {{type: {quote(type_)}}} }}")["result"]:
            _note(found, node, json.dumps([node["type"], node["name"]]))
    waiting = _run(kb, "FIND(?l) WHERE { ?l (?s, ?p, ?o) }")["result"]
    while waiting:
        ready = [link for link in waiting if link["subject"] in found.names and link["object"] in found.names]
        if not ready:
            raise AssertionError(f"links whose ends are nowhere: {waiting[:2]}")
        for link in ready:
            ends = found.names[link["subject"]], found.names[link["object"]]
            _note(found, link, f"({ends[0]} {link['predicate']} {ends[1]})")
        waiting = [link for link in waiting if link["id"] not in found.names]
    return found


def _note(found: Contents, element: dict[str, Any], name: str) -> None:
    found.names[element["id"]] = name
    authored = {key: value for key, value in element["metadata"].items() if not key.startswith("_")}
    found.values[name] = json.dumps([element["attributes"], authored], sort_keys=True)
    found.versions[name] = element["metadata"]["_version"]


def _plain(value: Any, names: dict[str, str]) -> Any:
    """A value of a response without what belongs to one store alone: ids and the engine's own metadata."""
    if isinstance(value, dict):
        return {
            key: names.get(member, member) if key in ("id", "subject", "object") and isinstance(member, str)
            else _plain(member, names)
            for key, member in value.items()
            if key not in ("_version", "_updated_at", "_merged_from")
        }  # fmt: skip
    if isinstance(value, list):
        return [_plain(member, names) for member in value]
    return value


def answer(kb: trivium.KnowledgeBase, query: str, names: dict[str, str]) -> Any:
    """The answer as a multiset of rows; order counts only where it was asked for."""
    result = _plain(_run(kb, query)["result"], names)
    if not isinstance(result, list) or "ORDER BY" in query:
        return result
    single = query.count(",", 0, query.find(" WHERE")) == 0 or not query.startswith("FIND")
    columns = [result] if single else result
    if any(not isinstance(column, list) for column in columns):
        return result
    return Counter(json.dumps(row, sort_keys=True) for row in zip(*columns, strict=True))


# --- pages ----------------------------------------------------------------------------------------


def everything(kb: trivium.KnowledgeBase) -> str:
    """One EXPORT statement that matches all elements of a store."""
    types: list[str] = _run(kb, "DESCRIBE CONCEPT TYPES")["result"]
    groups = [f"?x {{type: {quote(name)}}}" for name in types] + ["?x (?s, ?p, ?o)"]
    return f"EXPORT ?x WHERE {{ {groups[0]} " + " ".join(f"UNION {{ {group} }}" for group in groups[1:]) + " }"


def export_pages(kb: trivium.KnowledgeBase, limit: int) -> list[str]:
    """The pages of that statement."""
    statement = everything(kb)
    pages: list[str] = []
    cursor = None
    while True:
        command = f"{statement} LIMIT {limit}" + (" CURSOR :cursor" if cursor else "")
        response = _run(kb, command, {"cursor": cursor} if cursor else None)
        result = response["result"]
        if result["concepts"] + result["propositions"] > limit:
            raise AssertionError(f"a page of LIMIT {limit} holds {result['concepts']} + {result['propositions']}")
        pages.append(result["capsule"])
        cursor = response.get("next_cursor")
        if cursor is None:
            return pages


def import_pages(kb: trivium.KnowledgeBase, pages: Iterable[str]) -> None:
    for page in pages:
        _run(kb, page)


# --- comparing ------------------------------------------------------------------------------------


def compare(kb: trivium.KnowledgeBase, queries: Iterable[str], figures: Figures, sizes: Iterable[int] = PAGES) -> None:
    """Take a store through all round trips; what differs goes to `figures.faults`."""
    figures.stores += 1
    here = contents(kb)
    figures.elements += len(here.values)
    for size in sizes:
        pages = export_pages(kb, size)
        figures.pages += len(pages)
        with new_store() as other:
            import_pages(other, pages)
            _same(figures, f"pages of {size}", pages, export_pages(other, size))
            _compare_stores(kb, here, other, pages, f"pages of {size}", queries, figures)
    pages = list(export_capsule(kb))
    with new_store() as other:
        import_capsules(other, pages)
        _same(figures, "the helper", pages, list(export_capsule(other)))
        _compare_stores(kb, here, other, list(split_statements("".join(pages))), "the helper", (), figures)


def _same(figures: Figures, what: str, first: list[str], second: list[str]) -> None:
    figures.trips += 1
    if first != second:
        lines = zip("".join(first).splitlines(), "".join(second).splitlines(), strict=False)
        place = next((pair for pair in lines if pair[0] != pair[1]), ("(one text goes on)", ""))
        figures.faults.append(f"{what}: the second export differs: {place[0][:300]!r} then {place[1][:300]!r}")


def _compare_stores(
    kb: trivium.KnowledgeBase,
    here: Contents,
    other: trivium.KnowledgeBase,
    pages: list[str],
    what: str,
    queries: Iterable[str],
    figures: Figures,
) -> None:
    there = contents(other)
    for name in [*here.values, *(name for name in there.values if name not in here.values)]:
        if here.values.get(name) != there.values.get(name):
            pair = str(here.values.get(name))[:300], str(there.values.get(name))[:300]
            figures.faults.append(f"{what}: {name[:200]} was {pair[0]} and became {pair[1]}")
    for query in queries:
        figures.queries += 1
        if answer(kb, query, here.names) != answer(other, query, there.names):
            figures.faults.append(f"{what}: another answer for {query}")
    import_pages(other, pages)
    again = contents(other)
    if again.versions != there.versions or again.values != there.values:
        moved = [name for name, version in again.versions.items() if version != there.versions.get(name)]
        figures.faults.append(f"{what}: importing again changed {moved[:3]}")
    if not other.doctor()["ok"]:
        figures.faults.append(f"{what}: doctor finds faults")


# --- stores ---------------------------------------------------------------------------------------


def demo() -> trivium.KnowledgeBase:
    """The knowledge that `trivium demo` shows."""
    kb = new_store()
    import_capsules(kb, sorted(CAPSULES.glob("demo-*.kip")))
    return kb


def generated(seed: int) -> tuple[trivium.KnowledgeBase, list[str]]:
    """A store with a past, and queries on it."""
    rng = random.Random(f"round trip {seed}")
    graph = make_graph(rng)
    kb = new_store()
    _run(kb, graph.to_capsule())
    for command, parameters in _past(rng, graph):
        _run(kb, command, parameters)
    return kb, list(_queries(rng, graph, 25))


def _past(rng: random.Random, graph: Graph) -> Iterator[tuple[str, dict[str, Any]]]:
    """Writes that leave traces of all kinds."""
    predicate = quote(graph.predicates[0])
    type_ = quote(graph.types[0])
    yield (
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Odd"} SET ATTRIBUTES :a } '
        'CONCEPT { {type: "$PropositionType", name: "odd_link"} SET ATTRIBUTES :a } WITH METADATA {source: "late"} }',
        {"a": {"description": "Late schema.", "instance_schema": {"v": {"type": "any"}}}},
    )
    for index, value in enumerate(VALUES):
        yield (
            "UPSERT { CONCEPT ?n { {type: :t, name: :n} SET ATTRIBUTES { v: :v, list: [:v, {k: :v}] } "
            'SET PROPOSITIONS { ("odd_link", {type: "Person", name: "$self"}) WITH METADATA {v: :v} } } '
            'PROPOSITION ?l { (?n, "odd_link", {type: "Domain", name: "Unsorted"}) SET ATTRIBUTES {v: :v} } '
            'PROPOSITION { (?l, "odd_link", ?n) } WITH METADATA {v: :v, source: "odd"} }',
            {"t": "Odd", "n": f"odd {index}{value if isinstance(value, str) else ''}", "v": value},
        )
    yield 'UPDATE ?p SET ATTRIBUTES {persona: "curious", n: 1.0} WHERE { ?p {type: "Person", name: "$self"} }', {}
    yield (
        'UPSERT { CONCEPT { {type: "Domain", name: "Unsorted"} SET ATTRIBUTES {scope_note: "what is new"} } } '
        'WITH METADATA {author: "$self"}',
        {},
    )
    yield f"UPDATE ?n SET METADATA {{seen: 1, twice: MUL(?n.attributes.rank, 2)}} WHERE {{ ?n {{type: {type_}}} }}", {}
    yield f'DELETE ATTRIBUTES {{"tag"}} FROM ?l WHERE {{ ?l (?s, {predicate}, ?o) }}', {}
    nodes = rng.sample(graph.nodes, min(6, len(graph.nodes)))
    gone: set[str] = set()
    for source in nodes:
        twins = [
            node for node in graph.nodes if node.type == source.type and node is not source and node.key not in gone
        ]
        if twins and source.key not in gone and rng.random() < 0.6:
            target = rng.choice(twins)
            gone.add(source.key)
            yield (
                "MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: :type, name: :s} ?t {type: :type, name: :t} }",
                {"type": source.type, "s": source.name, "t": target.name},
            )
    for node in rng.sample(graph.nodes, 2):
        yield "DELETE CONCEPT ?n DETACH WHERE { ?n {type: :t, name: :n} }", {"t": node.type, "n": node.name}
    yield f"DELETE PROPOSITIONS ?l WHERE {{ ?l (?s, {predicate}, ?o) FILTER(?l.metadata.confidence > 0.6) }}", {}
    node = rng.choice(graph.nodes)
    yield "UPSERT { CONCEPT { {type: :t, name: :n} SET ATTRIBUTES {back: true} } }", {"t": node.type, "n": node.name}


_OWN = re.compile(r"\bid:|\.(?:id|subject|object)\b|\.metadata\b(?!\.)|\.metadata\._")
"""What a query may not touch: it differs between stores by right."""


def _queries(rng: random.Random, graph: Graph, count: int) -> Iterator[str]:
    """Random queries that do not hang on ids or versions; without LIMIT, since ties are broken by id."""
    maker = QueryMaker(rng, graph)
    while count:
        text = " ".join(to_kip(replace(maker.query(), limit=None, order=()), graph).split("\n"))
        if not _OWN.search(text):
            count -= 1
            yield text


def run(graphs: int, first: int = 0, with_demo: bool = True, sizes: Iterable[int] = PAGES) -> Figures:
    """Round trips of the demo and of that many generated graphs."""
    figures = Figures()
    begin = time.perf_counter()
    if with_demo:
        with demo() as kb:
            compare(kb, QUERIES, figures, sizes)
    for seed in range(first, first + graphs):
        kb, queries = generated(seed)
        before = len(figures.faults)
        with kb:
            compare(kb, [*QUERIES, *queries], figures, sizes)
        figures.faults[before:] = [f"graph {seed}, {fault}" for fault in figures.faults[before:]]
    figures.seconds = time.perf_counter() - begin
    return figures


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.roundtrip", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--graphs", type=int, default=40, help="generated graphs (default: 40)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first graph (default: 0)")
    parser.add_argument("--no-demo", action="store_true", help="leave the demo knowledge out")
    options = parser.parse_args(arguments)
    figures = run(options.graphs, options.first, not options.no_demo)
    print(figures.table())
    for fault in figures.faults[:20]:
        print(f"difference: {fault}")
    return 0 if figures.ok else 1


if __name__ == "__main__":
    sys.exit(main())
