"""Mistakes that language models make get a hint of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from trivium.errors import KIP_CODES, KipError
from trivium.kip.faults import SyntaxFault
from trivium.kip.lexer import tokenize
from trivium.kip.mistakes import MISTAKES, recognise
from trivium.kip.parser import parse, parse_tokens

DATA = Path(__file__).parent / "data"
ROWS: list[dict[str, str]] = json.loads((DATA / "kip_mistakes.json").read_text(encoding="utf-8"))
CORPUS = json.loads((DATA / "kip_corpus.json").read_text(encoding="utf-8"))
GENERAL_HINT = KIP_CODES["KIP_1001"].hint


def fault_of(text: str) -> SyntaxFault:
    with pytest.raises(SyntaxFault) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['label']}: {row['text'][:50]}")
def test_mistake_is_named_and_gets_its_hint(row: dict[str, str]) -> None:
    fault = fault_of(row["text"])
    assert (fault.mistake, fault.hint) == (row["label"], row["hint"])


def test_every_row_of_the_table_has_an_example() -> None:
    assert {row.label for row in MISTAKES} == {row["label"] for row in ROWS}


def test_labels_are_distinct_and_hints_are_particular() -> None:
    labels = [row.label for row in MISTAKES]
    assert len(set(labels)) == len(labels)
    assert GENERAL_HINT not in {row.hint for row in MISTAKES}


def test_hints_are_filled_in_whole_sentences() -> None:
    for row in ROWS:
        assert "%(" not in row["hint"]
        assert row["hint"][-1] in ".?…", row["hint"]


def test_most_refused_texts_of_the_corpus_are_known_mistakes() -> None:
    faults = []
    for case in CORPUS:
        if not case["accepted"]:
            try:
                parse(case["text"])
            except SyntaxFault as fault:
                if fault.code == "KIP_1001":
                    faults.append(fault.mistake)
            except KipError:
                continue
    assert len([mistake for mistake in faults if mistake]) / len(faults) > 0.9


def test_malformed_identifiers_keep_the_hint_of_their_code() -> None:
    fault = fault_of('FIND(?1st) WHERE { ?d {type: "Drug"} }')
    assert (fault.code, fault.mistake, fault.hint) == ("KIP_1002", None, KIP_CODES["KIP_1002"].hint)


def test_recogniser_survives_every_cut_of_a_text() -> None:
    """Whatever is missing at the end, the table gives a hint or none, and never fails."""
    for case in CORPUS[::7]:
        tokens = tokenize(case["text"])
        for end in range(len(tokens)):
            text = " ".join(token.lstrip("\0") for token in tokens[:end])
            try:
                parse_tokens(tokenize(text))
            except SyntaxFault as fault:
                found = recognise(text, tokenize(text), fault)
                assert found is None or not re.search(r"%\(\w+\)s", found.hint)
            except KipError:
                continue
