"""Arrays of a shape from quoted evidence: the rows of a table, the items of a list, sections, enumerations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from trivium.answers.ranking import ENOUGH
from trivium.answers.table_rows import that_hold, words_of
from trivium.language.matching import alike
from trivium.language.statements import ITEM, PAIR, ROW, SENTENCE, Statement
from trivium.language.unsure import unsure_text
from trivium.search.segment import tokens
from trivium.shapes.fill_evidence import Filled, Finder, NoEvidence
from trivium.shapes.fill_number import numbers_in
from trivium.shapes.fill_sections import is_kind_of, sections_about
from trivium.shapes.fill_strings import fill_strings
from trivium.shapes.fill_text import choices_in
from trivium.shapes.list_blocks import blocks, items_of, marked, quoted, weight
from trivium.shapes.property import Property, name_words, read_property
from trivium.shapes.shape import Validator

_FORMED = frozenset(["enum", "const", "format", "pattern"])
FillOne = Callable[[Finder, str], Filled]


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
        found = fill_strings(finder, wanted, items)
    return _joined(wanted, found, items)


def _joined(wanted: Property, found: Sequence[Filled], items: dict[str, Any]) -> Filled:
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
        raise NoEvidence(wanted.path, of=_what(items))
    cited = [cited for one in kept for cited in one.cited]
    return Filled([one.value for one in kept], cited, [*warnings, *(told for one in kept for told in one.warnings)])


def _what(items: dict[str, Any]) -> str:
    """What the elements of an array are, for who reads that there are none."""
    names = [f"`{name}`" for name in items.get("properties", {})]
    if names:
        return f"the array of objects with {', '.join(names)}"
    kind = items.get("type")
    return f"the array of {kind}s" if isinstance(kind, str) else "the array"


# --- objects --------------------------------------------------------------------------------------


class _Elements(Struct):
    """What could be made of the rows, items or sections of one block: the elements, and why others are none."""

    weight: float
    filled: list[Filled]
    faults: list[NoEvidence]

    @property
    def number(self) -> int:
        return len(self.filled) + len(self.faults)


def _objects(finder: Finder, wanted: Property, items: dict[str, Any], fill_one: FillOne) -> list[Filled]:
    """One object for each row of a table, item of a list or section that is about the property; else each statement.

    Raises: NoEvidence, which names the property that most rows lack, where there are such rows.
    """
    element = f"{wanted.path}[]"
    tried: list[_Elements] = []
    seen: set[int] = set()
    records: list[tuple[float, list[Statement]]] = []
    for block in blocks(finder):
        if block[0].kind not in (ROW, ITEM, PAIR):
            continue
        about = weight(finder, wanted, block)
        if about <= 0:
            continue
        if _is_record(block, items):
            records.append((about, block))
            continue
        if block[0].kind == ROW:
            chosen = [[row] for row in _named(that_hold(block, finder.question).rows, finder)]
        else:
            chosen = _of_kind(finder, [item.statements for item in items_of(block)], items)
        called = _called(finder, block, items) if block[0].kind != ROW else ""
        tried.append(_each(finder, about, element, chosen, fill_one, called))
        seen |= {id(one) for one in block} if len(block) > 1 else set()
    sections = sections_about(finder, items)
    if records and not sections:
        most = max(about for about, _ in records)
        tried.append(_each(finder, most, element, [block for _, block in records], fill_one))
        seen |= {id(one) for _, block in records for one in block}
    good = [one for one in tried if one.filled and len(one.filled) * 2 >= one.number]
    if good:
        best = max(good, key=lambda one: (one.weight, len(one.filled)))
        return _told(best, wanted)
    if sections:
        made = _each(finder, 1.0, element, sections, fill_one)
        if made.filled and len(made.filled) * 2 >= made.number:
            return _told(made, wanted)
        tried.append(made)
    singles = [about.statement for about in finder.about(wanted)] or [
        statement for statement in finder.statements if finder.ranked[id(statement)].confidence >= ENOUGH
    ]
    rest = [[one] for one in singles if id(one) not in seen and not _is_open(one)]
    made = _each(finder, 0.0, element, rest, fill_one)
    if not made.filled and (lacking := [one for one in tried if one.faults]):
        raise _lacks(wanted, items, max(lacking, key=lambda one: (len(one.filled), one.weight)))
    return made.filled


def _is_open(statement: Statement) -> bool:
    """Whether a sentence tells what is planned, over or so in some cases: it is no element of what there is."""
    return statement.kind == SENTENCE and unsure_text(statement.text, statement.language)


def _each(
    finder: Finder,
    about: float,
    element: str,
    chosen: Sequence[Sequence[Statement]],
    fill_one: FillOne,
    called: str = "",
) -> _Elements:
    made = _Elements(about, [], [])
    for statements in chosen:
        try:
            filled = fill_one(finder.within(*statements, called=called), element)
        except NoEvidence as fault:
            made.faults.append(fault)
            continue
        if statements[0].kind == ROW or not _says_twice(filled.value):
            made.filled.append(filled)
        else:
            made.faults.append(NoEvidence(element))
    return made


def _is_record(block: Sequence[Statement], items: dict[str, Any]) -> bool:
    """Whether lines of the form `key: value` tell one element together: their keys are properties of it."""
    if block[0].kind != PAIR or any(mark is not None for mark in map(marked, block)):
        return False
    names = [name_words(name) for name in items.get("properties", {})]
    return any(name_words(cell.key) in names for one in block for cell in one.cells)


def _called(finder: Finder, block: Sequence[Statement], items: dict[str, Any]) -> str:
    """The property that an item is as a whole: the one that is asked for, or the only one of which no item speaks."""
    texts = {
        name: read_property(name, schema)
        for name, schema in items.get("properties", {}).items()
        if isinstance(schema, dict) and "string" in str(schema.get("type")) and not _FORMED & set(schema)
    }
    over = frozenset(tokens(f"{block[0].lead} {' '.join(block[0].headings[-1:])}")) | set(finder.question.words)
    vocabulary = finder.ranking.vocabulary
    asked = [name for name, read in texts.items() if any(alike(word, one) for word in read.words for one in over)]
    plain = [name for name, read in texts.items() if not read.words]
    words = frozenset(word for statement in block for word in statement.words)
    unsaid = [name for name, read in texts.items() if not vocabulary.coverage(read.words, words)]
    return next((names[0] for names in (asked, plain, unsaid) if len(names) == 1), "")


def _named(rows: list[Statement], finder: Finder) -> list[Statement]:
    """Of the rows of a table those whose first cell a question for several names, where it names any."""
    named = [row for row in rows if words_of(row.cells[0].text, finder.question.words)]
    return named if len(named) > 1 or (named and finder.question.lists) else rows


def _of_kind(finder: Finder, chosen: list[list[Statement]], items: dict[str, Any]) -> list[list[Statement]]:
    """Of items those that say themselves to be what is asked for, where some do: flights, but no hotel among them."""
    names = list(items.get("properties", {}))
    for term in finder.question.terms:
        if term.extra or not is_kind_of(term.word, names):
            continue
        vocabulary = finder.ranking.vocabulary
        own = [item for item in chosen if any(vocabulary.match(term.word, frozenset(one.words)) for one in item)]
        if own and len(own) * 2 >= len(chosen):
            return own
    return chosen


def _lacks(wanted: Property, items: dict[str, Any], made: _Elements) -> NoEvidence:
    """Why most rows are no elements: the property that they lack."""
    names = [fault.path.rpartition(".")[2] for fault in made.faults]
    name = max(dict.fromkeys(names), key=names.count)
    where = f"{names.count(name)} of {made.number} rows or items"
    told = f"no evidence for `{name}` in {where}" if name and not name.endswith("[]") else ""
    return NoEvidence(wanted.path, f"{told} of `{wanted.path}`" if told and wanted.path else told, of=_what(items))


def _told(made: _Elements, wanted: Property) -> list[Filled]:
    """The elements, the first with a warning where not every row or item could be made one."""
    if not made.faults:
        return made.filled
    message = (
        f"{wanted.path or 'The array'} has {len(made.filled)} of {made.number} rows or items: the others lack a"
        f" required"
        " value."
    )
    first = made.filled[0]
    warned = Filled(first.value, first.cited, [*first.warnings, ("list_incomplete", wanted.path, message)])
    return [warned, *made.filled[1:]]


def _says_twice(value: Any) -> bool:
    """Whether an object has one text for two properties: where no word tells them apart, neither is known."""
    texts = [text for text in value.values() if isinstance(text, str)] if isinstance(value, dict) else []
    return len(set(texts)) < len(texts)


# --- scalars --------------------------------------------------------------------------------------


def _choices(finder: Finder, wanted: Property, items: dict[str, Any]) -> list[Filled]:
    found: list[Filled] = []
    abouts = finder.about(wanted) or finder.about(Property(wanted.path, wanted.schema))
    for about in abouts:
        found += [quoted(about.statement, option) for option in choices_in(about.text, items["enum"])]
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
        quoted(one.statement, number)
        for one in same
        for number, _ in numbers_in(one, wanted, whole)
        if check.conforms(number)
    ]
