"""A check against the part of JSON Schema that the generated schema uses; anything else in a schema is refused.

It keeps the schema the only statement of the bounds without asking users to install a validator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
_NOTES = frozenset({"$schema", "$defs", "title", "description", "default", "discriminator"})
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties"})


def first_fault(value: Any, schema: dict[str, Any]) -> str | None:
    """The first way in which a value breaks a schema, beginning with its place (`entities[0].id`), or None.

    >>> first_fault({"a": 0}, {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}})
    'a is below 1'
    """
    return next(_faults(value, schema, schema, ""), None)


def _faults(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from _faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    expected = schema.get("type")
    if expected is not None and not _TYPES[expected](value):
        yield f"{at or 'it'} is no {expected}"
        return
    for keyword, bound in schema.items():
        if keyword in _OF_OBJECTS:
            continue
        if keyword == "items":
            for position, item in enumerate(value):
                yield from _faults(item, bound, root, f"{at}[{position}]")
        elif keyword == "anyOf":
            yield from _choice(value, schema, root, at)
        elif keyword in _BOUNDS:
            holds, says = _BOUNDS[keyword]
            if not holds(value, bound):
                yield f"{at or 'it'} {says.format(bound=bound)}"
        elif keyword not in _NOTES and keyword not in {"$ref", "type"}:
            raise NotImplementedError(f"JSON Schema keyword {keyword}")
    if "properties" in schema:
        yield from _members(value, schema, root, at)


def _members(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    properties: dict[str, Any] = schema["properties"]
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at or 'it'} lacks {name}"
    for name, member in value.items():
        if name in properties:
            yield from _faults(member, properties[name], root, f"{at}.{name}" if at else name)
        elif schema.get("additionalProperties") is False:
            yield f"{at or 'it'} has an unknown member {name!r}"


def _choice(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    """Of tagged objects the fault of the tagged choice, else that no choice fits."""
    tags = schema.get("discriminator", {})
    if isinstance(value, dict) and value.get(tags.get("propertyName")) in tags.get("mapping", {}):
        yield from _faults(value, {"$ref": tags["mapping"][value[tags["propertyName"]]]}, root, at)
    elif all(next(_faults(value, choice, root, at), None) is not None for choice in schema["anyOf"]):
        yield f"{at or 'it'} has none of the allowed forms"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """`$` means the very end, as in JSON Schema, not the place before a final line ending."""
    return re.compile(text.removesuffix("$") + r"\Z" if text.endswith("$") else text)


_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "enum": (lambda value, bound: any(value == one and type(value) is type(one) for one in bound), "is not in {bound}"),
    "pattern": (lambda value, bound: _pattern(bound).search(value) is not None, "does not match {bound}"),
    "minLength": (lambda value, bound: len(value) >= bound, "is shorter than {bound}"),
    "maxLength": (lambda value, bound: len(value) <= bound, "is longer than {bound}"),
    "minItems": (lambda value, bound: len(value) >= bound, "has fewer than {bound} items"),
    "maxItems": (lambda value, bound: len(value) <= bound, "has more than {bound} items"),
    "minimum": (lambda value, bound: value >= bound, "is below {bound}"),
    "maximum": (lambda value, bound: value <= bound, "is above {bound}"),
}
