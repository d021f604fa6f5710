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
    the same way, so that it matters only that the forms of a word meet, not that the stem is one.

    >>> [stem(word) for word in ("payments", "studies", "working", "worked", "houses", "kb-1423")]
    ['payment', 'study', 'work', 'work', 'hous', 'kb-1423']
    >>> [stem(word) for word in ("dates", "dated", "dating", "running", "fixed", "boxes", "servers", "strings")]
    ['date', 'date', 'date', 'run', 'fix', 'box', 'serv', 'string']
    """
    length = len(token)
    if length < 4 or not token.isascii() or not token.isalpha():
        return token
    cut = _verb(token)
    if cut == token:
        cut = _singular(token)
    if len(cut) > 5 and cut.endswith(("en", "er", "em", "et")):
        cut = cut[:-2]
    if len(cut) > 4 and cut[-1] in "ae":
        cut = cut[:-1]
    if cut[-1] == "i":
        cut = cut[:-1] + "y"
    return cut


def _singular(token: str) -> str:
    if len(token) > 4 and token.endswith("ies"):
        return token[:-3] + "y"
    if len(token) > 4 and token.endswith(("sses", "xes", "ches", "shes")):
        return token[:-2]
    return token[:-1] if token[-1] == "s" and not token.endswith(("ss", "us", "is")) else token


def _verb(token: str) -> str:
    """A word without `ed` or `ing`, with the `e` that it lost before it and without the letter that it doubled."""
    for ending, most in (("ings", 6), ("ing", 5), ("ed", 4)):
        if token.endswith(ending) and len(token) > most:
            cut = token[: -len(ending)]
            break
    else:
        return token
    if len(cut) < 3 or _VOWELS.isdisjoint(cut):
        return token
    if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "aeiouls":
        return cut[:-1]
    loses = len(cut) == 3 and cut[1] in _VOWELS and cut[0] not in _VOWELS and cut[2] not in "aeiouwxy"
    return cut + "e" if loses else cut


_VOWELS = frozenset("aeiouy")
