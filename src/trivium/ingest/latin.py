"""Which 8-bit encoding a text in Latin letters has: that in which its letters are those of one language."""

from __future__ import annotations

import re
from collections import Counter

_WEST = ("éèàêçîôûùâœëïæüÿ", "üäöß", "óíáéñúü", "ãçéáíóêõâôúà", "èàòùìéîó", "éëïöüóáí", "äåö", "åøæé", "íáðþóöæéúý")
"""French, German, Spanish, Portuguese, Italian, Dutch, Swedish and Finnish, Danish and Norwegian, Icelandic."""
_MIDDLE = ("łężąóśćńź", "íáéěřčžýšůúťňďó", "áíéčžúšýľťňôäďóĺŕ", "áéöóőüíúű", "ăîşţâ", "čšžćđ")
"""Polish, Czech, Slovak, Hungarian, Romanian, Croatian and Slovene."""
LANGUAGES = {
    "cp1252": _WEST,
    "cp1250": _MIDDLE,
    "iso8859_2": _MIDDLE,
    "cp1257": ("āēīšņļūčžģķ", "ėšįūųžąčę", "äõüöšž"),
    "cp1254": ("ıüşöçğâîû",),
    "mac_roman": _WEST,
    "cp850": _WEST,
    "cp852": _MIDDLE,
}
"""The letters outside ASCII of the languages that are written in an encoding, the likelier of both first."""
_INSIDE = re.compile(
    r"(?<=[^\W\d_])[^\x00-\x7f\w’‘–—·‐‑…\xa0\xad](?=[^\W\d_])|(?<![^\W_])[¹²³¼½¾¤¦¨¬¯±´¸×÷ªº](?=[^\W\d_])"
)
"""Signs that stand within a word, or begin one, in no language."""
_MIXED = re.compile("[A-Za-z][\u0370-\u07ff]|[\u0370-\u07ff][A-Za-z]")
_CAPITAL = re.compile(r"(?<=[^\W\d_A-Z])[À-ÖØ-ÞŒŠŸŽ](?=[a-zß-ÿ])")


def is_latin(text: str) -> bool:
    """Whether most of the letters outside ASCII are Latin ones, or stand in words with those of ASCII."""
    letters = [letter for letter in text if letter > "\x7f" and letter.isalpha()]
    own = sum(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in letters)
    return max(2 * own, 3 * len(_MIXED.findall(text))) >= len(letters)


def latin_encoding(sample: bytes, guess: str | None) -> str:
    """The likeliest encoding of a text in Latin letters; `guess` is one more that may be it."""
    best, highest = "cp1252", float("-inf")
    for name in dict.fromkeys([*LANGUAGES, *([guess] if guess else [])]):
        try:
            text = sample.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
        found = _likelihood(text, LANGUAGES.get(name, ("",)))
        if found > highest:
            best, highest = name, found
    return best


def _likelihood(text: str, languages: tuple[str, ...]) -> float:
    """The share of the letters that the best of the languages has; less for signs that stand where none would."""
    letters = Counter(letter for letter in text.lower() if letter > "\x7f" and letter.isalpha() and letter not in "µªº")
    strange = len(_INSIDE.findall(text)) + len(_CAPITAL.findall(text)) + sum("\x7f" <= sign <= "\x9f" for sign in text)
    total = max(1, letters.total() + strange)
    known = max(sum(count for letter, count in letters.items() if letter in language) for language in languages)
    return (known - strange) / total
