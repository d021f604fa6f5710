"""The query cases of the worked examples E01 to E19 and the shape rules around them, as query trees.

Expected results are those of the examples, not computed. Each case also gives the text that the
printer must produce, white space aside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.oracle.model import (
    Aggregate,
    And,
    Call,
    Compare,
    ConceptClause,
    ConceptMatch,
    Filter,
    FindItem,
    Graph,
    Hops,
    LinkClause,
    LinkMatch,
    Literal,
    Names,
    Not,
    Optional,
    Or,
    Path,
    PredicateVar,
    Query,
    SortKey,
    Term,
    Union,
    Var,
)


@dataclass(frozen=True)
class Example:
    name: str
    query: Query
    text: str
    result: Any


def path(text: str) -> Path:
    """``"d.attributes.risk"`` as a path."""
    var, *steps = text.split(".")
    return Path(var, tuple(steps))


def count(text: str, distinct: bool = False) -> Aggregate:
    return Aggregate("COUNT", path(text), distinct)


def link(subject: Term | str, predicate: str | Names | Hops | PredicateVar, object_: Term | str) -> LinkMatch:
    """A link pattern; texts are variables at the ends and one literal predicate in the middle."""
    return LinkMatch(
        Var(subject) if isinstance(subject, str) else subject,
        Names((predicate,)) if isinstance(predicate, str) else predicate,
        Var(object_) if isinstance(object_, str) else object_,
    )


def clause(
    subject: Term | str, predicate: str | Names | Hops | PredicateVar, object_: Term | str, var: str | None = None
) -> LinkClause:
    return LinkClause(var, link(subject, predicate, object_))


def concept(var: str, type_: str | None = None, name: str | None = None) -> ConceptClause:
    return ConceptClause(var, ConceptMatch(type_, name))


def compare(left: str, op: str, right: Any) -> Compare:
    return Compare(op, path(left), Literal(right))


def ordered(*find: str, where: tuple[Any, ...], by: str | None = None, descending: bool = False) -> Query:
    """A query with one sort key, by default the first expression."""
    key = path(by or find[0])
    return Query(tuple(path(x) for x in find), where, (SortKey(key, descending),))


def apothecary() -> Graph:
    """The graph of the worked examples' capsule."""
    graph = Graph()
    graph.types = ["Drug", "Symptom", "DrugFamily", "Reviewer"]
    graph.predicates = ["eases", "causes", "member_of", "subfamily_of", "vouches_for"]
    base = {"source": "apothecary", "confidence": 0.5}
    parts = {"Headache": "head", "Fever": "whole", "Insomnia": "head", "Nausea": "stomach"}
    node = {name: graph.add_node("Symptom", name, {"body_part": part}, base) for name, part in parts.items()}
    for name in ("Remedies", "Sedatives", "Dreamers"):
        node[name] = graph.add_node("DrugFamily", name, {}, base)
    drugs: dict[str, dict[str, Any]] = {
        "Lumanol": {"risk": 1, "form": "tablet", "doses": [200, 400]},
        "Brevix": {"risk": 3, "form": "syrup"},
        "Nocturin": {"risk": 4, "form": "tablet"},
        "Placidol": {"form": "drops"},
    }
    for name, attributes in drugs.items():
        node[name] = graph.add_node("Drug", name, attributes, base)
    node["Mira"] = graph.add_node("Reviewer", "Mira", {}, base)
    triples: list[tuple[str, str, str, float | None]] = [
        ("Sedatives", "subfamily_of", "Remedies", None),
        ("Dreamers", "subfamily_of", "Sedatives", None),
        ("Lumanol", "eases", "Headache", 0.9),
        ("Lumanol", "eases", "Fever", 0.7),
        ("Lumanol", "member_of", "Remedies", None),
        ("Brevix", "eases", "Fever", 0.6),
        ("Brevix", "causes", "Nausea", None),
        ("Brevix", "member_of", "Remedies", None),
        ("Nocturin", "eases", "Insomnia", 0.8),
        ("Nocturin", "member_of", "Dreamers", None),
    ]
    for subject, predicate, object_, confidence in triples:
        own = {} if confidence is None else {"confidence": confidence}
        graph.add_link(node[subject], predicate, node[object_], {}, base | own)
    claim = graph.find_link(node["Lumanol"], "eases", node["Headache"])
    assert claim is not None
    graph.add_link(node["Mira"], "vouches_for", claim, {}, {"source": "apothecary", "confidence": 1.0})
    return graph


