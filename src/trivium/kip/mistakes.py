"""The mistakes that language models make in KIP, each with a label and a hint that says what to write instead.

`MISTAKES` is a table: after a syntax fault, and only then, the parser goes through it row by row, and the first row
that recognises the place gives the hint. Particular rows come before general ones.
"""

from __future__ import annotations

from typing import NamedTuple

from trivium.kip.faults import SyntaxFault
from trivium.kip.mistake_site import Mistake, Site
from trivium.kip.mistakes_query import FILTER_ROWS, PATTERN_ROWS, QUERY_ROWS
from trivium.kip.mistakes_text import BRACKET_ROWS, TEXT_ROWS, VALUE_ROWS, WORD_ROWS
from trivium.kip.mistakes_write import META_ROWS, UPDATE_ROWS, UPSERT_ROWS
from trivium.kip.values import short

MISTAKES: tuple[Mistake, ...] = (
    *TEXT_ROWS,
    *WORD_ROWS,
    *QUERY_ROWS,
    *PATTERN_ROWS,
    *FILTER_ROWS,
    *UPSERT_ROWS,
    *UPDATE_ROWS,
    *VALUE_ROWS,
    *META_ROWS,
    *BRACKET_ROWS,
)


class Recognised(NamedTuple):
    """A mistake that was seen, with its hint filled in."""

    label: str
    hint: str


def recognise(text: str, tokens: list[str], fault: SyntaxFault) -> Recognised | None:
    """The first row of the table that fits a fault; None when the fault is no known mistake."""
    site = Site(text, tokens, fault)
    for row in MISTAKES:
        found = row.recognise(site)
        if found is not False:
            words = {name: short(word) for name, word in found.items()} if isinstance(found, dict) else {}
            return Recognised(row.label, row.hint % words if words else row.hint)
    return None
