"""The text index of concepts: candidates for a search, by token."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.store.codec import encode
from trivium.store.sqlite import Session


def candidates(session: Session, ctx: int, tokens: Sequence[str], type_: str | None, limit: int) -> list[int]:
    """Ids of concepts that hold any of the tokens (or a word that begins with one), best first by BM25."""
    if not tokens:
        return []
    terms = " OR ".join(_term(token) for token in tokens)
    match = f"scope : c{ctx} AND {{name alias body}} : ({terms})"
    order = "ORDER BY bm25(concept_text, 0.0, 8.0, 6.0, 1.0), concept_text.rowid LIMIT ?"
    if type_ is None:
        sql = f"SELECT rowid FROM concept_text WHERE concept_text MATCH ? {order}"
        return [row[0] for row in session.execute(sql, (match, limit))]
    sql = (
        "SELECT concept_text.rowid FROM concept_text CROSS JOIN concept ON concept.id = concept_text.rowid"
        f" WHERE concept_text MATCH ? AND concept.type = ? {order}"
    )
    return [row[0] for row in session.execute(sql, (match, type_, limit))]


def _term(token: str) -> str:
    quoted = '"' + token.replace('"', '""') + '"'
    return f"{quoted} *" if token.isascii() and len(token) > 2 else quoted


def exact_names(session: Session, ctx: int, name: str, limit: int) -> list[int]:
    """Ids of concepts with exactly this name."""
    sql = "SELECT id FROM concept INDEXED BY concept_name WHERE ctx = ? AND name = ? ORDER BY type LIMIT ?"
    return [row[0] for row in session.execute(sql, (ctx, name, limit))]


def ids_of_names(session: Session, ctx: int, names: Sequence[str]) -> list[int]:
    """Ids of concepts that have one of these names, letter by letter."""
    sql = (
        "SELECT id FROM concept INDEXED BY concept_name"
        " WHERE ctx = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY id"
    )
    return [row[0] for row in session.execute(sql, (ctx, encode(list(names))))]
