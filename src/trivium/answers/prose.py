"""Answers in quoted sentences: what is said to each question of an ask, and what is told where nothing is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answers.checked import boxes
from trivium.answers.composer import NEAREST_TOLD, Composed, Task
from trivium.answers.conflicts import conflicting, said_alike
from trivium.answers.follow_up import asked
from trivium.answers.framing import ALSO, BEYOND, DISAGREE, NEAREST, NOT_FOUND, RELATED, UNDATED, sentence
from trivium.answers.quoting import Line, Section, Warned, own_words, source_of, written
from trivium.answers.ranking import ENOUGH, UNLIKELY, Ranked, Ranking, defines
from trivium.answers.sections import about_code, latest, siblings, with_headings
from trivium.answers.table_rows import that_hold
from trivium.language.former import still
from trivium.language.holders import begun, spoken
from trivium.language.matching import alike
from trivium.language.parts import MOST_QUESTIONS, questions_in
from trivium.language.question import Question, Term, understand
from trivium.language.statements import CODE, HEADING, ITEM, ROW, SENTENCE, Statement
from trivium.language.yes_no import NO, YES
from trivium.search.passage import ARTIFACT, Passage
from trivium.search.segment import fold, tokens

MOST_LINES, MOST_TOLD, MOST_RELATED = 12, 4, 3
_LONGEST_NAMED = 200
"""Characters of a question that was not looked at up to which it is named."""
_ALMOST_ALL = 0.9
"""Share of a question's words from which a statement says itself which version is the latest one."""
_NUMBERED = re.compile(r"(?:^|\n)[\s>]*\d{1,3}[.)]\s+\W*$")
_SEVERAL = re.compile(r"\b(?:are|were|sind|waren|sont|étaient|son|eran|sono|erano|são|zijn)\b", re.IGNORECASE)
_TO_DO = re.compile(r"\b(?:do|tun|faire|hago|hacer)\b")
_ANSWER = re.compile(r"^\s*(?:[^\W\d_]{1,10})\s*[:：]\s*")
"""What may stand before an answer: `A: Yes.`"""
_SUM = re.compile(r"\d\s*[-+*/×÷^=<>%]\s*\d")


def prose(task: Task, ranking: Ranking) -> Composed:
    """Each question of an ask answered by quotes, in one text."""
    parts, beyond = questions_in(task.ask)
    earlier = [message.content for message in task.history if message.role == "user"]
    sections = [answer(ranking, part, [*earlier, *parts[:number]]) for number, part in enumerate(parts)]
    language = understand(task.ask).language
    for part, section in zip(parts, sections, strict=True):
        if len(parts) > 1 and not section.found:
            section.opening = f"{sentence(ALSO, language)} {own_words(part)}"
        for line in section.lines:
            if line.statement.kind == CODE:
                line.lines = _telling_lines(ranking, line.statement, understand(part))
    return written(sections, language, _not_looked_at(beyond, language) if beyond else None)


def answer(ranking: Ranking, ask: str, earlier: Sequence[str] = ()) -> Section:
    """What is said to one question; `earlier` questions lend their words to one that points back to them."""
    meant = asked(ask, earlier)
    question, terms = meant.question, meant.terms
    if question.kind == "compare":
        return _comparison(ranking, question, terms)
    if not question.each and (lines := about_code(ranking.statements, question)):
        return Section(lines=lines)
    if ticked := boxes(ranking.statements, meant.text, question.words):
        return Section(lines=[Line(one, bullet=True) for one in ticked[:MOST_LINES]])
    ranked = ranking.rank(question, terms)
    good = [one for one in ranked if one.confidence >= ENOUGH and not _only_asks(one.statement)]
    if meant.since:
        good = [one for one in good if begun(spoken(one.statement)) is not None]
    if meant.now and not (question.lists or question.each or question.broad):
        words = [term.word for term in terms if not term.extra]
        of_people = question.kind == "who" or meant.since
        stands = still(
            [one.statement for one in good],
            words,
            of_people=of_people,
            ask=meant.text,
            single=_asks_for_one(question),
        )
        good = [one for one, stays in zip(good, stands, strict=True) if stays]
    if not _tells(question, terms):
        return _nearest(ranking, [], question)
    if all(map(_is_sign, question.words)):
        good = [one for one in good if one.statement.kind != CODE and defines(one.statement, terms)]
        if not good:
            return _nearest(ranking, [], question)
    newest = latest(ranking.statements, meant.text)
    if newest is not None and not any(one.own > _ALMOST_ALL and one.statement.kind != CODE for one in good[:1]):
        return Section(lines=[Line(newest)])
    if not good:
        return _nearest(ranking, ranked, question)
    best = good[0]
    if question.each:
        return Section(lines=[Line(one.statement, source_of(one.statement.passage), True) for one in _by_source(good)])
    if against := conflicting(best, good, question):
        return _disagreement(against, question)
    if question.broad:
        return Section(lines=[Line(one.statement) for one in _told(good)])
    if steps := _steps(ranking, best, question):
        return Section(lines=[Line(one, bullet=True) for one in steps])
    if question.lists or best.statement.text.endswith((":", "：")) or _introduces(ranking, best.statement, question):
        return Section(lines=_listed(ranking, best, good, question))
    chosen = _selected(ranking, good, question)
    quoted = [one.statement for one in [*chosen, *_through(ranking, ranked, chosen, question)]]
    quoted = [one for statement in quoted for one in _with_more(statement, ranking.statements)]
    return Section(lines=[Line(one) for one in with_headings(quoted, ranking.statements, question)])


