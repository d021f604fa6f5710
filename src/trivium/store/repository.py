"""The repository index of a context: one row, replaced whole in the transaction that also projects it."""

from __future__ import annotations

from msgspec import Struct

from trivium.store.sqlite import Session


class StoredIndex(Struct):
    """What `why` needs: the index as JSON, and what its freshness is judged by."""

    root: str
    index_hash: str
    fingerprint: str
    hashes: bytes
    body: bytes
    whole: bool = False
    """Whether the body was compared with its hash."""


def load(session: Session, ctx: int) -> StoredIndex | None:
    row = session.row("SELECT root, index_hash, fingerprint, hashes, body FROM repository WHERE ctx = ?", (ctx,))
    return None if row is None else StoredIndex(*row)


def current_hash(session: Session, ctx: int) -> str | None:
    """The hash of the stored index, or None without one."""
    found = session.value("SELECT index_hash FROM repository WHERE ctx = ?", (ctx,))
    return None if found is None else str(found)


def root_of(session: Session, ctx: int) -> str | None:
    """The root folder of the repository that a context holds the index of, or None without one."""
    found = session.value("SELECT root FROM repository WHERE ctx = ?", (ctx,))
    return None if found is None else str(found)


def load_parts(session: Session, ctx: int) -> tuple[bytes, bytes] | None:
    """File hashes and the parts per file that a later build may reuse."""
    row = session.row("SELECT hashes, parts FROM repository WHERE ctx = ?", (ctx,))
    return None if row is None else (row[0], row[1])


def save(session: Session, ctx: int, stored: StoredIndex, parts: bytes, now: str) -> None:
    session.execute(
        "INSERT OR REPLACE INTO repository(ctx, root, index_hash, fingerprint, built_at, hashes, body, parts)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (ctx, stored.root, stored.index_hash, stored.fingerprint, now, stored.hashes, stored.body, parts),
    )


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
