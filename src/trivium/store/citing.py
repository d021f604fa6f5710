"""What citations and reading tools need of stored text: whether it says what is quoted, and which rows stand where."""

from __future__ import annotations

from trivium.store import documents
from trivium.store.sqlite import Session


def chunk_says(session: Session, ctx: int, key: str, quote: str) -> bool:
    """Whether the words stand in a live chunk of that key, or else in the document around it."""
    row = session.row(
        "SELECT c.text, d.id FROM chunk AS c CROSS JOIN document AS d ON d.id = c.document AND d.live = 1"
        " WHERE c.ctx = ? AND c.key = ? AND c.live = 1 LIMIT 1",
        (ctx, key),
    )
    return row is not None and (quote in row[0] or quote in documents.text_of(session, row[1]))


def artifact_says(session: Session, ctx: int, key: str, quote: str) -> bool:
    """Whether the words stand in the live artifact of that key."""
    text = session.value("SELECT text FROM artifact WHERE ctx = ? AND key = ? AND live = 1", (ctx, key))
    return text is not None and quote in str(text)


def chunks_on_lines(session: Session, ctx: int, document: int, first: int, last: int) -> list[int]:
    """The ids of the live chunks of a document that touch these lines, in order."""
    sql = (
        "SELECT id FROM chunk WHERE ctx = ? AND document = ? AND live = 1 AND first_line <= ? AND last_line >= ?"
        " ORDER BY position"
    )
    return [row[0] for row in session.execute(sql, (ctx, document, last, first))]


def artifact_named(session: Session, ctx: int, name: str) -> int | None:
    """The id of the live artifact of that key, or else of that name."""
    sql = "SELECT id FROM artifact WHERE ctx = ?1 AND live = 1 AND (key = ?2 OR name = ?2) ORDER BY key = ?2 DESC, id"
    found = session.value(sql + " LIMIT 1", (ctx, name))
    return None if found is None else int(found)
