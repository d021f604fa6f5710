"""Values in texts of many languages, as data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.language.languages import language_of
from trivium.language.values import find_values

CASES = {
    "Net 30 days from 1 March 2024, 2.5% off $1,200": [
        "duration 30 day",
        "date 2024-03-01",
        "percent 2.5 %",
        "money 1200 USD",
    ],
    "Die Gebühr beträgt 1.234,50 € ab dem 1. März 2024.": ["money 1234.5 EUR", "date 2024-03-01"],
    "El plazo es de 30 días hábiles; 12,5 % desde el 3 de mayo de 2023.": [
        "duration 30 day",
        "percent 12.5 %",
        "date 2023-05-03",
    ],
    "Le délai est de 45 jours, la pénalité de 3 pour cent.": ["duration 45 day", "percent 3 %"],
    "付款期限为三十天，违约金为百分之五，自2024年3月1日起，费用1200元。": [
        "duration 30 day",
        "percent 5 %",
        "date 2024-03-01",
        "money 1200 CNY",
    ],
    "30日間以内にお支払いください。料金は1,500円です。": ["duration 30 day", "money 1500 JPY"],
    "Скидка 15 процентов, с 1 марта 2024 года, 2 млн рублей": ["percent 15 %", "date 2024-03-01", "money 2000000 RUB"],
    'החוזה מסתיים ב-28 בפברואר 2026, תוך 14 ימים, 40 ש"ח': ["date 2026-02-28", "duration 14 day", "money 40 ILS"],
    "ينتهي العقد في 15 أغسطس 2026 خلال 30 يوماً بسعر 40 ريالا": ["date 2026-08-15", "duration 30 day", "money 40 SAR"],
    "Dinner is at 19:00. It took from 2019-03-01.": ["time 19:00", "date 2019-03-01"],
    "Tier 2 customers get 12 percent, see § 4.2.": ["label 2 ", "percent 12 %", "label 4.2 "],
    "Revenue was $4.5 million in 2023, with 5M users.": ["money 4500000 USD", "year 2023", "number 5000000 "],
    "12 kg, 3.5 m high, 2.4 GHz, 10 000 people, 4 metres": [
        "measure 12 kg",
        "measure 3.5 m",
        "measure 2.4 ghz",
        "number 10000 ",
        "measure 4 m",
    ],
    "From 9:30 am until 17 Uhr": ["time 09:30", "time 17:00"],
    "two weeks' notice, one year": ["duration 14 day", "duration 12 month"],
    "-5 °C to 40 °C": ["measure -5 °c", "measure 40 °c"],
    "on 31.12.2024 and 2024-02-30": ["date 2024-12-31"],
    "Version 2.3.1 of KB-1423": [],
    "03/04/2024 may be either, 25/12/2024 not": ["date 2024-12-25"],
    "May 2020, and you may 3 times": ["date 2020-05", "number 3 "],
    "einer von zwei Wochen": ["duration 14 day"],
}


@pytest.mark.parametrize("text", CASES, ids=lambda text: text[:40])
def test_values_are_found(text: str) -> None:
    found = find_values(text, language_of(text))
    assert [f"{value.kind} {value.key[1]}" for value in found] == CASES[text]


@given(st.text(alphabet="0123456789.,:/- $€%年月日天十百三aMk§\n", max_size=60))
def test_values_do_not_overlap_and_stand_where_they_say(text: str) -> None:
    last = 0
    for value in find_values(text):
        assert last <= value.start < value.stop <= len(text)
        last = value.stop


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie hoch ist die Gebühr?", "de"),
        ("What is the fee?", "en"),
        ("费用是多少？", "zh"),
        ("¿Cuál es la tarifa?", "es"),
        ("Quel est le délai de paiement ?", "fr"),
        ("Qual è il prezzo?", "it"),
        ("Qual é o preço do plano?", "pt"),
        ("Какова скидка?", "ru"),
        ("支払い条件は何ですか", "ja"),
        ("환불 기간은 얼마나 되나요?", "ko"),
        ("KB-1423", "en"),
    ],
)
def test_the_language_of_a_question_is_known(text: str, language: str) -> None:
    assert language_of(text) == language
