"""Characters that a text writes as escapes, for what is looked for: the text itself stays as it is."""

from __future__ import annotations

import re

_CODES = re.compile(r"(?:(?<!\\)(?:\\\\)*)(?:\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\})+")
_CODE = re.compile(r"\\u\{?([0-9a-fA-F]{1,6})\}?")
_SPACES = re.compile(r"(?<!\\)((?:\\\\)*)\\[nrtfb]")
_JSON = (".json", ".jsonl", ".ndjson", ".geojson", ".json5", ".jsonc", ".ipynb")


def unescaped(text: str, path: str = "") -> str:
    r"""The text with the characters that `\u0041` stands for, and in JSON with spaces for `\n` and `\t`.

    >>> unescaped(r'{"city": "M\u00fcnchen"}'), unescaped(r'"one\ntwo"', "a.json"), unescaped(r"C:\new", "a.md")
    ('{"city": "München"}', '"one two"', 'C:\\new')
    """
    if "\\" not in text:
        return text
    if "\\u" in text:
        text = _CODES.sub(_characters, text)
    if path.lower().endswith(_JSON):
        text = _SPACES.sub(r"\1 ", text)
    return text


def _characters(match: re.Match[str]) -> str:
    """The characters of a run of codes, in which two may be the halves of one."""
    numbers = [min(int(code, 16), 0x10FFFF) for code in _CODE.findall(match[0])]
    found = "".join(map(chr, numbers)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return match[0][: match[0].index("\\u")] + found
