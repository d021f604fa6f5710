"""Which encoding a short text has: that in which its letters are the likeliest ones of a language, and stand rightly.

Each byte outside ASCII stands for one letter, so that the likelihoods of the same bytes in different encodings can be
compared. For longer texts detectors are right, and faster.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from trivium.ingest.latin import LANGUAGES

ENOUGH = 400
"""Bytes outside ASCII from which on a text is long."""
_CYRILLIC = ("cp1251", "koi8_r", "cp866", "iso8859_5", "koi8_u", "mac_cyrillic")
_OWN = (
    (_CYRILLIC, "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"),  # Russian
    (_CYRILLIC, "оанитвіреслкмудпязьгбйчхцжїшєюфщґ"),  # Ukrainian
    (_CYRILLIC, "аиоентрсвлдкмпъзягбучцжщхфшюьй"),  # Bulgarian
    (_CYRILLIC, "аиоенјрстудкмвпзлбгњчцшћжђхљфџ"),  # Serbian
    (("cp1253", "iso8859_7", "cp737"), "αοιετσνηυρπκμλόςίάωγέδήχθύφβώξζψϊϋΐΰ"),
    (("cp1255", "iso8859_8", "cp862"), "יוהלארמתבשנםעדחקפטןכגצסזךףץ"),
    (("cp1256", "iso8859_6"), "اليمنوتربعدسفةحقكهجشصطأخضذإىئزثءغظآؤ"),
    (("cp874",), "านร่อกเง้มยัลวีดทิสตปะ์คบหืแจพขุใช็ไูำผโถธณซศษึภๆญฐฟฉฯฎฤฮฆฝฬ"),
)
"""The letters of languages that are written in letters of their own, the most frequent first."""
_PRIOR = {"cp1252": 0.0, "cp1251": 0.0, "cp1253": 0.0, "cp1255": 0.0, "cp1256": 0.0, "cp874": 0.0, "gb18030": 0.0}
_RARE = {"mac_cyrillic": -5.0, "koi8_u": -3.0, "cp737": -4.0, "cp862": -4.0, "mac_roman": -3.0, "cp850": -3.0}
_LESS = -1.5
"""How much likelier some encodings are than others, as logarithms: the usual ones, the rare ones, those between."""
_VOWELS = frozenset("оеаиуыяьюэіїєёъαοιεηυωόάίέήύώϊϋΐΰ")
_PAIRS = {(False, False): 0.6, (False, True): 1.5, (True, True): 0.35, (True, False): 1.45}
"""How much likelier a vowel, or a consonant, is after a vowel or a consonant."""
_LAST = frozenset("םןךףץςةى")
"""Letters that stand at the end of words only."""
_NOT_LAST = frozenset("כמנפצσ")
"""Letters that have another form there."""
_UNACCENTED = re.compile(r"\b[α-ω]{5,}\b")
"""Greek words that lack the accent which all but the shortest have."""
_SIGNS = frozenset("«»“”„‘’‚–—…•№§°€£©®™±²³½¼¾µ×¿¡\xa0·،؛؟־׳״")
_HIGH = re.compile(r"[^\x00-\x7f]")
_FLOOR = math.log(1e-5)
_FOREIGN = -4.0
"""For letters of another kind than most of the text."""
_STRANGE = math.log(0.002)
_SURE = math.log(1000)
_JAPANESE = ("euc_jp", "shift_jis")
_EAST_ASIAN = {
    "gb18030": ("gb2312", 0xB0, 0xD7),
    "big5": ("big5", 0xA4, 0xC6),
    "euc_kr": ("euc_kr", 0xB0, 0xC8),
    "euc_jp": ("euc_jp", 0xB0, 0xCF),
    "cp932": ("shift_jis", 0x88, 0x97),
}
"""Encodings of two bytes a character: with the narrower one of their usual characters, and these' first bytes."""


class Guess(Struct, frozen=True):
    """`sure` tells whether other encodings are far less likely."""

    encoding: str
    sure: bool


def guess(sample: bytes) -> Guess | None:
    """The likeliest encoding of a short text; None if there is none in which it is one."""
    high = sum(byte > 127 for byte in sample)
    ascii_ = sum(byte < 128 and chr(byte).isalpha() for byte in sample)
    found: list[tuple[float, str, str]] = []
    for likelihood, encoding, is_latin, text in _candidates(sample):
        foreign = ascii_ > 3 * high if not is_latin else ascii_ + 2 < high
        prior = _PRIOR.get(encoding, _RARE.get(encoding, _LESS)) + foreign * _FOREIGN
        found.append((likelihood + prior, encoding, text))
    if not found:
        return None
    best, encoding, text = max(found, key=lambda item: item[0])
    others = [likelihood for likelihood, _, other in found if other != text]
    return Guess(encoding, best - max(others, default=-math.inf) > _SURE)


