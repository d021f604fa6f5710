"""Which of several values of one sentence is said of what is asked about, each standing with words of its own.

`The small room costs 40 euros and the large one 70`: what the second part leaves out is that of the first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from msgspec import Struct

from trivium.language.languages import silent_words
from trivium.language.matching import KIN, alike
from trivium.search.segment import tokens

_AND = (
    "(?:and|und|sowie|y|e|et|ed|en|и|while|whereas|but|wahrend|während|aber|mientras|pero|tandis que|mais|mentre|ma"
    "|enquanto|mas|terwijl|maar|а|но)"
)
_PARTS = re.compile(
    rf"\s*[;,；，、](?!\d)\s*(?:{_AND}\s+)?|\s+{_AND}\s+(?=\S)|(?<=\w)\s+ו(?=\w)|\s+و\s?(?=\w)|而|和", re.IGNORECASE
)
_ARTICLE = re.compile(
    r"\s*(?:(?:the|an?|der|die|das|den|dem|eine?\w?|el|la|los|las|una?|le|les|il|lo|gli|i|os?|as?|uma?|de|het|een)\s"
    r"|l['’])",
    re.IGNORECASE,
)
_MOST = 12
"""How many values of a sentence are told apart."""
Span = tuple[int, int]


class _Part(Struct):
    start: int
    stop: int
    words: list[str]
    """What tells what it is about, without values."""
    before: list[str] = []
    """What tells what it is about before the value."""
    behind: list[str] = []
    """What tells what it is about behind the value."""
    names: bool = False
    """Whether it begins with an article: what follows is a thing."""


def told_of(text: str, spans: Sequence[Span], asked: Collection[str]) -> list[Span] | None:
    """Those of some values of a sentence that are said of what is asked; None where that cannot be told.

    >>> said = "The small room costs 40 euros and the large one 70."
    >>> told_of(said, [(21, 29), (48, 50)], ["large", "room", "cost"])
    [(48, 50)]
    >>> told_of(said, [(21, 29), (48, 50)], ["small", "room", "cost"])
    [(21, 29)]
    >>> told_of(said, [(21, 29), (48, 50)], ["room", "cost"])
    """
    if not 1 < len(spans) <= _MOST or not asked:
        return None
    parts = _parts(text, spans)
    if len(parts) < 2:
        return None
    first, *others = parts
    shared = [word for word in first.words if all(_met(word, part.words) for part in others)]
    met = [_own_met(part, [*parts[:at], *parts[at + 1 :]], asked) for at, part in enumerate(parts)]
    best = max(met[1:])
    if best and not _all_met(first, shared, asked) and met[1:].count(best) == 1:
        chosen = parts[1 + met[1:].index(best)]
    elif not best and _says_which(first, shared, asked, others):
        chosen = first
    else:
        return None
    return [span for span in spans if chosen.start <= span[0] < chosen.stop]


def _parts(text: str, spans: Sequence[Span]) -> list[_Part]:
    """The sentence, cut between those neighbouring values that have a comma or an `and` between them."""
    cuts, leads = [0], False
    for before, after in pairwise(spans):
        found = [match.end() for match in _PARTS.finditer(text, before[1], after[1]) if match.end() <= after[0]]
        leads = leads or after[0] in found
        if after[0] in found:  # the value stands before what is said of it: `Ada Moss, the curator, and Bo Lind, …`
            cuts.append(after[0])
        elif not leads:
            cuts += found[:1]
    parts = []
    for start, stop in pairwise([*cuts, len(text)]):
        inside = [span for span in spans if start <= span[0] < stop]
        pieces, at = [], start
        for span in inside:
            pieces.append(text[at : span[0]])
            at = span[1]
        pieces.append(text[at:stop])
        words = _telling(" ".join(pieces))
        before_value = _telling(pieces[0])
        parts.append(_Part(start, stop, words, before_value, _telling(pieces[-1]), bool(_ARTICLE.match(pieces[0]))))
    return parts


def _telling(text: str) -> list[str]:
    found = tokens(text, query=True)
    silent = silent_words(found) | {"one", "ones"}
    return [word for word in found if word not in silent]


def _met(word: str, words: Collection[str]) -> bool:
    return any(alike(word, other) >= KIN for other in words)


def _own_met(part: _Part, others: Sequence[_Part], asked: Collection[str]) -> int:
    """How many words are asked for that this part alone has."""
    return sum(_met(word, part.words) and not any(_met(word, other.words) for other in others) for word in asked)


def _all_met(first: _Part, shared: Sequence[str], asked: Collection[str]) -> bool:
    """Whether all that the first part alone says is asked for, beside what another part says."""
    own = [word for word in first.words if word not in shared]
    return bool(own) and all(_met(word, asked) for word in own)


def _says_which(first: _Part, shared: Sequence[str], asked: Collection[str], others: Sequence[_Part]) -> bool:
    """Whether the first part is asked about, and not only what the others leave out.

    That is its verb where they name another thing (`and the exam on 9 June`), its thing where they have a verb of
    their own (`and ends on 9 June`), or a noun (`and the large one`).
    """
    own = [word for word in first.words if word not in shared]
    if first.behind and not any(part.before for part in others):
        own = [word for word in own if word in first.behind]  # all that stands before the value is left out later
    elif len(subject := [word for word in own if word in first.before]) > 1:
        verb = first.before[-1]
        if not any(part.names for part in others) and verb in subject and not _met(verb, asked):
            return False
        own = [word for word in subject if word != verb]
    fewest = min(len([word for word in part.words if not _met(word, first.words)]) for part in others)
    return sum(_met(word, asked) for word in own) >= (2 if len(own) > fewest > 0 else 1)
