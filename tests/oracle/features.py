"""Names of the language features that a query uses, for the figures of a run."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.model import (
    Aggregate,
    And,
    Call,
    Clause,
    Compare,
    ConceptClause,
    Expr,
    Filter,
    Group,
    Hops,
    LinkClause,
    LinkId,
    LinkMatch,
    Names,
    Negate,
    Or,
    Path,
    PredicateVar,
    Query,
    Term,
)


def features(query: Query) -> set[str]:
    """Features of one query."""
    found = set(_group(query.where, 0))
    plain = [item for item in query.find if isinstance(item, Path)]
    for item in query.find:
        if isinstance(item, Aggregate):
            found.add(f"aggregate {item.func}{' DISTINCT' if item.distinct else ''}")
        elif not item.steps:
            found.add("find: bare variable")
    if 0 < len(plain) < len(query.find):
        found.add("find: grouping")
    if query.scalar:
        found.add("find: scalars")
    if query.order:
        found.add("order")
    if len(query.order) > 1:
        found.add("order: several keys")
    if query.limit is not None:
        found.add("limit")
    return found


def _group(group: Group, depth: int) -> Iterator[str]:
    for position, clause in enumerate(group):
        yield from _clause(clause, depth)
        kind = type(clause).__name__
        if position == 0 and kind in ("Not", "Optional", "Union"):
            yield f"group starts with {kind.upper()}"


def _clause(clause: Clause, depth: int) -> Iterator[str]:
    if isinstance(clause, ConceptClause):
        yield "concept clause"
    elif isinstance(clause, Filter):
        yield from _expr(clause.expr)
    elif isinstance(clause, LinkClause):
        if clause.var is not None:
            yield "link variable"
        yield from _term(clause.match, 0)
    else:
        yield f"block {type(clause).__name__.upper()} at depth {depth + 1}"
        yield from _group(clause.group, depth + 1)


def _term(term: Term, depth: int) -> Iterator[str]:
    if isinstance(term, LinkId):
        yield "link by id"
    elif isinstance(term, LinkMatch):
        yield "embedded link" if depth else "link pattern"
        predicate = term.predicate
        if isinstance(predicate, PredicateVar):
            yield "predicate variable"
        elif isinstance(predicate, Names) and len(predicate.names) > 1:
            yield "predicate alternatives"
        elif isinstance(predicate, Hops):
            yield "path with zero hops" if predicate.low == 0 else "path"
            if predicate.high is None:
                yield "path without upper bound"
        for end in (term.subject, term.object):
            yield from _term(end, depth + 1)


def _expr(expr: Expr) -> Iterator[str]:
    if isinstance(expr, Compare):
        yield f"filter {expr.op}"
    elif isinstance(expr, Call):
        yield f"filter {expr.name}"
    elif isinstance(expr, Negate):
        yield "filter !"
        yield from _expr(expr.item)
    else:
        yield "filter &&" if isinstance(expr, And) else "filter ||"
        assert isinstance(expr, And | Or)
        for item in expr.items:
            yield from _expr(item)
