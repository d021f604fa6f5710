"""How a turn ends: once, with its result, its trace and its last events in one transaction (reference 2.1, 7.2)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct

from trivium.knowql.document import Warning
from trivium.knowql.response import NO_USAGE, merged_steps, trace_ref
from trivium.store import turns
from trivium.store.sqlite import Session
from trivium.store.turns import COMPLETED, Event, QueryRow

STEP, DELTA = "response.step", "response.output_text.delta"
ROLLUP, SYNTHESIS, TRACE = "response.turn_rollup", "response.synthesis", "response.trace"
TERMINAL = frozenset({"response.completed", "response.failed", "response.cancelled"})

CANCELLED_BY_CALLER = "cancelled by caller"
RESTARTED = "interrupted: the service restarted"
STOPPED = "interrupted: the service stopped"


class Outcome(Struct):
    """What came of a turn. `text` and what follows it are of a completed one.

    `untold` are steps that were not stored, `tail` is the end of the text that no delta has told yet. `closed` is False
    when nobody was there to close the turn: then there is no rollup.
    """

    status: str
    error: str | None = None
    text: str = ""
    tail: str = ""
    output_json: Any = None
    citations: list[dict[str, Any]] = []
    usage: dict[str, Any] | None = None
    synthesis: dict[str, Any] | None = None
    cached_tokens: int = 0
    warnings: list[Warning] = []
    closed: bool = True
    untold: list[Event] = []


def failed(error: str, **more: Any) -> Outcome:
    return Outcome(turns.FAILED, error, **more)


def timed_out(seconds: int) -> Outcome:
    return failed(f"timed out after {seconds}s")


def cancelled(error: str = CANCELLED_BY_CALLER) -> Outcome:
    return Outcome(turns.CANCELLED, error)


def end(session: Session, workspace: str, query_id: str, outcome: Outcome, now_ms: int, now: str) -> bool:
    """Bring a turn to its end, within a write transaction; False, without effect, if it has ended or is gone."""
    row = turns.find_query(session, workspace, query_id)
    if row is None or row.status != turns.IN_PROGRESS:
        return False
    turns.append(session, workspace, query_id, outcome.untold)
    steps = merged_steps(turns.events(session, workspace, query_id, kind=STEP))
    events: list[Event] = [(DELTA, {"delta": outcome.tail})] if outcome.tail else []
    for step in steps:
        if step["status"] == "running":
            step["status"] = "failed"
            events.append((STEP, dict(step)))
    rollup = _rollup(row, steps, outcome, now_ms) if outcome.closed else None
    if rollup is not None:
        events.append((ROLLUP, _told(rollup)))
    if outcome.synthesis is not None:
        events.append((SYNTHESIS, _told(outcome.synthesis)))
    events.append((TRACE, {"trace_ref": trace_ref(query_id)}))
    events.append((f"response.{outcome.status}", {} if outcome.status == COMPLETED else {"error": outcome.error}))
    result = _result(steps, rollup, outcome)
    if not turns.finish(session, row, outcome.status, now_ms, now, result):
        return False
    turns.append(session, workspace, query_id, events)
    turns.set_trace(session, workspace, query_id, trace(steps, rollup))
    return True


def synthesis_of(query_id: str, text: str, tokens_in: int, tokens_out: int, cached: int, ms: int) -> dict[str, Any]:
    """The synthesis block (reference 4.6) of an answer that was composed."""
    return {
        "type": SYNTHESIS,
        "query_id": query_id,
        "status": COMPLETED,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "ms": ms,
        "answer_preview": " ".join(text.split())[:200],
        "tokens_in_cached": cached,
        "tokens_in_cache_write": 0,
        "tokens_in_fresh": max(0, tokens_in - cached),
    }


def trace(steps: list[dict[str, Any]], rollup: dict[str, Any] | None) -> dict[str, Any]:
    """The recorded trace (reference 12.1)."""
    return {
        "steps": [
            {
                "step_id": step["step_id"],
                "commentary": step["commentary"],
                "code": step["code"],
                "calls": step["tool_calls"],
                "strategy": step["strategy"],
                "cost": step["cost"],
            }
            for step in steps
        ],
        "rollup": None if rollup is None else _told(rollup),
    }


def _result(steps: list[dict[str, Any]], rollup: dict[str, Any] | None, outcome: Outcome) -> dict[str, Any]:
    return {
        "error": outcome.error,
        "text": outcome.text,
        "output_json": outcome.output_json,
        "citations": outcome.citations,
        "steps": steps,
        "usage": _spent(steps) if outcome.usage is None else outcome.usage,
        "rollup": rollup,
        "synthesis": outcome.synthesis,
        "warnings": [msgspec.structs.asdict(warning) for warning in outcome.warnings],
    }


def _rollup(row: QueryRow, steps: list[dict[str, Any]], outcome: Outcome, now_ms: int) -> dict[str, Any]:
    calls = [call for step in steps for call in step["tool_calls"]]
    return {
        "type": ROLLUP,
        "query_id": row.id,
        "n_steps": len(steps),
        "n_tool_calls": len(calls),
        "by_category": dict(sorted(Counter(str(call.get("category", "other")) for call in calls).items())),
        "total_hits": sum(map(_hits, calls)),
        "duration_ms": max(0, now_ms - row.created_ms),
        "cache_read_tokens": outcome.cached_tokens,
        "cache_write_tokens": 0,
    }


def _hits(call: dict[str, Any]) -> int:
    result = call.get("result")
    hits = result.get("hits", 0) if isinstance(result, dict) else 0
    return hits if isinstance(hits, int) else 0


def _spent(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """What the steps of a turn used that did not come to its end."""
    tokens_in, tokens_out = (sum(step[key] for step in steps) for key in ("input_tokens", "output_tokens"))
    if not tokens_in and not tokens_out:
        return NO_USAGE
    total = tokens_in + tokens_out
    return {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": total, "cost_usd": None}


def _told(block: dict[str, Any]) -> dict[str, Any]:
    """A block without what every event says of itself."""
    return {key: value for key, value in block.items() if key not in ("type", "query_id")}
