"""DELETE in its four forms, with transitive cascade (§4.2, notes B.10)."""

from __future__ import annotations

from collections.abc import Iterable

from trivium.kip import bind, protect, tree
from trivium.kip.bind import Parameters
from trivium.kip.schema_rules import Schemas
from trivium.settings import Settings
from trivium.store.graph import Concept, Graph, is_link_id
from trivium.store.graph_writer import GraphWriter


def delete_keys(
    graph: GraphWriter,
    command: tree.DeleteKeys,
    ids: Iterable[int],
    parameters: Parameters,
    settings: Settings | None = None,
    *,
    dry_run: bool,
) -> dict[str, int]:
    """DELETE ATTRIBUTES and DELETE METADATA: counts elements that lost a key."""
    keys = []
    for value in command.keys:
        keys.append(bind.text(value, parameters, "A key"))
        if command.part == "metadata":
            protect.check_metadata_keys(keys[-1:], value.at)
    schemas = Schemas(graph) if settings and settings.strict_schema and command.part == "attributes" else None
    concepts = links = 0
    numbers = list(ids)
    for node in graph.concepts(element_id for element_id in numbers if not is_link_id(element_id)):
        protect.check_node_write(node, keys if command.part == "attributes" else (), command.at)
        contents = getattr(node, command.part)
        kept = {key: value for key, value in contents.items() if key not in keys}
        if len(kept) < len(contents):
            if schemas is not None:
                schemas.check(node.type, node.name, kept, {}, command.at)
            if not dry_run:
                graph.update_concept(node, **{command.part: kept})
                concepts += 1
    for link in graph.links(element_id for element_id in numbers if is_link_id(element_id)):
        contents = getattr(link, command.part)
        kept = {key: value for key, value in contents.items() if key not in keys}
        if len(kept) < len(contents) and not dry_run:
            graph.update_link(link, **{command.part: kept})
            links += 1
    return {"updated_concepts": concepts, "updated_propositions": links}


def delete_propositions(
    graph: GraphWriter, command: tree.DeletePropositions, ids: Iterable[int], *, memberships: bool, dry_run: bool
) -> dict[str, int]:
    """The links among the targets, and what was said about them. `memberships`: whether domain memberships may be."""
    doomed = {element_id for element_id in ids if is_link_id(element_id)}
    if memberships:
        _check_links(graph, doomed, command.at)
    if dry_run:
        return {"deleted_propositions": 0}
    return {"deleted_propositions": graph.delete_links(sorted(_with_statements(graph, doomed)))}


def delete_concepts(
    graph: GraphWriter, command: tree.DeleteConcept, ids: Iterable[int], settings: Settings, *, dry_run: bool
) -> dict[str, int]:
    """The nodes among the targets, their links, and what was said about those."""
    nodes: list[Concept] = []
    for node in graph.concepts(element_id for element_id in ids if not is_link_id(element_id)):
        protect.check_node_delete(node, "deleting it", command.at)
        if settings.protect_used_types:
            protect.check_unused(graph, node, command.at)
        nodes.append(node)
    if dry_run:
        return {"deleted_concepts": 0, "deleted_propositions": 0}
    doomed = _with_statements(graph, {node.id for node in nodes})
    links = graph.delete_links(sorted(element_id for element_id in doomed if is_link_id(element_id)))
    for node in nodes:
        graph.delete_concept(node)
    return {"deleted_concepts": len(nodes), "deleted_propositions": links}


def _with_statements(graph: Graph, ids: set[int]) -> set[int]:
    """The elements and, transitively, every link that has one of them as an end."""
    doomed = set(ids)
    frontier = doomed
    while frontier:
        frontier = graph.links_about(sorted(frontier)) - doomed
        doomed |= frontier
    return doomed


def _check_links(graph: Graph, ids: set[int], at: int) -> None:
    for link in graph.links(graph.memberships(sorted(ids))):
        protect.check_link_delete(graph, link, at)
