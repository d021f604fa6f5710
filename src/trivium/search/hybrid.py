"""How keyword and meaning become one score.

Both sides are absolute, and so is what is made of them: it depends on the question and the item alone. More of either
side never lowers a score. The figures were chosen on the tuning half of `tests/data/probes` (docs/search-quality.md).
"""

from __future__ import annotations

import math

MODES = ("keyword", "semantic", "hybrid")
"""What a search may go by (§5.2): words, meaning, or both."""

KNEE, FAINT, FULL = 0.6, 0.005, 0.9
"""Up to the knee the share of the words that a concept holds tells little, since any text holds a few common ones;
above it words count more and more, up to `FULL` for all of them."""
CEILING = 0.99
"""1.0 is for the very name."""
HELD, NOT_HELD = 0.9, 0.85
"""What a concept scores at least that holds the codes of the question, and at most when it does not."""

HALF, BY_SHARE, BY_COVERAGE = 0.45, 0.6, 1.2
"""Passages: words count from about half of them on, quickly then, and up to nearly twice as much as meaning; their bm25
counts half of that.
"""
MOST_BY_WORDS = 0.6
"""What a passage is taken to mean at most while it has no vector."""


def concept_score(keyword: float, coverage: float, meaning: float | None, codes_held: bool | None) -> float:
    """The hybrid score of a concept, in [0, 1].

    `keyword` is its keyword score, `coverage` the share of the question's telling words that it holds in any field,
    `meaning` the score of its vector (None: it has none), `codes_held` whether it holds every code of the question
    (None: the question has no code).

    >>> concept_score(1.0, 1.0, 0.1, None), concept_score(0.0, 0.0, 0.5, None), concept_score(0.57, 1.0, 0.5, None)
    (1.0, 0.5, 0.95)
    """
    if keyword >= 1.0:
        return 1.0
    words = _counted(max(keyword, coverage))
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
    """What the words of a passage count, in [0, 1].

    `coverage` is the part of the question's words that it holds, each counted by how rare it is; `share` is its bm25
    as a part of what a passage with each word about once would have.
    """
    met = math.sqrt(max(0.0, (coverage - HALF) / (1 - HALF)))
    return (BY_SHARE * share + BY_COVERAGE * met) / (BY_SHARE + BY_COVERAGE)


def passage_score(words: float, coverage: float, meaning: float | None) -> float:
    """The hybrid score of a passage, from its `words_score` and the score of its meaning; below 0 it is no hit.

    A passage without a vector is taken to mean what its words say.

    >>> round(passage_score(1.0, 1.0, 0.44), 6), round(passage_score(0.0, 0.0, 0.42), 6)
    (0.8, 0.15)
    """
    weight = BY_SHARE + BY_COVERAGE
    guess = min(coverage, MOST_BY_WORDS) if meaning is None else meaning
    return (guess + weight * words) / (1 + weight)


def _counted(share: float) -> float:
    """What a share of words counts beside meaning."""
    if share <= KNEE:
        return FAINT * share
    start = FAINT * KNEE
    return start + (FULL - start) * (share - KNEE) / (1 - KNEE)


def _bounded(score: float) -> float:
    return min(max(score, 0.0), 1.0)
