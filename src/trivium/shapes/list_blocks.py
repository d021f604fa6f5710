"""The lists, tables and paragraphs of the evidence, and how far one is about what an array is of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from trivium.answers.composer import Cited
from trivium.answers.ranking import ENOUGH
from trivium.answers.row_numbers import numbered
from trivium.language.statements import ROW, Statement
from trivium.search.segment import tokens
from trivium.shapes.fill_evidence import Filled, Finder
from trivium.shapes.property import Property

_MARK = re.compile(r"(?:^|\n)[ \t>]*(?:[-*+•‣]|(?P<number>\d{1,3})[.)]|[a-z]\))[ \t]+(?:\[[ xX]\][ \t]+)?[*_`\"']*$")


class Item(Struct):
    """An item of a list, which may be several sentences; `number` where it is numbered."""

    statements: list[Statement]
    number: int | None = None

    @property
    def text(self) -> str:
        return " ".join(one.text for one in self.statements)

    @property
    def quoted(self) -> Filled:
        first, last = self.statements[0], self.statements[-1]
        return Filled(self.text, [Cited(first.passage, first.passage.text[first.start : last.stop])])


def items_of(block: Sequence[Statement]) -> list[Item]:
    """The items of a list: a sentence that no mark stands before belongs to the one before it."""
    items: list[Item] = []
    for statement in block:
        mark = marked(statement)
        if mark is None and items:
            items[-1].statements.append(statement)
            continue
        number = mark["number"] if mark else None
        items.append(Item([statement], None if number is None else int(number)))
    return items


def marked(statement: Statement) -> re.Match[str] | None:
    """The mark of a list right before a statement."""
    return _MARK.search(statement.passage.text[max(0, statement.start - 40) : statement.start])


def blocks(finder: Finder) -> Iterator[list[Statement]]:
    """The statements of each list, table or paragraph."""
    for _, block in groupby(finder.statements, key=lambda one: (id(one.passage), one.block)):
        yield list(block)


def around(block: Sequence[Statement]) -> frozenset[str]:
    """The words over a block, and of its keys."""
    keys = " ".join(dict.fromkeys(cell.key for cell in block[0].cells if cell.key))
    return frozenset(tokens(f"{block[0].context} {keys}"))


def weight(finder: Finder, wanted: Property, block: Sequence[Statement]) -> float:
    """How far a block is about a property: by its lead, headings and keys, or by the question where it has no words."""
    ranked = [finder.ranked[id(statement)] for statement in block]
    asked = max(one.confidence for one in ranked)
    if _chooses_by_number(finder, block):
        asked = max(asked, ENOUGH)
    elif all(one.missed for one in ranked):
        return 0.0
    if not wanted.words:
        return asked if asked >= ENOUGH else 0.0
    vocabulary, over = finder.ranking.vocabulary, around(block)
    met = sum(vocabulary.match(word, over) for word in wanted.words) / len(wanted.words)
    own = max(vocabulary.coverage(wanted.words, frozenset(statement.words)) for statement in block)
    if max(met, own) < 0.5 and asked < ENOUGH:
        return 0.0
    return max(met, own) + 0.3 * asked


def _chooses_by_number(finder: Finder, block: Sequence[Statement]) -> bool:
    """Whether a question chooses among the rows of a table by a number, and the table speaks of all else it says."""
    said = numbered(block, finder.question).words if block[0].kind == ROW else set[str]()
    asked = [term.word for term in finder.question.terms if not term.extra and term.word not in said]
    over = around(block)
    return bool(said) and all(finder.ranking.vocabulary.match(word, over) for word in asked)


def quoted(statement: Statement, value: Any) -> Filled:
    return Filled(value, [Cited(statement.passage, statement.quote)])
