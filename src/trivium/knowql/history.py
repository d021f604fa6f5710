"""The conversation before a turn, as its composer and its retrieval get it (KnowQL reference 5.2).

A turn reads a bounded part of its session, however long that has become (`store.turns.past_turns`).
"""

from __future__ import annotations

from msgspec import Struct

from trivium.answers.composer import Message
from trivium.store import turns
from trivium.store.sqlite import Session
from trivium.store.turns import PastTurn

MOST_ASKS = 2
"""How many earlier asks retrieval also searches for."""


class History(Struct):
    """A user and an assistant message for each turn of the branch, oldest first; `is_cut` when older ones are left out.

    `earlier` are the latest asks, newest first: what "and for Globex?" leaves unsaid stands in them.
    """

    messages: list[Message]
    earlier: list[str]
    is_cut: bool


def history(session: Session, workspace: str, parent: str | None) -> History:
    """The completed turns of the branch that ends in `parent`."""
    past, is_cut = turns.past_turns(session, workspace, parent)
    messages = [
        message
        for turn in reversed(past)
        for message in (Message("user", turn.ask), Message("assistant", _answer(turn)))
    ]
    return History(messages, list(dict.fromkeys(turn.ask for turn in past))[:MOST_ASKS], is_cut)


def _answer(turn: PastTurn) -> str:
    if turn.counts is not None:
        chunks, artifacts = turn.counts["chunks"], turn.counts["artifacts"]
        return f"(Showed what retrieval found: {chunks} chunks and {artifacts} artifacts.)"
    return turn.text if turn.text.strip() or turn.value is None else turn.value
