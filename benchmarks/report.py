"""Lines of the report, and the check that both sides say the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import Timing

Response = dict[str, Any]

ANCHORED_GOAL = "1.5x + 30 us"
LONG_GOAL = "1.3x"
UNSEEN_GOAL = "+500 us"
IMPORT_GOAL = "5x"
START_GOAL = "5x"


class DifferentError(Exception):
    """The two sides do not give the same result."""


@dataclass(slots=True, frozen=True)
class Line:
    """One row of the report: medians in the unit of its part, and the ratio of best times."""

    part: str
    name: str
    mode: str
    rows: int
    hand: float
    ours: float
    best: float
    goal: str
    ok: bool

    @property
    def ratio(self) -> float:
        return self.ours / self.hand

    def to_dict(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "name": self.name,
            "mode": self.mode,
            "rows": self.rows,
            "ratio": round(self.ratio, 3),
            "best": round(self.best, 3),
            "sql": round(self.hand, 1),
            "kip": round(self.ours, 1),
            "extra": round(self.ours - self.hand, 1),
            "goal": self.goal,
            "ok": self.ok,
        }


def line(part: str, name: str, mode: str, rows: int, timing: Timing, goal: str) -> Line:
    """A line judged by its goal."""
    met = {
        ANCHORED_GOAL: timing.ours <= 1.5 * timing.hand + 30,
        LONG_GOAL: timing.ours <= 1.3 * timing.hand,
        UNSEEN_GOAL: timing.ours <= timing.hand + 500,
        IMPORT_GOAL: timing.ours <= 5 * timing.hand,
    }[goal]
    return Line(part, name, mode, rows, timing.hand, timing.ours, timing.best, goal, met)


# --- printing -------------------------------------------------------------------------------------


def show_head(title: str, unit: str) -> None:
    print(
        f"\n{title}\n{'':38}{'mode':12}{'rows':>6}{'ratio':>8}{'best':>8}  {'':5}{'goal':14}"
        f"{'SQL ' + unit:>12}{'KIP ' + unit:>12}{'extra':>11}"
    )


def show(found: Line) -> None:
    verdict = "ok" if found.ok else "over"
    print(
        f"{found.name:38}{found.mode:12}{found.rows:>6}{found.ratio:>8.2f}{found.best:>8.2f}"
        f"  {verdict:5}{found.goal:14}{found.hand:>12.1f}{found.ours:>12.1f}{found.ours - found.hand:>11.1f}",
        flush=True,
    )


# --- comparing ------------------------------------------------------------------------------------


def rows_of(response: Response) -> list[Any]:
    """The rows of a FIND result: members of one column, or tuples across several."""
    result = response["result"]
    if isinstance(result, list) and result and all(isinstance(column, list) for column in result):
        return list(zip(*result, strict=True))
    return list(result)


def check_same(name: str, hand: Response, ours: Response, *, ordered: bool = True) -> None:
    """The responses must be equal; where the order of rows is free, as bags. Cursor tokens are each side's own."""
    complete = "result" in ours and ("next_cursor" in hand) == ("next_cursor" in ours)
    if complete and (hand["result"] == ours["result"] or (not ordered and _bag(hand) == _bag(ours))):
        return
    raise DifferentError(f"{name}: the responses differ\n  SQL {_short(hand)}\n  KIP {_short(ours)}")


def check_rows(name: str, hand: Sequence[Any], ours: Sequence[Any]) -> None:
    """Two tables must hold the same rows."""
    if hand == ours:
        return
    place = next((i for i, (a, b) in enumerate(zip(hand, ours, strict=False)) if a != b), min(len(hand), len(ours)))
    raise DifferentError(
        f"{name}: the tables differ at row {place} of {len(hand)} and {len(ours)}\n"
        f"  SQL {hand[place : place + 1]}\n  KIP {ours[place : place + 1]}"
    )


def _bag(response: Response) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows_of(response))


def _short(response: Response) -> str:
    text = json.dumps(response, ensure_ascii=False)
    return text if len(text) < 600 else text[:600] + "…"
