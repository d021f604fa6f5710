"""`ask` of the library: one question, one Response Document."""

from __future__ import annotations

from typing import Any

from trivium.knowql.errors import refusal
from trivium.knowql.service import BACKGROUND, Turns


def ask(turns: Turns, slug: str, document: str | dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Run one turn and give its document when it has ended; of a background turn at once. Raises: QueryError.

    `slug` is the scope of a new session for which neither the document nor the fields name one.
    """
    if isinstance(document, str):
        document = {"ask": document}
    elif not isinstance(document, dict):
        raise refusal(
            "invalid_json",
            f"A question is a text or a query document, not {type(document).__name__}.",
            hint='Ask with a text, or with a dict such as {"ask": "…"}.',
        )
    whole = {**document, **fields}
    if all(whole.get(name) is None for name in ("scope", "session_id", "previous_query_id")):
        whole["scope"] = [slug]
    accepted = turns.submit(whole)
    if accepted.delivery == BACKGROUND:
        return turns.response(accepted.query_id)
    return turns.wait(accepted.query_id)
