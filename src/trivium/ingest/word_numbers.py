"""The numbers that Word shows before paragraphs: they stand in no text, but are counted by the lists of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from trivium.ingest.numerals import numeral
from trivium.ingest.parsed import one_line
from trivium.ingest.word_styles import MOST_LEVELS, Look, Styles
from trivium.ingest.word_tree import W, is_on, number_of, value_of

BULLET = "- "
_PLACE = re.compile("%([1-9])")
_LONGEST_TEXT = 100
_HIGHEST = 1 << 30
_MOST_LINKS = 4
"""Steps from a list to the one whose style it names."""


class _Level(NamedTuple):
    """How a level of a list counts and looks; `text` holds `%1` for the number of the first level, and so on."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    gap: str = " "
    restart: int = -1
    """The level after which it begins anew, counted from 1; 0 for none, -1 for any above it."""
    legal: bool = False
    style: str = ""


class _List(NamedTuple):
    """A list: what it shares its numbers with, its levels, and where it begins anew when it is first used."""

    shared: str
    levels: dict[int, _Level]
    begins: dict[int, int]


class Numbers:
    """The lists of one document. Those of the same definition count on, as Word does it."""

    def __init__(self, root: Any, styles: Styles) -> None:
        nothing: tuple[Any, ...] = ()
        shared = nothing if root is None else root.iterchildren(W + "abstractNum")
        lists = nothing if root is None else root.iterchildren(W + "num")
        self._shared = {item.get(W + "abstractNumId", ""): item for item in shared}
        self._elements = {item.get(W + "numId", ""): item for item in lists}
        self._styles = styles
        self._lists: dict[str, _List | None] = {}
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[tuple[str, int]] = set()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Inside, lists are counted from their start, as in a note or a margin; then as before."""
        before = self._counts, self._begun
        self._counts, self._begun = {}, set()
        yield
        self._counts, self._begun = before

    def next(self, look: Look) -> str | None:
        """What stands before the next paragraph of a list, with the gap after it; None for nothing.

        A list that the file does not define has bullets.
        """
        found = self._list(look.list_)
        if found is None:
            return BULLET if look.is_item else None
        depth = look.depth
        if look.style:
            depth = next((at for at, level in found.levels.items() if level.style == look.style), depth)
        level = found.levels.get(depth, _Level())
        counts = self._count(found, look.list_, depth)
        if level.form == "bullet":
            return BULLET
        places = set(_PLACE.findall(level.text))
        shown = {at: _shown(found, counts, int(at) - 1, depth, level.legal) for at in places}
        mark = one_line(_PLACE.sub(lambda place: shown[place[1]], level.text))
        return mark + level.gap if mark else None

    def _count(self, list_: _List, id_: str, depth: int) -> list[int | None]:
        counts = self._counts.setdefault(list_.shared, [None] * MOST_LEVELS)
        if depth in list_.begins and (id_, depth) not in self._begun:
            self._begun.add((id_, depth))
            counts[depth] = None
        for above in range(depth):
            if counts[above] is None:
                counts[above] = _start(list_, above)
        last = counts[depth]
        counts[depth] = _start(list_, depth) if last is None else last + 1
        for below in (at for at in range(depth + 1, MOST_LEVELS) if counts[at] is not None):
            restart = list_.levels.get(below, _Level()).restart
            if restart < 0 or depth < restart:
                counts[below] = None
        return counts

    # --- definitions ------------------------------------------------------------------------------

    def _list(self, id_: str) -> _List | None:
        if id_ not in self._lists:
            self._lists[id_] = self._read(id_)
        return self._lists[id_]

    def _read(self, id_: str) -> _List | None:
        element = self._elements.get(id_)
        if element is None:
            return None
        shared, definition = self._definition(element)
        if definition is None:
            return None
        levels = {_depth(item): _level(item) for item in definition.iterchildren(W + "lvl")}
        begins = {}
        for override in element.iterchildren(W + "lvlOverride"):
            depth = _depth(override)
            for item in override.iterchildren(W + "lvl"):
                levels[depth] = _level(item)
            begin = number_of(override, "startOverride", -1, _HIGHEST)
            if begin >= 0:
                begins[depth] = begin
        return _List(shared, levels, begins)

    def _definition(self, element: Any) -> tuple[str, Any]:
        """Where the levels of a list are defined: what it refers to, or what a style for lists refers to."""
        shared = value_of(element, "abstractNumId")
        for _ in range(_MOST_LINKS):
            style = value_of(self._shared.get(shared), "numStyleLink")
            linked = self._elements.get(self._styles.list_of(style)) if style else None
            if linked is None:
                break
            shared = value_of(linked, "abstractNumId")
        return shared, self._shared.get(shared)


def _start(list_: _List, depth: int) -> int:
    return list_.begins.get(depth, list_.levels.get(depth, _Level()).start)


def _shown(list_: _List, counts: list[int | None], at: int, depth: int, legal: bool) -> str:
    number = counts[at] if at <= depth else None
    if number is None:
        return ""
    form = list_.levels.get(at, _Level()).form
    return str(number) if legal and form not in ("none", "bullet") else numeral(number, form)


def _depth(item: Any) -> int:
    text = item.get(W + "ilvl", "")
    return min(int(text), MOST_LEVELS - 1) if len(text) == 1 and text.isascii() and text.isdigit() else 0


def _level(item: Any) -> _Level:
    return _Level(
        number_of(item, "start", 0, _HIGHEST),
        value_of(item, "numFmt", "decimal"),
        value_of(item, "lvlText")[:_LONGEST_TEXT],
        "" if value_of(item, "suff") == "nothing" else " ",
        number_of(item, "lvlRestart", -1, MOST_LEVELS),
        is_on(item.find(W + "isLgl")),
        value_of(item, "pStyle"),
    )
