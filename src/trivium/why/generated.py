"""Text between a generator's marker and its closing comment: never read as evidence (reference 2.3)."""

from __future__ import annotations

import re
from functools import lru_cache

DEFAULT_MARKERS = ("trivium:generated", "doc-bridge:generated")


@lru_cache(maxsize=32)
def _pattern(markers: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(marker) for marker in markers)
    return re.compile(rf"^[ \t>]*(?:<!--|\{{/\*)[ \t]*(/?)[ \t]*(?:{names})(?![\w-])", re.MULTILINE)


def generated_lines(
    body: str, offset: int, markers: tuple[str, ...], fences: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """First and last line of each generated region, the marker lines included; `offset` lines precede the body.

    A marker shown inside a fence is an example. An unclosed marker owns the rest of the document.

    >>> generated_lines("a\\n<!-- x:gen -->\\nb\\n<!-- /x:gen -->\\n", 0, ("x:gen",), [])
    [(2, 4)]
    """
    if not any(marker in body for marker in markers):
        return []
    found: list[tuple[int, int]] = []
    opened = 0
    line, position = offset + 1, 0
    for match in _pattern(markers).finditer(body):
        line += body.count("\n", position, match.start())
        position = match.start()
        if any(start <= line <= end for start, end in fences):
            continue
        if match.group(1):
            if opened:
                found.append((opened, line))
            opened = 0
        elif not opened:
            opened = line
    if opened:
        found.append((opened, offset + body.count("\n") + 1))
    return found
