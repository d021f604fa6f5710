"""The index as graph elements: one way, idempotent, rebuilt with the index (docs/why-graph.md).

Nodes of the types Decision, Concept, Change, SourceFile and Document, and links `supersedes`, `affects`, `defines`,
`mentions` and `covers`, all with metadata `source` = SOURCE. What is gone from the index is removed; what people have
linked to or written attributes on stays, with metadata `status` = "retracted". Keys and links that people added are
left alone, and so is the metadata of a node or link that was there before: it stays theirs.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trivium.store.codec import decode, encode
from trivium.store.graph_writer import GraphWriter, NewLink
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
    "affects": (
        "The decision, change or concept cites or touches the file.",
        ["Decision", "Change", "Concept"],
        ["SourceFile", "Document"],
    ),
    "defines": ("The concept names what the file declares.", ["Concept"], ["SourceFile"]),
    "mentions": ("The one mentions the other.", ["*"], ["*"]),
    "covers": ("The document declares that it covers the file.", ["Document"], ["SourceFile", "Document"]),
}
OWN_KEYS = frozenset(
    {"entity_id", "title", "status", "date", "path", "line_start", "line_end", "aliases", "sha", "language", "symbols"}
    | {"change_type", "change_scope", "breaking"}
)

MARK = "index_hash"
"""The metadata key of every element that the projection made: the index in which it last changed."""
LINK_KEYS = frozenset({"line", "symbol"})

Key = tuple[str, str]
Row = tuple[int, str, str, str]
"""A stored node: id, name, attributes and metadata as JSON text."""
LinkRow = tuple[int, int, int, str, str]
"""A stored link: id, subject, object, attributes and metadata as JSON text."""


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


def project(graph: GraphWriter, index: Index) -> ProjectionReport:
    """Bring the graph of a context in step with its index, inside the caller's transaction."""
    return _Projector(graph, index).run()


