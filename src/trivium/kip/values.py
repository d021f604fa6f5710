"""What a value must be at its place: checks on plain values, for literals while parsing and for parameters when bound.

Each check takes the value and the token it stands at (None if unknown), returns nothing, and raises KipError KIP_1001
with a hint when the value does not fit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from trivium.errors import KipError, printable
from trivium.kip.lexer import MAX_INTEGER, MAX_NESTING, MIN_INTEGER
from trivium.search.hybrid import MODES

MAX_VALUE_NESTING = MAX_NESTING - 4
"""Depth of a stored value: with the brackets of its block around it, a capsule can still carry it."""

Check = Callable[[Any, int | None], None]


def check_limit(value: Any, at: int | None = None) -> None:
    """LIMIT takes a positive integer (§3.5)."""
    if not _is_integer(value) or value < 1:
        _refuse(
            at,
            f"LIMIT must be a positive integer, not {show(value)}",
            "Give a whole number from 1 on, or leave LIMIT out.",
        )


def check_cursor(value: Any, at: int | None = None) -> None:
    """CURSOR takes the non-empty token of an earlier response (§3.5)."""
    if not isinstance(value, str) or not value:
        hint = "Pass next_cursor of the previous response unchanged; leave CURSOR out for the first page."
        _refuse(at, f"CURSOR must be a non-empty string, not {show(value)}", hint)
    check_storable(value, at)


def check_version(value: Any, at: int | None = None) -> None:
    """EXPECT VERSION takes an integer from 0 on (§2.11.2)."""
    if not _is_integer(value) or value < 0:
        hint = "Give the element's metadata._version as it was read, or 0 for an element that must not exist yet."
        _refuse(at, f"EXPECT VERSION must be an integer from 0 on, not {show(value)}", hint)


def check_mode(value: Any, at: int | None = None) -> None:
    """MODE takes one of three words (§5.2.1)."""
    if not isinstance(value, str) or value not in MODES:
        hint = 'Write MODE "keyword", MODE "semantic" or MODE "hybrid", or leave MODE out.'
        _refuse(at, f"MODE must be keyword, semantic or hybrid, not {show(value)}", hint)


def check_threshold(value: Any, at: int | None = None) -> None:
    """THRESHOLD takes a number in [0, 1] (§5.2)."""
    if not _is_number(value) or not 0 <= value <= 1:
        _refuse(at, f"THRESHOLD must be a number from 0 to 1, not {show(value)}", "Write for example THRESHOLD 0.75.")


def check_text(value: Any, at: int | None = None, what: str = "This place") -> None:
    """An id, type, name, predicate, search term or key is a string; `what` begins the message."""
    if not isinstance(value, str):
        _refuse(at, f"{what} must be a string, not {show(value)}", "Pass a JSON string.")
    _check_characters(value, at)


def check_object(value: Any, at: int | None = None, what: str = "This place") -> None:
    """SET ATTRIBUTES, SET METADATA and WITH METADATA take an object."""
    if not isinstance(value, dict):
        _refuse(at, f"{what} must be an object, not {show(value)}", "Pass a JSON object of keys and values.")
    check_storable(value, at)


def check_list(value: Any, at: int | None = None) -> None:
    """The second operand of IN is a list of strings, numbers, booleans and nulls (§3.4.3)."""
    if not isinstance(value, list):
        _refuse(at, f"IN needs a list, not {show(value)}", 'Write IN(?x.name, ["a", "b"]) or pass a JSON array.')
    check_operand(value, at)


def check_operand(value: Any, at: int | None = None) -> None:
    """A FILTER operand is a string, number, boolean, null, or a list of these (§2.7)."""
    members = value if isinstance(value, list) else [value]
    for member in members:
        if isinstance(member, (dict, list)):
            hint = "Compare single values: strings, numbers, true, false, null, or a flat list of them."
            _refuse(at, f"FILTER cannot compare with {show(member)}", hint)
    check_storable(value, at)


def check_update_operand(value: Any, at: int | None = None) -> None:
    """An operand of ADD, MUL, CLAMP or COALESCE is a number (§4.3)."""
    if not _is_number(value):
        hint = "Give a number, a path on the target such as ?x.attributes.count, or a nested expression."
        _refuse(at, f"An update expression takes numbers, not {show(value)}", hint)
    check_storable(value, at)


def check_storable(value: Any, at: int | None = None) -> None:
    """What can be stored: JSON of bounded depth, integers from i64 to u64, finite floats, no NUL or lone surrogate."""
    if isinstance(value, str):
        _check_characters(value, at)
    else:
        _check_storable(value, at, 0)


def show(value: Any, room: int = 80) -> str:
    """A value as a message names it: JSON, shortened, always printable."""
    if isinstance(value, str):
        value = value[: room + 1]
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, TypeError, RecursionError):
        return f"a value of type {type(value).__name__}"
    return printable(text if len(text) <= room else text[: room - 3] + "...")


def short(text: str, room: int = 80) -> str:
    """A name or another text of the input inside a message: on one line, and never long."""
    if len(text) > room:
        text = text[: room - 3] + "..."
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _check_storable(value: Any, at: int | None, depth: int) -> None:
    if isinstance(value, str):
        _check_characters(value, at)
    elif value is None or isinstance(value, bool):
        return
    elif isinstance(value, int):
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            hint = "Use a value from -9223372036854775808 to 18446744073709551615, or pass it as a string."
            _refuse(at, "An integer is out of range", hint)
    elif isinstance(value, float):
        if not math.isfinite(value):
            _refuse(at, "NaN and infinity are no JSON values", "Pass a finite number or null.")
    elif isinstance(value, (list, dict)):
        if depth >= MAX_VALUE_NESTING:
            _refuse(at, f"A value nests deeper than {MAX_VALUE_NESTING}", "Flatten the value.")
        for member in value.values() if isinstance(value, dict) else value:
            _check_storable(member, at, depth + 1)
        if isinstance(value, dict):
            for key in value:
                check_text(key, at, "An object key")
    else:
        _refuse(at, f"{type(value).__name__} is no JSON type", "Pass JSON values only.")


def _check_characters(value: str, at: int | None) -> None:
    if "\0" in value:
        _refuse(at, "A string holds the character U+0000", "Remove the character.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            _refuse(at, "A string holds a lone surrogate", "Pass valid Unicode text.")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value <= MAX_INTEGER


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _refuse(at: int | None, message: str, hint: str) -> None:
    raise KipError("KIP_1001", f"{message}.", hint, at=at)
