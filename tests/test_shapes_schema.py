"""Which schemas are shapes, and what conforms to them (KnowQL reference 3.6, 8)."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from trivium.shapes.shape import MAX_BYTES, Validator, check_schema, resolve

DRAFTS = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
]


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


def doubling(levels: int) -> dict[str, Any]:
    parts: dict[str, Any] = {"a0": {"type": "string"}}
    for level in range(1, levels):
        parts[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    return {"$defs": parts, "$ref": f"#/$defs/a{levels - 1}"}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/b"}}}, "$defs": {"b": {}}},
        {"type": "array"},
        {"$ref": "#"},
        {"properties": {"$ref": {"type": "string"}}},
        {"enum": [{"$ref": "http://example.com/"}]},
        {"type": "string", "format": "no-such-format"},
        {"x-own": {"anything": 1}},
        nested(15),
        *({"$schema": draft, "type": "string"} for draft in DRAFTS),
    ],
    ids=str,
)
def test_valid_schemas_are_shapes(schema: dict[str, Any]) -> None:
    assert check_schema(schema) is None


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ([], "JSON object"),
        ("Boolean!", "JSON object"),
        (True, "JSON object"),
        ({"type": "Boolean!"}, "no valid JSON Schema"),
        ({"properties": {"a": {"type": "text"}}}, "at properties.a.type"),
        ({"required": "a"}, "no valid JSON Schema"),
        ({"pattern": "("}, "no valid JSON Schema"),
        ({"minimum": float("nan")}, "no JSON"),
        ({"default": {1, 2}}, "no JSON"),
        ({"$ref": "http://example.com/schema.json"}, "only references inside the shape"),
        ({"items": {"$ref": "other.json#/a"}}, "only references inside the shape"),
        ({"$dynamicRef": "http://example.com/#a"}, "only references inside the shape"),
        ({"$ref": "#/$defs/missing"}, "no valid JSON Schema"),
        ({"$ref": "#/%"}, "no valid JSON Schema"),
        ({"$ref": 5}, "only references inside the shape"),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "another draft"),
        ({"$schema": "urn:own"}, "another draft"),
        ({"description": "x" * MAX_BYTES}, "bytes"),
        (nested(40), "deeper than 32"),
        (doubling(60), "too long"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_shape_is_told_with_its_reason(schema: Any, told: str) -> None:
    assert told in (check_schema(schema) or "")


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for reference in ("http://127.0.0.1:9/x", "https://example.com/x#/a", "file:///etc/passwd", "urn:x"):
        assert check_schema({"$ref": reference}) is not None
    with pytest.raises(ValueError, match="only references inside"):
        Validator({"$ref": "http://127.0.0.1:9/x"})


@pytest.mark.parametrize(
    ("schema", "value", "violation"),
    [
        ({"type": "integer"}, 1.5, 'at n: 1.5 is not of type "integer"'),
        ({"type": "integer"}, 3, None),
        ({"enum": ["a", None]}, None, None),
        ({"format": "date"}, "no date", None),
        ({"type": "number"}, float("nan"), "JSON does not have"),
        ({"type": "string"}, "\ud800", "JSON does not have"),
    ],
    ids=str,
)
def test_the_first_violation_is_told_with_its_place(schema: dict[str, Any], value: Any, violation: str | None) -> None:
    found = Validator({"properties": {"n": schema}}).first_violation({"n": value})
    assert (found is None) if violation is None else violation in (found or "")


def test_deep_values_violate_every_shape() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    assert "deeper than 64" in (Validator({}).first_violation(deep) or "")


def test_a_cruel_pattern_takes_no_time() -> None:
    check = Validator({"type": "string", "pattern": "^(?=(a+)+$)(a+)+b$"})
    began = time.monotonic()
    assert check.first_violation("a" * 5_000) is not None
    assert time.monotonic() - began < 5


def test_a_long_violation_is_cut() -> None:
    assert len(Validator({"enum": ["a"]}).first_violation("x" * 10_000) or "") == 300


def test_references_and_parts_are_read_together() -> None:
    shape = {
        "$defs": {
            "both": {"allOf": [{"$ref": "#/$defs/x"}, {"properties": {"y": {}}, "required": ["y"]}]},
            "x": {"$anchor": "ex", "properties": {"x": {}}, "required": ["x"]},
            "ring": {"$ref": "#/$defs/ring"},
        }
    }
    both = resolve({"$ref": "#/$defs/both"}, shape)
    assert (both["properties"], both["required"]) == ({"y": {}, "x": {}}, ["x", "y"])
    assert resolve({"$ref": "#ex", "title": "t"}, shape)["title"] == "t"
    assert resolve({"$ref": "#/$defs/ring"}, shape) == {}
    assert resolve(True, shape) == {}
