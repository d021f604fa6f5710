"""Words of questions and passages: stop words, stems, codes, questions about connections."""

from __future__ import annotations

import pytest

from trivium.search.codes import codes, spaced_codes
from trivium.search.connections import asks_for_connections
from trivium.search.passage_text import artifact_texts, chunk_texts
from trivium.search.question import question
from trivium.search.stop_words import stop_words_of
from trivium.search.words import passage_tokens, question_tokens, stem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What does the boiler need?", ["boil", "need"]),
        ("Wann macht das Schwimmbad sonntags zu?", ["macht", "schwimmbad", "sonntag"]),
        ("¿Qué incluye el contrato de alquiler?", ["incluy", "contrato", "alquil"]),
        ("Où sont les clés de la maison ?", ["cle", "maison"]),
        ("What?", ["what"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("the garage door", ["garag", "door"]),
        ("het huis met de deur", ["huis", "deur"]),
        ("die hard", ["die", "hard"]),
        ("Wie sterben die Bienen?", ["sterb", "bien"]),
        ("什么时候开门", ["么时", "时候", "候开", "开门"]),
    ],
)
def test_a_question_is_reduced_to_its_telling_words(text: str, words: list[str]) -> None:
    assert question_tokens(text) == words


def test_a_word_that_tells_in_another_language_is_dropped_only_among_words_of_its_own() -> None:
    assert stop_words_of({"sin", "city"}) == set()
    assert stop_words_of({"cafe", "sin", "el"}) == {"sin", "el"}


@pytest.mark.parametrize(
    "forms",
    [
        ("payment", "payments"),
        ("work", "works", "worked", "working"),
        ("story", "stories"),
        ("plan", "planned", "planning"),
        ("house", "houses"),
        ("invoice", "invoices", "invoiced", "invoicing"),
        ("meeting", "meetings"),
        ("Kind", "Kindes"),
        ("Frau", "Frauen"),
    ],
)
def test_forms_of_a_word_meet(forms: tuple[str, ...]) -> None:
    assert len({tuple(passage_tokens(form)) for form in forms}) == 1


@pytest.mark.parametrize("word", ["bus", "glass", "analysis", "is", "kb-1423", "v4.2.1", "naïve42", "красивый", "深色"])
def test_what_is_no_ending_stays(word: str) -> None:
    assert stem(word) == word


def test_no_stem_is_empty() -> None:
    for word in ("ings", "eds", "sing", "sees", "ees", "iness", "aaaa", "ssss", "red", "being", "ied", "ies"):
        assert len(stem(word)) >= 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what is KB-1423 about?", ["kb-1423"]),
        ("error 0x80070005", ["0x80070005"]),
        ("is INV-2024-0039 paid?", ["inv-2024-0039"]),
        ("what does getUserById return", ["getuserbyid"]),
        ("do we use C++ or C#?", ["c＋＋", "c＃"]),
        ("C++17 exceptions", ["c＋＋", "17"]),
        ("who reviews config/prod.yaml?", ["config／prod.yaml"]),
        ("write to ops@havn.example.", ["ops＠havn.example"]),
        ("what runs on 10.4.12.7", ["10.4.12.7"]),
        ("订单-20371付款了吗", ["20371"]),
        ("max_retry_count", ["max_retry_count"]),
        ("version v4.2.0", ["v4.2.0"]),
        ("covid-19 rules", ["covid-19"]),
        ("ISBN 978-1-4028-9462-6", ["978-1-4028-9462-6"]),
        ("at 3pm, 5kg of flour, the 2nd time, in 2024, for 3.50 euros", []),
        ("a well-known long-term problem, and/or not", []),
        ("Dr. Keller's House", []),
    ],
)
def test_codes_of_a_question(text: str, expected: list[str]) -> None:
    assert [spellings[0] for spellings in codes(text)] == expected


@pytest.mark.parametrize(
    "text", ["Is KB-1423 done?", "what does getUserById return", "see config/prod.yaml", "C# code"]
)
def test_codes_are_index_tokens(text: str) -> None:
    assert {stem(spellings[0]) for spellings in codes(text)} <= set(passage_tokens(text))


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("QuotaUserLimit", "QUOTA_USER_LIMIT"),
        ("Billing_Mailer", "billing-mailer"),
        ("KB1423", "KB-1423"),
        ("TRX-505K", "TRX505K"),
        ("TRX505K", "TRX-505K"),
        ("maxRetries2", "max_retries_2"),
    ],
)
def test_a_code_is_known_in_other_spellings(asked: str, written: str) -> None:
    (spellings,) = codes(asked)
    assert set(spellings) & set(passage_tokens(written)), spellings


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("pump IP 7731", "IP-7731"),
        ("QV 4187 when?", "QV4187"),
        ("where is NL12 QXZB 0417 3300 85", "NL12QXZB0417330085"),
        ("(L23 PN 01)", "L23_PN_01"),
    ],
)
def test_a_code_with_spaces_is_known_without(asked: str, written: str) -> None:
    assert any(set(spellings) & set(passage_tokens(written)) for spellings in spaced_codes(asked))


def test_words_without_a_digit_or_over_the_end_of_a_sentence_are_no_code_with_spaces() -> None:
    assert spaced_codes("one more time for all of us") == []
    for text in (
        "E-77 on pump 2",
        "who works at 7 30",
        "merger agreed in 2015",
        "trip of 3",
        "May 20 15 go",
        "IS 5 IN 6",
    ):
        assert spaced_codes(text) == [], text
    assert not any("us12" in spellings for spellings in spaced_codes("tell us. 12 left"))
    assert len(spaced_codes("a1 " * 400)) <= 20


@pytest.mark.parametrize(
    ("asked", "other"), [("KB1423", "KB-1432"), ("TRX505K", "TRX-505X"), ("a.b.c.d.e.f", "abcdef")]
)
def test_another_code_is_no_spelling_of_it(asked: str, other: str) -> None:
    assert not any(set(spellings) & set(passage_tokens(other)) for spellings in codes(asked))


def test_the_ending_of_a_possessive_is_no_part_of_the_name() -> None:
    assert question("When is Jonas's birthday?").words == ["jona", "birthday"]
    assert question("Anna’s boat and the neighbours' dog").words == ["anna", "boat", "neighbour", "dog"]
    assert set(question("Jonas's").words) <= set(passage_tokens("Jonas"))


def test_headings_are_indexed_each_word_once_beside_the_text() -> None:
    heading, body = chunk_texts(
        "notes/boats.md", "Boats", [["Boats", "Repairs of boats"]], "The boats leak. All boats."
    )
    assert heading.split().count("boat") == 1
    assert {"note", "repair"} <= set(heading.split())
    assert body.split().count("boat") == 2
    assert artifact_texts("Boats", "They leak.") == ("boat", "they leak")


@pytest.mark.parametrize(
    ("text", "connected"),
    [
        ("How are the tiers related to the discounts?", True),
        ("Compare the two contracts", True),
        ("Give me an overview of the incidents", True),
        ("Summarise what we know about Acme", True),
        ("Welcher Zusammenhang besteht zwischen den Ausfällen?", True),
        ("两份合同有什么区别？", True),
        ("Quel est le lien entre les deux pannes ?", True),
        ("When does the contract end?", False),
        ("Who repaired the stove?", False),
        ("How much is a ticket?", False),
        ("Wo lagert Insuval?", False),
    ],
)
def test_questions_about_connections(text: str, connected: bool) -> None:
    assert asks_for_connections(text) is connected
