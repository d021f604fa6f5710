"""The marks of list items in HTML, as a browser counts them."""

from __future__ import annotations

from typing import Any

from trivium.ingest.numerals import numeral

_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_FARTHEST = 9_999_999


class ListNumbers:
    """Counts the items of the lists that are open."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int, int] | None] = []
        """Form, next number and step of each numbered list, None for one without numbers."""

    def begin(self, tag: str, node: Any) -> None:
        if tag != "ol":
            self._open.append(None)
            return
        step = -1 if "reversed" in node.attributes else 1
        otherwise = _items(node) if step < 0 else 1
        start = _number(node.attributes.get("start"), otherwise)
        self._open.append((str(node.attributes.get("type") or "1"), start, step))

    def end(self) -> None:
        if self._open:
            self._open.pop()

    def next(self, node: Any) -> str:
        """The mark of the next item; empty in a list without numbers."""
        here = self._open[-1] if self._open else None
        if here is None:
            return ""
        form, number, step = here
        number = _number(node.attributes.get("value"), number)
        self._open[-1] = form, number + step, step
        return f"{numeral(number, _FORMS[form])})" if form in _FORMS and number > 0 else f"{number}."


def _number(text: str | None, otherwise: int) -> int:
    text = (text or "").strip()
    is_number = text.removeprefix("-").isdecimal() and len(text) < 8
    return int(text) if is_number and abs(int(text)) <= _FARTHEST else otherwise


def _items(node: Any) -> int:
    count, child = 0, node.first_child
    while child is not None:
        count += child.tag == "li"
        child = child.next
    return count
