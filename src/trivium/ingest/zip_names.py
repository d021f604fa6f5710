"""Names in a zip that does not say how they are encoded: programs of Japan and China write those of their system."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence

_UTF8 = 0x800
_WORD = re.compile("[\u3005-\u3007\u3040-\u30ff\u4e00-\u9fff]{2}")
_OTHERS = re.compile("[^\x00-\x7f\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]")


def member_names(members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The names of the members, in the first encoding that makes words of all that are not told.

    >>> info = zipfile.ZipInfo("契約.md".encode("cp932").decode("cp437"))
    >>> member_names([info]), member_names([zipfile.ZipInfo("résumé.md")])
    (['契約.md'], ['résumé.md'])
    """
    names = [info.filename for info in members]
    raw = {at: _bytes(info) for at, info in enumerate(members)}
    unclear = {at: data for at, data in raw.items() if data is not None and not data.isascii()}
    read = _read(list(unclear.values()))
    for at, name in zip(unclear, read or (), strict=False):
        names[at] = name
    return names


def _bytes(info: zipfile.ZipInfo) -> bytes | None:
    if info.flag_bits & _UTF8:
        return None
    try:
        return info.filename.encode("cp437")
    except UnicodeEncodeError:
        return None


def _read(names: Sequence[bytes]) -> list[str] | None:
    for encoding in ("utf-8", "cp932", "gb2312"):
        try:
            read = [name.decode(encoding) for name in names]
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8" or all(_WORD.search(name) and not _OTHERS.search(name) for name in read):
            return read
    return None
