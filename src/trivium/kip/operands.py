"""SQL for values whose JSON kind may be known only at run time: comparison, order, grouping, aggregation.

The meaning is that of KIP §3.4.3 and docs/kip-semantics.md: strict by kind, missing equals null, `!=` is the negation
of `==`. A comparison may come out as SQL NULL for "no"; `negate` turns that into a proper truth value.
"""

from __future__ import annotations

from msgspec import Struct

from trivium.store.dialect import Dialect

# Kinds known when compiling. JSON: known at run time only. ELEMENT: an element's identity.
TEXT, NUMBER, BOOL, NULL, JSON, ELEMENT, LIST = "text", "number", "bool", "null", "json", "element", "list"


class Operand(Struct, frozen=True):
    """A value in SQL. For kind JSON, `type` is its kind expression and `json` its JSON text."""

    kind: str
    value: str
    type: str | None = None
    json: str | None = None
    nullable: bool = True
    big: bool = False  # a literal integer beyond 64 bits with sign; `json` is its exact text


NULL_OPERAND = Operand(NULL, "NULL")
TRUE, FALSE = "1", "0"


def negate(condition: str) -> str:
    """NOT over a condition whose NULL means false."""
    if condition == TRUE:
        return FALSE
    if condition == FALSE:
        return TRUE
    return f"(({condition}) IS NOT TRUE)"


def joined(word: str, tests: list[str], room: int = 8) -> str:
    """Tests in a row, as a balanced tree if there are many, since engines bound the depth of an expression."""
    if len(tests) <= room:
        return word.join(tests)
    half = len(tests) // 2
    return f"({joined(word, tests[:half], room)}){word}({joined(word, tests[half:], room)})"


def is_null(dialect: Dialect, operand: Operand) -> str:
    if operand.kind == NULL:
        return TRUE
    if not operand.nullable:
        return FALSE
    return f"{operand.value} IS NULL"


def compare(dialect: Dialect, op: str, left: Operand, right: Operand) -> str:
    """`left op right` as SQL."""
    if op == "!=":
        return negate(compare(dialect, "==", left, right))
    if left.big or right.big:
        return _compare_big(dialect, op, left, right)
    if op == "==":
        return _equal(dialect, left, right)
    return _ordered(dialect, op, left, right)


def _compare_big(dialect: Dialect, op: str, left: Operand, right: Operand) -> str:
    """Integers beyond 64 bits with sign are compared as exact texts, since the engine reads them as floats."""
    texts, guards = [], []
    for side in (left, right):
        if side.kind == JSON:
            guards.append(dialect.is_number(str(side.type)))
        elif side.kind != NUMBER:
            return FALSE
        texts.append(str(side.json) if side.json else dialect.number_text(side.value))
    test = f"{dialect.compare_numbers(*texts)} {'=' if op == '==' else op} 0"
    return "(" + " AND ".join([*guards, test]) + ")"


def _equal(dialect: Dialect, left: Operand, right: Operand) -> str:
    if left.kind == NULL:
        return is_null(dialect, right)
    if right.kind == NULL:
        return is_null(dialect, left)
    if left.kind == JSON and right.kind == JSON:
        return _equal_json(dialect, left, right)
    if right.kind == JSON:
        left, right = right, left
    if left.kind == JSON:
        return _json_equals_static(dialect, left, right)
    if left.kind != right.kind:
        return _both_null(left, right)
    if left.kind == LIST:
        return dialect.json_equal(left.value, right.value)
    same = f"{left.value} = {right.value}"
    if left.nullable and right.nullable:
        return f"({same} OR ({left.value} IS NULL AND {right.value} IS NULL))"
    return same


def _both_null(left: Operand, right: Operand) -> str:
    if left.nullable and right.nullable and LIST not in (left.kind, right.kind):
        return f"({left.value} IS NULL AND {right.value} IS NULL)"
    return FALSE


def _json_equals_static(dialect: Dialect, left: Operand, right: Operand) -> str:
    assert left.type is not None
    assert left.json is not None
    if right.kind == LIST:
        return f"({left.type} = 'array' AND {dialect.json_equal(left.json, right.value)})"
    if right.kind == ELEMENT:
        same = FALSE
    elif right.kind == BOOL:
        same = f"({_is_bool(left.type)} AND {left.value} = {right.value})"
    elif right.kind == NUMBER:
        same = f"({dialect.is_number(left.type)} AND {left.value} = {right.value})"
    else:
        same = f"({left.type} = 'text' AND {left.value} = {right.value})"
    if right.nullable:
        return f"({same} OR ({left.value} IS NULL AND {right.value} IS NULL))"
    return same


def _is_bool(kind: str) -> str:
    return f"{kind} IN ('true', 'false')"


def _equal_json(dialect: Dialect, left: Operand, right: Operand) -> str:
    assert left.type
    assert right.type
    assert left.json
    assert right.json
    return (
        f"CASE WHEN {left.value} IS NULL THEN {right.value} IS NULL"
        f" WHEN {right.value} IS NULL THEN 0"
        f" WHEN {dialect.is_number(left.type)} THEN {dialect.is_number(right.type)} AND {left.value} = {right.value}"
        f" WHEN {left.type} IN ('array', 'object') THEN {left.type} = {right.type}"
        f" AND {dialect.json_equal(left.json, right.json)}"
        f" ELSE {left.type} = {right.type} AND {left.value} = {right.value} END"
    )


