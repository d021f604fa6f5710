"""Names of sources: relative paths with `/`, as they are cited."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 1_024
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, and those that turn the direction in which a name is shown."""
_DRIVE = re.compile(r"[A-Za-z]:")


class UnsafeName(ValueError):
    """A name that no source can have; the text says why."""


def source_path(name: str) -> str:
    """The path of a source for a relative file name. Raises: UnsafeName.

    Characters that cannot be printed become U+FFFD; accents are composed, so that a name is the same from every system.

    >>> source_path("contracts/./acme.md")
    'contracts/acme.md'
    """
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        raise UnsafeName("the name is absolute")
    parts = [part for part in beginning_as_stored(name).split("/") if part not in ("", ".")]
    if ".." in name.replace("\\", "/").split("/"):  # backslashes divide folders where packs are unpacked
        raise UnsafeName("the name leads out of its folder with '..'")
    path = "/".join(parts)
    if not path:
        raise UnsafeName("the name is empty")
    if len(path) > LONGEST:
        raise UnsafeName(f"the name is longer than {LONGEST} characters")
    return path


def as_stored(name: str) -> str:
    """The path that a source of this name has, however its accents are typed; what no source can have stays as it is.

    >>> as_stored("u\u0308.md") == "\u00fc.md"
    True
    """
    try:
        return source_path(name)
    except UnsafeName:
        return name


def beginning_as_stored(prefix: str) -> str:
    """What paths begin with whose names begin like this, however that is typed.

    >>> beginning_as_stored("u\u0308/") == "\u00fc/"
    True
    """
    return unicodedata.normalize("NFC", _CONTROLS.sub("\ufffd", prefix))


def is_hidden(path: str) -> bool:
    """Whether any part of a path is one that people do not mean when they name a folder."""
    return any(part in _PASSED_OVER or (part[:1] == "." and part not in _HERE) for part in path.split("/"))


_HERE = (".", "..")
"""Parts that archives begin their names with; `source_path` drops or refuses them."""
_PASSED_OVER = frozenset({"__MACOSX", "__pycache__", "node_modules", "Thumbs.db", "desktop.ini"})
