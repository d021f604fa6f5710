"""JSON as statements: members under their keys, records as rows, also of a part of a file."""

from __future__ import annotations

import pytest

from tests.models_support import asked_of, passage
from trivium.language.json_pieces import json_pieces
from trivium.language.statements import CODE, PAIR, ROW, statements_of

SETTINGS = '{\n  "db": {"host": "d1", "port": 5432},\n  "cache": {"host": "c1", "port": 6379},\n  "name": "shop"\n}\n'


def test_a_question_is_answered_by_the_member_and_not_by_the_whole_file() -> None:
    answer = asked_of({"settings.json": SETTINGS}, "What is the port of the cache?")
    assert [cited["grounding"] for cited in answer["citations"]] == ['"port": 6379']
    assert [cited["lines"] for cited in answer["citations"]] == [[3, 3]]


def test_what_is_quoted_stands_so_in_the_file() -> None:
    for statement in statements_of([passage("settings.json", SETTINGS)]):
        assert statement.kind == PAIR
        assert statement.quote in SETTINGS
        assert all(SETTINGS[cell.start : cell.stop] == cell.text for cell in statement.cells)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"port": 5432,\n "host": "d1"\n }, "x": 1}', ["port: 5432", "host: d1", "x: 1"]),
        ('{"name": "Ann"},\n{"name": "Bo"}]', ["name: Ann", "name: Bo"]),
        ('{"a": {"b": {"c": "deep"}}}', ["c: deep"]),
        ('[{"n": 1, "in": {"city": "Lyon"}, "tags": ["x", "y"]}]', ["n: 1; in city: Lyon; tags: x, y"]),
        ('{"gone": null, "empty": "", "quote": "a \\"b\\" \\u00e9"}', ['quote: a "b" é']),
        ("[" * 5_000, []),
        ('{"a": ' * 500 + "1" + "}" * 500, ["a: 1"]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_part_of_a_file_is_read_as_far_as_it_goes(text: str, expected: list[str]) -> None:
    assert [piece.text for piece in json_pieces(text)] == expected


def test_records_are_rows_one_for_each_line_or_element() -> None:
    lines = '{"name": "Ann", "role": "dev"}\n{"name": "Bo", "role": "ops"}\n'
    for source, text in (
        ("people.jsonl", lines),
        ("people.json", f'{{"people": [{lines.strip()}]}}'.replace("}\n", "},")),
    ):
        rows = statements_of([passage(source, text)])
        assert [row.kind for row in rows] == [ROW, ROW]
        assert [cell.text for row in rows for cell in row.cells] == ["Ann", "dev", "Bo", "ops"]


def test_what_is_no_json_stays_text() -> None:
    assert [one.kind for one in statements_of([passage("notes.json", "All is well here.\n")])] != [CODE]
    assert statements_of([passage("notes.json", "All is well here.\n")])[0].text == "All is well here."
