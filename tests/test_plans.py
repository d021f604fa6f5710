"""No query may fall into a wrong join order, and no statement may walk through a whole context.

Work is counted in steps of SQLite's virtual machine, so the tests do not depend on the speed of the machine. The order
that the engine chose is held against every other order of the same atoms.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import trivium
from benchmarks.graph import (
    CTX,
    NOW,
    add_counts,
    concept_row,
    insert_concepts,
    insert_links,
    link_row,
    set_sequence,
)
from trivium.kip.order import PROBE_CAP, ordered
from trivium.search.index import index_texts
from trivium.settings import Settings
from trivium.store.sqlite import Session, SqliteStore

FACTOR, SLACK = 3, 1_000
"""A chosen order may cost this many times the best one, and this many steps more."""
MOST_ORDERS = 150
ORDER = "trivium.kip.order"

BIG, SMALL, PLACES = 3_000, 6, 400
TYPES = ("Big", "Small", "Thing", "Place")
PREDICATES = ("likes", "knows", "part_of", "states")

HUB = '{type: "Thing", name: "hub"}'  # liked by every Big and every Small
CROWD = '{type: "Thing", name: "crowd"}'  # known by half of the Bigs
FAN = '{type: "Thing", name: "fan"}'  # likes every Big
PIN = '{type: "Thing", name: "pin"}'  # liked and known by three Bigs
TWIG = '{type: "Thing", name: "twig"}'  # likes and knows three Bigs
LEAF = f'{{type: "Place", name: "place {PLACES - 1}"}}'
ROOT = '{type: "Place", name: "place 0"}'

JOINS = {
    "one anchor": f'FIND(?x.name) WHERE {{ ?a {PIN} (?x, "likes", ?a) }}',
    "anchor after its link": f'FIND(?x.name) WHERE {{ (?x, "likes", ?a) ?a {PIN} }}',
    "small first": f'FIND(?x.name) WHERE {{ ?a {PIN} ?h {HUB} (?x, "likes", ?a) (?x, "likes", ?h) }}',
    "hub first": f'FIND(?x.name) WHERE {{ ?h {HUB} ?a {PIN} (?x, "likes", ?h) (?x, "likes", ?a) }}',
    "hub, then small, by another predicate": f'FIND(?x.name) WHERE {{ (?x, "likes", {HUB}) (?x, "knows", {PIN}) }}',
    "small, then hub, by another predicate": f'FIND(?x.name) WHERE {{ (?x, "knows", {PIN}) (?x, "likes", {HUB}) }}',
    "subject hub, small object": f'FIND(?x.name) WHERE {{ (?f, "likes", ?x) ?f {FAN} (?x, "knows", ?a) ?a {PIN} }}',
    "small subject, object hub": f'FIND(?x.name) WHERE {{ ?f {TWIG} ?h {HUB} (?f, "likes", ?x) (?x, "likes", ?h) }}',
    "object hub, small subject": f'FIND(?x.name) WHERE {{ ?h {HUB} ?f {TWIG} (?x, "likes", ?h) (?f, "likes", ?x) }}',
    "two small anchors": f'FIND(?x.name) WHERE {{ ?f {TWIG} ?a {PIN} (?f, "knows", ?x) (?x, "likes", ?a) }}',
    "both hubs": f'FIND(?x.name) WHERE {{ ?h {HUB} ?c {CROWD} (?x, "likes", ?h) (?x, "knows", ?c) }}',
    "both hubs, swapped": f'FIND(?x.name) WHERE {{ ?c {CROWD} ?h {HUB} (?x, "knows", ?c) (?x, "likes", ?h) }}',
    "subject hub and object hub": f'FIND(?x.name) WHERE {{ ?f {FAN} ?h {HUB} (?f, "likes", ?x) (?x, "likes", ?h) }}',
    "small type against a hub": f'FIND(?x.name) WHERE {{ ?h {HUB} ?x {{type: "Small"}} (?x, "likes", ?h) }}',
    "a hub against a small type": f'FIND(?x.name) WHERE {{ ?x {{type: "Small"}} (?x, "likes", ?h) ?h {HUB} }}',
    "big type against a small anchor": f'FIND(?x.name) WHERE {{ ?x {{type: "Big"}} (?x, "likes", ?a) ?a {PIN} }}',
    "small type, two hops": f'FIND(?y.name) WHERE {{ ?x {{type: "Small"}} (?x, "knows", ?y) (?y, "likes", {PIN}) }}',
    "two hops from a small anchor": f'FIND(?y.name) WHERE {{ ?f {TWIG} (?f, "likes", ?x) (?x, "knows", ?y) }}',
    "two hops towards a small anchor": f'FIND(?f.name) WHERE {{ (?f, "likes", ?x) (?x, "knows", ?a) ?a {PIN} }}',
    "name only": 'FIND(?x.name) WHERE { ?a {name: "pin"} (?x, "likes", ?a) ?x {type: "Big"} }',
    "name beside a hub": f'FIND(?x.name) WHERE {{ ?h {HUB} (?x, "likes", ?h) (?x, "likes", ?a) ?a {{name: "pin"}} }}',
    "predicate variable, hub first": f"FIND(?x.name, ?p) WHERE {{ ?h {HUB} ?a {PIN} (?x, ?p, ?h) (?x, ?p, ?a) }}",
    "predicate variable, small first": f"FIND(?x.name, ?p) WHERE {{ ?a {PIN} ?h {HUB} (?x, ?p, ?a) (?x, ?p, ?h) }}",
    "alternatives": f'FIND(?x.name) WHERE {{ ?h {HUB} ?a {PIN} (?x, "likes" | "knows", ?h) (?x, "knows", ?a) }}',
    "a link checked": f'FIND(?l) WHERE {{ ?l ({TWIG}, "knows", ?x) (?x, "likes", {HUB}) }}',
    "statements about a hub's links": f'FIND(?w.name) WHERE {{ ?f (?x, "likes", {HUB}) (?w, "states", ?f) ?w {TWIG} }}',
    "statements of a small anchor": f'FIND(?x.name) WHERE {{ ?w {TWIG} (?w, "states", ?f) ?f (?x, "likes", {HUB}) }}',
    "three anchors": f'FIND(?x.name) WHERE {{ (?x, "likes", {HUB}) (?x, "knows", {CROWD}) (?x, "knows", {PIN}) }}',
    "three anchors, small first": (
        f'FIND(?x.name) WHERE {{ (?x, "knows", {PIN}) (?x, "knows", {CROWD}) (?x, "likes", {HUB}) }}'
    ),
    "filter on the far end": f'FIND(?x.name) WHERE {{ ?f {TWIG} (?f, "likes", ?x) FILTER(?x.attributes.size > 3) }}',
    "NOT at a hub": f'FIND(?x.name) WHERE {{ ?a {PIN} (?x, "likes", ?a) NOT {{ ?c {CROWD} (?x, "knows", ?c) }} }}',
    "NOT with an unanchored end": f'FIND(?x.name) WHERE {{ ?a {PIN} (?x, "likes", ?a) NOT {{ (?y, "states", ?x) }} }}',
    "NOT with two links": (
        f'FIND(?x.name) WHERE {{ ?f {TWIG} (?f, "likes", ?x) NOT {{ (?x, "likes", ?h) (?h, "knows", ?x) ?h {HUB} }} }}'
    ),
    "OPTIONAL to a hub": (
        f'FIND(?x.name, ?y.name) WHERE {{ ?f {TWIG} (?f, "likes", ?x) OPTIONAL {{ (?x, "knows", ?y) }} }}'
    ),
    "OPTIONAL with two links": (
        f'FIND(?x.name, ?z.name) WHERE {{ ?f {TWIG} (?f, "likes", ?x)'
        f' OPTIONAL {{ ?h {HUB} (?x, "likes", ?h) (?x, "knows", ?z) }} }}'
    ),
    "UNION of anchors": (
        f'FIND(?x.name) WHERE {{ ?a {PIN} (?x, "likes", ?a)'
        f' UNION {{ ?b {TWIG} ?h {HUB} (?b, "likes", ?x) (?x, "likes", ?h) }} }}'
    ),
    "ancestors": f'FIND(?b.name) WHERE {{ ?a {LEAF} (?a, "part_of"{{1,4}}, ?b) }}',
    "ancestors, anchor last": f'FIND(?b.name) WHERE {{ (?a, "part_of"{{1,}}, ?b) ?a {LEAF} }}',
    "descendants": f'FIND(?b.name) WHERE {{ ?a {ROOT} (?b, "part_of"{{1,}}, ?a) }}',
    "path between anchors": f'FIND(?a.name) WHERE {{ ?a {LEAF} ?r {ROOT} (?a, "part_of"{{1,}}, ?r) }}',
    "path, then a link": f'FIND(?x.name) WHERE {{ ?a {LEAF} (?a, "part_of"{{1,3}}, ?b) (?x, "knows", ?b) }}',
    "small anchor, then a path": f'FIND(?b.name) WHERE {{ ?w {TWIG} (?w, "states", ?a) (?a, "part_of"{{1,3}}, ?b) }}',
}

SORTS = {
    "name, sorted by type": 'FIND(?c) WHERE { ?c {name: "pin"} } ORDER BY ?c.type',
    "name, sorted by type, cut": 'FIND(?c.type) WHERE { ?c {name: "pin"} } ORDER BY ?c.type LIMIT 5',
    "name, grouped by type": 'FIND(?c.type, COUNT(?c)) WHERE { ?c {name: "pin"} }',
    "name, its types": 'FIND(?c.type) WHERE { ?c {name: "pin"} }',
    "type, sorted by name": 'FIND(?c.name) WHERE { ?c {type: "Small"} } ORDER BY ?c.name LIMIT 5',
    "type, sorted by attribute": 'FIND(?c.name) WHERE { ?c {type: "Small"} } ORDER BY ?c.attributes.size LIMIT 5',
    "object, sorted by predicate": f"FIND(?p) WHERE {{ ?a {PIN} ?l (?x, ?p, ?a) }} ORDER BY ?l.predicate LIMIT 3",
    "link, sorted by predicate": f"FIND(?l) WHERE {{ ?a {PIN} ?l (?x, ?p, ?a) }} ORDER BY ?l.predicate LIMIT 3",
    "subject, sorted by predicate": f"FIND(?p, ?x.name) WHERE {{ ?a {TWIG} (?a, ?p, ?x) }} ORDER BY ?p LIMIT 3",
    "object, predicates": f"FIND(?p) WHERE {{ ?a {PIN} (?x, ?p, ?a) }}",
    "object, grouped by predicate": f"FIND(?p, COUNT(?x)) WHERE {{ ?a {PIN} (?x, ?p, ?a) }}",
    "object, grouped by subject": f'FIND(?x, COUNT(?l)) WHERE {{ ?a {PIN} ?l (?x, "likes", ?a) }}',
    "object, whole subjects in pages": f'FIND(?x) WHERE {{ ?a {PIN} (?x, "likes", ?a) }} LIMIT 2',
    "object, whole links in pages": f'FIND(?l) WHERE {{ ?a {PIN} ?l (?x, "likes", ?a) }} LIMIT 2',
    "far ends, distinct": f'FIND(?y.type) WHERE {{ ?a {TWIG} (?a, "likes", ?x) (?x, ?p, ?y) }}',
    "far types, grouped": f'FIND(?y.type, COUNT(?x)) WHERE {{ ?a {TWIG} (?a, "likes", ?x) (?x, ?p, ?y) }}',
    "sorted by a far name": (
        f'FIND(?x.name) WHERE {{ ?a {TWIG} (?a, "likes", ?x) (?x, "knows", ?y) }} ORDER BY ?y.name LIMIT 3'
    ),
    "union, sorted": (
        f'FIND(?x.name) WHERE {{ ?a {PIN} (?x, "likes", ?a) UNION {{ ?b {TWIG} (?b, "likes", ?x) }} }}'
        " ORDER BY ?x.name LIMIT 3"
    ),
}
"""Shapes in which an index could also give the order: it must not be chosen for that alone."""

COMMANDS = (
    f'UPDATE ?l SET METADATA {{ seen: true }} WHERE {{ ?a {TWIG} ?l (?a, "knows", ?x) }}',
    f"UPDATE ?a SET ATTRIBUTES {{ size: ADD(?a.attributes.size, 1) }} WHERE {{ ?a {PIN} }}",
    f'UPDATE ?x SET ATTRIBUTES {{ seen: true }} WHERE {{ ?a {TWIG} (?a, "knows", ?x) }} LIMIT 2',
    f'DELETE METADATA {{ "seen" }} FROM ?l WHERE {{ ?a {TWIG} ?l (?a, "knows", ?x) }}',
    f'DELETE ATTRIBUTES {{ "size" }} FROM ?a WHERE {{ ?a {PIN} }}',
    f'DELETE PROPOSITIONS ?l WHERE {{ ?l ({TWIG}, "knows", ?x) }}',
    'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Big", name: "big 17"} }',
    f'UPSERT {{ CONCEPT ?n {{ {{type: "Thing", name: "new"}} SET PROPOSITIONS {{ ("likes", {PIN}) }} }}'
    f' PROPOSITION {{ (?n, "states", ({TWIG}, "states", {LEAF})) }} }}',
    f"UPSERT {{ CONCEPT {{ {PIN} SET ATTRIBUTES {{ size: 7 }} }} }}",
    'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Thing", name: "new"} ?b {type: "Thing", name: "twig"} }',
    'SEARCH CONCEPT "pin"',
    'SEARCH CONCEPT "pin" WITH TYPE "Thing"',
    'SEARCH PROPOSITION "knows"',
    'SEARCH PROPOSITION "pin"',
    'DESCRIBE CONCEPT TYPE "Thing"',
    'DESCRIBE PROPOSITION TYPE "likes"',
    "DESCRIBE DOMAINS",
    f"EXPORT ?a WHERE {{ ?a {PIN} }}",
)


# --- the graph ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[trivium.KnowledgeBase]:
    path = tmp_path_factory.mktemp("plans") / "skewed.db"
    _build(path)
    with trivium.open(str(path), clock=lambda: NOW) as knowledge_base:
        assert knowledge_base.doctor()["ok"]
        yield knowledge_base


def _build(path: Path) -> None:
    with trivium.open(str(path), clock=lambda: NOW) as knowledge_base:
        names = [("$ConceptType", name) for name in TYPES] + [("$PropositionType", name) for name in PREDICATES]
        blocks = " ".join(f'CONCEPT {{ {{type: "{type_}", name: "{name}"}} }}' for type_, name in names)
        assert "result" in knowledge_base.execute_kip({"command": f"UPSERT {{ {blocks} }}"})
    store = SqliteStore(str(path), Settings())
    with store.write() as session:
        _fill(session)
    store.close()


def _fill(session: Session) -> None:
    names = [("Big", f"big {number}") for number in range(BIG)]
    names += [("Small", f"small {number}") for number in range(SMALL)]
    names += [("Place", f"place {number}") for number in range(PLACES)]
    names += [("Thing", name) for name in ("hub", "crowd", "fan", "pin", "twig")]
    first = int(session.value("SELECT next FROM sequence WHERE kind = 'concept'"))
    ids = {pair: (first + place) << 1 for place, pair in enumerate(names)}
    rows = [concept_row(ids[pair], *pair, {"size": ids[pair] % 7}, {"source": "test"}) for pair in names]
    insert_concepts(session, rows, [(ids[pair], f"c{CTX}", *index_texts(pair[1], {})) for pair in names])
    links = _links(session, ids)
    counts = Counter([("t", type_) for type_, _ in names] + [("p", row[3]) for row in links])
    counts["h", "states"] = 1
    insert_links(session, links)
    add_counts(session, counts)
    set_sequence(session, first + len(names), (links[-1][0] >> 1) + 1)


def _links(session: Session, ids: dict[tuple[str, str], int]) -> list[tuple[Any, ...]]:
    thing = {name: ids["Thing", name] for name in ("hub", "crowd", "fan", "pin", "twig")}
    big = [ids["Big", f"big {number}"] for number in range(BIG)]
    small = [ids["Small", f"small {number}"] for number in range(SMALL)]
    place = [ids["Place", f"place {number}"] for number in range(PLACES)]
    triples = [(node, "likes", thing["hub"]) for node in big + small]
    triples += [(thing["fan"], "likes", node) for node in big]
    triples += [(node, "knows", thing["crowd"]) for node in big[: BIG // 2]]
    triples += [(node, "knows", place[number % PLACES]) for number, node in enumerate(big)]
    triples += [(node, "knows", big[number]) for number, node in enumerate(small)]
    triples += [(node, predicate, thing["pin"]) for node in big[:3] for predicate in ("likes", "knows")]
    triples += [(thing["twig"], predicate, node) for node in big[1:4] for predicate in ("likes", "knows")]
    triples += [(place[number], "part_of", place[(number - 1) // 4]) for number in range(1, PLACES)]
    triples += [(thing["twig"], "states", place[-1])]
    start = int(session.value("SELECT next FROM sequence WHERE kind = 'link'"))
    about = [((start + number) << 1) | 1 for number in range(0, BIG, 10)]
    triples += [(thing["twig"] if number < 3 else big[number], "states", link) for number, link in enumerate(about)]
    return [
        link_row(((start + place) << 1) | 1, s, p, o, {}, {"source": "test"}) for place, (s, p, o) in enumerate(triples)
    ]


# --- counting work --------------------------------------------------------------------------------


@contextmanager
def counted(connection: apsw.Connection) -> Iterator[list[dict[str, Any]]]:
    """Every statement that runs meanwhile, with its counts."""
    events: list[dict[str, Any]] = []
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, events.append, id="count")
    try:
        yield events
    finally:
        connection.trace_v2(0, None, id="count")


def steps_of(events: list[dict[str, Any]]) -> int:
    return sum(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"] for event in events)


def steps(session: Session, sql: str, bindings: list[Any], most: int | None = None) -> int | None:
    """Steps of one statement; None when there are more than `most`."""
    connection = session.connection
    if most is not None:
        taken = itertools.count(100, 100)
        connection.set_progress_handler(lambda: next(taken) > most, 100, id="most")
    try:
        with counted(connection) as events:
            connection.execute(sql, bindings).fetchall()
        return steps_of(events)
    except apsw.InterruptError:
        return None
    finally:
        connection.set_progress_handler(None, id="most")


def plan_of(knowledge_base: trivium.KnowledgeBase, text: str) -> tuple[str, list[Any]]:
    """A fresh statement for a text."""
    report = knowledge_base.explain_kip(text)
    assert "result" in report["response"], report["response"]
    used = max(int(number) for number in re.findall(r"\?(\d+)", report["sql"]))
    return report["sql"], report["bindings"][:used]


def other_orders(
    knowledge_base: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, text: str
) -> list[tuple[str, list[Any]]]:
    """Statements for the other orders of the atoms of every group, sampled when there are many."""
    sizes: list[int] = []
    chosen: Iterator[tuple[int, ...]] = iter(())

    def record(atoms: list[Any], *rest: Any) -> list[Any]:
        sizes.append(len(atoms))
        return ordered(atoms, *rest)

    def forced(atoms: list[Any], *rest: Any) -> list[Any]:
        places = next(chosen, None)
        return ordered(atoms, *rest) if places is None else [atoms[place] for place in places]

    with monkeypatch.context() as patch:
        patch.setattr("trivium.kip.groups.ordered", record)
        plan_of(knowledge_base, text)
        patch.setattr("trivium.kip.groups.ordered", forced)
        found: dict[str, list[Any]] = {}
        for orders in _sample(sizes):
            chosen = iter(orders)
            sql, bindings = plan_of(knowledge_base, text)
            found[sql] = bindings
    return list(found.items())


def _replace_order(patch: pytest.MonkeyPatch, function: Callable[..., list[Any]]) -> None:
    """Put a function in the place of `order.ordered`, wherever it has been imported."""
    users = [module for name, module in sys.modules.items() if name.startswith("trivium.kip.") and name != ORDER]
    users = [module for module in users if hasattr(module, "ordered")]
    assert users
    for module in users:
        patch.setattr(module, "ordered", function)


def _sample(sizes: list[int]) -> list[tuple[tuple[int, ...], ...]]:
    every = list(itertools.product(*(itertools.permutations(range(size)) for size in sizes)))
    return every if len(every) <= MOST_ORDERS else random.Random(3).sample(every, MOST_ORDERS)


# --- tests ----------------------------------------------------------------------------------------


@pytest.fixture
def session(graph: trivium.KnowledgeBase) -> Iterator[Session]:
    found = graph._store.checkout(timeout=600)
    yield found
    graph._store.checkin(found)


@pytest.mark.parametrize("name", JOINS)
def test_the_chosen_order_is_near_the_best(
    graph: trivium.KnowledgeBase, session: Session, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text = JOINS[name]
    sql, bindings = plan_of(graph, text)
    own = steps(session, sql, bindings)
    assert own is not None
    best, best_sql = own, sql
    for other, values in other_orders(graph, monkeypatch, text):
        taken = steps(session, other, values, most=best)
        if taken is not None and taken < best:
            best, best_sql = taken, other
    assert own <= FACTOR * best + SLACK, f"{own} steps, but {best} are enough:\n{sql}\n\nbest:\n{best_sql}"


@pytest.mark.parametrize("name", [*JOINS, *SORTS])
def test_what_runs_is_what_is_explained(graph: trivium.KnowledgeBase, name: str) -> None:
    """The plan kept for a shape follows the values at hand, and probing degrees is bounded."""
    text = {**JOINS, **SORTS}[name]
    found = graph._store.checkout(timeout=600)
    graph._store.checkin(found)
    with counted(found.connection) as events:
        assert "result" in graph.execute_kip({"command": text})
    sql, bindings = plan_of(graph, text)
    own = steps(found, sql, bindings)
    assert own is not None
    assert steps_of(events) <= own + 8 * 12 * PROBE_CAP


@pytest.mark.parametrize("name", [*JOINS, *SORTS])
def test_no_query_walks_through_a_context(graph: trivium.KnowledgeBase, name: str) -> None:
    walks = [line for line in graph.explain_kip({**JOINS, **SORTS}[name])["plan"] if _walks(line)]
    assert not walks


def test_a_type_taken_by_names_is_read_from_its_index_in_order(graph: trivium.KnowledgeBase) -> None:
    names = graph.explain_kip('FIND(?c.name) WHERE { ?c {type: "Big"} FILTER(ENDS_WITH(?c.name, "7")) }')["plan"]
    assert any("COVERING INDEX concept_type_name (ctx=? AND type=?)" in line for line in names)
    counts = graph.explain_kip('FIND(?c.name, COUNT(?x)) WHERE { ?c {type: "Place"} (?x, "knows", ?c) }')["plan"]
    assert not any("FOR GROUP BY" in line for line in counts)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_walks_through_a_context(graph: trivium.KnowledgeBase, tmp_path: Path, command: str) -> None:
    copy = tmp_path / "copy.db"
    graph.backup(str(copy))
    with trivium.open(str(copy), clock=lambda: NOW) as knowledge_base:
        for needed in COMMANDS if command.startswith("MERGE") else ():
            if needed.startswith("UPSERT"):
                knowledge_base.execute_kip({"command": needed})
        statements = _statements(knowledge_base, lambda: knowledge_base.execute_kip({"command": command}))
        reader = knowledge_base._store.checkout()
        walks = [
            f"{line.strip()}: {sql}"
            for sql in statements
            for line in knowledge_base._store.query_plan(reader, sql, _nulls(sql))
            if _walks(line)
        ]
        knowledge_base._store.checkin(reader)
    assert not walks


def _statements(knowledge_base: trivium.KnowledgeBase, work: Callable[[], dict[str, Any]]) -> list[str]:
    """The statements on elements that the work runs, on whatever connection."""
    store = knowledge_base._store
    store.checkin(store.checkout())
    connections = list(store._opened)
    events: list[dict[str, Any]] = []
    for connection in connections:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, events.append, id="count")
    response = work()
    for connection in connections:
        connection.trace_v2(0, None, id="count")
    assert "result" in response, response
    texts = dict.fromkeys(event["sql"] for event in events)
    return [text for text in texts if re.search(r"\b(concept|link)\b", text) and "concept_text_" not in text]


def _nulls(sql: str) -> list[None]:
    """A null for every placeholder: plans do not depend on the values."""
    numbers = re.findall(r"\?(\d*)", sql)
    return [None] * (max(map(int, numbers)) if any(numbers) else len(numbers))


def _walks(line: str) -> bool:
    """Whether a line of SQLite's plan reads all elements of a context, or of the file."""
    return bool(re.search(r"\(ctx=\?\)|AUTOMATIC|SCAN (concept|link|[cle]\d*)\b(?! VIRTUAL)", line))
