"""The packages, namespaces and modules that a source file says it belongs to, for names such as `acme::Queue`."""

from __future__ import annotations

import re

_MOST, _LONGEST = 32, 256
_START = rb"^[ \t]*(?:export[ \t]+|public[ \t]+|pub[ \t]+|inline[ \t]+|(?:<\?php|\})[ \t]*)*"
_PLACES = {
    language: re.compile(_START + word + rb"[ \t]+([\w.:\\]+)", re.MULTILINE)
    for language, word in {
        "cpp": rb"namespace",
        "csharp": rb"namespace",
        "go": rb"package",
        "java": rb"package",
        "kotlin": rb"package",
        "php": rb"namespace",
        "ruby": rb"(?:module|class)",
        "rust": rb"mod",
        "typescript": rb"(?:namespace|module)",
    }.items()
}


def namespaces(language: str, source: bytes) -> list[str]:
    """Their names as written, ascending; none for languages whose files are known by their place alone.

    >>> namespaces("cpp", b"namespace acme {\\n  namespace net {\\n"), namespaces("java", b"package com.acme;\\n")
    (['acme', 'net'], ['com.acme'])
    """
    places = _PLACES.get(language)
    if places is None:
        return []
    found: set[str] = set()
    for match in places.finditer(source):
        if len(match[1]) <= _LONGEST:
            found.add(match[1].decode("utf-8", "replace"))
        if len(found) == _MOST:
            break
    return sorted(found)
