"""Arrays of objects: no invented cell, and a word for what was left out."""

from __future__ import annotations

from typing import Any

from tests.models_support import asked_of

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def listed(text: str, question: str, name: str = "notes.md", **properties: Any) -> dict[str, Any]:
    items = {"type": "object", "properties": properties, "required": list(properties)}
    return asked_of({name: text}, question, shape={"type": "array", "items": items})


def test_one_text_is_not_taken_for_two_properties() -> None:
    text = (
        "# Offices\n\n## Berlin\n\nAddress: Marktstraße 40. 180 desks. Office manager: Jana Krüger.\n\n"
        "## Lisbon\n\nAddress: Rua do Ouro 112. 45 desks. Office manager: Tiago Mendes.\n"
    )
    response = listed(text, "List all offices", city=TEXT, desks=NUMBER, manager=TEXT)
    assert all(one["city"] != one["manager"] for one in response["output_json"] or [])


def test_a_capital_within_a_code_is_no_name() -> None:
    text = "# Oslo\n\n- Flight SK 4722, Berlin to Oslo, seat 11F\n- Flight SK 4729, Oslo to Berlin, seat 12A\n"
    response = listed(text, "My flights", flight=TEXT, seat=TEXT)
    assert all(one["seat"] not in ("F", "A") for one in response["output_json"] or [])


def test_rows_that_are_left_out_are_told() -> None:
    text = "level,notice period\nL1,4 weeks\nL2,2 months\nL3,3 months\n"
    response = listed(text, "List all levels with their notice period", "notice.csv", level=TEXT, notice_months=NUMBER)
    assert [one["level"] for one in response["output_json"]] == ["L2", "L3"]
    assert [warning["code"] for warning in response["warnings"]] == ["list_incomplete"]
    assert "2 of 3" in response["warnings"][0]["message"]