def _asks_for_one(question: Question) -> bool:
    """Whether a question is for one person (`who is the chair`), rather than for all who are something."""
    if question.language in ("zh", "ja", "ko"):
        return True
    return bool(question.head) and not _SEVERAL.search(question.text)


# --- what is chosen -------------------------------------------------------------------------------


def _tells(question: Question, terms: Sequence[Term]) -> bool:
    """Whether a question says what it is about: a single letter does not, unless it asks what that is.

    Nor does a sum: nothing is computed.
    """
    words = [term.word for term in terms]
    if not words or (_SUM.search(question.text) and all(map(_is_sign, words))):
        return False
    return question.defines or len(words) > 1 or any(len(word) > 1 or not word.isascii() for word in words)


def _is_sign(word: str) -> bool:
    """Whether a word is a single letter or a number, which stands in texts by chance."""
    return word.isascii() and (len(word) == 1 or word.isdigit())


def _nearest(ranking: Ranking, ranked: list[Ranked], question: Question) -> Section:
    near = ranking.nearest(ranked, question)
    warning: Warned = ("no_evidence", None, "No stored text answers the question.")
    if near is None:
        text = sentence(NOT_FOUND, question.language)
        places = _related(ranked)
        told = f" {sentence(RELATED, question.language)} {'; '.join(places)}." if places else ""
        return Section(text + told, found=False, warnings=[warning])
    warning = ("weak_support", None, NEAREST_TOLD)
    return Section(sentence(NEAREST, question.language), [Line(near.statement)], warnings=[warning])


def _not_looked_at(beyond: Sequence[str], language: str) -> Section:
    """The questions that one ask has too many: the first of them by name, the others as a number."""
    named = "; ".join(own_words(part[:_LONGEST_NAMED]) for part in beyond[:MOST_RELATED])
    more = f"; … (+{len(beyond) - MOST_RELATED})" if len(beyond) > MOST_RELATED else ""
    message = f"Up to {MOST_QUESTIONS} questions of one ask are answered; {len(beyond)} more were not looked at."
    return Section(
        f"{sentence(BEYOND, language)} {named}{more}", found=False, warnings=[("no_evidence", None, message)]
    )


def _related(ranked: Sequence[Ranked]) -> list[str]:
    """Where to look on: the places of the statements that come nearest, three at most. They are named, not cited."""
    near = [one for one in ranked if max(one.confidence, one.similar) >= UNLIKELY]
    near.sort(key=lambda one: (-max(one.confidence, one.similar), one.statement.rank, one.statement.place))
    places = (_place(one.statement.passage) for one in near)
    return list(dict.fromkeys(place for place in places if place))[:MOST_RELATED]


def _place(passage: Passage) -> str:
    section = passage.section_paths[0][-1] if passage.section_paths and passage.section_paths[0] else ""
    return own_words(" ".join(part for part in (source_of(passage), f"({section})" if section else "") if part))


def _disagreement(against: list[Ranked], question: Question) -> Section:
    undated = sentence(UNDATED, question.language)
    lines = [
        Line(
            one.statement, f"{source_of(one.statement.passage)} ({(one.statement.passage.dated or undated)[:10]})", True
        )
        for one in against
    ]
    places = ", ".join(source_of(one.statement.passage) for one in against)
    warning: Warned = ("source_conflict", None, f"The sources disagree: {places}.")
    return Section(sentence(DISAGREE, question.language), lines, warnings=[warning])


