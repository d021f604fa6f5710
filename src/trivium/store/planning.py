"""What plans of queries rest on: the schema's epoch, the counters of types and predicates, degrees of elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trivium.store.sqlite import Session


def schema_epoch(session: Session, ctx: int) -> int | None:
    """The number that moves with the schema of a context; None for a context that is gone."""
    epoch: int | None = session.value("SELECT schema_epoch FROM context WHERE id = ?", (ctx,))
    return epoch


def counters(session: Session, ctx: int) -> Iterable[tuple[str, str, int]]:
    """Kind (`t` type, `p` predicate, `h` predicate that joined a link), name and number of every counter."""
    return session.execute("SELECT kind, key, n FROM counter WHERE ctx = ? ORDER BY kind, key", (ctx,))


def degree(
    session: Session, ctx: int, end: str, node: int | tuple[str, str], predicates: Sequence[str] | None, most: int
) -> int:
    """How many links have a concept as their subject (`end` is "s") or object ("o"), counted up to `most`.

    The concept is an id, or a type and a name; `predicates` None counts the links of all.
    """
    if isinstance(node, tuple):
        place = "(SELECT id FROM concept WHERE ctx = ?1 AND type = ?2 AND name = ?3)"
        bindings = [ctx, *node]
    else:
        place = "?2"
        bindings = [ctx, node]
    test = ""
    if predicates is not None:
        marks = ", ".join(f"?{len(bindings) + 1 + index}" for index in range(len(predicates)))
        test = f" AND p IN ({marks})" if len(predicates) > 1 else f" AND p = {marks}"
        bindings += predicates
    sql = f"SELECT count(*) FROM (SELECT 1 FROM link WHERE ctx = ?1 AND {end} = {place}{test} LIMIT {most})"
    return int(session.value(sql, bindings))


def is_concept(session: Session, ctx: int, element_id: int) -> bool:
    return session.row("SELECT 1 FROM concept WHERE id = ? AND ctx = ?", (element_id, ctx)) is not None


def is_link(session: Session, ctx: int, element_id: int, predicate: str) -> bool:
    """Whether there is a link of that id, and of that predicate."""
    sql = "SELECT 1 FROM link WHERE id = ? AND ctx = ? AND p = ?"
    return session.row(sql, (element_id, ctx, predicate)) is not None
