"""Values: JSON data, placeholders, and the slots of one kind that the statements share.

Every parse function takes the tokens (with `faults.END` behind the last) and the index to begin at, and returns what
it read with the index behind it. Faults are raised as KipError with `at`; see `faults.fail`.
"""

from __future__ import annotations

from typing import Any

from trivium.kip.faults import (
    KEY,
    LITERAL,
    PLACEHOLDER,
    STRING,
    VARIABLE,
    fail,
    refuse,
)
from trivium.kip.lexer import CONSTANTS, decode, decode_number, decode_string
from trivium.kip.tree import Lit, Param, Path, Template, Value, Var
from trivium.kip.values import Check

NUMBER_START = frozenset("0123456789-")
SCALAR_START = frozenset('0123456789-"')


def parse_data(tokens: list[str], i: int, *others: str) -> tuple[Value, int]:
    """A data value: any JSON, with placeholders at any depth; `others` could have stood there too."""
    value, dynamic, end = _parse_json(tokens, i, *others)
    return _wrap(value, dynamic, i), end


def parse_object_slot(tokens: list[str], i: int) -> tuple[Value, int]:
    """An object, or a placeholder for a whole one."""
    token = tokens[i]
    if token == "{":
        value, dynamic, end = _parse_object(tokens, i)
        return _wrap(value, dynamic, i), end
    if token[0] == ":" and token != ":":
        return Param(token[1:], i), i + 1
    fail(tokens, i, "{", PLACEHOLDER)


def parse_text_slot(tokens: list[str], i: int) -> tuple[Lit | Param, int]:
    """A string, or a placeholder for one."""
    token = tokens[i]
    if token[0] == '"':
        return Lit(token[1:-1] if "\\" not in token else decode_string(token, i), i), i + 1
    if token[0] == ":" and token != ":":
        return Param(token[1:], i), i + 1
    fail(tokens, i, STRING, PLACEHOLDER)


def parse_checked_slot(tokens: list[str], i: int, check: Check, kind: str) -> tuple[Lit | Param, int]:
    """A scalar literal that `check` accepts, or a placeholder; `kind` names the literal in messages."""
    token = tokens[i]
    if token[0] == ":" and token != ":":
        return Param(token[1:], i), i + 1
    if not is_scalar(token):
        fail(tokens, i, kind, PLACEHOLDER)
    value = decode(token, i)
    check(value, i)
    return Lit(value, i), i + 1


def parse_scalar_list(tokens: list[str], i: int) -> tuple[Lit | Template, int]:
    """A flat list of scalars and placeholders, as FILTER has them; no trailing comma; `tokens[i]` is `[`."""
    start = i
    members: list[Any] = []
    dynamic = False
    i += 1
    while True:
        token = tokens[i]
        if is_scalar(token):
            members.append(decode(token, i))
        elif token[0] == ":" and token != ":":
            members.append(Param(token[1:], i))
            dynamic = True
        elif token == "]" and not members:
            break
        else:
            fail(tokens, i, LITERAL, PLACEHOLDER, *([] if members else ["]"]))
        i += 1
        if tokens[i] == "]":
            break
        if tokens[i] != ",":
            fail(tokens, i, ",", "]")
        i += 1
    return (Template(members, start) if dynamic else Lit(members, start)), i + 1


def parse_variable(tokens: list[str], i: int) -> tuple[Var, int]:
    """A variable without a path."""
    token = tokens[i]
    if token[0] != "?" or "." in token:
        fail(tokens, i, VARIABLE)
    return Var(token[1:], i), i + 1


def to_path(token: str, i: int) -> Path:
    """The path of a `?…` token."""
    if "." not in token:
        return Path(token[1:], (), i)
    var, *steps = token[1:].split(".")
    return Path(var, tuple(steps), i)


def is_scalar(token: str) -> bool:
    """Whether a token is a string, number, `true`, `false` or `null`."""
    return (token[0] in SCALAR_START and token != "-") or token in CONSTANTS


def parse_key(tokens: list[str], i: int, *others: str) -> str:
    """An object key: a bare identifier or a string; `others` could have stood there too."""
    token = tokens[i]
    if token[0] == '"':
        return token[1:-1] if "\\" not in token else decode_string(token, i)
    if token.isidentifier():
        return token
    fail(tokens, i, KEY, *others)


def _wrap(value: Any, dynamic: bool, i: int) -> Value:
    if not dynamic:
        return Lit(value, i)
    return value if isinstance(value, Param) else Template(value, i)


def _parse_json(tokens: list[str], i: int, *others: str) -> tuple[Any, bool, int]:
    """A JSON value: the value, whether placeholders are in it, the index behind it. `others` may stand there too."""
    token = tokens[i]
    first = token[0]
    if first == '"':
        return (token[1:-1] if "\\" not in token else decode_string(token, i)), False, i + 1
    if first == "{":
        return _parse_object(tokens, i)
    if first == "[":
        return _parse_array(tokens, i)
    if first == ":" and token != ":":
        return Param(token[1:], i), True, i + 1
    if token in CONSTANTS:
        return CONSTANTS[token], False, i + 1
    if first in NUMBER_START and token != "-":
        return decode_number(token, i), False, i + 1
    fail(tokens, i, LITERAL, PLACEHOLDER, "{", "[", *others)


def _parse_object(tokens: list[str], i: int) -> tuple[dict[str, Any], bool, int]:
    result: dict[str, Any] = {}
    dynamic = False
    i += 1
    while tokens[i] != "}":
        key = parse_key(tokens, i, "}")
        if key in result:
            refuse_repeated_key(key, i)
        if tokens[i + 1] != ":":
            fail(tokens, i + 1, ":")
        token = tokens[i + 2]
        if token[0] == '"' and "\\" not in token:
            result[key] = token[1:-1]
            i += 3
        else:
            result[key], inner, i = _parse_json(tokens, i + 2)
            dynamic = dynamic or inner
        token = tokens[i]
        if token == ",":
            i += 1
        elif token != "}":
            fail(tokens, i, ",", "}")
    return result, dynamic, i + 1


def _parse_array(tokens: list[str], i: int) -> tuple[list[Any], bool, int]:
    result: list[Any] = []
    dynamic = False
    i += 1
    while tokens[i] != "]":
        value, inner, i = _parse_json(tokens, i, "]")
        result.append(value)
        dynamic = dynamic or inner
        token = tokens[i]
        if token == ",":
            i += 1
        elif token != "]":
            fail(tokens, i, ",", "]")
    return result, dynamic, i + 1


def refuse_repeated_key(key: str, i: int) -> None:
    """Report a key that an object holds twice (A.1)."""
    refuse(i, f"The key {key!r} occurs twice in one object.", f"Keep one {key!r}; an object holds each key once.")
