"""The language of a short text, and its function words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from trivium.search.segment import fold, tokens
from trivium.search.stop_words import languages_of, stop_words_of

# Words of requests, and verbs such as `do` and `get`, which say nothing about what is asked for.
_REQUESTS = """get gets got tell give show explain describe list want know find say says mean means need see look across
    between among please nenne nennen zeige erklare beschreibe bitte gib sag sagen dime muestra explica describe lista
    dis montre explique decris liste dimmi mostra spiega elenca diga mostre explique liste noem toon vertel
    назови покажи расскажи опиши перечисли
    macht machen tun durfte sollen mag bekommt bekommen erhalten faire hacer hace hago puede puedo fare faccio posso
    doen делать можно"""
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
)
_SIGNS = {"es": "¿¡ñ", "de": "äöüß", "fr": "êçœ", "pt": "ãõ", "it": "òì"}
DECIMAL_COMMA = frozenset({"de", "es", "fr", "it", "pt", "nl", "ru", "el"})
"""Languages that write 1.234,5 where English writes 1,234.5."""


@cache
def _requests() -> frozenset[str]:
    return frozenset(fold(_REQUESTS).split())


def silent_words(words: Iterable[str]) -> set[str]:
    """Those of the folded words of a text that tell nothing: stop words, and words of requests."""
    known = set(words)
    return stop_words_of(known) | (known & _requests())


def language_of(text: str, *, otherwise: str = "en") -> str:
    """The two-letter code of the language a text is most likely in.

    >>> [language_of(text) for text in ("Wie hoch ist die Gebühr?", "What is the fee?", "费用是多少？")]
    ['de', 'en', 'zh']
    """
    sample = text[:2000]
    letters = sum(map(str.isalpha, sample))
    for code, script in _SCRIPTS:
        if len(script.findall(sample)) * 4 > letters:
            return code
    found = tokens(sample)
    signs = "¿¡ñ" if "¿" in sample or "ñ" in sample else ""
    counts = languages_of(found)
    for code, signs in _SIGNS.items():
        counts[code] += any(sign in sample for sign in signs)
    best = max(counts, key=lambda code: (counts[code], code == otherwise))
    return best if counts[best] else otherwise
