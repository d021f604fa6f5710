"""Text to search tokens, the same on write and on read.

- Letters are folded: case, width, and accents of Latin, Greek and Cyrillic letters (but и and й stay apart).
- Words of alphabetic scripts are tokens. `snake_case`, `camelCase` and `KB-1423` are kept whole and in parts.
- Han, Kana, Hangul and Thai have no spaces to rely on: each run gives its characters and its pairs of neighbours.

Tokens hold no white space and no ASCII punctuation but `-`, `_` and `.`, which the index keeps inside tokens.
"""

from __future__ import annotations

import re
import unicodedata

_CJK = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Han
    "\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff"  # Kana
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u3005\u3007"
)
_RUN = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+(?:[-.'’][^\W{_CJK}]+)*", re.UNICODE)
_IS_CJK = re.compile(rf"[{_CJK}]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART = re.compile(r"[-_.'’]+")

# Words that say nothing about what is looked for; dropped from queries that have others.
STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "has",
        "have",
        "how",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "was",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "ein",
        "eine",
        "le",
        "la",
        "les",
        "de",
        "des",
        "du",
        "et",
        "un",
        "une",
        "el",
        "los",
        "las",
        "y",
        "en",
    ]
)


def fold(text: str) -> str:
    """Case, width and accents away.

    >>> fold("Ångström ＫＩＰ")
    'angstrom kip'
    """
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFKC", text).casefold()
    if composed.isascii():
        return composed
    kept = []
    for character in composed:
        parts = unicodedata.normalize("NFD", character)
        kept.append(parts[0] if (len(parts) > 1 and parts[0] < "\u0400") or _is_stress(parts) else character)
    return unicodedata.normalize("NFC", "".join(kept))


def _is_stress(parts: str) -> bool:
    """A Cyrillic letter with a stress mark or diaeresis (ё is е in search), not й or ї."""
    return (
        len(parts) > 1 and "\u0400" <= parts[0] < "\u0530" and parts[1] in "\u0300\u0301\u0308" and parts[0] != "\u0456"
    )


def tokens(text: str, *, query: bool = False) -> list[str]:
    """The tokens of a text in order, repeats included.

    For a query a run of several Han, Kana, Hangul or Thai characters gives its pairs only, and a compound word its
    parts only when they are more than one word for the reader.

    >>> tokens("KB-1423 深色模式")
    ['kb-1423', 'kb', '1423', '深', '色', '模', '式', '深色', '色模', '模式']
    >>> tokens("深色模式", query=True)
    ['深色', '色模', '模式']
    """
    found: list[str] = []
    for match in _RUN.finditer(_widen(text)):
        run = match[0]
        if _IS_CJK.match(run):
            found += _pairs(fold(run), query)
        else:
            found += _words(run, query)
    return found


def _widen(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _pairs(run: str, query: bool) -> list[str]:
    pairs = [run[index : index + 2] for index in range(len(run) - 1)]
    if query:
        return pairs or [run]
    return [*run, *pairs]


def _words(run: str, query: bool) -> list[str]:
    whole = fold(run).replace("’", "'")
    parts = [fold(piece) for part in _PART.split(run) for piece in _CAMEL.split(part) if piece]
    if len(parts) < 2:
        return parts
    compound = whole.replace("'", "")
    if query:
        return [compound]
    joined = [compound] if compound not in parts else []
    return joined + parts


def query_tokens(text: str) -> list[str]:
    """Distinct tokens of a search term; stop words stay only if there is nothing else.

    >>> query_tokens("what is the Acme policy")
    ['acme', 'policy']
    """
    found = list(dict.fromkeys(tokens(text, query=True)))
    telling = [token for token in found if token not in STOP_WORDS]
    return telling or found
