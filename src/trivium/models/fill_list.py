"""Arrays of a shape from quoted evidence: the rows of a table, the items of a list, enumerations in a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from trivium.models.composer import Cited
from trivium.models.fill_evidence import About, Filled, Finder, NoEvidence
from trivium.models.fill_number import numbers_in
from trivium.models.fill_text import choices_in
from trivium.models.property import Property
from trivium.models.ranking import ENOUGH
from trivium.models.shape import Validator
from trivium.models.statements import CODE, ITEM, PAIR, ROW, Statement
from trivium.models.table_rows import that_hold, words_of
from trivium.search.segment import tokens

FillOne = Callable[[Finder, str], Filled]

_PARTS = re.compile(r"\s*(?:[,;，；、]|\s(?:and|or|und|oder|y|o|et|ou|e|en|и|или)\s|和|及|以及|と)\s*")
_LONGEST_PART = 4


def fill_list(finder: Finder, wanted: Property, items: dict[str, Any], fill_one: FillOne) -> Filled:
    """An array; `fill_one` fills a schema from a few statements. An array of nothing is no evidence.

    Raises: NoEvidence.
    """
    if items.get("type") == "object" or "properties" in items:
        found = _objects(finder, wanted, items, fill_one)
    elif "enum" in items:
        found = _choices(finder, wanted, items)
    elif items.get("type") in ("number", "integer"):
        found = _numbers(finder, wanted, items)
    else:
        found = _texts(finder, wanted, items)
    return _joined(wanted, found)


def _joined(wanted: Property, found: Sequence[Filled]) -> Filled:
    """The elements as one array, each once, no more than the shape takes."""
    kept: list[Filled] = []
    for one in found:
        if all(one.value != other.value for other in kept):
            kept.append(one)
    most = wanted.schema.get("maxItems")
    warnings = []
    if isinstance(most, int) and len(kept) > most:
        warnings.append(("list_cut", wanted.path, f"{wanted.path} takes {most} elements; {len(kept)} were found."))
        kept = kept[:most]
    if len(kept) < max(1, wanted.schema.get("minItems") or 0):
        raise NoEvidence(wanted.path)
    cited = [cited for one in kept for cited in one.cited]
    return Filled([one.value for one in kept], cited, [*warnings, *(told for one in kept for told in one.warnings)])


# --- objects --------------------------------------------------------------------------------------


def _objects(finder: Finder, wanted: Property, items: dict[str, Any], fill_one: FillOne) -> list[Filled]:
    """One object for each row of a table, or item of a list, that is about the property; else for each statement."""
    element = f"{wanted.path}[]"
    best: tuple[float, list[Filled]] = 0.0, []
    for block in _blocks(finder):
        if block[0].kind not in (ROW, ITEM, PAIR):
            continue
        about = _weight(finder, wanted, block)
        if about <= 0:
            continue
        if block[0].kind == ROW:
            block = that_hold(block, finder.question).rows
        filled = list(_each(finder, element, block, fill_one))
        if filled and len(filled) < len(block):
            filled[0] = _incomplete(filled, wanted, len(block))
        if len(filled) * 2 >= len(block) and (about, len(filled)) > (best[0], len(best[1])):
            best = about, filled
    if best[1]:
        return best[1]
    singles = [about.statement for about in finder.about(wanted)] or [
        statement for statement in finder.statements if finder.ranked[id(statement)].confidence >= ENOUGH
    ]
    return list(_each(finder, element, singles, fill_one))


def _each(finder: Finder, element: str, statements: Sequence[Statement], fill_one: FillOne) -> Iterator[Filled]:
    for statement in statements:
        try:
            filled = fill_one(finder.within(statement), element)
        except NoEvidence:
            continue
        if statement.kind == ROW or not _says_twice(filled.value):
            yield filled


def _incomplete(filled: Sequence[Filled], wanted: Property, number: int) -> Filled:
    """The first element, with a warning that not every row or item could be made one."""
    message = (
        f"{wanted.path or 'The array'} has {len(filled)} of {number} rows or items: the others lack a required value."
    )
    first = filled[0]
    return Filled(first.value, first.cited, [*first.warnings, ("list_incomplete", wanted.path, message)])


def _says_twice(value: Any) -> bool:
    """Whether an object has one text for two properties: where no word tells them apart, neither is known."""
    texts = [text for text in value.values() if isinstance(text, str)] if isinstance(value, dict) else []
    return len(set(texts)) < len(texts)


def _blocks(finder: Finder) -> Iterator[list[Statement]]:
    """The statements of each list, table or paragraph."""
    for _, block in groupby(finder.statements, key=lambda one: (id(one.passage), one.block)):
        yield list(block)


def _weight(finder: Finder, wanted: Property, block: Sequence[Statement]) -> float:
    """How far a block is about a property: by its lead, headings and keys, or by the question where it has no words."""
    ranked = [finder.ranked[id(statement)] for statement in block]
    asked = max(one.confidence for one in ranked)
    if all(one.missed for one in ranked):
        return 0.0
    if not wanted.words:
        return asked if asked >= ENOUGH else 0.0
    around = frozenset(tokens(f"{block[0].context} {' '.join(cell.key for cell in block[0].cells)}"))
    vocabulary = finder.ranking.vocabulary
    met = sum(vocabulary.match(word, around) for word in wanted.words) / len(wanted.words)
    own = max(vocabulary.coverage(wanted.words, frozenset(statement.words)) for statement in block)
    if max(met, own) < 0.5 and asked < ENOUGH:
        return 0.0
    return max(met, own) + 0.3 * asked


# --- scalars --------------------------------------------------------------------------------------


def _texts(finder: Finder, wanted: Property, items: dict[str, Any]) -> list[Filled]:
    check = Validator({key: items[key] for key in ("pattern", "minLength", "maxLength") if key in items})
    if tabled := [one for one in _tabled(finder, wanted) if check.conforms(one.value)]:
        return tabled
    weight, listed = 0.0, list[Filled]()
    for block in _blocks(finder):
        if block[0].kind in (ITEM, PAIR) and len(block) > 1 and _leads(finder, wanted, block):
            here = _weight(finder, wanted, block)
            if here > weight:
                weight, listed = here, [_quoted(one, one.text) for one in block if check.conforms(one.text)]
    for about in finder.about(wanted):
        if about.statement.kind == CODE or about.score <= weight:
            continue
        if about.cell is None and about.statement.kind == ROW:
            continue  # its cells are no enumeration
        parts = [part for part in _enumerated(about) if check.conforms(part)]
        if len(parts) > 1 or (parts and about.cell is not None):
            return [_quoted(about.statement, part) for part in parts]
    return listed


def _tabled(finder: Finder, wanted: Property) -> list[Filled]:
    """What the rows of a table are about, or what they say in the column asked for, of those rows that are asked for.

    Only where each word of the question is accounted for, and none of them names a row.
    """
    question = finder.question
    if finder.alone or question.said:
        return []
    best: tuple[float, list[Filled]] = 0.0, []
    for block in _blocks(finder):
        if block[0].kind != ROW or any(words_of(row.cells[0].text, question.words) for row in block):
            continue
        held = that_hold(block, question)
        asked = [term.word for term in question.terms if not term.extra and term.word not in held.words]
        keys = list(dict.fromkeys(cell.key for row in block for cell in row.cells if cell.key))
        around = frozenset(tokens(f"{block[0].context} {' '.join(keys)}"))
        vocabulary = finder.ranking.vocabulary
        if not all(vocabulary.match(word, around) for word in asked) or not (asked or held.words):
            continue
        column = next((key for key in keys if words_of(key, wanted.words or asked)), "")
        cells = [next((cell for cell in row.cells if cell.key == column), row.cells[0]) for row in held.rows]
        about = _weight(finder, wanted, block)
        if about > best[0]:
            best = about, [_quoted(row, cell.text) for row, cell in zip(held.rows, cells, strict=True)]
    return best[1]


def _leads(finder: Finder, wanted: Property, block: Sequence[Statement]) -> bool:
    """Whether what stands over a list says that its items are what is asked for."""
    statement = block[0]
    over = frozenset(tokens(f"{statement.lead} {' '.join(statement.headings[-1:])}"))
    words = wanted.words or finder.question.words
    return sum(finder.ranking.vocabulary.match(word, over) for word in words) >= 0.5 * len(words)


def _enumerated(about: About) -> list[str]:
    """The parts of an enumeration: of a cell, or of a sentence that lists short things."""
    text = about.text.rstrip(" .。")
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
        return []
    first = run[0].split()
    capital = run[1][:1].isupper()
    start = next((n for n, word in enumerate(first) if n and word[:1].isupper() and capital), len(first) - 1)
    last = run[-1].split()
    return [" ".join(first[start:]), *run[1:-1], *([run[-1]] if len(last) <= _LONGEST_PART else [last[0]])]


def _choices(finder: Finder, wanted: Property, items: dict[str, Any]) -> list[Filled]:
    found: list[Filled] = []
    abouts = finder.about(wanted) or finder.about(Property(wanted.path, wanted.schema))
    for about in abouts:
        found += [_quoted(about.statement, option) for option in choices_in(about.text, items["enum"])]
    return found


def _numbers(finder: Finder, wanted: Property, items: dict[str, Any]) -> list[Filled]:
    """All numbers of the best statement, or of its list or table."""
    whole = items.get("type") == "integer"
    abouts = finder.about(wanted)
    if not abouts:
        return []
    best = abouts[0]
    together = [one for one in abouts if one.statement.passage is best.statement.passage]
    same = [one for one in together if one.statement.block == best.statement.block and one.score >= best.score - 0.1]
    check = Validator({key: value for key, value in items.items() if key != "type"})
    return [
        _quoted(one.statement, number)
        for one in same
        for number, _ in numbers_in(one, wanted, whole)
        if check.conforms(number)
    ]


def _quoted(statement: Statement, value: Any) -> Filled:
    return Filled(value, [Cited(statement.passage, statement.quote)])
