"""The repository index of a context: one row and its pages, replaced whole in the transaction that also projects it.

The row holds the index as canonical JSON with its hash, and what a later build may reuse. The pages hold what is looked
up in it, ready-made (`trivium.why.lookup`). A page's value begins with a checksum over the hash of its index, its place
and its content, so that a page that is damaged or belongs elsewhere is never taken for another.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from itertools import islice

from msgspec import Struct

from trivium.store import contexts
from trivium.store.contexts import ContextRow
from trivium.store.sqlite import Session

Page = tuple[str, int, bytes]
"""Part, number and content."""
RESERVED = "repository"
"""The field of a context that keeps it for a root folder until the first index of this folder is in it."""
_PIECE = 1 << 16
_CHECKSUM = 4


class DamagedPageError(Exception):
    """A page does not fit its checksum."""


class Mark(Struct):
    """Which index is stored, and of which state of which repository."""

    root: str
    index_hash: str
    fingerprint: str


class StoredIndex(Struct):
    """An index as JSON, with the caches that came with it."""

    root: str
    index_hash: str
    fingerprint: str
    hashes: bytes
    body: bytes


def load(session: Session, ctx: int) -> StoredIndex | None:
    row = session.row("SELECT root, index_hash, fingerprint, hashes, body FROM repository WHERE ctx = ?", (ctx,))
    return None if row is None else StoredIndex(*row)


def load_mark(session: Session, ctx: int) -> Mark | None:
    row = session.row("SELECT root, index_hash, fingerprint FROM repository WHERE ctx = ?", (ctx,))
    return None if row is None else Mark(*row)


def current_hash(session: Session, ctx: int) -> str | None:
    """The hash of the stored index, or None without one."""
    found = session.value("SELECT index_hash FROM repository WHERE ctx = ?", (ctx,))
    return None if found is None else str(found)


def body_hash(session: Session, ctx: int) -> str:
    """The SHA-256 of the stored index as it is, read in pieces."""
    digest = hashlib.sha256()
    with session.connection.blob_open("main", "repository", "body", ctx, False) as blob:
        left = blob.length()
        piece = memoryview(bytearray(min(left, _PIECE)))
        while left:
            part = piece[:left]
            blob.read_into(part)
            digest.update(part)
            left -= len(part)
    return digest.hexdigest()


def root_of(session: Session, ctx: int) -> str | None:
    """The root folder of the repository that a context holds the index of, or None without one."""
    found = session.value("SELECT root FROM repository WHERE ctx = ?", (ctx,))
    return None if found is None else str(found)


def load_hashes(session: Session, ctx: int) -> bytes:
    """File hashes that a later look may reuse."""
    return bytes(session.value("SELECT hashes FROM repository WHERE ctx = ?", (ctx,)) or b"")


def load_parts(session: Session, ctx: int) -> tuple[bytes, bytes] | None:
    """File hashes and the parts per file that a later build may reuse."""
    row = session.row("SELECT hashes, parts FROM repository WHERE ctx = ?", (ctx,))
    return None if row is None else (row[0], row[1])


def release(session: Session, row: ContextRow) -> None:
    """Take the reservation off a context that has an index."""
    if RESERVED in row.fields:
        kept = {key: value for key, value in row.fields.items() if key != RESERVED}
        contexts.set_fields(session, row.id, row.slug, kept, row.updated_at)


def save(session: Session, ctx: int, stored: StoredIndex, parts: bytes, pages: Iterable[Page], now: str) -> None:
    """Replace the index of a context and its pages."""
    session.execute(
        "INSERT OR REPLACE INTO repository(ctx, root, index_hash, fingerprint, built_at, hashes, body, parts)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (ctx, stored.root, stored.index_hash, stored.fingerprint, now, stored.hashes, stored.body, parts),
    )
    session.execute("DELETE FROM repository_page WHERE ctx = ?", (ctx,))
    save_pages(session, ctx, stored.index_hash, pages)


def save_hashes(session: Session, ctx: int, hashes: bytes) -> None:
    """Remember file hashes learnt while checking freshness."""
    session.execute("UPDATE repository SET hashes = ? WHERE ctx = ?", (hashes, ctx))


def context_of(session: Session, workspace: str, root: str) -> str | None:
    """The slug of the context that a repository root is bound to."""
    found = session.value(
        "SELECT c.slug FROM repository AS r CROSS JOIN context AS c ON c.id = r.ctx"
        " WHERE r.root = ? AND c.workspace = ? ORDER BY c.slug LIMIT 1",
        (root, workspace),
    )
    return None if found is None else str(found)


# --- pages ----------------------------------------------------------------------------------------


def page(session: Session, ctx: int, index_hash: str, part: str, number: int) -> memoryview | None:
    """The content of a page of this index, if there is one. Raises: DamagedPageError."""
    value = session.value(
        "SELECT value FROM repository_page WHERE ctx = ? AND part = ? AND number = ?", (ctx, part, number)
    )
    if value is None:
        return None
    content = memoryview(value)[_CHECKSUM:]
    if value[:_CHECKSUM] != _checksum(index_hash, part, number, content):
        raise DamagedPageError(f"page {number} of {part}")
    return content


def save_pages(session: Session, ctx: int, index_hash: str, pages: Iterable[Page]) -> None:
    """Write pages of this index."""
    rows = ((ctx, part, number, _checksum(index_hash, part, number, data) + data) for part, number, data in pages)
    while some := list(islice(rows, 256)):
        session.connection.executemany(
            "INSERT OR REPLACE INTO repository_page(ctx, part, number, value) VALUES (?, ?, ?, ?)", some
        )


def _checksum(index_hash: str, part: str, number: int, content: bytes | memoryview) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(f"{index_hash} {part} {number} ".encode()))
    return checksum.to_bytes(_CHECKSUM, "little")
