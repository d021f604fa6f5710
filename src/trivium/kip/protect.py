"""The protected scope (§4.2.4, KIP_3004; notes B.11) and the reserved metadata namespace (§2.11.1)."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.kip.values import short
from trivium.store.graph import Concept, Graph, Link, is_link_id
from trivium.store.schema import META_TYPES

CORE = frozenset(
    {
        ("$ConceptType", "$ConceptType"),
        ("$ConceptType", "$PropositionType"),
        ("$ConceptType", "Domain"),
        ("$PropositionType", "belongs_to_domain"),
        ("Domain", "CoreSchema"),
    }
)
ACTORS = frozenset({("Person", "$self"), ("Person", "$system")})
DIRECTIVES = "core_directives"

# Definitions that protected nodes are instances of: without them these could be neither named nor matched.
NEEDED = frozenset(("$ConceptType", type_) for type_, _ in CORE | ACTORS)

# The memberships that Genesis creates: these nodes in Domain:CoreSchema.
GENESIS_MEMBERS = (CORE - {("Domain", "CoreSchema")}) | {
    ("Domain", "Unsorted"),
    ("Domain", "Archived"),
    ("Domain", "System"),
}


def is_core(type_: str, name: str) -> bool:
    return (type_, name) in CORE


def is_actor(type_: str, name: str) -> bool:
    return (type_, name) in ACTORS


def refuse(type_: str, name: str, what: str, at: int | None = None) -> KipError:
    return KipError(
        "KIP_3004",
        f"{type_}:{short(name)} is a protected system structure: {what} is not allowed.",
        "Leave it out of the statement; ordinary attributes of $self and all user knowledge may change.",
        at=at,
    )


def check_node_write(node: Concept, keys: Any, at: int | None = None) -> None:
    """Writing or deleting `keys` of attributes, or metadata (`keys` empty), of an existing node."""
    if is_core(node.type, node.name):
        raise refuse(node.type, node.name, "changing it", at)
    if DIRECTIVES in keys and is_actor(node.type, node.name):
        raise refuse(node.type, node.name, "changing its core_directives", at)


def check_node_delete(node: Concept, what: str, at: int | None = None) -> None:
    """DELETE CONCEPT, and the source of MERGE."""
    check_identity(node, what, at)
    if (node.type, node.name) in NEEDED:
        raise KipError(
            "KIP_3004",
            f"{node.type}:{node.name} defines a type of protected nodes, such as $self: {what} is not allowed.",
            "Leave it out of the statement; its description and schema may be changed.",
            at=at,
        )


def check_identity(node: Concept, what: str, at: int | None = None) -> None:
    """What touches type and name of a node: its removal, and MERGE on either side."""
    if is_core(node.type, node.name) or is_actor(node.type, node.name):
        raise refuse(node.type, node.name, what, at)


def check_unused(graph: Graph, node: Concept, at: int | None = None) -> None:
    """KIP_2002 for a type or predicate that has instances; checked where the settings ask for it."""
    if node.type not in META_TYPES:
        return
    used = graph.count("t" if node.type == META_TYPES[0] else "p", node.name)
    if used:
        kind = "nodes" if node.type == META_TYPES[0] else "links"
        raise KipError(
            "KIP_2002",
            f"{node.type}:{short(node.name)} still defines {used} {kind}, which would be left without a definition.",
            f"Types and predicates cannot be changed: write these {kind} anew under another name and delete the old "
            "ones first, or keep the definition. TRIVIUM_PROTECT_USED_TYPES switches this rule.",
            at=at,
        )


def check_link_delete(graph: Graph, link: Link, at: int | None = None) -> None:
    """Genesis memberships stay."""
    if link.predicate != "belongs_to_domain" or is_link_id(link.subject) or is_link_id(link.object):
        return
    domain = graph.concept(link.object)
    if domain is None or (domain.type, domain.name) != ("Domain", "CoreSchema"):
        return
    member = graph.concept(link.subject)
    if member is not None and (member.type, member.name) in GENESIS_MEMBERS:
        raise refuse(member.type, member.name, "removing its membership in CoreSchema", at)


def check_metadata_keys(keys: Any, at: int | None = None) -> None:
    """Keys that begin with `_` belong to the engine: KIP_2002."""
    for key in keys:
        if key.startswith("_"):
            raise KipError(
                "KIP_2002",
                f'The metadata key "{short(key)}" is reserved: keys that begin with "_" are maintained by the engine.',
                f'Remove "{short(key)}" from the metadata; to guard a write use EXPECT VERSION.',
                at=at,
            )
