"""Stored documents and artifacts as an agent loop reads them: text, with the passages that it can be cited by."""

from __future__ import annotations

from msgspec import Struct

from trivium.ingest.names import as_stored
from trivium.search.facts import fact
from trivium.search.passage import Passage
from trivium.search.retrieval import ScopedContext, artifact_passage, chunk_passage
from trivium.store import chunks, citing, documents
from trivium.store.sqlite import Session


class Extract(Struct, frozen=True):
    """Some lines of a document; `path` names it as it is stored, `lines` counts all it has."""

    path: str
    text: str
    lines: int
    passages: list[Passage]


def read_lines(session: Session, context: ScopedContext, path: str, first: int, last: int) -> Extract | None:
    """Lines `first` to `last` of a live document, from 1, however its path is typed; None when there is no such one."""
    row = documents.find(session, context.ctx, as_stored(path))
    if row is None:
        return None
    lines = documents.text_of(session, row.id).split("\n")
    ids = citing.chunks_on_lines(session, context.ctx, row.id, first, last)
    found = chunks.chunks(session, context.ctx, ids)
    passages = [chunk_passage(context, found[number], 0.0) for number in ids if number in found]
    return Extract(row.path, "\n".join(lines[first - 1 : last]), len(lines), passages)


def read_artifact(session: Session, context: ScopedContext, name: str) -> Passage | None:
    """The live artifact of that name or id, or what the graph knows of the concept of that id."""
    number = citing.artifact_named(session, context.ctx, name)
    if number is None:
        return fact(session, context.ctx, context.slug, name)
    row = chunks.artifacts(session, context.ctx, [number])[number]
    return artifact_passage(context, row, 0.0)
