"""Where a text holds code: markers of citations are counted and renumbered outside of it alone."""

from __future__ import annotations

import pytest

from trivium.answers.code_spans import code_spans, fenced, spanned
from trivium.knowql.citations import Handed, marked, settle

MARKED = [
    ("Net 30 [1].", {1}),
    ("`row[2]` [1]", {1}),
    ("``a ` [2] b`` [1]", {1}),
    ("a ` b [1]\nc ` d [2]", {1, 2}),
    ("```\nrow[2]\n```\n[1]", {1}),
    ("```\nrow[2]\n``` [1]", {1}),
    ("````\n```\n[3]\n```\n````\n[1]", {1}),
    ("```\nnever closed [1]", {1}),
    ('"said [2]" [1]', {1, 2}),
]


@pytest.mark.parametrize(("text", "numbers"), MARKED)
def test_markers_stand_outside_of_code(text: str, numbers: set[int]) -> None:
    assert marked(text) == numbers


def test_what_is_left_out_leaves_code_as_it_is() -> None:
    text = "`row[1]` [1]\n```\na[1]\n```\n[2]"
    assert settle(text, [], [], Handed()).text == "`row[1]`\n```\na[1]\n```\n"


@pytest.mark.parametrize("text", ["a", "`", "a ` b", "``` x", "`a` and ``b``"])
def test_nothing_ends_a_span_but_its_own_end(text: str) -> None:
    for made in (spanned(text), fenced(text)):
        assert code_spans(made) == [(0, len(made))]
