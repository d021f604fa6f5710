"""The extractive composer: quotes, comparisons, lists, conflicts, follow-ups, refusals."""

from __future__ import annotations

import pytest

from tests.models_support import Recorder, checked, codes, passage, quoted, said, task
from trivium.errors import TriviumError
from trivium.models.composer import Stopped
from trivium.models.extractive import Extractive


def test_a_simple_question_gets_one_quoted_sentence() -> None:
    composed = quoted("How high is the tower?")
    assert composed.text == '"The tower is 48 metres high and painted white with one red band." [1]'
    assert composed.found
    assert composed.usage.cost_usd == 0


def test_without_an_answer_it_says_so_in_the_language_of_the_question() -> None:
    for ask, text in (
        ("Who is the CEO of Acme Corp?", "The knowledge does not hold an answer to this question."),
        ("Wie viele Parkplätze hat die Bibliothek?", "Das Wissen enthält keine Antwort auf diese Frage."),
        ("公司的首席执行官是谁？", "知识库中没有这个问题的答案。"),
    ):
        composed = quoted(ask)
        assert (composed.found, composed.cited) == (False, [])
        assert composed.text.startswith(text)
        assert codes(composed) == ["no_evidence"]


def test_without_an_answer_it_names_the_nearest_places_but_cites_none() -> None:
    composed = quoted("What was the wage of a Skerry keeper?")
    assert "The nearest places: lighthouse.md (The Skerry lighthouse)." in composed.text


def test_without_evidence_it_says_so() -> None:
    assert not quoted("What are the payment terms?", []).found


def test_each_thing_compared_is_quoted() -> None:
    composed = quoted("Compare the payment terms of Acme and Globex")
    assert composed.text.splitlines() == [
        '- Acme: "Invoices are payable net 30 days from receipt." [1]',
        '- Globex: "Globex pays within 45 days of the invoice date." [2]',
    ]
    lamps = quoted("Vergleiche die Lampen Aurora 3 und Aurora 5")
    assert "349 Euro" in lamps.text.splitlines()[0]
    assert "499 Euro" in lamps.text.splitlines()[1]


def test_what_a_comparison_lacks_is_named() -> None:
    composed = quoted("What is the difference between the Heron H2 and the Heron H9?")
    assert composed.text.splitlines()[-1] == "Nothing was found about Heron H9."
    assert codes(composed) == ["no_evidence"]
    assert composed.found


def test_one_answer_for_each_source_when_asked_for_each() -> None:
    composed = quoted("What is the termination notice in each contract?")
    assert {cited.passage.source for cited in composed.cited} == {"acme-msa.md", "globex-msa.md"}


def test_lists_and_tables_are_given_whole() -> None:
    parts = quoted("What are the spare parts of the Heron?").text.splitlines()
    assert [line.partition(":")[0] for line in parts] == ['- "Intake filter', '- "Seal kit', '- "Float switch']
    rates = quoted("What are the day rates?").text.splitlines()
    assert rates[1] == "- Role: Architect; Day rate: 1,140 EUR; Travel: at cost [2]"
    assert len(rates) == 3


def test_several_questions_are_answered_one_by_one() -> None:
    composed = quoted("When does the Acme agreement begin? Who is the technical contact? How loud is the Heron H2?")
    assert "1 April 2023" in composed.text
    assert "Tomas Okafor" in composed.text
    assert "Nothing was found about How loud is the Heron H2?" in composed.text


def test_a_sentence_that_points_back_is_quoted_with_the_one_before() -> None:
    composed = quoted("Where is the Skerry lighthouse?")
    assert composed.cited[0].quote.startswith("The Skerry lighthouse was built")
    assert "west of\nPort Ellary" in composed.cited[0].quote


def test_a_follow_up_lends_words_of_the_question_before() -> None:
    composed = checked(Extractive(), task("And for Globex?", history=[said("What are Acme's payment terms?")]))
    assert composed.text.splitlines()[0] == '"Globex pays within 45 days of the invoice date." [1]'


def test_a_broad_question_gets_the_first_sentences() -> None:
    composed = quoted("Tell me about the Skerry lighthouse")
    assert len(composed.text.splitlines()) == 4
    assert {cited.passage.source for cited in composed.cited} == {"lighthouse.md"}


def test_numbers_in_brackets_in_a_source_are_no_markers() -> None:
    composed = quoted(
        "How fast is the Kestrel?", [passage("a.md", "The Kestrel flies at 60 km/h [3] in level flight.")]
    )
    assert composed.text == '"The Kestrel flies at 60 km/h (3) in level flight." [1]'
    assert composed.cited[0].quote == "The Kestrel flies at 60 km/h [3] in level flight."


