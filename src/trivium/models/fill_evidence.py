"""The evidence for one property of a shape: which statements are about it, and the decision between their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trivium.models.composer import Cited
from trivium.models.conflicts import same_subject
from trivium.models.dimensions import tells
from trivium.models.former import asks_of_now, still
from trivium.models.matching import alike
from trivium.models.members import told_of
from trivium.models.property import Property
from trivium.models.question import NAME, Question, content_words, understand
from trivium.models.ranges import end_of_range
from trivium.models.ranking import ENOUGH, Ranked, Ranking
from trivium.models.statements import CODE, Cell, Statement
from trivium.models.values import DATE, TIME
from trivium.search.segment import tokens

ABOUT = 0.6
"""The share of a property's words that a statement must meet."""
_NEAR, _BEFORE = 0.95, 0.4
_TIE = 0.02
_NAMED = frozenset(["name", "person", "nombre", "nom", "nome", "имя", "姓名"])
_TIMED = frozenset(["time", "hour", "uhrzeit", "hora", "heure", "ora", "时间"])
_DATED = frozenset(["date", "day", "datum", "tag", "fecha", "dia", "data", "日期"])


class NoEvidence(Exception):
    """Nothing stored says what a property is; the text names it."""

    def __init__(self, path: str, why: str = "") -> None:
        super().__init__(why or f"no evidence for `{path or 'the value'}`")
        self.path = path
        self.is_plain = not why
        """Whether nothing is said at all, rather than several things or what cannot be told apart."""


class About(Struct):
    """A statement that is about a property; `cell` the part of it that is its value, where there is one.

    `score` compares the statements for one property: how far its words and those of the question are met.
    """

    statement: Statement
    score: float
    met: float
    cell: Cell | None = None

    @property
    def text(self) -> str:
        return self.statement.text if self.cell is None else self.cell.text


class Candidate(Struct):
    """A value for a property with the statement that says so."""

    value: Any
    about: About
    score: float


class Filled(Struct):
    """A value with the quotes that each part of it rests on."""

    value: Any
    cited: list[Cited] = []
    warnings: list[tuple[str, str | None, str]] = []


