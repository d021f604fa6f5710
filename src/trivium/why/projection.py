"""The index as graph elements: one way, idempotent, rebuilt with the index (docs/why-graph.md).

Nodes of the types Decision, Concept, Change, SourceFile and Document, and links `supersedes`, `affects`, `defines`,
`mentions` and `covers`, all with metadata `source` = SOURCE. What is gone from the index is removed; a node that people
have linked to stays, with metadata `status` = "retracted". Keys and links that people added are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from trivium.store.graph import Concept, Graph, Link
from trivium.store.graph import Link as GraphLink
from trivium.why.model import CHANGE, CONCEPT, DECISION, CommitEvidence, DocumentRegion, Entity, Index

SOURCE = "trivium:index"
TYPE_OF = {DECISION: "Decision", CONCEPT: "Concept", CHANGE: "Change"}
DOMAIN = "Repository"

# Types and predicates with their descriptions; (subject types, object types) for predicates.
TYPES = {
    "Decision": "A decision that a repository records, with its status and date as written.",
    "Concept": "A term that a repository defines: a glossary entry or a concept document.",
    "Change": "A change that a repository records: a commit or an entry of a change log.",
    "SourceFile": "A file of a repository that something is recorded about; the name is its path.",
    "Document": "A document of a repository; the name is its path.",
}
PREDICATES = {
    "supersedes": ("The decision takes the place of the other.", ["Decision"], ["Decision"]),
    "affects": ("The decision or change cites or touches the file.", ["Decision", "Change", "Concept"], ["SourceFile"]),
    "defines": ("The concept names what the file declares.", ["Concept"], ["SourceFile"]),
    "mentions": ("The one mentions the other.", ["*"], ["*"]),
    "covers": ("The document declares that it covers the file.", ["Document"], ["SourceFile"]),
}
OWN_KEYS = frozenset(
    {"entity_id", "title", "status", "date", "path", "line_start", "line_end", "aliases", "sha", "language", "symbols"}
    | {"change_type", "change_scope", "breaking"}
)

Key = tuple[str, str]


class _Node(Struct):
    attributes: dict[str, Any]
    evidence: list[str]


class ProjectionReport(Struct):
    """How many elements were made, changed, and removed or retracted."""

    created: int = 0
    updated: int = 0
    removed: int = 0


class _Wanted:
    """What the graph should hold for an index."""

    def __init__(self, index: Index) -> None:
        self.nodes: dict[Key, _Node] = {}
        self.links: dict[tuple[Key, str, Key], dict[str, Any]] = {}
        self._keys: dict[str, Key] = {}
        entities = index.entities or []
        for entry in index.entries:
            if entry.kind == "document":
                title = {"title": entry.title} if entry.title else {}
                self._add(("Document", entry.path), {**title, "path": entry.path}, [], entry.id)
            elif entry.kind == "module":
                facts = {"language": entry.language, "symbols": entry.symbols[:64]}
                self._file(entry.path, {key: value for key, value in facts.items() if value}, entry.id)
        for entity in entities:
            self._entity(entity)
        for entity in entities:
            self._links(entity)
        self._references(index)

    def _add(self, key: Key, attributes: dict[str, Any], evidence: list[str], identity: str | None = None) -> Key:
        if key not in self.nodes:
            self.nodes[key] = _Node(attributes, evidence)
        if identity:
            self._keys[identity] = key
        return key

    def _file(self, path: str, attributes: dict[str, Any] | None = None, identity: str | None = None) -> Key:
        return self._add(("SourceFile", path), {"path": path, **(attributes or {})}, [], identity)

    def _entity(self, entity: Entity) -> None:
        attributes: dict[str, Any] = {"entity_id": entity.id, "title": entity.name}
        for key, value in (("status", entity.status), ("date", entity.date)):
            if value is not None:
                attributes[key] = value
        if entity.conventional is not None:
            attributes["change_type"] = entity.conventional.type
            attributes["breaking"] = entity.conventional.breaking
            if entity.conventional.scope is not None:
                attributes["change_scope"] = entity.conventional.scope
        evidence = []
        for item in entity.evidence:
            if isinstance(item, DocumentRegion):
                evidence.append(f"{item.path}:{item.line_start}-{item.line_end}")
                if "path" not in attributes:
                    attributes |= {"path": item.path, "line_start": item.line_start, "line_end": item.line_end}
            elif isinstance(item, CommitEvidence):
                evidence.append(f"commit {item.sha}")
                attributes.setdefault("sha", item.sha)
        name = entity.id.removeprefix(f"knowledge-{entity.kind}:")
        aliases = sorted({alias for alias in (entity.name, *entity.aliases) if alias != name})
        if aliases:
            attributes["aliases"] = aliases
        self._add((TYPE_OF[entity.kind], name), attributes, evidence, entity.id)

    def _links(self, entity: Entity) -> None:
        subject = self._keys[entity.id]
        for link in entity.links:
            if link.kind == "affected-path":
                self._link(subject, "affects", self._target_of_path(link.target))
            elif link.kind == "defines-symbol" and link.target in self._keys:
                self._link(subject, "defines", self._keys[link.target], {"symbol": link.symbol} if link.symbol else {})
            elif link.kind == "supersedes" and link.target in self._keys:
                self._link(subject, "supersedes", self._keys[link.target])
            elif link.kind == "superseded-by" and link.target in self._keys:
                self._link(self._keys[link.target], "supersedes", subject)

    def _target_of_path(self, path: str) -> Key:
        return ("Document", path) if ("Document", path) in self.nodes else self._file(path)

    def _references(self, index: Index) -> None:
        for mention in index.mentions:
            if mention.document in self._keys and mention.entry in self._keys:
                facts = {"line": mention.line}
                self._link(self._keys[mention.document], "mentions", self._keys[mention.entry], facts)
        for entry in index.entries:
            for document in entry.covered_by:
                if entry.id in self._keys and document in self._keys:
                    self._link(self._keys[document], "covers", self._keys[entry.id])

    def _link(self, subject: Key, predicate: str, object_: Key, attributes: dict[str, Any] | None = None) -> None:
        self.links.setdefault((subject, predicate, object_), attributes or {})


def project(graph: Graph, index: Index) -> ProjectionReport:
    """Bring the graph of a context in step with its index, inside the caller's transaction."""
    return _Projector(graph, index).run()


