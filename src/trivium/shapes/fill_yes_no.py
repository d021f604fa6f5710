"""Yes or no from what the evidence plainly says or denies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from trivium.language.claimed import Claim, says
from trivium.language.matching import alike
from trivium.language.statements import CODE, PAIR, ROW, Statement
from trivium.language.unsure import is_unsure
from trivium.language.yes_no import NO, YES, said_in
from trivium.search.segment import fold, tokens
from trivium.shapes.fill_asked import answered
from trivium.shapes.fill_evidence import About, Candidate, Filled, Finder, decide
from trivium.shapes.property import Property
from trivium.shapes.property_words import STATES

_COLON = re.compile(r"(?P<key>[^:：]{1,60})[:：]\s*(?P<value>\S+?)[.!。]?")
"""A sentence that is a key and its value: `Retryable: no.`"""
_MET, _ROW_MET, _MET_INSIDE = 0.7, 0.8, 0.4
"""The share of a claim's words that must be met, of a row, which stands among others like it, and inside."""
_NONE = re.compile(r"0+(?:[.,]0+)?")
_OPPOSITES = (
    ("allowed permitted possible accepted erlaubt gestattet permitido permis autorise 允许 可以",
     "forbidden prohibited banned disallowed impossible verboten untersagt prohibido interdit interdits interdite"
     " interdites 禁止"),
    ("included inklusive enthalten incluido inclus 包含", "excluded ausgeschlossen excluido exclu 不含"),
    ("enabled active open available", "disabled inactive closed unavailable"),
    ("required mandatory needed", "optional voluntary"),
    ("free kostenlos gratis gratuit 免费", "chargeable kostenpflichtig payant"),
    ("aktiv offen", "inaktiv geschlossen"),
)  # fmt: skip
_ALLOWS, _FORBIDS = (frozenset(fold(words).split()) for words in _OPPOSITES[0])


def yes_no_choice(options: Sequence[Any]) -> dict[bool, Any] | None:
    """What of these choices stands for yes and for no, when they are about nothing else; else None."""
    found: dict[bool, Any] = {}
    for option in options:
        word = fold(option) if isinstance(option, str) else option
        if word is True or (isinstance(word, str) and word in YES):
            found.setdefault(True, option)
        elif word is False or (isinstance(word, str) and word in NO):
            found.setdefault(False, option)
        elif word not in (None, "unknown", "unclear"):
            return None
    return found or None


def fill_yes_no(finder: Finder, wanted: Property, choice: dict[bool, Any] | None = None) -> Filled:
    """True or false, or the choice that stands for it, from what is plainly said; never from what may hold.

    Raises: NoEvidence.
    """
    terms = _proposition(finder, wanted)
    candidates = []
    if (asked := answered(finder, wanted)) is not None:
        candidates.append(Candidate(asked[0], About(asked[1], 2.0, 1.0), 2.0))
    if finder.alone and wanted.words and STATES.issuperset(wanted.words):
        boxed = [one for one in finder.statements if one.done is not None]
        candidates += [Candidate(one.done, About(one, 2.0, 1.0), 2.0) for one in boxed]
    for about in finder.about(wanted):
        plain = _plainly(about, finder, terms)
        if plain is not None:
            candidates.append(Candidate(plain[0], about, plain[1]))
    for statement in finder.statements:
        ranked = finder.ranked[id(statement)]
        if not ranked.missed and all(statement is not one.about.statement for one in candidates):
            about = About(statement, 0.0, 0.0)
            plain = _plainly(about, finder, terms)
            if plain is not None:
                candidates.append(Candidate(plain[0], about, plain[1]))
    if choice is not None:
        for one in candidates:
            one.value = choice.get(one.value)
        candidates = [one for one in candidates if one.value is not None]
    return decide(candidates, wanted, finder.question)


