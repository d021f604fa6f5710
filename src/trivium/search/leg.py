"""Searching one index of one context: its chunks or its artifacts, by the words and by the meaning of a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from heapq import nsmallest
from math import log
from typing import NamedTuple

from msgspec import Struct

from trivium.search.hybrid import passage_score, words_beside_meaning, words_score
from trivium.search.meaning import Asked
from trivium.search.passage import CHUNK
from trivium.search.question import Question
from trivium.search.tabular import is_table
from trivium.search.vectors import View
from trivium.store import chunks
from trivium.store.sqlite import Session

MOST_WORDS = 16
"""Words of a question that are looked up, the rarest ones."""
COMMON, SMALL = 0.2, 2_000
"""A word in more than this share of an index that is not small is left out, if two others are there."""
MOST_HOLDERS = 200
"""A code in more passages than that is no name any more."""
FAINT = 0.005
"""What a passage scores at least for all words, if it means something else."""
MOST_TABLES = 40
"""Passages that are looked at for being tables: those that hold most of the words."""


class ByWords(NamedTuple):
    """What the words of a question say of a passage: how much it scores by them, and the part of them that it holds."""

    points: float
    coverage: float


NOTHING = ByWords(0.0, 0.0)


class Found(Struct, frozen=True):
    """A hit: the id of a chunk or artifact, its score, and whether it holds all codes of the question."""

    id: int
    score: float
    held: bool = False


class Leg:
    """The chunks or the artifacts of a context. `size` is the number of rows of its index, if that is known."""

    def __init__(self, session: Session, ctx: int, kind: str, size: int | None = None) -> None:
        self._session = session
        self.ctx = ctx
        self._kind = kind
        self.reach = chunks.chunk_reach(ctx) if kind == CHUNK else chunks.artifact_reach(ctx)
        self.size = chunks.indexed(session, self.reach) if size is None else size

    def find(self, questions: Sequence[Question], number: int, asked: Asked | None) -> list[Found]:
        """About `number` hits or more, best first, equal ones by id. Some may no longer be live."""
        if not self.size:
            return []
        view = None if asked is None else asked.asking(self._session, self.ctx, self._kind)
        points = words_score if view is None else words_beside_meaning
        words: dict[int, ByWords] = {}
        held: set[int] = set()
        for one in questions:
            holders = chunks.holders(self._session, self.reach, [*one.words, *(code[0] for code in one.codes)])
            for id_, by_words in self._by_words(one.words, holders, number, points):
                words[id_] = ByWords(*map(max, words.get(id_, NOTHING), by_words))
            held |= self._by_codes(one, holders)
        if asked is None or view is None:
            found = [_found(id_, words.get(id_, NOTHING).points, held) for id_ in dict.fromkeys([*words, *held])]
        else:
            found = self._with_meaning(words, held, number, asked, view())
        found.sort(key=lambda hit: (not hit.held, -hit.score, hit.id))
        return found

    def _with_meaning(
        self, words: dict[int, ByWords], held: set[int], number: int, asked: Asked, view: View
    ) -> list[Found]:
        near = {hit.id: hit for hit in view.nearest(number)}
        tables = self._tables(words)
        found = []
        for id_ in dict.fromkeys([*words, *held, *near]):
            hit = near.get(id_) or view.of(id_)
            by_words = words.get(id_, NOTHING)
            meaning = None if hit is None else asked.score(hit.cosine)
            score = passage_score(*by_words, meaning, table=id_ in tables)
            if score > 0 or by_words.coverage > 0 or id_ in held:
                found.append(_found(id_, max(score, FAINT * by_words.coverage), held))
        return found

    def _tables(self, words: dict[int, ByWords]) -> set[int]:
        """Which of the passages with most of the words are tables."""
        most = nsmallest(MOST_TABLES, ((-by_words.coverage, id_) for id_, by_words in words.items()))
        texts = chunks.texts(self._session, self.ctx, self.reach, [id_ for _, id_ in most])
        return {id_ for id_, text in texts.items() if is_table(text)}

    def _by_words(
        self, words: list[str], holders: dict[str, int], number: int, points: Callable[[float, float], float]
    ) -> list[tuple[int, ByWords]]:
        """The passages that hold most of the words, `points` being what they get for their bm25 and coverage.

        Rare words count more; those that no passage holds count too, so that the score compares between questions
        and between contexts.
        """
        known = sorted((word for word in words if holders[word]), key=lambda word: holders[word])[:MOST_WORDS]
        if self.size > SMALL:
            known = [word for place, word in enumerate(known) if place < 2 or holders[word] <= COMMON * self.size]
        rarity = {word: self._rarity(holders[word]) for word in words if word in known or not holders[word]}
        whole = sum(rarity.values())

        @cache
        def covered(held: int) -> float:
            return sum(rarity[word] for place, word in enumerate(known) if held >> place & 1) / whole

        found = []
        for match in chunks.ranked(self._session, self.reach, known, number):
            coverage = covered(match.held)
            found.append((match.id, ByWords(points(min(1.0, match.bm25 / whole), coverage), coverage)))
        return found

    def _by_codes(self, question: Question, holders: dict[str, int]) -> set[int]:
        """The passages that hold every code of the question, in another spelling where nobody wrote it so.

        Words that are one code for some passage are taken for it.
        """
        counts = dict(holders)
        spaced = self._as_written([spelling for spellings in question.spaced for spelling in spellings], counts)
        wanted: list[str] = []
        for spellings in question.codes:
            asked = spellings[0]
            code = asked if counts[asked] else self._as_written(spellings[1:], counts)
            if code is not None:
                wanted.append(code)
            elif spaced is None or asked not in spaced:
                return set()
        both = list(dict.fromkeys([*wanted, spaced])) if spaced is not None else wanted
        return self._every([code for code in both if code is not None], counts) or self._every(wanted, counts)

    def _every(self, codes: list[str], counts: dict[str, int]) -> set[int]:
        """The passages that hold every one of the codes, one of which at least is rare enough to be a name."""
        if not codes or min(counts[code] for code in codes) > MOST_HOLDERS:
            return set()
        return {row.id for row in chunks.ranked(self._session, self.reach, codes, MOST_HOLDERS, every=True)}

    def _as_written(self, others: list[str], counts: dict[str, int]) -> str | None:
        """The first of the other spellings of a code that a passage has; `counts` learns how many have it."""
        if not others:
            return None
        counts |= chunks.holders(self._session, self.reach, others)
        return next((other for other in others if counts[other]), None)

    def _rarity(self, holders: int) -> float:
        """The inverse document frequency, as FTS5 has it."""
        return max(1e-6, log((self.size - holders + 0.5) / (holders + 0.5)))


def _found(id_: int, score: float, held: set[int]) -> Found:
    return Found(id_, round(min(score, 1.0), 6), id_ in held)
