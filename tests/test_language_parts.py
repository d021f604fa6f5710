"""What one ask is taken apart into: questions joined by words, by commas, and one for each thing enumerated."""

from __future__ import annotations

import time

import pytest

from trivium.language.parts import questions_in

SPLIT = {
    "馆长是谁，门票价格是多少？": ["馆长是谁？", "门票价格是多少？"],
    "馆长是谁、门票价格是多少、博物馆在哪里？": ["馆长是谁？", "门票价格是多少？", "博物馆在哪里？"],
    "馆长是谁以及门票价格是多少？": ["馆长是谁？", "门票价格是多少？"],
    "館長は誰ですか、入館料はいくらですか？": ["館長は誰ですか？", "入館料はいくらですか？"],
    "図書館の館長は誰で、入館料はいくらですか？": ["図書館の館長は誰？", "入館料はいくらですか？"],
    "馆长、秘书和司库分别是谁？": ["馆长是谁？", "秘书是谁？", "司库是谁？"],
    "館長、司書は誰ですか？": ["館長は誰ですか？", "司書は誰ですか？"],
    "公司的总经理、秘书是谁？": ["公司的总经理是谁？", "公司的秘书是谁？"],
    "门票、停车和导览的价格是多少？": ["门票的价格是多少？", "停车的价格是多少？", "导览的价格是多少？"],
    "합계는 얼마이고, 관장은 누구입니까?": ["합계는 얼마이고?", "관장은 누구입니까?"],
    "Who is the miller, when did the mill open, and what does a tour cost?": [
        "Who is the miller?",
        "when did the mill open?",
        "what does a tour cost?",
    ],
    "Was kostet der Kurs, wann beginnt der Kurs und wer leitet ihn heute?": [
        "Was kostet der Kurs?",
        "wann beginnt der Kurs?",
        "wer leitet ihn heute?",
    ],
    "מי מנהלת המשרד ומתי מסתיים החוזה?": ["מי מנהלת המשרד?", "מתי מסתיים החוזה?"],
    "من هي مديرة المكتب ومتى ينتهي العقد؟": ["من هي مديرة المكتب؟", "متى ينتهي العقد؟"],
}
WHOLE = [
    "在上海，博物馆几点开门？",
    "什么时候、在哪里成立的？",
    "如果迟到，会怎么样？",
    "馆长和秘书是谁？",
    "A套餐、B套餐有什么区别？",
    "Which code is given, when it failed?",
    "Who is the miller, who is ill?",
    "Where is the office, which is in Oslo?",
    "When and where was it founded?",
    "Wie hoch ist der Preis, wenn der Kurs voll ist?",
]


@pytest.mark.parametrize("ask", SPLIT)
def test_questions_that_are_joined_are_each_one(ask: str) -> None:
    assert questions_in(ask) == (SPLIT[ask], [])


@pytest.mark.parametrize("ask", WHOLE)
def test_a_question_with_commas_in_it_is_one(ask: str) -> None:
    assert questions_in(ask) == ([ask], [])


@pytest.mark.parametrize("ask", ["谁、" * 10_000, "馆长、" * 300 + "是谁？", "、" * 900, "的" * 999, "和是谁，" * 240])
def test_no_ask_takes_long_to_take_apart(ask: str) -> None:
    began = time.monotonic()
    assert questions_in(ask)[0]
    assert time.monotonic() - began < 2
