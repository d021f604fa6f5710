"""The packages, namespaces and modules that a source file says it belongs to, for names such as `acme::Queue`."""

from __future__ import annotations

import re
from functools import cache

_MOST, _LONGEST = 32, 256
_START = rb"^[ \t]*(?:export[ \t]+|public[ \t]+|pub[ \t]+|inline[ \t]+|(?:<\?php|\})[ \t]*)*"
_WORDS = {
    "cpp": rb"namespace",
    "csharp": rb"namespace",
    "go": rb"package",
    "java": rb"package",
    "kotlin": rb"package",
    "php": rb"namespace",
    "ruby": rb"(?:module|class)",
    "rust": rb"mod",
    "typescript": rb"(?:namespace|module)",
}


def namespaces(language: str, source: bytes) -> list[str]:
    """Their names as written, ascending; none for languages whose files are known by their place alone.

    >>> namespaces("cpp", b"namespace acme {\\n  namespace net {\\n"), namespaces("java", b"package com.acme;\\n")
    (['acme', 'net'], ['com.acme'])
    """
    if language not in _WORDS:
        return []
    places = _places(language)
    found: set[str] = set()
    for match in places.finditer(source):
        if len(match[1]) <= _LONGEST:
            found.add(match[1].decode("utf-8", "replace"))
        if len(found) == _MOST:
            break
    return sorted(found)


@cache
def _places(language: str) -> re.Pattern[bytes]:
    return re.compile(_START + _WORDS[language] + rb"[ \t]+([\w.:\\]+)", re.MULTILINE)
