"""Texts from the evidence: names, dates, codes, reasons, choices, quoted statements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from trivium.models.denial import negated
from trivium.models.fill_evidence import About, Candidate, Filled, Finder, decide
from trivium.models.fill_number import bounds, distance, numbers_in, places_of
from trivium.models.language import silent_words
from trivium.models.matching import alike
from trivium.models.property import EMAIL, FREE, LINK, NAME, REASON, WHERE, Property
from trivium.models.ranges import is_end_of_range
from trivium.models.ranking import because
from trivium.models.shape import Validator
from trivium.models.statements import PAIR, ROW, Statement
from trivium.models.values import DATE, TIME, YEAR, Value, find_values, is_number_word
from trivium.search.segment import fold, tokens

_PROPER = re.compile(
    r"(?<![\w'’])[^\W\d_a-zà-ÿа-я][\w'’.-]*(?:\s+(?:[^\W\d_a-zà-ÿа-я][\w'’-]*|de|van|von|der|la|del|di|da|le))*"
)
_HAN_VALUE = re.compile("(?:是|为|為|叫|は)([^，。；、！？,;.!?]{2,20}?)(?:です|でした|$|[，。；、！？,;.!?])")
_BELONGS = re.compile(
    r"\b(?:of|in|at|for|from|near|to|on|des|vom|im|aus|bei|am|de|del|en|du|des|da|do|di|a|au|van|te|в|на|из) $"
)
"""What stands before the name of that to which somebody belongs."""
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"https?://[^\s)>\]\"']+")
_CODE_WORD = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w]+(?:[-./][\w]+)*\b|#\d+")
_NAMING = frozenset(["name", "who", "title", "nombre", "nom", "nome", "naam", "имя", "名", "名字", "名前"])
"""Words of a property that is what an element of an array is called, rather than something of it."""
_CODE_NAMES = frozenset(["id", "code", "sku", "key", "ticket", "reference", "number", "nr", "kennung", "codigo"])


def fill_text(finder: Finder, wanted: Property) -> Filled:
    check = Validator(bounds(wanted.schema))
    if finder.asks_name(wanted):
        wanted = replace(wanted, role=NAME)
    abouts = finder.about(wanted)
    if not abouts and wanted.role in (FREE, REASON, WHERE):
        abouts = finder.about(_asked(wanted))
    if wanted.role == WHERE:
        abouts = [about for about in abouts if about.statement.passage.source][:1]
    candidates = [
        Candidate(text, about, round(about.score + bonus, 6))
        for about in abouts
        for text, bonus in _texts(about, finder, wanted)
        if check.conforms(text)
    ]
    if wanted.role in (FREE, REASON) and candidates:
        candidates = [max(candidates, key=lambda one: one.score)]
    if wanted.role == NAME:  # of the names in one statement, the nearest
        best: dict[int, Candidate] = {}
        for one in sorted(candidates, key=lambda one: -one.score):
            best.setdefault(id(one.about.statement), one)
        candidates = list(best.values())
    return decide(candidates, wanted, finder.question)


def _asked(wanted: Property) -> Property:
    """The property as one about which the question says all."""
    return Property(wanted.path, wanted.schema, role=wanted.role)


def _texts(about: About, finder: Finder, wanted: Property) -> Iterator[tuple[str, float]]:
    """The texts in a statement that a property may mean, each with what it adds to the score."""
    statement, text = about.statement, about.text
    form = wanted.schema.get("format")
    if wanted.dated or form in ("date", "date-time"):
        yield from _dates(about, form, wanted, finder)
        if form or about.cell is None:
            return
    if form == "time":
        yield from _times(about, wanted, finder)
    elif wanted.role == EMAIL:
        yield from ((match[0], 0.0) for match in _EMAIL.finditer(text))
    elif wanted.role == LINK:
        yield from ((match[0].rstrip(".,;"), 0.0) for match in _URL.finditer(text))
    elif wanted.role == WHERE:
        yield statement.passage.source, 0.0
    elif "pattern" in wanted.schema or _CODE_NAMES & set(tokens(wanted.path.rpartition(".")[2].replace("_", " "))):
        yield from _codes(about, wanted)
    elif about.cell is not None:
        yield text, 0.0
    elif wanted.role == REASON:
        reason = because(text)
        if reason:
            yield reason, 0.2
    elif wanted.role == NAME and finder.alone and statement.kind == PAIR:
        yield statement.cells[0].key, 0.0
    elif wanted.role == NAME and (about.met or not finder.alone or _NAMING.intersection(wanted.words)):
        yield from _names(statement, finder, wanted)
    elif wanted.role == NAME:
        return
    elif wanted.kinds and wanted.words:
        yield from _quantities(statement, wanted, finder)
    else:
        yield text, 0.0


def _times(about: About, wanted: Property, finder: Finder) -> Iterator[tuple[str, float]]:
    near = places_of(about.text, wanted)
    values = _ends(find_values(about.text, about.statement.language), about, wanted, finder, TIME)
    yield from ((value.iso, -_away(value, near)) for value in values)


def _away(value: Value, near: list[int]) -> float:
    """How far a time or day is from the property's words, which stand before it rather than behind it."""
    return distance(value, near) + (0.1 if near and value.start < min(near) else 0.0)


