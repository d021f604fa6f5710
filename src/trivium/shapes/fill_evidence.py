"""The evidence for one property of a shape: which statements are about it, and the decision between their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trivium.answers.composer import Cited
from trivium.answers.conflicts import same_subject
from trivium.answers.ranking import ENOUGH, Ranked, Ranking
from trivium.language.dimensions import tells
from trivium.language.former import asks_of_now, still
from trivium.language.holders import asks_for_holder, begun, spoken
from trivium.language.matching import INFLECTED, alike
from trivium.language.members import told_of
from trivium.language.question import NAME, PLACE, Question, content_words, understand
from trivium.language.ranges import end_of_range
from trivium.language.statements import CODE, PAIR, ROW, SENTENCE, Cell, Statement, tells_who_wrote
from trivium.language.units import unit_in
from trivium.language.values import DATE, MEASURE, MONEY, NUMBER, TIME
from trivium.search.segment import fold, tokens
from trivium.shapes.property import ADDRESSED, Property, name_words
from trivium.shapes.property_words import ADDRESSES, DATES, PHONES, PLACES, SINCE, UNTIL

ABOUT = 0.6
"""The share of a property's words that a statement must meet."""
_NEAR, _BEFORE = 0.95, 0.4
_OWN = 0.3
"""What a cell of the very name of a property adds."""
_TIE, _CLOSE = 0.02, 0.1
"""How near the best value another one is that ties with it, and one that another account of the same thing gives."""
_NAMED = frozenset(["name", "person", "nombre", "nom", "nome", "имя", "姓名"])
_TIMED = frozenset(["time", "hour", "uhrzeit", "hora", "heure", "ora", "时间"])
_COUNTED = frozenset(
    fold(
        "count number amount total quantity anzahl zahl menge cantidad nombre quantité numero"
        " quantità totale quantidade aantal количество 数量"
    ).split()
)
_DATED = frozenset(["date", "day", "datum", "tag", "fecha", "dia", "data", "日期"])


_TOLD = re.compile(r"(?P<key>[^\W\d_][^:：.!?\n]{0,40})[:：]\s*(?P<value>\S.{0,160})", re.DOTALL)
_HOLDERS = frozenset(
    fold(
        "holder person who incumbent officeholder inhaber inhaberin amtsinhaber wer titular quien titulaire qui"
        " titolare chi"
    ).split()
)
"""Headers of columns that hold names of people."""
_HEADERS = frozenset(
    fold(
        "from to subject von an betreff de à objet para asunto da oggetto assunto van aan onderwerp от кому"
        " тема 发件人 收件人 主题 差出人 宛先 件名"
    ).split()
)
"""Keys of the lines at the head of a message."""
_MESSAGES = frozenset(
    fold(
        "mail mails email e-mail message letter sent send sender wrote written write nachricht brief gesendet geschickt"
        " courriel courrier envoye correo mensaje enviado messaggio inviato bericht verstuurd письмо отправил"
        " 邮件 发送 メール"
    ).split()
)


