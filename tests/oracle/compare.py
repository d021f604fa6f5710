"""Compares one response of the engine with the oracle's answer (§3.5, §6.2.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from tests.oracle.engine import Engine
from tests.oracle.evaluator import Evaluator
from tests.oracle.model import Graph, Query, to_kip
from tests.oracle.projection import Answer, Row, answer, same_number
from tests.oracle.values import canonical, kind


class Mismatch(Exception):
    """Engine and oracle differ; the message says how."""


def _plain(value: Any) -> Any:
    """Elements as the engine writes them."""
    return value.to_json() if kind(value) == "element" else value


def row_key(row: Sequence[Any]) -> Hashable:
    """Rows are equal when their values are ``==``; whole elements when all their content is."""
    return tuple(canonical(_plain(value)) for value in row)


def _same_value(left: Any, right: Any) -> bool:
    left, right = _plain(left), _plain(right)
    if kind(left) == kind(right) == "number":
        return same_number(left, right)
    return canonical(left) == canonical(right)


def unmatched(actual: Sequence[Row], expected: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """What is left of two multisets of rows when equal rows are paired off."""
    want = Counter(row_key(row) for row in expected)
    extra: list[Row] = []
    for row in actual:
        key = row_key(row)
        if want[key]:
            want[key] -= 1
        else:
            extra.append(row)
    missing: list[Row] = []
    for row in expected:
        key = row_key(row)
        if want[key]:
            want[key] -= 1
            missing.append(row)
    for row in list(extra):  # sums and averages may differ in the last digits
        for other in missing:
            if all(_same_value(a, b) for a, b in zip(row, other, strict=True)):
                extra.remove(row)
                missing.remove(other)
                break
    return extra, missing


def rows_of(query: Query, result: Any) -> list[Row]:
    """Rows of a columnar result; one expression comes unwrapped (§6.2.2)."""
    columns = [result] if len(query.find) == 1 else result
    if not isinstance(columns, list) or len(columns) != len(query.find):
        raise Mismatch(f"{len(query.find)} columns expected")
    if not all(isinstance(column, list) for column in columns):
        raise Mismatch("a column is no array")
    if len({len(column) for column in columns}) > 1:
        raise Mismatch("columns of different lengths")
    return list(zip(*columns, strict=True))


def check_rows(rows: list[Row], expected: Answer, complete: bool) -> None:
    """Rows must run through the classes of ties in order, and each class in full before the next."""
    start = 0
    for number, tied in enumerate(expected.classes, 1):
        part = rows[start:] if number == len(expected.classes) else rows[start : start + len(tied)]
        extra, missing = unmatched(part, tied)
        if extra:
            raise Mismatch(f"rows {start} to {start + len(part)}: unexpected {_show(extra)}, missing {_show(missing)}")
        if missing and complete:
            raise Mismatch(f"missing {_show(missing)}")
        start += len(part)
    if start < len(rows):
        raise Mismatch(f"no rows expected: {_show(rows)}")


def _show(rows: Sequence[Row]) -> str:
    shown = [[_brief(value) for value in row] for row in rows[:4]]
    return f"{shown}{' …' if len(rows) > 4 else ''} ({len(rows)})"


def _brief(value: Any) -> Any:
    value = _plain(value)
    if isinstance(value, dict) and "_type" in value:
        return value["id"]
    return value


def check_query(query: Query, graph: Graph, engine: Engine, expected: Answer, pages: bool) -> int:
    """Run a query on the engine and compare; with ``pages`` follow the cursor. Returns the pages read."""
    response = _ask(engine, to_kip(query, graph))
    if query.scalar:
        values = [response["result"]] if len(query.find) == 1 else response["result"]
        if not isinstance(values, list) or len(values) != len(query.find):
            raise Mismatch(f"{len(query.find)} scalars expected, found {values}")
        if unmatched([tuple(values)], [expected.scalars or ()])[0]:
            raise Mismatch(f"expected {expected.scalars}, found {values}")
        return 1
    rows = rows_of(query, response["result"])
    total = len(expected.rows)
    size = total if query.limit is None else min(total, query.limit)
    if query.limit is None or total <= query.limit:
        check_rows(rows, expected, complete=True)
    else:
        check_rows(rows, expected, complete=False)
    if len(rows) != size:
        raise Mismatch(f"{size} rows expected, found {len(rows)}")
    if ("next_cursor" in response) != (size < total):
        raise Mismatch(
            f"next_cursor {'present' if 'next_cursor' in response else 'absent'}: {size} of {total} rows given"
        )
    return _follow_cursor(query, graph, engine, expected, response, rows) if pages else 1


def _follow_cursor(
    query: Query, graph: Graph, engine: Engine, expected: Answer, response: dict[str, Any], rows: list[Row]
) -> int:
    """All pages together are the full answer in order, each row once (§3.5)."""
    pages = 1
    while "next_cursor" in response:
        response = _ask(engine, to_kip(query, graph, cursor=response["next_cursor"]))
        page = rows_of(query, response["result"])
        if not page or len(page) > (query.limit or 0):
            raise Mismatch(f"page {pages + 1} has {len(page)} rows")
        rows = rows + page
        pages += 1
        if len(rows) > len(expected.rows):
            raise Mismatch(f"{len(rows)} rows over {pages} pages, {len(expected.rows)} expected")
    try:
        check_rows(rows, expected, complete=True)
    except Mismatch as error:
        raise Mismatch(f"over {pages} pages: {error}") from error
    return pages


def _ask(engine: Engine, text: str) -> dict[str, Any]:
    response = engine.execute_kip({"command": text})
    if "error" in response or "result" not in response:
        raise Mismatch(f"response {response}")
    return response


def expected_text(query: Query, graph: Graph) -> str:
    """The oracle's answer for a report."""
    expected = answer(query, graph)
    if expected.scalars is not None:
        return f"scalars {expected.scalars}"
    solutions = len(Evaluator(graph).solve(query.where))
    return f"{_show(expected.rows[:4])} of {len(expected.rows)} rows, {solutions} solutions"
