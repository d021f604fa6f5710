"""Elements as clients see them."""

from __future__ import annotations

from typing import Any

from trivium.store.graph import Concept, Element, Graph, concept_id_text, is_link_id, link_id_text


class ElementView:
    """The JSON form of elements (notes B.1) of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._texts: dict[int, str] = {}

    def json(self, element: Element, extra: dict[str, Any] | None = None) -> dict[str, Any]:
        """A whole element; `extra` joins the metadata (`_score`)."""
        metadata = {
            **element.metadata,
            "_version": element.version,
            "_updated_at": element.updated_at,
            **(extra or {}),
        }
        if isinstance(element, Concept):
            return {
                "_type": "ConceptNode",
                "id": concept_id_text(element.id),
                "type": element.type,
                "name": element.name,
                "attributes": element.attributes,
                "metadata": metadata,
            }
        return {
            "_type": "PropositionLink",
            "id": link_id_text(element.id, element.predicate),
            "subject": self._id_text(element.subject),
            "predicate": element.predicate,
            "object": self._id_text(element.object),
            "attributes": element.attributes,
            "metadata": metadata,
        }

    def _id_text(self, element_id: int) -> str:
        if not is_link_id(element_id):
            return concept_id_text(element_id)
        if element_id not in self._texts:
            link = self._graph.link(element_id)
            assert link is not None
            self._texts[element_id] = link_id_text(element_id, link.predicate)
        return self._texts[element_id]
