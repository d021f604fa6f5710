"""DESCRIBE: the primer, domains, types (§5.1, notes B.14)."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.elements import ElementView
from trivium.kip.query import decode_cursor, encode_cursor
from trivium.kip.search import GROUNDING_FIELDS
from trivium.search.meaning import NO_MEANING, Meaning
from trivium.store.codec import encode
from trivium.store.graph import Concept, Graph, concept_id_text
from trivium.store.sqlite import Session

META = {"CONCEPT": "$ConceptType", "PROPOSITION": "$PropositionType"}
PRIMER_DOMAINS = 256
PRIMER_BUDGET = 24_000
_KEY_CONCEPTS = 12


def types(graph: Graph, command: tree.DescribeTypes, parameters: Parameters) -> dict[str, Any]:
    """Names of types in ascending order, paged."""
    names = graph.names_of_type(META[command.kind])
    digest = f"types-{command.kind}-{graph.ctx}"
    if command.cursor is not None:
        token = bind.resolve(command.cursor, parameters)
        values.check_cursor(token, command.cursor.at)
        found = decode_cursor(token)
        if found is None or found[0] != digest or len(found[2]) != 1 or not isinstance(found[2][0], str):
            raise KipError(
                "KIP_1001",
                "The cursor does not belong to this statement.",
                "Pass next_cursor of the previous page unchanged; leave CURSOR out for the first page.",
                at=command.cursor.at,
            )
        names = [name for name in names if name > found[2][0]]
    if command.limit is None:
        return {"result": names}
    limit = bind.resolve(command.limit, parameters)
    values.check_limit(limit, command.limit.at)
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
    return ElementView(graph).json(node)


def domains(graph: Graph) -> list[dict[str, Any]]:
    """Every domain: id, type, name, attributes."""
    ids = [graph.concept_id("Domain", name) for name in graph.names_of_type("Domain")]
    return [
        {"id": concept_id_text(node.id), "type": node.type, "name": node.name, "attributes": node.attributes}
        for node in graph.concepts(element_id for element_id in ids if element_id is not None)
    ]


def primer(session: Session, graph: Graph, meaning: Meaning | None = None) -> dict[str, Any]:
    """Who the agent is, what the nexus holds, and how it can be searched, within a size budget."""
    status = NO_MEANING if meaning is None else meaning.status(session, graph.ctx)
    found = [graph.concept_named("Domain", name) for name in graph.names_of_type("Domain")]
    nodes = [node for node in found if node is not None]
    counted = sorted(
        ((_members(session, graph, node), node) for node in nodes), key=lambda pair: (-pair[0], pair[1].name)
    )
    listed = [
        _domain_summary(session, graph, node, members, _KEY_CONCEPTS) for members, node in counted[:PRIMER_DOMAINS]
    ]
    return {
        "identity": _identity(graph),
        "domain_map": _within_budget(listed),
        "total_domains": len(nodes),
        "key_propositions": _key_propositions(session, graph),
        "search_modes": status["modes"],
        "search": {key: value for key, value in status.items() if key != "modes"},
        "grounding_fields": list(GROUNDING_FIELDS),
    }


def _identity(graph: Graph) -> dict[str, Any] | None:
    node = graph.concept_named("Person", "$self")
    if node is None:
        return None
    return {"id": concept_id_text(node.id), "type": node.type, "name": node.name, "attributes": node.attributes}


def _members(session: Session, graph: Graph, domain: Concept) -> int:
    sql = "SELECT count(*) FROM link WHERE ctx = ? AND o = ? AND p = 'belongs_to_domain'"
    return int(session.value(sql, (graph.ctx, domain.id)))


def _domain_summary(session: Session, graph: Graph, domain: Concept, members: int, size: int) -> dict[str, Any]:
    description = domain.attributes.get("description")
    return {
        "name": domain.name,
        "description": description if isinstance(description, str) else "",
        "member_count": members,
        "key_concept_types": _schema_members(session, graph, domain, "$ConceptType", size),
        "key_proposition_types": _schema_members(session, graph, domain, "$PropositionType", size),
        "key_concepts": _best_connected(session, graph, domain, size),
    }


def _schema_members(session: Session, graph: Graph, domain: Concept, type_: str, size: int) -> list[str]:
    """Schema nodes of the domain, those in use most first."""
    kind = "t" if type_ == "$ConceptType" else "p"
    sql = (
        "SELECT c.name FROM link AS l CROSS JOIN concept AS c ON c.id = l.s"
        " LEFT JOIN counter AS n ON n.ctx = ?1 AND n.kind = ?4 AND n.key = c.name"
        " WHERE l.ctx = ?1 AND l.o = ?2 AND l.p = 'belongs_to_domain' AND c.type = ?3"
        " ORDER BY COALESCE(n.n, 0) DESC, c.name LIMIT ?5"
    )
    return [row[0] for row in session.execute(sql, (graph.ctx, domain.id, type_, kind, size * 4))]


def _best_connected(session: Session, graph: Graph, domain: Concept, size: int) -> list[dict[str, Any]]:
    """Members that are no schema nodes, by how many links they have (each counted up to 1,000)."""
    sql = (
        "SELECT type, name, (SELECT count(*) FROM (SELECT 1 FROM link WHERE ctx = ?1 AND s = m.id LIMIT 1000))"
        " + (SELECT count(*) FROM (SELECT 1 FROM link WHERE ctx = ?1 AND o = m.id LIMIT 1000)) AS degree"
        " FROM (SELECT c.id AS id, c.type AS type, c.name AS name"
        " FROM link AS l CROSS JOIN concept AS c ON c.id = l.s"
        " WHERE l.ctx = ?1 AND l.o = ?2 AND l.p = 'belongs_to_domain'"
        " AND c.type NOT IN ('$ConceptType', '$PropositionType')"
        " LIMIT 5000) AS m ORDER BY degree DESC, type, name LIMIT ?3"
    )
    return [{"type": row[0], "name": row[1]} for row in session.execute(sql, (graph.ctx, domain.id, size))]


def _key_propositions(session: Session, graph: Graph) -> list[str]:
    """The predicates in use most."""
    sql = "SELECT key FROM counter WHERE ctx = ? AND kind = 'p' AND n > 0 ORDER BY n DESC, key LIMIT 20"
    return [row[0] for row in session.execute(sql, (graph.ctx,))]


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
