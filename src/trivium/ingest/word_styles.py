"""What the styles and properties of a Word file make of a paragraph: a heading, an item of a list, or running text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from trivium.ingest.word_tree import W, number_of, value_of

_LEVEL = re.compile(r"(?:heading|überschrift|titre|título|titolo|标题|見出し)\s*(\d)", re.IGNORECASE)
_DEEPEST = 10
"""Styles that a style is looked for in, each based on the next."""
MOST_LEVELS = 9
"""Levels of a list."""


class Look(NamedTuple):
    """`level` is that of a heading, 0 for none; `list_` is the number of a list ("" for none), `depth` the level in it.

    `style` is the style that belongs to a level of the list; then `depth` is what the style itself says.
    """

    level: int = 0
    is_item: bool = False
    list_: str = ""
    depth: int = 0
    style: str = ""


class _Style(NamedTuple):
    name: str = ""
    outline: int | None = None
    base: str = ""
    list_: str = ""
    depth: int = 0


class Styles:
    """The styles of one document."""

    def __init__(self, root: Any) -> None:
        self._styles = _read(root)
        self._looks: dict[str, Look] = {}

    def look(self, paragraph: Any) -> Look:
        """What a paragraph is."""
        properties = paragraph.find(W + "pPr")
        if properties is None:
            return Look()
        look = self._of_style(value_of(properties, "pStyle"))
        own = outline(properties)
        if own is not None:
            look = look._replace(level=own)
        numbered = properties.find(W + "numPr")
        if numbered is None:
            return look
        list_ = value_of(numbered, "numId", look.list_)
        if list_ == "0":  # what takes a paragraph out of the list of its style
            return look._replace(is_item=False, list_="")
        depth = number_of(numbered, "ilvl", -1, MOST_LEVELS - 1)
        if depth >= 0 or list_ != look.list_:
            return look._replace(is_item=True, list_=list_, depth=max(depth, 0), style="")
        return look._replace(is_item=True)

    def list_of(self, style: str) -> str:
        """The number of the list that a style names; "" if there is none."""
        return self._styles.get(style, _Style()).list_

    def _of_style(self, id_: str) -> Look:
        known = self._looks.get(id_)
        if known is None:
            known = self._looks[id_] = self._found(id_)
        return known

    def _found(self, id_: str) -> Look:
        style = self._styles.get(id_, _Style())
        match = _LEVEL.match(style.name)
        level = int(match[1]) or 1 if match else 1 if style.name == "Title" else None
        is_item = style.name.lower().startswith("list")
        list_, depth, owner = "", 0, id_
        for _ in range(_DEEPEST):  # what a style does not say may stand in the one that it is based on
            if level is None:
                level = style.outline
            if not list_ and style.list_:
                list_, depth, owner = style.list_, style.depth, id_
            if not style.base:
                break
            id_ = style.base
            style = self._styles.get(id_, _Style())
        if list_ in ("", "0"):
            return Look(level or 0, is_item)
        return Look(level or 0, True, list_, depth, owner)


def outline(properties: Any) -> int | None:
    """The heading level that properties of a paragraph or style give: 0 for running text, None if they say nothing."""
    text = value_of(properties, "outlineLvl")
    return (int(text) + 1) % 10 if len(text) == 1 and text.isascii() and text.isdigit() else None


def _read(root: Any) -> dict[str, _Style]:
    found: dict[str, _Style] = {}
    for style in () if root is None else root.iterchildren(W + "style"):
        properties = style.find(W + "pPr")
        numbered = None if properties is None else properties.find(W + "numPr")
        found[style.get(W + "styleId", "")] = _Style(
            value_of(style, "name"),
            None if properties is None else outline(properties),
            value_of(style, "basedOn"),
            value_of(numbered, "numId"),
            number_of(numbered, "ilvl", 0, MOST_LEVELS - 1),
        )
    return found