class NoEvidence(Exception):
    """Nothing stored says what a property is; the text names it."""

    def __init__(self, path: str, why: str = "", *, of: str = "") -> None:
        told = f"no evidence for `{path}`" if path or not of else f"no evidence for {of}"
        super().__init__(why or (told if path or of else "no evidence for `the value`"))
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
        called: str = "",
    ) -> None:
        self.statements = statements
        self.question = question
        self.ranking = ranking
        self.ranked = ranked
        self.alone = alone
        self.called = called
        """The property of an element that is what an item of a list says as a whole."""
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
            return (wanted.role == NAME and not wanted.placed) or _NAMED.issuperset(wanted.words)
        if PLACE in kinds and wanted.placed:
            return True
        return bool(kinds & wanted.kinds) or (DATE in kinds and wanted.dated)

    def within(self, *statements: Statement, called: str = "") -> Finder:
        """A finder for statements that are known to be about what is filled."""
        made = {id(one): Ranked(one, 1.0, 0.0, 1.0, 1.0) for one in statements if id(one) not in self.ranked}
        return Finder(statements, self.question, self.ranking, {**self.ranked, **made}, alone=True, called=called)

    def without(self, words: Set[str]) -> Finder:
        """A finder for the question without some of its words."""
        kept = [part for part in self.question.text.split() if words.isdisjoint(tokens(part))]
        return self.for_question(" ".join(kept))

    def asks_name(self, wanted: Property) -> bool:
        """Whether a text is who is asked for: its words are those of a question for a name, or it has none."""
        if wanted.role or self.alone or NAME not in self.question.wanted or {"pattern", "format"} & set(wanted.schema):
            return False
        return self.speaks_of(wanted.words)

    def told_of(self, text: str, spans: Sequence[tuple[int, int]], wanted: Property) -> list[tuple[int, int]]:
        """Of several values of a sentence those that are said of what is asked; all where that cannot be told."""
        by_name = told_of(text, spans, wanted.words) if wanted.words else None
        return by_name or told_of(text, spans, [*wanted.words, *self.question.words]) or list(spans)

    def _asks_who(self) -> bool:
        """Whether the question is for people, also where it goes on: `Who is the chair and since when?`"""
        return NAME in self.question.wanted or asks_for_holder(self.question.text)

    def _asks_for(self, wanted: Property) -> bool:
        """Whether a property only says of what kind the thing is that is asked for: `name`, `date`, `place`."""
        kinds = self.question.wanted
        names = self._asks_who() and _NAMED.issuperset(wanted.words)
        dated = DATE in kinds or not DATES.isdisjoint(self.question.words)
        dates = dated and wanted.dated and _DATED.issuperset(wanted.words)
        times = TIME in kinds and TIME in wanted.kinds and _TIMED.issuperset(wanted.words)
        places = PLACE in kinds and wanted.placed and PLACES.issuperset(wanted.words)
        counts = NUMBER in kinds and MONEY not in kinds and "integer" in wanted.types
        counts = counts and _COUNTED.issuperset(wanted.words)
        return bool(wanted.words) and (names or dates or times or places or counts)

    def about(self, wanted: Property) -> list[About]:
        """The statements that are about a property, best first."""
        asked = None if self.alone or not self._asks_for(wanted) else replace(wanted, words=[])
        found = [
            self._about(statement, wanted) or (self._about(statement, asked) if asked is not None else None)
            for statement in self.statements
        ]
        abouts = sorted(filter(None, found), key=lambda one: (-one.score, one.statement.rank, one.statement.place))
        if self.alone or not asks_of_now(" ".join([self.question.text, *wanted.words, *wanted.described])):
            return abouts
        of_people, ask = self._asks_who(), self.question.text
        words = [] if self._asks_for(wanted) else wanted.words
        words = words or [term.word for term in self.question.terms if not term.extra]
        single = of_people and not self.question.lists and "array" not in wanted.types
        stands = still([one.statement for one in abouts], words, of_people=of_people, ask=ask, single=single)
        kept = [one for one, stays in zip(abouts, stands, strict=True) if stays]
        return self._latest(kept) if single and asks_for_holder(ask) else kept

    def _latest(self, abouts: list[About]) -> list[About]:
        """Of those that surely answer a question for a holder and tell since when, the ones of the latest year."""
        since = [begun(spoken(one.statement)) for one in abouts]
        sure = [self.ranked[id(one.statement)].confidence >= ENOUGH for one in abouts]
        last = max((year for year, good in zip(since, sure, strict=True) if year and good), default=0)
        return [one for one, year in zip(abouts, since, strict=True) if year is None or year >= last]

    def _about(self, statement: Statement, wanted: Property) -> About | None:
        ranked = self.ranked[id(statement)]
        cell, told = self._cell(statement, wanted)
        if self.alone:
            met = told if cell is not None else self._met(statement, wanted)
            return None if cell is None and len(statement.cells) > 1 else About(statement, met, met, cell)
        if ranked.missed or statement.kind == CODE:
            return None
        if self._is_of_message(statement) and (wanted.dated or self._asks_for(wanted) or not wanted.words):
            return None
        if not wanted.words:
            enough = ranked.confidence >= ENOUGH
            own = _OWN if cell is not None and name_words(cell.key) in wanted.names else 0.0
            return About(statement, round(ranked.score + own, 6), ranked.confidence, cell) if enough else None
        if cell is not None and self._asks_for(wanted) and ranked.confidence < ENOUGH:
            return None  # a cell named only `Date` or `Name` is of something else
        met = told if cell is not None else self._met(statement, wanted)
        score = 0.5 * met + 0.5 * ranked.confidence + (0.2 if cell is not None else 0.0)
        return About(statement, round(score, 6), met, cell) if met >= ABOUT else None

    def _is_of_message(self, statement: Statement) -> bool:
        """Whether a statement says of a message who wrote it and when, and the question is not for messages."""
        if _MESSAGES.intersection(self.question.words):
            return False
        if statement.kind != PAIR:
            return tells_who_wrote(statement.text)
        block = [one for one in self.statements if one.passage is statement.passage and one.block == statement.block]
        return sum(fold(cell.key) in _HEADERS for one in block for cell in one.cells) > 1

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
        told = wanted.dated or MEASURE in wanted.kinds
        by_value = {word for word in wanted.words if told and tells(word, values, statement.words)}
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

    def _cell(self, statement: Statement, wanted: Property) -> tuple[Cell | None, float]:
        """The cell or pair value whose key is the property, or what the question asks for when that says all; how far.

        One whose key is the very name of the property comes first, then one in the unit that it names.
        """
        best: tuple[float, Cell, float] | None = None
        for cell in [*_entry(statement, wanted), *statement.cells] or _told(statement, wanted, self.question):
            if not (key := frozenset(tokens(cell.key))):
                continue
            over = statement.headings if statement.kind == PAIR else ()
            if any(name_words(" ".join([*over[at:], cell.key])) in wanted.names for at in range(len(over) + 1)):
                return cell, 1.0
            met = self._key_met(cell.key, key, frozenset(tokens(" ".join(over))), wanted)
            unit = unit_in(cell.key) if wanted.unit else None
            score = met + (0.1 if unit is not None and unit.name == wanted.unit else 0.0)
            if met >= ABOUT and (best is None or score > best[0]):
                best = score, cell, met
        return (None, 0.0) if best is None else (best[1], best[2])

    def _key_met(self, text: str, key: frozenset[str], over: frozenset[str], wanted: Property) -> float:
        """How far a key, with those `over` it, is the property, or the question where the property has no words."""
        if any(_is_other_end(name[-1], key) for name in wanted.names):
            return 0.0
        if wanted.bare:
            named = [
                {word for words in (SINCE, UNTIL) if one in words for word in words} | {one} for one in wanted.bare
            ]
            return 1.0 if wanted.names and all(not words.isdisjoint(key) for words in named) else 0.0
        if wanted.words:
            vocabulary = self.ranking.vocabulary
            spelled = [vocabulary.spelling(word) for word in wanted.words]
            met = [vocabulary.match(word, key) for word in spelled]
            if _NAMED.issuperset(wanted.words) and not _HOLDERS.isdisjoint(key):
                return 1.0
            if any(met) and over:
                met = [max(here, vocabulary.match(word, over)) for here, word in zip(met, spelled, strict=True)]
            return sum(met) / len(met)
        if wanted.role in ADDRESSED and wanted.names:
            return float(not (ADDRESSES | PHONES).isdisjoint(key))
        parts = content_words(text)
        return sum(any(alike(part, word) for word in self.question.words) for part in parts) / len(parts)


