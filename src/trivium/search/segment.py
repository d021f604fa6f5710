"""Text to search tokens, the same on write and on read.

- Letters are folded (`trivium.search.folding`).
- Words of alphabetic scripts are tokens. `snake_case`, `camelCase`, `KB-1423` and `3.14` are kept whole and in parts.
- Signs that make a word another one are kept: `C++`, `F#`, `A*`, `.NET`, `#12`, and as one more token `a/b`,
  `user@host`. A name of one or two letters with such a sign is that token alone, so that `C` does not find `C++`.
- Han, Kana, Hangul, Thai, Lao, Khmer and Burmese have no spaces to rely on: each run gives its characters and its
  pairs of neighbours.

Tokens hold no white space and no ASCII punctuation but `-`, `_` and `.`, which the index keeps inside tokens; other
signs stand in them in full width (`c＋＋`), which no token has otherwise, since width is folded.
"""

from __future__ import annotations

import re
from functools import lru_cache

from trivium.search.folding import fold, plain
from trivium.search.stop_words import SHORT

__all__ = ["fold", "is_joined", "line_tokens", "plain", "query_tokens", "tokens"]

_PAIRED = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Han
    "\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff"  # Kana
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109d\u1780-\u17d3\u17dc\u17dd"  # Burmese, Khmer
    "\u3005\u3007"
)
# Vowel signs and other marks that stand inside words; `\w` does not hold them.
_MARKS = (
    "\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75"
    "\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3"
    "\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u135d-\u135f\u1712-\u1734\u1752-\u1773"
    "\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37"
)
_LETTER = rf"[^\W{_PAIRED}]"
_WORD = rf"{_LETTER}++(?:[{_MARKS}]{_LETTER}*+)*+"
_RUN = re.compile(
    rf"""
    [{_PAIRED}]++
    | (?: (?<![.)\]])\.(?=[A-Za-z]) | (?<![\#0-9A-Za-z_])\#(?=\w) )?+  # .NET, #12
      {_WORD}(?:[-.']{_WORD})*+
      (?: \+\+(?![^\W\d]|\+) | \+(?![\w+]) | \#(?![\w\#]) | \*(?![\w*]) )?+  # C++, C++17, A+, C#, A*
    """,
    re.VERBOSE,
)
_JOINED = re.compile(rf"(?<![\w{_MARKS}.+#~-])[\w{_MARKS}.+#~-]++(?:[@/][\w{_MARKS}.+#~-]++)++")
_PLAIN_PATH = re.compile(r"\w++(?:[-./]\w++)*+", re.ASCII)
_IS_PAIRED = re.compile(rf"[{_PAIRED}]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART = re.compile(r"[-_.']+")
_SIGNS = str.maketrans("+#*@/", "＋＃＊＠／")
_LONGEST_JOINED = 100


def tokens(text: str, *, query: bool = False) -> list[str]:
    """The tokens of a text in order, repeats included.

    For a query a run of several characters of a script without spaces gives its pairs only, and a compound word only
    itself.

    >>> tokens("KB-1423 深色模式 C++")
    ['kb-1423', 'kb', '1423', '深', '色', '模', '式', '深色', '色模', '模式', 'c＋＋']
    >>> tokens("深色模式", query=True)
    ['深色', '色模', '模式']
    """
    text = plain(text)
    return _runs(text, query) + _joined(text)


@lru_cache(maxsize=1024)
def line_tokens(line: str) -> tuple[str, str]:
    """The tokens of a line with spaces between: its words, and its paths and addresses. Lines come again and again."""
    line = plain(line)
    return " ".join(_runs(line, False)), " ".join(_joined(line))


def _runs(text: str, query: bool) -> list[str]:
    found: list[str] = []
    if _PLAIN_PATH.fullmatch(text):  # what follows comes to the same, and takes longer
        for run in text.split("/"):
            if run.isalnum() and (run[1:].islower() or len(run) == 1):
                found.append(run.casefold())
            else:
                found += _words(run, query)
        return found
    for match in _RUN.finditer(text):
        run = match[0]
        if run[0] > "\u0e00" and _IS_PAIRED.match(run):
            found += _pairs(run.casefold(), query)
        elif run[0] in ".#" or run[-1] in "+#*":
            found += _signed(run, query, text[match.start() - 1 : match.start()])
        elif run.isalnum() and (run[1:].islower() or len(run) == 1):
            found.append(run.casefold())
        else:
            found += _words(run, query)
    return found


def _pairs(run: str, query: bool) -> list[str]:
    pairs = [run[index : index + 2] for index in range(len(run) - 1)]
    if query:
        return pairs or [run]
    return [*run, *pairs]


def _words(run: str, query: bool) -> list[str]:
    parts: list[str] = []
    for part in _PART.split(run):
        if part.islower():  # nothing to cut, which is slow to find out
            parts.append(part.casefold())
        else:
            parts += [piece.casefold() for piece in _CAMEL.split(part) if piece]
    if len(parts) < 2:
        return parts
    compound = run.casefold().replace("'", "")
    if query:
        return [compound]
    joined = [compound] if compound not in parts else []
    return joined + parts


def _signed(run: str, query: bool, before: str) -> list[str]:
    """A word with signs that belong to it: the word with them, and without unless it is very short."""
    word = run.lstrip(".#").rstrip("+#*")
    lead, trail = run[: run.index(word)], run[len(run) - len(run.lstrip(".#")) + len(word) :]
    if trail == "*" and (len(word) != 1 or not word.isalpha() or before == "*"):  # emphasis, a footnote
        trail = ""
    if not lead and not trail:
        return _words(word, query)
    pieces = _PART.split(word)
    signed = [lead + pieces[0]] if lead else []
    if trail:
        signed.append(pieces[-1] + trail)
    words = [] if trail and len(word) <= 2 and word.isalpha() else _words(word, query)
    return [token.casefold().translate(_SIGNS) for token in signed] + words


def _joined(text: str) -> list[str]:
    """Paths and addresses as one token each."""
    if "/" not in text and "@" not in text:
        return []
    if _PLAIN_PATH.fullmatch(text):  # as in `_runs`
        return [text.casefold().translate(_SIGNS)] if len(text) <= _LONGEST_JOINED else []
    places = " ".join(word for word in text.split() if "/" in word or "@" in word)
    found = [match[0].strip(".-~").casefold().translate(_SIGNS) for match in _JOINED.finditer(places)]
    return [token for token in found if len(token) <= _LONGEST_JOINED]


def is_joined(token: str) -> bool:
    """Whether a token is a path or an address whose parts are tokens of their own."""
    return "／" in token or "＠" in token


def query_tokens(text: str) -> list[str]:
    """Distinct tokens of a search term; stop words stay only if there is nothing else.

    >>> query_tokens("what is the Acme policy")
    ['acme', 'policy']
    """
    found = list(dict.fromkeys(tokens(text, query=True)))
    telling = [token for token in found if token not in SHORT]
    return telling or found
