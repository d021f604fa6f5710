"""The XML of a Word file: its names, and the order in which a reader meets its elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"


def names(text: str) -> frozenset[str]:
    """The full names of elements of Word."""
    return frozenset(W + name for name in text.split())


_SDT, _BOX = W + "sdt", W + "txbxContent"
_AROUND = names("sdtContent customXml ins moveTo hyperlink smartTag fldSimple dir bdo")
"""Elements whose content is read as if it stood in their place."""
_OFF = ("0", "false", "off")
MOST = 1_000
"""The largest number of columns that a file is believed."""


def root_of(part: Any) -> Any:
    """The root element of a part of the package."""
    from docx.oxml.parser import parse_xml

    found = getattr(part, "element", None)
    return parse_xml(part.blob) if found is None else found


def flat(parent: Any, tag: str | None = None) -> Iterator[Any]:
    """The elements in a parent, those in content controls, insertions and the like included; only `tag`, if given."""
    stack = [iter(parent)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif item.tag == _SDT:
            if not _is_generated(item):
                stack.append(iter(item))
        elif item.tag in _AROUND:
            stack.append(iter(item))
        elif item.tag == MC + "AlternateContent":
            stack.append(iter(_chosen(item)))
        elif tag is None or item.tag == tag:
            yield item


def _chosen(alternatives: Any) -> Iterable[Any]:
    """The content of the first alternative; the others say the same for older programs."""
    return next(iter(alternatives), ())


def boxes_in(drawn: Any) -> Iterator[Any]:
    """The outermost text boxes of a drawing."""
    stack = [drawn]
    while stack:
        item = stack.pop()
        if item.tag == _BOX:
            yield item
        elif item.tag == MC + "AlternateContent":
            stack += reversed(list(_chosen(item)))
        else:
            stack += reversed(list(item))


def _is_generated(control: Any) -> bool:
    """Whether a content control shows a placeholder, or a table of contents."""
    properties = control.find(W + "sdtPr")
    if properties is None:
        return False
    if is_on(properties.find(W + "showingPlcHdr")):
        return True
    return any(item.get(W + "val") == "Table of Contents" for item in properties.iter(W + "docPartGallery"))


def is_hidden(run: Any) -> bool:
    properties = run.find(W + "rPr")
    return properties is not None and is_on(properties.find(W + "vanish"))


def is_on(switch: Any) -> bool:
    return switch is not None and switch.get(W + "val", "1") not in _OFF


def value_of(parent: Any, name: str, default: str = "") -> str:
    """The value of a child that has nothing else."""
    found = None if parent is None else parent.find(W + name)
    return default if found is None else str(found.get(W + "val", default))


def number_of(parent: Any, name: str, default: int, most: int = MOST) -> int:
    """The value of a child as a number from 0 to `most`."""
    text = value_of(parent, name)
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 10 else default
