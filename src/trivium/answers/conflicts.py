"""Sources that disagree: statements with the same subject and attribute but another value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answers.ranking import ENOUGH, Ranked
from trivium.language.changed import without_changes
from trivium.language.denial import negated, without_denials
from trivium.language.headings import subjects
from trivium.language.languages import silent_words
from trivium.language.matching import alike
from trivium.language.question import NAME, Question
from trivium.language.statements import CODE, ROW, Statement
from trivium.language.values import DATE, LABEL, TIME, YEAR
from trivium.search.segment import tokens

_SAME, _SAME_SOURCE = 0.6, 0.85
_FEW = 2
"""How many words of its own a statement has that does not say by itself of what it is."""
_POST = re.compile(r"\s?\(([^()]{2,40})\)")
_SUBJECT = re.compile(
    r"([^\W\d_a-zà-ÿа-я][\w'-]+(?:\s[^\W\d_a-zà-ÿа-я][\w'-]+)*)\s+(?:is|was|has been|became|becomes|leads|heads|chairs"
    r"|runs|manages|ist|war|wurde|wird|leitet|führt|est|était|dirige|préside|es|fue|era|preside|è|é)\b"
)
"""Who begins a sentence of who somebody is; any word is written like a name there."""
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[^\W\d_a-zà-ÿа-я][\w'-]+(?:\s[^\W\d_a-zà-ÿа-я][\w'-]+)*")


def conflicting(best: Ranked, ranked: Sequence[Ranked], question: Question) -> list[Ranked]:
    """The statements that contradict the best one and it, one for each value, newest first; empty when none does."""
    chosen = [best]
    if best.statement.kind == CODE:
        return []  # what a program prints says how it runs, and the next one prints something else
    for other in ranked:
        if other is best or other.confidence < max(ENOUGH, best.confidence - 0.3) or other.missed or not other.typed:
            continue
        if all(_contradict(one.statement, other.statement, question) for one in chosen):
            chosen.append(other)
    if len(chosen) < 2:
        return []
    return sorted(chosen, key=lambda one: one.statement.passage.dated or "", reverse=True)


def same_subject(one: Statement, other: Statement, question: Question) -> bool:
    """Whether two statements of different passages say something of the same thing, be it the same or not."""
    return said_alike(one, other, question) and not _of_different_things(one, other, question)


def said_alike(one: Statement, other: Statement, question: Question) -> bool:
    """Whether two statements of different passages say something in the same words, be it of the same thing or not."""
    kinds = {one.kind, other.kind}
    if one.passage.id == other.passage.id or CODE in kinds or (ROW in kinds and len(kinds) > 1):
        return False
    same_source = (one.passage.ctx, one.passage.source) == (other.passage.ctx, other.passage.source)
    needed = _SAME_SOURCE if same_source and one.passage.source else _SAME
    return _likeness(_telling(one, question), _telling(other, question)) >= needed


def _of_different_things(one: Statement, other: Statement, question: Question) -> bool:
    """Whether the headings tell two statements apart: by the codes they begin with, or since nothing else does.

    `30 desks` under `Paris` and `180 desks` under `Berlin` of one file need their headings to say of what they are.
    """
    codes = subjects(one.passage, one.headings), subjects(other.passage, other.headings)
    if all(codes) and codes[0].isdisjoint(codes[1]):
        return True
    if one.passage.source != other.passage.source or not one.passage.source:
        return False
    headings = _path(one)[-1:], _path(other)[-1:]
    if not all(headings) or headings[0] == headings[1]:
        return False
    return min(len(_telling(one, question)), len(_telling(other, question))) <= _FEW


def _path(statement: Statement) -> tuple[str, ...]:
    outer = statement.passage.section_paths[0] if statement.passage.section_paths else []
    return (*outer, *statement.headings)


def _contradict(one: Statement, other: Statement, question: Question) -> bool:
    if not same_subject(one, other, question):
        return False
    if question.yes_no and negated(one.text) != negated(other.text):
        return True
    if NAME in question.wanted:
        names = _names(one, question), _names(other, question)
        return all(names) and names[0].isdisjoint(names[1])
    return _values_differ(one, other, question)


def _values_differ(one: Statement, other: Statement, question: Question) -> bool:
    """Whether exactly one kind of value differs: of two that differ, one tells the cases apart (2023: 5; 2024: 6)."""
    here, there = _by_kind(one), _by_kind(other)
    shared = here.keys() & there.keys()
    differing = {kind for kind in shared if here[kind].isdisjoint(there[kind])}
    partly = {kind for kind in shared - differing if here[kind] != there[kind]}
    if len(differing) != 1 or partly or LABEL in differing:
        return False
    if question.wanted:
        return bool(differing & question.wanted)
    return not differing & {YEAR} or bool(differing & {DATE, TIME})


def _by_kind(statement: Statement) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for value in statement.values:
        found.setdefault(value.kind, set()).add(value.key[1])
    return found


def _likeness(one: set[str], other: set[str]) -> float:
    """The share of words that two statements have in common, seen mostly from the shorter one."""
    short, long = sorted((one, other), key=len)
    if not short:
        return 0.0
    return sum(any(alike(word, candidate) for candidate in long) for word in short) / max(len(short), len(long) * 0.6)


def _telling(statement: Statement, question: Question) -> set[str]:
    """The telling words of a statement without what may differ: values, names where one is asked for, denials."""
    text = statement.text
    for value in reversed(statement.values):
        if value.kind != LABEL:
            text = text[: value.start] + " " + text[value.stop :]
    names = _names(statement, question) if NAME in question.wanted else set()
    words = set(tokens(without_changes(without_denials(text))))
    return words - silent_words(words) - names


def _names(statement: Statement, question: Question) -> set[str]:
    """The words of the names in a statement; where one has what is asked for in brackets behind it, of that one."""
    for match in _NAME.finditer(statement.text):
        post = _POST.match(statement.text, match.end())
        if post and any(alike(word, asked) for word in tokens(post[1]) for asked in question.words):
            return set(tokens(match[0]))
    found = {word for match in _NAME.finditer(statement.text) for word in tokens(match[0])}
    if subject := _SUBJECT.match(statement.text):
        found.update(tokens(subject[1]))
    return found - set(tokens(question.text)) - silent_words(found)
