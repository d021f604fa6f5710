"""Shapes filled from quoted evidence, or failed with the name of the property (KnowQL reference 8, D14)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.models_support import codes, passage, quoted
from trivium.answers.composer import ComposeError

S, N, W, B = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}


def shaped(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or []}


FILLED: list[tuple[str, dict[str, Any], Any]] = [
    (
        "Does Acme Corp qualify for a renewal discount?",
        shaped(["qualifies"], qualifies=B, discount_pct=N),
        {"qualifies": True, "discount_pct": 12.5},
    ),
    (
        "Does Globex qualify for a renewal discount?",
        shaped(["qualifies"], qualifies=B, discount_pct=N),
        {"qualifies": False},
    ),
    (
        "What are the terms of the Acme agreement?",
        shaped(
            begins={"type": "string", "format": "date"},
            signed_on={"type": "string", "format": "date"},
            interest_pct=N,
            technical_contact=S,
            contact_email={"type": "string", "format": "email"},
            ceo=S,
        ),
        {
            "begins": "2023-04-01",
            "signed_on": "2023-03-14",
            "interest_pct": 1.5,
            "technical_contact": "Tomas Okafor",
            "contact_email": "mara.lind@brightwater.example",
        },
    ),
    (
        "What are the day rates of Acme?",
        shaped(["rates"], rates={"type": "array", "items": shaped(["role", "day_rate"], role=S, day_rate=N)}),
        {
            "rates": [
                {"role": "Engineer", "day_rate": 820},
                {"role": "Architect", "day_rate": 1140},
                {"role": "Project lead", "day_rate": 1020},
            ]
        },
    ),
    (
        "What spare parts are there for the Heron?",
        shaped(["parts"], parts={"type": "array", "items": shaped(["name"], name=S, part_number=S, price=N)}),
        {
            "parts": [
                {"name": "Intake filter", "part_number": "HF-20", "price": 14.9},
                {"name": "Seal kit", "part_number": "HS-07", "price": 32},
                {"name": "Float switch", "part_number": "HX-11", "price": 21.5},
            ]
        },
    ),
    (
        "Tell me about the Heron H2",
        shaped(
            ["weight_kg"],
            weight_kg=N,
            warranty_months=W,
            cable_length=N,
            introduced={"type": "integer", "description": "Year of introduction"},
            loudness=N,
        ),
        {"weight_kg": 9.4, "warranty_months": 24, "cable_length": 15, "introduced": 2019},
    ),
    ("How heavy is the Heron H2?", N, 9.4),
    (
        "Who built the Skerry lighthouse?",
        shaped(["builder"], builder=S, tower_height_m=N, automated_year=W, last_keeper=S),
        {"builder": "Ada Mackenzie", "tower_height_m": 48, "automated_year": 1988, "last_keeper": "Ewan Strachan"},
    ),
    (
        "插座支持哪些协议？",
        shaped(["protocols"], protocols={"type": "array", "items": {"enum": ["Zigbee", "Matter", "WiFi"]}}),
        {"protocols": ["Zigbee", "Matter"]},
    ),
    ("插座支持哪些协议？", {"type": "array", "items": S}, ["Zigbee", "Matter"]),
    ("¿Se admiten mascotas en el hotel?", shaped(["mascotas"], mascotas={"enum": ["sí", "no"]}), {"mascotas": "no"}),
    ("Darf man im Lesesaal essen?", shaped(["essen_erlaubt"], essen_erlaubt=B), {"essen_erlaubt": False}),
    (
        "Wer leitet die Bibliothek?",
        shaped(["leiterin"], leiterin=S, gegruendet=W),
        {"leiterin": "Johanna Brandt", "gegruendet": 1907},
    ),
    ("人力资源部负责人是谁？", shaped(["负责人"], 负责人=S), {"负责人": "周敏"}),
    (
        "What is the discount for Globex?",
        shaped(["discount"], discount={"anyOf": [N, {"type": "null"}]}),
        {"discount": None},
    ),
    (
        "Acme renewal",
        {"$defs": {"d": N}, "type": "object", "properties": {"renewal_discount": {"$ref": "#/$defs/d"}}},
        {"renewal_discount": 12.5},
    ),
    (
        "Lighthouse facts",
        shaped(["lighthouse"], lighthouse=shaped(["height_metres"], height_metres=N)),
        {"lighthouse": {"height_metres": 48}},
    ),
]

FAILED: list[tuple[str, dict[str, Any], str]] = [
    ("Does Initech qualify for a renewal discount?", shaped(["qualifies"], qualifies=B), "no evidence for `qualifies`"),
    ("What is the discount for Globex?", shaped(["discount_pct"], discount_pct=N), "no evidence for `discount_pct`"),
    ("How loud is the Heron H2?", N, "no evidence for `the value`"),
    ("Who is the CEO of Acme Corp?", shaped(["ceo"], ceo=S), "no evidence for `ceo`"),
    ("Acme contacts", shaped(["fax"], fax=shaped(["number"], number=S)), "no evidence for `fax.number`"),
    (
        "Acme's payment terms",
        shaped(["payment_days"], payment_days={"type": "integer", "minimum": 100}),
        "payment_days",
    ),
]


@pytest.mark.parametrize(("ask", "shape", "value"), FILLED, ids=lambda value: str(value)[:50])
def test_shapes_are_filled_from_evidence(ask: str, shape: dict[str, Any], value: Any) -> None:
    composed = quoted(ask, shape=shape)
    assert composed.output_json == value
    assert composed.text == ""
    assert composed.found is bool(composed.cited)


@pytest.mark.parametrize(("ask", "shape", "told"), FAILED, ids=lambda value: str(value)[:50])
def test_a_required_property_without_evidence_fails_by_name(ask: str, shape: dict[str, Any], told: str) -> None:
    with pytest.raises(ComposeError, match=r"^output did not conform to shape: ") as caught:
        quoted(ask, shape=shape)
    assert told in str(caught.value)


def test_nothing_is_true_that_only_holds_under_a_condition() -> None:
    shape = shaped(["refundable"], refundable=B)
    for text in ("The deposit is refundable if you cancel in time.", "The deposit might be refundable."):
        with pytest.raises(ComposeError, match="no evidence for `refundable`"):
            quoted("Is the deposit refundable?", [passage("a.md", text)], shape=shape)
    plain = quoted("Is the deposit refundable?", [passage("a.md", "The deposit is refundable.")], shape=shape)
    assert plain.output_json == {"refundable": True}


def test_yes_and_no_come_from_opposites_and_table_cells() -> None:
    shape = shaped(["smoking_allowed"], smoking_allowed=B)
    for text, value in (
        ("Smoking is prohibited.", False),
        ("Smoking is allowed on the terrace.", True),
        ("| Rule | Value |\n| --- | --- |\n| Garden | open |\n\nSmoking allowed: no", False),
    ):
        assert quoted("Is smoking allowed?", [passage("a.md", text)], shape=shape).output_json == {
            "smoking_allowed": value
        }


def test_of_contradicting_values_the_newest_is_given_with_both_quotes() -> None:
    old = passage("old.md", "The notice period is 30 days.", dated="2021-01-01")
    new = passage("new.md", "The notice period is 60 days.", dated="2024-01-01")
    composed = quoted("What is the notice period?", [old, new], shape=shaped(["notice_days"], notice_days=W))
    assert composed.output_json == {"notice_days": 60}
    assert codes(composed) == ["source_conflict"]
    assert {cited.passage.source for cited in composed.cited} == {"old.md", "new.md"}


def test_values_that_nothing_tells_apart_fail() -> None:
    passages = [passage("a.md", "The Aurora 3 costs 349 EUR."), passage("b.md", "The Aurora 5 costs 499 EUR.")]
    with pytest.raises(ComposeError, match="several values for `price`: 349, 499"):
        quoted("What does the Aurora cost?", passages, shape=shaped(["price"], price=N))


def test_units_are_converted_only_where_that_is_exact() -> None:
    weeks = [passage("a.md", "The notice period is 2 weeks.")]
    assert quoted("Notice?", weeks, shape=shaped(["notice_days"], notice_days=W)).output_json == {"notice_days": 14}
    months = [passage("a.md", "The notice period is 2 months.")]
    with pytest.raises(ComposeError, match="no evidence for `notice_days`"):
        quoted("Notice?", months, shape=shaped(["notice_days"], notice_days=W))


def test_a_shape_whose_parts_are_all_null_is_honest_about_it() -> None:
    composed = quoted("Who is the CEO of Acme?", shape=shaped(["ceo"], ceo={"type": ["string", "null"]}))
    assert composed.output_json == {"ceo": None}
    assert not composed.found


def test_an_empty_array_is_no_evidence() -> None:
    with pytest.raises(ComposeError, match="no evidence for `awards`"):
        quoted("Which awards did Acme win?", shape=shaped(["awards"], awards={"type": "array", "items": S}))


def test_what_is_filled_but_does_not_conform_fails() -> None:
    shape = {**shaped(["weight_kg"], weight_kg=N), "not": {"required": ["weight_kg"]}}
    with pytest.raises(ComposeError, match=r"^output did not conform to shape: "):
        quoted("How heavy is the Heron H2?", shape=shape)


PORT = shaped(["port"], port=W)
SHARED = (
    "| variable | default |\n| --- | --- |\n| `APP_HOST`, `APP_PORT` | `127.0.0.1`, 8321 |\n| `APP_A`, `APP_B` | 1 |\n"
)
STATUSES = (
    "| status | meaning |\n| --- | --- |\n| 403 | a host or port that is not allowed |\n| 404 | no such thing |\n"
)
BY_POSITION: list[tuple[str, dict[str, Any], Any]] = [
    (SHARED, PORT, {"port": 8321}),
    (SHARED, shaped(["host"], host=S), {"host": "127.0.0.1"}),
    (STATUSES, PORT, None),
    ("A port that serve does not know is refused with status 403.", PORT, None),
    ("By default this is version 7 of serve.", shaped(["version"], version=W), {"version": 7}),
    ("```\nserve --port 9000\n```", PORT, None),
]


@pytest.mark.parametrize(("text", "shape", "expected"), BY_POSITION, ids=lambda value: str(value)[:40])
def test_values_that_share_a_cell_are_told_apart_and_labels_are_no_values(
    text: str, shape: dict[str, Any], expected: Any
) -> None:
    found = [passage("a.md", f"# Serve\n\n{text}\n")]
    if expected is None:
        with pytest.raises(ComposeError, match="no evidence"):
            quoted("What does serve use by default?", found, shape=shape)
    else:
        assert quoted("What does serve use by default?", found, shape=shape).output_json == expected


PLANS = "The team plan costs 40 euros a month. The crates are of grade B. The crate is 40 cm wide. Its height is 70 cm."
PRICE = {"title": "price", "type": "number"}
OF_NOTHING_LIKE_IT: list[tuple[Any, Any]] = [
    ([{"a": 1}, [1, 2], None, True], None),
    ([{"a": 1}, [1, 2], True], "no evidence for `price`"),
    ([False, {"a": True}], "no evidence for `price`"),
    (["a", "no"], "no evidence for `price`"),
    ([True, 40], 40),
    ([39, 40.0], 40),
]


@pytest.mark.parametrize(("options", "expected"), OF_NOTHING_LIKE_IT, ids=str)
def test_a_choice_is_made_only_where_a_quote_says_it(options: list[Any], expected: Any) -> None:
    shape = shaped(["price"], price={"enum": options})
    if isinstance(expected, str):
        with pytest.raises(ComposeError, match=expected):
            quoted("What is the price of the team plan?", [passage("a.md", PLANS)], shape=shape)
        return
    composed = quoted("What is the price of the team plan?", [passage("a.md", PLANS)], shape=shape)
    assert composed.output_json == {"price": expected}
    assert bool(composed.cited) is composed.found is (expected is not None)


def test_a_single_letter_is_a_choice_where_it_stands_as_one() -> None:
    shape = shaped(["grade"], grade={"enum": ["a", "b"]})
    assert quoted("What grade are the crates?", [passage("a.md", PLANS)], shape=shape).output_json == {"grade": "b"}


PLACES: list[tuple[str, dict[str, Any], Any]] = [
    (
        "What does the team plan cost?",
        {"type": "array", "prefixItems": [PRICE, {"title": "grade of the crates", "enum": ["A", "B"]}], "items": False},
        [40, "B"],
    ),
    ("What does the team plan cost?", {"prefixItems": [{"type": "number"}]}, [40]),
    (
        "What does the team plan cost?",
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [PRICE]},
        [40],
    ),
    (
        "What does the team plan cost?",
        shaped(["price"], price={"type": "array", "prefixItems": [PRICE, {"title": "colour", "type": "string"}]}),
        "no evidence for `price[1]`",
    ),
    (
        "What does the team plan cost?",
        shaped(["price"], price={"type": "array", "prefixItems": [N, S]}),
        "no evidence for `price[0]`: it needs a title that tells it from its neighbours",
    ),
]


@pytest.mark.parametrize(("ask", "shape", "expected"), PLACES, ids=lambda value: str(value)[:50])
def test_the_places_of_an_array_are_filled_each_by_its_own_title(
    ask: str, shape: dict[str, Any], expected: Any
) -> None:
    if isinstance(expected, str):
        with pytest.raises(ComposeError) as caught:
            quoted(ask, [passage("a.md", PLANS)], shape=shape)
        assert str(caught.value) == f"output did not conform to shape: {expected}"
    else:
        assert quoted(ask, [passage("a.md", PLANS)], shape=shape).output_json == expected
