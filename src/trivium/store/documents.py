"""Documents: the text of each source with its outline, its chunks, and the artifacts of a context.

A document is staged (`live` 0) while curate works, live (1), or hidden (-1): its source was deleted and the next
curate removes it. Chunks belong to a document and are seen as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from trivium.store import chunks
from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session

STAGED, LIVE, HIDDEN = 0, 1, -1


class DocumentRow(Struct, frozen=True):
    """A document without its text. `hash` is the SHA-256 of the text as UTF-8, `chars` its length in characters.

    `problem` says why the source could not be read; such a document has an empty text. `outline` holds `headings`
    (`level`, `title`, `line`, `start`), `notes` (what a reader of the source should know), `pages` and `media_type`.
    """

    id: int
    path: str
    live: int
    source_hash: str
    recipe: str
    title: str
    dated: str | None
    hash: str
    chars: int
    problem: str | None
    outline: dict[str, Any]


class DocumentState(Struct, frozen=True, gc=False):
    """What curate must know of a document."""

    id: int
    path: str
    live: int
    source_hash: str
    recipe: str
    problem: str | None


class NewChunk(Struct, frozen=True):
    """A chunk to be stored; `heading` and `body` are its tokens for the text index."""

    key: str
    start: int
    stop: int
    first_line: int
    last_line: int
    place: dict[str, Any]
    text: str
    heading: str
    body: str


class NewArtifact(Struct, frozen=True):
    """An artifact to be stored; `heading` and `body` are its tokens for the text index."""

    key: str
    name: str
    type: str
    kind: str
    scope: str
    format: str
    sources: list[str]
    edges: list[dict[str, Any]]
    text: str
    heading: str
    body: str


_ROW = "SELECT id, path, live, source_hash, recipe, title, dated, hash, chars, problem, json(outline) FROM document"


def _document(row: tuple[Any, ...]) -> DocumentRow:
    id_, path, live, source_hash, recipe, title, dated, digest, chars, problem, outline = row
    return DocumentRow(id_, path, live, source_hash, recipe, title, dated, digest, chars, problem, decode(outline))


# --- reading --------------------------------------------------------------------------------------


def find(session: Session, ctx: int, path: str, live: int = LIVE) -> DocumentRow | None:
    """The document of a path: the live one unless told otherwise."""
    row = session.row(f"{_ROW} WHERE ctx = ? AND path = ? AND live = ?", (ctx, path, live))
    return None if row is None else _document(row)


def rows(session: Session, ctx: int, live: int = LIVE) -> Iterator[DocumentRow]:
    """The live documents, or the staged or hidden ones, in the order of their paths."""
    return map(_document, session.execute(f"{_ROW} WHERE ctx = ? AND live = ? ORDER BY path", (ctx, live)))


def states(session: Session, ctx: int, live: int = LIVE) -> list[DocumentState]:
    """`rows`, without what takes much memory."""
    sql = "SELECT id, path, live, source_hash, recipe, problem FROM document WHERE ctx = ? AND live = ? ORDER BY path"
    return [DocumentState(*row) for row in session.execute(sql, (ctx, live))]


def notes(session: Session, ctx: int) -> Iterator[tuple[str, str]]:
    """Path and text of the notes on live documents."""
    sql = (
        "SELECT d.path, n.value FROM document AS d CROSS JOIN json_each(d.outline, '$.notes') AS n"
        " WHERE d.ctx = ? AND d.live = 1 ORDER BY d.path, n.id"
    )
    for row in session.execute(sql, (ctx,)):
        yield row[0], row[1]


def longest(session: Session, ctx: int, limit: int) -> list[DocumentRow]:
    """The longest live documents."""
    sql = f"{_ROW} WHERE ctx = ? AND live = ? ORDER BY chars DESC, path LIMIT ?"
    return [_document(row) for row in session.execute(sql, (ctx, LIVE, limit))]


def without_terms(session: Session, ctx: int, after: int, limit: int) -> list[DocumentRow]:
    """Documents behind the id `after`, staged or live, whose outlines do not tell yet which terms they define."""
    sql = (
        f"{_ROW} NOT INDEXED WHERE ctx = ? AND id > ? AND live <> ? AND json_type(outline, '$.terms') IS NULL"
        " ORDER BY id LIMIT ?"
    )
    return [_document(row) for row in session.execute(sql, (ctx, after, HIDDEN, limit))]


def text_of(session: Session, document: int, most: int | None = None) -> str:
    """The text of a document, or its first characters."""
    sql = "SELECT text FROM document_text WHERE document = ?"
    if most is not None:
        sql = "SELECT substr(text, 1, ?2) FROM document_text WHERE document = ?1"
    found = session.value(sql, (document,) if most is None else (document, most))
    return "" if found is None else str(found)


def totals(session: Session, ctx: int) -> tuple[int, int, int, int]:
    """How many live documents, of these unreadable ones, live chunks and live artifacts there are."""
    row = session.row(
        "SELECT (SELECT count(*) FROM document WHERE ctx = ?1 AND live = 1),"
        " (SELECT count(*) FROM document WHERE ctx = ?1 AND live = 1 AND problem IS NOT NULL),"
        " (SELECT count(*) FROM document AS d CROSS JOIN chunk AS c ON c.ctx = d.ctx AND c.document = d.id"
        "   WHERE d.ctx = ?1 AND d.live = 1),"
        " (SELECT count(*) FROM artifact WHERE ctx = ?1 AND live = 1)",
        (ctx,),
    )
    assert row is not None
    return row[0], row[1], row[2], row[3]


# --- staging --------------------------------------------------------------------------------------


def stage(
    session: Session,
    ctx: int,
    path: str,
    source_hash: str,
    title: str,
    dated: str | None,
    digest: str,
    text: str,
    problem: str | None,
    outline: dict[str, Any],
) -> int:
    """Enter a staged document without its chunks, in the place of an earlier staged one; gives its id.

    It counts as unfinished until `complete`.
    """
    old = session.value("SELECT id FROM document WHERE ctx = ? AND path = ? AND live = ?", (ctx, path, STAGED))
    if old is not None:
        discard(session, ctx, [old])
    session.execute(
        "INSERT INTO document(ctx, path, live, source_hash, recipe, title, dated, hash, chars, problem, outline)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?))",
        (ctx, path, STAGED, source_hash, "", title, dated, digest, len(text), problem, encode(outline)),
    )
    number = session.connection.last_insert_rowid()
    session.execute("INSERT INTO document_text VALUES (?, ?)", (number, text))
    return int(number)


def complete(session: Session, document: int, recipe: str) -> None:
    """All chunks of a staged document are there; a later curate may take it as it is."""
    session.execute("UPDATE document SET recipe = ? WHERE id = ?", (recipe, document))


def set_terms(session: Session, document: int, terms: list[tuple[str, str]]) -> None:
    """Note in the outline which terms a document defines, each with its meaning."""
    sql = "UPDATE document SET outline = jsonb_set(outline, '$.terms', jsonb(?)) WHERE id = ?"
    session.execute(sql, (encode(terms), document))


def set_outline(session: Session, document: int, outline: dict[str, Any]) -> None:
    session.execute("UPDATE document SET outline = jsonb(?) WHERE id = ?", (encode(outline), document))


def add_chunks(session: Session, ctx: int, document: int, position: int, new: Iterable[NewChunk]) -> list[int]:
    """Enter chunks of a staged document, the first of them at `position`; gives their ids."""
    ids = []
    for offset, chunk in enumerate(new):
        span = (chunk.start, chunk.stop, chunk.first_line, chunk.last_line)
        session.execute(
            "INSERT INTO chunk(ctx, document, position, live, key, start, stop, first_line, last_line, place, text)"
            " VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, jsonb(?), ?)",
            (ctx, document, position + offset, chunk.key, *span, encode(chunk.place), chunk.text),
        )
        ids.append(session.connection.last_insert_rowid())
    return ids


def discard(session: Session, ctx: int, documents: Iterable[int]) -> None:
    """Remove documents with their chunks and the chunks' entries in the text index."""
    indexed = chunks.has_index(session, ctx)
    for number in documents:
        if indexed:
            found = session.rows("SELECT id FROM chunk WHERE ctx = ? AND document = ?", (ctx, number))
            chunks.remove_chunks(session, ctx, (row[0] for row in found))
        session.execute(
            "DELETE FROM staged_text WHERE chunk IN (SELECT id FROM chunk WHERE ctx = ? AND document = ?)",
            (ctx, number),
        )
        session.execute("DELETE FROM chunk WHERE ctx = ? AND document = ?", (ctx, number))
        session.execute("DELETE FROM document_text WHERE document = ?", (number,))
        session.execute("DELETE FROM document WHERE ctx = ? AND id = ?", (ctx, number))


