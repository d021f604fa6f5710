"""Damaged and generated texts end in a tree, a result or an error object (see `scripts.fuzz`)."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

import trivium
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


CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)
TWO_LINKS = """
FIND(?a) WHERE {
  (?a, "belongs_to_domain", {id: :p})
  (?a, "belongs_to_domain", {name: "CoreSchema"})
}
"""


EXPORT = 'EXPORT ?a WHERE { ?a {type: "Domain"} FILTER(?a.name == :p) }'
LIMITED = 'FIND(?d) WHERE { ?d {type: "Domain"} } LIMIT :p'
WRONG: dict[str, Any] = {
    "a surrogate as a member": {"command": "DESCRIBE PRIMER", "\ud800": 1},
    "a surrogate in dry_run": {"command": "DESCRIBE PRIMER", "dry_run": ["\udfff"]},
    "a huge number as dry_run": {"command": "DESCRIBE PRIMER", "dry_run": 10**5_000},
    "a tuple as a key in dry_run": {"command": "DESCRIBE PRIMER", "dry_run": {(1,): 1}},
    "circular parameters": {"command": "DESCRIBE PRIMER", "parameters": CIRCULAR},
    "a huge LIMIT": {"command": LIMITED, "parameters": {"p": 10**5_000}},
    "a surrogate as LIMIT": {"command": LIMITED, "parameters": {"p": "\ud800"}},
    "a list as an id": {"command": TWO_LINKS, "parameters": {"p": ["C:1"]}},
    "an object in EXPORT": {"command": EXPORT, "parameters": {"p": object()}},
    "a surrogate as a key in EXPORT": {"command": EXPORT, "parameters": {"p": {"\ud800": 1}}},
    "true as a key in EXPORT": {"command": EXPORT, "parameters": {"p": {True: 1}}},
}


@pytest.mark.parametrize("case", WRONG)
def test_values_of_the_wrong_kind_are_refused_by_name(case: str) -> None:
    with trivium.open() as kb:
        response = kb.execute_kip(WRONG[case])
    assert response["error"]["code"] == "KIP_1001", response
    json.dumps(response, ensure_ascii=False, allow_nan=False).encode()
