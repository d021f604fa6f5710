"""KQL: FIND and the solution modifiers (KIP §3)."""

from __future__ import annotations

from trivium.kip.faults import PATH, POSITIVE, STRING, TEXT_END, fail
from trivium.kip.parse_patterns import parse_where
from trivium.kip.parse_values import parse_checked_slot, to_path
from trivium.kip.tree import Aggregate, Find, Lit, Param, Path, SortKey
from trivium.kip.values import check_cursor, check_limit

AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")


def parse_find(tokens: list[str], i: int) -> tuple[Find, int]:
    """`FIND(…) WHERE {…} [ORDER BY …] [LIMIT n] [CURSOR "…"]`, in this order only."""
    start = i
    if tokens[i + 1] != "(":
        fail(tokens, i + 1, "(")
    item, i = _parse_expression(tokens, i + 2)
    items = [item]
    while tokens[i] == ",":
        item, i = _parse_expression(tokens, i + 1)
        items.append(item)
    if tokens[i] != ")":
        fail(tokens, i, ",", ")")
    where, i = parse_where(tokens, i + 1)
    find = Find(items, where, at=start)
    if tokens[i] == "ORDER":
        find.order_by, i = _parse_order_by(tokens, i)
    find.limit, i = parse_limit(tokens, i)
    find.cursor, i = parse_cursor(tokens, i)
    return find, i


def after_find(find: Find, last: str) -> tuple[str, ...]:
    """What may follow a FIND that has been read so far; `last` is its last token."""
    if find.cursor is not None:
        return (TEXT_END,)
    if find.limit is not None:
        return ("CURSOR", TEXT_END)
    if not find.order_by:
        return ("ORDER BY", "LIMIT", "CURSOR", TEXT_END)
    directions = () if last in ("ASC", "DESC") else ("ASC", "DESC")
    return (*directions, ",", "LIMIT", "CURSOR", TEXT_END)


def parse_limit(tokens: list[str], i: int) -> tuple[Lit | Param | None, int]:
    """`LIMIT n` if it is there."""
    if tokens[i] != "LIMIT":
        return None, i
    return parse_checked_slot(tokens, i + 1, check_limit, POSITIVE)


def parse_cursor(tokens: list[str], i: int) -> tuple[Lit | Param | None, int]:
    """`CURSOR "…"` if it is there."""
    if tokens[i] != "CURSOR":
        return None, i
    return parse_checked_slot(tokens, i + 1, check_cursor, STRING)


def _parse_order_by(tokens: list[str], i: int) -> tuple[list[SortKey], int]:
    if tokens[i + 1] != "BY":
        fail(tokens, i + 1, "BY")
    keys: list[SortKey] = []
    i += 1
    while True:
        at = i + 1
        expr, i = _parse_expression(tokens, at)
        descending = tokens[i] == "DESC"
        if descending or tokens[i] == "ASC":
            i += 1
        keys.append(SortKey(expr, descending, at))
        if tokens[i] != ",":
            return keys, i


def _parse_expression(tokens: list[str], i: int) -> tuple[Path | Aggregate, int]:
    """A dot path or an aggregate over one."""
    token = tokens[i]
    if token[0] == "?":
        return to_path(token, i), i + 1
    if token not in AGGREGATES:
        fail(tokens, i, PATH, *AGGREGATES)
    if tokens[i + 1] != "(":
        fail(tokens, i + 1, "(")
    distinct = tokens[i + 2] == "DISTINCT"
    end = i + 3 if distinct else i + 2
    if tokens[end][0] != "?":
        fail(tokens, end, *([] if distinct else ["DISTINCT"]), PATH)
    path = to_path(tokens[end], end)
    if tokens[end + 1] != ")":
        fail(tokens, end + 1, ")")
    return Aggregate(token, distinct, path, i), end + 2
