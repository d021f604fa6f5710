"""Codes that steer a terminal, taken out of a text: colours, cursor moves, links, titles, and letters struck twice."""

from __future__ import annotations

import re

_CSI = r"[0-?]*+[ -/]*+(?P<{}>[@-~])"
_STRING = r"[^\x07\x1b\x9c\r\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
_CODE = re.compile(
    rf"(?:\x1b\[|\x9b(?=[0-?])){_CSI.format('final')}"  # colours, erasing, moves
    rf"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_STRING}"  # links, titles and other strings for the terminal
    r"|\x1b(?:[#%()*+./-][0-~]|[78=>])?"  # sets of characters, saved places, keypads; what else begins so
)
_QUOTED = re.compile(rf"(?<!\\)(?P<before>(?:\\\\)*+)\\u00(?:1[bB]\[|9[bB]){_CSI.format('final')}")
"""The first kind as a string of JSON holds it; after an odd number of backslashes it would be a text about it."""
_STRUCK = re.compile(r"([^\s\x08])(?:\x08\1)++|_\x08(?=[^\s\x08])|(?<=[^\s\x08_])\x08_")
"""Bold and underlined letters of manual pages: a letter, a step back, and the letter or a line."""
_MOVES = frozenset("ABCDEFGHIZ`adef")
"""The last letters of codes that move to another place, so that what follows begins a word of its own."""


def without_escapes(text: str, *, is_json: bool = False) -> tuple[str, int]:
    """The text as a reader at a terminal sees it, on the same lines, and how many codes are left out of it.

    >>> without_escapes("\\x1b[1;31mfat\\x1b[0mal N\\x08No_\\x08k")
    ('fatal Nok', 4)
    """
    count = 0
    if "\x1b" in text or "\x9b" in text:
        text, count = _CODE.subn(_instead, text)
    if "\x08" in text:
        text, struck = _STRUCK.subn(r"\1", text)
        count += struck
    if is_json and ("\\u001" in text or "\\u009" in text):
        text, quoted = _QUOTED.subn(_instead, text)
        count += quoted
    return text, count


def _instead(code: re.Match[str]) -> str:
    groups = code.groupdict()
    return (groups.get("before") or "") + (" " if groups["final"] in _MOVES else "")
