"""What a document writes as escapes is found by what it stands for; its text stays as it is."""

from __future__ import annotations

import json

import pytest

import trivium
from trivium.search.escapes import unescaped

TEXT = json.dumps({"title": "Договор", "city": "München", "note": "first\nzebra", "mood": "😀 café"})


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (r'"\ud83d\ude00"', "a.json", '"😀"'),
        (r'"\ud83d"', "a.json", '"\ufffd"'),
        (r'"\\u0041"', "a.json", r'"\\u0041"'),
        (r'"\\\u0041"', "a.json", r'"\\A"'),
        (r'"\\n"', "a.json", r'"\\n"'),
        (r'"\u{1F600}\u{110000}"', "a.js", '"😀\U0010ffff"'),
        (r"C:\users\new", "a.json", r"C:\users ew"),
        (r"C:\users\new", "a.txt", r"C:\users\new"),
        (r'x = "caf\u00e9\n"', "a.py", r'x = "café\n"'),
    ],
)
def test_what_escapes_stand_for(text: str, path: str, expected: str) -> None:
    assert unescaped(text, path) == expected


@pytest.mark.parametrize("query", ["Договор", "München", "zebra", "café"])
def test_words_behind_escapes_are_found(query: str) -> None:
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("notes")
        context.add_bytes("a.json", TEXT.encode())
        context.curate()
        assert context.ask(query, retrieval_only=True)["output_json"]["counts"]["chunks"] == 1
        assert context.read_document("a.json")["text"] == TEXT
