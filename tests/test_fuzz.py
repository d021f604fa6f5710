"""Damaged and generated texts end in a tree, a result or an error object (see `scripts.fuzz`)."""

from __future__ import annotations

from collections import Counter

import pytest

from scripts import fuzz, fuzz_texts
from trivium.errors import KipError
from trivium.kip.parser import parse


def test_four_thousand_texts_end_well() -> None:
    figures = fuzz.run(4_000, seed=20_260)
    assert not figures.faults, figures.report()
    assert figures.texts == 4_000
    assert figures.executed > 400
    assert figures.succeeded > 50
    assert figures.parsed > 400
    assert set(figures.codes) > {"KIP_1001", "KIP_1002", "KIP_2001", "KIP_3001", "KIP_4002"}


def test_cases_follow_from_seed_and_number() -> None:
    assert [ascii(fuzz_texts.make(3, number).text) for number in range(300)] == [
        ascii(fuzz_texts.make(3, number).text) for number in range(300)
    ]


def test_the_grammar_derives_texts_that_mostly_parse() -> None:
    outcome: Counter[str] = Counter()
    for number in range(300):
        rng = fuzz_texts.Rng(number)
        try:
            parse(fuzz_texts.grammar().derive(rng, "command"))
            outcome["parsed"] += 1
        except KipError as error:
            outcome[error.code] += 1
    assert outcome["parsed"] > 150  # the rest breaks a rule that the grammar leaves to words


@pytest.mark.parametrize("mutation", sorted(set(fuzz_texts._MUTATIONS), key=lambda item: item.__name__))
def test_each_mutation_changes_texts(mutation: fuzz_texts.Mutation) -> None:
    rng = fuzz_texts.Rng(1)
    texts = [text for text in fuzz_texts.corpus().texts if len(text) > 20][:50]
    assert sum(mutation(rng, text) != text for text in texts) > 25
    assert isinstance(mutation(rng, ""), str)
