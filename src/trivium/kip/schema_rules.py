"""Strict schema, off by default: `instance_schema`, `subject_types`, `object_types` as rules (§2.9.1, notes B.7)."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.kip.values import short, show
from trivium.store.graph import Graph, Link
from trivium.store.json_values import equal

_KINDS: dict[str, Any] = {"string": str, "array": list, "object": dict}


class Schemas:
    """The `instance_schema` of concept types, each read once; for one statement that changes no definitions."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._rules: dict[str, dict[str, Any]] = {}

    def check(self, type_: str, name: str, attributes: dict[str, Any], written: dict[str, Any], at: int) -> None:
        """KIP_2002 for a missing required attribute, KIP_2003 for a value of another kind than declared.

        `attributes` are those that the node would have, `written` those of them that the statement writes.
        """
        rules = self._rules.get(type_)
        if rules is None:
            rules = self._rules[type_] = _rules(self._graph, type_)
        hint = f'DESCRIBE CONCEPT TYPE "{short(type_)}" shows what its instances carry.'
        for key, rule in rules.items():
            if rule.get("is_required") and attributes.get(key) is None:
                message = f'{short(type_)}:{short(name)} lacks the required attribute "{short(key)}".'
                raise KipError("KIP_2002", message, hint, at=at)
            value = written.get(key)
            if value is None:
                continue
            what = f'Attribute "{short(key)}" of {short(type_)}:{short(name)} must be'
            if not _fits(value, rule.get("type")):
                raise KipError("KIP_2003", f"{what} of type {short(str(rule['type']))}.", hint, at=at)
            allowed = rule.get("enum")
            if isinstance(allowed, list) and not any(equal(value, member) for member in allowed):
                raise KipError("KIP_2002", f"{what} one of {show(allowed)}.", hint, at=at)


def _rules(graph: Graph, type_: str) -> dict[str, Any]:
    definition = graph.concept_named("$ConceptType", type_)
    schema = definition.attributes.get("instance_schema") if definition else None
    return {key: rule for key, rule in schema.items() if isinstance(rule, dict)} if isinstance(schema, dict) else {}


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
                f'"{short(predicate)}" does not take {short(type_)} as its {key.split("_")[0]}; '
                f"allowed: {short(', '.join(map(str, allowed)))}.",
                f'DESCRIBE PROPOSITION TYPE "{short(predicate)}" shows its ends.',
                at=at,
            )
