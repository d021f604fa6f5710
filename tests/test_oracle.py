"""The oracle against results worked by hand, so that it can be trusted where it disagrees with the engine."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.oracle.compare import Mismatch, check_query, check_rows, rows_of
from tests.oracle.evaluator import Evaluator
from tests.oracle.examples import EXAMPLES, Example, apothecary, clause, compare, concept, count, link, ordered, path
from tests.oracle.generate import QueryMaker
from tests.oracle.generate_graph import make_graph
from tests.oracle.model import (
    Aggregate,
    Call,
    Clause,
    Compare,
    ConceptMatch,
    Filter,
    Graph,
    Hops,
    LinkClause,
    LinkMatch,
    Literal,
    Names,
    Negate,
    Not,
    Optional,
    Path,
    PredicateVar,
    Query,
    SortKey,
    Union,
    Var,
    to_kip,
)
from tests.oracle.projection import answer
from tests.oracle.shrink import is_valid, shrink


@pytest.fixture(scope="module")
def graph() -> Graph:
    return apothecary()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example(example: Example, graph: Graph) -> None:
    expected = answer(example.query, graph)
    if expected.scalars is not None:
        scalars = example.result if len(example.query.find) > 1 else [example.result]
        assert list(expected.scalars) == scalars
    else:
        rows = rows_of(example.query, example.result)
        assert expected.rows == rows
        check_rows(rows, expected, complete=True)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example_text(example: Example, graph: Graph) -> None:
    assert " ".join(to_kip(example.query, graph).split()) == example.text


def test_example_15_pages(graph: Graph) -> None:
    """E15: three names and a token, then the last name and no token."""
    query = Query((path("d.name"),), (concept("d", "Drug"),), (SortKey(path("d.name")),), 3)
    engine = Canned({"result": ["Brevix", "Lumanol", "Nocturin"], "next_cursor": "t"}, {"result": ["Placidol"]})
    assert check_query(query, graph, engine, answer(query, graph), pages=True) == 2
    assert engine.commands[1].endswith('LIMIT 3\nCURSOR "t"')


def test_capsule_of_the_examples(graph: Graph) -> None:
    text = graph.to_capsule()
    assert 'CONCEPT { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES {description: ' in text
    assert 'CONCEPT ?n7 { {type: "Drug", name: "Lumanol"} SET ATTRIBUTES {risk: 1, form: "tablet"' in text
    claim = '  PROPOSITION ?l10 { (?n11, "vouches_for", ?l2) } WITH METADATA {source: "apothecary", confidence: 1.0}'
    assert claim in text.splitlines()


# --------------------------------------------------------------------------- solutions and null bindings


def names(graph: Graph, *clauses: Clause, show: str) -> set[Any]:
    """Names (or predicate names) of some variables over all solutions of a group."""

    def name(bound: Any) -> Any:
        return getattr(bound, "name", None) if bound is None or hasattr(bound, "name") else bound.predicate

    return {tuple(name(row[var]) for var in show.split()) for row in Evaluator(graph).solve(clauses)}


PLACIDOL = concept("d", "Drug", "Placidol")
BREVIX = concept("d", "Drug", "Brevix")
NO_CAUSE = Optional((clause("d", "causes", "s"),))


def test_pattern_in_the_same_group_skips_null(graph: Graph) -> None:
    """The row stays, its null stays null, and new variables of the pattern are null."""
    assert names(graph, PLACIDOL, NO_CAUSE, concept("s", "Symptom"), show="d s") == {("Placidol", None)}
    found = names(graph, PLACIDOL, NO_CAUSE, clause("x", PredicateVar("p"), "s", "l"), show="s x p l")
    assert found == {(None, None, None, None)}


def test_pattern_inside_not_does_not_match_null(graph: Graph) -> None:
    assert names(graph, PLACIDOL, NO_CAUSE, Not((concept("s", "Symptom"),)), show="d") == {("Placidol",)}
    assert names(graph, BREVIX, NO_CAUSE, Not((concept("s", "Symptom"),)), show="d") == set()


def test_pattern_inside_optional_does_not_match_null(graph: Graph) -> None:
    found = names(graph, PLACIDOL, NO_CAUSE, Optional((clause("x", "causes", "s"),)), show="d s x")
    assert found == {("Placidol", None, None)}


def test_null_made_inside_the_block_is_skipped_there(graph: Graph) -> None:
    """The null of an OPTIONAL within NOT belongs to the same group: the pattern is skipped, the row matches."""
    block = Not((NO_CAUSE, concept("s", "Symptom")))
    assert names(graph, PLACIDOL, block, show="d") == set()


def test_not_without_shared_variables(graph: Graph) -> None:
    assert names(graph, PLACIDOL, Not((concept("r", "Reviewer"),)), show="d") == set()
    assert names(graph, PLACIDOL, Not((concept("r", "Reviewer", "Nobody"),)), show="d") == {("Placidol",)}


def test_variables_of_not_stay_inside(graph: Graph) -> None:
    found = names(graph, BREVIX, Not((clause("x", "vouches_for", "d"),)), concept("x", "Reviewer"), show="d x")
    assert found == {("Brevix", "Mira")}


def test_predicate_name_is_no_element(graph: Graph) -> None:
    assert names(graph, clause("d", PredicateVar("p"), "x"), concept("p", name="eases"), show="p") == set()
    assert names(graph, clause("d", PredicateVar("d"), "x"), show="d") == set()


def test_predicate_variable_joins(graph: Graph) -> None:
    found = names(graph, BREVIX, clause("d", PredicateVar("p"), "x"), clause("y", PredicateVar("p"), "z"), show="p y")
    assert found >= {("eases", "Lumanol"), ("causes", "Brevix"), ("member_of", "Nocturin")}
    assert ("subfamily_of", "Dreamers") not in found


def test_embedded_pattern_binds_jointly(graph: Graph) -> None:
    found = names(graph, clause("r", "vouches_for", link("a", "eases", "b")), show="r a b")
    assert found == {("Mira", "Lumanol", "Headache")}


def test_repeated_variable_needs_a_self_link(graph: Graph) -> None:
    assert names(graph, clause("x", "eases", "x"), show="x") == set()


# --------------------------------------------------------------------------- UNION

LUMANOL = concept("d", "Drug", "Lumanol")
MIRA = concept("r", "Reviewer")


def test_union_pads_and_later_clauses_see_merged_rows(graph: Graph) -> None:
    found = names(graph, PLACIDOL, Union((MIRA,)), clause("d", "eases", "s"), show="d r s")
    assert found == {(None, "Mira", None)}
    found = names(graph, LUMANOL, Union((MIRA,)), Filter(Call("IS_NULL", (path("d"),))), show="d r")
    assert found == {(None, "Mira")}


def test_union_first_has_no_row_before_it(graph: Graph) -> None:
    assert names(graph, Union((MIRA,)), Union((LUMANOL,)), show="d r") == {(None, "Mira"), ("Lumanol", None)}


def test_union_sees_nothing_outside(graph: Graph) -> None:
    found = names(graph, PLACIDOL, Union((clause("d", "causes", "s"),)), show="d s")
    assert found == {("Placidol", None), ("Brevix", "Nausea")}


@pytest.mark.parametrize(
    ("union", "kept"),
    [
        (concept("d", "Drug", "Lumanol"), {"Brevix", "Nocturin", "Placidol"}),
        (concept("r", "Reviewer"), set()),
    ],
)
def test_union_inside_not_counts_rows_that_agree(graph: Graph, union: Clause, kept: set[str]) -> None:
    """A row with another ?d does not count; one that says nothing of ?d does."""
    found = names(graph, concept("d", "Drug"), Not((Union((union,)),)), show="d")
    assert found == {(name,) for name in kept}


def test_union_inside_optional_extends_the_outer_row(graph: Graph) -> None:
    block = Optional((clause("d", "causes", "s"), Union((concept("d", "Drug", "Lumanol"), MIRA)), Union((MIRA,))))
    found = names(graph, concept("d", "Drug"), block, show="d s r")
    assert found == {
        ("Brevix", "Nausea", None),
        ("Brevix", None, "Mira"),
        ("Lumanol", None, "Mira"),
        ("Nocturin", None, "Mira"),
        ("Placidol", None, "Mira"),
    }


# --------------------------------------------------------------------------- paths


@pytest.fixture(scope="module")
def ring() -> Graph:
    """a -> b -> c -> a, c -> d, and a link about the first link."""
    made = Graph()
    made.types, made.predicates = ["T"], ["p", "q"]
    node = {name: made.add_node("T", name) for name in "abcde"}
    for start, end in ("ab", "bc", "ca", "cd"):
        made.add_link(node[start], "p", node[end])
    made.add_link(node["e"], "q", made.links[0])
    made.add_link(made.links[0], "p", node["e"])
    return made


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (0, 0, "a"),
        (1, 1, "b"),
        (0, 1, "ab"),
        (2, 2, "c"),
        (3, 3, "ad"),
        (4, 4, "b"),
        (2, 4, "acdb"),
        (1, None, "abcd"),
        (0, None, "abcd"),
        (5, None, "abcd"),
    ],
)
def test_walks_on_a_ring(ring: Graph, low: int, high: int | None, ends: str) -> None:
    found = names(ring, concept("x", "T", "a"), clause("x", Hops("p", low, high), "y"), show="y")
    assert found == {(end,) for end in ends}


def test_path_back_to_its_start(ring: Graph) -> None:
    assert names(ring, clause("x", Hops("p", 1, None), "x"), show="x") == {("a",), ("b",), ("c",)}
    assert names(ring, clause("x", Hops("p", 1, 2), "x"), show="x") == set()


def test_zero_hops_without_edges(ring: Graph) -> None:
    isolated = ConceptMatch("T", "e")
    assert names(ring, clause(isolated, Hops("p", 0, 2), "y"), show="y") == {("e",)}
    assert names(ring, clause("y", Hops("p", 0, 0), isolated), show="y") == {("e",)}


def test_zero_hops_at_a_link(ring: Graph) -> None:
    found = names(ring, clause(link("a", "p", "b"), Hops("p", 0, 1), "y"), show="a y")
    assert found == {("a", "p"), ("a", "e"), ("b", "p"), ("c", "p"), ("p", "p")}


def test_link_variable_on_a_path(ring: Graph) -> None:
    start = ConceptMatch("T", "a")
    assert names(ring, clause(start, Hops("p", 1, 2), "y", "l"), show="y l") == {("b", None), ("c", None)}
    assert names(ring, clause(start, Hops("p", 1, 1), "y", "l"), show="y l") == {("b", "p")}


# --------------------------------------------------------------------------- values


def test_comparison_is_by_kind_and_value() -> None:
    made = Graph()
    values: list[Any] = [3, 3.0, "3", True, None, [1, {"k": 2.0}], {"k": 1}, 9007199254740993]
    for index, value in enumerate(values):
        made.add_node("T", str(index), {"v": value})
    made.add_node("T", "absent")

    def where(op: str, value: Any) -> str:
        test = Filter(Compare(op, path("x.attributes.v"), Literal(value)))
        return "".join(sorted(str(name) for (name,) in names(made, concept("x", "T"), test, show="x")))

    assert where("==", 3) == "01"
    assert where("==", "3") == "2"
    assert where("!=", 3) == "234567absent"
    assert where("==", None) == "4absent"
    assert where("==", 1) == ""
    assert where("==", 9007199254740992.0) == ""
    assert where(">", 9007199254740992.0) == "7"
    assert where("<=", 3) == "01"
    assert where("<", "4") == "2"
    assert where("==", [1, {"k": 2}]) == "5"


@pytest.mark.parametrize(
    ("call", "holds"),
    [
        (Call("CONTAINS", (path("d.attributes.absent"), Literal(""))), False),
        (Call("CONTAINS", (path("d.name"), Literal("evi"))), True),
        (Call("IN", (path("d.attributes.absent"), Literal([None]))), True),
        (Call("IN", (path("d"), Literal([]))), False),
        (Negate(Call("IS_NULL", (path("d.attributes.risk"),))), True),
        (Compare("==", path("d"), path("d")), True),
        (Compare("<=", path("d"), path("d")), False),
        (Compare("==", path("d"), Literal("Brevix")), False),
        (Compare("==", path("d.subject"), Literal(None)), True),
        (compare("d.name.deeper", "==", None), True),
    ],
)
def test_filter_functions(graph: Graph, call: Any, holds: bool) -> None:
    assert bool(names(graph, BREVIX, Filter(call), show="d")) is holds


# --------------------------------------------------------------------------- FIND and ORDER BY


def test_projection_deduplicates_on_mentioned_variables(graph: Graph) -> None:
    """Three links of Brevix collapse to one ?d; two drugs with one form stay two rows."""
    one = Query((path("d.name"),), (BREVIX, clause("d", PredicateVar("p"), "x")))
    assert answer(one, graph).rows == [("Brevix",)]
    forms = ordered("d.attributes.form", where=(concept("d", "Drug"),))
    assert [row[0] for row in answer(forms, graph).rows] == ["drops", "syrup", "tablet", "tablet"]


def test_hidden_sort_value_is_the_first_in_the_asked_direction(graph: Graph) -> None:
    eases = clause("d", "eases", "s", "l")
    for descending, first in ((False, ["Brevix", "Lumanol", "Nocturin"]), (True, ["Lumanol", "Nocturin", "Brevix"])):
        query = ordered("d.name", where=(eases,), by="l.metadata.confidence", descending=descending)
        assert [row[0] for row in answer(query, graph).rows] == first


def test_aggregates_of_mixed_kinds() -> None:
    made = Graph()
    for index, value in enumerate([1, 1.0, 2, "a", "b", True, None, [1]]):
        made.add_node("T", str(index), {"v": value, "w": value if isinstance(value, str) else None})
    calls = [("COUNT", "v"), ("SUM", "v"), ("AVG", "v"), ("MIN", "v"), ("MAX", "v"), ("MIN", "w"), ("SUM", "w")]
    items = [Aggregate(func, path(f"x.attributes.{key}")) for func, key in calls]
    items += [count("x.attributes.v", True), Aggregate("AVG", path("x.attributes.w")), Aggregate("MAX", path("x"))]
    expected = (7, 4.0, 4 / 3, 1, 2, "a", 0, 6, None, None)
    assert answer(Query(tuple(items), (concept("x", "T"),)), made).scalars == expected
    groups = answer(Query((path("x.attributes.v"), count("x")), (concept("x", "T"),)), made).rows
    assert [(str(value), size) for value, size in groups][:2] == [("1", 2), ("2", 1)]
    assert len(groups) == 7


def test_order_of_kinds() -> None:
    made = Graph()
    values: list[Any] = [{"k": 1}, "b", 2, None, [1], True, "B", 1.5, False, [0]]
    for index, value in enumerate(values):
        made.add_node("T", str(index), {"v": value})
    query = Query(
        (path("x.attributes.v"),), (concept("x", "T"),), (SortKey(path("x.attributes.v")), SortKey(path("x")))
    )
    up = [[row[0] for row in tied] for tied in answer(query, made).classes]
    assert up == [[False], [True], [1.5], [2], ["B"], ["b"], [[1], [0]], [{"k": 1}], [None]]
    down = Query(query.find, query.where, (SortKey(path("x.attributes.v"), True),))
    assert [tied[0][0] for tied in answer(down, made).classes][:2] == [{"k": 1}, [1]]
    assert answer(down, made).rows[-1] == (None,)


# --------------------------------------------------------------------------- the comparison itself


class Canned:
    """An engine that gives prepared responses."""

    def __init__(self, *responses: dict[str, Any]) -> None:
        self._responses = list(responses)
        self.commands: list[str] = []

    def execute_kip(self, request: dict[str, Any]) -> dict[str, Any]:
        self.commands.append(request["command"])
        return self._responses.pop(0)


@pytest.mark.parametrize(
    "response",
    [
        {"result": ["Brevix", "Lumanol"], "next_cursor": "t"},
        {"result": ["Brevix", "Lumanol", "Placidol"], "next_cursor": "t"},
        {"result": ["Lumanol", "Brevix", "Nocturin"], "next_cursor": "t"},
        {"result": ["Brevix", "Brevix", "Lumanol"], "next_cursor": "t"},
        {"result": ["Brevix", "Lumanol", "Nocturin"]},
        {"result": [["Brevix", "Lumanol", "Nocturin"]], "next_cursor": "t"},
        {"error": {"code": "KIP_4003"}},
    ],
)
def test_wrong_answers_are_seen(graph: Graph, response: dict[str, Any]) -> None:
    query = Query((path("d.name"),), (concept("d", "Drug"),), (SortKey(path("d.name")),), 3)
    expected = answer(query, graph)
    with pytest.raises(Mismatch):
        check_query(query, graph, Canned(response), expected, pages=False)


@pytest.mark.parametrize("last", [["Nocturin"], [], ["Placidol", "Placidol"], ["Other"]])
def test_wrong_pages_are_seen(graph: Graph, last: list[str]) -> None:
    query = Query((path("d.name"),), (concept("d", "Drug"),), (SortKey(path("d.name")),), 3)
    engine = Canned({"result": ["Brevix", "Lumanol", "Nocturin"], "next_cursor": "t"}, {"result": last})
    with pytest.raises(Mismatch):
        check_query(query, graph, engine, answer(query, graph), pages=True)


def test_ties_and_cuts_may_fall_either_way(graph: Graph) -> None:
    query = Query((path("d.name"),), (concept("d", "Drug"),), (SortKey(path("d.attributes.form")),), 3)
    expected = answer(query, graph)
    for third in ("Lumanol", "Nocturin"):
        found = {"result": ["Placidol", "Brevix", third], "next_cursor": "t"}
        check_query(query, graph, Canned(found), expected, pages=False)


def test_shrinking_keeps_what_fails() -> None:
    noise = clause("a", "q", "c")
    query = Query(
        (path("a.name"), path("b")), (noise, Not((clause("a", "p", "b"), noise)), clause("a", "p", "b")), (), 5
    )

    def fails(candidate: Query) -> bool:
        return any(isinstance(item, Not) for item in candidate.where)

    assert len(to_kip(shrink(query, fails))) < len(to_kip(query)) / 1.5
    assert fails(shrink(query, fails))


def test_invalid_queries_are_known() -> None:
    free = LinkClause(None, LinkMatch(Var("a"), Hops("p", 0, 2), Var("b")))
    assert not is_valid(Query((Path("a"),), (free,)))
    assert not is_valid(Query((Path("z"),), (clause("a", "p", "b"),)))
    assert not is_valid(Query((Path("a"),), (Filter(compare("a", "==", 1)), clause("a", Names(("p",)), "b"))))


@pytest.mark.parametrize("seed", range(4))
def test_generated_queries_are_valid_and_repeatable(seed: int) -> None:
    def texts() -> list[str]:
        made = make_graph(Random(seed))
        maker = QueryMaker(Random(seed), made)
        queries = [maker.query() for _ in range(60)]
        assert all(is_valid(query) for query in queries)
        return [to_kip(query, made) for query in queries]

    assert texts() == texts()
