"""What the planner and the checks know about a context: registered types and predicates, and their counts."""

from __future__ import annotations

from msgspec import Struct

from trivium.errors import KipError
from trivium.store.sqlite import Session


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
            raise KipError(
                "KIP_2001", f'Concept type "{name}" is not registered.', _hint("CONCEPT", name, self.types), at=at
            )

    def require_predicate(self, name: str, at: int | None = None) -> None:
        """KIP_2001 unless `name` is a registered predicate (§2.8.2, §2.9.1)."""
        if name not in self.predicates:
            hint = _hint("PROPOSITION", name, self.predicates)
            raise KipError("KIP_2001", f'Proposition predicate "{name}" is not registered.', hint, at=at)


def _hint(kind: str, name: str, known: frozenset[str]) -> str:
    from difflib import get_close_matches

    by_lower = {other.lower(): other for other in sorted(known)}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    listing = f"DESCRIBE {kind} TYPES lists what is registered; names are case-sensitive."
    if close:
        return f'Did you mean "{by_lower[close[0]]}"? {listing}'
    meta = "$ConceptType" if kind == "CONCEPT" else "$PropositionType"
    return f'{listing} To register it: UPSERT {{ CONCEPT {{ {{type: "{meta}", name: "{name}"}} }} }}.'


def load(session: Session, ctx: int, epoch: int) -> Snapshot:
    """Read the schema of a context."""
    names: dict[str, set[str]] = {"$ConceptType": set(), "$PropositionType": set()}
    for type_ in names:
        names[type_].update(
            row[0] for row in session.execute("SELECT name FROM concept WHERE ctx = ? AND type = ?", (ctx, type_))
        )
    counts: dict[str, dict[str, int]] = {"t": {}, "p": {}, "h": {}}
    for kind, key, number in session.execute(
        "SELECT kind, key, n FROM counter WHERE ctx = ? ORDER BY kind, key", (ctx,)
    ):
        counts.setdefault(kind, {})[key] = number
    return Snapshot(
        ctx,
        epoch,
        frozenset(names["$ConceptType"]),
        frozenset(names["$PropositionType"]),
        frozenset(key for key, number in counts["h"].items() if number),
        counts["t"],
        counts["p"],
        sum(counts["t"].values()),
        sum(counts["p"].values()),
    )
