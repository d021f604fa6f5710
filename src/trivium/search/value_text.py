"""The value of an attribute as text."""

from __future__ import annotations

from typing import Any


def value_text(value: Any, longest: int | None = None) -> str:
    """What a value says: a text, a number, yes or no, or a list of these, in one line; empty for anything else.

    Of a list that also holds lists or objects the rest is told. What is longer than `longest` is cut between words.

    >>> value_text(["Rust", 1.5, True, {"a": 1}]), value_text(None), value_text("one  two three", 10)
    ('Rust, 1.5, yes', '', 'one two …')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        text = ", ".join(filter(None, (value_text(item) for item in value if not isinstance(item, list))))
    else:
        text = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return text if longest is None or len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
