"""Plain text to blocks: paragraphs, and what looks like a heading in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from trivium.ingest.parsed import HEADING, TEXT, Block, Heading, Parsed, Sections, one_line

_BLANK = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*+(?:\r\n?|\n)\s*+|\f\s*+")
_LINE_END = re.compile(r"\r\n?|\n")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+:.])\1{2,}[ \t]*\Z")
_NUMBERED = re.compile(
    r"(?:(?:§+|Art(?:icle|ikel|ículo|\.)|Section|Sec\.|Chapter|Part|Kapitel|Abschnitt|Appendix|Annex|Schedule)\s*)?"
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3}){1,4}|[IVXLC]{1,6}(?=[.)]))[.):]?\s+\S"
    r"|(?:第[一二三四五六七八九十百0-9]{1,6}[章节節条條編编])",
)
_LONGEST_HEADING = 100


_MARKED = {"adoc": "=", "asciidoc": "=", "org": "*"}
"""Signs that begin a heading in texts of these extensions, one for each level."""


def read_text(text: str, extension: str = "txt") -> Parsed:
    """The blocks of a plain text. A heading is a short line of its own that is underlined, numbered or in capitals."""
    parsed = Parsed(text, (), headings=[])
    parsed.blocks = _blocks(text, parsed, _MARKED.get(extension, ""))
    return parsed


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of the parts of a text that blank lines divide."""
    start = len(text) - len(text.lstrip())
    for match in _BLANK.finditer(text, start):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _blocks(text: str, parsed: Parsed, sign: str) -> Iterator[Block]:
    sections = Sections()
    line, at = 1, 0
    for start, stop, found in _headed(text, sign):
        line += _lines_between(text, at, start)
        at = start
        if found is None:
            yield Block(TEXT, start, stop, sections.path)
            continue
        path = sections.enter(found.level, found.title)
        parsed.headings.append(Heading(found.level, found.title, line, start))
        if not parsed.title:
            parsed.title = found.title
        yield Block(HEADING, start, found.end, path)
        if text[found.end : stop].strip():
            yield Block(TEXT, found.end, stop, path)


class _Found(NamedTuple):
    """A heading that a paragraph begins with, and where it ends."""

    level: int
    title: str
    end: int
    numbered: bool = False


def _headed(text: str, sign: str) -> Iterator[tuple[int, int, _Found | None]]:
    """The paragraphs with their headings. Numbered lines that follow each other are a list, not headings."""
    waiting: tuple[int, int, _Found | None] | None = None
    level = 0  # of the items of the list that goes on
    for start, stop in chain(paragraphs(text), [(len(text), len(text))]):
        found = _heading(text, start, stop, sign)
        if waiting is not None:
            own = waiting[2]
            if own and own.numbered and (level == own.level or (found and found.numbered and found.level <= own.level)):
                level = own.level
                waiting = (waiting[0], waiting[1], None)
            else:
                level = 0
            yield waiting
        waiting = (start, stop, found)


def _lines_between(text: str, start: int, stop: int) -> int:
    count = text.count("\n", start, stop)
    if "\r" in text[start:stop]:
        count += text.count("\r", start, stop) - text.count("\r\n", start, stop)
    return count


def _heading(text: str, start: int, stop: int, sign: str) -> _Found | None:
    first = _LINE_END.search(text, start, min(stop, start + _LONGEST_HEADING + 2))
    if first is None and stop - start > _LONGEST_HEADING:
        return None
    line = text[start : first.start() if first else stop].strip()
    if not line or len(line) > _LONGEST_HEADING:
        return None
    if sign:
        level = len(line) - len(line.lstrip(sign))
        title = one_line(line[level:]) if line[level : level + 1] == " " else ""
        return _Found(min(level, 6), title, first.end() if first else stop) if level > 0 and title else None
    if first is not None:
        second = _LINE_END.search(text, first.end(), stop)
        below = text[first.end() : second.start() if second else stop].rstrip()
        if len(below) <= 2 * _LONGEST_HEADING and _UNDERLINE.match(below) and len(below) >= min(len(line), 3):
            level = {"=": 1, "-": 2}.get(below[0], 3)
            return _Found(level, one_line(line), second.end() if second else stop)
        return None
    if line[-1] in ".,;:!?。，；：！？" and not line.startswith("第"):
        return None
    match = _NUMBERED.match(line)
    if match is not None and len(line.split()) <= 14:
        number = match["number"]
        return _Found(2 + (number.count(".") if number else 0), one_line(line), stop, numbered=True)
    letters = [character for character in line if character.isalpha()]
    if len(letters) >= 4 and all(map(str.isupper, letters)) and len(line.split()) <= 12:
        return _Found(1, one_line(line), stop)
    return None