class Finder:
    """Finds what statements say about properties, in the light of one question."""

    def __init__(
        self,
        statements: Sequence[Statement],
        question: Question,
        ranking: Ranking,
        ranked: dict[int, Ranked],
        *,
        alone: bool = False,
    ) -> None:
        self.statements = statements
        self.question = question
        self.ranking = ranking
        self.ranked = ranked
        self.alone = alone
        self.parts: list[Finder] = []
        """A finder for each question of an ask that holds several."""

    @classmethod
    def of(cls, statements: Sequence[Statement], ask: str) -> Finder:
        return cls(statements, understand(ask), Ranking(statements), {}).for_question(ask)

    def for_question(self, ask: str) -> Finder:
        """A finder over the same statements for another question."""
        question = understand(ask)
        untyped = replace(question, wanted=frozenset())
        ranked = {id(one.statement): one for one in self.ranking.rank(untyped)}
        return Finder(self.statements, question, self.ranking, ranked)

    def parts_for(self, wanted: Property) -> list[Finder]:
        """The finders for those questions of the ask to which a property belongs.

        One belongs to the question that has its words; else to the one for a value of its kind.
        """
        named = [part for part in self.parts if wanted.words and part.speaks_of(wanted.words)]
        return named or [part for part in self.parts if part.asks_kind(wanted)]

    def speaks_of(self, words: Sequence[str]) -> bool:
        """Whether the question has all of some words, in whichever form."""
        return all(any(alike(word, other) for other in self.question.words) for word in words)

    def asks_kind(self, wanted: Property) -> bool:
        """Whether the question asks for a value of the kind that a property is, by its name or type."""
        kinds = self.question.wanted
        if NAME in kinds:
            return wanted.role == NAME or _NAMED.issuperset(wanted.words)
        return bool(kinds & wanted.kinds) or (DATE in kinds and wanted.dated)

    def within(self, statement: Statement) -> Finder:
        """A finder for one statement that is known to be about what is filled."""
        return Finder([statement], self.question, self.ranking, self.ranked, alone=True)

    def asks_name(self, wanted: Property) -> bool:
        """Whether a text is who is asked for: its words are those of a question for a name, or it has none."""
        if wanted.role or self.alone or NAME not in self.question.wanted or {"pattern", "format"} & set(wanted.schema):
            return False
        return self.speaks_of(wanted.words)

    def told_of(self, text: str, spans: Sequence[tuple[int, int]], wanted: Property) -> list[tuple[int, int]]:
        """Of several values of a sentence those that are said of what is asked; all where that cannot be told."""
        by_name = told_of(text, spans, wanted.words) if wanted.words else None
        return by_name or told_of(text, spans, [*wanted.words, *self.question.words]) or list(spans)

    def _asks_for(self, wanted: Property) -> bool:
        """Whether a property only says of what kind the thing is that the question asks for (`name`, `date`)."""
        kinds = self.question.wanted
        names = NAME in kinds and _NAMED.issuperset(wanted.words)
        dates = DATE in kinds and wanted.dated and _DATED.issuperset(wanted.words)
        times = TIME in kinds and TIME in wanted.kinds and _TIMED.issuperset(wanted.words)
        return bool(wanted.words) and (names or dates or times)

    def about(self, wanted: Property) -> list[About]:
        """The statements that are about a property, best first."""
        found = [self._about(statement, wanted) for statement in self.statements]
        abouts = sorted(filter(None, found), key=lambda one: (-one.score, one.statement.rank, one.statement.place))
        if not abouts and not self.alone and self._asks_for(wanted):
            return self.about(replace(wanted, words=[]))
        if self.alone or not asks_of_now(" ".join([self.question.text, *wanted.words, *wanted.described])):
            return abouts
        words = wanted.words or [term.word for term in self.question.terms if not term.extra]
        stands = still([one.statement for one in abouts], words, of_people=NAME in self.question.wanted)
        return [one for one, stays in zip(abouts, stands, strict=True) if stays]

    def _about(self, statement: Statement, wanted: Property) -> About | None:
        ranked = self.ranked[id(statement)]
        cell = self._cell(statement, wanted)
        if self.alone:
            met = 1.0 if cell is not None else self._met(statement, wanted)
            return None if cell is None and len(statement.cells) > 1 else About(statement, met, met, cell)
        if ranked.missed or statement.kind == CODE:
            return None
        if not wanted.words:
            enough = ranked.confidence >= ENOUGH
            return About(statement, round(ranked.score, 6), ranked.confidence, cell) if enough else None
        met = 1.0 if cell is not None else self._met(statement, wanted)
        score = 0.5 * met + 0.5 * ranked.confidence + (0.2 if cell is not None else 0.0)
        return About(statement, round(score, 6), met, cell) if met >= ABOUT else None

    def _met(self, statement: Statement, wanted: Property) -> float:
        own = frozenset(statement.words)
        near = frozenset(tokens(statement.context))
        before = frozenset(tokens(statement.before))
        by_name = self._coverage(wanted.words, own, near, before, self._told(statement, wanted))
        if not wanted.described:
            return by_name
        by_description = self._coverage(wanted.described, own, near, before)
        return 0.7 * max(by_name, 0.9 * by_description) + 0.3 * by_description

    def _told(self, statement: Statement, wanted: Property) -> frozenset[str]:
        """The words of a property that a statement which answers the question tells without having them.

        An end of a range stands for `start`, `end`, `minimum` …; a day for `date`, where all the other words are met.
        """
        if self.ranked[id(statement)].confidence < ENOUGH:
            return frozenset()
        text, values = statement.text, statement.values
        ends = frozenset(word for word in wanted.words if end_of_range(word, text, values))
        by_value = {word for word in wanted.words if wanted.dated and tells(word, values, statement.words)}
        others = [word for word in wanted.words if word not in ends | by_value]
        met = all(self.ranking.vocabulary.match(word, frozenset(statement.words)) for word in others)
        return ends | by_value if met and (ends or others) else ends

    def _coverage(
        self,
        words: Sequence[str],
        own: frozenset[str],
        near: frozenset[str],
        before: frozenset[str],
        told: frozenset[str] = frozenset(),
    ) -> float:
        vocabulary = self.ranking.vocabulary
        total = met = 0.0
        for word in map(vocabulary.spelling, words):
            weight = vocabulary.weight(word)
            inside = 1.0 if word in told else vocabulary.match(word, own)
            total += weight
            met += weight * max(inside, _NEAR * vocabulary.match(word, near), _BEFORE * vocabulary.match(word, before))
        return met / total if total else 0.0

    def _cell(self, statement: Statement, wanted: Property) -> Cell | None:
        """The cell or pair value whose key is the property, or what the question asks for when that says all."""
        best: tuple[float, Cell] | None = None
        for cell in statement.cells:
            key = frozenset(tokens(cell.key))
            if not key:
                continue
            if wanted.words:
                spelled = map(self.ranking.vocabulary.spelling, wanted.words)
                met = sum(self.ranking.vocabulary.match(word, key) for word in spelled) / len(wanted.words)
            else:
                parts = content_words(cell.key)
                met = sum(any(alike(part, word) for word in self.question.words) for part in parts) / len(parts)
            if met >= ABOUT and (best is None or met > best[0]):
                best = met, cell
        return None if best is None else best[1]


def decide(candidates: Iterable[Candidate], wanted: Property, question: Question) -> Filled:
    """The best candidate. Of values that tie, the newest when they contradict each other and are dated.

    Raises: NoEvidence when there is none, or several values that nothing tells apart.
    """
    ordered = sorted(candidates, key=lambda one: (-one.score, one.about.statement.rank, one.about.statement.place))
    if not ordered:
        raise NoEvidence(wanted.path)
    best = ordered[0]
    rivals = [one for one in ordered[1:] if one.score >= best.score - _TIE and one.value != best.value]
    if not rivals:
        return _filled(best)
    tied = [best, *rivals]
    dates = [one.about.statement.passage.dated or "" for one in tied]
    newest = max(dates)
    same = all(same_subject(best.about.statement, one.about.statement, question) for one in rivals)
    if same and newest and dates.count(newest) == 1:
        chosen = tied[dates.index(newest)]
        places = ", ".join(f"{one.about.statement.passage.source or one.about.statement.passage.name}" for one in tied)
        filled = _filled(chosen)
        filled.cited += [cited for one in tied if one is not chosen for cited in _filled(one).cited]
        message = f"The sources disagree on {wanted.path}: {places}; the newest is given."
        filled.warnings.append(("source_conflict", wanted.path, message))
        return filled
    values = ", ".join(dict.fromkeys(str(one.value) for one in tied[:4]))
    raise NoEvidence(wanted.path, f"the sources give several values for `{wanted.path or 'the value'}`: {values}")


def _filled(candidate: Candidate) -> Filled:
    statement = candidate.about.statement
    return Filled(candidate.value, [Cited(statement.passage, statement.quote)])