class _Projector:
    """One pass: stored elements are read as JSON text, and only what differs is decoded and written."""

    def __init__(self, graph: GraphWriter, index: Index) -> None:
        self._graph = graph
        self._hash = index.index_hash
        self._wanted = _Wanted(index)
        self._ids: dict[Key, int] = {}
        self._report = ProjectionReport()
        self._decoded: dict[str, dict[str, Any]] = {}

    def run(self) -> ProjectionReport:
        domain = self._schema()
        known = {(type_, row[1]): row for type_ in TYPES for row in self._graph.concept_rows(type_)}
        self._make_nodes([key for key in self._wanted.nodes if key not in known])
        for key, row in known.items():
            if key in self._wanted.nodes:
                self._node(key, self._wanted.nodes[key], row)
        stale = self._write_links(domain)
        self._remove_links(stale)
        self._remove_nodes([row for key, row in known.items() if key not in self._wanted.nodes and self._ours(row[3])])
        return self._report

    def _metadata_of(self, text: str) -> dict[str, Any]:
        """Decoded metadata; many elements have the same."""
        found = self._decoded.get(text)
        if found is None:
            found = self._decoded[text] = decode(text)
        return found

    def _ours(self, metadata: str) -> bool:
        """Whether the projection made the element; it stays so when people write on it as another source."""
        return MARK in self._metadata_of(metadata)

    def _retracted(self, metadata: str) -> bool:
        return self._metadata_of(metadata).get("status") == "retracted"

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
        metadata: dict[str, Any] = {"source": SOURCE, "author": "$system", "status": "active", MARK: self._hash}
        if evidence:
            metadata["evidence"] = evidence
        return metadata

    def _renewed(self, current: dict[str, Any], evidence: list[str]) -> dict[str, Any]:
        """The metadata of an element of ours that is in the index: what people have written there stays."""
        renewed = {**current, "evidence": evidence} if evidence else dict(current)
        if renewed.get("status") == "retracted":
            renewed["status"] = "active"
        return renewed

    def _make_nodes(self, keys: list[Key]) -> None:
        nodes = ((key, self._wanted.nodes[key]) for key in keys)
        new = ((*key, node.attributes, self._metadata(node.evidence)) for key, node in nodes)
        self._ids.update(zip(keys, self._graph.insert_concepts(new), strict=True))
        self._report.created += len(keys)

    def _node(self, key: Key, wanted: _Node, row: Row) -> None:
        self._ids[key] = row[0]
        current = self._metadata_of(row[3])
        ours = MARK in current
        metadata = self._renewed(current, wanted.evidence) if ours else current
        if metadata == current and row[2] == encode(wanted.attributes):
            return
        before = decode(row[2])
        theirs = {name: value for name, value in before.items() if not ours or name not in OWN_KEYS}
        attributes = {**theirs, **wanted.attributes}
        node = self._graph.concept(row[0]) if metadata != current or attributes != before else None
        if node is not None:
            self._graph.update_concept(node, attributes, {**metadata, MARK: self._hash} if ours else None)
            self._report.updated += 1

    def _write_links(self, domain: int) -> list[LinkRow]:
        """Make and mend the wanted links; gives those of ours that are wanted no more."""
        ids = self._ids
        wanted: dict[str, dict[tuple[int, int], dict[str, Any]]] = {name: {} for name in PREDICATES}
        for (subject, predicate, object_), facts in self._wanted.links.items():
            wanted[predicate][ids[subject], ids[object_]] = facts
        members = [element_id for key, element_id in ids.items() if key[0] in ("Decision", "Concept")]
        wanted["belongs_to_domain"] = {(element_id, domain): {} for element_id in members}
        new: list[NewLink] = []
        stale: list[LinkRow] = []
        for predicate, ends in wanted.items():
            for row in self._graph.link_rows(predicate):
                found = ends.pop((row[1], row[2]), None)
                if found is None:
                    if self._ours(row[4]):
                        stale.append(row)
                elif row[3] != (encode(found) if found else "{}") or self._retracted(row[4]):
                    self._mend(row, found)
            new += ((subject, predicate, object_, facts) for (subject, object_), facts in ends.items())
        self._graph.insert_links(new, self._metadata([]))
        self._report.created += len(new)
        return stale

    def _mend(self, row: LinkRow, facts: dict[str, Any]) -> None:
        before = decode(row[3])
        attributes = {**{name: value for name, value in before.items() if name not in LINK_KEYS}, **facts}
        if self._ours(row[4]) and (attributes != before or self._retracted(row[4])):
            link = self._graph.link(row[0])
            if link is not None:
                self._graph.update_link(link, attributes, {**self._renewed(link.metadata, []), MARK: self._hash})
                self._report.updated += 1

    # --- what is gone -----------------------------------------------------------------------------

    def _remove_links(self, rows: list[LinkRow]) -> None:
        kept = {row[0] for row in rows if self._is_theirs(row[0], row[3], LINK_KEYS)}
        self._report.removed += self._graph.delete_links(row[0] for row in rows if row[0] not in kept)
        for row in rows:
            link = self._graph.link(row[0]) if row[0] in kept and not self._retracted(row[4]) else None
            if link is not None:
                self._graph.update_link(link, None, {**link.metadata, "status": "retracted"})
                self._report.removed += 1

    def _remove_nodes(self, rows: list[Row]) -> None:
        for row in rows:
            kept = self._is_theirs(row[0], row[2], OWN_KEYS)
            node = None if kept and self._retracted(row[3]) else self._graph.concept(row[0])
            if node is None:
                continue
            if kept:
                self._graph.update_concept(node, None, {**node.metadata, "status": "retracted"})
            else:
                self._graph.delete_concept(node)
            self._report.removed += 1

    def _is_theirs(self, element_id: int, attributes: str, own: frozenset[str]) -> bool:
        """Whether people have written attributes on an element or linked it."""
        return not own.issuperset(decode(attributes)) or bool(self._graph.links_about([element_id]))
