"""How well the extractive composer answers: labelled questions in seven languages, some of which nothing answers.

`python -m pytest tests/test_answers_composed.py -s` prints the table that `docs/answers.md` holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

import trivium
from tests.answer_questions import Labelled, evidence, open_stored, questions
from tests.models_support import Recorder, checked, codes
from trivium.answers.composer import Composed, Task
from trivium.models.extractive import Extractive
from trivium.search.embed_builtin import builtin

PAGE = Path(__file__).parent.parent / "docs" / "answers.md"
SETS = ("questions", "heldout", "reworded")
STORED = ("mixed", "unseen")
OWN = "own"
BY_WORDS, BY_MEANING = "words", "words and meaning"


class Counts(Struct):
    """How many questions have an answer, were given one, and the right one; how many have none, and were refused."""

    answerable: int = 0
    right: int = 0
    answered: int = 0
    unanswerable: int = 0
    refused: int = 0

    @property
    def recall(self) -> float:
        return self.right / self.answerable

    @property
    def precision(self) -> float:
        return self.right / self.answered

    @property
    def refusals(self) -> float:
        return self.refused / self.unanswerable


def answered(question: Labelled, how: str) -> Composed:
    embedder = builtin() if how == BY_MEANING else None
    asked = Task(question.ask, [], evidence(question.ask, embedder), "m", float("inf"))
    return checked(Extractive(lambda: embedder), asked, Recorder())


def is_right(question: Labelled, composed: Composed) -> bool:
    """Whether the first quote is of the right document and holds one of the right texts."""
    if question.answer is None or not composed.cited:
        return False
    best = composed.cited[0]
    said = " ".join(best.quote.split())
    return best.passage.source == f"{question.of}.md" and any(text in said for text in question.answer)


@cache
def counts(name: str, how: str) -> Counts:
    found = Counts()
    for question in questions(name):
        composed = answered(question, how)
        found.answered += composed.found
        if question.answer is None:
            found.unanswerable += 1
            found.refused += not composed.found
        else:
            found.answerable += 1
            found.right += is_right(question, composed)
    return found


# --- questions that are asked of a knowledge base -------------------------------------------------


@contextmanager
def stored(name: str, how: str) -> Iterator[trivium.KnowledgeBase]:
    kb = open_stored(OWN if name == OWN else "mixed", "builtin" if how == BY_MEANING else "none")
    try:
        yield kb
    finally:
        kb.close()


def is_right_answer(question: Labelled, document: dict[str, Any]) -> bool:
    """As `is_right`, of a Response Document; where the sources disagree it says so and quotes the newest first."""
    cited = document["citations"]
    if question.answer is None or not cited:
        return False
    said = " ".join(cited[0]["grounding"].split())
    told = "source_conflict" in [warning["code"] for warning in document["warnings"]]
    rightly = cited[0]["source"].startswith(tuple(question.of.split("|")))
    texts = [" ".join(text.split()) for text in question.answer]
    return rightly and any(text in said for text in texts) and (told or not question.conflict)


@cache
def stored_counts(name: str, how: str) -> Counts:
    found = Counts()
    with stored(name, how) as kb:
        for question in questions(name):
            document = kb.context("stored").ask(question.ask, model="builtin/extractive")
            assert document["status"] == "completed"
            is_answered = bool(document["citations"])
            found.answered += is_answered
            if question.answer is None:
                found.unanswerable += 1
                found.refused += not is_answered
            else:
                found.answerable += 1
                found.right += is_right_answer(question, document)
    return found


def table() -> str:
    lines = ["set        by                 answerable  right  recall  precision  unanswerable  refused  share"]
    for name in (*SETS, *STORED):
        for how in (BY_WORDS, BY_MEANING):
            n = counts(name, how) if name in SETS else stored_counts(name, how)
            lines.append(
                f"{name:10} {how:17} {n.answerable:11} {n.right:6} {n.recall:7.2f} {n.precision:10.2f}"
                f" {n.unanswerable:13} {n.refused:8} {n.refusals:6.2f}"
            )
    return "\n".join(lines)


@pytest.mark.parametrize("how", [BY_WORDS, BY_MEANING])
@pytest.mark.parametrize("name", ["questions", "heldout"])
def test_questions_in_the_words_of_the_documents_are_answered_or_refused(name: str, how: str) -> None:
    found = counts(name, how)
    assert found.recall >= 0.95
    assert found.precision >= 0.95
    assert found.refusals >= 0.85


@pytest.mark.parametrize("how", [BY_WORDS, BY_MEANING])
@pytest.mark.parametrize("name", STORED)
def test_what_is_asked_of_a_thing_is_answered_of_that_thing_or_refused(name: str, how: str) -> None:
    found = stored_counts(name, how)
    assert found.recall >= 0.95
    assert found.precision >= 0.85
    assert found.refusals >= 0.8


def test_questions_about_the_program_are_answered_from_its_own_pages() -> None:
    found = stored_counts(OWN, BY_WORDS)
    assert found.recall >= 0.8
    assert found.precision >= 0.85
    assert found.refusals == 1.0


def test_questions_in_other_words_are_rather_refused_than_answered_wrongly() -> None:
    for how in (BY_WORDS, BY_MEANING):
        found = counts("reworded", how)
        assert found.refusals == 1.0
        assert found.precision >= 0.85
    assert counts("reworded", BY_MEANING).recall > counts("reworded", BY_WORDS).recall


def test_what_is_answered_in_other_words_says_so() -> None:
    for question in questions("reworded"):
        composed = answered(question, BY_MEANING)
        if composed.found and not answered(question, BY_WORDS).found:
            assert "weak_support" in codes(composed)


def test_the_same_question_gets_the_same_answer() -> None:
    for question in questions()[::10]:
        first, second = (answered(question, BY_WORDS) for _ in range(2))
        assert (first.text, first.cited, first.warnings) == (second.text, second.cited, second.warnings)


def test_the_page_holds_the_figures() -> None:
    print(f"\n{table()}")  # noqa: T201
    assert table() in PAGE.read_text(encoding="utf-8")
