"""From solutions to the answer: FIND, grouping, ORDER BY (§3.3, §3.5; notes B.5, B.6)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.evaluator import Evaluator
from tests.oracle.model import Aggregate, FindItem, Graph, Path, Query, SortKey, item_path
from tests.oracle.values import CLASSES, PredicateName, Solution, canonical, follow, kind

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """The full answer, before LIMIT.

    ``classes`` holds the rows in order; the rows of one class tie as far as the rules say, so
    any order among them is right. Without ORDER BY there is one class. ``scalars`` is set
    instead when FIND has only aggregates.
    """

    classes: tuple[tuple[Row, ...], ...] = ()
    scalars: Row | None = None

    @property
    def rows(self) -> list[Row]:
        return [row for tied in self.classes for row in tied]


def answer(query: Query, graph: Graph, budget: int = 10_000_000) -> Answer:
    """Evaluate a query, LIMIT aside."""
    return project(query, Evaluator(graph, budget).solve(query.where))


def project(query: Query, solutions: list[Solution]) -> Answer:
    """Deduplicate on the variables FIND mentions, then project or group, then order (§3.3, §3.5)."""
    names = sorted({item_path(item).var for item in query.find})
    collapsed: dict[Hashable, list[Solution]] = {}
    for solution in solutions:
        collapsed.setdefault(tuple(_bound_key(solution[name]) for name in names), []).append(solution)
    distinct = [group[0] for group in collapsed.values()]
    if query.scalar:
        return Answer(scalars=tuple(_aggregate(item, distinct) for item in query.find if isinstance(item, Aggregate)))
    plain = [item for item in query.find if isinstance(item, Path)]
    if len(plain) == len(query.find):
        # A hidden sort variable may have several values per solution: all of them are kept.
        members = list(collapsed.values())
    else:
        groups: dict[Hashable, list[Solution]] = {}
        for solution in distinct:
            groups.setdefault(tuple(canonical(_value(item, solution)) for item in plain), []).append(solution)
        members = list(groups.values())
    pairs = [(tuple(_find(item, group) for item in query.find), _sort_values(query.order, group)) for group in members]
    return Answer(classes=_order(query.order, pairs))


def _bound_key(bound: Any) -> Hashable:
    return bound if isinstance(bound, PredicateName) else id(bound)


def _value(path: Path, solution: Solution) -> Any:
    return follow(solution[path.var], path.steps)


def _find(item: FindItem, group: list[Solution]) -> Any:
    return _aggregate(item, group) if isinstance(item, Aggregate) else _value(item, group[0])


def _aggregate(item: Aggregate, group: list[Solution]) -> Any:
    """Aggregates skip null (§3.3); arithmetic takes numbers only (notes B.5)."""
    values = [value for solution in group if (value := _value(item.path, solution)) is not None]
    if item.distinct:
        values = list({canonical(value): value for value in values}.values())
    if item.func == "COUNT":
        return len(values)
    numbers = [value for value in values if kind(value) == "number"]
    if item.func == "SUM":
        return sum(numbers)
    if item.func == "AVG":
        return sum(numbers) / len(numbers) if numbers else None
    pick: Callable[[Iterable[Any]], Any] = min if item.func == "MIN" else max
    if numbers:
        return pick(numbers)
    if values and all(isinstance(value, str) for value in values):
        return pick(values)
    return None


# --------------------------------------------------------------------------- order


def _sort_values(order: Sequence[SortKey], group: list[Solution]) -> list[Any]:
    """One value per key; among several, the one that comes first in the asked direction (notes B.6)."""
    values: list[Any] = []
    for key in order:
        if isinstance(key.expr, Aggregate):
            values.append(_aggregate(key.expr, group))
        else:
            path = key.expr
            compare = functools.partial(compare_values, descending=key.descending)
            found = (_value(path, solution) for solution in group)
            values.append(min(found, key=functools.cmp_to_key(compare)))
    return values


def compare_values(left: Any, right: Any, descending: bool) -> int:
    """Total order of kinds, null last in both directions; 0 where nothing is said."""
    if left is None or right is None:
        return (left is None) - (right is None)
    a: Any = CLASSES[kind(left)]
    b: Any = CLASSES[kind(right)]
    if a == b and has_order(left):
        a, b = left, right
    sign = int(a > b) - int(a < b)
    return -sign if descending else sign


def has_order(value: Any) -> bool:
    """Arrays, objects and elements have no order of their own: the rules leave it to the engine."""
    return kind(value) in ("null", "boolean", "number", "string")


def _order(order: Sequence[SortKey], pairs: list[tuple[Row, list[Any]]]) -> tuple[tuple[Row, ...], ...]:
    """Sort and cut into classes of ties. Beyond a key value without order nothing is determined."""
    usable = len(order)
    for index in range(len(order)):
        if any(kind(values[index]) == "element" for _, values in pairs):
            usable = index
            break

    def compare(left: list[Any], right: list[Any]) -> int:
        for key, a, b in zip(order[:usable], left, right, strict=False):
            sign = compare_values(a, b, key.descending)
            if sign:
                return sign
            if not (has_order(a) and has_order(b)):
                return 0
        return 0

    by_values = functools.cmp_to_key(compare)
    ordered = sorted(pairs, key=lambda pair: by_values(pair[1]))
    classes: list[list[Row]] = []
    last: list[Any] | None = None
    for row, values in ordered:
        if last is None or compare(last, values) != 0:
            classes.append([])
        classes[-1].append(row)
        last = values
    return tuple(tuple(tied) for tied in classes)


# --------------------------------------------------------------------------- checking an answer


def same_number(left: Any, right: Any) -> bool:
    """Numbers within 1e-9: the order of additions is free. Whole numbers are exact."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    return bool(abs(operator.sub(left, right)) <= 1e-9 * max(1.0, abs(left), abs(right)))
