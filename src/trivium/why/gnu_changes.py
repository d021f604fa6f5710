"""The files and functions that an entry of a GNU change log begins with: `* src/file.c (main, usage): Text.` (4.3).

The functions of later lines, `(other): Likewise.`, belong to the same files. In change logs of other kinds an entry
counts only where it names a path with a folder, or functions behind a file name.
"""

from __future__ import annotations

import re

from trivium.why.model import Cite
from trivium.why.places import Place

MAX_ENTRY = 8 << 10
MAX_CITES = 64

_FILE = r"`?[\w.+@~-][\w./+@~-]{0,300}`?"
_FILES = re.compile(rf"\s*({_FILE}(?:\s*,\s*{_FILE})*)(?=\s*[:(\[<])")
_NAMES = re.compile(r"\s*\(([^()]{1,1000})\)")
_CONDITION = re.compile(r"\s*(?:\[[^\[\]]{0,200}\]|<[^<>]{0,200}>)")
_COLON = re.compile(r"\s*:(?=\s|$)")
_LATER = re.compile(r"^[ \t]*(?=\()", re.MULTILINE)
_NAME = re.compile(
    r"(?:(?:struct|union|enum|class|static|def|defun|defvar|macro)\s+)?([A-Za-z_$~][\w$.:~-]{0,127}?)(?:\(\))?"
)
_HEADER = re.compile(r"\b\d{4}\b.*[<(][^\s<>()]+(?:@| at )[^<>()]+[>)]")
_EXTENSION = re.compile(r"[^/]\.[A-Za-z][\w+]{0,9}$")


def is_gnu(place: Place) -> bool:
    """Whether a document is a change log of GNU's form by its name: `ChangeLog`, `ChangeLog.2020`, no Markdown."""
    return place.changelog and not place.is_markdown and place.stem.lower().startswith("changelog")


def is_gnu_header(heading: str) -> bool:
    """Whether the heading above an entry is a date with a person and their address, below which text is no Markdown.

    >>> is_gnu_header("2024-01-02  A Person  <a@example.org>"), is_gnu_header("1.2.0 (2024-01-02)")
    (True, False)
    """
    return _HEADER.search(heading[:300]) is not None


def file_cites(text: str, line: int, gnu: bool) -> list[Cite]:
    """The files, and in them the functions, that an entry is about; none for an entry of another form.

    >>> [(cite.value, cite.symbol) for cite in file_cites("lib/a.c (f, g): Check.", 1, gnu=True)]
    [('lib/a.c', None), ('lib/a.c', 'f'), ('lib/a.c', 'g')]
    """
    text = text[:MAX_ENTRY]
    begins = _FILES.match(text)
    if begins is None:
        return []
    files = [name.strip("` \t\n") for name in begins.group(1).split(",")]
    names, end = _named(text, begins.end())
    if end is None or not all(_is_file(name, gnu, bool(names)) for name in files):
        return []
    found = [(name, line) for name in names]
    for later in _LATER.finditer(text, end):
        more, closed = _named(text, later.end())
        if closed is not None:
            found += [(name, line + text.count("\n", 0, later.end())) for name in more]
    cites = [Cite("file", name, line) for name in files]
    cites += [Cite("file", file, at, name) for file in files for name, at in dict(found).items()]
    return cites[:MAX_CITES]


def _named(text: str, position: int) -> tuple[list[str], int | None]:
    """The names in the parentheses that begin here, and where the colon after them ends; None without one."""
    names: list[str] = []
    while True:
        if match := _NAMES.match(text, position):
            parts = match.group(1).split(",")
            names += [name.group(1) for part in parts if (name := _NAME.fullmatch(part.strip(" `\t\n")))]
        elif not (match := _CONDITION.match(text, position)):
            break
        position = match.end()
    colon = _COLON.match(text, position)
    return names, colon.end() if colon else None


def _is_file(name: str, gnu: bool, with_names: bool) -> bool:
    if name.startswith("/") or ".." in name.split("/"):
        return False
    if gnu:
        return bool(re.search(r"[A-Za-z]", name))
    return bool(_EXTENSION.search(name)) and ("/" in name or with_names)
