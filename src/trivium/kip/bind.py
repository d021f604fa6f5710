"""Values into a statement: parameters into the tree (§6.1), and the sources of a compiled plan's bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import lexer, values
from trivium.kip.snapshot import Snapshot
from trivium.kip.tree import Lit, Param, Value
from trivium.store.codec import encode
from trivium.store.functions import compile_pattern
from trivium.store.graph import parse_concept_id, parse_link_id

Parameters = dict[str, Any]

MAX_STORED = 2**63 - 1
"""Integers above this, up to u64, are stored as text inside JSON and read by the engine as floats."""
NO_CONCEPT = -2
"""An id that no concept has."""


def resolve(value: Value, parameters: Parameters) -> Any:
    """The plain JSON value at a value position.

    Raises: KipError KIP_1001 for a placeholder without a parameter, or a parameter that cannot be stored.
    """
    if isinstance(value, Lit):
        return value.value
    if isinstance(value, Param):
        return parameter(value, parameters)
    return _fill(value.value, parameters)


def parameter(param: Param, parameters: Parameters) -> Any:
    """The value of one placeholder."""
    try:
        value = parameters[param.name]
    except KeyError:
        raise missing(param) from None
    values.check_storable(value, param.at)
    return value


def missing(param: Param) -> KipError:
    return KipError(
        "KIP_1001",
        f"The placeholder :{values.short(param.name)} has no parameter.",
        f'Pass "parameters": {{"{values.short(param.name)}": …}} with the command.',
        at=param.at,
    )


def _fill(value: Any, parameters: Parameters) -> Any:
    if isinstance(value, Param):
        return parameter(value, parameters)
    if isinstance(value, dict):
        return {key: _fill(member, parameters) for key, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, parameters) for member in value]
    return value


def text(value: Value, parameters: Parameters, what: str) -> str:
    """A value position that wants a string."""
    found = resolve(value, parameters)
    values.check_text(found, value.at, what)
    return str(found)


def limit(value: Value | None, parameters: Parameters) -> int | None:
    """What LIMIT says, if there is one: a positive integer (§3.5)."""
    if value is None:
        return None
    found: int = resolve(value, parameters)
    values.check_limit(found, value.at)
    return found


def json_kind(value: Any) -> str:
    """A letter for the JSON kind of an operand; lists give `[` and the sorted kinds of their members."""
    if value is None:
        return "z"
    if isinstance(value, bool):
        return "b"
    if isinstance(value, (int, float)):
        return "N" if isinstance(value, int) and value > MAX_STORED else "n"
    if isinstance(value, str):
        return "s"
    if isinstance(value, list):
        return "[" + "".join(sorted({json_kind(member)[0].lower() for member in value}))
    return "{"


def json_kinds(parameters: Parameters, names: Iterable[str]) -> tuple[str, ...]:
    """The kinds of the parameters of these names, in order."""
    found = map(parameters.get, names)
    return tuple(["s" if type(value) is str else json_kind(value) for value in found])


# --- sources of bindings --------------------------------------------------------------------------

Convert = Callable[[Any, int, Snapshot], Any]


class Source(Struct):
    """Where one SQL binding comes from: the literal at token `at`, or a parameter; `convert` checks and adapts it."""

    convert: Convert
    at: int
    param: str | None
    value: Any
    rebindable: bool = True

    def read(self, parameters: Parameters, snapshot: Snapshot, tokens: list[str] | None) -> Any:
        """The binding; `tokens` are those of another text of equal shape, None for the text compiled."""
        if self.param is not None:
            if self.param not in parameters:
                raise missing(Param(self.param, self.at))
            return self.convert(parameters[self.param], self.at, snapshot)
        if tokens is None or self.at < 0:
            return self.convert(self.value, self.at, snapshot)
        return self.convert(token_value(tokens, self.at), self.at, snapshot)


def token_value(tokens: list[str], at: int) -> Any:
    if tokens[at] != "[":
        return lexer.decode(tokens[at], at)
    members = []
    while tokens[at] != "]":
        at += 1
        if tokens[at] not in (",", "]"):
            members.append(lexer.decode(tokens[at], at))
    return members


def source(value: Value, convert: Convert, parameters: Parameters) -> Source:
    """The source for a value position; parameters inside a list are fixed when compiling."""
    if isinstance(value, Lit):
        return Source(convert, value.at, None, value.value)
    if isinstance(value, Param):
        return Source(convert, value.at, value.name, None)
    return Source(convert, value.at, None, resolve(value, parameters), rebindable=False)


def constant(value: Any) -> Source:
    return Source(as_is, -1, None, value)


def as_is(value: Any, at: int, snapshot: Snapshot) -> Any:
    return value


def as_operand(value: Any, at: int, snapshot: Snapshot) -> Any:
    values.check_operand(value, at)
    if isinstance(value, bool):
        return int(value)
    return _number(value)


def _number(value: Any) -> Any:
    """Integers beyond 64 bits bind as floats, which is how the stored ones read."""
    if isinstance(value, int) and value > MAX_STORED:
        return float(value)
    return value


def as_name(value: Any, at: int, snapshot: Snapshot) -> str:
    values.check_text(value, at, "A name")
    return str(value)


def as_type(value: Any, at: int, snapshot: Snapshot) -> str:
    values.check_text(value, at, "A concept type")
    snapshot.require_type(value, at)
    return str(value)


def as_predicate(value: Any, at: int, snapshot: Snapshot) -> str:
    values.check_text(value, at, "A predicate")
    snapshot.require_predicate(value, at)
    return str(value)


def as_concept_id(value: Any, at: int, snapshot: Snapshot) -> int:
    values.check_text(value, at, "A concept id")
    return parse_concept_id(value) or NO_CONCEPT


def as_link_id(value: Any, at: int, snapshot: Snapshot) -> int:
    values.check_text(value, at, "A link id")
    return (parse_link_id(value) or (-1, ""))[0]


def as_link_predicate(value: Any, at: int, snapshot: Snapshot) -> str:
    values.check_text(value, at, "A link id")
    return (parse_link_id(value) or (-1, ""))[1]


def as_pattern(value: Any, at: int, snapshot: Snapshot) -> Any:
    if isinstance(value, str):
        values.check_storable(value, at)
        if compile_pattern(value) is None:
            raise KipError(
                "KIP_1001",
                f"REGEX pattern {values.show(value)} is not a valid RE2 pattern.",
                "Use RE2 syntax: no look-around and no back-references; double every backslash inside the string.",
                at=at,
            )
    return value


def as_limit(value: Any, at: int, snapshot: Snapshot) -> int:
    values.check_limit(value, at)
    return min(int(value), 2**62)


def as_json(value: Any, at: int, snapshot: Snapshot) -> str:
    values.check_operand(value, at)
    return encode(value)


def members_of(kind: str) -> Convert:
    """The members of one kind of an IN list, as a JSON array (booleans as 1 and 0)."""

    def pick(value: Any, at: int, snapshot: Snapshot) -> str:
        values.check_list(value, at)
        found = [member for member in value if json_kind(member).lower() == kind]
        return encode([int(member) for member in found] if kind == "b" else [_number(member) for member in found])

    return pick
