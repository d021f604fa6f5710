"""The extractive composer: quotes, comparisons, lists, conflicts, follow-ups, refusals."""

from __future__ import annotations

import time

import pytest

from tests.models_support import Recorder, checked, codes, passage, quoted, said, task
from trivium.answers.composer import Stopped
from trivium.errors import TriviumError
from trivium.models.extractive import Extractive
from trivium.search.embed_builtin import builtin


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


def test_signs_alone_are_no_question_by_meaning_either() -> None:
    text = "Wait for the signal.\n\n...\n\nThe lamp is red."
    composed = checked(Extractive(builtin), task("?", [passage("a.md", text)]))
    assert (composed.found, composed.cited, codes(composed)) == (False, [], ["no_evidence"])


def test_a_broad_question_gets_the_first_sentences() -> None:
    composed = quoted("Tell me about the Skerry lighthouse")
    assert len(composed.text.splitlines()) == 4
    assert {cited.passage.source for cited in composed.cited} == {"lighthouse.md"}


def test_numbers_in_brackets_in_a_source_are_no_markers() -> None:
    composed = quoted(
        "How fast is the Kestrel?", [passage("a.md", "The Kestrel flies at 60 km/h [3] in level flight.")]
    )
    assert composed.text == "`The Kestrel flies at 60 km/h [3] in level flight.` [1]"
    assert composed.cited[0].quote == "The Kestrel flies at 60 km/h [3] in level flight."


def test_a_graph_fact_and_a_document_answer_together() -> None:
    fact = passage("", "Mara Lind leads Project Osprey.", kind="artifact", name="Osprey", sources=["osprey.md"])
    document = passage("osprey.md", "Project Osprey ends on 30 June 2025.")
    composed = quoted("When does Project Osprey end? Who leads Project Osprey?", [fact, document])
    assert {cited.passage.kind for cited in composed.cited} == {"chunk", "artifact"}


# --- how text is taken apart ---------------------------------------------------------------------

PARCELS = """# Shipping

Orders are shipped in two ways: standard parcels leave the warehouse
within three days of payment, and express parcels leave the
warehouse on the same day."""
SETTINGS = """# Settings

| argument | variable | default | meaning |
| --- | --- | --- | --- |
| `timeout` | `APP_TIMEOUT` | 30 | seconds that a writer waits for others |
| – | `APP_HOST`, `APP_PORT` | `127.0.0.1`, 8321 | where `app serve` serves |
"""
EXIT_CODES = """# app run

## Exit codes

| code | meaning |
| --- | --- |
| 0 | the job completed |
| 1 | the job failed or was cancelled |
"""
HEADERS = """# Requests

| header | |
| --- | --- |
| `Retry-Key` | the same key within 24 hours gives the same job |
| `Prefer` | how to answer |
"""
WHOLE = '"' + " ".join(PARCELS.split()[2:]) + '" [1]'
TAKEN_APART = [
    ("When do standard parcels leave the warehouse?", PARCELS, WHOLE),
    ("How are orders shipped?", PARCELS, WHOLE),
    (
        "What is a capsule?",
        "A capsule is a file of statements, as `app export` writes\nit; it may have any size: up to the disk.",
        '"A capsule is a file of statements, as app export writes it; it may have any size: up to the disk." [1]',
    ),
    (
        "Who reaches the port?",
        "There are none yet: who reaches the port may do everything. The seam is a file,\n`x.py`: it gives rights.",
        '"There are none yet: who reaches the port may do everything." [1]',
    ),
    ("Who is the contact?", "Customer: Acme\nContact: Mara Lind\nCity: Bern", '"Contact: Mara Lind" [1]'),
    (
        "Which exit code does app run give when the job failed?",
        EXIT_CODES,
        "code: 1; meaning: the job failed or was cancelled [1]",
    ),
    (
        "What happens when a job has the same key?",
        HEADERS,
        "Retry-Key: the same key within 24 hours gives the same job [1]",
    ),
    (
        "Which port does serve use by default?",
        SETTINGS,
        "variable: APP_HOST, APP_PORT; default: 127.0.0.1, 8321; meaning: where app serve serves [1]",
    ),
    (
        "How long does a writer wait for another one?",
        SETTINGS,
        "argument: timeout; variable: APP_TIMEOUT; default: 30; meaning: seconds that a writer waits for others [1]",
    ),
    (
        "Why was it moved?",
        "<!-- moved\nbecause of rain -->\n\nIt was moved because of snow.",
        '"It was moved because of snow." [1]',
    ),
    (
        "How do I install the app?",
        "## Install the app\n\n```sh\npip install app\napp init [1]\n```\n",
        "```\npip install app\napp init [1]\n```\n[1]",
    ),
]


