"""Words that are written in one, with a hyphen or in two: `backup`, `back-up`, `back up`; `Jahres-Gebühr`.

Texts and questions spell them as they like. `wordings` gives a question in the other spellings, so that a search finds
both; `Spellings` tells which words of a text stand for a word of a question in whichever spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from trivium.language.headings import asks_for_latest
from trivium.language.matching import alike
from trivium.search.segment import fold

_LETTERS = "[^\\W\\d_\u0e00-\u0eff\u1000-\u109f\u3040-\ud7af]"
_HYPHENED = re.compile(rf"(?<![\w-]){_LETTERS}{{2,}}(?:-{_LETTERS}{{2,}}){{1,2}}(?![\w-])")
_PARTICLES = "up|out|in|on|off|down|over|back|away"
_VERBS = (
    "back|build|break|check|clean|cut|drop|fall|follow|hand|hold|kick|lock|log|look|opt|pick|play|print|roll|run|set"
    "|shut|sign|stand|start|take|time|turn|warm|work|write"
)
_PHRASE = re.compile(rf"\b({_VERBS})[- ]?({_PARTICLES})\b", re.IGNORECASE)
"""English words of a verb and a particle: in one as a noun, in two as a verb."""
_SHORTEST = 5
_LONGEST = 1_000
"""Characters of a question up to which it is searched for in other spellings."""


def joined(word: str) -> str:
    """A word of letters without its hyphens; codes and numbers keep theirs.

    >>> joined("back-up"), joined("kb-1423")
    ('backup', 'kb-1423')
    """
    return word.replace("-", "") if _HYPHENED.fullmatch(word) else word


def is_phrase(word: str) -> bool:
    """Whether a word is a verb and its particle written in one, whose parts alone tell another thing (`gives it back`).

    >>> is_phrase("backup"), is_phrase("return")
    (True, False)
    """
    return bool(_PHRASE.fullmatch(word))


def wordings(ask: str) -> list[str]:
    """A question with its compound words in other spellings.

    >>> wordings("Is there a back-up command?")
    ['Is there a backup command?', 'Is there a back up command?']
    >>> wordings("Wie hoch ist die Jahres-Gebühr?"), wordings("What is KB-1423?")
    (['Wie hoch ist die Jahresgebühr?', 'Wie hoch ist die Jahres Gebühr?'], [])
    """
    if len(ask) > _LONGEST:
        return []
    changes = ["changelog release notes version"] if asks_for_latest(ask) else []  # lists of them do not say `latest`
    one = _PHRASE.sub(lambda match: match[1] + match[2], _HYPHENED.sub(lambda match: _in_one(match[0]), ask))
    two = _PHRASE.sub(
        lambda match: f"{match[1]} {match[2]}", _HYPHENED.sub(lambda match: match[0].replace("-", " "), ask)
    )
    return [other for other in dict.fromkeys([one, two, *changes]) if other != ask]


def _in_one(word: str) -> str:
    first, *others = word.split("-")
    return first + "".join(part if part.isupper() and len(part) > 1 else part.lower() for part in others)


class Spellings:
    """The words of one text, with those that are written with a hyphen or in two as one."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = frozenset([*words, *map(joined, words)])
        self._pairs: frozenset[str] | None = None
        self._in_order = words

    def in_two(self, word: str) -> bool:
        """Whether two neighbouring words are this one."""
        if len(word) < _SHORTEST or not word.isalpha():
            return False
        if self._pairs is None:
            self._pairs = frozenset(one + other for one, other in pairwise(self._in_order))
        if word in self._pairs or (word.endswith("s") and word[:-1] in self._pairs):
            return True
        phrase = _PHRASE.fullmatch(word)
        if phrase is None:
            return False
        verb, particle = phrase.groups()
        return any(two == particle and alike(verb, one) for one, two in pairwise(self._in_order))


def neighbours(text: str) -> list[str]:
    """Neighbouring words of a text written in one.

    >>> neighbours("How do I back up?")
    ['howdo', 'iback', 'backup']
    """
    words: Iterable[str] = re.findall(r"[a-zà-ÿ]+", fold(text))
    return [one + other for one, other in pairwise(words) if len(one) + len(other) >= _SHORTEST]
