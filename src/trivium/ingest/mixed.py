"""Texts in UTF-8 that hold bytes of another encoding as well, as logs and texts put together from several files do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

RUN = re.compile(rb"[\x80-\xff]+")
_SHARE = 8
"""There must be one run of UTF-8 for so many runs of bytes outside ASCII: in other encodings few look like it."""
_BLOCK = 1 << 16
_HALF_SIGN = b"\xe2\x80"
"""What is left of a quotation mark or dash that was cut; as letters it means nothing."""
_OF_TWO_BYTES = frozenset({"gb18030", "gb2312", "gbk", "big5", "big5hkscs", "cp932", "cp949", "euc_jp", "euc_kr"})


def is_mixed(sample: bytes) -> bool:
    """Whether the bytes outside ASCII are partly UTF-8 and partly not."""
    runs = valid = 0
    for match in RUN.finditer(sample):
        runs += 1
        valid += _is_utf8(match[0]) and _is_telling(match[0], sample[match.end() : match.end() + 1])
    return 0 < valid < runs <= valid * _SHARE


def others(sample: bytes) -> bytes:
    """The sample without its UTF-8: letters stand for it, so that words stay words."""
    return RUN.sub(lambda match: b"e" if _is_utf8(match[0]) else match[0], sample)


def decode_mixed(data: bytes, encoding: str, *, is_latin: bool) -> tuple[str, int]:
    """The text with what is not UTF-8 read in that encoding, and how many places that are."""
    read = _by_lines if encoding in _OF_TWO_BYTES else _by_bytes if is_latin else _by_runs
    parts: list[str] = []
    count = 0
    for block in _blocks(data):
        try:
            parts.append(block.decode())
        except UnicodeDecodeError:
            text, found = read(block, encoding)
            parts.append(text)
            count += found
    return "".join(parts), count


def _is_utf8(run: bytes) -> bool:
    try:
        run.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_telling(run: bytes, after: bytes) -> bool:
    """Whether a run is hardly anything but UTF-8; a capital and a quotation mark after it may look like a letter."""
    return len(run) > 2 or run[0] in b"\xc2\xc3" or after.isalpha()


def _blocks(data: bytes) -> Iterator[bytes]:
    """Pieces that end with a line, or at least with a byte of ASCII."""
    start = 0
    while start < len(data):
        stop = data.find(b"\n", start + _BLOCK, start + 4 * _BLOCK) + 1 or min(len(data), start + 4 * _BLOCK)
        while stop < len(data) and data[stop - 1] > 127 and stop - start < 8 * _BLOCK:
            stop += 1
        yield data[start:stop]
        start = stop


def _by_bytes(block: bytes, encoding: str) -> tuple[str, int]:
    """For Latin letters: each byte that is no UTF-8 by itself, since words hold few of them."""
    return _each(block, encoding, _pieces)


def _by_runs(block: bytes, encoding: str) -> tuple[str, int]:
    """For other letters: a whole run, of which a part may look like UTF-8."""
    return _each(block, encoding, lambda run: [(run, _is_utf8(run))])


def _each(block: bytes, encoding: str, pieces: Callable[[bytes], list[tuple[bytes, bool]]]) -> tuple[str, int]:
    count = 0

    def mend(match: re.Match[bytes]) -> bytes:
        nonlocal count
        if _is_utf8(match[0]):
            return match[0]
        parts = []
        for piece, valid in pieces(match[0]):
            count += not valid
            known = valid or piece == _HALF_SIGN
            parts.append(piece if known else piece.decode(encoding, "replace").encode())
        return b"".join(parts)

    return RUN.sub(mend, block).decode("utf-8", "replace"), count


def _pieces(run: bytes) -> list[tuple[bytes, bool]]:
    """The characters of UTF-8 in a run, and what lies between them."""
    found = []
    at = 0
    for match in _CHARACTER.finditer(run):
        if match.start() > at:
            found.append((run[at : match.start()], False))
        found.append((match[0], _is_utf8(match[0])))
        at = match.end()
    if at < len(run):
        found.append((run[at:], False))
    return found


_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def _by_lines(block: bytes, encoding: str) -> tuple[str, int]:
    """For characters of two bytes, of which the second may be one of ASCII."""
    parts = []
    count = 0
    for line in block.splitlines(keepends=True):
        valid = _is_utf8(line)
        count += not valid
        parts.append(line.decode() if valid else line.decode(encoding, "replace"))
    return "".join(parts), count
