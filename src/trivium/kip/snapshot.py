"""What the planner and the checks know about a context: registered types and predicates, and their counts."""

from __future__ import annotations

import re

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip.values import short
from trivium.store import planning
from trivium.store.graph import Graph
from trivium.store.sqlite import Session

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_NAMES = frozenset({"NaN", "Infinity", "None", "true", "false", "null", "undefined"})
_LONGEST_GUESS = 200


class Snapshot(Struct):
    """The schema of one context at one epoch. Counts are estimates for planning and may lag behind."""

    ctx: int
    epoch: int
    types: frozenset[str]
    predicates: frozenset[str]
    higher_order: frozenset[str]
    type_counts: dict[str, int] = {}
    link_counts: dict[str, int] = {}
    concepts: int = 0
    links: int = 0

    def require_type(self, name: str, at: int | None = None) -> None:
        """KIP_2001 unless `name` is a registered concept type (§2.8.2, §2.9.1)."""
        if name not in self.types:
            if name in self.predicates:
                hint = f'"{short(name)}" is a predicate: (?a, "{short(name)}", ?b). {_LISTS["CONCEPT"]}'
            else:
                hint = _hint("CONCEPT", name, self.types)
            raise KipError("KIP_2001", f'Concept type "{short(name)}" is not registered.', hint, at=at)

    def require_predicate(self, name: str, at: int | None = None) -> None:
        """KIP_2001 unless `name` is a registered predicate (§2.8.2, §2.9.1)."""
        if name not in self.predicates:
            if name in self.types:
                hint = f'"{short(name)}" is a concept type: ?x {{type: "{short(name)}"}}. {_LISTS["PROPOSITION"]}'
            else:
                hint = _hint("PROPOSITION", name, self.predicates)
            raise KipError("KIP_2001", f'Proposition predicate "{short(name)}" is not registered.', hint, at=at)


_LISTS = {
    kind: f"DESCRIBE {kind} TYPES lists what is registered; names are case-sensitive."
    for kind in ("CONCEPT", "PROPOSITION")
}


def _hint(kind: str, name: str, known: frozenset[str]) -> str:
    """A close name, else how to register this one if it can be a name at all."""
    from difflib import get_close_matches

    if len(name) > _LONGEST_GUESS:
        return _LISTS[kind]
    by_lower = {other.lower(): other for other in sorted(known)}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    if close:
        return f'Did you mean "{short(by_lower[close[0]])}"? {_LISTS[kind]}'
    if not IDENTIFIER.fullmatch(name) or name in _NO_NAMES:
        return _LISTS[kind]
    meta = "$ConceptType" if kind == "CONCEPT" else "$PropositionType"
    return f'{_LISTS[kind]} To register it: UPSERT {{ CONCEPT {{ {{type: "{meta}", name: "{short(name)}"}} }} }}.'


def load(session: Session, ctx: int, epoch: int) -> Snapshot:
    """Read the schema of a context."""
    graph = Graph(session, ctx)
    counts: dict[str, dict[str, int]] = {"t": {}, "p": {}, "h": {}}
    for kind, key, number in planning.counters(session, ctx):
        counts.setdefault(kind, {})[key] = number
    return Snapshot(
        ctx,
        epoch,
        frozenset(graph.names_of_type("$ConceptType")),
        frozenset(graph.names_of_type("$PropositionType")),
        frozenset(key for key, number in counts["h"].items() if number),
        counts["t"],
        counts["p"],
        sum(counts["t"].values()),
        sum(counts["p"].values()),
    )