@pytest.mark.parametrize(("ask", "text", "expected"), TAKEN_APART, ids=lambda value: str(value)[:40])
def test_what_is_quoted_is_whole(ask: str, text: str, expected: str) -> None:
    assert quoted(ask, [passage("a.md", text)]).text == expected


def test_a_table_that_goes_on_in_the_next_passage_keeps_its_header() -> None:
    head, _, rest = SETTINGS.partition("| –")
    header = next(line for line in head.splitlines() if line.startswith("|"))
    part = passage("a.md", f"| –{rest}", start=len(head), table_header=header)
    composed = quoted("Which port does serve use by default?", [part])
    assert composed.text.startswith("variable: APP_HOST, APP_PORT; default: 127.0.0.1, 8321")


TRANSCRIPT = """# Use

```console
$ app ask "How long is the trial?"
The trial is {} days, says Mara Lind. [1]
```
"""
UNANSWERED = [
    ("How long is the trial?", TRANSCRIPT.format(30)),
    ("Who says how long the trial is?", TRANSCRIPT.format(30)),
    ("Which trial does Mara use?", TRANSCRIPT.format(30)),
    ("x", "Only what x binds to is given."),
    ("Who founded the company?", "asked for a comparison (compare A and B): what Nothing was found about is named"),
    ("How many languages does the app know?", "What the app keeps of 250 concepts and knows:"),
    ("How many employees are there?", "There are 189 concepts (preferences, people, drugs) in the set."),
]


@pytest.mark.parametrize(("ask", "text"), UNANSWERED, ids=lambda value: str(value)[:40])
def test_what_only_looks_like_an_answer_is_none(ask: str, text: str) -> None:
    assert not quoted(ask, [passage("a.md", text)]).found


def test_examples_do_not_contradict_each_other() -> None:
    texts = [f"## Trial\n\n```\nthe trial lasts {days} days\n```\n" for days in (30, 60)]
    composed = quoted("How does the trial last?", [passage(f"{at}.md", text) for at, text in enumerate(texts)])
    assert "source_conflict" not in codes(composed)


def test_of_long_code_the_lines_about_the_question_are_quoted() -> None:
    code = "\n".join([*(f"step({number})" for number in range(40)), "install(app)", "start()"])
    composed = quoted("How do I install the app?", [passage("a.md", f"# Steps\n\n```\n{code}\n```\n")])
    (cited,) = composed.cited
    assert "install(app)" in cited.quote
    assert cited.quote.count("\n") == 11
    assert cited.quote in code


def test_a_fact_that_only_names_its_thing_answers_only_what_it_is() -> None:
    fact = passage("", "Bern (City).", kind="artifact", name="Bern", type="City")
    assert not quoted("Where is Bern?", [fact]).found
    assert quoted("What is Bern?", [fact]).found


QUOTED_AS_THEY_ARE = [
    ("The Kestrel uses `row[2]` and [3].", "`The Kestrel uses row[2] and [3].` [1]"),
    ('The Kestrel says "go [2]" twice.', '`The Kestrel says "go [2]" twice.` [1]'),
    ("The Kestrel uses a[0:1].", '"The Kestrel uses a[0:1]." [1]'),
]


@pytest.mark.parametrize(("text", "expected"), QUOTED_AS_THEY_ARE)
def test_what_looks_like_a_marker_is_quoted_as_it_is(text: str, expected: str) -> None:
    assert quoted("What does the Kestrel do?", [passage("a`[7].md", text)]).text == expected


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
    began = time.process_time()
    composed = quoted("What is x?", [passage(f"{number}.md", text) for number, text in enumerate(texts)])
    assert time.process_time() - began < 5
    assert composed.text.strip()
    assert all(cited.quote in cited.passage.text for cited in composed.cited)
