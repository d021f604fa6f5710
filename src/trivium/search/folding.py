"""Letters as search sees them.

Folded are: case, width, accents of Latin and Greek letters, letters that Latin keyboards lack (ł ø đ ð þ ß æ œ, dotted
and dotless i), stress marks of Cyrillic (but и and й, і and ї stay apart), points and marks of Arabic and Hebrew, hamza
forms, teh marbuta, alef maksura, nukta. Kana voiced marks and Hangul stay.
"""

from __future__ import annotations

import re
import unicodedata

_STANDS_FOR = (
    "ı:i Ł:L ł:l Ø:O ø:o Đ:D đ:d Ð:D ð:d Þ:Th þ:th ẞ:SS ß:ss Æ:Ae æ:ae Œ:Oe œ:oe Ħ:H ħ:h Ŧ:T ŧ:t Ŋ:N ŋ:n ĸ:k"
    " Ə:E ə:e Ɛ:E ɛ:e Ɔ:O ɔ:o Ɓ:B ɓ:b Ɗ:D ɗ:d Ɖ:D ɖ:d Ƙ:K ƙ:k Ƴ:Y ƴ:y Ɨ:I ɨ:i"  # Latin
    " آ:ا أ:ا إ:ا ٱ:ا ؤ:و ئ:ي ى:ي ی:ي ة:ه ۀ:ه ک:ك"  # Arabic
    " ‘:' ’:' ʼ:' ʻ:' ′:' ׳:' “:\" ”:\" „:\" ״:\" ‐:- ‒:- –:- −:- ♯:#"  # signs
)
_LETTERS: dict[str, str] = {pair[0]: pair[2:] for pair in _STANDS_FOR.split(" ")}
# Accents, Hebrew points, Arabic marks and tatweel, the nukta, and characters that are not seen.
_DROPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c"
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064]"
)
_REMEMBERED = 0x10000
"""Code points below this are looked up once."""


class _Letters(dict[int, str]):
    """Code point to what stands for it in search, filled as characters are met; for `str.translate`."""

    def __missing__(self, code: int) -> str:
        found = _letter(chr(code))
        if code < _REMEMBERED:
            self[code] = found
        return found


_PLAIN = _Letters()


def _letter(character: str) -> str:
    if _DROPPED.match(character):
        return ""
    if character in _LETTERS:
        return _LETTERS[character]
    parts = unicodedata.normalize("NFD", character)
    base, mark = parts[0], parts[1:2]
    if mark and ((base < "\u0400" and base.isalpha()) or _is_stress(base, mark) or mark == "\u093c"):
        return _LETTERS.get(base, base)
    return character


def _is_stress(base: str, mark: str) -> bool:
    """A Cyrillic letter with a stress mark or diaeresis (ё is е in search), not й or ї."""
    return "\u0400" <= base < "\u0530" and mark in "\u0300\u0301\u0308" and base not in "Іі"


def plain(text: str) -> str:
    """Width, accents and marks away; case stays.

    >>> plain("Đà Nẵng İzmir")
    'Da Nang Izmir'
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_PLAIN)


def fold(text: str) -> str:
    """Case, width, accents and marks away.

    >>> fold("Ångström ＫＩＰ Łódź")
    'angstrom kip lodz'
    """
    return plain(text).casefold()
