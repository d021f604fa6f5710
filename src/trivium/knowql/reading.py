"""Stored documents and artifacts as an agent loop reads them: text, with the passages that it can be cited by."""

from __future__ import annotations

from msgspec import Struct

from trivium.search.facts import fact
from trivium.search.passage import ARTIFACT, CHUNK, Passage
from trivium.search.retrieval import ScopedContext
from trivium.store import chunks, citing, documents
from trivium.store.sqlite import Session


class Extract(Struct, frozen=True):
    """Some lines of a document; `lines` counts all it has."""

    text: str
    lines: int
    passages: list[Passage]


def read_lines(session: Session, context: ScopedContext, path: str, first: int, last: int) -> Extract | None:
    """Lines `first` to `last` of a live document, from 1; None when there is no such document."""
    row = documents.find(session, context.ctx, path)
    if row is None:
        return None
    lines = documents.text_of(session, row.id).split("\n")
    ids = citing.chunks_on_lines(session, context.ctx, row.id, first, last)
    found = chunks.chunks(session, context.ctx, ids)
    passages = [_chunk(context, found[number]) for number in ids if number in found]
    return Extract("\n".join(lines[first - 1 : last]), len(lines), passages)


def read_artifact(session: Session, context: ScopedContext, name: str) -> Passage | None:
    """The live artifact of that name or id, or what the graph knows of the concept of that id."""
    number = citing.artifact_named(session, context.ctx, name)
    if number is None:
        return fact(session, context.ctx, context.slug, name)
    row = chunks.artifacts(session, context.ctx, [number])[number]
    return Passage(
        id=row.key,
        kind=ARTIFACT,
        context=context.slug,
        ctx=context.ctx,
        source="",
        text=row.text,
        score=0.0,
        name=row.name,
        type=row.type,
        artifact_kind=row.kind,
        scope=row.scope,
        format=row.format,
        sources=row.sources,
        edges=row.edges,
    )


def _chunk(context: ScopedContext, row: chunks.ChunkRow) -> Passage:
    return Passage(
        id=row.key,
        kind=CHUNK,
        context=context.slug,
        ctx=context.ctx,
        source=row.path,
        text=row.text,
        score=0.0,
        section_paths=row.place.get("sections", []),
        pages=row.place.get("pages", []),
        first_line=row.first_line,
        last_line=row.last_line,
        start=row.start,
        dated=row.dated,
        title=row.title,
    )