def _candidates(sample: bytes) -> Iterator[tuple[float, str, bool, str]]:
    """Encodings with how likely the text is in them, and whether its letters are Latin ones."""
    for encoding, languages in LANGUAGES.items():
        text = _decoded(sample, encoding)
        if text is not None:
            yield max(_latin(text, letters) for letters in languages), encoding, True, text
    for encodings, letters in _OWN:
        for encoding in encodings:
            text = _decoded(sample, encoding)
            if text is not None:
                yield _own(text, letters), encoding, False, text
    for encoding, (usual, first, last) in _EAST_ASIAN.items():
        text = _decoded(sample, encoding)
        if text is not None:
            yield _east_asian(text, usual, first, last), encoding, False, text


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=32)
def _weights(letters: str) -> dict[str, float]:
    """The likelihood of each letter: it falls with its rank, as it does in most languages."""
    weights = [1 / (rank + 4) ** 1.2 for rank in range(len(letters))]
    total = sum(weights) / 0.9
    return {letter: math.log(weight / total) for letter, weight in zip(letters, weights, strict=True)}


def _own(text: str, letters: str) -> float:
    """For a language in letters of its own: frequent ones, capitals first, nothing of ASCII in the same word."""
    weights = _weights(letters)
    total = math.log(0.1) * len(_UNACCENTED.findall(text)) if "ά" in weights else 0.0
    for match in _HIGH.finditer(text):
        sign, before, after = _around(text, match.start())
        if not _is_letter(sign):
            total += _sign(sign, before, after)
            continue
        small = sign.lower()
        value = weights.get(small, _FLOOR)
        if small != sign:
            value += math.log(0.08) if not _is_letter(before) or before.isupper() else _FLOOR
        elif before.isupper() and after.isupper():
            value += _FLOOR
        if (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha()):
            value += math.log(0.02)
        if small in weights and _is_letter(before) and weights.keys() & _VOWELS:
            value += math.log(_PAIRS[before.lower() in _VOWELS, small in _VOWELS])
        if _is_letter(after):
            value += math.log(0.001) if sign in _LAST else 0.0
        elif sign in _NOT_LAST:
            value += math.log(0.05)
        total += value
    return total


def _latin(text: str, letters: str) -> float:
    """For a language in Latin letters: few letters outside ASCII, within words of ASCII."""
    weights = _weights(letters)
    total = 0.0
    for match in _HIGH.finditer(text):
        sign, before, after = _around(text, match.start())
        if not _is_letter(sign):
            total += _sign(sign, before, after)
            continue
        own = weights.get(sign.lower(), _STRANGE)
        if sign != sign.lower():
            own += math.log(0.1) if not before.isalpha() or before.isupper() else _FLOOR
        if before > "\x7f" and before.isalpha():
            own += math.log(0.03)
        elif not before.isalpha() and not after.isalpha():
            own += math.log(0.05)
        total += own
    return total


def _east_asian(text: str, usual: str, first: int, last: int) -> float:
    total = 0.0
    for match in _HIGH.finditer(text):
        sign, before, after = _around(text, match.start())
        if sign > "\u3040" and ((before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha())):
            total += math.log(0.1)
        if "\u3040" <= sign < "\u3100" and usual in _JAPANESE:
            total += math.log(1 / 90)
        elif "\uff61" <= sign < "\uffa0":
            total += math.log(1 / 3_000)
        elif "\u3000" <= sign < "\u3020" or "\uff00" <= sign < "\uff61":
            total += math.log(1 / 60)
        elif "\uac00" <= sign < "\ud7b0" or "\u4e00" <= sign < "\ua000":
            try:
                lead = sign.encode(usual)[0]
            except UnicodeEncodeError:
                lead = 0
            total += math.log(1 / (500 if sign >= "\uac00" else 1_000)) if first <= lead <= last else _FLOOR
        else:
            total += 2 * _FLOOR
    return total


def _around(text: str, at: int) -> tuple[str, str, str]:
    """A sign, and those before and after it; spaces where there are none."""
    return text[at], text[at - 1] if at else " ", text[at + 1] if at + 1 < len(text) else " "


def _is_letter(sign: str) -> bool:
    """Whether a sign is a letter outside ASCII, or one that goes with such letters."""
    return sign > "\x7f" and sign != "µ" and (sign.isalpha() or unicodedata.category(sign) == "Mn")


def _sign(sign: str, before: str, after: str) -> float:
    """For what is no letter: a usual sign that stands beside a word, not within one."""
    if sign in _SIGNS and not (before.isalpha() and after.isalpha() and sign not in "’–·״׳"):
        return math.log(0.01)
    return _FLOOR