def test_a_graph_fact_and_a_document_answer_together() -> None:
    fact = passage("", "Mara Lind leads Project Osprey.", kind="artifact", name="Osprey", sources=["osprey.md"])
    document = passage("osprey.md", "Project Osprey ends on 30 June 2025.")
    composed = quoted("When does Project Osprey end? Who leads Project Osprey?", [fact, document])
    assert {cited.passage.kind for cited in composed.cited} == {"chunk", "artifact"}


# --- sources that disagree ------------------------------------------------------------------------


def test_sources_that_disagree_stand_side_by_side_newest_first() -> None:
    composed = quoted(
        "How many days of annual leave do employees get?",
        [
            passage("handbook.md", "Employees receive 26 days of annual leave.", dated="2022-01-01"),
            passage("faq.md", "Every employee receives 28 days of annual leave.", dated="2024-03-01T10:00:00Z"),
            passage("training.md", "Employees receive 10 days of training."),
        ],
    )
    assert composed.text.splitlines() == [
        "The sources disagree:",
        '- faq.md (2024-03-01): "Every employee receives 28 days of annual leave." [1]',
        '- handbook.md (2022-01-01): "Employees receive 26 days of annual leave." [2]',
    ]
    assert codes(composed) == ["source_conflict"]


CONFLICTS = [
    ("When is the deadline?", ["The deadline is 1 March 2024.", "The deadline is 15 March 2024."]),
    ("Who is the head of security?", ["The head of security is Mara Lind.", "The head of security is Tomas Okafor."]),
    ("Is remote work allowed?", ["Remote work is allowed.", "Remote work is not allowed."]),
    ("What is the discount?", ["The discount is 10 %.", "Discount: 12 percent"]),
    ("付款期限是多少天？", ["付款期限为30天。", "付款期限为45天。"]),
    ("Wie hoch ist die Gebühr?", ["Die Gebühr beträgt 20 Euro.", "Die Gebühr beträgt 25 Euro."]),
]
AGREEMENTS = [
    ("What is the discount?", ["The discount is 10 %.", "The discount is 10 percent."]),
    ("How long is the notice period?", ["The notice period is 2 weeks.", "The notice period is fourteen days."]),
    ("How much does the Aurora cost?", ["The Aurora 3 costs 349 EUR.", "The Aurora 5 costs 499 EUR."]),
    ("What was the revenue?", ["Revenue in 2023 was 5 million EUR.", "Revenue in 2024 was 6 million EUR."]),
    ("What is the fee?", ["The fee of tier 1 is 5 EUR.", "The fee of tier 2 is 9 EUR."]),
]


@pytest.mark.parametrize(("ask", "texts"), CONFLICTS, ids=lambda value: str(value)[:40])
def test_contradictions_are_seen(ask: str, texts: list[str]) -> None:
    composed = quoted(ask, [passage(f"{number}.md", text) for number, text in enumerate(texts)])
    assert codes(composed) == ["source_conflict"]
    assert len(composed.cited) == 2


@pytest.mark.parametrize(("ask", "texts"), AGREEMENTS, ids=lambda value: str(value)[:40])
def test_other_cases_and_other_spellings_are_no_contradiction(ask: str, texts: list[str]) -> None:
    composed = quoted(ask, [passage(f"{number}.md", text) for number, text in enumerate(texts)])
    assert "source_conflict" not in codes(composed)
    assert composed.found


# --- seams ----------------------------------------------------------------------------------------


def test_a_stopped_turn_stops() -> None:
    with pytest.raises(Stopped):
        Extractive().compose(task("How high is the tower?"), Recorder(until=2))


def test_an_embedder_at_fault_does_not_fail_the_answer() -> None:
    class Broken:
        def info(self) -> object:
            raise TriviumError("the embedder is gone")

    composed = checked(Extractive(lambda: Broken()), task("How high is the tower?"))  # type: ignore[arg-type]
    assert "48 metres" in composed.text


def test_long_and_strange_passages_do_not_break_it() -> None:
    texts = [
        "x" * 50_000,
        "|" * 2_000,
        "a\n" * 5_000,
        "# \n" * 500,
        "```\n" * 100,
        "- " * 3_000,
        "\u200f\u0000\ufeff",
        "|a|\n|-|",
    ]
    quoted("What is x?", [passage(f"{number}.md", text) for number, text in enumerate(texts)])
