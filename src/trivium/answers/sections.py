"""Answers from what stands under headings with codes: what a code means, what is new in a version, the latest one."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.answers.quoting import Line
from trivium.language.headings import (
    asks_for_latest,
    asks_for_version,
    asks_of_section,
    code_of,
    is_group,
    is_of_version,
    is_version,
    number_of,
    tells_all,
)
from trivium.language.matching import alike
from trivium.language.question import Question
from trivium.language.statements import CODE, HEADING, ITEM, PAIR, Statement
from trivium.language.yes_no import said_in
from trivium.search.segment import tokens

_MOST_ITEMS, _MOST_SENTENCES = 12, 4


def about_code(statements: Sequence[Statement], question: Question) -> list[Line]:
    """What stands under the heading of a code, asked what it means, what is new there or what to do about it."""
    named = {term.word for term in question.terms if term.must}
    if question.wanted:
        return []
    for heading in statements:
        code = code_of(heading.text) if heading.kind == HEADING else None
        if code is None or not _names(code, heading, named) or not asks_of_section(question.words, code):
            continue
        under = _under(statements, heading)
        if is_version(heading.text):
            items = _of_group([one for one in under if one.kind in (ITEM, PAIR)], question)
            chosen = items[:_MOST_ITEMS] or under[:_MOST_SENTENCES]
            if chosen:
                return [Line(one, bullet=one.kind in (ITEM, PAIR)) for one in chosen]
        elif under:
            return [Line(heading), *(Line(one) for one in under[: _MOST_SENTENCES - 1])]
    return []


def _of_group(items: Sequence[Statement], question: Question) -> list[Statement]:
    """The entries of the groups that a question asks for (`Removed`, `Fixed`), all where it asks for changes."""
    groups = {heading for one in items for heading in one.headings if is_group(heading)}
    told = {heading for heading in groups if not tells_all(heading) and _asked(heading, question)}
    return [one for one in items if not told or not told.isdisjoint(one.headings)]


def _asked(heading: str, question: Question) -> bool:
    return any(alike(word, asked) for word in tokens(heading) for asked in question.words)


def _names(code: str, heading: Statement, named: set[str]) -> bool:
    return code in named or f"v{code}" in named or code in {word.lstrip("#＃v") for word in named}


def _under(statements: Sequence[Statement], heading: Statement) -> list[Statement]:
    """The statements that stand under a heading, in their order."""
    place = heading.passage.start + heading.start
    found = [
        one
        for one in statements
        if (one.passage.ctx, one.passage.source) == (heading.passage.ctx, heading.passage.source)
        and one.kind not in (HEADING, CODE)
        and one.passage.start + one.start > place
        and heading.text in (*one.headings, *(part for path in one.passage.section_paths for part in path))
    ]
    return sorted(found, key=lambda one: one.passage.start + one.start)


def latest(statements: Sequence[Statement], ask: str) -> Statement | None:
    """The heading of the latest version, asked for it: the first one of a list of changes, and its highest number."""
    if not asks_for_latest(ask):
        return None
    for first in statements:
        if first.kind != HEADING or not is_version(first.text):
            continue
        known = [
            one
            for one in statements
            if one.kind == HEADING and one.passage.source == first.passage.source and is_version(one.text)
        ]
        top = min(known, key=lambda one: one.passage.start + one.start)
        before = top.passage.text[: top.start]
        if top.passage.start == 0 and len(known) > 1 and top is max(known, key=lambda one: number_of(one.text)):
            return top if len(before) < 2_000 else None
    return None


def with_headings(chosen: Sequence[Statement], statements: Sequence[Statement], question: Question) -> list[Statement]:
    """The chosen statements, each behind its heading where that says which version or thing with a code it is of.

    Of several that say yes or no of what is asked, those that say no are left out, unless the question denies.
    """
    of_version = asks_for_version(question.text)
    if not (of_version or question.chooses or question.lists):
        return list(chosen)
    told = [one for one in chosen if not _says_no(one, question)] or list(chosen)
    found: list[Statement] = []
    for one in told:
        heading = _heading_of(one, statements, of_version)
        if heading is not None and all(heading is not other for other in found):
            found.append(heading)
        found.append(one)
    return found


def _heading_of(one: Statement, statements: Sequence[Statement], of_version: bool) -> Statement | None:
    """The nearest heading above a statement that begins with a code, where that is not told already."""
    if one.kind == HEADING:
        return None
    name = (
        is_of_version(one.headings)
        if of_version
        else next((each for each in one.headings[::-1] if code_of(each)), None)
    )
    if name is None or (not of_version and len(one.words) > 4):
        return None
    above = [
        each
        for each in statements
        if each.kind == HEADING
        and each.text == name
        and each.passage.source == one.passage.source
        and each.passage.start + each.start < one.passage.start + one.start
    ]
    return max(above, key=lambda each: each.passage.start + each.start, default=None)


def _says_no(statement: Statement, question: Question) -> bool:
    text = statement.cells[0].text if statement.kind == PAIR else statement.text.rpartition(":")[2]
    return ":" in statement.text and said_in(text) is bool(question.negated)


def siblings(heading: Statement, statements: Sequence[Statement]) -> list[Statement]:
    """The headings with codes that stand beside one in its text, itself among them."""
    found = [
        one
        for one in statements
        if one.kind == HEADING
        and one.passage.source == heading.passage.source
        and is_version(one.text) == is_version(heading.text)
    ]
    return sorted(found, key=lambda one: one.passage.start + one.start)
