"""Change logs that are outlines, as GNU's: `* Noteworthy changes in release 4.9`, `** Bug fixes`, paragraphs (4.3).

Lines that begin with stars are its headings. One that names a release is a release. Of the others one is a section
where headings of a deeper level, indented paragraphs or items follow: each of these is an entry; else it is an entry
itself, with the text below it as its body.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from trivium.why.changelog import is_outline_release, tells_changes
from trivium.why.plain_documents import BULLET, MARKDOWN_HEADING, Lines, Open

_STAR = re.compile(r"(\*{1,8})[ \t]+(\S.*)")
_ANY_STAR = re.compile(r"^\*{1,8}[ \t]+(?=\S)", re.MULTILINE)
_APART = re.compile(r"^(\*{1,8})[ \t]+(\S.*)$(?=\n[ \t\f]*(?:\n|\Z)|\Z)", re.MULTILINE)
_INNER = re.compile(r"(?:\A|\n[ \t\f]*\n|\n(?:---|\+\+\+)[ \t]*\n)\*\*[ \t]+\S")
_RULE = re.compile(r"\+{3}|-{3,}|={3,}|\*{3,}|_{3,}")
_WRAPPED = 40
"""A heading of fewer characters was not cut by the width of the page: what is indented below it is no more of it."""


def is_outline(text: str) -> bool:
    """Whether a change log is an outline: it has a heading such as `* Changes in 2.0`, or one of two stars.

    >>> is_outline("* Changes in release 2.0\\n\\n  Faster.\\n"), is_outline("2.0\\n\\n* Faster.\\n")
    (True, False)
    """
    if not _ANY_STAR.search(text):
        return False
    stars = {len(match.group(1)) for match in _APART.finditer(text) if tells_changes(match.group(2))}
    if stars:
        return stars == {1}
    return _INNER.search(text) is not None and not MARKDOWN_HEADING.search(text)


class Outline(Lines):
    """Reads the lines of an outline into headings and lists of entries."""

    _base: int | None = None
    """How far the entries of the section are indented."""
    _in_entry = False
    """Whether text belongs to a heading that is an entry."""

    def read(self) -> None:
        self._parsed.outline = True
        super().read()

    def _ways(self) -> list[Callable[[str], bool]]:
        return [self._star, self._rule, *super()._ways()]

    def _rule(self, line: str) -> bool:
        """A line that parts what is above from what is below, or marks an entry."""
        if not _RULE.fullmatch(line):
            return False
        self._end_blocks(self._at + self._offset)
        self._at += 1
        return True

    def _heading(self, line: str) -> bool:
        if self._in_entry and _RULE.fullmatch(self._line(1)) and len(self._line(1)) == 3:
            return False
        if not super()._heading(line):
            return False
        self._begin_section()
        return True

    def _names_release(self, line: str) -> bool:
        return is_outline_release(line)

    def _begin_section(self) -> None:
        self._base, self._in_entry = None, False

    def _star(self, line: str) -> bool:
        match = _STAR.fullmatch(line)
        if match is None:
            return False
        level, text = len(match.group(1)), match.group(2)
        if level == 1 and is_outline_release(text):
            self._add_heading(level, 0, text, 1)
            self._begin_section()
            return True
        title = [text, *self._wrapped(line)]
        if self._is_section(level, title):
            self._add_heading(level, 0, " ".join(title), len(title))
            self._begin_section()
        elif level == 1:
            self._in_entry = False
            return False  # an item of a list
        else:
            self._entry(title)
        return True

    def _wrapped(self, line: str) -> list[str]:
        """The lines that a heading goes on with."""
        found: list[str] = []
        if len(line) < _WRAPPED and not line.endswith(":"):
            return found
        while (more := self._line(len(found) + 1)) and more[0] in " \t" and not BULLET.match(more):
            found.append(more.strip())
        return found

    def _is_section(self, level: int, title: list[str]) -> bool:
        """Whether a heading stands above entries, by what comes next."""
        at = self._at + len(title)
        while at < len(self._lines) and (not self._lines[at].strip() or _RULE.fullmatch(self._lines[at].strip())):
            at += 1
        below = self._lines[at].rstrip() if at < len(self._lines) else ""
        star = _STAR.fullmatch(below)
        if star is not None:
            return len(star.group(1)) > level and len(title) == 1
        if level == 1 or not below:
            return False
        apart = at > self._at + len(title)
        if BULLET.match(below):
            return apart or not title[-1].endswith(":")
        return level == 2 and below[0] in " \t" and len(title) == 1

    def _entry(self, title: list[str]) -> None:
        """A heading that is an entry, whose body is no part of its name."""
        item = self._new_item(0)
        if item is not None:
            self._in_entry = True
            self._open = Open(item.line, title, item)
            self._at += len(title)
            self._close()

    def _item(self, line: str) -> bool:
        if self._in_entry:
            return False
        if not super()._item(line):
            return False
        if self._base is None:
            self._base = _indent(line)
        return True

    def _text(self, line: str) -> None:
        if self._open is not None or not (self._in_entry or line[0] in " \t"):
            super()._text(line)
            return
        items = self._list.items if self._list is not None else []
        if self._in_entry or (items and self._base is not None and _indent(line) > self._base):
            if items:
                self._open = Open(self._at + self._offset, [line.strip()], aside=True)
            else:
                super()._text(line)
        elif self._parsed.headings and (item := self._new_item(_indent(line))) is not None:
            self._base = _indent(line)
            self._open = Open(item.line, [line.strip()], item)
        elif not self._full:
            super()._text(line)


def _indent(line: str) -> int:
    text = line.expandtabs(8)
    return len(text) - len(text.lstrip())
