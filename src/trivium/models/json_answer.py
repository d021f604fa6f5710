"""A JSON value in what a model wrote, and whether passages support what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from trivium.models.composer import Cited
from trivium.models.support import STRONG, WEAK, Backing, Support

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
MISSING = "missing_property"


class NoJson(ValueError):
    """A text holds no JSON value."""


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
                return json.loads(candidate, parse_constant=_no_constant)
            value, _ = _DECODER.raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], (dict, str))):
            return value
    raise NoJson("it is no JSON")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


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


class Grounds:
    """Which parts of a JSON value stand in passages: the quotes, and the places of those that stand in none."""

    def __init__(self, value: Any, support: Support, shape: dict[str, Any], said: str) -> None:
        self.cited: list[Cited] = []
        self.unfounded: list[str] = []
        """Numbers, dates and codes that no passage holds."""
        self.loose: list[str] = []
        """Texts of which no passage has the words."""
        self.checked = 0
        self.told = 0
        """Parts that the results of tools say; nothing can be cited for them."""
        schema = json.dumps(shape, ensure_ascii=False)
        numbers: set[tuple[str, str]] = set()
        for path, leaf in leaves(value):
            if isinstance(leaf, bool) or (isinstance(leaf, str) and json.dumps(leaf, ensure_ascii=False) in schema):
                continue
            self.checked += 1
            backing = _backing(leaf, support)
            if backing is None and support.told(str(leaf)):
                self.told += 1
            elif backing is None:
                exact = not isinstance(leaf, str) or (any(map(str.isdigit, leaf)) and len(leaf.split()) < 4)
                if not (exact and str(leaf) in said):
                    (self.unfounded if exact else self.loose).append(path or "the value")
            else:
                passage = support.passages[backing.number]
                if (passage.id, backing.quote) not in numbers:
                    numbers.add((passage.id, backing.quote))
                    self.cited.append(Cited(passage, backing.quote))


def _backing(leaf: Any, support: Support) -> Backing | None:
    if isinstance(leaf, (int, float)):
        return support.find_number(float(leaf))
    exact = support.find_value(leaf)
    if exact is not None or not leaf.strip():
        return exact
    best = support.best(leaf)
    if best is None:
        return None
    if not best.measured and best.held == 1.0 and len(leaf.split()) >= 4:
        return best
    return best if best.score >= (STRONG if len(leaf.split()) < 4 else WEAK) else None
