"""When JSON values are the same: numbers by value, booleans apart from numbers."""

from __future__ import annotations

from typing import Any


def equal(left: Any, right: Any) -> bool:
    """Structural equality of JSON values."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(equal(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right) and (isinstance(left, str) == isinstance(right, str))


def plain_numbers(value: Any) -> Any:
    """Floats of integral value as integers, at any depth."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain_numbers(member) for member in value]
    if isinstance(value, dict):
        return {key: plain_numbers(member) for key, member in value.items()}
    return value