def _comparison(ranking: Ranking, question: Question, terms: list[Term]) -> Section:
    """One statement for each thing compared, or for each source when the question names none."""
    if not question.subjects:
        good = [one for one in ranking.rank(question, terms) if one.confidence >= ENOUGH]
        if not good:
            return _nearest(ranking, ranking.rank(question, terms), question)
        return Section(lines=[Line(one.statement, source_of(one.statement.passage), True) for one in _by_source(good)])
    lines: list[Line] = []
    missing: list[str] = []
    of_subjects = {word for subject in question.subjects for word in subject}
    for name, subject in zip(question.names, question.subjects, strict=True):
        wanted = [term for term in terms if term.word not in of_subjects]
        wanted += [Term(word, must=True) for word in subject]
        ranked = [one for one in ranking.rank(question, wanted) if one.confidence >= ENOUGH and not one.missed]
        fresh = [one for one in ranked if all(one.statement is not line.statement for line in lines)] or ranked
        if fresh:
            lines.append(Line(fresh[0].statement, name, True))
        else:
            missing.append(name)
    if not lines:
        return _nearest(ranking, ranking.rank(question, terms), question)
    closing = f"{sentence(ALSO, question.language)} {own_words(', '.join(missing))}." if missing else ""
    warnings: list[Warned] = [("no_evidence", None, f"No stored text was found about {name}.") for name in missing]
    return Section(lines=lines, closing=closing, warnings=warnings)


def _by_source(good: list[Ranked]) -> list[Ranked]:
    best: dict[str, Ranked] = {}
    for one in good:
        best.setdefault(f"{one.statement.passage.context} {source_of(one.statement.passage)}", one)
    return list(best.values())[:MOST_LINES]


def _listed(ranking: Ranking, best: Ranked, good: list[Ranked], question: Question) -> list[Line]:
    """The items of the list or table that the best statement stands in or leads to; else the best statements."""
    statement = best.statement
    inside = [one for one in ranking.statements if one.passage is statement.passage]
    lines: list[Line] = []
    if statement.kind == SENTENCE:
        items = [one for one in inside if one.block == statement.block + 1 and one.lead == statement.text]
        lines = [Line(statement)] if items else []
    else:
        items = [one for one in inside if one.block == statement.block]
        equal = [
            one.statement for one in good if any(one.statement is item for item in items) and one.own >= best.own - 0.05
        ]
        if best.own >= 0.5:  # the question's words stand in the items themselves: those that have them
            items = [one for one in items if any(one is other for other in equal)] if len(equal) > 1 else []
        if items and statement.kind == ROW:
            items = that_hold(items, question).rows or items
    if statement.kind == HEADING:
        items = siblings(statement, ranking.statements)
    if not items:
        quoted = [one.statement for one in _selected(ranking, good, question)]
        return [Line(one) for one in with_headings(quoted, ranking.statements, question)]
    return lines + [Line(one, bullet=True) for one in items[: MOST_LINES - len(lines)]]


def _introduces(ranking: Ranking, one: Statement, question: Question) -> bool:
    """Whether a statement only says what the list below it is: no value is asked for, and the list begins at once."""
    if question.wanted or question.yes_no or one.kind != SENTENCE:
        return False
    below = (other for other in ranking.statements if other.passage is one.passage and other.block == one.block + 1)
    return any(other.kind == ITEM and other.lead == one.text for other in below)


def _steps(ranking: Ranking, best: Ranked, question: Question) -> list[Statement]:
    """All steps of a numbered list, asked how to do what stands over it: one of them alone is no answer."""
    if question.kind != "how":
        return []
    asked = [term.word for term in question.terms if not term.extra]
    step = best.statement
    if step.kind == SENTENCE and (_TO_DO.search(fold(question.text)) or _is_of_section(ranking, step, asked)):
        step = next((one for one in ranking.statements if _is_step(one) and _stands_under(one, step)), step)
    if not _is_step(step):
        return []
    if all(ranking.vocabulary.match(word, frozenset(step.words)) for word in asked):
        return []
    inside = [one for one in ranking.statements if one.passage is step.passage and one.block == step.block]
    return inside[:MOST_LINES] if len(inside) > 1 else []


def _with_more(one: Statement, statements: Sequence[Statement]) -> list[Statement]:
    """A statement; with the one behind it where it says yes or no and nothing else."""
    if fold(_ANSWER.sub("", one.text)).strip(" .!,") not in YES | NO:
        return [one]
    behind = (other for other in statements if other.passage is one.passage and other.block == one.block)
    return [one, *[other for other in behind if other.place == one.place + 1]]


def _is_step(one: Statement) -> bool:
    return one.kind == ITEM and _NUMBERED.search(one.passage.text[: one.start]) is not None


def _stands_under(one: Statement, other: Statement) -> bool:
    """Whether a statement stands behind another one in the same section."""
    return one.passage is other.passage and one.headings == other.headings and one.start > other.start


