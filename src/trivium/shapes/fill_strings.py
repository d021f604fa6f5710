"""Arrays of texts from quoted evidence: columns of tables, items and steps of lists, enumerations in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from trivium.answers.row_numbers import numbered
from trivium.answers.table_rows import that_hold, words_of
from trivium.language.languages import silent_words
from trivium.language.matching import alike
from trivium.language.statements import CODE, ITEM, PAIR, ROW, Statement
from trivium.search.segment import fold, tokens
from trivium.search.sentences import sentences
from trivium.shapes.fill_evidence import About, Filled, Finder
from trivium.shapes.list_blocks import Item, around, blocks, items_of, quoted, weight
from trivium.shapes.property import Property
from trivium.shapes.shape import Validator

_PARTS = re.compile(r"\s*(?:[,;，；、]|\s(?:and|or|und|oder|y|o|et|ou|e|en|и|или)\s|和|及|以及|と)\s*")
_LONGEST_PART = 4
_WHICH = re.compile(
    r"(?:which|what|welche\w*|was fur|quels|quelles|que|cuales|quali|quais|welke|какие|какими)\s(?:(?:sorts?"
    r"|kinds?) of )?"
    r"(?P<kind>\w+)"
)
_STEPS = frozenset(
    fold(
        "step steps procedure instruction instructions schritt schritte ablauf anleitung vorgehen etape etapes marche"
        " procedure pasos paso procedimiento passi passo procedura passos stappen шаги шаг порядок 步骤 手順 流程"
    ).split()
)
_IDS = frozenset(["id", "nr", "no", "num", "number", "uid", "uuid", "index", "pos"])
_CALLED = frozenset(
    fold("name title label titel bezeichnung titre nom titulo nombre titolo nome naam 名称 姓名 标题").split()
)
_ALL_TOLD = 0.75
"""The share of what a question says that must stand over a list of steps, so that they are its own."""


def fill_strings(finder: Finder, wanted: Property, items: dict[str, Any]) -> list[Filled]:
    """The elements of an array of texts."""
    check = Validator({key: items[key] for key in ("pattern", "minLength", "maxLength") if key in items})
    if tabled := [one for one in _tabled(finder, wanted) if check.conforms(one.value)]:
        return tabled
    if steps := [one.quoted for one in _steps(finder, wanted) if check.conforms(one.text)]:
        return steps
    best, listed = 0.0, list[Filled]()
    led = list[Statement]()
    for block in blocks(finder):
        if block[0].kind in (ITEM, PAIR) and len(block) > 1 and _leads(finder, wanted, block):
            here = weight(finder, wanted, block)
            led += block if here > 0 else []
            if here > best:
                best, listed = here, [one.quoted for one in items_of(block) if check.conforms(one.text)]
    for about in finder.about(wanted) or _of_kind(finder, wanted):
        if about.statement.kind == CODE or about.score <= best or any(about.statement is one for one in led):
            continue
        if about.cell is None and about.statement.kind == ROW:
            continue  # its cells are no enumeration
        if about.statement.kind == ROW and about.cell == about.statement.cells[0]:
            continue  # what one row is about is not all that is asked for
        parts = [part for part in _enumerated(about, wanted, finder) if check.conforms(part)]
        if len(parts) > 1 or (parts and about.cell is not None):
            return [quoted(about.statement, part) for part in parts]
    return listed


def _of_kind(finder: Finder, wanted: Property) -> list[About]:
    """What a question is answered by that asks `which languages`: what lists some need not call them so."""
    asked = _WHICH.search(fold(finder.question.text))
    words = {asked["kind"]} if asked else set[str]()
    if finder.alone or not words or not all(any(alike(word, other) for other in words) for word in wanted.words):
        return []
    rest = finder.without(words)
    found = rest.about(replace(wanted, words=[])) if rest.question.terms else []
    return [one for one in found if one.cell is None and one.statement.kind not in (ROW, PAIR)]


def _tabled(finder: Finder, wanted: Property) -> list[Filled]:
    """What the rows of a table are about, or what they say in the column asked for, of those rows that are asked for.

    Only where each word of the question is accounted for, and none of them names a row.
    """
    question = finder.question
    if finder.alone:
        return []
    best: tuple[float, list[Filled]] = 0.0, []
    for block in blocks(finder):
        if block[0].kind != ROW or any(words_of(row.cells[0].text, question.words) for row in block):
            continue
        if not question.said <= numbered(block, question).said:
            continue
        held = that_hold(block, question)
        asked = [term.word for term in question.terms if not term.extra and term.word not in held.words]
        keys = list(dict.fromkeys(cell.key for row in block for cell in row.cells if cell.key))
        over = around(block) | frozenset(tokens(" ".join(keys)))
        vocabulary = finder.ranking.vocabulary
        if not all(vocabulary.match(word, over) for word in asked) or not (asked or held.words):
            continue
        column = next((key for key in keys if words_of(key, wanted.words or asked)), "")
        column = column or _naming(keys)
        cells = [next((cell for cell in row.cells if cell.key == column), row.cells[0]) for row in held.rows]
        about = weight(finder, wanted, block)
        if about > best[0]:
            best = about, [quoted(row, cell.text) for row, cell in zip(held.rows, cells, strict=True)]
    return best[1]


def _naming(keys: Sequence[str]) -> str:
    """The column that says what a row is called, where the first one is but a number of it."""
    if not keys or not _IDS.issuperset(tokens(keys[0])):
        return ""
    return next((key for key in keys[1:] if not _CALLED.isdisjoint(tokens(key))), "")


def _steps(finder: Finder, wanted: Property) -> list[Item]:
    """The steps of the one numbered list over which stands what the question asks how to do."""
    question = finder.question
    named = _STEPS & {*(wanted.words or question.words)}
    if finder.alone or not (named or (question.kind == "how" and not wanted.words)):
        return []
    asked = [term.word for term in question.terms if not term.extra and term.word not in _STEPS]
    found: list[tuple[float, list[Item]]] = []
    for block in blocks(finder):
        items = items_of(block) if block[0].kind in (ITEM, PAIR) else []
        if len(items) < 2 or any(item.number is None for item in items):
            continue
        over = frozenset(tokens(block[0].context))
        met = finder.ranking.vocabulary.coverage(asked, over) if asked else 0.0
        if met >= _ALL_TOLD:
            found.append((round(met, 6), items))
    most = max((met for met, _ in found), default=0.0)
    best = [items for met, items in found if met == most]
    return best[0] if len(best) == 1 else []


def _leads(finder: Finder, wanted: Property, block: Sequence[Statement]) -> bool:
    """Whether what stands over a list says that its items are what is asked for."""
    statement = block[0]
    over = frozenset(tokens(f"{statement.lead} {' '.join(statement.headings[-1:])}"))
    words = wanted.words or finder.question.words
    return sum(finder.ranking.vocabulary.match(word, over) for word in words) >= 0.5 * len(words)


def _enumerated(about: About, wanted: Property, finder: Finder) -> list[str]:
    """The parts of an enumeration: of a cell, or of a sentence that lists short things."""
    text = about.text if about.cell is None else about.text[slice(*next(iter(sentences(about.text)), (0, None)))]
    text = text.rstrip(" .。")
    parts = [part for part in _PARTS.split(text) if part]
    if about.cell is not None:
        return parts
    runs: list[list[str]] = [[]]
    for part in parts:
        runs[-1].append(part)
        if len(part.split()) > _LONGEST_PART:
            runs.append([part])
    run = max(runs, key=len)
    if len(run) < 3:
        return _two(run, wanted, finder)
    first = run[0].split()
    capital = run[1][:1].isupper()
    start = next((n for n, word in enumerate(first) if n and word[:1].isupper() and capital), len(first) - 1)
    last = run[-1].split()
    return [" ".join(first[start:]), *run[1:-1], *([run[-1]] if len(last) <= _LONGEST_PART else [last[0]])]


def _two(run: Sequence[str], wanted: Property, finder: Finder) -> list[str]:
    """The two things at the end of a sentence that is asked for several: `Carol speaks Japanese and Portuguese`.

    Each is one word, or each begins with a capital.
    """
    if len(run) != 2:
        return []
    first, second = run[0].split(), run[1].split()
    names = second[0][:1].isupper()
    start = len(first) - 1
    while names and start > 1 and first[start - 1][:1].isupper():
        start -= 1
    if not first or start < 1 or len(second) > (_LONGEST_PART if names else 1):
        return []
    if first[start][:1].isupper() is not names or not set(tokens(first[start])).difference(
        silent_words(tokens(run[0]))
    ):
        return []
    return [" ".join(first[start:]), run[1]]