class _Projector:
    def __init__(self, graph: Graph, index: Index) -> None:
        self._graph = graph
        self._hash = index.index_hash
        self._wanted = _Wanted(index)
        self._ids: dict[Key, int] = {}
        self._report = ProjectionReport()

    def run(self) -> ProjectionReport:
        domain = self._schema()
        known = {(node.type, node.name): node for type_ in TYPES for node in self._graph.nodes_of_type(type_)}
        for key, wanted in self._wanted.nodes.items():
            self._node(key, wanted, known.get(key))
        links = {
            (link.subject, link.predicate, link.object): link
            for predicate in (*PREDICATES, "belongs_to_domain")
            for link in self._graph.links_with(predicate)
        }
        kept = self._write_links(domain, links)
        stale = [link for link in links.values() if _ours(link) and link.id not in kept]
        self._remove_links(stale)
        self._remove_nodes([node for key, node in known.items() if _ours(node) and key not in self._wanted.nodes])
        return self._report

    # --- schema -----------------------------------------------------------------------------------

    def _schema(self) -> int:
        for name, description in TYPES.items():
            self._ensure("$ConceptType", name, {"description": description})
        for name, (description, subjects, objects) in PREDICATES.items():
            ends = {"description": description, "subject_types": subjects, "object_types": objects}
            self._ensure("$PropositionType", name, ends)
        description = "What repositories record about themselves: decisions and concepts, read by the index."
        return self._ensure("Domain", DOMAIN, {"description": description})

    def _ensure(self, type_: str, name: str, attributes: dict[str, Any]) -> int:
        found = self._graph.concept_id(type_, name)
        if found is not None:
            return found
        return self._graph.insert_concept(type_, name, attributes, {"source": "SystemBootstrap", "author": "$system"})

    # --- nodes and links --------------------------------------------------------------------------

    def _metadata(self, evidence: list[str]) -> dict[str, Any]:
        metadata: dict[str, Any] = {"source": SOURCE, "author": "$system", "status": "active", "index_hash": self._hash}
        if evidence:
            metadata["evidence"] = evidence
        return metadata

    def _node(self, key: Key, wanted: _Node, node: Concept | None) -> None:
        metadata = self._metadata(wanted.evidence)
        if node is None:
            self._ids[key] = self._graph.insert_concept(*key, wanted.attributes, metadata)
            self._report.created += 1
            return
        self._ids[key] = node.id
        theirs = {name: value for name, value in node.attributes.items() if name not in OWN_KEYS}
        attributes = {**theirs, **wanted.attributes}
        if attributes != node.attributes or not _same_metadata(node.metadata, metadata):
            self._graph.update_concept(node, attributes, {**node.metadata, **metadata})
            self._report.updated += 1

    def _write_links(self, domain: int, known: dict[tuple[int, str, int], Link]) -> set[int]:
        kept: set[int] = set()
        wanted = {(self._ids[s], p, self._ids[o]): facts for (s, p, o), facts in self._wanted.links.items()}
        for key, element_id in self._ids.items():
            if key[0] in ("Decision", "Concept"):
                wanted[element_id, "belongs_to_domain", domain] = {}
        for triple, facts in wanted.items():
            link = known.get(triple)
            if link is None:
                self._graph.insert_link(*triple, facts, self._metadata([]))
                self._report.created += 1
                continue
            kept.add(link.id)
            if _ours(link) and (link.attributes != {**link.attributes, **facts} or _retracted(link)):
                metadata = {**link.metadata, **self._metadata([])}
                self._graph.update_link(link, {**link.attributes, **facts}, metadata)
                self._report.updated += 1
        return kept

    # --- what is gone -----------------------------------------------------------------------------

    def _remove_links(self, links: list[GraphLink]) -> None:
        spoken_of = {end for link in links for end in [link.id] if self._graph.links_about([link.id])}
        self._report.removed += self._graph.delete_links(link.id for link in links if link.id not in spoken_of)
        for link in links:
            if link.id in spoken_of and not _retracted(link):
                self._graph.update_link(link, None, {**link.metadata, "status": "retracted"})
                self._report.removed += 1

    def _remove_nodes(self, nodes: list[Concept]) -> None:
        for node in nodes:
            if self._graph.links_about([node.id]):
                if not _retracted(node):
                    self._graph.update_concept(node, None, {**node.metadata, "status": "retracted"})
                    self._report.removed += 1
            else:
                self._graph.delete_concept(node)
                self._report.removed += 1


def _ours(element: Concept | Link) -> bool:
    return element.metadata.get("source") == SOURCE


def _retracted(element: Concept | Link) -> bool:
    return element.metadata.get("status") == "retracted"


def _same_metadata(current: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Equal but for the index hash, which names the index in which the element last changed."""
    return all(current.get(key) == value for key, value in wanted.items() if key != "index_hash") and not (
        "evidence" in current and "evidence" not in wanted
    )


def schema_names() -> Iterable[str]:
    """Every type and predicate that the projection registers."""
    return (*TYPES, *PREDICATES)
