"""Interleaved timing of two ways to do one thing."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any

Call = Callable[[], Any]
Pair = tuple[Call, Call]
"""The hand-written way and ours."""


@dataclass(slots=True, frozen=True)
class Timing:
    """Typical times of one call, in microseconds, and the ratio of the best times, which other work disturbs least."""

    hand: float
    ours: float
    best: float


@contextmanager
def no_collection() -> Iterator[None]:
    """The garbage collector stands still meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def timed(call: Call) -> int:
    """Nanoseconds of one call; its result is gone before the next begins."""
    start = perf_counter_ns()
    call()
    return perf_counter_ns() - start


def interleave(pairs: Sequence[Pair], rounds: int) -> Timing:
    """Time each pair in turn, round after round; who goes first changes with every round.

    The result is the median over the pairs of each pair's median, so that values of unlike sizes do not blur it.
    """
    hands: list[list[int]] = [[] for _ in pairs]
    ours: list[list[int]] = [[] for _ in pairs]
    with no_collection():
        for number in range(rounds):
            for (hand, our), hand_times, our_times in zip(pairs, hands, ours, strict=True):
                if number % 2:
                    our_times.append(timed(our))
                    hand_times.append(timed(hand))
                else:
                    hand_times.append(timed(hand))
                    our_times.append(timed(our))
    best = median(map(min, ours)) / median(map(min, hands))
    return Timing(median(map(median, hands)) / 1000, median(map(median, ours)) / 1000, best)


def rounds_for(pairs: Sequence[Pair], seconds: float) -> int:
    """How many rounds fill the time; the trial run warms both sides up."""
    start = perf_counter()
    for hand, our in pairs:
        hand()
        our()
    once = perf_counter() - start
    return max(4, min(200, int(seconds / max(once, 1e-6))))


def once(pairs: Sequence[Pair], warm: int = 0) -> tuple[Timing, list[tuple[Any, Any]]]:
    """Time pairs that can run only once; gives the results as well. The first `warm` pairs are not counted."""
    hands: list[int] = []
    ours: list[int] = []
    results: list[tuple[Any, Any]] = []
    with no_collection():
        for hand, our in pairs:
            start = perf_counter_ns()
            expected = hand()
            middle = perf_counter_ns()
            found = our()
            end = perf_counter_ns()
            hands.append(middle - start)
            ours.append(end - middle)
            results.append((expected, found))
    del hands[:warm], ours[:warm]
    best = low(ours) / low(hands)
    return Timing(median(hands) / 1000, median(ours) / 1000, best), results


def low(times: list[int]) -> int:
    """A time that one call in ten stays below."""
    return sorted(times)[len(times) // 10]
