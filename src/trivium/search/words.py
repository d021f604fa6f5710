"""Words of questions and passages: which say nothing, and which forms belong together.

Used for chunks and artifacts. The index of concepts keeps words as they are (`trivium.search.segment`).
"""

from __future__ import annotations

from trivium.search.segment import plain, tokens
from trivium.search.stop_words import stop_words_of


def question_tokens(text: str) -> list[str]:
    """Distinct index tokens of a question, stop words left out unless there is nothing else.

    >>> question_tokens("Which smells did Signe describe?")
    ['smell', 'sign', 'describ']
    """
    found = list(dict.fromkeys(tokens(text, query=True)))
    silent = stop_words_of(set(found))
    telling = [token for token in found if token not in silent]
    return list(dict.fromkeys(map(stem, telling or found)))


def passage_tokens(text: str) -> list[str]:
    """Index tokens of a passage, repeats included."""
    return passage_line(text).split()


def passage_line(text: str) -> str:
    """Index tokens of a passage with a space between each.

    Tokens never reach over white space, so each word is cut once and remembered: a text has few different ones.
    """
    return " ".join(filter(None, map(_WORDS.__getitem__, plain(text).split())))


class _Words(dict[str, str]):
    """Word to its index tokens with spaces between, filled as words are met."""

    def __missing__(self, word: str) -> str:
        found = " ".join([_STEMS[token] for token in tokens(word)])
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self) > _REMEMBERED:
                self.clear()
            self[word] = found
        return found


_WORDS = _Words()
_LONGEST_REMEMBERED = 40


class _Stems(dict[str, str]):
    """Word to stem, filled as words are met."""

    def __missing__(self, token: str) -> str:
        if len(self) > _REMEMBERED:
            self.clear()
        found = self[token] = stem(token)
        return found


_STEMS = _Stems()
_REMEMBERED = 200_000


def stem(token: str) -> str:
    """A word of Latin letters without its common endings; anything else as it is.

    The endings are those of plurals and verbs in English that do little harm in other languages: both sides are cut
    the same way, so that it matters only that two forms meet, not that the stem is a word.

    >>> [stem(word) for word in ("payments", "studies", "working", "worked", "houses", "kb-1423")]
    ['payment', 'study', 'work', 'work', 'hous', 'kb-1423']
    """
    length = len(token)
    if length < 4 or not token.isascii() or not token.isalpha():
        return token
    cut = token
    if length > 5 and cut.endswith("ies"):
        cut = cut[:-3] + "y"
    elif length > 6 and cut.endswith("ings"):
        cut = cut[:-4]
    elif length > 5 and cut.endswith("ing"):
        cut = cut[:-3]
    elif length > 4 and cut.endswith(("ed", "es")):
        cut = cut[:-2]
    elif cut[-1] == "s" and not cut.endswith(("ss", "us", "is")):
        cut = cut[:-1]
    elif length > 5 and cut.endswith(("en", "er", "em", "et")):
        cut = cut[:-2]
    if len(cut) > 4 and cut[-1] in "ae":
        cut = cut[:-1]
    if len(cut) > 4 and cut[-1] == cut[-2] and cut[-1] not in "aeiouls":
        cut = cut[:-1]
    if len(cut) > 4 and cut[-1] == "i":
        cut = cut[:-1] + "y"
    return cut
