"""FILTER expressions (KIP §3.4.3): comparisons, functions, and their logical combinations."""

from __future__ import annotations

from trivium.kip.faults import LITERAL, PATH, PLACEHOLDER, fail
from trivium.kip.lexer import decode
from trivium.kip.parse_values import is_scalar, parse_scalar_list, to_path
from trivium.kip.tree import And, Call, Compare, Expr, Filter, Lit, Negation, Operand, Or, Param

COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
FUNCTIONS = {
    "CONTAINS": 2,
    "STARTS_WITH": 2,
    "ENDS_WITH": 2,
    "REGEX": 2,
    "IN": 2,
    "IS_NULL": 1,
    "IS_NOT_NULL": 1,
}

_OPERAND_STARTS = (PATH, LITERAL, PLACEHOLDER, "[")
_PRIMARY_STARTS = (*_OPERAND_STARTS, "!", "(", *FUNCTIONS)


def parse_filter(tokens: list[str], i: int) -> tuple[Filter, int]:
    """`FILTER(…)`; `tokens[i]` is FILTER."""
    if tokens[i + 1] != "(":
        fail(tokens, i + 1, "(")
    expr, end = _parse_parenthesized(tokens, i + 1)
    return Filter(expr, i), end


def _parse_parenthesized(tokens: list[str], i: int) -> tuple[Expr, int]:
    """`( or_expr )`."""
    expr, end = _parse_or(tokens, i + 1)
    if tokens[end] != ")":
        fail(tokens, end, "&&", "||", ")")
    return expr, end + 1


def _parse_or(tokens: list[str], i: int) -> tuple[Expr, int]:
    first, end = _parse_and(tokens, i)
    if tokens[end] != "||":
        return first, end
    items = [first]
    while tokens[end] == "||":
        item, end = _parse_and(tokens, end + 1)
        items.append(item)
    return Or(items, i), end


def _parse_and(tokens: list[str], i: int) -> tuple[Expr, int]:
    first, end = _parse_unary(tokens, i)
    if tokens[end] != "&&":
        return first, end
    items = [first]
    while tokens[end] == "&&":
        item, end = _parse_unary(tokens, end + 1)
        items.append(item)
    return And(items, i), end


def _parse_unary(tokens: list[str], i: int) -> tuple[Expr, int]:
    """`!` any number of times; an even number of them cancels out."""
    start = i
    while tokens[i] == "!":
        i += 1
    item, end = _parse_primary(tokens, i)
    return (Negation(item, start) if (i - start) % 2 else item), end


def _parse_primary(tokens: list[str], i: int) -> tuple[Expr, int]:
    token = tokens[i]
    if token[0] == "?":
        left, end = to_path(token, i), i + 1
        return _parse_comparison(tokens, i, left, end)
    if token == "(":
        return _parse_parenthesized(tokens, i)
    if token in FUNCTIONS:
        return _parse_call(tokens, i)
    operand, end = _parse_operand(tokens, i, _PRIMARY_STARTS)
    return _parse_comparison(tokens, i, operand, end)


def _parse_comparison(tokens: list[str], i: int, left: Operand, end: int) -> tuple[Compare, int]:
    op = tokens[end]
    if op not in COMPARISONS:
        fail(tokens, end, *sorted(COMPARISONS))
    right, end = _parse_operand(tokens, end + 1, _OPERAND_STARTS)
    return Compare(op, left, right, i), end


def _parse_call(tokens: list[str], i: int) -> tuple[Call, int]:
    func = tokens[i]
    if tokens[i + 1] != "(":
        fail(tokens, i + 1, "(")
    operand, end = _parse_operand(tokens, i + 2, _OPERAND_STARTS)
    args = [operand]
    if FUNCTIONS[func] == 2:
        if tokens[end] != ",":
            fail(tokens, end, ",")
        second = _parse_list_operand if func == "IN" else _parse_second_operand
        operand, end = second(tokens, end + 1)
        args.append(operand)
    if tokens[end] != ")":
        fail(tokens, end, ")")
    return Call(func, args, i), end + 1


def _parse_second_operand(tokens: list[str], i: int) -> tuple[Operand, int]:
    return _parse_operand(tokens, i, _OPERAND_STARTS)


def _parse_list_operand(tokens: list[str], i: int) -> tuple[Operand, int]:
    """The list of IN, or a placeholder for a whole one."""
    token = tokens[i]
    if token == "[":
        return parse_scalar_list(tokens, i)
    if token[0] == ":" and token != ":":
        return Param(token[1:], i), i + 1
    fail(tokens, i, "[", PLACEHOLDER)


def _parse_operand(tokens: list[str], i: int, starts: tuple[str, ...]) -> tuple[Operand, int]:
    token = tokens[i]
    if token[0] == "?":
        return to_path(token, i), i + 1
    if is_scalar(token):
        return Lit(decode(token, i), i), i + 1
    if token[0] == ":" and token != ":":
        return Param(token[1:], i), i + 1
    if token == "[":
        return parse_scalar_list(tokens, i)
    fail(tokens, i, *starts)
