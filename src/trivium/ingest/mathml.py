"""Formulas of HTML (MathML) on one line of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_DEEPEST = 60
_SIGNS = {"msup": "^", "mover": "^", "msub": "_", "munder": "_", "mfrac": "/"}


def formula(math: Any) -> str:
    """What an author wrote for a formula to be read out (`alttext`), else its parts with `/`, `^`, `_` and `√`."""
    told = str(math.attributes.get("alttext") or "")
    return told.strip() or " ".join(_written(math, 0).split())


def _written(node: Any, depth: int) -> str:
    if node.is_text_node or depth > _DEEPEST:
        return " ".join((node.text_content if node.is_text_node else node.text() or "").split())
    tag = node.tag
    if not node.is_element_node or tag in ("annotation", "annotation-xml", "mphantom"):
        return ""
    if tag == "mtext":
        return f" {node.text() or ''} "
    parts = [_written(child, depth + 1) for child in _children(node)]
    if tag in _SIGNS and len(parts) == 2:
        return f"{_one(parts[0])}{_SIGNS[tag]}{_one(parts[1])}"
    if tag in ("msubsup", "munderover") and len(parts) == 3:
        return f"{_one(parts[0])}_{_one(parts[1])}^{_one(parts[2])}"
    if tag == "msqrt":
        return f"√{_one(''.join(parts))}"
    if tag == "mroot" and len(parts) == 2:
        return f"{_one(parts[0])}^(1/{parts[1]})"
    return ("; " if tag == "mtable" else ", " if tag == "mtr" else "").join(parts)


def _one(text: str) -> str:
    """A part that what stands beside it does not tear apart.

    >>> _one("12.5"), _one("ab"), _one("(a+b)")
    ('12.5', '(ab)', '(a+b)')
    """
    text = text.strip()
    bare = text.replace(".", "").replace(",", "")
    is_one = bare.isdecimal() or (text[:1] == "(" and text[-1:] == ")" and text.count("(") == 1) or len(text) < 2
    return text if is_one else f"({text})"


def _children(node: Any) -> Iterator[Any]:
    child = node.first_child
    while child is not None:
        if child.is_element_node or (child.is_text_node and (child.text_content or "").strip()):
            yield child
        child = child.next
