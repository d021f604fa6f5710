"""Sources: the files of a context as they were imported, verbatim and hashed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from msgspec import Struct

from trivium.store.sqlite import Session

PIECE = 1 << 20
"""Bytes of a file that are held at a time while it is stored."""


class Stream(Protocol):
    """Bytes that are read in pieces; an empty piece is the end."""

    def read(self, size: int, /) -> bytes: ...


class SourceRow(Struct, frozen=True):
    """A source without its content. `hash` is the SHA-256 of the content, in hexadecimal."""

    id: int
    path: str
    media_type: str
    hash: str
    size: int
    dated: str | None
    imported_at: str


_ROW = "SELECT id, path, media_type, hash, size, dated, imported_at FROM source"


def find(session: Session, ctx: int, path: str) -> SourceRow | None:
    row = session.row(f"{_ROW} WHERE ctx = ? AND path = ?", (ctx, path))
    return None if row is None else SourceRow(*row)


def rows(session: Session, ctx: int) -> Iterator[SourceRow]:
    """All sources in the order of their paths."""
    return (SourceRow(*row) for row in session.execute(f"{_ROW} WHERE ctx = ? ORDER BY path", (ctx,)))


def totals(session: Session, ctx: int) -> tuple[int, int]:
    """How many sources there are, and their bytes."""
    row = session.row("SELECT count(*), coalesce(sum(size), 0) FROM source WHERE ctx = ?", (ctx,))
    assert row is not None
    return row[0], row[1]


def content(session: Session, source: int) -> bytes:
    """The bytes of a source, as they were imported."""
    found: Any = session.value("SELECT content FROM source_content WHERE source = ?", (source,))
    return b"" if found is None else bytes(found)


def pieces(session: Session, source: int) -> Iterator[bytes]:
    """The bytes of a source, a piece at a time."""
    if session.value("SELECT 1 FROM source_content WHERE source = ?", (source,)) is None:
        return
    with session.connection.blob_open("main", "source_content", "content", source, False) as blob:
        while piece := blob.read(PIECE):
            yield piece


def head(session: Session, source: int, size: int) -> bytes:
    """The first bytes of a source."""
    if session.value("SELECT 1 FROM source_content WHERE source = ?", (source,)) is None:
        return b""
    blob = session.connection.blob_open("main", "source_content", "content", source, False)
    try:
        found: bytes = blob.read(size)
    finally:
        blob.close()
    return found


def save(
    session: Session,
    ctx: int,
    path: str,
    media_type: str,
    digest: str,
    size: int,
    dated: str | None,
    now: str,
    data: bytes | Stream,
) -> None:
    """Enter a source, or put it in the place of an older one.

    A stream must give exactly `size` bytes: else ValueError, and nothing has changed.
    """
    with session.connection:
        delete(session, ctx, path)
        session.execute(
            "INSERT INTO source(ctx, path, media_type, hash, size, dated, imported_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (ctx, path, media_type, digest, size, dated, now),
        )
        number = session.connection.last_insert_rowid()
        if isinstance(data, bytes):
            session.execute("INSERT INTO source_content VALUES (?, ?)", (number, data))
        else:
            session.execute("INSERT INTO source_content VALUES (?, zeroblob(?))", (number, size))
            _write(session, number, size, data)


def _write(session: Session, number: int, size: int, data: Stream) -> None:
    left = size
    with session.connection.blob_open("main", "source_content", "content", number, True) as blob:
        while piece := data.read(PIECE):
            left -= len(piece)
            if left < 0:
                break
            blob.write(piece)
    if left:
        raise ValueError("the file changed while it was read")


def delete(session: Session, ctx: int, path: str) -> bool:
    """Remove a source; False if there was none."""
    number = session.value("SELECT id FROM source WHERE ctx = ? AND path = ?", (ctx, path))
    if number is None:
        return False
    session.execute("DELETE FROM source_content WHERE source = ?", (number,))
    session.execute("DELETE FROM source WHERE id = ?", (number,))
    return True
