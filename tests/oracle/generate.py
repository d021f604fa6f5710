"""Seeded random queries over a given graph: valid by the text, nested to depth 3, seldom empty.

A query is grown along a *witness*, an assignment of elements to the variables in scope that
follows real links, so that the conjunctive part matches by construction most of the time.
The witness only biases choices; nothing in the expected answer depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from tests.oracle.generate_filters import FilterMaker
from tests.oracle.generate_graph import BOX_KEYS
from tests.oracle.model import (
    Aggregate,
    Clause,
    ConceptClause,
    ConceptMatch,
    Element,
    Filter,
    FindItem,
    Graph,
    Group,
    Hops,
    Link,
    LinkClause,
    LinkId,
    LinkMatch,
    Names,
    Node,
    Not,
    Optional,
    Path,
    PredicateVar,
    Query,
    SortKey,
    Term,
    Union,
    Var,
    item_path,
    visible_vars,
)
from tests.oracle.values import Bound, PredicateName

VARIABLES = ("a", "b", "c", "d", "e", "x", "y", "z", "long_name", "_u", "V2", "find")
ELEMENT, PREDICATE, MIXED = "element", "predicate", "mixed"


@dataclass
class Scope:
    """Kinds of the variables in scope, in order of binding, and the witness."""

    kinds: dict[str, str] = field(default_factory=dict)
    witness: dict[str, Bound] = field(default_factory=dict)
    nullable: set[str] = field(default_factory=set)

    def copy(self) -> Scope:
        return Scope(dict(self.kinds), dict(self.witness), set(self.nullable))

    def bind(self, name: str, kind: str, bound: Bound) -> None:
        if name not in self.kinds:
            self.kinds[name] = kind
            self.witness[name] = bound

    def named(self, kind: str) -> list[str]:
        return [name for name, have in self.kinds.items() if have == kind]

    def vars_of(self, bound: Bound) -> list[str]:
        return [name for name, have in self.witness.items() if have is not None and have == bound]


class QueryMaker:
    """Makes queries over one graph from one random source.

    Elements that join the graph later, such as an engine's built-in ones, play no part.
    """

    def __init__(self, rng: Random, graph: Graph) -> None:
        self._rng = rng
        self._nodes = list(graph.nodes)
        self._links = list(graph.links)
        self._types = graph.types
        self._predicates = graph.predicates
        self._filters = FilterMaker(rng, graph)
        self._elsewhere: list[dict[str, str]] = []
        """Kinds of the variables outside an independent scope, whose names may be taken again."""

    def query(self) -> Query:
        rng = self._rng
        scope = Scope()
        while not scope.kinds:
            scope = Scope()
            where = self._group(scope, depth=0, size=rng.choice((1, 2, 2, 3, 3, 4)))
        find = self._find(scope)
        limit = rng.choice((1, 2, 3, 4, 5, 8, 13, 40)) if rng.random() < 0.35 else None
        return Query(find, where, self._order(scope, find), limit)

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    # ----------------------------------------------------------------- groups

    def _group(self, scope: Scope, depth: int, size: int) -> Group:
        """Clauses of one group; ``scope`` gains the variables that they bind."""
        rng = self._rng
        clauses: list[Clause] = []
        if depth and scope.nullable and self._chance(0.3):
            clauses.append(self._at_null(scope))
        patterns = 0
        while patterns < size:
            roll = rng.random()
            nest = depth < 3
            if roll < 0.06 and nest and patterns == 0 and not clauses:
                clauses.append(self._block(scope, depth))
            elif roll < 0.62 or not scope.kinds:
                clauses.append(self._pattern(scope))
            elif roll < 0.74:
                clauses.append(Filter(self._filters.make(scope.kinds, scope.witness)))
                continue
            elif nest:
                clauses.append(self._block(scope, depth))
            else:
                continue
            patterns += 1
        if scope.kinds and self._chance(0.35):
            clauses.append(Filter(self._filters.make(scope.kinds, scope.witness)))
        elif nest and self._chance(0.15):
            clauses.append(self._block(scope, depth))
        return tuple(clauses)

    def _block(self, scope: Scope, depth: int) -> Clause:
        """NOT, OPTIONAL or UNION."""
        rng = self._rng
        size = rng.choice((1, 1, 1, 2, 2, 3)) if depth < 2 else 1
        roll = rng.random()
        if roll < 0.35:
            inner = Scope()
            self._elsewhere.append(scope.kinds)
            group = self._group(inner, depth + 1, size)
            self._elsewhere.pop()
            scope.nullable |= set(scope.kinds) ^ set(inner.kinds)
            for name in visible_vars(group):
                if name in scope.kinds and scope.kinds[name] != inner.kinds[name]:
                    scope.kinds[name] = MIXED
                scope.bind(name, inner.kinds[name], inner.witness[name] if self._chance(0.3) else None)
            return Union(group)
        inner = scope.copy()
        group = self._group(inner, depth + 1, size)
        if roll < 0.62:
            return Not(group)
        scope.nullable |= set(visible_vars(group)) - set(scope.kinds)
        for name in visible_vars(group):
            scope.bind(name, inner.kinds[name], inner.witness[name])
        return Optional(group)

    def _new_var(self, scope: Scope, kind: str) -> str:
        rng = self._rng
        if self._elsewhere and self._chance(0.6):
            known = [
                name
                for name, have in self._elsewhere[-1].items()
                if name not in scope.kinds and (have == kind or self._chance(0.03))
            ]
            if known:
                return rng.choice(known)
        free = [name for name in VARIABLES if name not in scope.kinds]
        return rng.choice(free[:5]) if free else f"v{len(scope.kinds)}"

    # ----------------------------------------------------------------- patterns

    def _pattern(self, scope: Scope) -> ConceptClause | LinkClause:
        if self._chance(0.3):
            return self._concept_clause(scope)
        if self._chance(0.02):
            link = self._rng.choice(self._links)
            name = self._link_var(scope, link) or self._new_var(scope, ELEMENT)
            scope.bind(name, ELEMENT, link)
            return LinkClause(name, LinkId(link.key))
        return self._link_clause(scope)

    def _at_null(self, scope: Scope) -> ConceptClause | LinkClause:
        """A pattern at a variable that may be null."""
        name = self._rng.choice(sorted(scope.nullable))
        if self._chance(0.4):
            return ConceptClause(name, ConceptMatch(type=self._rng.choice(self._types)))
        return self._stray_clause(scope, name, None)

    def _concept_clause(self, scope: Scope) -> ConceptClause:
        rng = self._rng
        known = [name for name in scope.kinds if scope.kinds[name] != PREDICATE or self._chance(0.03)]
        node: Node = rng.choice(self._nodes)
        if known and self._chance(0.75):
            name = rng.choice(known)
            bound = scope.witness.get(name)
            if isinstance(bound, Node) and self._chance(0.85):
                node = bound
            return ConceptClause(name, self._concept_match(node, narrow=0.12))
        name = self._new_var(scope, ELEMENT)
        scope.bind(name, ELEMENT, node)
        return ConceptClause(name, self._concept_match(node, narrow=0.12 if not known else 0.5))

    def _concept_match(self, node: Node, narrow: float) -> ConceptMatch:
        """A match for one node; ``narrow`` is the chance of one that leaves few nodes."""
        if not self._chance(narrow):
            return ConceptMatch(type=node.type)
        roll = self._rng.random()
        if roll < 0.35:
            return ConceptMatch(name=node.name)
        if roll < 0.5:
            return ConceptMatch(key=node.key)
        if roll < 0.56:
            return ConceptMatch(type=self._rng.choice(self._types), name=node.name)
        return ConceptMatch(type=node.type, name=node.name)

    def _anchor(self, scope: Scope) -> Element | None:
        """An element of the witness to go on from."""
        bound = [have for have in scope.witness.values() if isinstance(have, Node | Link)]
        return self._rng.choice(bound) if bound and self._chance(0.88) else None

    def _link_clause(self, scope: Scope) -> LinkClause:
        rng = self._rng
        anchor = self._anchor(scope)
        pool = self._links
        if anchor is not None:
            pool = [link for link in pool if anchor in (link.subject, link.object, link)] or pool
        link = rng.choice(pool)
        if anchor is not None and self._chance(0.12):
            return self._stray_clause(scope, rng.choice(scope.vars_of(anchor)), anchor)
        if self._chance(0.24):
            return self._path_clause(scope, link)
        before = scope.copy()
        name = self._link_var(scope, link) if self._chance(0.35) else None
        if name is None and self._chance(0.3):
            name = self._new_var(scope, ELEMENT)
        subject = self._term(scope, link.subject, 0)
        predicate = self._predicate(scope, link, before, (subject, link.object))
        match = LinkMatch(subject, predicate, self._term(scope, link.object, 0))
        if name is not None:
            scope.bind(name, ELEMENT, link)
        return LinkClause(name, match)

    def _link_var(self, scope: Scope, link: Link) -> str | None:
        known = scope.vars_of(link)
        return self._rng.choice(known) if known else None

    def _stray_clause(self, scope: Scope, name: str, anchor: Element | None) -> LinkClause:
        """A pattern at a bound variable that the witness need not meet."""
        rng = self._rng
        predicate = rng.choice(self._predicates)
        others = [have for have in scope.kinds if scope.kinds[have] != PREDICATE or self._chance(0.05)]
        other = rng.choice(others) if others and self._chance(0.4) else self._new_var(scope, ELEMENT)
        forward = self._chance(0.5)
        ends = [
            link.object if forward else link.subject
            for link in self._links
            if link.predicate == predicate and (link.subject if forward else link.object) is anchor
        ]
        scope.bind(other, ELEMENT, rng.choice(ends) if ends else None)
        terms = (Var(name), Var(other)) if forward else (Var(other), Var(name))
        return LinkClause(None, LinkMatch(terms[0], Names((predicate,)), terms[1]))

    def _path_clause(self, scope: Scope, link: Link) -> LinkClause:
        """A path. Zero hops need an end that is bound or described (notes B.4)."""
        rng = self._rng
        low = rng.choice((0, 0, 1, 1, 1, 1, 2, 2, 3))
        high: int | None = None if self._chance(0.3) else low + rng.choice((0, 1, 2, 3))
        end: Element = link.object
        for _ in range(max(low - 1, 0) + rng.choice((0, 0, 1))):
            onward = [item.object for item in self._links if item.predicate == link.predicate and item.subject is end]
            end = rng.choice(onward) if onward else end
        start = link.subject
        if low == 0 and self._chance(0.4):
            end = start
        before = set(scope.kinds)
        subject = self._term(scope, start, 1)
        object_ = self._term(scope, end, 1)
        free = all(isinstance(term, Var) and term.name not in before for term in (subject, object_))
        if low == 0 and free:
            subject = self._concept_match(start, 0.5) if isinstance(start, Node) else LinkId(start.key)
            used = visible_vars((LinkClause(None, LinkMatch(subject, Names((link.predicate,)), object_)),))
            for unused in [name for name in scope.kinds if name not in before and name not in used]:
                del scope.kinds[unused], scope.witness[unused]
        hops = Hops(link.predicate, low, high, exact=self._chance(0.8))
        name: str | None = None
        if self._chance(0.15):
            name = self._new_var(scope, ELEMENT)
            scope.bind(name, ELEMENT, link if hops.single else None)
        return LinkClause(name, LinkMatch(subject, hops, object_))

    def _predicate(
        self, scope: Scope, link: Link, before: Scope, ends: tuple[Term, Element]
    ) -> Names | PredicateVar | Hops:
        """A literal, alternatives, or a variable if an end is constrained (§3.4.2)."""
        rng = self._rng
        roll = rng.random()
        subject, object_ = ends
        constrained = not isinstance(subject, Var) or subject.name in before.kinds or bool(before.vars_of(object_))
        if roll < 0.22 and (constrained or self._chance(0.2)):
            known = scope.vars_of(PredicateName(link.predicate)) or scope.named(PREDICATE)
            if known and self._chance(0.6):
                name = rng.choice(known)
            else:
                name = self._new_var(scope, PREDICATE)
                scope.bind(name, PREDICATE, PredicateName(link.predicate))
            return PredicateVar(name)
        if roll < 0.36:
            names = [link.predicate, *rng.choices(self._predicates, k=rng.choice((1, 1, 2)))]
            rng.shuffle(names)
            return Names(tuple(names))
        return Names((link.predicate,))

    def _term(self, scope: Scope, element: Element, depth: int) -> Term:
        """A term that matches an element."""
        rng = self._rng
        known = scope.vars_of(element)
        if known and self._chance(0.85):
            return Var(rng.choice(known))
        roll = rng.random()
        if roll < 0.03 and scope.named(ELEMENT):
            return Var(rng.choice(scope.named(ELEMENT)))
        if isinstance(element, Node) and roll < 0.25:
            return self._concept_match(element, narrow=0.3)
        if isinstance(element, Link) and roll < 0.06:
            return LinkId(element.key)
        if isinstance(element, Link) and roll < 0.65 and depth < 2:
            subject = self._term(scope, element.subject, depth + 1)
            predicate = self._predicate(scope, element, scope, (subject, element.object))
            return LinkMatch(subject, predicate, self._term(scope, element.object, depth + 1))
        name = self._new_var(scope, ELEMENT)
        scope.bind(name, ELEMENT, element)
        return Var(name)

    # ----------------------------------------------------------------- FIND, ORDER BY

    def _path(self, scope: Scope, name: str, whole: bool = True) -> Path:
        rng = self._rng
        if (scope.kinds[name] != ELEMENT and self._chance(0.9)) or (whole and self._chance(0.25)):
            return Path(name)
        if whole and self._chance(0.08):
            return Path(name, (rng.choice(("attributes", "metadata")),))
        if whole and self._chance(0.06):
            return Path(name, ("attributes", "box", rng.choice(BOX_KEYS)))
        return Path(name, self._filters.steps())

    def _find(self, scope: Scope) -> tuple[FindItem, ...]:
        rng = self._rng
        names = list(scope.kinds)
        roll = rng.random()
        plain: list[FindItem] = [self._path(scope, rng.choice(names)) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        if roll < 0.6:
            return tuple(plain)
        aggregates: list[FindItem] = [self._aggregate(scope) for _ in range(rng.choice((1, 1, 2, 3)))]
        if roll < 0.72:
            return tuple(aggregates)
        items = plain[:2] + aggregates
        rng.shuffle(items)
        return tuple(items)

    def _aggregate(self, scope: Scope) -> Aggregate:
        rng = self._rng
        func = rng.choice(("COUNT", "COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX"))
        name = rng.choice(list(scope.kinds))
        if func == "COUNT":
            return Aggregate(func, self._path(scope, name), self._chance(0.45))
        return Aggregate(func, self._path(scope, name, whole=self._chance(0.1)), self._chance(0.2))

    def _order(self, scope: Scope, find: tuple[FindItem, ...]) -> tuple[SortKey, ...]:
        """Sort keys whose meaning is settled: with groups those that FIND names, else at most one hidden."""
        rng = self._rng
        plain = [item for item in find if isinstance(item, Path)]
        if not plain or not self._chance(0.5):
            return ()
        grouped = len(plain) < len(find)
        mentioned = {item_path(item).var for item in find}
        keys: list[SortKey] = []
        hidden = 0
        for _ in range(rng.choice((1, 1, 2, 3))):
            expr: FindItem
            if grouped:
                expr = rng.choice(find)
                if isinstance(expr, Path) and not expr.steps and scope.kinds[expr.var] == ELEMENT:
                    expr = self._path(scope, expr.var, whole=False)
            else:
                name = rng.choice(list(scope.kinds) if self._chance(0.35) else sorted(mentioned))
                hidden += name not in mentioned
                if name not in mentioned and hidden > 1:
                    continue
                expr = self._path(scope, name, whole=False)
            keys.append(SortKey(expr, self._chance(0.45)))
        return tuple(key for key in keys if not self._by_id(key.expr))

    @staticmethod
    def _by_id(expr: FindItem) -> bool:
        """Ids are the engine's own: their order is no matter of the text."""
        return isinstance(expr, Path) and expr.steps[:1] in (("id",), ("subject",), ("object",))
