"""What stands at the other ends of a concept's links, without reading all of them: a hub has tens of thousands."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from trivium.store.sqlite import Session


class Ends(Struct, frozen=True):
    """Links of one predicate, all from a concept or all to it: the names at the other ends, and how many links more."""

    predicate: str
    names: list[str]
    more: int


_SIDES = {True: ("link_spo", "s", "o"), False: ("link_ops", "o", "s")}


def ends(
    session: Session, ctx: int, concept: int, without: Collection[str], predicates: int, limit: int, *, forth: bool
) -> list[Ends]:
    """The links from a concept (`forth`) or to it, by predicate, as far as other concepts are at their other ends.

    Told are the first `predicates`, those left out that are `without`, and of each the `limit` ends that have been
    there longest. Definitions (of types whose names begin with `$`) are no ends.
    """
    index, own, other = _SIDES[forth]
    test = f"{other} & 1 = 0" + ("" if forth else " AND s <> o")
    counts = (
        f"SELECT p, count(*) FROM link INDEXED BY {index} WHERE ctx = ? AND {own} = ? AND {test} GROUP BY p ORDER BY p"
    )
    names = (
        f"SELECT c.name FROM link INDEXED BY {index} CROSS JOIN concept AS c ON c.id = {other}"
        f" WHERE link.ctx = ? AND {own} = ? AND p = ? AND {test} AND c.type NOT GLOB '$*' ORDER BY {other} LIMIT ?"
    )
    found: list[Ends] = []
    for predicate, count in session.rows(counts, (ctx, concept)):
        if predicate not in without and len(found) < predicates:
            told = [row[0] for row in session.execute(names, (ctx, concept, predicate, limit))]
            if told:
                found.append(Ends(predicate, told, count - len(told) if len(told) == limit else 0))
    return found
