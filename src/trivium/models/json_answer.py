"""A JSON value in what a model wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
MISSING = "missing_property"


class NoJson(ValueError):
    """A text holds no JSON value, or one that says two things at once."""


class _Ambiguous(Exception):
    """An object holds a key twice."""


def read_json(text: str) -> Any:
    """The JSON value that a text is, or that stands in its fence or between its prose. Raises: NoJson.

    >>> read_json('The answer is {"a": 1}.')
    {'a': 1}
    """
    text = _THOUGHT.sub("", text).strip()
    candidates = [text, *(match.strip() for match in _FENCE.findall(text))]
    for sign in "{[":
        start = text.find(sign)
        if start >= 0:
            candidates.append(text[start:])
    for number, candidate in enumerate(candidates):
        try:
            if number < 1 + text.count("```") // 2:
                return _DECODER.decode(candidate)
            value, _ = _DECODER.raw_decode(candidate)
        except _Ambiguous as fault:
            raise NoJson(f"it holds the key `{fault}` twice") from None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], (dict, str))):
            return value
    raise NoJson("it is no JSON")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless it holds a key twice: no reader could tell which of the values is meant."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Ambiguous(key[:100])
        found[key] = value
    return found


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The texts, numbers and truth values of a JSON value, each with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{number}]")
    elif value is not None:
        yield path, value
