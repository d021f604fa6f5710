"""What `why` answers, as passages that can be cited: what the graph holds of each entity, and its lines where stored.

An index holds the place and the hash of the lines that say something, not the lines. They can be cited where a context
of the scope holds the same document, and in it the very same lines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from trivium.ingest.names import as_stored
from trivium.knowql.reading import read_lines
from trivium.search.facts import fact
from trivium.search.passage import Passage
from trivium.search.retrieval import ScopedContext
from trivium.store import documents
from trivium.store.graph import Graph, concept_id_text
from trivium.store.sqlite import Session

MOST_ENTITIES, MOST_PASSAGES = 10, 24
"""Entities of an answer that can be cited, and passages for all of them together."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_TYPES = {"decision": "Decision", "concept": "Concept", "change": "Change"}


def recorded(
    session: Session, context: ScopedContext, scope: Sequence[ScopedContext], answer: dict[str, Any]
) -> list[Passage]:
    """The passages of an answer of `why` about `context`, in its order, each entity's node before its lines."""
    found: dict[tuple[int, str], Passage] = {}
    texts: dict[tuple[int, str], list[str] | None] = {}
    for entity in answer["entities"][:MOST_ENTITIES]:
        node = _node(session, context, entity)
        passages = [] if node is None else [node]
        for region in entity["evidence"]:
            if region["kind"] == "document-region":
                passages += _lines(session, scope, region, texts)
        for passage in passages:
            found.setdefault((passage.ctx, passage.id), passage)
        if len(found) >= MOST_PASSAGES:
            break
    return list(found.values())[:MOST_PASSAGES]


def _node(session: Session, context: ScopedContext, entity: dict[str, Any]) -> Passage | None:
    name = entity["id"].removeprefix(f"knowledge-{entity['kind']}:")
    number = Graph(session, context.ctx).concept_id(_TYPES[entity["kind"]], name)
    return None if number is None else fact(session, context.ctx, context.slug, concept_id_text(number))


def _lines(
    session: Session,
    scope: Sequence[ScopedContext],
    region: dict[str, Any],
    texts: dict[tuple[int, str], list[str] | None],
) -> list[Passage]:
    """The passages on some lines, from the first context that holds exactly these."""
    path, first, last = as_stored(region["path"]), region["lineStart"], region["lineEnd"]
    for context in scope:
        key = context.ctx, path
        if key not in texts:
            row = documents.find(session, context.ctx, path)
            texts[key] = None if row is None else _LINE.findall(documents.text_of(session, row.id))
        lines = texts[key]
        if lines is None or not _are("".join(lines[first - 1 : last]), region["regionHash"]):
            continue
        extract = read_lines(session, context, path, first, last)
        return [] if extract is None else extract.passages
    return []


def _are(text: str, digest: str) -> bool:
    """Whether lines are those of a hash; stored text has lost the mark with which a file may begin."""
    return digest in (hashlib.sha256(f"{mark}{text}".encode()).hexdigest() for mark in ("", "\ufeff"))