DRUG = concept("d", "Drug")
FEVER = ConceptMatch("Symptom", "Fever")
NAUSEA = ConceptMatch("Symptom", "Nausea")
RISKS: tuple[FindItem, ...] = tuple(Aggregate(func, path("d.attributes.risk")) for func in ("MIN", "MAX", "AVG"))

EXAMPLES = (
    Example(
        "E01",
        ordered("d.name", where=(DRUG,)),
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name',
        ["Brevix", "Lumanol", "Nocturin", "Placidol"],
    ),
    Example(
        "E02",
        ordered("d.name", "d.attributes.risk", where=(DRUG,)),
        'FIND(?d.name, ?d.attributes.risk) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name',
        [["Brevix", "Lumanol", "Nocturin", "Placidol"], [3, 1, 4, None]],
    ),
    Example(
        "E03",
        ordered(
            "d.name",
            where=(
                DRUG,
                Filter(And((compare("d.attributes.risk", ">=", 3), compare("d.attributes.form", "!=", "drops")))),
            ),
        ),
        'FIND(?d.name) WHERE { ?d {type: "Drug"} '
        'FILTER(?d.attributes.risk >= 3 && ?d.attributes.form != "drops") } ORDER BY ?d.name',
        ["Brevix", "Nocturin"],
    ),
    Example(
        "E04",
        ordered(
            "d.name",
            where=(
                DRUG,
                Filter(
                    And(
                        (
                            Call("IN", (path("d.attributes.form"), Literal(["tablet", "drops"]))),
                            Or(
                                (
                                    Call("IS_NULL", (path("d.attributes.risk"),)),
                                    Call("REGEX", (path("d.name"), Literal("^Noct"))),
                                )
                            ),
                        )
                    )
                ),
            ),
        ),
        'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IN(?d.attributes.form, ["tablet", "drops"]) '
        '&& (IS_NULL(?d.attributes.risk) || REGEX(?d.name, "^Noct"))) } ORDER BY ?d.name',
        ["Nocturin", "Placidol"],
    ),
    Example(
        "E05",
        ordered(
            "d.name",
            "s.name",
            where=(
                clause("d", "eases", "s"),
                concept("s", "Symptom"),
                Filter(compare("s.attributes.body_part", "==", "head")),
            ),
        ),
        'FIND(?d.name, ?s.name) WHERE { (?d, "eases", ?s) ?s {type: "Symptom"} '
        'FILTER(?s.attributes.body_part == "head") } ORDER BY ?d.name',
        [["Lumanol", "Nocturin"], ["Headache", "Insomnia"]],
    ),
    Example(
        "E06",
        Query((path("d.name"),), (clause("d", Names(("eases", "causes")), NAUSEA),)),
        'FIND(?d.name) WHERE { (?d, "eases" | "causes", {type: "Symptom", name: "Nausea"}) }',
        ["Brevix"],
    ),
    Example(
        "E07",
        ordered("d.name", where=(DRUG, Not((clause("d", "eases", FEVER),)))),
        'FIND(?d.name) WHERE { ?d {type: "Drug"} '
        'NOT { (?d, "eases", {type: "Symptom", name: "Fever"}) } } ORDER BY ?d.name',
        ["Nocturin", "Placidol"],
    ),
    Example(
        "E08",
        ordered("d.name", "s.name", where=(DRUG, Optional((clause("d", "causes", "s"),)))),
        'FIND(?d.name, ?s.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "causes", ?s) } } ORDER BY ?d.name',
        [["Brevix", "Lumanol", "Nocturin", "Placidol"], ["Nausea", None, None, None]],
    ),
    Example(
        "E09",
        ordered(
            "d.name",
            where=(
                clause("d", "eases", ConceptMatch("Symptom", "Headache")),
                Union((clause("d", "eases", FEVER),)),
            ),
        ),
        'FIND(?d.name) WHERE { (?d, "eases", {type: "Symptom", name: "Headache"}) '
        'UNION { (?d, "eases", {type: "Symptom", name: "Fever"}) } } ORDER BY ?d.name',
        ["Brevix", "Lumanol"],
    ),
    Example(
        "E10",
        ordered("d.name", "r.name", where=(concept("d", "Drug", "Placidol"), Union((concept("r", "Reviewer"),)))),
        'FIND(?d.name, ?r.name) WHERE { ?d {type: "Drug", name: "Placidol"} '
        'UNION { ?r {type: "Reviewer"} } } ORDER BY ?d.name',
        [["Placidol", None], [None, "Mira"]],
    ),
    Example("E11a", Query((count("d"),), (DRUG,)), 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }', 4),
    Example(
        "E11b",
        Query(RISKS, (DRUG, Filter(compare("d.name", "!=", "Lumanol")))),
        "FIND(MIN(?d.attributes.risk), MAX(?d.attributes.risk), AVG(?d.attributes.risk)) "
        'WHERE { ?d {type: "Drug"} FILTER(?d.name != "Lumanol") }',
        [3, 4, 3.5],
    ),
    Example(
        "E12",
        Query(
            (path("s.name"), count("d")),
            (concept("s", "Symptom"), Optional((clause("d", "eases", "s"),))),
            (SortKey(count("d"), True), SortKey(path("s.name"))),
        ),
        'FIND(?s.name, COUNT(?d)) WHERE { ?s {type: "Symptom"} OPTIONAL { (?d, "eases", ?s) } } '
        "ORDER BY COUNT(?d) DESC, ?s.name ASC",
        [["Fever", "Headache", "Insomnia", "Nausea"], [2, 1, 1, 0]],
    ),
    Example(
        "E13",
        Query((path("d.attributes.form"), count("d")), (DRUG,), (SortKey(path("d.attributes.form")),)),
        'FIND(?d.attributes.form, COUNT(?d)) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.form',
        [["drops", "syrup", "tablet"], [1, 1, 2]],
    ),
    Example(
        "E14a",
        ordered("d.name", where=(DRUG,), by="d.attributes.risk", descending=True),
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.risk DESC',
        ["Nocturin", "Brevix", "Lumanol", "Placidol"],
    ),
    Example(
        "E14b",
        ordered("d.name", where=(DRUG,), by="d.attributes.risk"),
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.risk',
        ["Lumanol", "Brevix", "Nocturin", "Placidol"],
    ),
    Example(
        "E16",
        ordered("f.name", where=(clause(ConceptMatch("DrugFamily", "Dreamers"), Hops("subfamily_of", 1, 3), "f"),)),
        'FIND(?f.name) WHERE { ({type: "DrugFamily", name: "Dreamers"}, "subfamily_of"{1,3}, ?f) } ORDER BY ?f.name',
        ["Remedies", "Sedatives"],
    ),
    Example(
        "E17",
        ordered(
            "d.name",
            "f.name",
            where=(
                concept("d", "Drug", "Nocturin"),
                clause("d", "member_of", "own"),
                clause("own", Hops("subfamily_of", 0, 1), "f"),
            ),
            by="f.name",
        ),
        'FIND(?d.name, ?f.name) WHERE { ?d {type: "Drug", name: "Nocturin"} (?d, "member_of", ?own) '
        '(?own, "subfamily_of"{0,1}, ?f) } ORDER BY ?f.name',
        [["Nocturin", "Nocturin"], ["Dreamers", "Sedatives"]],
    ),
    Example(
        "E18",
        ordered(
            "p",
            "x.name",
            where=(
                clause(ConceptMatch("Drug", "Brevix"), PredicateVar("p"), "x"),
                Filter(compare("p", "!=", "member_of")),
            ),
        ),
        'FIND(?p, ?x.name) WHERE { ({type: "Drug", name: "Brevix"}, ?p, ?x) FILTER(?p != "member_of") } ORDER BY ?p',
        [["causes", "eases"], ["Nausea", "Fever"]],
    ),
    Example(
        "E19",
        Query(
            (path("r.name"), path("d.name"), path("claim.metadata.confidence")),
            (clause("r", "vouches_for", link("d", "eases", "s"), "claim"),),
        ),
        'FIND(?r.name, ?d.name, ?claim.metadata.confidence) WHERE { ?claim (?r, "vouches_for", (?d, "eases", ?s)) }',
        [["Mira"], ["Lumanol"], [1.0]],
    ),
    Example(
        "E20",
        Query((path("d.attributes"),), (concept("d", "Drug", "Lumanol"),)),
        'FIND(?d.attributes) WHERE { ?d {type: "Drug", name: "Lumanol"} }',
        [{"risk": 1, "form": "tablet", "doses": [200, 400]}],
    ),
    Example(
        "E28",
        Query((count("c"),), (clause("r", "vouches_for", "x", "c"),)),
        'FIND(COUNT(?c)) WHERE { ?c (?r, "vouches_for", ?x) }',
        1,
    ),
    Example(
        "E30",
        ordered("a.name", "b.name", where=(clause("a", "subfamily_of", "b"),)),
        'FIND(?a.name, ?b.name) WHERE { (?a, "subfamily_of", ?b) } ORDER BY ?a.name',
        [["Dreamers", "Sedatives"], ["Sedatives", "Remedies"]],
    ),
)
"""E20 and E28 are asked of the graph as loaded: the writes of these examples are not the oracle's matter."""
