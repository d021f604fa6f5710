"""The conversation before a turn, as its composer and its retrieval get it (KnowQL reference 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.models.composer import Message
from trivium.store import turns
from trivium.store.sqlite import Session
from trivium.store.turns import COMPLETED, QueryRow

MOST_ASKS = 2
"""How many earlier asks retrieval also searches for."""


def completed_turns(session: Session, workspace: str, parent: str | None) -> list[QueryRow]:
    """The completed turns of the branch that ends in `parent`, oldest first."""
    return [row for row in turns.ancestors(session, workspace, parent) if row.status == COMPLETED][::-1]


def messages(rows: Sequence[QueryRow]) -> list[Message]:
    """A user and an assistant message for each turn."""
    return [
        message for row in rows for message in (Message("user", row.request["ask"]), Message("assistant", _answer(row)))
    ]


def earlier_asks(rows: Sequence[QueryRow]) -> list[str]:
    """The latest earlier asks, newest first: what "and for Globex?" leaves unsaid stands in them."""
    asks = dict.fromkeys(row.request["ask"] for row in reversed(rows))
    return list(asks)[:MOST_ASKS]


def _answer(row: QueryRow) -> str:
    value = row.result["output_json"]
    if row.request["mode"] is not None:
        counts = value["counts"]
        return f"(Showed what retrieval found: {counts['chunks']} chunks and {counts['artifacts']} artifacts.)"
    text: str = row.result["text"]
    return text if text.strip() or value is None else turns.to_json(value)