def _ends(values: list[Value], about: About, wanted: Property, finder: Finder, *kinds: str) -> list[Value]:
    """Of the values of some kinds the end of a range that a property asks for, else those said of what is asked."""
    bound = is_end_of_range(wanted.words, about.text, values)
    if bound is not None:
        return [bound] if bound.kind in kinds else []
    values = [value for value in values if value.kind in kinds]
    own = finder.told_of(about.text, [(value.start, value.stop) for value in values], wanted)
    return [value for value in values if (value.start, value.stop) in own]


def _dates(about: About, form: object, wanted: Property, finder: Finder) -> Iterator[tuple[str, float]]:
    near: list[int] = [] if about.cell is not None else places_of(about.text, wanted)
    for value in _ends(find_values(about.text, about.statement.language), about, wanted, finder, DATE, YEAR):
        if value.kind == DATE and not value.iso.startswith("--") and (len(value.iso) == 10 or not form):
            yield value.iso, -_away(value, near)
        elif value.kind == YEAR and not form:
            yield value.iso, -0.1


def _codes(about: About, wanted: Property) -> Iterator[tuple[str, float]]:
    if "pattern" not in wanted.schema and about.cell is not None and len(about.cell.text.split()) <= 3:
        yield about.cell.text, 0.0
        return
    pattern = wanted.schema.get("pattern")
    words = _CODE_WORD.finditer(about.text) if pattern is None else re.finditer(r"[^\s,;()\[\]\"']+", about.text)
    yield from ((match[0].strip(".:!?"), 0.0) for match in words)


def _quantities(statement: Statement, wanted: Property, finder: Finder) -> Iterator[tuple[str, float]]:
    """A value as it is written, for a text whose name asks for an amount."""
    near = places_of(statement.text, wanted)
    fitting = [value for value in statement.values if value.kind in wanted.kinds]
    own = finder.told_of(statement.text, [(value.start, value.stop) for value in fitting], wanted)
    for value in fitting:
        if (value.start, value.stop) in own:
            yield statement.text[value.start : value.stop], -distance(value, near)


def _names(statement: Statement, finder: Finder, wanted: Property) -> Iterator[tuple[str, float]]:
    """The names in a statement, the one nearest to the property's words first."""
    text = statement.text
    if not re.search("[A-Za-zÀ-ÿА-я]", text):
        yield from ((match[1].strip(), 0.0) for match in _HAN_VALUE.finditer(text))
        return
    known = {*tokens(finder.question.text), *wanted.words, *silent_words(statement.words)}
    near = places_of(text, wanted)
    found = [span for match in _PROPER.finditer(text) if (span := _trimmed(match, known))]
    own = finder.told_of(text, found, wanted)
    for start, stop in own if statement.kind != ROW else ():
        words = text[start:stop].split()
        if not is_number_word(words[0]):
            away = min((abs(start - at) for at in near), default=0)
            behind = 0.2 if _BELONGS.search(fold(text[:start])) else 0.0
            first = 0.1 if start == 0 and len(words) < 2 else 0.0
            yield " ".join(words), 0.05 * (len(words) > 1) - min(away, 200) / 200 * 0.2 - first - behind


def _trimmed(match: re.Match[str], known: Collection[str]) -> tuple[int, int] | None:
    """Where a name stands without words that the question has, and without what is no name, at its ends."""
    words = list(re.finditer(r"\S+", match[0].rstrip(".,;:'’-")))
    while words and (words[-1][0][0].islower() or not set(tokens(words[-1][0])).difference(known)):
        words.pop()
    while words and not set(tokens(words[0][0])).difference(known):
        words.pop(0)
    return (match.start() + words[0].start(), match.start() + words[-1].end()) if words else None


def fill_choice(finder: Finder, wanted: Property, options: Sequence[Any]) -> Filled:
    """The one of given values that the evidence says. Raises: NoEvidence."""
    numbers = [option for option in options if isinstance(option, (int, float)) and not isinstance(option, bool)]
    candidates: list[Candidate] = []
    for about in finder.about(wanted) or finder.about(_asked(wanted)):
        candidates += [Candidate(option, about, about.score) for option in choices_in(about.text, options)]
        if numbers:
            found = numbers_in(about, wanted, False, finder)
            candidates += [Candidate(number, about, score) for number, score in found if number in numbers]
    return decide(candidates, wanted, finder.question)


def choices_in(text: str, options: Sequence[Any]) -> list[str]:
    """The choices that a text says, the longer one where one holds another; none where it denies something."""
    found = [option for option in options if isinstance(option, str) and _occurs(option, text)]
    if negated(text):
        return []
    return [one for one in found if not any(one != other and fold(one) in fold(other) for other in found)]


def _occurs(option: str, text: str) -> bool:
    """Whether a choice stands in a text, in one of its forms."""
    if len(option) == 1 and option.isalpha() and option.isascii():  # such as a grade, not such as "a"
        return text == option or bool(re.search(rf"(?<=\s){option.upper()}(?![\w'’])", text))
    wanted, there = tokens(option.replace("_", " "), query=True), tokens(text)
    return bool(wanted) and all(any(alike(word, other) >= 0.9 for other in there) for word in wanted)
