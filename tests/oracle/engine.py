"""The engine under test, seen only through ``execute_kip`` (§6), and the map from its ids to the oracle's elements."""

from __future__ import annotations

from typing import Any, Protocol

from tests.oracle.model import Element, Graph, quote
from tests.oracle.values import equal


class Engine(Protocol):
    """What the comparison needs of an engine."""

    def execute_kip(self, request: dict[str, Any]) -> dict[str, Any]: ...


class MappingError(Exception):
    """The engine does not hold the graph that was loaded."""


def open_engine() -> Engine:
    """A fresh nexus in memory."""
    import trivium

    engine: Engine = trivium.open(":memory:")
    return engine


def run(engine: Engine, command: str) -> Any:
    """Result of a command that must succeed."""
    response = engine.execute_kip({"command": command})
    if "error" in response:
        raise MappingError(f"{response['error']} for: {command}")
    return response["result"]


def load(engine: Engine, graph: Graph) -> None:
    """Write a graph, then take over the engine's ids, reserved metadata and built-in definitions."""
    run(engine, graph.to_capsule())
    by_id: dict[str, Element] = {}
    loaded = {node.key for node in graph.nodes}, {link.key for link in graph.links}
    types = run(engine, 'FIND(?t.name) WHERE { ?t {type: "$ConceptType"} }')
    for type_ in types:
        for found in run(engine, f"FIND(?n) WHERE {{ ?n {{type: {quote(type_)}}} }}"):
            node = graph.find_node(found["type"], found["name"])
            if node is None:
                node = graph.add_node(found["type"], found["name"])
            elif node.key in loaded[0]:
                loaded[0].discard(node.key)
                _check_content(node, found)
            _adopt(node, found, by_id)
    pending = []
    for name in run(engine, 'FIND(?t.name) WHERE { ?t {type: "$PropositionType"} }'):
        pending += run(engine, f"FIND(?l) WHERE {{ ?l (?s, {quote(name)}, ?o) }}")
    while pending:
        ready = [found for found in pending if found["subject"] in by_id and found["object"] in by_id]
        if not ready:
            raise MappingError(f"links with unknown ends: {pending[:3]}")
        pending = [found for found in pending if found not in ready]
        for found in ready:
            subject, object_ = by_id[found["subject"]], by_id[found["object"]]
            link = graph.find_link(subject, found["predicate"], object_)
            if link is None:
                link = graph.add_link(subject, found["predicate"], object_)
            elif link.key in loaded[1]:
                loaded[1].discard(link.key)
                _check_content(link, found)
            _adopt(link, found, by_id)
    if loaded[0] or loaded[1]:
        raise MappingError(f"not found after loading: {sorted(loaded[0] | loaded[1])}")


def _check_content(element: Element, found: dict[str, Any]) -> None:
    """What was written must read back as written, reserved metadata aside."""
    authored = {key: value for key, value in found["metadata"].items() if not key.startswith("_")}
    if not equal(element.attributes, found["attributes"]) or not equal(element.metadata, authored):
        raise MappingError(f"content differs: {element.to_json()} and {found}")


def _adopt(element: Element, found: dict[str, Any], by_id: dict[str, Element]) -> None:
    """Take over what the engine chose: the id and the reserved metadata (§2.11.1)."""
    element.id = found["id"]
    element.attributes = dict(found["attributes"])
    element.metadata = dict(found["metadata"])
    by_id[element.id] = element
