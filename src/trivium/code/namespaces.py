"""The packages, namespaces and modules that a source file says it belongs to, for names such as `acme::Queue`."""

from __future__ import annotations

import re

_MOST, _LONGEST = 32, 256
_BEFORE = re.compile(rb"[ \t]*(?:export[ \t]+|public[ \t]+|pub[ \t]+|inline[ \t]+|(?:<\?php|\})[ \t]*)*")
"""What may stand before the word in its line."""
_NAME = re.compile(rb"[ \t]+([\w.:\\]+)")
_WORDS = {
    "cpp": (b"namespace",),
    "csharp": (b"namespace",),
    "go": (b"package",),
    "java": (b"package",),
    "kotlin": (b"package",),
    "php": (b"namespace",),
    "ruby": (b"module", b"class"),
    "rust": (b"mod",),
    "typescript": (b"namespace", b"module"),
}


def namespaces(language: str, source: bytes) -> list[str]:
    """Their names as written, ascending; none for languages whose files are known by their place alone.

    >>> namespaces("cpp", b"namespace acme {\\n  namespace net {\\n"), namespaces("java", b"package com.acme;\\n")
    (['acme', 'net'], ['com.acme'])
    """
    found: set[str] = set()
    for word in _WORDS.get(language, ()):
        at = source.find(word)
        while at >= 0 and len(found) < _MOST:
            end = at + len(word)
            name = _NAME.match(source, end)
            if name is not None and len(name[1]) <= _LONGEST:
                line = max(source.rfind(b"\n", 0, at), source.rfind(b"\r", 0, at)) + 1
                if _BEFORE.fullmatch(source, line, at):
                    found.add(name[1].decode("utf-8", "replace"))
            at = source.find(word, end)
    return sorted(found)
