"""MERGE CONCEPT: one node folded into another, atomically (§4.4, notes B.9)."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.kip import protect, tree
from trivium.store.graph import Concept, Graph, Link, is_link_id

NOTHING = {"merged": True, "links_repointed": 0, "links_deduplicated": 0, "attributes_filled": 0}


def endpoints(graph: Graph, command: tree.Merge, rows: list[tuple[int, ...]]) -> tuple[int, int]:
    """The one source and the one target that the rows bind (KIP_3002, KIP_3003, KIP_2002)."""
    if not rows:
        raise KipError(
            "KIP_3002",
            "The WHERE pattern matches no pair of nodes to merge.",
            _already_merged(graph, command) or "Confirm both nodes with SEARCH or FIND first.",
            at=command.at,
        )
    found: list[int] = []
    for index, var in enumerate((command.source, command.target)):
        ids = {row[index] for row in rows}
        if len(ids) > 1:
            raise KipError("KIP_3003", f"?{var.name} matches {len(ids)} elements; MERGE needs exactly one.", at=var.at)
        element_id = ids.pop()
        if element_id is None:
            raise KipError("KIP_3002", f"?{var.name} matches no node.", at=var.at)
        if isinstance(element_id, str) or is_link_id(element_id):
            raise KipError(
                "KIP_2002",
                f"?{var.name} is no concept node; MERGE CONCEPT joins concept nodes.",
                "Bind the variable with {type: …, name: …}.",
                at=var.at,
            )
        found.append(element_id)
    return found[0], found[1]


def _already_merged(graph: Graph, command: tree.Merge) -> str | None:
    """The hint of a replay: the source is gone and the target lists it (§4.4, retry semantics)."""
    names: dict[str, tuple[str, str]] = {}
    for clause in command.where.clauses:
        if isinstance(clause, tree.ConceptClause) and clause.match.type and clause.match.name:
            type_, name = clause.match.type, clause.match.name
            if isinstance(type_, tree.Lit) and isinstance(name, tree.Lit):
                names[clause.var.name] = (type_.value, name.value)
    source, target = names.get(command.source.name), names.get(command.target.name)
    if source is None or target is None:
        return None
    node = graph.concept_named(*target)
    trail = node.metadata.get("_merged_from") if node else None
    label = f"{source[0]}:{source[1]}"
    if graph.concept_id(*source) is None and isinstance(trail, list) and label in trail:
        return f"{label} was already merged into {target[0]}:{target[1]}; nothing is left to do."
    return None


def merge(graph: Graph, command: tree.Merge, source_id: int, target_id: int, *, dry_run: bool) -> dict[str, Any]:
    """Fold the source into the target; the counts of §4.4."""
    source, target = graph.concept(source_id), graph.concept(target_id)
    assert source is not None
    assert target is not None
    if source_id != target_id:
        if source.type != target.type:
            raise KipError(
                "KIP_2002",
                f"{source.type}:{source.name} and {target.type}:{target.name} are of different types.",
                "MERGE joins nodes of one type only.",
                at=command.at,
            )
        for node in (source, target):
            protect.check_node_delete(node, "merging it", command.at)
    if dry_run:
        return {**NOTHING, "merged": False}
    if source_id == target_id:
        return dict(NOTHING)
    counts = _Links(graph).repoint(source_id, target_id)
    filled = _fold(graph, source, target)
    graph.delete_concept(source)
    return {"merged": True, "links_repointed": counts[0], "links_deduplicated": counts[1], "attributes_filled": filled}


def _fold(graph: Graph, source: Concept, target: Concept) -> int:
    """Fill attributes, union aliases, carry provenance; gives how many keys were filled."""
    attributes = dict(target.attributes)
    filled = 0
    for key, value in source.attributes.items():
        if key != "aliases" and key not in attributes:
            attributes[key] = value
            filled += 1
    own = target.attributes.get("aliases")
    aliases = list(own) if isinstance(own, list) else []
    theirs = source.attributes.get("aliases")
    for alias in [*(theirs if isinstance(theirs, list) else []), source.name]:
        if alias not in aliases and alias != target.name:
            aliases.append(alias)
    if aliases != own and (aliases or isinstance(own, list)):
        attributes["aliases"] = aliases
        filled += 1
    trail = list(target.metadata.get("_merged_from", []))
    for entry in [*source.metadata.get("_merged_from", []), f"{source.type}:{source.name}"]:
        if entry not in trail:
            trail.append(entry)
    graph.update_concept(target, attributes, {**target.metadata, "_merged_from": trail})
    return filled


class _Links:
    """Moves links from one element to another; collisions fold into the link that is there, statements about the
    dropped link move on in turn."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._dropped = 0
        self._moved: set[int] = set()

    def repoint(self, source: int, target: int) -> tuple[int, int]:
        """Counts of links repointed and deduplicated."""
        pending = [(source, target)]
        while pending:
            old, new = pending.pop(0)
            for link in self._graph.links_of(old):
                dropped_into = self._move(link, old, new)
                if dropped_into is not None:
                    pending.append((link.id, dropped_into))
        return len(self._moved), self._dropped

    def _move(self, link: Link, old: int, new: int) -> int | None:
        """Repoint one link, or fold it into the link that stands there; gives the id of the latter."""
        fresh = self._graph.link(link.id)  # an earlier move may have filled or dropped it
        if fresh is None:
            return None
        link = fresh
        subject = new if link.subject == old else link.subject
        object_ = new if link.object == old else link.object
        there = self._graph.link_between(subject, link.predicate, object_)
        if there is None or there.id == link.id:
            link.subject, link.object = subject, object_
            self._graph.update_link(link)
            self._graph.note_higher_order(link)
            self._moved.add(link.id)
            return None
        attributes = {**link.attributes, **there.attributes}
        metadata = {**link.metadata, **there.metadata}
        if attributes != there.attributes or metadata != there.metadata:
            self._graph.update_link(there, attributes, metadata)
        self._dropped += 1
        self._moved.discard(link.id)
        self._graph.delete_links([link.id])  # statements about it are repointed next: none dangles at commit
        return there.id
