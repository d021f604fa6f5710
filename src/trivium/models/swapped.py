"""Values and names that a claim takes from what is said of something else.

Where `Nurses receive 29 days. Doctors receive 32 days.` is all that is known, `Nurses receive 32 days` has only words
and values that stand there. It is told by the two statements together: one has the value and lacks the subject, the
other has the subject, is otherwise like it, and gives another value of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from trivium.language.languages import silent_words
from trivium.language.statements import CODE, Statement
from trivium.language.values import LABEL, Value, find_values, is_number_word
from trivium.search.segment import tokens

NAME = re.compile(r"[^\W\d_a-z][\w'’-]*[^\W\dA-Z_][\w'’-]*(?: [^\W\d_a-z][\w'’-]*[^\W\dA-Z_][\w'’-]*)+")
"""A proper name of several words."""
_CLAUSE = re.compile(r"[,;:.!?，；。、](?!\d)|\b(?:and|while|but|und|aber|et|mais|y|pero|e|ma|en|maar|и|а)\b")
_BACK = re.compile(
    r"\b(?:it|its|they|their|he|she|his|her|this|that|these|those|er|sie|es|dies\w*|deren|dessen|il|elle|ils|elles|ce"
    r"|cela|esto|este|esta|ella|ellos|él|lo|questo|questa|het|hij|zij|он|она|оно|они|это)\b|它|他|她|这|その|これ|それ",
    re.IGNORECASE,
)
"""A word that points back to what stands before."""
_MOST = 60
_NO_NAMES = frozenset({"de", "zh", "ja", "ko", "ar", "he", "th"})

Forms = Callable[[Iterable[str]], "list[Collection[str]]"]
"""Each word as all those that stand for it."""


class _Said(Struct, frozen=True):
    """What a statement has of a claim's words, by their places there, and what it has beside them."""

    met: frozenset[int]
    beside: frozenset[str]


def swapped(sentence: str, language: str, statements: Sequence[Statement], forms: Forms) -> str | None:
    """The value or name of a sentence that is only said of something else; None where there is none."""
    for clause in _clauses(sentence, language):
        for value in find_values(clause, language):
            if value.kind != LABEL:
                words = _telling(f"{clause[: value.start]} {clause[value.stop :]}")
                if is_of_another(words, value, statements, forms):
                    return clause[value.start : value.stop].strip()
    if language in _NO_NAMES:
        return None
    names = list(NAME.finditer(sentence))
    if len(names) != 1:
        return None
    words = _telling(f"{sentence[: names[0].start()]} {sentence[names[0].end() :]}")
    return names[0][0] if _is_name_of_another(words, names[0][0], statements, forms) else None


def is_of_another(words: Collection[str], value: Value, statements: Sequence[Statement], forms: Forms) -> bool:
    """Whether all statements with a value are about something else than these words, which another one tells."""
    holding = [one for one in statements if any(_same(value, held) for held in one.values)]
    rivals = [
        one
        for one in statements
        if one.kind != CODE and any(_rivals(value, held) for held in one.values) and one not in holding
    ]
    return _outdone(words, holding, rivals, forms)


def _is_name_of_another(words: Collection[str], name: str, statements: Sequence[Statement], forms: Forms) -> bool:
    own = set(tokens(name))
    holding = [one for one in statements if own <= set(one.words)]
    rivals = [one for one in statements if not own & set(one.words) and NAME.search(one.text)]
    return _outdone(words, holding, rivals, forms)


def _outdone(words: Collection[str], holding: Sequence[Statement], rivals: Sequence[Statement], forms: Forms) -> bool:
    """Whether each of the statements that hold something has a rival with more of the words and less beside them."""
    if not words or not holding or not rivals or len(holding) > _MOST:
        return False
    alike = [frozenset(one) for one in forms(sorted(words))]
    others = [_said(one, alike, around=False) for one in rivals[:_MOST]]
    return all(
        any(other.met > own.met and other.beside < own.beside for other in others)
        for own in (_said(one, alike, around=True) for one in holding)
    )


def _said(one: Statement, alike: Sequence[frozenset[str]], *, around: bool) -> _Said:
    own = set(one.words)
    near = own | set(tokens(_around(one))) if around else own
    met = frozenset(place for place, forms in enumerate(alike) if forms & near)
    matched = {word for forms in alike for word in forms}
    named = {word for match in NAME.finditer(one.text) for word in tokens(match[0])}
    beside = {word for word in own - matched - named if not any(map(str.isdigit, word)) and not is_number_word(word)}
    return _Said(met, frozenset(beside - silent_words(beside)))


def _around(one: Statement) -> str:
    """What a statement leaves to be told by what stands over it, and before it where it points back."""
    goes_on = _BACK.search(one.text) or not any(_rivals(held, value) for held in _before(one) for value in one.values)
    names = NAME.search(one.before) and not _BACK.search(one.text)
    return f"{one.context} {one.before}" if goes_on and not names else one.context


def _before(one: Statement) -> list[Value]:
    return find_values(one.before, one.language) if one.before else []


def _same(one: Value, other: Value) -> bool:
    if one.amount is not None and other.amount is not None:
        return one.amount == other.amount
    return one.key == other.key


def _rivals(one: Value, other: Value) -> bool:
    return one.kind == other.kind and not _same(one, other)


def _clauses(sentence: str, language: str) -> Iterator[str]:
    """The clauses of a sentence; the whole of it where it has one value alone."""
    if len([one for one in find_values(sentence, language) if one.kind != LABEL]) < 2:
        yield sentence
        return
    start = 0
    for bound in _CLAUSE.finditer(sentence):
        yield sentence[start : bound.start()]
        start = bound.end()
    yield sentence[start:]


def _telling(text: str) -> set[str]:
    found = {word for word in tokens(text, query=True) if not any(map(str.isdigit, word))}
    return found - silent_words(found)