def hide(session: Session, ctx: int, path: str) -> bool:
    """Take a live document out of sight at once, and forget a staged one; False if none was live."""
    staged = session.value("SELECT id FROM document WHERE ctx = ? AND path = ? AND live = ?", (ctx, path, STAGED))
    if staged is not None:
        discard(session, ctx, [staged])
    session.execute("UPDATE document SET live = ? WHERE ctx = ? AND path = ? AND live = ?", (HIDDEN, ctx, path, LIVE))
    return session.connection.changes() > 0


def publish(session: Session, ctx: int, documents: Iterable[int]) -> None:
    """Make documents live; none of their paths may have a live one."""
    sql = "UPDATE document SET live = ? WHERE ctx = ? AND id = ?"
    session.connection.executemany(sql, ((LIVE, ctx, number) for number in documents))


# --- artifacts ------------------------------------------------------------------------------------


def replace_artifacts(session: Session, ctx: int, new: Iterable[NewArtifact]) -> bool:
    """Make these the artifacts of a context; those that stay as they are keep their rows. Tells whether any changed."""
    sql = (
        "SELECT key, id, name, type, kind, scope, format, json(sources), json(edges), text FROM artifact WHERE ctx = ?"
    )
    old = {key: (number, *facts) for key, number, *facts in session.execute(sql, (ctx,))}
    changed = False
    for item in new:
        facts = (item.name, item.type, item.kind, item.scope, item.format, encode(item.sources), encode(item.edges))
        known = old.get(item.key)
        if known is not None and known[1:] == (*facts, item.text):
            del old[item.key]
            continue
        changed = True
        if known is not None:
            _drop_artifacts(session, ctx, [old.pop(item.key)[0]])
        session.execute(
            "INSERT INTO artifact(ctx, live, key, name, type, kind, scope, format, sources, edges, text)"
            " VALUES (?, 1, ?, ?, ?, ?, ?, ?, jsonb(?), jsonb(?), ?)",
            (ctx, item.key, *facts, item.text),
        )
        number = session.connection.last_insert_rowid()
        chunks.add_artifacts(session, ctx, [(number, item.heading, item.body)])
    _drop_artifacts(session, ctx, [number for number, *_ in old.values()])
    return changed or bool(old)


def _drop_artifacts(session: Session, ctx: int, ids: list[int]) -> None:
    chunks.remove_artifacts(session, ctx, ids)
    session.connection.executemany("DELETE FROM artifact WHERE id = ?", ((number,) for number in ids))
