"""MERGE CONCEPT: one node folded into another, atomically (§4.4, notes B.9)."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, protect, tree
from trivium.kip.bind import Parameters
from trivium.kip.values import short
from trivium.settings import Settings
from trivium.store.codec import decode
from trivium.store.graph import Concept, Graph, Link, is_link_id
from trivium.store.graph_writer import GraphWriter
from trivium.store.json_values import equal

MOST_HEIRS = 100_000
"""Nodes of a type that are looked through to say what a merged one has become."""

NOTHING = {"merged": True, "links_repointed": 0, "links_deduplicated": 0, "attributes_filled": 0}


def endpoints(
    graph: GraphWriter, command: tree.Merge, rows: list[tuple[int, ...]], parameters: Parameters | None = None
) -> tuple[int, int]:
    """The one source and the one target that the rows bind (KIP_3002, KIP_3003, KIP_2002)."""
    if not rows:
        raise KipError(
            "KIP_3002",
            "The WHERE pattern matches no pair of nodes to merge.",
            _already_merged(graph, command, parameters or {}) or "Confirm both nodes with SEARCH or FIND first.",
            at=command.at,
        )
    found: list[int] = []
    for index, var in enumerate((command.source, command.target)):
        ids = {row[index] for row in rows}
        name = short(var.name)
        if len(ids) > 1:
            raise KipError("KIP_3003", f"?{name} matches {len(ids)} elements; MERGE needs exactly one.", at=var.at)
        element_id = ids.pop()
        if element_id is None:
            raise KipError("KIP_3002", f"?{name} matches no node.", at=var.at)
        if isinstance(element_id, str) or is_link_id(element_id):
            raise KipError(
                "KIP_2002",
                f"?{name} is no concept node; MERGE CONCEPT joins concept nodes.",
                "Bind the variable with {type: …, name: …}.",
                at=var.at,
            )
        found.append(element_id)
    return found[0], found[1]


def _already_merged(graph: Graph, command: tree.Merge, parameters: Parameters) -> str | None:
    """The hint of a replay: the source is gone and a node of its type lists it (§4.4, retry semantics)."""
    source = _named(command, command.source, parameters)
    if source is None or graph.concept_id(*source) is not None:
        return None
    label = f"{source[0]}:{source[1]}"
    target = _named(command, command.target, parameters)
    node = graph.concept_named(*target) if target else None
    if node is not None and label in node.metadata.get("_merged_from", []):
        return f"{short(label)} was already merged into {short(node.type)}:{short(node.name)}; nothing is left to do."
    name = _heir(graph, source[0], label)
    if name is None:
        return None
    return f"{short(label)} was already merged, and is now part of {short(source[0])}:{short(name)}."


def _heir(graph: Graph, type_: str, label: str) -> str | None:
    """The name of the node that a merged one has come to."""
    if graph.count("t", type_) > MOST_HEIRS:
        return None
    for _, name, _, metadata in graph.concept_rows(type_):
        if "_merged_from" in metadata and label in decode(metadata).get("_merged_from", []):
            return name
    return None


def _named(command: tree.Merge, var: tree.Var, parameters: Parameters) -> tuple[str, str] | None:
    """The type and name by which WHERE finds a variable."""
    for clause in command.where.clauses:
        if isinstance(clause, tree.ConceptClause) and clause.var.name == var.name:
            type_, name = clause.match.type, clause.match.name
            if type_ is not None and name is not None:
                try:
                    return bind.text(type_, parameters, "A type"), bind.text(name, parameters, "A name")
                except KipError:
                    return None
    return None


def merge(
    graph: GraphWriter,
    command: tree.Merge,
    source_id: int,
    target_id: int,
    settings: Settings | None = None,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """Fold the source into the target; the counts of §4.4."""
    source, target = graph.concept(source_id), graph.concept(target_id)
    assert source is not None
    assert target is not None
    if source_id != target_id:
        if source.type != target.type:
            raise KipError(
                "KIP_2002",
                f"{_label(source)} and {_label(target)} are of different types.",
                "MERGE joins nodes of one type only.",
                at=command.at,
            )
        protect.check_node_delete(source, "merging it", command.at)
        protect.check_identity(target, "merging into it", command.at)
        if settings and settings.protect_used_types:
            protect.check_unused(graph, source, command.at)
    if dry_run:
        return {**NOTHING, "merged": False}
    if source_id == target_id:
        return dict(NOTHING)
    counts = _Links(graph).repoint(source_id, target_id)
    filled = _fold(graph, source, target)
    graph.delete_concept(source)
    return {"merged": True, "links_repointed": counts[0], "links_deduplicated": counts[1], "attributes_filled": filled}


def _fold(graph: GraphWriter, source: Concept, target: Concept) -> int:
    """Fill attributes, union aliases, carry provenance; gives how many keys were filled."""
    attributes = dict(target.attributes)
    filled = 0
    for key, value in source.attributes.items():
        if key != "aliases" and key not in attributes:
            attributes[key] = value
            filled += 1
    own = target.attributes.get("aliases")
    aliases = _entries(own)
    for alias in [*_entries(source.attributes.get("aliases")), source.name]:
        if alias != target.name and not any(equal(alias, known) for known in aliases):
            aliases.append(alias)
    if aliases and aliases != own:
        attributes["aliases"] = aliases
        filled += 1
    trail = list(target.metadata.get("_merged_from", []))
    for entry in [*source.metadata.get("_merged_from", []), f"{source.type}:{source.name}"]:
        if entry not in trail:
            trail.append(entry)
    graph.update_concept(target, attributes, {**target.metadata, "_merged_from": trail})
    return filled


def _entries(aliases: Any) -> list[Any]:
    """Aliases as a list; anything but a list counts as one entry, so that no name is lost."""
    if aliases is None:
        return []
    return list(aliases) if isinstance(aliases, list) else [aliases]


def _label(node: Concept) -> str:
    return f"{short(node.type)}:{short(node.name)}"


class _Links:
    """Moves links from one element to another; collisions fold into the link that is there, statements about the
    dropped link move on in turn."""

    def __init__(self, graph: GraphWriter) -> None:
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
            self._graph.repoint_link(link, subject, object_)
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
