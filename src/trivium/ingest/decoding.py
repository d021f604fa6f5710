"""Bytes to text: by byte-order mark, as UTF-8, or by a guess that the document's notes tell."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from contextlib import suppress

from trivium.counting import counted
from trivium.ingest import alphabets
from trivium.ingest.latin import is_latin, latin_encoding
from trivium.ingest.mixed import decode_mixed, is_mixed, others
from trivium.ingest.parsed import Unreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 1 << 18
_NOT_ASCII = bytes(range(128, 256))
_HIGH = re.compile(rb"[\x80-\xff]")
_AROUND, _LONG = 200, 4_000
_BROKEN = 20
"""How many well-formed characters outside ASCII there must be for each broken one of a damaged UTF-8 text."""


def decode(data: bytes) -> tuple[str, str | None]:
    """The text and a note when its encoding was guessed or damaged. Raises: Unreadable for what is no text.

    >>> decode("na\u00efve".encode("utf-16"))
    ('naïve', None)
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], name)
    if b"\0" in data:
        return _with_zeros(data)
    if b"\x1b$" in data and (text := decode_declared(data, "iso2022_jp")) is not None:
        return text, "read as ISO2022_JP (guessed: it holds its escape sequences)"
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        return _guessed(data)


_NOT_OF_TEXTS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
"""Codecs of Python that no file declares in earnest; some take time that grows with the square of the text."""


_MEANT = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874"}
"""What pages and messages mean by the name of an encoding, as browsers have it: letters where it has control codes."""


def decode_declared(data: bytes, charset: str) -> str | None:
    """The text in the encoding that a file declares; None when there is no such encoding, or it is another one."""
    try:
        name = codecs.lookup(charset).name
        if name.replace("-", "_") in _NOT_OF_TEXTS:
            return None
        if (meant := _MEANT.get(name)) is not None and any(0x80 <= byte < 0xA0 for byte in data):
            with suppress(ValueError):
                return data.decode(meant).replace("\0", "\ufffd")
        return data.decode(charset).replace("\0", "\ufffd")
    except (LookupError, ValueError):
        return None


def _strict(data: bytes, name: str) -> tuple[str, str | None]:
    text = data.decode(name, "replace")
    note = f"some bytes are not {name.upper()} and were replaced" if "\ufffd" in text else None
    return (text.replace("\0", "\ufffd"), note) if "\0" in text else (text, note)


def _with_zeros(data: bytes) -> tuple[str, str | None]:
    """Text with zero bytes: UTF-16 or UTF-32 without a mark, or another with a few of them; else it is no text."""
    few = data.count(0) <= len(data) // 1000 + 1
    if few and (text := _plain_utf8(data)) is not None:  # two ASCII letters would pass for one Han character
        return text.replace("\0", "\ufffd"), "zero bytes were replaced"
    name = _wide(data)
    if name is not None:
        return data.decode(name), f"read as {name.upper()} (guessed: there is no byte-order mark)"
    if not few:
        raise Unreadable("this is no text file (it holds zero bytes)")
    text, note = decode(data.replace(b"\0", b"\x1a"))
    return text.replace("\x1a", "\ufffd"), note or "zero bytes were replaced"


