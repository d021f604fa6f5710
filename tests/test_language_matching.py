"""Words that stand for others: forms, kin and compounds in several languages, and how they are found among many."""

from __future__ import annotations

import random

import pytest

from tests.answer_questions import passages
from trivium.language import matching
from trivium.language.matching import EXACT, INFLECTED, KIN, Words, alike
from trivium.search.segment import fold, tokens

FORMS = (
    "invoice invoices", "invoice invoicing", "format formatted", "embed embedding", "cancel cancelled",
    "approval approved", "delivery deliver", "completely completion", "comparing comparison", "maximal maximum",
    "silent silence", "qualify qualifies",
    "Kündigung kündigen", "Kündigungsfrist Kündigungsfristen", "Lieferung liefern", "Mitarbeiter Mitarbeiterin",
    "verlängert Verlängerung", "bezahlt Bezahlung",
    "reservas reservar", "entrega entregado", "empresa empresas", "cancelación cancelar", "habitación habitaciones",
    "livraison livraisons", "remboursement rembourser", "garantie garanties", "glossaire glossaires",
    "consegna consegnato", "fattura fatture", "garanzia garanzie", "garantia garantias",
    "betaling betalen", "levering leveren", "faktura faktury",
    "договор договора", "договоры договором", "доставка доставить", "библиотека библиотеки", "билеты билетов",
    "القانون قانون", "لقانون القانون", "והמשרד המשרד",
)  # fmt: skip
OTHERS = (
    "norington noringby", "stockholm stockport", "johnson johnston", "ashford ashby", "anderson andersen",
    "kingston kingsley", "content context", "interest internal", "interval internal", "compose compound",
    "program progress", "quality qualify", "openai openapi", "contract control", "country counted", "replace replay",
    "receive deceive", "standard standing", "proper property",
)  # fmt: skip


@pytest.mark.parametrize("pair", FORMS)
def test_forms_of_a_word_are_alike(pair: str) -> None:
    one, other = fold(pair).split()
    assert alike(one, other) == alike(other, one) == INFLECTED


@pytest.mark.parametrize("pair", OTHERS)
def test_words_that_only_begin_alike_are_no_forms(pair: str) -> None:
    one, other = pair.split()
    assert max(alike(one, other), alike(other, one)) < KIN


def test_words_are_found_among_many_as_by_a_look_at_all() -> None:
    chosen = random.Random(7)
    words = sorted({word for passage in passages() for word in tokens(passage.text)} | set(matching._kin()))
    known = Words()
    known.add(words[::2])
    known.add(words[1::3])
    there = {*words[::2], *words[1::3]}
    for term in [*chosen.sample(words, 200), "ab", "3", "ש", "x-1"]:
        assert known.met_by(term) == {word: far for word in there if (far := alike(term, word))}
        assert all(known.met_by(word)[word] == EXACT for word in {term} & there)
