"""Whether passages support what a JSON value says, leaf by leaf."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from trivium.answers.composer import Cited
from trivium.language.languages import silent_words
from trivium.models.json_answer import leaves
from trivium.models.support import STRONG, WEAK, Backing, Support
from trivium.search.segment import tokens

Opinion = Callable[[str], "tuple[bool, list[Cited]] | None"]
"""What passages plainly say to the yes-or-no question that a place of the value stands for, with the quotes."""
THE_VALUE = "the value"
"""The place of a value that is no object and no list."""
_YES_NO = {"yes": True, "true": True, "no": False, "false": False, "ja": True, "nein": False}
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MOST_OPINIONS = 32


class Grounds:
    """Which parts of a JSON value stand in passages: the quotes, and the places of those that stand in none."""

    def __init__(self, value: Any, support: Support, shape: dict[str, Any], said: str, opinion: Opinion) -> None:
        self.cited: list[Cited] = []
        self.unfounded: list[str] = []
        """Numbers, dates and codes that no passage holds, and a yes or no that a passage denies."""
        self.loose: list[str] = []
        """Texts of which no passage has the words, choices that stand in none, and what none says yes or no to."""
        self.echoed: list[str] = []
        """What the question holds and no passage."""
        self.checked = 0
        """Parts that must stand in a passage; a choice or a yes or no may follow from one in other words."""
        self.told = 0
        """Parts that the results of tools say; nothing can be cited for them."""
        self.is_empty = True
        self._support = support
        self._about: set[str] = set()
        """The words that tell what the part at hand is about: its name, and the texts of its row."""
        self._opinion = opinion
        choices = set(_choices(shape))
        found = list(leaves(value))
        for number, (path, leaf) in enumerate(found):
            self.is_empty = False
            self._about = _about(path, found)
            place = path or THE_VALUE
            verdict = leaf if isinstance(leaf, bool) else _YES_NO.get(leaf.lower()) if leaf in choices else None
            if verdict is not None:
                self._judge(path, place, verdict, heard=number < _MOST_OPINIONS)
            elif leaf in choices:
                self._choose(place, leaf)
            else:
                self._check(place, leaf, said)

    @property
    def missing(self) -> str | None:
        """A place that needs a passage when nothing in the value rests on one; None when something does."""
        rests = self.cited or self.told or not self.checked
        return None if rests else next(iter((*self.unfounded, *self.loose, *self.echoed)), THE_VALUE)

    def _judge(self, path: str, place: str, verdict: bool, *, heard: bool) -> None:
        opinion = self._opinion(path) if heard else None
        if opinion is None:
            self.loose.append(place)
            return
        plain, quotes = opinion
        if plain != verdict:
            self.unfounded.append(place)
        for cited in quotes:
            self._cite(cited)

    def _choose(self, place: str, choice: Any) -> None:
        backing = self._support.find_value(choice) if isinstance(choice, str) else None
        if backing is None:
            self.loose.append(place)
        else:
            self._cite_backing(backing)

    def _check(self, place: str, leaf: Any, said: str) -> None:
        self.checked += 1
        backing = _backing(leaf, self._support, self._about)
        if backing is not None:
            if isinstance(leaf, (int, float)) and self._is_of_another(float(leaf), said):
                self.unfounded.append(place)
            self._cite_backing(backing)
        elif self._support.told(str(leaf)):
            self.told += 1
        else:
            exact = not isinstance(leaf, str) or (any(map(str.isdigit, leaf)) and len(leaf.split()) < 4)
            echoed = exact and _stands_alone(str(leaf), said)
            (self.echoed if echoed else self.unfounded if exact else self.loose).append(place)

    def _is_of_another(self, amount: float, said: str) -> bool:
        """Whether passages say a number of something else alone than its place, or what is asked about."""
        if self._support.is_swapped(amount, self._about):
            return True
        words = {*self._about, *tokens(said, query=True)}
        return self._support.is_swapped(amount, words - silent_words(words))

    def _cite_backing(self, backing: Backing) -> None:
        self._cite(Cited(self._support.passages[backing.number], backing.quote))

    def _cite(self, cited: Cited) -> None:
        if all((one.passage.id, one.quote) != (cited.passage.id, cited.quote) for one in self.cited):
            self.cited.append(cited)


def _choices(shape: Any) -> Iterator[str]:
    """The texts that a shape lets choose from."""
    pending = [shape]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            named = part.get("enum")
            offered = [*(named if isinstance(named, list) else ()), part.get("const")]
            yield from (one for one in offered if isinstance(one, str))
            pending += part.values()
        elif isinstance(part, list):
            pending += part


def _stands_alone(value: str, text: str) -> bool:
    """Whether a value stands in a text, and not as a part of another one.

    >>> [_stands_alone(value, "Did ZX-9 cost 20 euros?") for value in ("20", "9", "2")]
    [True, False, False]
    """
    return bool(re.search(rf"(?<![\w.,-]){re.escape(value)}(?![\w-]|[.,]\d)", text))


def _about(path: str, found: list[tuple[str, Any]]) -> set[str]:
    """The words of a place's own name and, in an object of a list, of the texts beside it.

    >>> sorted(_about("[0].days", [("[0].role", "Nurses"), ("[0].days", 29), ("[1].role", "Doctors")]))
    ['days', 'nurses']
    """
    row, _, name = path.rpartition(".")
    text = _HUMP.sub(" ", name.partition("[")[0]).replace("_", " ")
    if row.endswith("]"):
        beside = (leaf for other, leaf in found if other.startswith(f"{row}.") and isinstance(leaf, str))
        text = " ".join([text, *beside])
    words = {word for word in tokens(text, query=True) if not any(map(str.isdigit, word))}
    return words - silent_words(words)


def _backing(leaf: Any, support: Support, about: set[str]) -> Backing | None:
    if isinstance(leaf, (int, float)):
        return support.find_number(float(leaf), about)
    exact = support.find_value(leaf)
    if exact is not None or not leaf.strip():
        return exact
    best = support.best(leaf)
    if best is None:
        return None
    if not best.measured and best.held == 1.0 and len(leaf.split()) >= 4:
        return best
    return best if best.score >= (STRONG if len(leaf.split()) < 4 else WEAK) else None
