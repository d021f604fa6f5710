"""Single cases of asks over small files, as data: whose a value is, what is asked together, what is no question."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

import trivium
from tests.answer_questions import DATA
from trivium.language.parts import MOST_QUESTIONS

GROUPS: list[dict[str, Any]] = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
CASES = [(number, case) for number, group in enumerate(GROUPS) for case in group["asks"]]


@pytest.fixture(scope="module")
def contexts() -> Iterator[list[trivium.Context]]:
    with trivium.open(":memory:", embedder="none") as kb:
        yield [filled(kb, f"cases{number}", group["files"]) for number, group in enumerate(GROUPS)]


def filled(kb: trivium.KnowledgeBase, slug: str, files: dict[str, str]) -> trivium.Context:
    context = kb.create_context(slug)
    for name, text in files.items():
        context.add_bytes(name, text.encode())
    context.curate()
    return context


@pytest.mark.parametrize(("number", "case"), CASES, ids=lambda one: one["ask"] if isinstance(one, dict) else str(one))
def test_what_is_asked_is_answered_of_the_right_thing(
    contexts: list[trivium.Context], number: int, case: dict[str, Any]
) -> None:
    shape = {"shape": case["shape"]} if "shape" in case else {}
    answer = contexts[number].ask(case["ask"], model="builtin/extractive", **shape)
    quotes = [cited["grounding"] for cited in answer["citations"]]
    if "fault" in case:
        assert answer["error"] == f"output did not conform to shape: {case['fault']}"
        return
    assert answer["status"] == "completed"
    assert quotes == case.get("quotes", quotes)
    assert quotes[:1] == [case["first"]] if "first" in case else True
    if "json" in case:
        assert answer["output_json"] == case["json"]
    assert [warning["code"] for warning in answer["warnings"]] == case.get("warns", [])
    assert case.get("named", "") in answer["output"][0]["content"][0]["text"]


def test_of_very_many_questions_the_first_are_answered_and_the_others_told(contexts: list[trivium.Context]) -> None:
    seats = "How many seats does the Team plan have?"
    ask = " ".join([seats, *(f"Who is the officer for matter {number}?" for number in range(300))])
    began = time.monotonic()
    answer = contexts[0].ask(ask, model="builtin/extractive")
    text = answer["output"][0]["content"][0]["text"]
    assert time.monotonic() - began < 10
    assert '"The Team plan has 20 seats." [1]' in text
    assert "Not looked at: Who is the officer for matter 7?;" in text
    assert text.endswith("(+290)")
    assert any(f"{300 + 1 - MOST_QUESTIONS} more were not looked at" in one["message"] for one in answer["warnings"])


@pytest.mark.parametrize("ask", ["?" * 32_000, "What is it? " * 2_600, "! ? " * 8_000, '"' * 32_000])
def test_an_ask_of_signs_or_of_one_question_over_and_over_is_soon_answered(
    contexts: list[trivium.Context], ask: str
) -> None:
    began = time.monotonic()
    assert contexts[0].ask(ask, model="builtin/extractive")["citations"] == []
    assert time.monotonic() - began < 10
