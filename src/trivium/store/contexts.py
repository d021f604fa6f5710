"""The rows of contexts: what people gave them, and what import and curate noted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from trivium.errors import NotFoundError
from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session


class ContextRow(Struct, frozen=True):
    """`fields` are those that people set; `ledger` is what the last curate noted for the next one."""

    id: int
    slug: str
    uuid: str
    fields: dict[str, Any]
    created_at: str
    updated_at: str
    live_version: int
    stale: bool
    imported_at: str | None
    curated_at: str | None
    ledger: dict[str, Any]


_ROW = (
    "SELECT id, slug, uuid, json(fields), created_at, updated_at, live_version, stale, imported_at, curated_at, ledger"
    " FROM context"
)


def _context(row: tuple[Any, ...]) -> ContextRow:
    number, slug, uuid, fields, created, updated, version, stale, imported, curated, ledger = row
    return ContextRow(
        number, slug, uuid, decode(fields), created, updated, version, bool(stale), imported, curated, decode(ledger)
    )


def find(session: Session, workspace: str, name: str) -> ContextRow | None:
    """The context of that slug, or of that UUID."""
    row = session.row(f"{_ROW} WHERE workspace = ? AND slug = ?", (workspace, name))
    if row is None and len(name) == 36:
        row = session.row(f"{_ROW} WHERE workspace = ? AND uuid = ?", (workspace, name.lower()))
    return None if row is None else _context(row)


def get(session: Session, ctx: int) -> ContextRow | None:
    row = session.row(f"{_ROW} WHERE id = ?", (ctx,))
    return None if row is None else _context(row)


def require(session: Session, ctx: int) -> ContextRow:
    """`get`; what is written to a context that is gone would stay behind. Raises: NotFoundError."""
    row = get(session, ctx)
    if row is None:
        raise NotFoundError("The context has been deleted.", "`trivium contexts` lists what there is.")
    return row


def insert(session: Session, workspace: str, slug: str, uuid: str, fields: dict[str, Any], now: str) -> int:
    """Enter a context, whose graph is still empty; gives its number, which no other ever had or will have."""
    number = int(session.value("SELECT next FROM sequence WHERE kind = 'context'"))
    session.execute("UPDATE sequence SET next = ? WHERE kind = 'context'", (number + 1,))
    session.execute(
        "INSERT INTO context(id, workspace, slug, uuid, fields, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, jsonb(?), ?, ?)",
        (number, workspace, slug, uuid, encode(fields), now, now),
    )
    return number


def outdated(session: Session, capsules: str) -> list[int]:
    """The contexts, of every workspace, whose standard capsules are those of another version than `capsules`."""
    return [row[0] for row in session.rows("SELECT id FROM context WHERE capsules <> ?", (capsules,))]


def set_capsules(session: Session, ctx: int, capsules: str) -> None:
    """Note of which version the standard capsules of a context are."""
    session.execute("UPDATE context SET capsules = ? WHERE id = ?", (capsules, ctx))


def all_ids(session: Session) -> list[int]:
    """All contexts of every workspace but those that are being deleted."""
    sql = "SELECT id FROM context WHERE id NOT IN (SELECT ctx FROM removed) ORDER BY id"
    return [row[0] for row in session.execute(sql)]


def live_version(session: Session, ctx: int) -> int:
    """The number of what is live, 0 before the first curate."""
    return int(session.value("SELECT live_version FROM context WHERE id = ?", (ctx,)) or 0)


def all_rows(session: Session, workspace: str) -> list[ContextRow]:
    """Every context in the order of slugs."""
    return [_context(row) for row in session.execute(f"{_ROW} WHERE workspace = ? ORDER BY slug", (workspace,))]


_OWN = ("$ConceptType", "$PropositionType", "Domain")
_ACTORS = 2  # $self and $system are in every context


def knows(session: Session, ctx: int) -> bool:
    """Whether the graph of a context holds more than what every context begins with."""
    total = session.value(
        "SELECT coalesce(sum(n), 0) FROM counter WHERE ctx = ? AND kind = 't' AND key NOT IN (?, ?, ?)", (ctx, *_OWN)
    )
    return int(total) > _ACTORS


def graph_totals(session: Session, ctx: int) -> dict[str, int]:
    """How many concepts and propositions the graph of a context holds."""
    row = session.row(
        "SELECT coalesce(sum(n) FILTER (WHERE kind = 't'), 0), coalesce(sum(n) FILTER (WHERE kind = 'p'), 0)"
        " FROM counter WHERE ctx = ?",
        (ctx,),
    )
    assert row is not None
    return {"concepts": row[0], "propositions": row[1]}


def set_fields(session: Session, ctx: int, slug: str, fields: dict[str, Any], now: str) -> None:
    session.execute(
        "UPDATE context SET slug = ?, fields = jsonb(?), updated_at = ? WHERE id = ?", (slug, encode(fields), now, ctx)
    )


def note_import(session: Session, ctx: int, now: str) -> None:
    """Sources have changed: what is live no longer tells all of them."""
    session.execute("UPDATE context SET stale = 1, imported_at = ?, updated_at = ? WHERE id = ?", (now, now, ctx))


def note_stale(session: Session, ctx: int, now: str) -> None:
    session.execute("UPDATE context SET stale = 1, updated_at = ? WHERE id = ?", (now, ctx))


def note_curate(session: Session, ctx: int, ledger: dict[str, Any], *, changed: bool, stale: bool, now: str) -> int:
    """Note the end of a curate; gives the number of the live version, a new one if anything changed."""
    session.execute(
        "UPDATE context SET live_version = live_version + ?, stale = ?, curated_at = ?, updated_at = ?, ledger = ?"
        " WHERE id = ?",
        (changed, stale, now, now, encode(ledger), ctx),
    )
    return int(session.value("SELECT live_version FROM context WHERE id = ?", (ctx,)))


# --- deletion -------------------------------------------------------------------------------------


def remove(session: Session, ctx: int) -> None:
    """Take a context away: from now on nobody finds it. `purge` then removes what it held."""
    session.execute("DELETE FROM context WHERE id = ?", (ctx,))
    session.execute("DELETE FROM counter WHERE ctx = ?", (ctx,))
    session.execute("DELETE FROM repository WHERE ctx = ?", (ctx,))
    session.execute("INSERT OR IGNORE INTO removed VALUES (?)", (ctx,))


def removed(session: Session) -> list[int]:
    """Contexts that were removed and of which something may be left."""
    return [row[0] for row in session.execute("SELECT ctx FROM removed ORDER BY ctx")]


def purge(session: Session, ctx: int, rows: int) -> bool:
    """Remove up to about `rows` rows of what a removed context held; False once nothing is left."""
    from trivium.store import chunks  # opening a store needs none of it

    for step in _steps(session, ctx, rows):
        if step:
            return True
    chunks.drop_index(session, ctx)
    session.execute("DELETE FROM removed WHERE ctx = ?", (ctx,))
    return False


def _steps(session: Session, ctx: int, rows: int) -> Iterator[int]:
    """How many rows each step removed, in an order that leaves nothing behind that could not be found again."""

    def run(sql: str) -> int:
        session.execute(sql, (ctx, rows))
        return session.connection.changes()

    some = "(SELECT id FROM {0} WHERE ctx = ?1 ORDER BY id LIMIT ?2)"
    batch = some.format("concept")
    run(f"DELETE FROM concept_text WHERE rowid IN {batch}")
    yield run(f"DELETE FROM concept WHERE id IN {batch}")
    yield run(f"DELETE FROM link WHERE id IN {some.format('link')}")
    run(f"DELETE FROM staged_text WHERE chunk IN {some.format('chunk')}")
    yield run(f"DELETE FROM chunk WHERE id IN {some.format('chunk')}")
    batch = some.format("document")
    run(f"DELETE FROM document_text WHERE document IN {batch}")
    yield run(f"DELETE FROM document WHERE id IN {batch}")
    batch = some.format("source")
    run(f"DELETE FROM source_content WHERE source IN {batch}")
    yield run(f"DELETE FROM source WHERE id IN {batch}")
    yield run(f"DELETE FROM artifact WHERE id IN {some.format('artifact')}")
    yield run(f"DELETE FROM vector WHERE id IN {some.format('vector')}")
    session.execute("DELETE FROM vector_state WHERE ctx = ?", (ctx,))
    yield run("DELETE FROM task WHERE (workspace, id) IN (SELECT workspace, id FROM task WHERE ctx = ?1 LIMIT ?2)")
