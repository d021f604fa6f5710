"""DESCRIBE: the primer, domains, types (§5.1, notes B.14)."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.cursor import encode_cursor, keys
from trivium.kip.elements import element_json
from trivium.kip.search import GROUNDING_FIELDS
from trivium.search.meaning import NO_MEANING, Meaning
from trivium.store import domains as stored
from trivium.store.codec import encode
from trivium.store.graph import Concept, Graph, concept_id_text
from trivium.store.schema import META_TYPES
from trivium.store.sqlite import Session

META = {"CONCEPT": META_TYPES[0], "PROPOSITION": META_TYPES[1]}
PRIMER_DOMAINS = 256
PRIMER_BUDGET = 24_000
_KEY_CONCEPTS = 12
_KEY_PROPOSITIONS = 20


def types(graph: Graph, command: tree.DescribeTypes, parameters: Parameters) -> dict[str, Any]:
    """Names of types in ascending order, paged."""
    names = graph.names_of_type(META[command.kind])
    digest = f"types-{command.kind}-{graph.ctx}"
    if command.cursor is not None:
        (last,) = keys(command.cursor, parameters, digest, str)
        names = [name for name in names if name > last]
    limit = bind.limit(command.limit, parameters)
    if limit is None:
        return {"result": names}
    response: dict[str, Any] = {"result": names[:limit]}
    if len(names) > limit:
        response["next_cursor"] = encode_cursor(digest, (), (names[limit - 1],))
    return response


def type_(graph: Graph, command: tree.DescribeType, parameters: Parameters) -> dict[str, Any]:
    """The definition node of a type or predicate; KIP_3002 if there is none."""
    name = bind.text(command.name, parameters, "The name")
    node = graph.concept_named(META[command.kind], name)
    if node is None:
        kind, other = "concept type", "PROPOSITION"
        if command.kind == "PROPOSITION":
            kind, other = "proposition type", "CONCEPT"
        hint = f"DESCRIBE {command.kind} TYPES lists them; names are case-sensitive."
        if graph.concept_id(META[other], name) is not None:
            hint = f'It is of the other kind: DESCRIBE {other} TYPE "{values.short(name)}".'
        raise KipError("KIP_3002", f'There is no {kind} "{values.short(name)}".', hint, at=command.name.at)
    return element_json(graph, node)


def domains(graph: Graph) -> list[dict[str, Any]]:
    """Every domain: id, type, name, attributes; by name."""
    return [_summary(node) for node in sorted(graph.nodes_of_type("Domain"), key=lambda node: node.name)]


def _summary(node: Concept) -> dict[str, Any]:
    return {"id": concept_id_text(node.id), "type": node.type, "name": node.name, "attributes": node.attributes}


def primer(session: Session, graph: Graph, meaning: Meaning | None = None) -> dict[str, Any]:
    """Who the agent is, what the nexus holds, and how it can be searched, within a size budget."""
    status = NO_MEANING if meaning is None else meaning.status(session, graph.ctx)
    nodes = graph.nodes_of_type("Domain")
    counted = sorted(
        ((stored.member_count(session, graph.ctx, node.id), node) for node in nodes),
        key=lambda pair: (-pair[0], pair[1].name),
    )
    listed = [
        _domain_summary(session, graph, node, members, _KEY_CONCEPTS) for members, node in counted[:PRIMER_DOMAINS]
    ]
    return {
        "identity": _identity(graph),
        "domain_map": _within_budget(listed),
        "total_domains": len(nodes),
        "key_propositions": stored.predicates_in_use(session, graph.ctx, _KEY_PROPOSITIONS),
        "search_modes": status["modes"],
        "search": {key: value for key, value in status.items() if key != "modes"},
        "grounding_fields": list(GROUNDING_FIELDS),
    }


def _identity(graph: Graph) -> dict[str, Any] | None:
    node = graph.concept_named("Person", "$self")
    return None if node is None else _summary(node)


def _domain_summary(session: Session, graph: Graph, domain: Concept, members: int, size: int) -> dict[str, Any]:
    description = domain.attributes.get("description")
    schema = [stored.schema_members(session, graph.ctx, domain.id, type_, size * 4) for type_ in META.values()]
    best = stored.best_connected(session, graph.ctx, domain.id, size)
    return {
        "name": domain.name,
        "description": description if isinstance(description, str) else "",
        "member_count": members,
        "key_concept_types": schema[0],
        "key_proposition_types": schema[1],
        "key_concepts": [{"type": type_, "name": name} for type_, name in best],
    }


def _within_budget(summaries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shorten the lists of the later domains, then their descriptions, until the map fits."""
    for size in (_KEY_CONCEPTS, 6, 3, 0):
        for summary in summaries:
            for key in ("key_concepts", "key_concept_types", "key_proposition_types"):
                summary[key] = summary[key][: size * (1 if key == "key_concepts" else 4)]
        if len(encode(summaries)) <= PRIMER_BUDGET:
            return summaries
    for summary in summaries:
        summary["description"] = summary["description"][:80]
    while len(encode(summaries)) > PRIMER_BUDGET and len(summaries) > 1:
        summaries.pop()
    return summaries