def _ordered(dialect: Dialect, op: str, left: Operand, right: Operand) -> str:
    test = f"{left.value} {op} {right.value}"
    if left.kind == JSON and right.kind == JSON:
        assert left.type
        assert right.type
        numbers = f"{dialect.is_number(left.type)} AND {dialect.is_number(right.type)} AND {test}"
        texts = f"{left.type} = 'text' AND {right.type} = 'text' AND {test}"
        bools = f"{_is_bool(left.type)} AND {_is_bool(right.type)} AND {test}"
        return f"(({numbers}) OR ({texts}) OR ({bools}))"
    if left.kind == JSON:
        return _ordered_json(dialect, left, right.kind, test)
    if right.kind == JSON:
        return _ordered_json(dialect, right, left.kind, test)
    if left.kind == right.kind and left.kind in (TEXT, NUMBER, BOOL):
        return test
    return FALSE


def _ordered_json(dialect: Dialect, operand: Operand, kind: str, test: str) -> str:
    assert operand.type is not None
    if kind == NUMBER:
        return f"({dialect.is_number(operand.type)} AND {test})"
    if kind == TEXT:
        return f"({operand.type} = 'text' AND {test})"
    if kind == BOOL:
        return f"({_is_bool(operand.type)} AND {test})"
    return FALSE


def as_text(operand: Operand) -> str | None:
    """The value where it is a string, SQL NULL elsewhere; None if it can never be one."""
    if operand.kind == TEXT:
        return operand.value
    if operand.kind == JSON:
        return f"CASE WHEN {operand.type} = 'text' THEN {operand.value} END"
    return None


def text_call(dialect: Dialect, func: str, text: Operand, part: Operand) -> str:
    """CONTAINS, STARTS_WITH, ENDS_WITH, REGEX: false unless both are strings."""
    left, right = as_text(text), as_text(part)
    if left is None or right is None:
        return FALSE
    if func == "CONTAINS":
        return f"({dialect.contains(left, right)})"
    if func == "STARTS_WITH":
        return f"({dialect.starts_with(left, right)})"
    if func == "ENDS_WITH":
        return f"({dialect.ends_with(left, right)})"
    return f"({dialect.regex(left, right)})"


def rank(operand: Operand) -> str:
    """The class of a JSON value in the total order: booleans, numbers, strings, arrays, objects."""
    return (
        f"CASE {operand.type} WHEN 'true' THEN 0 WHEN 'false' THEN 0 WHEN 'integer' THEN 1 WHEN 'real' THEN 1"
        f" WHEN 'text' THEN 2 WHEN 'array' THEN 3 ELSE 4 END"
    )


def null_term(expr: str) -> str:
    """Sorts null last."""
    return f"({expr} IS NULL)"


def is_null_term(expr: str) -> bool:
    return expr.endswith(" IS NULL)")


def order_terms(operand: Operand, descending: bool) -> list[tuple[str, bool]]:
    """Sort expressions with their direction; null comes last in both directions (§3.5)."""
    terms: list[tuple[str, bool]] = []
    if operand.kind in (NULL, LIST):
        return terms
    if operand.nullable:
        terms.append((null_term(operand.value), False))
    if operand.kind == JSON:
        terms.append((f"({rank(operand)})", descending))
    terms.append((operand.value, descending))
    return terms


def group_terms(dialect: Dialect, operand: Operand) -> list[tuple[str, bool]]:
    """Expressions whose equality is equality of the values (null is one group), as ascending sort terms.

    `[1]` and `[1.0]` are one value, so containers take part in canonical form.
    """
    if operand.kind != JSON:
        nulls = [(null_term(operand.value), False)] if operand.nullable and operand.kind != NULL else []
        return [*nulls, (operand.value, False)]
    canonical = f"CASE WHEN {operand.type} IN ('array', 'object') THEN {dialect.canonical(str(operand.json))}"
    return [
        (null_term(operand.value), False),
        (f"({rank(operand)})", False),
        (f"({canonical} ELSE {operand.value} END)", False),
    ]


def aggregate(dialect: Dialect, func: str, distinct: bool, operand: Operand) -> str:
    """An aggregate over the rows of a group (§3.3): nulls do not count, SUM to MAX skip what is no number."""
    word = "DISTINCT " if distinct else ""
    if func == "COUNT":
        if operand.kind == NULL:
            return "COUNT(NULL)"
        if not distinct and not operand.nullable:
            return "COUNT(*)"
        return f"COUNT({word}{_distinct_key(dialect, operand) if distinct else operand.value})"
    number = _number(dialect, operand)
    if func == "SUM":
        return f"COALESCE(SUM({word}{number or 'NULL'}), 0)"
    if func == "AVG":
        return f"AVG({word}{number or 'NULL'})"
    text = as_text(operand)
    if operand.kind == TEXT:
        return f"{func}({text})"
    if text is None or number is None:
        return f"{func}({number or 'NULL'})"
    return (
        f"CASE WHEN COUNT({number}) > 0 THEN {func}({number})"
        f" WHEN COUNT({text}) = COUNT({operand.value}) THEN {func}({text}) END"
    )


def _number(dialect: Dialect, operand: Operand) -> str | None:
    if operand.kind == NUMBER:
        return operand.value
    if operand.kind == JSON:
        assert operand.type is not None
        return f"CASE WHEN {dialect.is_number(operand.type)} THEN {operand.value} END"
    return None


def _distinct_key(dialect: Dialect, operand: Operand) -> str:
    if operand.kind != JSON:
        return operand.value
    assert operand.type is not None
    return (
        f"CASE WHEN {operand.value} IS NULL THEN NULL WHEN {dialect.is_number(operand.type)} THEN {operand.value}"
        f" WHEN {operand.type} = 'text' THEN '\"' || {operand.value}"
        f" WHEN {operand.type} = 'element' THEN {operand.value}"
        f" WHEN {operand.type} IN ('array', 'object') THEN {dialect.canonical(str(operand.json))}"
        f" ELSE {operand.type} END"
    )
