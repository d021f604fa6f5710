"""From a request to the rows of a turn: models, tools and workflow (reference 10.1, step 12), pinning, the new row."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from trivium.answers.composer import Choice
from trivium.errors import bounded
from trivium.ids import Ids, milliseconds
from trivium.knowql import tools
from trivium.knowql.binding import Bound
from trivium.knowql.document import (
    ALIASES,
    CODE,
    DEFAULT_MODELS,
    DEFAULT_THINKING,
    SEARCH,
    WORKFLOWS,
    Request,
    Warning,
)
from trivium.knowql.errors import refusal
from trivium.knowql.hints import Hint
from trivium.knowql.parts import Models
from trivium.store import turns
from trivium.store.sqlite import Session
from trivium.store.turns import IN_PROGRESS, QueryRow

TITLE_LENGTH = 80


class Plan(Struct):
    """How a turn will run. `wanted` are the wishes that `model` was chosen by; it is None when nothing is composed."""

    workflow: str
    wanted: list[str]
    model: str | None
    thinking_level: str | None
    max_steps: int | None
    warnings: list[Warning] = []


def plan(request: Request, bound: Bound, models: Models) -> Plan:
    """Step 12 of reference 10.1. Raises: QueryError."""
    pinned = {} if bound.session is None else bound.session.pinned
    named = request.given.get("models") or ([request.given["model"]] if "model" in request.given else None)
    wanted = named or pinned.get("models") or DEFAULT_MODELS
    choice = models.choose(wanted)
    if choice.model is None and named is not None:
        raise _unknown_model(named, choice, "models" if "models" in request.given else "model")
    for name in request.given.get("tools", ()):
        if name not in tools.NAMES:
            raise refusal(
                "unknown_tool",
                f"There is no tool {bounded(name, 80)!r}.",
                param="tools",
                hint=f"There are {', '.join(tools.NAMES)}; leave tools out for all of them.",
            )
    workflow = _workflow(request.given.get("workflow", pinned.get("workflow", SEARCH)))
    if not request.mode.composes:
        return Plan(workflow, wanted, None, None, None)
    warnings = [
        Warning("model_skipped", "models", f"The model {bounded(name, 80)} is not available{_why(choice, name)}.")
        for name in choice.skipped
    ]
    steps = request.given.get("max_steps", WORKFLOWS[workflow])
    level = _thinking(request, choice, warnings)
    return Plan(workflow, wanted, choice.model, level, steps, warnings)


def _unknown_model(named: list[str], choice: Choice, param: str) -> Exception:
    shown = ", ".join(bounded(name, 80) for name in named)
    if len(named) > 1:
        message = f"None of the models {shown} is available."
    elif choice.reasons:
        message = f"The model {shown} is not available{_why(choice, *choice.reasons)}."
    else:
        message = f"There is no model {shown}."
    return refusal("unknown_model", message, param=param, hint=Hint("{models} lists the ids and tiers there are."))


def _why(choice: Choice, name: str) -> str:
    return f": {choice.reasons[name]}" if name in choice.reasons else ""


def _thinking(request: Request, choice: Choice, warnings: list[Warning]) -> str | None:
    given: str | None = request.given.get("thinking_level")
    if choice.thinks:
        return given or DEFAULT_THINKING
    if given is not None:
        message = f"thinking_level has no effect on the model {choice.model}."
        warnings.append(Warning("control_ignored", "thinking_level", message))
    return None


def _workflow(name: str) -> str:
    known = ALIASES.get(name, name)
    if known in WORKFLOWS:
        return known
    fault = "is not installed here" if known == CODE else "is unknown"
    raise refusal(
        "unknown_workflow",
        f"The workflow {bounded(name, 80)} {fault}.",
        param="workflow",
        hint=f"There are {', '.join(WORKFLOWS)}; leave workflow out for {SEARCH}.",
    )


# --- rows -----------------------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """Where and when a turn is created."""

    workspace: str
    worker: str
    delivery: str
    now: str


def create(session: Session, ids: Ids, request: Request, bound: Bound, plan: Plan, place: Place) -> QueryRow:
    """Enter the turn, and its session if it begins one, within a write transaction."""
    owner = _new_session(session, ids, request, bound, plan, place) if bound.session is None else bound.session.id
    now_ms = milliseconds(place.now)
    row = QueryRow(
        workspace=place.workspace,
        id=ids.ulid("qry_"),
        session=owner,
        number=turns.next_number(session, place.workspace, owner),
        previous=None if bound.parent is None else bound.parent.id,
        status=IN_PROGRESS,
        worker=place.worker,
        created_ms=now_ms,
        deadline_ms=now_ms + request.get("timeout_seconds") * 1_000,
        finished_ms=None,
        request=_stored(request, bound, plan, place.delivery),
        result={},
    )
    turns.add_query(session, row, place.now)
    return row


def _stored(request: Request, bound: Bound, plan: Plan, delivery: str) -> dict[str, Any]:
    """What a turn goes by, as its row keeps it."""
    mode = request.mode
    warnings = request.warnings + bound.warnings + plan.warnings
    return {
        "ask": request.ask,
        "delivery": delivery,
        "mode": mode.name,
        "kind": mode.kind,
        "pointers": mode.pointers,
        "workflow": plan.workflow,
        "models": plan.wanted,
        "model": plan.model,
        "thinking_level": plan.thinking_level,
        "max_steps": plan.max_steps,
        "timeout_seconds": request.get("timeout_seconds"),
        "shape": request.get("shape") if mode.composes else None,
        "max_retrieved": request.get("max_retrieved"),
        "max_retrieved_chars": request.get("max_retrieved_chars"),
        "warnings": [msgspec.structs.asdict(warning) for warning in warnings],
    }


def _new_session(session: Session, ids: Ids, request: Request, bound: Bound, plan: Plan, place: Place) -> str:
    pinned = {
        "scope": bound.names,
        "scope_ids": [context.uuid for context in bound.contexts],
        "scope_numbers": [context.id for context in bound.contexts],
        "system_prompt": request.get("system_prompt"),
        "guardrails": request.get("guardrails"),
        "models": plan.wanted,
        "tools": list(dict.fromkeys(request.given.get("tools", ()))),
        "vars": request.given.get("vars", {}),
        "workflow": plan.workflow,
    }
    id_ = ids.ulid("ses_")
    numbers = (context.id for context in bound.contexts)
    turns.add_session(session, place.workspace, id_, title_of(request.ask), pinned, numbers, place.now)
    return id_


def title_of(ask: str) -> str:
    """The title of a session: its first ask on one line, cut after a word at 80 characters.

    >>> title_of("  What are   the terms? ")
    'What are the terms?'
    >>> title_of("word " * 40)[-10:]
    'word word…'
    """
    text = " ".join(ask.split())
    if len(text) <= TITLE_LENGTH:
        return text
    head = text[: TITLE_LENGTH - 1]
    if text[TITLE_LENGTH - 1] != " " and " " in head:
        head = head.rsplit(" ", 1)[0]
    return head.rstrip() + "…"
