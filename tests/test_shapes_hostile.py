"""Shapes that are strange or meant to do harm: refused clearly, or answered honestly, and soon."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.models_support import Recorder, asking, passage, quoted, task
from tests.openai_server import text
from trivium.answers.composer import ComposeError, Stopped
from trivium.models.extractive import Extractive
from trivium.shapes.shape import MAX_PATTERNS, Validator, check_schema, pattern_cost

Json = Any
ASK = "What is the price of a single ticket?"
TICKETS = passage(
    "ferry.md",
    "# Tickets\n\n| ticket | price |\n| --- | --- |\n| Single | 18 EUR |\n| Ten trips | 140 EUR |\n| Car | 55 EUR |\n",
)
NUMBER = {"type": "number"}
SELF = {"$ref": "#"}
SECONDS = 5.0


def priced(*, needs: str = "price", **more: Json) -> dict[str, Json]:
    return {"type": "object", "properties": {"price": NUMBER, **more}, "required": [needs]}


def many_patterns() -> dict[str, Json]:
    inner = {f"p{size}": {"type": "string", "pattern": rf"\p{{L}}{{{size}}}\w{{50}}"} for size in range(400)}
    return {"type": "object", "properties": inner}


REFUSED: list[tuple[Json, str]] = [
    (many_patterns(), "patterns that repeat so much"),
    ({"pattern": "(a{1000}){1000}"}, "patterns that repeat so much"),
    ({"patternProperties": {"(.{99}){999}": NUMBER}}, "patterns that repeat so much"),
    (priced(price={"type": "number", "minimum": 1, "exclusiveMinimum": True}), "exclusiveMinimum"),
    (priced(price={"type": "number", "required": True}), "required"),
    (priced(price={"type": "any"}), "type"),
    ({"type": "array", "items": [NUMBER]}, "items"),
    ({"type": "object", "required": ["x", "x"]}, "non-unique"),
    ({"enum": "abc"}, "enum"),
    ({"$defs": {"a": 5}}, "$defs.a"),
    ({"$id": "http://x/y", "$ref": "z"}, "only references inside"),
    ({"minLength": -1}, "minLength"),
    ({"multipleOf": 0}, "multipleOf"),
]


@pytest.mark.parametrize(("shape", "told"), REFUSED, ids=lambda value: str(value)[:50])
def test_a_shape_that_cannot_be_checked_is_refused_soon(shape: Json, told: str) -> None:
    began = time.monotonic()
    fault = check_schema(shape)
    assert fault is not None
    assert told in fault
    assert time.monotonic() - began < SECONDS


FILLED: list[tuple[Json, Json]] = [
    (priced(**{f"again{number}": SELF for number in range(10)}), {"price": 18}),
    (priced(others={"type": "array", "items": SELF}),
     {"price": 18, "others": [{"price": 18}, {"price": 140}, {"price": 55}]}),
    (priced(no=False), {"price": 18}),
    (priced(none={"type": "array", "items": False}), {"price": 18}),
    (priced(**{"\u202e\u0000": NUMBER, "Preis € 价格": NUMBER}), {"price": 18}),
    (priced() | {"$dynamicAnchor": "n", "properties": {"price": NUMBER, "c": {"$dynamicRef": "#n"}}}, {"price": 18}),
    (
        priced(c={"$recursiveRef": "#"})
        | {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": True},
        {"price": 18},
    ),
    (priced(price={"type": "number", "format": "made-up"}), {"price": 18}),
    (priced(price={"enum": list(range(5_000))}), {"price": 18}),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "value"), FILLED, ids=lambda value: str(value)[:50])
def test_what_the_evidence_says_is_filled_and_nothing_twice(shape: Json, value: Json) -> None:
    began = time.monotonic()
    assert check_schema(shape) is None
    assert quoted(ASK, [TICKETS], shape=shape).output_json == value
    assert time.monotonic() - began < SECONDS


FAILED: list[tuple[Json, str]] = [
    (priced(needs="child", child=SELF), "no evidence for `child`"),
    (priced(needs="no", no=False), "no evidence for `no`"),
    (priced(needs="missing"), "no evidence for `missing`"),
    ({"type": "array", "items": False}, "no evidence for `the value`"),
    (priced(price={"type": "number", "minimum": 10, "maximum": 5}), "no evidence for `price`"),
    (priced(price={"enum": [f"option {number}" for number in range(3_000)]}), "no evidence for `price`"),
    (priced(price={"enum": []}), "no evidence for `price`"),
    (priced() | {"minProperties": 5}, "less than 5 properties"),
    (priced() | {"if": {"required": ["price"]}, "then": {"required": ["z"]}}, '"z" is a required property'),
    ({"not": {}}, "not allowed"),
    (priced(needs="name", name={"type": "string", "pattern": r"(?=(.*))\1(.*a){20}x"}), "no evidence for `name`"),
    ({"type": "array", "items": {"type": "string"}, "minItems": 10**15}, "no evidence"),
]


@pytest.mark.parametrize(("shape", "fault"), FAILED, ids=lambda value: str(value)[:50])
def test_what_cannot_be_filled_fails_and_says_what_is_missing(shape: Json, fault: str) -> None:
    began = time.monotonic()
    assert check_schema(shape) is None
    with pytest.raises(ComposeError) as caught:
        quoted(ASK, [TICKETS], shape=shape)
    assert str(caught.value).startswith("output did not conform to shape: ")
    assert fault in str(caught.value)
    assert time.monotonic() - began < SECONDS


def test_filling_stops_when_the_turn_does() -> None:
    shape = {"type": "object", "properties": {f"prop number {number}": {"type": "string"} for number in range(900)}}
    recorder = Recorder(until=40)
    with pytest.raises(Stopped):
        Extractive().compose(task(ASK, [TICKETS], shape=shape), recorder)


TWICE = {"properties": {"c": SELF}}
DOUBLING: list[Json] = [
    {"allOf": [TWICE, TWICE]},
    {"oneOf": [TWICE | {"required": ["z"]}, TWICE]},
    {"anyOf": [TWICE | {"required": ["y"]}, TWICE | {"required": ["z"]}]},
    {"patternProperties": {"c": SELF, "^c": SELF, "c$": SELF}},
    {"dependentSchemas": {"c": TWICE}, **TWICE},
    {"$defs": {"a": {"properties": {"c": {"$ref": "#/$defs/b"}}}, "b": {"allOf": [{"$ref": "#/$defs/a"}] * 2}},
     "$ref": "#/$defs/a"},
]  # fmt: skip


@pytest.mark.parametrize("shape", DOUBLING, ids=lambda value: str(value)[:50])
def test_a_deep_value_is_no_way_to_keep_the_validator_busy(shape: Json) -> None:
    assert check_schema(shape) is None
    value: Json = 1
    for _ in range(40):
        value = {"c": value}
    began = time.monotonic()
    assert Validator(shape).first_violation(value) == "it is nested so that checking it would take too long"
    assert time.monotonic() - began < 1
    with asking([text(json.dumps(value))]) as (composer, _), pytest.raises(ComposeError, match="would take too long"):
        composer.compose(task(ASK, [TICKETS], shape=shape), Recorder())


def test_deep_trees_of_an_honest_shape_are_checked() -> None:
    shape = {"type": "object", "properties": {"left": SELF, "right": SELF, "name": {"type": "string"}}}
    value: Json = {"name": "leaf"}
    for _ in range(8):
        value = {"left": json.loads(json.dumps(value)), "right": value, "name": "node"}
    check = Validator(shape)
    assert check.first_violation(value) is None
    value["left"]["right"]["name"] = 1
    assert check.first_violation(value) == 'at left.right.name: 1 is not of type "string"'


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\p{L}{1,64}$",
        r"^.{1,500}$",
        r"^[A-Z]{2}\d{2}[A-Z0-9]{4}\d{7}([A-Z0-9]?){0,16}$",
        r"^(([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|::(ffff(:0{1,4}){0,1}:){0,1})$",
        r"^[\w.%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,125}[a-z]{2,63}$",
    ],
)
def test_patterns_as_people_write_them_are_taken(pattern: str) -> None:
    assert check_schema({"type": "string", "pattern": pattern}) is None
    assert pattern_cost(pattern) < MAX_PATTERNS / 2