def _proposition(finder: Finder, wanted: Property) -> list[str]:
    """The words of what is claimed: the property's, and the question's when it asks for just that."""
    asked = [term.word for term in finder.question.terms if not term.extra]
    own = [*wanted.words, *(word for word in wanted.described if word not in wanted.words)]
    if not own or all(any(alike(word, term) for term in asked) for word in wanted.words):
        return list(dict.fromkeys([*wanted.words, *asked]))
    return own


def _plainly(about: About, finder: Finder, terms: list[str]) -> tuple[bool, float] | None:
    """What a statement says to a claim, and how surely; None when it does not plainly say anything."""
    statement = about.statement
    if about.cell is not None:
        said = said_in(about.cell.text)
        return None if said is None else (said, about.score + 1)
    if statement.kind == CODE or statement.text.endswith(("?", "？", "؟")) or is_unsure(statement, terms):
        return None
    if statement.kind in (ROW, PAIR):
        said = _in_cells(statement, finder, terms)
        if said is not None:
            return said, about.score + 1
        if _all_met(terms, [*_key(statement), *(cell.key for cell in statement.cells)], finder):
            return None  # the row is about it, and no cell of it says yes or no
    if (colon := _COLON.fullmatch(statement.text)) and (said := said_in(colon["value"])) is not None:
        return (said, about.score + 1) if _all_met(terms, [colon["key"]], finder) else None
    vocabulary = finder.ranking.vocabulary
    own = frozenset(statement.words)
    outside = frozenset(tokens(f"{statement.context} {statement.before}"))
    total = here = met = 0.0
    for term in terms:
        weight = vocabulary.weight(term)
        total += weight
        inside = vocabulary.match(term, own) or float(_opposed(term, own))
        here += weight * inside
        met += weight * max(inside, 0.8 * vocabulary.match(term, outside))
    if not total or met / total < (_ROW_MET if statement.kind == ROW else _MET) or here / total < _MET_INSIDE:
        return None

    def claimed(words: frozenset[str]) -> Claim:
        forbids = not words.isdisjoint(_FORBIDS) and not any(term in _FORBIDS or term in _ALLOWS for term in terms)
        against = [term for term in terms if not vocabulary.match(term, words) and _opposed(term, words)]
        spoken = [place for place, term in enumerate(terms) if term in against or vocabulary.match(term, words)]
        return Claim(frozenset(spoken), (len(against) + forbids) % 2 == 1)

    said = says(statement.text, claimed)
    return None if said is None else (said, round(met / total + 0.3 * here / total, 6))


def _in_cells(statement: Statement, finder: Finder, terms: list[str]) -> bool | None:
    """What the only cell of a row says that says yes or no, where its header and the other cells are what is claimed.

    None of something (`stock: 0`) says no.
    """
    cells = statement.cells
    said = []
    for cell in cells[len(_key(statement)) :]:
        one = False if _NONE.fullmatch(cell.text) else said_in(cell.text) if len(cell.text.split()) == 1 else None
        others = [other.text for other in cells if other is not cell and statement.kind == ROW]
        if one is not None and _all_met(terms, [*others, cell.key], finder):
            said.append(one)
    return said[0] if len(said) == 1 else None


def _key(statement: Statement) -> list[str]:
    """What a row is about: its first cell. A pair has nothing but its key and its value."""
    return [statement.cells[0].text] if statement.kind == ROW else []


def _all_met(terms: list[str], texts: Iterable[str], finder: Finder) -> bool:
    words = frozenset(token for text in texts for token in tokens(text))
    return bool(terms) and all(finder.ranking.vocabulary.match(term, words) for term in terms)


def _opposed(term: str, words: frozenset[str]) -> bool:
    if len(term) > 3 and not words.isdisjoint(f"{before}{term}" for before in ("un", "in", "im", "dis", "non", "non-")):
        return True
    for yes, no in _OPPOSITES:
        for one, other in ((yes, no), (no, yes)):
            if any(alike(term, word) for word in fold(one).split()):
                return not words.isdisjoint(fold(other).split())
    return False