def _is_of_section(ranking: Ranking, one: Statement, asked: Sequence[str]) -> bool:
    """Whether all that is asked for is what the headings over a statement say: the section is the answer."""
    around = frozenset(tokens(one.context))
    return all(ranking.vocabulary.match(word, around) for word in asked)


def _told(good: list[Ranked]) -> list[Ranked]:
    """The first statements of the best passage, in their order."""
    first = good[0].statement.passage
    own = sorted((one for one in good if one.statement.passage is first), key=lambda one: one.statement.place)
    return own[:MOST_TOLD]


def _selected(ranking: Ranking, good: list[Ranked], question: Question) -> list[Ranked]:
    """The best statement, and up to two more that meet words of the question which it does not meet."""
    chosen = [good[0]]
    if question.wanted:
        return chosen + [one for one in good[1:] if _other_case(one, good[0], question)][:2]
    inside = _met(ranking, good[0], question)
    around = frozenset([*good[0].statement.words, *tokens(good[0].statement.context)])
    met = {term.word for term in question.terms if ranking.vocabulary.match(term.word, around)}
    for one in good[1:]:
        if len(chosen) > 2:
            break
        new = _met(ranking, one, question) - met
        close = one.score >= good[0].score - 0.12 and one.own >= 0.5 and inside <= _met(ranking, one, question)
        if (new or close) and one.statement.kind != CODE and not _repeats(one, chosen):
            chosen.append(one)
            met |= new
    return chosen


def _through(ranking: Ranking, ranked: Sequence[Ranked], chosen: Sequence[Ranked], question: Question) -> list[Ranked]:
    """What is known of something that the chosen statements name, where it says what they leave open.

    Asked who designed the language that a service is written in, a document names the language, and a fact of the
    graph about that name tells who designed it.
    """
    open_ = {term.word for term in question.terms if not term.extra}
    for one in chosen:
        open_ -= _met(ranking, one, question)
    said = " ".join(f" {' '.join(one.statement.words)} " for one in chosen)
    facts = [
        (len((open_ & _met(ranking, one, question)).difference(tokens(one.statement.passage.type))), one)
        for one in ranked
        if one.statement.passage.kind == ARTIFACT
        and one.statement.passage.name
        and f" {' '.join(tokens(one.statement.passage.name))} " in said
        and all(one.statement.passage is not other.statement.passage for other in chosen)
    ]
    best = max(facts, key=lambda pair: (pair[0], round(pair[1].score, 9)), default=None)
    return [best[1]] if best is not None and best[0] else []


def _other_case(one: Ranked, best: Ranked, question: Question) -> bool:
    """Whether a statement says as much of a case like the best one's: the question does not tell which one is meant."""
    values = {value.key for value in one.statement.values}, {value.key for value in best.statement.values}
    equal = one.confidence >= best.confidence - 0.02 and one.own >= best.own - 0.02 and one.typed
    if not equal or not values[0] or not values[0].isdisjoint(values[1]):
        return False
    same_list = one.statement.kind == best.statement.kind and one.statement.block == best.statement.block
    beside = one.statement.passage is best.statement.passage and (same_list or best.statement.kind == SENTENCE)
    return beside or said_alike(one.statement, best.statement, question)


def _met(ranking: Ranking, one: Ranked, question: Question) -> set[str]:
    words = frozenset(one.statement.words)
    return {term.word for term in question.terms if ranking.vocabulary.match(term.word, words)}


def _repeats(one: Ranked, chosen: Sequence[Ranked]) -> bool:
    words = set(one.statement.words)
    for other in chosen:
        there = set(other.statement.words)
        shared = sum(any(alike(word, known) for known in there) for word in words)
        if shared >= 0.7 * min(len(words), len(there)):
            return True
    return False


def _only_asks(statement: Statement) -> bool:
    return statement.text.rstrip("\"'”»*_ ").endswith(("?", "？", "؟"))


# --- how it is written ----------------------------------------------------------------------------


def _telling_lines(ranking: Ranking, statement: Statement, question: Question) -> tuple[int, int]:
    """Where the lines of a block of code stand that meet most of a question, at most `MOST_LINES` in a row."""
    lines = statement.quote.split("\n")
    if len(lines) <= MOST_LINES:
        return statement.start, statement.stop
    vocabulary = ranking.vocabulary
    met = [
        {term.word for term in question.terms if vocabulary.match(term.word, frozenset(tokens(line)))} for line in lines
    ]
    windows = range(len(lines) - MOST_LINES + 1)
    first = max(
        windows, key=lambda at: (len(set().union(*met[at : at + MOST_LINES])), bool(met[at] and lines[at].strip()), -at)
    )
    start = statement.start + sum(len(line) + 1 for line in lines[:first])
    return start, start + len("\n".join(lines[first : first + MOST_LINES]))
