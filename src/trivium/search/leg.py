"""Searching one index of one context: its chunks or its artifacts, by the words and by the meaning of a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log

from msgspec import Struct

from trivium.search.hybrid import passage_score, words_score
from trivium.search.meaning import Asked
from trivium.search.passage import CHUNK
from trivium.search.segment import tokens
from trivium.search.stop_words import stop_words_of
from trivium.search.vectors import View
from trivium.search.words import codes, question_tokens, stem
from trivium.store import chunks
from trivium.store.sqlite import Session

MOST_WORDS = 16
"""Words of a question that are looked up, the rarest ones."""
COMMON, SMALL = 0.2, 2_000
"""A word in more than this share of an index that is not small is left out, if two others are there."""
MOST_HOLDERS = 200
"""A code in more passages than that is no name any more."""


class Question(Struct, frozen=True):
    """A wording: its telling words as written, the index tokens of them, and those of its codes."""

    telling: list[str]
    words: list[str]
    codes: list[str]


class Found(Struct, frozen=True):
    """A hit: the id of a chunk or artifact, its score, and whether it holds all codes of the question."""

    id: int
    score: float
    held: bool = False


_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")


def question(text: str) -> Question:
    """A question cut into what is looked for; the endings of possessives are no part of names."""
    text = _POSSESSIVE.sub("", text)
    found = list(dict.fromkeys(tokens(text, query=True)))
    silent = stop_words_of(set(found))
    return Question(
        [token for token in found if token not in silent], question_tokens(text), list(map(stem, codes(text)))
    )


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
        words: dict[int, tuple[float, float]] = {}
        held: set[int] = set()
        for one in questions:
            holders = chunks.holders(self._session, self.reach, [*one.words, *one.codes])
            for id_, score, coverage in self._by_words(one.words, holders, number):
                words[id_] = max(words.get(id_, (0.0, 0.0)), (score, coverage))
            held |= self._by_codes(one.codes, holders)
        if asked is None or view is None:
            found = [_found(id_, by_words, None, held) for id_, by_words in words.items()]
        else:
            found = self._with_meaning(words, held, number, asked, view())
        found.sort(key=lambda hit: (not hit.held, -hit.score, hit.id))
        return found

    def _with_meaning(
        self, words: dict[int, tuple[float, float]], held: set[int], number: int, asked: Asked, view: View
    ) -> list[Found]:
        near = {hit.id: hit for hit in view.nearest(number)}
        found = []
        for id_ in dict.fromkeys([*words, *near]):
            hit = near.get(id_) or view.of(id_)
            meaning = None if hit is None else asked.score(hit.cosine)
            by_words = words.get(id_, (0.0, 0.0))
            if by_words[0] > 0 or (meaning is not None and meaning > 0):
                found.append(_found(id_, by_words, meaning, held))
        return found

    def _by_words(self, words: list[str], holders: dict[str, int], number: int) -> list[tuple[int, float, float]]:
        """The passages that hold most of the words: id, score of the words, and the part of them that it holds.

        Rare words count more; those that no passage holds count too, so that the score compares between questions
        and between contexts.
        """
        known = sorted((word for word in words if holders[word]), key=lambda word: holders[word])[:MOST_WORDS]
        if self.size > SMALL:
            known = [word for place, word in enumerate(known) if place < 2 or holders[word] <= COMMON * self.size]
        rarity = {word: self._rarity(holders[word]) for word in words if word in known or not holders[word]}
        whole = sum(rarity.values())
        found = []
        for match in chunks.ranked(self._session, self.reach, known, number):
            coverage = sum(rarity[word] for place, word in enumerate(known) if match.held >> place & 1) / whole
            found.append((match.id, words_score(min(1.0, match.bm25 / whole), coverage), coverage))
        return found

    def _by_codes(self, wanted: list[str], holders: dict[str, int]) -> set[int]:
        """The passages that hold every code of the question."""
        if not wanted or not all(holders[code] > 0 for code in wanted):
            return set()
        if min(holders[code] for code in wanted) > MOST_HOLDERS:
            return set()
        return {row.id for row in chunks.ranked(self._session, self.reach, wanted, MOST_HOLDERS, every=True)}

    def _rarity(self, holders: int) -> float:
        """The inverse document frequency, as FTS5 has it."""
        return max(1e-6, log((self.size - holders + 0.5) / (holders + 0.5)))


def _found(id_: int, words: tuple[float, float], meaning: float | None, held: set[int]) -> Found:
    score = max(passage_score(*words, meaning), 0.01 * words[0])
    return Found(id_, round(min(score, 1.0), 6), id_ in held)
