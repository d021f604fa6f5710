"""The items of YAML sequences that are mappings, as records with a cell for each member."""

from __future__ import annotations

import re

from trivium.language.rows import Cell
from trivium.language.text_lines import Line, lines_of

ENDS = frozenset({".yaml", ".yml"})
_MEMBER = re.compile(
    r"[ \t]*(?:-[ \t]+)*(?P<key>[\w\"'./$@][^:#\n]{0,80}?)[ \t]*:(?:[ \t]+(?P<value>\S.*?))?(?:[ \t]+#.*)?[ \t]*$"
)
_ELEMENT = re.compile(r"[ \t]*-[ \t]+(?P<value>\S.*?)(?:[ \t]+#.*)?[ \t]*$")
_BLOCK = re.compile(r"[|>][+-]?\d?")
_LONGEST = 2_000


def cells_of(text: str, start: int, stop: int) -> list[Cell]:
    """The members of the item `text[start:stop]`, those inside others behind the keys over them; none of another item.

    >>> item = "- name: web1\\n  disk:\\n    size_gb: 80\\n  tags:\\n    - blue\\n    - old\\n"
    >>> [(cell.key, cell.text) for cell in cells_of(item, 0, len(item))]
    [('name', 'web1'), ('disk size_gb', '80'), ('tags', 'blue, old')]
    """
    lines = [line for line in lines_of(text[start:stop]) if line.text.strip() and line.text.lstrip()[0] != "#"]
    over: list[tuple[int, str]] = []
    cells: list[Cell] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        member = _MEMBER.match(line.text)
        if member is None:
            return []
        depth, at = member.start("key"), at + 1
        while over and over[-1][0] >= depth:
            over.pop()
        path = " ".join([*(key for _, key in over), member["key"].strip("\"'")])
        if member["value"] and not _BLOCK.fullmatch(member["value"]):
            begin, end = _bare(member["value"], member.start("value"))
            cells.append(Cell(path, line.text[begin:end], start + line.start + begin, start + line.start + end))
            continue
        inside = _deeper(lines, at, depth, is_text=bool(member["value"]))
        if inside:
            values = [one.text.strip().removeprefix("- ") for one in inside]
            told = (" " if member["value"] else ", ").join(values)
            cells.append(Cell(path, told[:_LONGEST], start + inside[0].start, start + inside[-1].stop))
            at += len(inside)
        else:
            over.append((depth, member["key"].strip("\"'")))
    return cells if len(cells) > 1 else []


def _bare(value: str, at: int) -> tuple[int, int]:
    """Where a value stands without quotation marks or the brackets of a list."""
    marked = len(value) > 1 and (value[0] + value[-1] in ('""', "''", "[]"))
    return (at + 1, at + len(value) - 1) if marked else (at, at + len(value))


def _deeper(lines: list[Line], at: int, depth: int, *, is_text: bool) -> list[Line]:
    """The lines of a text below its key, or the plain elements of the list there."""
    found = []
    for line in lines[at:]:
        own = len(line.text) - len(line.text.lstrip(" \t"))
        element = _ELEMENT.match(line.text)
        plain = element is not None and not _MEMBER.match(line.text)
        if not (own > depth if is_text else plain and own >= depth):
            break
        found.append(line)
    return found
