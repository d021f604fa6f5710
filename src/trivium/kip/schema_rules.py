"""Strict schema, off by default: `instance_schema`, `subject_types`, `object_types` as rules (§2.9.1, notes B.7)."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.store.graph import Graph, Link

_KINDS: dict[str, Any] = {"string": str, "array": list, "object": dict}


def check_attributes(
    graph: Graph, type_: str, name: str, attributes: dict[str, Any], written: dict[str, Any], at: int
) -> None:
    """KIP_2002 for a missing required attribute, KIP_2003 for a value of another kind than declared."""
    definition = graph.concept_named("$ConceptType", type_)
    schema = definition.attributes.get("instance_schema") if definition else None
    if not isinstance(schema, dict):
        return
    hint = f'DESCRIBE CONCEPT TYPE "{type_}" shows what its instances carry.'
    for key, rule in schema.items():
        if not isinstance(rule, dict):
            continue
        if rule.get("is_required") and attributes.get(key) is None:
            raise KipError("KIP_2002", f'{type_}:{name} lacks the required attribute "{key}".', hint, at=at)
        value = written.get(key)
        if value is not None and not _fits(value, rule.get("type")):
            raise KipError("KIP_2003", f'Attribute "{key}" of {type_} must be of type {rule["type"]}.', hint, at=at)
        allowed = rule.get("enum")
        if value is not None and isinstance(allowed, list) and value not in allowed:
            raise KipError("KIP_2002", f'Attribute "{key}" of {type_} must be one of {allowed}.', hint, at=at)


def _fits(value: Any, kind: Any) -> bool:
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    expected = _KINDS.get(str(kind))
    return expected is None or isinstance(value, expected)


def check_ends(graph: Graph, predicate: str, subject: int, object_: int, at: int) -> None:
    """KIP_2002 when an end's type is not among the declared ones; `*` allows any, links included."""
    definition = graph.concept_named("$PropositionType", predicate)
    if definition is None:
        return
    for key, element_id in (("subject_types", subject), ("object_types", object_)):
        allowed = definition.attributes.get(key)
        if not isinstance(allowed, list) or "*" in allowed:
            continue
        element = graph.element(element_id)
        type_ = "a proposition link" if isinstance(element, Link) or element is None else element.type
        if type_ not in allowed:
            raise KipError(
                "KIP_2002",
                f'"{predicate}" does not take {type_} as its {key.split("_")[0]}; '
                f"allowed: {', '.join(map(str, allowed))}.",
                f'DESCRIBE PROPOSITION TYPE "{predicate}" shows its ends.',
                at=at,
            )
