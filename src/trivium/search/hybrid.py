"""How keyword and meaning become one score.

Both sides are absolute, and so is what is made of them: it depends on the question and the item alone. More words or
more meaning never lower a score. The figures were chosen on labelled questions (docs/search-quality.md).
"""

from __future__ import annotations

import math

MODES = ("keyword", "semantic", "hybrid")
"""What a search may go by (§5.2): words, meaning, or both."""

FEW = 0.35
"""The share of the words up to which they tell nothing: any text holds a common one."""
BY_HELD, BY_KEYWORD = 0.6, 0.2
"""What a concept gains at most by holding the words in any text, and by its keyword score (names first)."""
DEFINITION = 0.5
"""What the meaning of a definition counts beside that of knowledge: its text is short, and short texts are near to
much. Who looks for definitions names their type, and then it counts in full."""
CEILING = 0.99
"""1.0 is for the very name."""
HELD, NOT_HELD = 0.9, 0.85
"""What a concept scores at least that holds the codes of the question, and at most when it does not."""

HALF = 0.55
"""The share of a question's words from which a passage that holds it is taken to be about them."""
BY_SHARE, BY_COVERAGE = 0.3, 0.8
"""What bm25 and the words held count for a passage beside its meaning, which counts 1."""
ALONE_HALF = 0.45
ALONE_BY_SHARE, ALONE_BY_COVERAGE = 0.6, 1.2
"""The same where there is no meaning, beside the plain share of the words."""
MOST_BY_WORDS, TABLE_BY_WORDS = 0.6, 1.3
"""What a passage is taken to mean at most while it has no vector, and a table when it holds all words: its vector says
little."""


def concept_score(keyword: float, coverage: float, meaning: float | None, codes_held: bool | None) -> float:
    """The hybrid score of a concept, in [0, 1].

    `keyword` is its keyword score, `coverage` the share of the question's telling words that it holds in any field,
    `meaning` the score of its vector (None: it has none), `codes_held` whether it holds every code of the question
    (None: the question has no code).

    >>> concept_score(1.0, 1.0, 0.1, None), concept_score(0.0, 0.0, 0.5, None), concept_score(0.57, 1.0, 0.5, None)
    (1.0, 0.5, 0.857)
    """
    if keyword >= 1.0:
        return 1.0
    words = BY_HELD * _above(FEW, coverage) + BY_KEYWORD * keyword
    both = keyword if meaning is None else 1 - (1 - words) * (1 - _bounded(meaning))
    score = min(both, CEILING)
    if codes_held is not None:
        score = HELD + (CEILING - HELD) * score if codes_held else min(score, NOT_HELD)
    return round(score, 6)


def meaning_score(keyword: float, meaning: float | None) -> float:
    """The score of a concept by meaning alone; its very name is 1.0, without a vector it keeps its keyword score."""
    if keyword >= 1.0:
        return 1.0
    return round(keyword if meaning is None else min(_bounded(meaning), CEILING), 6)


def words_score(share: float, coverage: float) -> float:
    """The score of a passage by its words alone, in [0, 1].

    `coverage` is the part of the question's words that it holds, each counted by how rare it is; `share` is its bm25
    as a part of what a passage with each word about once would have.
    """
    words = ALONE_BY_SHARE * share + ALONE_BY_COVERAGE * math.sqrt(_above(ALONE_HALF, coverage))
    weight = ALONE_BY_SHARE + ALONE_BY_COVERAGE
    return max((min(coverage, MOST_BY_WORDS) + words) / (1 + weight), 0.01 * words / weight)


def words_beside_meaning(share: float, coverage: float) -> float:
    """What the words of a passage add to its meaning: below half of them little, since any text holds a common one.

    >>> round(words_beside_meaning(0.1, 0.275), 6), round(words_beside_meaning(1.0, 1.0), 6)
    (0.015, 1.1)
    """
    return BY_SHARE * share * min(1.0, coverage / HALF) + BY_COVERAGE * _above(HALF, coverage)


def passage_score(words: float, coverage: float, meaning: float | None, *, table: bool = False) -> float:
    """The hybrid score of a passage, from its `words_beside_meaning` and the score of its meaning; no hit below 0.

    A passage without a vector is taken to mean what its words say, and so is a table if that is more than its vector
    says.

    >>> round(passage_score(1.1, 1.0, 0.58), 6), round(passage_score(0.0, 0.0, 0.42), 6)
    (0.8, 0.2)
    """
    if meaning is None:
        meaning = min(coverage, MOST_BY_WORDS)
    if table:
        meaning = max(meaning, TABLE_BY_WORDS * coverage)
    return (meaning + words) / (1 + BY_SHARE + BY_COVERAGE)


def _above(start: float, share: float) -> float:
    """How far a share is on the way from where it begins to tell something to all."""
    return max(0.0, share - start) / (1 - start)


def _bounded(score: float) -> float:
    return min(max(score, 0.0), 1.0)
