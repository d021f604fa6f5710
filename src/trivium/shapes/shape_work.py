"""How much work it is to check a value against a shape that refers to itself.

A validator checks a part of a value as often as schemas apply to it. Where several parts of a schema lead back to the
same place, that doubles with each level of the value: twenty levels are a million checks. So they are counted first, by
pairs of a schema and a part of the value, each pair once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_HERE_LISTS = ("allOf", "anyOf", "oneOf")
_HERE = ("not", "if", "then", "else")
_HERE_MAPS = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_EACH_MEMBER = ("additionalProperties", "unevaluatedProperties")
_EACH_ELEMENT = ("items", "contains", "additionalItems", "unevaluatedItems")

FREE_CHECKS, TIMES = 5_000, 20
"""How many checks are always taken, and how often on average a pair may be checked beyond."""

Target = Callable[[Any], Any]
"""What a reference names."""


def is_too_much(shape: Any, value: Any, target: Target) -> bool:
    """Whether checking a value would take far more work than its size and the shape's.

    >>> twice = {"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}
    >>> deep = {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}}}}}}}
    >>> is_too_much(twice, deep, lambda reference: twice), is_too_much(twice, {"a": {}}, lambda reference: twice)
    (True, False)
    """
    counts: dict[tuple[int, int], int] = {}

    def count(schema: Any, part: Any) -> int:
        if not isinstance(schema, dict):
            return 1
        key = id(schema), id(part) if isinstance(part, (dict, list)) else 0
        if key not in counts:
            counts[key] = 0  # a ring of references at one place is checked once
            counts[key] = 1 + sum(count(inner, there) for inner, there in _applied(schema, part, target))
        return counts[key]

    try:
        checks = count(shape, value)
    except RecursionError:
        return True
    return checks > FREE_CHECKS + TIMES * len(counts)


def _applied(schema: dict[str, Any], part: Any, target: Target) -> Iterator[tuple[Any, Any]]:
    """The schemas inside a schema, each with the part of the value that it is checked against, at most."""
    for name in _REFERENCES:
        if name in schema:
            yield target(schema[name]), part
    for name in _HERE_LISTS:
        yield from ((inner, part) for inner in schema.get(name, ()))
    for name in _HERE:
        if name in schema:
            yield schema[name], part
    for name in _HERE_MAPS:
        yield from ((inner, part) for inner in schema.get(name, {}).values() if isinstance(inner, dict))
    if isinstance(part, dict):
        named = schema.get("properties", {})
        for name, member in part.items():
            if name in named:
                yield named[name], member
            yield from ((inner, member) for inner in schema.get("patternProperties", {}).values())
            yield from ((schema[each], member) for each in _EACH_MEMBER if each in schema)
    elif isinstance(part, list):
        first = schema.get("prefixItems", schema["items"] if isinstance(schema.get("items"), list) else [])
        yield from zip(first, part, strict=False)
        for element in part:
            yield from ((schema[each], element) for each in _EACH_ELEMENT if isinstance(schema.get(each), dict))