def _plain_utf8(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if _usual(text[:_SAMPLE].replace("\0", " ")) else None


def _wide(data: bytes) -> str | None:
    """The encoding of two or four bytes a character in which all of this is text, if there is one."""
    best, most = None, 0.0
    for name in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        share = _usual(text[:_SAMPLE])
        if share > most and "\0" not in text:
            best, most = name, share
    return best


def _usual(sample: str) -> float:
    """The share of spaces, line ends and ASCII, and less so of other letters; 0 if there is what texts do not hold."""
    kinds = Counter(map(unicodedata.category, sample))
    strange = kinds["Cn"] + kinds["Co"] + sum(sign < " " and sign not in "\t\n\r\f\x0b" for sign in sample)
    if strange * 100 > len(sample):
        return 0.0
    plain = len(sample.encode("ascii", "ignore")) + sum(map(sample.count, "，。、；：？！（）「」"))
    letters = sum(kinds[kind] for kind in ("Ll", "Lu", "Lo", "Mn", "Mc"))
    return (plain + 0.5 * letters) / len(sample)


def _guessed(data: bytes) -> tuple[str, str | None]:
    sample = _telling(data)
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    ascii_ = len(text.encode("ascii", "ignore"))
    damaged = len(text) - ascii_ - broken > _BROKEN * broken
    if damaged and (not is_latin(text[:_SAMPLE]) or (broken == 1 and text.endswith("\ufffd"))):
        return text, f"not UTF-8, and replaced: {counted(broken, 'byte')}"
    if damaged or is_mixed(sample):
        return _mixed(data, others(sample))
    found, sure = _detected(sample)
    for choice in (found, "cp1252", "latin-1"):
        try:
            text = data.decode(choice)
        except (UnicodeDecodeError, LookupError):
            continue
        if _is_binary(text):
            raise Unreadable("this is no text file (most of it is not readable in any encoding)")
        doubt = "" if sure and choice == found else "; too few letters outside ASCII to be sure"
        return text, f"read as {choice.upper()} (guessed: it is not UTF-8{doubt})"
    raise Unreadable("its encoding is unknown")


def _mixed(data: bytes, sample: bytes) -> tuple[str, str | None]:
    """UTF-8 with something else, whose encoding is guessed from what is not UTF-8 in a sample."""
    encoding = _detected(sample)[0]
    latin = is_latin(sample.decode(encoding, "replace"))
    text, count = decode_mixed(data, encoding, is_latin=latin)
    if _is_binary(text):
        raise Unreadable("this is no text file (most of it is not readable in any encoding)")
    note = f"{counted(count, 'place')} not in UTF-8, read as {encoding.upper()} (guessed: the rest is UTF-8)"
    lost = text.count("\ufffd")
    return text, f"{note}; replaced: {counted(lost, 'character')}" if lost else note


def _telling(data: bytes) -> bytes:
    """The lines that hold bytes outside ASCII, as many as a guess needs; of a long line what is around them."""
    if len(data) <= _SAMPLE:
        return data
    parts, size, at = [], 0, 0
    while size < _SAMPLE and (found := _HIGH.search(data, at)):
        start = max(at, found.start() - _AROUND, data.rfind(b"\n", at, found.start()) + 1)
        stop = data.find(b"\n", found.start(), found.start() + _LONG) + 1
        at = stop or found.start() + _LONG
        parts.append(data[start:at])
        size += at - start
    return b"".join(parts)[: 2 * _SAMPLE]


_SHIFT_JIS = ["cp932", "shift_jis", "shift_jis_2004", "shift_jisx0213"]
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")


def _detected(sample: bytes) -> tuple[str, bool]:
    """The likeliest encoding, and whether others are far less likely."""
    short = alphabets.guess(sample) if _high(sample) <= alphabets.ENOUGH else None
    if short is not None:
        return short.encoding, short.sure
    found = _guess(sample, [])
    if found in _SHIFT_JIS:
        text = sample.decode(found, "replace")
        if len(_HALF_WIDTH.findall(text)) * 3 > len(text):  # Cyrillic letters look like half the width of a kana there
            found = _guess(sample, _SHIFT_JIS) or found
    if found is not None and not is_latin(sample.decode(found, "replace")):
        return found, True
    return latin_encoding(sample, found), True


def _high(data: bytes) -> int:
    """How many bytes are outside ASCII."""
    return len(data) - len(data.translate(None, _NOT_ASCII))


def _guess(sample: bytes, excluded: list[str]) -> str | None:
    """What the detector takes the encoding for; None without it, or when it does not know."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return None
    best = from_bytes(sample, cp_exclusion=excluded).best()
    return None if best is None else str(best.encoding)


def _is_binary(text: str) -> bool:
    sample = text[:_SAMPLE]
    strange = sum(map(sample.count, map(chr, [*range(1, 9), *range(14, 27), *range(28, 32), 127])))
    return strange > len(sample) // 50 + 1
