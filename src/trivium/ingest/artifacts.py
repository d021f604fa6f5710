"""Artifacts without a model: what the context already knows, as short texts that a search finds as a whole.

| kind | made of |
| --- | --- |
| glossary | the terms that documents define (`ingest.terms`), one artifact each |
| entity | the concepts of the graph that have a description, with their links as edges |
| topic | decisions of the repository index |
| event | changes of the repository index |
| doc | the outline of each document, with its beginning |

The kinds `summary` and `page` need a model, and are not built. Without `artifact_types` one type of each kind is built.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from trivium.ingest.manifest import ArtifactType, Knobs
from trivium.ingest.terms import WINDOW, terms_of
from trivium.ingest.tokens import estimate
from trivium.search.passage_text import artifact_texts
from trivium.search.value_text import value_text
from trivium.store import documents
from trivium.store.contexts import ContextRow
from trivium.store.documents import NewArtifact
from trivium.store.graph import Concept, Graph
from trivium.store.sqlite import Session, SqliteStore

STANDARD = (
    ArtifactType("glossary", "glossary"),
    ArtifactType("entity", "entity"),
    ArtifactType("decision", "topic"),
    ArtifactType("change", "event"),
    ArtifactType("document", "doc", "document"),
)
_OF_INDEX = {"topic": "Decision", "event": "Change"}
_NOT_ENTITIES = frozenset(
    {"$ConceptType", "$PropositionType", "Domain", "Decision", "Change", "SourceFile", "Document"}
)
PAGE = 200
"""Documents that terms are looked for in between two writes."""
MAX_EDGES = 100
MAX_FACTS = 40
_LEAD = 600
"""Characters of a document that stand above its outline."""


def note_terms(store: SqliteStore, ctx: int, knobs: Knobs) -> None:
    """Write into the outlines which terms the documents define, where that was not done when they were read."""
    if not knobs.artifacts or not any(type_.kind == "glossary" for type_ in knobs.artifact_types or STANDARD):
        return
    last = 0
    while True:
        with store.read(timeout=120) as session:
            rows = documents.without_terms(session, ctx, last, PAGE)
        if not rows:
            return
        last = rows[-1].id
        found: list[tuple[int, list[tuple[str, str]]]] = []
        for row in rows:
            with store.read(timeout=120) as session:
                text = documents.text_of(session, row.id, WINDOW)
            found.append((row.id, terms_of(text, row.path, row.title)))
        with store.write(timeout=120) as session:
            for number, terms in found:
                documents.set_terms(session, number, terms)


def build_artifacts(session: Session, context: ContextRow, knobs: Knobs) -> bool:
    """Make the artifacts of a context those of its live documents and its graph; tells whether any changed."""
    made: dict[str, NewArtifact] = {}
    if knobs.artifacts:
        for type_ in knobs.artifact_types or STANDARD:
            for number, item in enumerate(_built(session, context.id, type_, knobs)):
                if number >= knobs.max_artifacts_per_type:
                    break
                made.setdefault(item.key, item)
    return documents.replace_artifacts(session, context.id, made.values())


def _built(session: Session, ctx: int, type_: ArtifactType, knobs: Knobs) -> Iterator[NewArtifact]:
    if type_.kind == "glossary":
        yield from _glossary(session, ctx, type_, knobs)
    elif type_.kind in ("entity", *_OF_INDEX):
        yield from _concepts(session, ctx, type_, knobs)
    elif type_.kind == "doc":
        yield from _outlines(session, ctx, type_, knobs)


def _artifact(
    type_: ArtifactType, name: str, text: str, sources: list[str], edges: list[dict[str, Any]], knobs: Knobs
) -> NewArtifact:
    text = _bounded(text, knobs.max_tokens)
    key = "art_" + hashlib.sha256(f"{type_.name}\0{name}".encode(errors="surrogatepass")).hexdigest()[:26]
    heading, body = artifact_texts(name, text)
    return NewArtifact(key, name, type_.name, type_.kind, type_.scope, "markdown", sources, edges, text, heading, body)


def _bounded(text: str, tokens: int) -> str:
    """Whole lines, up to so many tokens."""
    if estimate(text) <= tokens:
        return text
    kept, size = [], 0.0
    for line in text.split("\n"):
        size += estimate(line) + 0.25
        if size > tokens:
            break
        kept.append(line)
    return "\n".join(kept) or text[: tokens * 3]


# --- documents ------------------------------------------------------------------------------------


def _glossary(session: Session, ctx: int, type_: ArtifactType, knobs: Knobs) -> Iterator[NewArtifact]:
    terms: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for row in documents.rows(session, ctx):
        for term, meaning in row.outline.get("terms", ()):
            terms.setdefault(term.casefold(), (term, []))[1].append((row.path, meaning))
    least = type_.min_doc_count or knobs.min_doc_count
    for _, (term, found) in sorted(terms.items()):
        paths = sorted({path for path, _ in found})
        if len(paths) >= least:
            meanings = dict.fromkeys(meaning for _, meaning in found)
            yield _artifact(type_, term, f"# {term}\n\n" + "\n\n".join(meanings), paths, [], knobs)


def _outlines(session: Session, ctx: int, type_: ArtifactType, knobs: Knobs) -> Iterator[NewArtifact]:
    for row in documents.rows(session, ctx):
        headings = row.outline.get("headings", [])
        if row.problem or not headings:
            continue
        lead = documents.text_of(session, row.id, _LEAD).rpartition("\n")[0].strip()
        lines = ["  " * (item["level"] - 1) + f"- {item['title']}" for item in headings]
        yield _artifact(
            type_, f"{row.title} ({row.path})", f"{lead}\n\nOutline:\n" + "\n".join(lines), [row.path], [], knobs
        )


# --- the graph ------------------------------------------------------------------------------------


def _concepts(session: Session, ctx: int, type_: ArtifactType, knobs: Knobs) -> Iterator[NewArtifact]:
    graph = Graph(session, ctx)
    wanted = _OF_INDEX.get(type_.kind)
    nodes: Iterator[Concept] | list[Concept] = graph.nodes_of_type(wanted) if wanted else _entities(graph, type_)
    known = {row.path for row in documents.states(session, ctx)}
    for node in nodes:
        edges = [
            {"name": predicate, "to": name, "attributes": attributes}
            for predicate, _, name, attributes in graph.links_from(node.id, MAX_EDGES)
            if predicate != "belongs_to_domain"
        ]
        title = node.attributes.get("title")
        name = title if isinstance(title, str) and title.strip() else node.name
        sources = [text for text in (node.attributes.get("path"), node.metadata.get("source")) if text in known]
        yield _artifact(type_, name, _told(node, name, edges), sources, edges, knobs)


def _entities(graph: Graph, type_: ArtifactType) -> Iterator[Concept]:
    """The described concepts: of the type that bears the name of the artifact type, or all if none does."""
    types = {name.casefold(): name for name in graph.names_of_type("$ConceptType")}
    own = types.get(type_.name.casefold())
    for node in graph.described():
        if node.type not in _NOT_ENTITIES and (own is None or node.type == own):
            yield node


def _told(node: Concept, name: str, edges: list[dict[str, Any]]) -> str:
    lines = [f"# {name}", "", f"Type: {node.type}"]
    description = node.attributes.get("description")
    if isinstance(description, str):
        lines += ["", description.strip()]
    facts = [
        f"{key}: {text}"
        for key, value in sorted(node.attributes.items())
        if key not in ("description", "title", "entity_id") and (text := value_text(value))
    ]
    lines += ["", *facts[:MAX_FACTS]] if facts else []
    lines += ["", *(f"{edge['name']}: {edge['to']}" for edge in edges)] if edges else []
    return "\n".join(lines)
