"""Shapes: which JSON Schemas are taken, and whether a value conforms (KnowQL reference 3.6, 8).

A shape is a JSON Schema of draft 2020-12, 2019-09 or 7, of at most 64 KiB and 32 levels, whose references stay inside
it. `format` is a note, not a rule. Nothing is ever fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from trivium.shapes.shape_work import is_too_much

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
MAX_COST = 100_000
MAX_PATTERNS = 50_000
"""What all patterns together may come to, each sign as often as it is repeated; some hundred bytes for each."""
MAX_VALUE_DEPTH = 64
MAX_VIOLATION = 300

_NO_JSON = "it holds a value that JSON does not have"
_BACKTRACKING = 10_000
_DRAFT = re.compile(r"https?://json-schema\.org/(draft/2020-12/schema|draft/2019-09/schema|draft-07/schema)#?")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_VALUES = frozenset({"const", "enum", "default", "examples"})
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})


def check_schema(shape: Any) -> str | None:
    """Why this cannot be a shape, as one sentence, or None.

    >>> check_schema({"type": "object", "properties": {"ok": {"type": "boolean"}}})
    >>> check_schema({"type": "Boolean!"}) is None
    False
    """
    if not isinstance(shape, dict):
        return "shape must be a JSON object that is a JSON Schema"
    if _too_deep(shape, MAX_DEPTH):
        return f"shape is nested deeper than {MAX_DEPTH} levels"
    try:
        size = len(json.dumps(shape, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode())
    except (TypeError, ValueError):
        return "shape is no JSON: it holds a value that JSON does not have"
    if size > MAX_BYTES:
        return f"shape has {size:,} bytes; at most {MAX_BYTES:,} are taken"
    draft = shape.get("$schema", "https://json-schema.org/draft/2020-12/schema")
    if not isinstance(draft, str) or not _DRAFT.fullmatch(draft):
        return "shape names another draft in $schema than 2020-12, 2019-09 or draft-07"
    for reference in references(shape):
        if not isinstance(reference, str) or not reference.startswith("#"):
            return f"shape refers to {_cut(json.dumps(reference))}; only references inside the shape are followed (#/…)"
    if _cost(shape) > MAX_COST:
        return "shape refers to its own parts so often that checking a value would take too long"
    if sum(map(pattern_cost, _patterns(shape))) > MAX_PATTERNS:
        return "shape has patterns that repeat so much that they take too long to prepare; bound lengths with maxLength"
    return _fault(shape)


class Validator:
    """Tells whether values conform to one shape, which must be valid (`check_schema`)."""

    def __init__(self, shape: dict[str, Any]) -> None:
        self._shape = shape
        self._validator = _build(shape)
        self._refers = any(True for _ in references(shape))

    def first_violation(self, value: Any) -> str | None:
        """The first way in which a value breaks the shape, beginning with its place, or None.

        >>> Validator({"properties": {"n": {"type": "integer"}}}).first_violation({"n": "x"})
        'at n: "x" is not of type "integer"'
        """
        if _too_deep(value, MAX_VALUE_DEPTH):
            return f"it is nested deeper than {MAX_VALUE_DEPTH} levels"
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError):
            return _NO_JSON
        if self._refers and is_too_much(self._shape, value, lambda reference: _target(str(reference), self._shape)):
            return "it is nested so that checking it would take too long"
        try:
            error = next(self._validator.iter_errors(value), None)
        except ValueError:
            return _NO_JSON
        return None if error is None else _told(error.instance_path, error.message)

    def conforms(self, value: Any) -> bool:
        return self.first_violation(value) is None


def validator(shape: dict[str, Any]) -> Validator:
    return Validator(shape)


def resolve(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """A schema with its local `$ref` followed and its `allOf` merged, for reading it; `{}` for a boolean schema."""
    return _resolved(schema, root, set())


def _resolved(schema: Any, root: dict[str, Any], seen: set[str]) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {}
    parts = list(schema.get("allOf", ()))
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen.add(reference)
        parts.append(_target(reference, root))
    merged = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
    for part in parts:
        merged = _merged(merged, _resolved(part, root, seen))
    return merged


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    merged = {**other, **one}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**other["properties"], **one["properties"]}
    if "required" in one and "required" in other:
        merged["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return merged


def _target(reference: str, root: dict[str, Any]) -> Any:
    """What a local reference names: `#`, `#/a/b` or `#anchor`."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return next((part for part in _schemas(root) if reference[1:] in _anchors(part)), None)
    found: Any = root
    for part in reference[2:].split("/"):
        key = re.sub("%([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), part)
        key = key.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        elif isinstance(found, dict) and key in found:
            found = found[key]
        else:
            return None
    return found


def _anchors(schema: dict[str, Any]) -> list[Any]:
    return [schema.get("$anchor"), schema.get("$dynamicAnchor"), str(schema.get("$id", "")).removeprefix("#")]


def _build(shape: dict[str, Any]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        shape,
        validate_formats=False,
        retriever=_refuse,
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKING),
    )


