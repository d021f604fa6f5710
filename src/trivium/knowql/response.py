"""The Response Document (KnowQL reference 4): every key always there, in one order."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from trivium.store.turns import COMPLETED, IN_PROGRESS, QueryRow

NO_USAGE = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0, "cost_usd": 0}


class ResponseDocument(Struct, kw_only=True):
    """A turn as it is told to callers."""

    id: str
    object: str = "query"
    session_id: str
    model: str | None
    created: int
    status: str
    error: str | None
    previous_query_id: str | None
    input: list[dict[str, Any]]
    output: list[dict[str, Any]]
    output_json: Any
    citations: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    usage: dict[str, Any]
    rollup: dict[str, Any] | None
    synthesis: dict[str, Any] | None
    trace_ref: str | None
    runtime_ms: int
    workflow: str
    max_steps: int | None
    thinking_level: str | None
    feedback: dict[str, Any] | None
    warnings: list[dict[str, Any]]


def response_document(row: QueryRow, running_steps: list[dict[str, Any]], now_ms: int) -> dict[str, Any]:
    """The document of a turn. `running_steps` are its steps so far; of one that has ended, the result holds them."""
    request, result = row.request, row.result
    ended = row.status != IN_PROGRESS
    stop = now_ms if row.finished_ms is None else row.finished_ms
    document = ResponseDocument(
        id=row.id,
        session_id=row.session,
        model=request["model"],
        created=row.created_ms // 1_000,
        status=row.status,
        error=result.get("error"),
        previous_query_id=row.previous,
        input=[{"role": "user", "content": request["ask"]}],
        output=_output(result["text"]) if row.status == COMPLETED else [],
        output_json=result.get("output_json"),
        citations=result.get("citations", []),
        steps=result["steps"] if ended else running_steps,
        usage=result.get("usage", NO_USAGE),
        rollup=result.get("rollup"),
        synthesis=result.get("synthesis"),
        trace_ref=trace_ref(row.id) if ended else None,
        runtime_ms=max(0, stop - row.created_ms),
        workflow=request["workflow"],
        max_steps=request["max_steps"],
        thinking_level=request["thinking_level"],
        feedback=row.feedback,
        warnings=request["warnings"] + result.get("warnings", []),
    )
    return msgspec.structs.asdict(document)


def trace_ref(query_id: str) -> str:
    """The key under which the trace of a turn is kept."""
    return f"traces/{query_id}"


def merged_steps(events: list[tuple[int, str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The steps that `response.step` events tell of, each as it was told last, in the order of their first events."""
    steps: dict[str, dict[str, Any]] = {}
    for _, _, data in events:
        step = {key: value for key, value in data.items() if key not in ("type", "query_id")}
        steps[step["step_id"]] = step
    return list(steps.values())


def _output(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [{"type": "output_text", "text": text}]}]
