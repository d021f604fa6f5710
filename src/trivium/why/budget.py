"""The token budget of an answer: an estimate and a report, never a shortened answer (reference 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from trivium.why.model import Budget, BudgetTokens, Response, compact
from trivium.why.response import MAX_GUIDANCE

ORDER = ("evidenceExcerpts", "related", "neighbours", "summaries")
"""The sections that other kinds of answers shed, in this order; a `why` answer has none of them."""
_ROLE = len("user")


def tokens(characters: int) -> int:
    """The estimate for a message of the role `user` whose content has so many code points.

    >>> tokens(0), tokens(1), tokens(4)
    (3, 4, 4)
    """
    return -(-(_ROLE + characters) // 4) + 2


def with_budget(response: Response, budget: int, limit: int, cut: Callable[[int], Response]) -> Response:
    """The same answer with its budget report; `cut` gives the answer for a lower limit.

    An answer above the budget stays complete, says `fits: false` and names the largest limit that would fit.
    """
    fits = tokens(length(response)) <= budget
    if not fits:
        hint = _hint(budget, limit, cut)
        guidance = hint if response.guidance is None else f"{response.guidance} {hint}"
        if len(guidance) <= MAX_GUIDANCE:
            response = msgspec.structs.replace(response, guidance=guidance)
    total = tokens(length(response))
    report = Budget(
        budget_tokens=budget,
        tokens=BudgetTokens(total=total, budget=budget, core=total, sections={}),
        fits=fits,
        order=list(ORDER),
        kept=[],
        dropped=[],
        token_method="approximate",
    )
    return msgspec.structs.replace(response, budget=report)


def length(value: Any) -> int:
    """Code points of the compact JSON."""
    return len(compact(value).decode())


def _hint(budget: int, limit: int, cut: Callable[[int], Response]) -> str:
    measure = _Measure()
    least = 0
    for lower in range(limit - 1, 0, -1):
        least = tokens(measure(cut(lower)))
        if least <= budget:
            return f"This answer is above budgetTokens; {lower} is the largest limit that fits."
    least = least or tokens(measure(cut(1)))
    return f"This answer is above budgetTokens and no limit fits; with limit 1 it needs {least} tokens."


class _Measure:
    """The length of answers that share their items: each item is encoded once."""

    def __init__(self) -> None:
        self._items: dict[int, int] = {}

    def __call__(self, response: Response) -> int:
        frame = msgspec.structs.replace(response, entities=[], documents=[], memory_relations=None)
        total = length(frame) + self._sum(response.entities) + self._sum(response.documents)
        if response.memory_relations:
            total += len('"memoryRelations":[],') + self._sum(response.memory_relations)
        return total

    def _sum(self, items: Iterable[Any]) -> int:
        """The items with the commas between them."""
        sizes = [self._size(item) for item in items]
        return sum(sizes) + max(0, len(sizes) - 1)

    def _size(self, item: Any) -> int:
        size = self._items.get(id(item))
        if size is None:
            size = self._items[id(item)] = length(item)
        return size