def _refuse(uri: str) -> Any:
    raise ValueError("only references inside the shape are followed")


def _fault(shape: dict[str, Any]) -> str | None:
    import jsonschema_rs

    try:
        _build(shape)
    except jsonschema_rs.ValidationError as fault:
        return "shape is no valid JSON Schema: " + _told(fault.instance_path, fault.message)
    except ValueError as fault:
        return "shape is no valid JSON Schema: " + _cut(str(fault))
    return None


def _told(path: list[Any], message: str) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return _cut(f"at {place}: {message}" if place else message)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_VIOLATION else text[: MAX_VIOLATION - 1] + "…"


def _too_deep(value: Any, most: int) -> bool:
    level, current = 0, [value]
    while current:
        level += 1
        inner: list[Any] = []
        for item in current:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        if level > most + 1:
            return True
        current = [item for item in inner if isinstance(item, (dict, list))]
    return False


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all that stand in it, values such as those of `enum` left out."""
    if isinstance(schema, list):
        for part in schema:
            yield from _schemas(part)
    elif isinstance(schema, dict):
        yield schema
        for key, part in schema.items():
            if key in _MAPS and isinstance(part, dict):
                for inner in part.values():
                    yield from _schemas(inner)
            elif key not in _VALUES:
                yield from _schemas(part)


def references(shape: dict[str, Any]) -> Iterator[Any]:
    """What a schema and its parts refer to."""
    return (schema[key] for schema in _schemas(shape) for key in _REFERENCES if key in schema)


_PATTERN_PART = re.compile(
    r"(?P<class>\\[pP](?:\{[^}]*\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\()|(?P<close>\))"
    r"|\{(?P<least>\d+)(?P<more>,(?P<most>\d*))?\}|(?P<any>\.)|\\?.",
    re.DOTALL,
)
_CLASS_COST = 100


def pattern_cost(pattern: str) -> int:
    r"""How large a pattern is once what it repeats is written out; classes of Unicode count a hundredfold.

    >>> [pattern_cost(pattern) for pattern in ("^a{3}$", "(ab{2}){10}", r"\p{L}{5}")]
    [5, 30, 500]
    """
    groups, last = [0], 0
    for part in _PATTERN_PART.finditer(pattern):
        if part["open"]:
            groups.append(0)
            continue
        if part["close"] and len(groups) > 1:
            last = groups.pop()
        elif part["least"]:
            count = max(int(part["most"] or part["least"]), 1)
            groups[-1] += last * (count - 1)
            last *= count
            continue
        else:
            wide = part["class"] and ("\\p" in part[0].lower() or "[^" in part[0])
            last = _CLASS_COST if wide else 3 if part["any"] or part["class"] else 1
        groups[-1] += last
    return sum(groups)


def _patterns(shape: dict[str, Any]) -> Iterator[str]:
    for schema in _schemas(shape):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        if isinstance(schema.get("patternProperties"), dict):
            yield from schema["patternProperties"]


def _cost(shape: dict[str, Any]) -> int:
    """How many schemas stand in the shape once references are followed, rings broken; an upper bound of the work."""
    known: dict[int, int] = {}

    def cost(schema: Any) -> int:
        if isinstance(schema, list):
            return sum(map(cost, schema))
        if not isinstance(schema, dict):
            return 0
        if id(schema) in known:
            return known[id(schema)]
        known[id(schema)] = 0
        total = 1
        for key, part in schema.items():
            if key == "$ref" and isinstance(part, str):
                total += cost(_target(part, shape))
            elif key in _MAPS and isinstance(part, dict):
                total += sum(map(cost, part.values()))
            elif key not in _VALUES:
                total += cost(part)
        known[id(schema)] = min(total, MAX_COST + 1)
        return known[id(schema)]

    return cost(shape)
