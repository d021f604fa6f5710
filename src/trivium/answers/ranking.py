"""Which statements answer a question, how well, and whether well enough to be given as its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from trivium.answers.wanted import PROPER, has_wanted, of_another, tells_beside
from trivium.answers.wanted import because as because
from trivium.errors import TriviumError
from trivium.language.addresses import REACH, is_reached
from trivium.language.compounds import Spellings, is_phrase, joined
from trivium.language.denial import negated, only_without
from trivium.language.dimensions import denies, is_bounded, tells
from trivium.language.former import covers
from trivium.language.headings import asks_for_version, code_of, subjects, tells_change
from trivium.language.headings import tells as tells_of_heading
from trivium.language.matching import EXACT, INSIDE, KIN, Vocabulary, alike
from trivium.language.question import PLACE, Question, Term, content_words
from trivium.language.ranges import end_of_range
from trivium.language.statements import CODE, HEADING, ITEM, PAIR, ROW, SENTENCE, Statement
from trivium.language.values import DATE
from trivium.search.passage import ARTIFACT
from trivium.search.segment import fold, tokens
from trivium.search.words import stem

if TYPE_CHECKING:
    from trivium.search.embedder import Embedder

ENOUGH = 0.55
"""Confidence from which a statement is given as an answer; tuned on the labelled questions (docs/answers.md)."""
UNLIKELY = 0.3
"""Confidence below which passages hardly answer a question."""
CLOSE = 0.53
"""Similarity from which a statement in another language than the question's is shown as the nearest one, and what
follows a question that is like the one asked. Within one language likeness alone tells answers from what is only about
the same thing no better than chance (docs/answers.md), so there it only orders."""

_NEAR, _BEFORE, _ASKED_BEFORE = 0.8, 0.55, 0.95
_UNTYPED, _MISSED = 0.55, 0.6
_IN_CODE = 0.5
"""Of the confidence in code that is asked for a fact: names and numbers in examples are rarely what is asked for."""
_SHORT, _CHANCE, _MOST_CHANCE = 24, 0.005, 0.12
"""The more words a statement has beyond `_SHORT`, the more of a question's words it meets by chance."""
_BEHIND, _FAR_BEHIND = 0.02, 8
"""What a statement loses for each passage that was found before its own, and for how many at most."""
_SIMILAR = 0.05
_NAMED = 0.1
"""What a statement gains that has the names of the question itself, rather than in what stands over it."""
_ONLY_NAMED, _ONLY_KIN = 0.5, 0.7
"""Of the confidence in a fact that only names its thing, and where all that meets a question is a word of its kind."""
POINTS_BACK = re.compile(
    r"(?:it|its|they|their|this|these|that|he|she|his|her|such|both|since then|then|er|sie|es|dies\w*|beide|danach"
    r"|seitdem|esto|este|esta|ella|ellos|despues|il|elle|ils|elles|cela|ce|cette|ces|esso|essa|questo|questa|hij"
    r"|zij|deze"
    r"|он|она|оно|они|это|этот|эта|它|他|她|该|这|それ|これ|その|この)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says something of what the one before is about."""
_SEMANTIC_STATEMENTS = 60
_ASKS_STATE = re.compile(
    r"\b(?:is|are|was|were|sind|ist|sont|est|son|estan|esta|sono|sao|zijn)"
    r"(?: (?:still|now|not|noch|jetzt|nicht|encore|todavia|aun|ancora|ainda|nog))? [^\W\d_]+\W*$"
)
"""A question for what is in some state (`which tickets are open`), which a value says rather than a key (`Opened:`)."""
_LIES = re.compile(
    r"\b(?:stands?|lies?|located|situated|found|liegt|befindet|steht|gelegen|situad[oa]|se encuentra|ubicad[oa]|situee?"
    r"|se trouve|si trova|situat[oa]|localizad[oa]|ligt|находится|расположен\w*)\b|位于|坐落|にあります|위치"
)


class Ranked(Struct):
    """A statement with how well it answers: `confidence` is absolute, `score` orders statements of one question.

    `own` and `covered` are the shares of the question's words that stand in it, and in it or around it; `typed`: it has
    the kind of value asked for; `missed`: a name or code of the question is nowhere around; `follows`: it stands after
    a question that is like the one asked.
    """

    statement: Statement
    confidence: float
    score: float
    own: float
    covered: float
    similar: float = 0.0
    typed: bool = True
    missed: bool = False
    follows: bool = False


class Ranking:
    """Ranks the statements of some passages for a question; the embedder, where there is one, sees other wordings."""

    def __init__(self, statements: Sequence[Statement], embedder: Embedder | None = None) -> None:
        self.statements = list(statements)
        self.embedder = embedder
        self._own = [Spellings(statement.words) for statement in self.statements]
        self._near = list(map(Spellings, _contexts(self.statements)))
        self._before = [Spellings(tokens(statement.before)) for statement in self.statements]
        self.vocabulary = Vocabulary(own.words | near.words for own, near in zip(self._own, self._near, strict=True))

    def rank(self, question: Question, terms: Sequence[Term] | None = None) -> list[Ranked]:
        """All statements, best first; `terms` instead of the question's own to ask about a part of it."""
        wanted = self._written_together(question, list(question.terms if terms is None else terms))
        weights = {term.word: self.vocabulary.weight(term.word) * (1.5 if term.must else 1.0) for term in wanted}
        wanted = [replace(term, extra=True) if self._straddles(wanted, at) else term for at, term in enumerate(wanted)]
        total = sum(weights[term.word] for term in wanted if not term.extra) or 1.0
        ranked = [self._judged(index, question, wanted, weights, total) for index in range(len(self.statements))]
        ranked.sort(key=_order)
        if self.embedder is not None:
            self._add_similarity(ranked, question, wanted)
            ranked.sort(key=_order)
        return ranked

    def _written_together(self, question: Question, terms: list[Term]) -> list[Term]:
        """The terms as the texts write them: two words as one (`back up`: backup), one with a hyphen as one or two."""
        for one in question.joined:
            parts = [term for term in terms if one.startswith(term.word) or one.endswith(term.word)]
            known = one in self.vocabulary or (is_phrase(one) and self._is_phrase(one))
            if parts and known and one not in [term.word for term in terms]:
                at = terms.index(parts[0])
                terms = [term for term in terms if term not in parts]
                merged = Term(one, must=any(term.must for term in parts), extra=all(term.extra for term in parts))
                terms.insert(at, merged)
        return [term for one in terms for term in self._hyphened(one)]

    def _is_phrase(self, one: str) -> bool:
        """Whether a verb and its particle are one word here: `run on 4 January` is none where no text has it."""
        return not one.endswith(("on", "in")) or any(own.in_two(one) for own in self._own)

    def _hyphened(self, term: Term) -> list[Term]:
        one = joined(term.word)
        if one == term.word:
            return [term]
        if self.vocabulary.met_by(one) or is_phrase(one) or any(own.in_two(one) for own in self._own):
            return [replace(term, word=one)]
        return [replace(term, word=part) for part in term.word.split("-")]

    def _straddles(self, terms: Sequence[Term], at: int) -> bool:
        """Whether a pair of Han characters joins the end of one word to the beginning of the next one."""
        if not 0 < at < len(terms) - 1 or self.vocabulary.met_by(terms[at].word):
            return False
        before, word, after = (terms[at + step].word for step in (-1, 0, 1))
        joined = len(word) == 2 and before[-1:] == word[0] and after[:1] == word[1]
        return joined and bool(self.vocabulary.met_by(before)) and bool(self.vocabulary.met_by(after))

    def nearest(self, ranked: Sequence[Ranked], question: Question) -> Ranked | None:
        """The statement nearest in meaning, when it is near enough to be shown although its words are others."""
        names = self._names()
        known = [term.word for term in question.terms if term.word in names]
        near = [
            one
            for one in ranked
            if one.typed
            and not one.missed
            and one.similar >= CLOSE
            and (one.follows or one.statement.language != question.language)
            and self._covers(one.statement, known)
        ]
        return max(near, key=lambda one: (round(one.similar, 9), one.score), default=None)

    def _names(self) -> set[str]:
        """Words that stand with a capital inside sentences or titles."""
        texts = {text for one in self.statements for text in (one.text, one.passage.title)}
        return {word for text in texts for match in PROPER.finditer(text, 1) for word in tokens(match[0])}

    def _covers(self, statement: Statement, names: Sequence[str]) -> bool:
        """Whether a statement, with what stands around it, has the names of the question that any of the texts has."""
        words = frozenset([*statement.words, *tokens(f"{statement.context} {statement.before}")])
        return all(self.vocabulary.match(name, words) for name in names)

    def _judged(
        self, index: int, question: Question, terms: list[Term], weights: dict[str, float], total: float
    ) -> Ranked:
        statement = self.statements[index]
        asked_before = _asks(statement.before)
        carried = _ASKED_BEFORE if asked_before else _BEFORE
        follows = asked_before or self._goes_on(index, terms)
        own = covered = 0.0
        own_words: dict[str, float] = {}
        missed = uncounted = kin = said = spoken = False
        attribute: bool | None = None
        day = _same_days(statement, question)
        kinds = {value.kind for value in statement.values}
        for term in terms:
            in_words = self._match(term.word, self._own[index])
            here = max(in_words, KIN * _is_told(term.word, statement))
            here = EXACT if term.word in day or covers(statement, term.word) else here
            if statement.kind == HEADING:
                here = max(here, tells_of_heading(term.word, statement.text, kinds))
            own_words[term.word] = here
            around = self._match(term.word, self._near[index])
            if statement.kind in (ITEM, SENTENCE):
                around = max(around, tells_change(term.word, statement.headings))
            near = around * _NEAR
            before = self._match(term.word, self._before[index]) * carried if statement.before and follows else 0.0
            best = max(here, near, before)
            said = said or bool(in_words or around or before) or here >= EXACT
            weight = weights[term.word] * (0.5 if term.extra else 1.0)
            own += weight * max(here, around)
            covered += weight * best
            missed = missed or (term.must and not best)
            kin = kin or (term.word == question.counted and 0 < best <= KIN)
            uncounted = uncounted or (term.word == question.counted and not best)
            spoken = spoken or (best > 0 and not term.extra)
            if not term.must and not term.extra:
                attribute = attribute or best > 0
        if not spoken:
            own = covered = 0.0  # words that a question before lends are about nothing by themselves
        own, covered = min(own / total, 1.0), min(covered / total, 1.0)
        typed = has_wanted(statement, question, bool(own))
        same = asked_before and _is_same_question(statement, question)
        typed = typed or same
        apart = not self._speaks_of(question, index, asked_before) or denies(question.words, statement.words)
        not_done = question.kind == "how" and not negated(question.text) and self._not_done(statement, question)
        if question.negated:
            apart = not (negated(statement.text) or denies(question.words, statement.words))
            typed = typed and not apart
        compares = bool(question.beside) or question.earlier is not None
        if of_another(statement, question) or (compares and not tells_beside(statement, question, typed)):
            typed, apart = False, True
        lacks = missed or apart or uncounted or attribute is False or not said
        long = max(0, len(statement.words) - _SHORT)
        covered -= min(_CHANCE * long, _MOST_CHANCE) * (1.0 - covered)
        confidence = covered * (1.0 if typed else _UNTYPED) * (_MISSED if lacks else 1.0)
        score = 0.75 * confidence + 0.25 * own * (1.0 if typed else 0.5) - _BEHIND * min(statement.rank, _FAR_BEHIND)
        score += 0.15 if typed and question.wanted else 0.0
        score += _NAMED * (
            any(term.must for term in terms) and all(own_words[term.word] for term in terms if term.must)
        )
        score += 0.2 if _is_key(statement, question, terms) else 0.0
        score -= min(_CHANCE * long, _MOST_CHANCE)
        score += 0.1 if PLACE in question.wanted and _LIES.search(fold(statement.text)) else 0.0
        if _asks(statement.text):
            score -= 0.5
            confidence *= 0.5
        if statement.text.endswith((":", "：")) and statement.kind == SENTENCE:
            score -= 0.1
        if statement.passage.kind == ARTIFACT and not question.defines and _only_names(statement):
            score -= 0.4
            confidence *= _ONLY_NAMED
        if question.counted and kin and sum(not term.extra for term in terms) == 1:
            confidence *= _ONLY_KIN
        if statement.kind == CODE:
            score -= 0.2 if question.kind == "how" else 0.4
            confidence *= _IN_CODE if question.wanted or question.lists or question.chooses else 1.0
        if not_done:
            confidence, score = confidence * _ONLY_NAMED, score - 0.4
        if same:
            score += 0.4
        if statement.kind == HEADING and not _is_asked_for(statement.text, question):
            confidence, score = confidence * _ONLY_NAMED, score - 0.4
        if question.defines and defines(statement, terms):
            score += 0.3
        is_rest = statement.place == 0 and statement.passage.start and statement.text[:1].islower()
        if is_rest and statement.kind == SENTENCE:
            score -= 0.2  # the end of a sentence that began in the chunk before
        if len(statement.words) < 3 and statement.kind == SENTENCE:
            score -= 0.15
        return Ranked(statement, confidence, score, own, covered, typed=typed, missed=missed)

    def _not_done(self, statement: Statement, question: Question) -> bool:
        """Whether a statement has a word of the question only as what is not done there (`without deleting it`)."""
        return any(
            only_without(statement.text, lambda word, term=term: alike(term, word) > INSIDE)  # type: ignore[misc]
            for term in question.words
        )

    def _match(self, term: str, there: Spellings) -> float:
        """How far a text meets a term, in whichever spelling."""
        return max(self.vocabulary.match(term, there.words), float(there.in_two(term)))

    def _goes_on(self, index: int, terms: Sequence[Term]) -> bool:
        """Whether what the sentence before says may count: this one points back, or has a word of the question."""
        if POINTS_BACK.match(self.statements[index].text):
            return True
        return any(self._match(term.word, self._own[index]) for term in terms)

    def _speaks_of(self, question: Question, index: int, asked_before: bool) -> bool:
        """Whether a statement, with what stands around it, speaks of the thing of which something is asked."""
        if not question.of:
            return True
        texts = [self._own[index], self._near[index]]
        if asked_before or POINTS_BACK.match(self.statements[index].text):
            texts.append(self._before[index])
        spoken = {word: max(self._match(joined(word), text) for text in texts) for word in question.of}
        weights = {word: self.vocabulary.weight(word) for word in question.of}
        if question.thing and not spoken[question.thing]:
            return False
        return sum(weights[word] * far for word, far in spoken.items()) >= 0.5 * sum(weights.values())

    def _add_similarity(self, ranked: list[Ranked], question: Question, terms: list[Term]) -> None:
        """Let meaning count where words do not meet, for the statements of the best passages."""
        assert self.embedder is not None
        some = sorted(ranked, key=lambda one: (one.statement.rank, -one.score))[:_SEMANTIC_STATEMENTS]
        texts = [_with_heading(one.statement) for one in some]
        try:
            info = self.embedder.info()
            vectors = self.embedder.embed([question.text, *texts])
        except TriviumError:
            return  # answers do without it
        cosines = vectors[1:] @ vectors[0]
        width = max(info.ceiling - info.floor, 1e-6)
        for one, cosine in zip(some, cosines.tolist(), strict=True):
            one.similar = min(max((cosine - info.floor) / width, 0.0), 1.0)
        asked = {
            (one.statement.rank, one.statement.place + 1): one.similar for one in some if _asks(one.statement.text)
        }
        for one in some:
            carried = asked.get((one.statement.rank, one.statement.place), 0.0) * _ASKED_BEFORE
            one.follows = carried >= one.similar and carried > 0
            one.similar = 0.0 if _asks(one.statement.text) else max(one.similar, carried)
            one.score += _SIMILAR * one.similar


def _contexts(statements: Sequence[Statement]) -> list[list[str]]:
    """The words around each statement, without the codes that stand there in passing while another heading has them."""
    own = [
        subjects(one.passage, (*one.headings, one.text) if one.kind == HEADING else one.headings) for one in statements
    ]
    known = frozenset().union(*own)
    return [
        [word for word in tokens(one.context) if word not in known or word in codes]
        for one, codes in zip(statements, own, strict=True)
    ]


def _is_asked_for(heading: str, question: Question) -> bool:
    """Whether a heading may be an answer: its own code is asked about, or codes and versions are."""
    code = code_of(heading) or ""
    words = {word.lstrip("#＃") for word in question.words}
    return question.lists or asks_for_version(question.text) or code in words or f"v{code}" in words


def _is_same_question(statement: Statement, question: Question) -> bool:
    """Whether the sentence before asks the very question, so that this one is its answer whatever it holds."""
    asks, there = set(content_words(question.text)), set(content_words(statement.before))
    return bool(asks) and asks == there


def _is_told(term: str, statement: Statement) -> bool:
    """Whether a statement tells without the word what the word asks for: by the unit of a value, a bound, a range, an
    address."""
    if term in REACH and is_reached(statement.text):
        return True
    if not statement.values:
        return False
    return (
        tells(term, statement.values, statement.words)
        or is_bounded(term, statement.text)
        or end_of_range(term, statement.text, statement.values) is not None
    )


def _same_days(statement: Statement, question: Question) -> frozenset[str]:
    """The words of those dates of the question that a statement has, however they are written there."""
    keys = {value.key[1] for value in statement.values if value.kind == DATE} if question.days else set()
    keys |= {f"-{key[4:]}" for key in keys}  # a day of any year
    return frozenset().union(*(words for key, words in question.days.items() if key in keys))


def _is_key(statement: Statement, question: Question, terms: Sequence[Term]) -> bool:
    """Whether the question names the very thing that a row or pair is about, or the value for which it chooses some."""
    if statement.kind not in (ROW, PAIR):
        return False
    cell = statement.cells[0]
    words = tokens(cell.key if statement.kind == PAIR else cell.text, query=True)
    key = {part for word in words for part in word.split("-")}
    if statement.kind == PAIR and question.chooses and _ASKS_STATE.search(fold(question.text)):
        asked = {term.word for term in terms}
        return bool(key) and (key <= asked or set(tokens(cell.text, query=True)) <= asked)
    asked = {stem(term.word) for term in terms}
    return bool(key) and all(stem(word) in asked for word in key)


def _asks(text: str) -> bool:
    return text.rstrip("\"'”»*_ ").endswith(("?", "？", "؟"))


def defines(statement: Statement, terms: Sequence[Term]) -> bool:
    """Whether a statement begins with the very words of the question, as a definition does."""
    words = {term.word for term in terms if not term.extra}
    first = tokens(statement.cells[0].key if statement.kind == PAIR else statement.text)
    if statement.kind == ROW:
        first = tokens(statement.cells[0].text)
    return bool(words) and words <= set(first[: len(words) + 2])


def _only_names(statement: Statement) -> bool:
    """Whether what is known of a thing is no more than its name and type."""
    passage = statement.passage
    return bool(passage.name) and set(statement.words) <= {*tokens(passage.name), *tokens(passage.type)}


def _order(one: Ranked) -> tuple[float, int, int]:
    return -round(one.score, 9), one.statement.rank, one.statement.place


def _with_heading(statement: Statement) -> str:
    heading = statement.headings[-1] if statement.headings else statement.passage.name
    return f"{heading}: {statement.text}" if heading else statement.text
