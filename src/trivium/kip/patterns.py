"""Patterns flattened into atoms: what a group of clauses asks of the tables, one row source each.

Embedded matches and unnamed links get internal variables (`#1`, `#2`, …), so that an atom's terms are variables only.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import tree
from trivium.kip.tree import Value


class ConceptAtom(Struct):
    """`var` is a concept node with this id, type, name."""

    var: str
    id: Value | None
    type: Value | None
    name: Value | None
    at: int

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.var,)

    @property
    def is_anchor(self) -> bool:
        """Whether at most one node fits."""
        return self.id is not None or (self.type is not None and self.name is not None)


class LinkAtom(Struct):
    """`link` is a proposition link from `subject` to `object`. Exactly one of `names` and `predicate` is set."""

    link: str
    subject: str
    object: str
    names: list[Value] | None
    predicate: str | None
    at: int

    @property
    def variables(self) -> tuple[str, ...]:
        own = (self.link, self.subject, self.object)
        return own if self.predicate is None else (*own, self.predicate)


class LinkIdAtom(Struct):
    """`link` is the proposition link with this id."""

    link: str
    id: Value
    at: int

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.link,)


class PathAtom(Struct):
    """Some walk of `low` to `high` links of one predicate leads from `subject` to `object` (§3.4.2)."""

    link: str | None
    subject: str
    object: str
    name: Value
    low: int
    high: int | None
    at: int

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.subject, self.object)


MEMBERSHIP = "belongs_to_domain"

Atom = ConceptAtom | LinkAtom | LinkIdAtom | PathAtom
Fresh = Callable[[], str]


def is_internal(name: str) -> bool:
    return name.startswith("#")


def atoms_of(clause: tree.ConceptClause | tree.LinkClause, fresh: Fresh) -> list[Atom]:
    """The atoms of one clause, embedded parts first."""
    if isinstance(clause, tree.ConceptClause):
        return [_concept(clause.var.name, clause.match)]
    atoms: list[Atom] = []
    _link(clause.var.name if clause.var else None, clause.match, fresh, atoms)
    return atoms


def _concept(var: str, match: tree.ConceptMatch) -> ConceptAtom:
    return ConceptAtom(var, match.id, match.type, match.name, match.at)


def _link(name: str | None, match: tree.LinkMatch, fresh: Fresh, atoms: list[Atom]) -> str:
    if isinstance(match, tree.LinkById):
        name = name or fresh()
        atoms.append(LinkIdAtom(name, match.id, match.at))
        return name
    subject = _term(match.subject, fresh, atoms)
    object_ = _term(match.object, fresh, atoms)
    predicate = match.predicate
    if isinstance(predicate, tree.PredicatePath) and _is_long(predicate):
        atoms.append(PathAtom(name, subject, object_, predicate.name, predicate.low, predicate.high, match.at))
        return name or fresh()
    name = name or fresh()
    if isinstance(predicate, tree.Var):
        atoms.append(LinkAtom(name, subject, object_, None, predicate.name, match.at))
    else:
        names = predicate.names if isinstance(predicate, tree.PredicateNames) else [predicate.name]
        atoms.append(LinkAtom(name, subject, object_, names, None, match.at))
    return name


def _is_long(predicate: object) -> bool:
    return isinstance(predicate, tree.PredicatePath) and (predicate.low, predicate.high) != (1, 1)


def _term(term: tree.Term, fresh: Fresh, atoms: list[Atom]) -> str:
    if isinstance(term, tree.Var):
        return term.name
    if isinstance(term, tree.ConceptMatch):
        name = fresh()
        atoms.append(_concept(name, term))
        return name
    if isinstance(term, tree.LinkPattern) and _is_long(term.predicate):
        raise KipError(
            "KIP_1001",
            "A path of several hops is not one link and cannot stand as subject or object.",
            "Bind the link in a clause of its own and follow the path from its end.",
            at=term.at,
        )
    return _link(None, term, fresh, atoms)


def variables_in(expr: tree.Expr) -> dict[str, int]:
    """Variables of a filter with the token of their first use."""
    found: dict[str, int] = {}
    stack: list[tree.Expr | tree.Operand] = [expr]
    while stack:
        item = stack.pop(0)
        if isinstance(item, tree.Path):
            found.setdefault(item.var, item.at)
        elif isinstance(item, tree.Compare):
            stack += [item.left, item.right]
        elif isinstance(item, tree.Call):
            stack += item.args
        elif isinstance(item, (tree.And, tree.Or)):
            stack += item.items
        elif isinstance(item, tree.Negation):
            stack.append(item.item)
    return found


def predicates_of(group: tree.Group, name: str) -> list[Value] | None:
    """The predicates of links that a variable of a group can be; None if it can be a link of any predicate."""
    found: list[Value] = []
    stack: list[object] = list(group.clauses)
    while stack:
        item = stack.pop()
        if isinstance(item, tree.LinkClause):
            stack.append(item.match)
        elif isinstance(item, tree.LinkById):
            return None
        elif isinstance(item, tree.LinkPattern):
            stack += [item.subject, item.object]
            if not isinstance(item.predicate, tree.PredicateNames):
                return None
            found += item.predicate.names
        elif isinstance(item, tree.Var) and item.name == name:  # an end of a link can be any link
            return None
        elif isinstance(item, (tree.Not, tree.Optional, tree.Union)):
            stack += item.group.clauses
    return found


def mentioned(group: tree.Group) -> set[str]:
    """Every variable name that a group mentions, at any depth."""
    names: set[str] = set()
    stack: list[object] = list(group.clauses)
    while stack:
        item = stack.pop()
        if isinstance(item, tree.ConceptClause):
            names.add(item.var.name)
        elif isinstance(item, tree.LinkClause):
            if item.var:
                names.add(item.var.name)
            stack.append(item.match)
        elif isinstance(item, tree.LinkPattern):
            stack += [item.subject, item.predicate, item.object]
        elif isinstance(item, tree.Var):
            names.add(item.name)
        elif isinstance(item, tree.Filter):
            names |= variables_in(item.expr).keys()
        elif isinstance(item, (tree.Not, tree.Optional, tree.Union)):
            stack += item.group.clauses
    return names
