"""The naive evaluator: lists of solutions, clause by clause, nested loops.

It follows the protocol text (§ numbers), the notes and docs/kip-semantics.md ("docs" below) to
the letter and cares for nothing else. :mod:`tests.oracle.projection` does what comes after WHERE.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from tests.oracle.model import (
    And,
    Call,
    Compare,
    ConceptClause,
    ConceptMatch,
    Element,
    Expr,
    Filter,
    Graph,
    Group,
    Hops,
    Link,
    LinkClause,
    LinkId,
    LinkMatch,
    Names,
    Negate,
    Node,
    Not,
    Operand,
    Optional,
    Or,
    Path,
    Predicate,
    PredicateVar,
    Term,
    Var,
    pattern_vars,
    visible_vars,
)
from tests.oracle.values import PredicateName, Solution, equal, follow, less

STRING_CALLS: dict[str, Callable[[str, str], bool]] = {
    "CONTAINS": lambda text, part: part in text,
    "STARTS_WITH": str.startswith,
    "ENDS_WITH": str.endswith,
    "REGEX": lambda text, pattern: re.search(pattern, text) is not None,
}


class BudgetExceededError(Exception):
    """The query is too large for the naive evaluator."""


class Evaluator:
    """Evaluates WHERE groups over one graph."""

    def __init__(self, graph: Graph, budget: int = 10_000_000) -> None:
        self._graph = graph
        self._left = budget
        self._by_predicate: dict[str, list[Link]] = defaultdict(list)
        self._by_subject: dict[str, list[Link]] = defaultdict(list)
        self._by_object: dict[str, list[Link]] = defaultdict(list)
        self._ends: dict[tuple[Hops, str], list[Element]] = {}
        for link in graph.links:
            self._by_predicate[link.predicate].append(link)
            self._by_subject[link.subject.key].append(link)
            self._by_object[link.object.key].append(link)

    # ----------------------------------------------------------------- groups (§3.4, §3.4.7)

    def solve(self, group: Group) -> list[Solution]:
        """Solutions of a WHERE group."""
        return self._group(group, {})

    def _group(self, group: Group, outer: Solution) -> list[Solution]:
        """Run clauses in text order over one set of solutions (notes B.3).

        ``outer`` is the enclosing solution of a NOT or OPTIONAL, empty at the top and in UNION.
        Every row binds the same variables at any time, some of them to null.
        """
        rows: list[Solution] = [dict(outer)]
        known: dict[str, None] = dict.fromkeys(outer)
        outer_nulls = {name for name, bound in outer.items() if bound is None}
        for position, clause in enumerate(group):
            if isinstance(clause, ConceptClause | LinkClause):
                rows = [found for row in rows for found in self._pattern(clause, row, outer_nulls)]
                known |= dict.fromkeys(pattern_vars(clause))
            elif isinstance(clause, Filter):
                rows = [row for row in rows if self.holds(clause.expr, row)]
            elif isinstance(clause, Not):
                rows = [row for row in rows if not self._group(clause.group, row)]
            elif isinstance(clause, Optional):
                new = [name for name in visible_vars(clause.group) if name not in known]
                rows = [found for row in rows for found in self._optional(clause.group, row, new)]
                known |= dict.fromkeys(new)
            else:
                # Nothing is visible inside; what precedes contributes no row if there is nothing (notes B.3).
                branch = self._group(clause.group, {})
                known |= visible_vars(clause.group)
                merged = (rows if position else []) + branch
                rows = [{name: row.get(name) for name in known} for row in merged]
            self._spend(len(rows) + 1)
            rows = _distinct(rows)
        # Rows of a UNION in a NOT or OPTIONAL count if they agree with the enclosing solution (docs).
        return [row for row in rows if _agrees(row, outer)]

    def _optional(self, group: Group, row: Solution, new: list[str]) -> Iterator[Solution]:
        """Left join (§3.4.7.2): each block solution extends the row, or its new variables are null."""
        found = self._group(group, row)
        for inner in found:
            yield row | {name: inner[name] for name in new}
        if not found:
            yield row | dict.fromkeys(new)

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise BudgetExceededError

    # ----------------------------------------------------------------- patterns (§3.4.1, §3.4.2)

    def _pattern(self, clause: ConceptClause | LinkClause, row: Solution, outer_nulls: set[str]) -> Iterator[Solution]:
        """Extend one row by a pattern; null bindings by the rules of docs, "Null bindings"."""
        names = pattern_vars(clause)
        if any(name in outer_nulls for name in names):
            return
        if any(name in row and row[name] is None for name in names):
            yield row | {name: None for name in names if name not in row}
            return
        if isinstance(clause, ConceptClause):
            nodes: Iterable[Element] = self._graph.nodes
            if isinstance(bound := row.get(clause.var), Node):
                nodes = [bound]
            for node in nodes:
                for found in self._term(clause.match, node, row):
                    yield from self._term(Var(clause.var), node, found)
        elif isinstance(clause.match, LinkId):
            yield from self._link_var(clause.var, self._graph.element(clause.match.key), row)
        elif isinstance(clause.match.predicate, Hops) and not clause.match.predicate.single:
            for found in self._path(clause.match, clause.match.predicate, row):
                if clause.var is None:
                    yield found
                elif clause.var not in found:
                    yield found | {clause.var: None}  # a path is not one link (notes B.4)
        else:
            for link in self._candidates(clause.match, row):
                for found in self._link(clause.match, link, row):
                    yield from self._link_var(clause.var, link, found)

    def _link_var(self, name: str | None, element: Element, row: Solution) -> Iterator[Solution]:
        if name is None:
            yield row
        else:
            yield from self._term(Var(name), element, row)

    def _candidates(self, match: LinkMatch, row: Solution) -> list[Link]:
        """Links worth trying: a superset of those that match."""
        for term, index in ((match.subject, self._by_subject), (match.object, self._by_object)):
            if isinstance(term, Var) and isinstance(bound := row.get(term.name), Node | Link):
                return index[bound.key]
        if isinstance(match.predicate, PredicateVar):
            return self._graph.links
        names = match.predicate.names if isinstance(match.predicate, Names) else (match.predicate.name,)
        return [link for name in dict.fromkeys(names) for link in self._by_predicate[name]]

    def _link(self, match: LinkMatch, link: Link, row: Solution) -> Iterator[Solution]:
        """Match one link; embedded patterns bind jointly (notes B.3)."""
        self._spend(1)
        for with_predicate in self._predicate(match.predicate, link, row):
            for with_subject in self._term(match.subject, link.subject, with_predicate):
                yield from self._term(match.object, link.object, with_subject)

    def _predicate(self, predicate: Predicate, link: Link, row: Solution) -> Iterator[Solution]:
        if isinstance(predicate, PredicateVar):
            name = PredicateName(link.predicate)
            if predicate.name not in row:
                yield row | {predicate.name: name}
            elif row[predicate.name] == name:
                yield row
        elif link.predicate in (predicate.names if isinstance(predicate, Names) else (predicate.name,)):
            yield row

    def _term(self, term: Term, element: Element, row: Solution) -> Iterator[Solution]:
        """Match one element with a term."""
        if isinstance(term, Var):
            if term.name not in row:
                yield row | {term.name: element}
            elif row[term.name] is element:
                yield row
        elif isinstance(term, ConceptMatch):
            if isinstance(element, Node) and _describes(term, element):
                yield row
        elif isinstance(term, LinkId):
            if element.key == term.key:
                yield row
        elif isinstance(element, Link):
            yield from self._link(term, element, row)

    # ----------------------------------------------------------------- paths (notes B.4)

    def _path(self, match: LinkMatch, hops: Hops, row: Solution) -> Iterator[Solution]:
        """Distinct (start, end) pairs joined by a walk of a length within the bounds."""
        starts = self._graph.elements()
        if isinstance(match.subject, Var) and match.subject.name in row:
            bound = row[match.subject.name]
            starts = [bound] if isinstance(bound, Node | Link) else []
        both_free = all(isinstance(term, Var) and term.name not in row for term in (match.subject, match.object))
        for start in starts:
            for found in self._term(match.subject, start, row):
                for end in self._walk(hops, start, both_free):
                    yield from self._term(match.object, end, found)

    def _walk(self, hops: Hops, start: Element, both_free: bool) -> list[Element]:
        """Ends of the walks from ``start``. With both ends free the zero-hop pairs are those of nodes."""
        if (hops, start.key) not in self._ends:
            reached: dict[str, Element] = {}
            layer = {start.key: start}
            length = 0
            while layer and (hops.high is None or length <= hops.high):
                if length >= hops.low:
                    new = {key: end for key, end in layer.items() if key not in reached}
                    reached |= new
                    if hops.high is None:
                        layer = new  # nothing new can follow from ends met before
                layer = self._step(hops.name, layer)
                length += 1
            self._ends[hops, start.key] = list(reached.values())
        ends = self._ends[hops, start.key]
        if both_free and hops.low == 0 and isinstance(start, Link):
            onward = self._walk(Hops(hops.name, 1, hops.high), start, False) if hops.high != 0 else []
            ends = [end for end in ends if end is not start or start in onward]
        return ends

    def _step(self, predicate: str, layer: dict[str, Element]) -> dict[str, Element]:
        self._spend(len(layer))
        links = (link for key in layer for link in self._by_subject[key] if link.predicate == predicate)
        return {link.object.key: link.object for link in links}

    # ----------------------------------------------------------------- filters (§3.4.3, notes B.2)

    def holds(self, expr: Expr, row: Solution) -> bool:
        """Truth of a filter expression; every operator is two-valued."""
        if isinstance(expr, And):
            return all(self.holds(item, row) for item in expr.items)
        if isinstance(expr, Or):
            return any(self.holds(item, row) for item in expr.items)
        if isinstance(expr, Negate):
            return not self.holds(expr.item, row)
        if isinstance(expr, Compare):
            return _compare(expr.op, _operand(expr.left, row), _operand(expr.right, row))
        return _call(expr, row)


def _operand(operand: Operand, row: Solution) -> Any:
    if isinstance(operand, Path):
        return follow(row.get(operand.var), operand.steps)
    return operand.value


def _compare(op: str, left: Any, right: Any) -> bool:
    if op in ("==", "!="):
        return equal(left, right) == (op == "==")
    if less(left, right) is None:
        return False
    order = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    return bool(order[op](left, right))


def _call(call: Call, row: Solution) -> bool:
    values = [_operand(arg, row) for arg in call.args]
    if call.name == "IS_NULL":
        return values[0] is None
    if call.name == "IS_NOT_NULL":
        return values[0] is not None
    if call.name == "IN":
        return any(equal(values[0], member) for member in values[1])
    text, other = values
    return isinstance(text, str) and isinstance(other, str) and STRING_CALLS[call.name](text, other)


def _describes(match: ConceptMatch, node: Node) -> bool:
    return match.key in (None, node.key) and match.type in (None, node.type) and match.name in (None, node.name)


def _identity(row: Solution) -> Hashable:
    return frozenset((name, bound if isinstance(bound, PredicateName) else id(bound)) for name, bound in row.items())


def _distinct(rows: list[Solution]) -> list[Solution]:
    """Solutions are sets: equal bindings count once at any stage (notes B.3)."""
    return list({_identity(row): row for row in rows}.values())


def _agrees(row: Solution, outer: Solution) -> bool:
    return all(row[name] is None or row[name] is bound or row[name] == bound for name, bound in outer.items())
