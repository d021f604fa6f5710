"""Sentence boundaries, as data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.search.sentences import sentences

CASES = [
    ["Invoices are payable net 30 days.", "Late fees apply!", "Do they?", "Yes."],
    ["Dr. Smith met Prof. J. R. R. Tolkien, e.g. in Oxford.", "They talked."],
    ["It costs $3.50 at v1.2.3 of example.com.", "Next."],
    ["He said “Stop.”", "Then he left."],
    ["“Why?” she asked.", "Nobody knew."],
    ["Acme Inc. filed a claim.", "See Fig. 3 and No. 5 of Sec. 2."],
    ["He works at Acme Inc.", "The firm is old."],
    ["We chose plan B.", "It was cheap."],
    ["Am 3. Mai begann es, z. B. in Wien.", "Es regnete."],
    ["合同于2024年签订。", "付款期限为30天！", "为什么？", "“好。”", "完"],
    ["これはペンです。", "「はい。」", "そうです"],
    ["यह पहला है।", "यह दूसरा है।"],
    ["هل وصل؟", "نعم وصل."],
    ["A heading without a stop", "A paragraph after a blank line."],
    ["Wait… what happened?", "Nothing…", "Really."],
    ["**Bold claim.**", "Plain one."],
    ["a lower-case text has no end. it goes on"],
]


@pytest.mark.parametrize("parts", CASES, ids=lambda parts: parts[0][:30])
def test_sentences_are_found(parts: list[str]) -> None:
    glue = "\n\n" if parts[0].startswith("A heading") else "" if parts[0][0] > "⺀" else " "
    text = glue.join(parts)
    assert [text[start:stop] for start, stop in sentences(text)] == parts


def test_list_items_and_table_rows_are_sentences_of_their_own() -> None:
    text = "Terms:\n1. Pay in 30 days\n2. No refunds\n- first\n- second\n| a | b |\n| 1 | 2 |\nwrapped\nline."
    assert [text[start:stop] for start, stop in sentences(text)] == [
        "Terms:",
        "1. Pay in 30 days",
        "2. No refunds",
        "- first",
        "- second",
        "| a | b |",
        "| 1 | 2 |\nwrapped\nline.",
    ]


def test_entries_of_a_log_are_sentences_of_their_own() -> None:
    entries = [
        "2024-01-01 10:00:00 ERROR disk full on alpha",
        "2024-01-01T10:00:02Z restarted\n  at Main.run\n  at Main.main",
        "2024-01-03 WARN memory 91% on gamma",
        "[2024-01-03 12:00] INFO done",
        "Jan  4 12:00:00 beta sshd: closed",
        "12:00:01.5 tick",
    ]
    text = "\n".join(entries)
    assert [text[start:stop] for start, stop in sentences(text)] == entries
    assert len(sentences("The contract of\n2024-01-01 ends on\n10 May in\n2025.")) == 1


def test_an_empty_text_has_none() -> None:
    assert sentences("") == sentences(" \n\t\n ") == []


@given(st.text(alphabet=st.sampled_from("ab A.!?…。\n\t\r\f\"')*1」。|-#Dr"), max_size=80))
def test_all_but_white_space_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentences(text)
    last = 0
    for start, stop in spans:
        assert last <= start < stop <= len(text)
        assert not text[last:start].strip()
        assert not text[start].isspace()
        assert not text[stop - 1].isspace()
        last = stop
    assert not text[last:].strip()


def test_a_long_line_of_marks_takes_linear_time() -> None:
    assert len(sentences("." * 1_000_000 + "\n" * 1_000_000 + "x" * 1_000_000)) == 2
