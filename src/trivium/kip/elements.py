"""Elements as clients see them (notes B.1)."""

from __future__ import annotations

from typing import Any

from trivium.store.graph import Concept, Element, Graph, concept_id_text, is_link_id, link_id_text


def node_json(
    id_: int, type_: str, name: str, version: int, updated_at: str, attributes: dict[str, Any], metadata: dict[str, Any]
) -> dict[str, Any]:
    """A concept node. `metadata` is made the answer's own: the engine's keys join it."""
    metadata["_version"] = version
    metadata["_updated_at"] = updated_at
    return {
        "_type": "ConceptNode",
        "id": f"C:{id_ >> 1}",
        "type": type_,
        "name": name,
        "attributes": attributes,
        "metadata": metadata,
    }


def link_json(
    id_: int,
    subject: str,
    predicate: str,
    object_: str,
    version: int,
    updated_at: str,
    attributes: dict[str, Any],
    metadata: dict[str, Any],
) -> dict[str, Any]:
    """A proposition link between ends of these ids. `metadata` is made the answer's own, as for `node_json`."""
    metadata["_version"] = version
    metadata["_updated_at"] = updated_at
    return {
        "_type": "PropositionLink",
        "id": f"P:{id_ >> 1}:{predicate}",
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "attributes": attributes,
        "metadata": metadata,
    }


def element_json(graph: Graph, element: Element) -> dict[str, Any]:
    """A whole element of a graph."""
    own = (element.version, element.updated_at, element.attributes, {**element.metadata})
    if isinstance(element, Concept):
        return node_json(element.id, element.type, element.name, *own)
    subject, object_ = (_end(graph, end) for end in (element.subject, element.object))
    return link_json(element.id, subject, element.predicate, object_, *own)


def _end(graph: Graph, element_id: int) -> str:
    if not is_link_id(element_id):
        return concept_id_text(element_id)
    link = graph.link(element_id)
    assert link is not None
    return link_id_text(element_id, link.predicate)
