"""Smaller queries out of a query that shows a mismatch, and the rules that keep them valid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tests.oracle.model import (
    Aggregate,
    And,
    Clause,
    ConceptClause,
    Expr,
    Filter,
    Group,
    Hops,
    LinkClause,
    LinkMatch,
    Names,
    Negate,
    Not,
    Optional,
    Or,
    Path,
    Query,
    SortKey,
    Term,
    Union,
    Var,
    expr_paths,
    item_path,
    pattern_vars,
    visible_vars,
)


def is_valid(query: Query) -> bool:
    """No unbound variable (KIP_3001), no empty group, no zero-hop path with both ends free (notes B.3, B.4)."""
    known = visible_vars(query.where)
    paths = [item_path(item) for item in query.find] + [item_path(key.expr) for key in query.order]
    aggregates = [item for item in query.find if isinstance(item, Aggregate)]
    keys_found = all(key.expr in aggregates for key in query.order if isinstance(key.expr, Aggregate))
    return (
        bool(query.find) and all(path.var in known for path in paths) and keys_found and _valid_group(query.where, {})
    )


def _valid_group(group: Group, outer: Mapping[str, None]) -> bool:
    known = dict(outer)
    for clause in group:
        if isinstance(clause, Filter):
            if any(path.var not in known for path in expr_paths(clause.expr)):
                return False
        elif isinstance(clause, Not | Optional | Union):
            if not _valid_group(clause.group, {} if isinstance(clause, Union) else known):
                return False
        elif isinstance(clause, LinkClause) and isinstance(clause.match, LinkMatch):
            match = clause.match
            free = all(isinstance(x, Var) and x.name not in known for x in (match.subject, match.object))
            if isinstance(match.predicate, Hops) and match.predicate.low == 0 and free:
                return False
        known |= visible_vars((clause,))
    return bool(group)


def shrink(query: Query, fails: Callable[[Query], bool], attempts: int = 400) -> Query:
    """Take the first smaller query that still fails, again and again."""
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(query):
            attempts -= 1
            if attempts < 0:
                return query
            if is_valid(smaller) and _still_settled(smaller) and fails(smaller):
                query, progress = smaller, True
                break
    return query


def _still_settled(query: Query) -> bool:
    """Sort keys must keep a settled meaning: at most one hidden, with groups only those FIND names."""
    mentioned = {item_path(item).var for item in query.find}
    plain = [item for item in query.find if isinstance(item, Path)]
    if len(plain) == len(query.find):
        return sum(item_path(key.expr).var not in mentioned for key in query.order) <= 1
    bare = {item.var for item in plain if not item.steps}
    return all(isinstance(k.expr, Aggregate) or k.expr in plain or k.expr.var in bare for k in query.order)


def _smaller(query: Query) -> Iterator[Query]:
    if query.limit is not None:
        yield replace(query, limit=None)
    for index in range(len(query.order)):
        yield replace(query, order=query.order[:index] + query.order[index + 1 :])
    for index in range(len(query.find)):
        if len(query.find) > 1:
            yield replace(query, find=query.find[:index] + query.find[index + 1 :])
    for group in _smaller_group(query.where):
        yield replace(query, where=group)
    if query.order or any(isinstance(item, Aggregate) or item.steps for item in query.find):
        yield replace(query, find=tuple(dict.fromkeys(Path(item_path(x).var) for x in query.find)), order=())
    for index, key in enumerate(query.order):
        if key.descending:
            keys = (*query.order[:index], SortKey(key.expr), *query.order[index + 1 :])
            yield replace(query, order=keys)


def _smaller_group(group: Group) -> Iterator[Group]:
    for index, clause in enumerate(group):
        before, after = group[:index], group[index + 1 :]
        if len(group) > 1:
            yield before + after
        for other in _smaller_clause(clause):
            yield (*before, other, *after)
        if isinstance(clause, Not | Optional | Union):
            yield before + clause.group + after


def _smaller_clause(clause: Clause) -> Iterator[Clause]:
    if isinstance(clause, Not | Optional | Union):
        for group in _smaller_group(clause.group):
            yield replace(clause, group=group)
    elif isinstance(clause, Filter):
        for expr in _smaller_expr(clause.expr):
            yield Filter(expr)
    elif isinstance(clause, ConceptClause):
        if clause.match.type is not None and clause.match.name is not None:
            yield replace(clause, match=replace(clause.match, name=None))
    elif isinstance(clause.match, LinkMatch):
        if clause.var is not None:
            yield replace(clause, var=None)
        for match in _smaller_match(clause.match, set(pattern_vars(clause))):
            yield replace(clause, match=match)


def _smaller_match(match: LinkMatch, used: set[str]) -> Iterator[LinkMatch]:
    if isinstance(match.predicate, Names) and len(match.predicate.names) > 1:
        for name in match.predicate.names:
            yield replace(match, predicate=Names((name,)))
    if isinstance(match.predicate, Hops):
        yield replace(match, predicate=Names((match.predicate.name,)))
    fresh = Var(next(name for name in (f"s{n}" for n in range(99)) if name not in used))
    if not isinstance(match.subject, Var):
        yield replace(match, subject=fresh)
        for term in _smaller_term(match.subject, used):
            yield replace(match, subject=term)
    if not isinstance(match.object, Var):
        yield replace(match, object=fresh)
        for term in _smaller_term(match.object, used):
            yield replace(match, object=term)


def _smaller_term(term: Term, used: set[str]) -> Iterator[Term]:
    if isinstance(term, LinkMatch):
        yield from _smaller_match(term, used)


def _smaller_expr(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Negate):
        yield expr.item
        for item in _smaller_expr(expr.item):
            yield Negate(item)
    elif isinstance(expr, And | Or):
        yield from expr.items
        if len(expr.items) > 2:
            for index in range(len(expr.items)):
                yield replace(expr, items=expr.items[:index] + expr.items[index + 1 :])
        for index, item in enumerate(expr.items):
            for other in _smaller_expr(item):
                yield replace(expr, items=(*expr.items[:index], other, *expr.items[index + 1 :]))
