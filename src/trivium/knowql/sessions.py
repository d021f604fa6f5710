"""Sessions as they are told to callers (KnowQL reference 5.1)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from trivium.knowql.document import FIELDS, check_characters
from trivium.knowql.errors import refusal
from trivium.store.turns import SessionRow

LISTED, MOST_LISTED = 50, 200
LONGEST_TITLE = 200


class SessionObject(Struct):
    """A session (reference 5.1)."""

    id: str
    scope: list[str]
    scope_ids: list[str]
    title: str | None
    system_prompt: str | None
    guardrails: str | None
    models: list[str]
    tools: list[str]
    vars: dict[str, Any]
    workflow: str | None
    last_query_id: str | None
    created_at: str
    updated_at: str


def session_object(row: SessionRow) -> dict[str, Any]:
    """The Session object of a row."""
    pinned = row.pinned
    return structs.asdict(
        SessionObject(
            row.id,
            pinned["scope"],
            pinned["scope_ids"],
            row.title,
            pinned["system_prompt"],
            pinned["guardrails"],
            pinned["models"],
            pinned["tools"],
            pinned["vars"],
            pinned["workflow"],
            row.last_query,
            row.created_at,
            row.updated_at,
        )
    )


def new_title(changes: Any) -> str:
    """The title that the body of a `PATCH` gives, which may hold nothing else. Raises: QueryError."""
    if not isinstance(changes, dict):
        raise refusal("invalid_json", "The change is no JSON object.", hint='Send {"title": "…"}.')
    pinned = {field.name for field in FIELDS if field.pinned} | {"model", "models", "workflow", "scope_ids"}
    for name in sorted(changes):
        if name in pinned:
            raise refusal(
                "pinned_field",
                f"{name} was fixed by the turn that began the session and cannot be changed.",
                param=name,
                hint="Begin a new session with another value; only the title can be changed.",
            )
        if name != "title":
            raise refusal(
                "invalid_value", f"{name} cannot be changed.", param=name, hint="Only the title can be changed."
            )
    title = changes.get("title")
    if not isinstance(title, str) or not title.strip() or len(title) > LONGEST_TITLE:
        raise refusal(
            "invalid_value",
            f"title must be a text of 1 to {LONGEST_TITLE} characters that is not blank.",
            param="title",
            hint='Send {"title": "…"}.',
        )
    check_characters("title", title)
    return " ".join(title.split())
