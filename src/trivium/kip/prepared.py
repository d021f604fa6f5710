"""A parsed text with what running it takes: its pattern, the variants compiled so far, and what they rest on."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import tree, values
from trivium.kip.bind import Parameters
from trivium.kip.find import Plan
from trivium.kip.order import Probe
from trivium.kip.parser import Parsed
from trivium.kip.patterns import MEMBERSHIP, Atom, predicates_of

Analysis = tuple[int, list[Atom], list[Probe]]
"""The schema epoch, the atoms before the first OPTIONAL or UNION, and the degrees worth knowing."""


class Query(Struct):
    """A pattern with its compiled variants. With `targets` it selects their ids instead of projecting FIND items."""

    find: tree.Find
    targets: list[tree.Var] | None = None
    limit: tree.Value | None = None
    cap: int | None = None
    bodies: bool = False
    """Whether the command will read the elements that it selects."""
    names: list[tree.Value] = []
    """The types and predicates whose counts the plan rests on."""
    has_open_names: bool = False
    predicates: list[tree.Value] | None = None
    """The predicates of links that the first target can be; None where it can be any link."""
    analysis: Analysis | None = None
    variants: dict[tuple[Any, ...], Plan] = {}

    def __post_init__(self) -> None:
        self.names = _schema_values(self.find.where)
        self.predicates = predicates_of(self.find.where, self.targets[0].name) if self.targets else None
        self.has_open_names = any(isinstance(name, tree.Param) for name in self.names)

    def may_bind_memberships(self, parameters: Parameters) -> bool:
        """Whether the first target can be a domain membership."""
        if self.predicates is None:
            return True
        for name in self.predicates:
            if (parameters.get(name.name) if isinstance(name, tree.Param) else name.value) == MEMBERSHIP:
                return True
        return False


class Prepared(Struct):
    """A parsed text with its plans. `tokens` are given when the tree came from another text of equal shape."""

    parsed: Parsed
    params: tuple[str, ...]
    tokens: list[str] | None = None
    query: Query | None = None
    fixed: tuple[tuple[int, int], Plan, list[Any]] | None = None
    """The schema epoch and, where measured degrees count, the moment for which this plan and its bindings hold."""
    digest: str = ""

    def check_strings(self, parameters: Parameters) -> None:
        """KIP_1001 for a known placeholder inside a string (§6.1)."""
        hit = self.parsed.quoted_names & parameters.keys()
        if hit:
            name = min(hit)
            place = re.compile(rf":{name}(?![A-Za-z0-9_])")
            tokens = self.parsed.tokens
            raise KipError(
                "KIP_1001",
                f"The placeholder :{values.short(name)} stands inside a string, where it is not replaced.",
                f"Put :{values.short(name)} alone in the value position, without quotes, "
                "and pass the whole text as the parameter.",
                at=next((at for at, token in enumerate(tokens) if token[0] == '"' and place.search(token)), None),
            )


def _schema_values(group: tree.Group) -> list[tree.Value]:
    """The types and predicates of a pattern, without the types of nodes that id or name make single ones."""
    values: list[tree.Value] = []
    stack: list[Any] = list(group.clauses)
    while stack:
        item = stack.pop()
        if isinstance(item, (tree.ConceptClause, tree.LinkClause)):
            stack.append(item.match)
        elif isinstance(item, tree.ConceptMatch):
            if item.type is not None and item.id is None and item.name is None:
                values.append(item.type)
        elif isinstance(item, tree.LinkPattern):
            stack += [item.subject, item.object]
            if isinstance(item.predicate, tree.PredicateNames):
                values += item.predicate.names
            elif isinstance(item.predicate, tree.PredicatePath):
                values.append(item.predicate.name)
        elif isinstance(item, (tree.Not, tree.Optional, tree.Union)):
            stack += item.group.clauses
    return values
