"""Which rows of a table a question for several things asks for, by what it says of them: in stock, red.

A column of yes and no holds where it says yes, or no when the question denies; one of other values where its cell is
what the question says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from trivium.answers.row_numbers import numbered
from trivium.language.denial import negated
from trivium.language.matching import INFLECTED, alike
from trivium.language.question import Question, content_words
from trivium.language.statements import Cell, Statement
from trivium.language.yes_no import said_in
from trivium.search.segment import fold

_WITHOUT = re.compile(r"\b(?:out of|lack|lacks|lacking)\b", re.IGNORECASE)
_STOCKED = re.compile(
    r"\b(?:(?:in|out of|on) (?:stock|hand)|available|auf lager|vorratig|verfugbar|en stock|disponible?s?|disponibil[ei]"
    r"|disponive(?:l|is)|op voorraad|в наличии)\b|有货|在库|库存"
)
"""How a question asks for what there is one of, at least."""


class Held(Struct):
    """The rows that hold what a question says of them, and its words that say so."""

    rows: list[Statement]
    words: set[str]


def that_hold(rows: Sequence[Statement], question: Question) -> Held:
    """Those rows of one table for which the question's conditions hold; all of them where it has none."""
    by_number = numbered(rows, question)
    held = Held(by_number.rows, by_number.words)
    for key in dict.fromkeys(cell.key for row in rows for cell in row.cells[1:] if cell.key):
        cells = [next((cell for cell in row.cells if cell.key == key), None) for row in rows]
        if not words_of(key, by_number.words):
            _hold(held, rows, cells, key, question)
    return held


def _hold(held: Held, rows: Sequence[Statement], cells: Sequence[Cell | None], key: str, question: Question) -> None:
    said = [None if cell is None else said_in(cell.text) for cell in cells]
    named = words_of(key, question.words)
    if None not in said:
        if not named:
            return
        wanted = not (negated(question.text) or _WITHOUT.search(question.text))
        good = [answer is wanted for answer in said]
    elif named and _STOCKED.search(fold(question.text)) and all(cell and cell.text.isdigit() for cell in cells):
        wanted = not (negated(question.text) or _WITHOUT.search(question.text))
        good = [cell is not None and (int(cell.text) > 0) is wanted for cell in cells]
    else:
        met = [words_of(cell.text, question.words) if cell is not None else set() for cell in cells]
        if not any(met):
            return
        denied = negated(question.text)
        good, named = [bool(words) is not denied for words in met], set().union(named, *met)
    kept = {id(row) for row, holds in zip(rows, good, strict=True) if holds}
    held.rows = [row for row in held.rows if id(row) in kept]
    held.words |= named


def words_of(text: str, words: Collection[str]) -> set[str]:
    """The words of a question that say the whole of a short text; none where it says more."""
    parts = content_words(text)
    met = {part: [word for word in words if alike(word, part) >= INFLECTED] for part in parts}
    if not parts or any(part.isdigit() for part in parts) or not all(met.values()):
        return set()
    return {word for found in met.values() for word in found}
