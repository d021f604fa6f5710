"""Logs and pages as a terminal shows them: their codes part no word, and what is cited is in the stored text."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest

import trivium
from trivium.ingest.escapes import without_escapes
from trivium.ingest.parse import parse

LOG = (
    b"\x1b[2m2026-03-01T10:00:00Z\x1b[0m \x1b[31mERR\x1b[1mOR\x1b[0m pump-7: press\x1b[4mure\x1b[24m lost\r\n"
    b"2026-03-01T10:00:05Z \x1b[32mok\x1b[39m valve \x1b]8;;https://example.com/v\x1b\\twelve\x1b]8;;\x1b\\ opened\r\n"
)
SHOWN = "2026-03-01T10:00:00Z ERROR pump-7: pressure lost\r\n2026-03-01T10:00:05Z ok valve twelve opened\r\n"


@pytest.mark.parametrize("name", ["a.log", "a.txt", "a.md", "console"])
def test_codes_are_left_out_and_told_and_lines_stay(name: str) -> None:
    parsed = parse(name, LOG)
    assert parsed.text == SHOWN
    assert parsed.notes == ["codes that steer a terminal were left out: 11"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("N\x08NA\x08AM\x08ME\x08E", "NAME"),
        ("_\x08f_\x08i_\x08l_\x08e b\x08_", "file b"),
        ("N\x08N\x08N\x08No", "No"),
        ("left\x1b[20Gright\x1b[Kend", "left rightend"),
        ("\x1b(B\x1b[mbold\x1b7\x1b8", "bold"),
        ("\x1b]0;title\x07words", "words"),
        ("\x1b]0;never ended\nwords", "]0;never ended\nwords"),
        ("alone \x1b stays", "alone  stays"),
        ("the gate\x9b costs", "the gate\x9b costs"),
        ("a\x9b1mb\x9b0m \x1b[38;2;255;0;0mred", "ab red"),
        ("no codes: [31m ESC", "no codes: [31m ESC"),
    ],
)
def test_each_kind_of_code_is_known(text: str, shown: str) -> None:
    assert without_escapes(text)[0] == shown


def test_codes_in_strings_of_json_are_left_out_and_those_of_source_code_stay() -> None:
    log = rb'{"log": "\u001b[31mfat\u001B[0mal", "path": "C:\\\u001b[0mx", "told": "\\u001b[31m"}'
    assert parse("a.json", log).text == r'{"log": "fatal", "path": "C:\\x", "told": "\\u001b[31m"}'
    code = rb'RED = "\u001b[31m"'
    assert parse("a.py", code).text == code.decode()


@pytest.mark.parametrize(
    "text",
    ["\x1b[" * 500_000, "\x1b]" * 500_000, "\x1b[" + "0;" * 500_000, "a\x08" * 500_000, ("\x1b]" + "a" * 4_000) * 250],
    ids=["brackets", "strings", "numbers", "steps back", "long strings"],
)
def test_codes_without_end_cost_little(text: str) -> None:
    began = time.process_time()
    without_escapes(text)
    assert time.process_time() - began < 5


def test_a_word_with_codes_inside_is_found_and_cited_from_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
    with trivium.open(tmp_path / "a.db") as kb:
        context = kb.create_context("logs")
        context.add_bytes("pump.log", LOG)
        assert context.curate()["notes"][0]["path"] == "pump.log"
        assert context.read_source("pump.log") == LOG
        document = context.read_document("pump.log")
        assert document["text"] == SHOWN
        assert document["hash"] == hashlib.sha256(SHOWN.encode()).hexdigest()
        answer = context.ask("Which pump lost pressure?")
        [citation] = answer["citations"]
        assert "pressure lost" in citation["grounding"]
        assert citation["grounding"] in document["text"]
        assert citation["lines"] == [1, 1]
        for word in ("error", "twelve"):
            [item] = context.ask(word, retrieval_only=True)["output_json"]["chunks"]
            assert item["text"] in document["text"]
