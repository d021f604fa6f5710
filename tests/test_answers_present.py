"""What holds now rather than before, what is not so, and all steps of how something is done."""

from __future__ import annotations

import pytest

from tests.models_support import asked_of

CASES = [
    ("The fee was raised from 40 EUR to 55 EUR on 1 January 2024.", "How much is the fee?", "fee_eur", 55),
    ("The fee rose from 40 EUR to 55 EUR.", "How much is the fee?", "fee_eur", 55),
    ("The fee is 55 EUR instead of 40 EUR.", "How much is the fee?", "fee_eur", 55),
    ("The fee is now 55 EUR (previously 40 EUR).", "How much is the fee?", "fee_eur", 55),
    ("The fee is 55 EUR, up from 40 EUR.", "How much is the fee?", "fee_eur", 55),
    ("Die Gebühr wurde von 40 Euro auf 55 Euro erhöht.", "Wie hoch ist die Gebühr?", "gebuehr_eur", 55),
    ("Die Gebühr beträgt 55 Euro statt 40 Euro.", "Wie hoch ist die Gebühr?", "gebuehr_eur", 55),
    ("Le tarif est passé de 40 euros à 55 euros.", "Quel est le tarif ?", "tarif_eur", 55),
    ("La tarifa subió de 40 euros a 55 euros.", "¿Cuánto es la tarifa?", "tarifa_eur", 55),
    ("La tariffa è salita da 40 euro a 55 euro.", "Quanto costa la tariffa?", "tariffa_eur", 55),
    ("Плата выросла с 40 евро до 55 евро.", "Какова плата?", "плата", 55),
    (
        "The room temperature ranges from 18 to 22 degrees.",
        "What is the minimum temperature?",
        "minimum_temperature",
        18,
    ),
    ("Opening hours were extended from 8 hours to 10 hours.", "How many hours is it open?", "opening_hours", 10),
    ("The fee was raised from 40 EUR to 55 EUR.", "How much was the fee before?", "fee_eur", None),
]
"""What is written, what is asked, for which property, and its value; None: whatever it is, not the present one."""


@pytest.mark.parametrize(("text", "question", "name", "expected"), CASES)
def test_the_value_that_holds_is_taken(text: str, question: str, name: str, expected: int | None) -> None:
    shape = {"type": "object", "properties": {name: {"type": "number"}}, "required": [name]}
    response = asked_of({"rules.md": f"# Rules\n\n{text}\n"}, question, shape=shape)
    if expected is None:
        assert response["output_json"] != {name: 55}
    else:
        assert response["output_json"] == {name: expected}


NOT = [
    ("Expenses are reimbursed within 10 days. Alcohol is not reimbursed.", "What is not reimbursed?", "Alcohol is not"),
    ("Water damage is covered. Theft isn't covered.", "What isn't covered?", "Theft isn't"),
    (
        "Kosten für Taxis werden erstattet. Kosten für Alkohol werden nicht erstattet.",
        "Welche Kosten werden nicht erstattet?",
        "Kosten für A",
    ),
]


@pytest.mark.parametrize(("text", "question", "expected"), NOT)
def test_what_is_not_so_is_answered_by_what_denies_it(text: str, question: str, expected: str) -> None:
    response = asked_of({"rules.md": f"# Rules\n\n{text}\n"}, question)
    assert [citation["grounding"] for citation in response["citations"]] == [
        next(sentence for sentence in text.replace(". ", ".|").split("|") if sentence.startswith(expected))
    ]


STEPS = "# Upgrading\n\n## From 2.x to 3.x\n\n1. Stop all producers.\n2. Run `migrate`.\n3. Start the 3.x brokers.\n"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I upgrade from 2.x to 3.x?", ["Stop all producers.", "Run `migrate`.", "Start the 3.x brokers."]),
        ("How do I start the 3.x brokers?", ["Start the 3.x brokers."]),
    ],
)
def test_how_to_do_what_stands_over_a_numbered_list_is_all_of_its_steps(question: str, expected: list[str]) -> None:
    response = asked_of({"rules.md": STEPS}, question)
    assert [citation["grounding"] for citation in response["citations"]] == expected


def test_the_newest_of_two_documents_is_told_by_the_days_in_their_names() -> None:
    response = asked_of(
        {
            "2024-06-10.md": "# Evening\n\nThe class trip costs 285 EUR per child.\n",
            "2024-07-08.md": "# Evening\n\nThe class trip costs 310 EUR per child.\n",
        },
        "How much is the class trip per child?",
    )
    assert [citation["grounding"] for citation in response["citations"]] == [
        "The class trip costs 310 EUR per child.",
        "The class trip costs 285 EUR per child.",
    ]
    assert "2024-07-08.md (2024-07-08)" in response["output"][0]["content"][0]["text"]