def _is_other_end(word: str, key: frozenset[str]) -> bool:
    """Whether a key tells until when, and the last word of a name since when, or the other way about."""
    ends = ((SINCE, UNTIL), (UNTIL, SINCE))
    return any(word in own and not key.isdisjoint(other) and key.isdisjoint(own) for own, other in ends)


def _entry(statement: Statement, wanted: Property) -> list[Cell]:
    """A row of two cells as what it is where the first one names what the other tells: `Flow | 3.6 m³/h`."""
    if statement.kind != ROW or len(statement.cells) != 2 or not wanted.words:
        return []
    name, told = statement.cells
    return [Cell(name.text, told.text, told.start, told.stop)]


def _told(statement: Statement, wanted: Property, question: Question) -> list[Cell]:
    """What a sentence of the form `Address: Rua do Ouro 112.` tells, as a cell, where its key is just the property."""
    found = _TOLD.fullmatch(statement.text) if statement.kind == SENTENCE else None
    key = content_words(found["key"]) if found else []
    words = wanted.words or ([] if wanted.bare else question.words)
    own = found is not None and name_words(found["key"]) in wanted.names
    if found is None or not (own or all(any(alike(word, one) >= INFLECTED for word in words) for one in key)):
        return []
    return [Cell(found["key"], found["value"].rstrip(" .。"), statement.start, statement.stop)]


def decide(candidates: Iterable[Candidate], wanted: Property, question: Question) -> Filled:
    """The best candidate. Of values that tie, the newest when they contradict each other and are dated.

    Raises: NoEvidence when there is none, or several values that nothing tells apart.
    """
    ordered = sorted(candidates, key=lambda one: (-one.score, one.about.statement.rank, one.about.statement.place))
    if not ordered:
        raise NoEvidence(wanted.path)
    best = ordered[0]
    others = [one for one in ordered[1:] if one.score >= best.score - _CLOSE and one.value != best.value]
    rivals = [
        one
        for one in others
        if one.score >= best.score - _TIE or same_subject(best.about.statement, one.about.statement, question)
    ]
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
    if _is_of_none(tied, wanted, question):
        raise NoEvidence(wanted.path)
    values = ", ".join(dict.fromkeys(str(one.value) for one in tied[:4]))
    raise NoEvidence(wanted.path, f"the sources give several values for `{wanted.path or 'the value'}`: {values}")


def _is_of_none(tied: Sequence[Candidate], wanted: Property, question: Question) -> bool:
    """Whether the question names something of which none of several statements speaks, by which they could differ."""
    known = {*wanted.words, *wanted.described}
    there = {word for one in tied for word in tokens(f"{one.about.statement.text} {one.about.statement.context}")}
    asked = [term.word for term in question.terms if not term.extra]
    return any(
        not any(alike(word, other) for other in there) for word in asked if not any(alike(word, own) for own in known)
    )


def _filled(candidate: Candidate) -> Filled:
    statement = candidate.about.statement
    return Filled(candidate.value, [Cited(statement.passage, statement.quote)])
