"""Yes or no where the sources ask the very question: what stands right below or behind it."""

from __future__ import annotations

import re

from trivium.language.denial import negated
from trivium.language.matching import INFLECTED, alike
from trivium.language.question import content_words
from trivium.language.statements import CODE, Statement
from trivium.language.unsure import unsure_text
from trivium.search.segment import fold
from trivium.shapes.fill_evidence import Finder, NoEvidence
from trivium.shapes.property import Property

_SAYS = re.compile(
    r"(?:(?P<yes>yes|yep|yeah|ja|jawohl|oui|si|sim|да|ναι|כן|نعم|예|네|はい|ええ|是的?|可以的?|能|有|会|行|对)"
    r"|(?P<no>no|nope|nein|non|nao|nee|нет|לא|لا|아니(?:요|오)|いいえ|不(?:可以|能|行|可|是|会)?|否|没有))"
    r"(?=\s*(?:[,.;:!，。；：！、–—-]|$))"
)
_MAY = re.compile(
    r"(?:can|could|may|is it (?:ok|okay|allowed|possible|permitted)|am i allowed|are \w+ allowed|do i get to|darf"
    r"|durfen"
    r"|kann|konnen|ist es (?:erlaubt|moglich)|puis|peut|peuvent|est-ce qu\w* \S+ peu\w+|puedo|puede|pueden|se puede"
    r"|posso|si puo|mag|mogen|kan|kunnen|можно)\b|.*(?:可以|能|できますか|いいですか)"
)
"""How a question begins for what is allowed."""
_ALLOWED = frozenset(
    fold(
        "allowed permitted possible ok okay erlaubt gestattet moglich autorise permis possible permitido posible"
        " permesso possibile permitido possivel toegestaan разрешено можно 允许 可以 許可 answer yes"
    ).split()
)


def answered(finder: Finder, wanted: Property) -> tuple[bool, Statement] | None:
    """What the sources say to the very question that is asked; None where they do not ask it, or the property is else.

    Raises: NoEvidence when the answer holds under a condition or for a part.
    """
    question = finder.question
    asked = content_words(question.text)
    about = all(any(alike(word, other) for other in asked) for word in wanted.words)
    if not asked or not (about or (_ALLOWED.issuperset(wanted.words) and _MAY.match(fold(question.text)))):
        return None
    for statement in finder.statements:
        said = _SAYS.match(fold(statement.text).lstrip("*_\"' "))
        if said is None or statement.kind == CODE or not _is_asked(_question_over(statement, finder), question.text):
            continue
        if unsure_text(fold(statement.text).lstrip("*_\"' ")[said.end() :], statement.language):
            raise NoEvidence(wanted.path)
        return said["yes"] is not None, statement
    return None


def _question_over(statement: Statement, finder: Finder) -> str:
    """The question right before a statement, or the heading right over it."""
    if statement.before:
        return statement.before
    over = [part for path in statement.passage.section_paths[:1] for part in path]
    first = min(
        one.place
        for one in finder.statements
        if one.passage is statement.passage and one.headings == statement.headings
    )
    return next(iter(reversed([*over, *statement.headings])), "") if first == statement.place else ""


def _is_asked(text: str, ask: str) -> bool:
    """Whether a text is the question that is asked: all telling words of each stand in the other."""
    if not text.rstrip("*_\"' ").endswith(("?", "？", "؟")) or negated(text) != negated(ask):
        return False
    own, asked = content_words(text), content_words(ask)
    return _covers(own, asked) and _covers(asked, own)


def _covers(words: list[str], others: list[str]) -> bool:
    return bool(words) and all(any(alike(word, other) >= INFLECTED for other in others) for word in words)
