"""META: DESCRIBE, SEARCH and EXPORT (KIP §5)."""

from __future__ import annotations

from trivium.kip.faults import NUMBER, STRING, TEXT_END, fail
from trivium.kip.parse_kql import parse_cursor, parse_limit
from trivium.kip.parse_patterns import parse_where
from trivium.kip.parse_values import parse_checked_slot, parse_text_slot, parse_variable
from trivium.kip.tree import (
    DescribeDomains,
    DescribePrimer,
    DescribeType,
    DescribeTypes,
    Export,
    Search,
)
from trivium.kip.values import check_mode, check_threshold

KINDS = ("CONCEPT", "PROPOSITION")
_SEARCH_OPTIONS = {"WITH TYPE": "type", "MODE": "mode", "THRESHOLD": "threshold", "LIMIT": "limit"}

Describe = DescribePrimer | DescribeDomains | DescribeTypes | DescribeType


def parse_describe(tokens: list[str], i: int) -> tuple[Describe, int]:
    """`DESCRIBE PRIMER | DOMAINS | CONCEPT TYPE(S) … | PROPOSITION TYPE(S) …`."""
    word = tokens[i + 1]
    if word == "PRIMER":
        return DescribePrimer(i), i + 2
    if word == "DOMAINS":
        return DescribeDomains(i), i + 2
    if word not in KINDS:
        fail(tokens, i + 1, "PRIMER", "DOMAINS", *KINDS)
    if tokens[i + 2] == "TYPES":
        limit, end = parse_limit(tokens, i + 3)
        cursor, end = parse_cursor(tokens, end)
        return DescribeTypes(word, limit, cursor, i), end
    if tokens[i + 2] != "TYPE":
        fail(tokens, i + 2, "TYPES", "TYPE")
    name, end = parse_text_slot(tokens, i + 3)
    return DescribeType(word, name, i), end


def parse_search(tokens: list[str], i: int) -> tuple[Search, int]:
    """`SEARCH CONCEPT | PROPOSITION "term"` with its options in any order, once each."""
    if tokens[i + 1] not in KINDS:
        fail(tokens, i + 1, *KINDS)
    term, end = parse_text_slot(tokens, i + 2)
    search = Search(tokens[i + 1], term, at=i)
    while True:
        word = tokens[end]
        if word == "WITH" and search.type is None:
            if tokens[end + 1] != "TYPE":
                fail(tokens, end + 1, "TYPE")
            search.type, end = parse_text_slot(tokens, end + 2)
        elif word == "MODE" and search.mode is None:
            search.mode, end = parse_checked_slot(tokens, end + 1, check_mode, STRING)
        elif word == "THRESHOLD" and search.threshold is None:
            search.threshold, end = parse_checked_slot(tokens, end + 1, check_threshold, NUMBER)
        elif word == "LIMIT" and search.limit is None:
            search.limit, end = parse_limit(tokens, end)
        else:
            return search, end


def after_search(search: Search) -> tuple[str, ...]:
    """What may follow a SEARCH that has been read so far."""
    return (*(word for word, field in _SEARCH_OPTIONS.items() if getattr(search, field) is None), TEXT_END)


def parse_export(tokens: list[str], i: int) -> tuple[Export, int]:
    """`EXPORT ?x WHERE {…} [LIMIT n] [CURSOR "…"]`."""
    target, end = parse_variable(tokens, i + 1)
    where, end = parse_where(tokens, end)
    limit, end = parse_limit(tokens, end)
    cursor, end = parse_cursor(tokens, end)
    return Export(target, where, limit, cursor, i), end
