"""Values of solutions and their comparison (§2.7; docs/kip-semantics.md, "Comparison")."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from tests.oracle.model import Element, Link, Node


@dataclass(frozen=True)
class PredicateName:
    """A binding of a predicate variable: never equal to an element (docs, "Solutions")."""

    name: str


Bound = Element | PredicateName | None
Solution = dict[str, Bound]

CLASSES = {"boolean": 0, "number": 1, "string": 2, "array": 3, "object": 4, "element": 5}
"""Order of the kinds under ORDER BY (notes B.6); elements have no place of their own."""


def kind(value: Any) -> str:
    """JSON kind of a value, or ``element``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list | tuple):
        return "array"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, Node | Link):
        return "element"
    raise TypeError(f"no KIP value: {value!r}")


def canonical(value: Any) -> Hashable:
    """Equal exactly when two values are ``==`` in KIP.

    Numbers by value (Python compares int and float exactly), kinds apart, arrays and objects
    structurally with keys in any order, elements by identity.
    """
    what = kind(value)
    if what == "array":
        return what, tuple(canonical(item) for item in value)
    if what == "object":
        return what, frozenset((key, canonical(item)) for key, item in value.items())
    if what == "element":
        return what, value.key
    return what, value


def equal(left: Any, right: Any) -> bool:
    """``==``; two nulls are equal."""
    return canonical(left) == canonical(right)


def less(left: Any, right: Any) -> bool | None:
    """``left < right``, or None where the two have no order: null, other kinds, arrays, objects, elements."""
    what = kind(left)
    if what != kind(right) or what not in ("boolean", "number", "string"):
        return None
    return bool(left < right)


def follow(bound: Bound, steps: tuple[str, ...]) -> Any:
    """Value of a dot path (§3.2; notes B.2). What an element does not have is null."""
    if bound is None:
        return None
    if isinstance(bound, PredicateName):
        return None if steps else bound.name
    if not steps:
        return bound
    value: Any = _field(bound, steps[0])
    for step in steps[1:]:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _field(element: Element, name: str) -> Any:
    if name == "id":
        return element.id
    if name == "attributes":
        return element.attributes
    if name == "metadata":
        return element.metadata
    if isinstance(element, Node):
        return {"type": element.type, "name": element.name}.get(name)
    return {"subject": element.subject.id, "predicate": element.predicate, "object": element.object.id}.get(name)
