"""One turn from its request to its outcome: history, retrieval, composition, checks (KnowQL reference 2.2)."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from trivium.answers.composer import Cited, Composed, ComposeError, Step, Stopped, Task, Usage
from trivium.counting import counted
from trivium.errors import TriviumError, bounded, printable
from trivium.knowql import binding, citations, tools
from trivium.knowql.citations import Handed
from trivium.knowql.document import RAG, Warning
from trivium.knowql.ending import Outcome, failed, synthesis_of, timed_out
from trivium.knowql.envelope import envelope
from trivium.knowql.following import retrieve_following
from trivium.knowql.history import History, history
from trivium.knowql.mode import ARTIFACTS, BOTH, CHUNKS, Mode
from trivium.knowql.parts import Parts
from trivium.knowql.pool import Running
from trivium.knowql.recorder import well_formed
from trivium.search.passage import CHUNK, Evidence
from trivium.search.retrieval import ScopedContext
from trivium.store import turns
from trivium.store.contexts import ContextRow
from trivium.store.turns import COMPLETED, QueryRow

log = logging.getLogger("trivium.turns")

RETRIEVAL_STEP = "retrieval"
FOR_COMPOSING = 20
"""Passages that a turn retrieves for its composer."""
_LONGEST_ERROR = 1_000


class Setting(Struct):
    """What the store knows of a turn that begins."""

    row: QueryRow
    pinned: dict[str, Any]
    contexts: list[ContextRow]
    history: History
    mode: Mode

    @property
    def scope(self) -> list[ScopedContext]:
        return [ScopedContext(context.id, context.slug) for context in self.contexts]


def run(parts: Parts, running: Running) -> Outcome | None:
    """Run a turn. None when it has been ended by somebody else; every fault is an outcome."""
    try:
        setting = _setting(parts, running)
        return None if setting is None else _run(parts, running, setting)
    except Stopped:
        return timed_out(running.seconds) if time.monotonic() >= running.deadline else None
    except ComposeError as error:
        return failed(_told(str(error) or "the answer could not be composed"), usage=_usage(error.usage))
    except TriviumError as error:
        return failed(_told(f"internal error: {error.message}"))
    except Exception as error:
        log.exception("turn %s failed", running.id)
        return failed(f"internal error ({type(error).__name__}): the turn could not be finished")


def _run(parts: Parts, running: Running, setting: Setting) -> Outcome:
    evidence = _retrieve(parts, running, setting)
    if not setting.mode.composes:
        longest = setting.row.request["max_retrieved_chars"]
        found = envelope(evidence, setting.mode, longest)
        return Outcome(COMPLETED, output_json=found, citations=citations.of_retrieval(evidence.passages))
    handed = Handed()
    handed.add(evidence.passages)
    return _compose(parts, running, setting, evidence, handed)


def _setting(parts: Parts, running: Running) -> Setting | None:
    with parts.store.read() as session:
        row = turns.find_query(session, running.workspace, running.id)
        owner = None if row is None else turns.find_session(session, running.workspace, row.session)
        if row is None or owner is None or row.status != turns.IN_PROGRESS:
            return None
        left, _ = binding.scope_left(session, owner)
        past = history(session, running.workspace, row.previous)
    mode = Mode(row.request["mode"], row.request["kind"], row.request["pointers"])
    return Setting(row, owner.pinned, left, past, mode)


# --- retrieval ------------------------------------------------------------------------------------


SEARCHES = {"search_artifacts": ARTIFACTS, "search_chunks": CHUNKS}
"""The tools that a turn retrieves with before it composes, and what they find."""


def _kind(setting: Setting) -> str | None:
    """What a turn searches for: what its flags ask for, or on a composing turn what workflow and tools allow."""
    if not setting.mode.composes:
        return setting.mode.kind
    if setting.row.request["workflow"] == RAG:
        return CHUNKS
    named = setting.pinned["tools"]
    allowed = [kind for tool, kind in SEARCHES.items() if not named or tool in named]
    return BOTH if len(allowed) > 1 else allowed[0] if allowed else None


def _retrieve(parts: Parts, running: Running, setting: Setting) -> Evidence:
    """Search for the ask, told as a step; nothing where the tools of the session allow no search."""
    request, mode = setting.row.request, setting.mode
    kind = _kind(setting)
    if kind is None:
        return Evidence(query_variants=[request["ask"]])
    limit = FOR_COMPOSING if mode.composes else request["max_retrieved"]
    fns = [tool for tool, found in SEARCHES.items() if kind in (BOTH, found)]
    slugs = [context.slug for context in setting.contexts]
    label = "artifacts_first" if kind == BOTH else f"{kind}_only"
    step = Step(
        RETRIEVAL_STEP,
        "running",
        f"Searching {', '.join(slugs)} for: {bounded(request['ask'], 120)}",
        fns=fns,
        strategy={"kind": label, "fns": fns, "label": label.replace("_", " "), "scope": slugs},
    )
    running.recorder.step(step)
    begun = time.monotonic()
    try:
        evidence = retrieve_following(
            parts.retrieve, setting.scope, request["ask"], setting.history.earlier, kind=kind, limit=limit
        )
    except Exception as error:
        step.status, step.commentary = "failed", f"The search failed ({type(error).__name__})."
        running.recorder.step(step)
        raise
    milliseconds = round((time.monotonic() - begun) * 1_000)
    chunks = sum(passage.kind == CHUNK for passage in evidence.passages)
    found = {"chunks": chunks, "artifacts": len(evidence.passages) - chunks, "hits": evidence.total_hits}
    step.status = "completed"
    step.commentary = f"Found {counted(chunks, 'passage')} and {counted(found['artifacts'], 'artifact')}."
    step.tool_calls = [
        {
            "fn": fns[0] if len(fns) == 1 else "retrieve",
            "category": "search",
            "args": {"query": bounded(request["ask"], 200), "kind": kind, "limit": limit},
            "result": found,
            "duration_ms": milliseconds,
            "ok": True,
        }
    ]
    step.cost = {"tokens_in": 0, "tokens_out": 0, "decide_ms": 0, "execute_ms": milliseconds}
    running.recorder.step(step)
    return evidence


# --- composition ----------------------------------------------------------------------------------


def _compose(parts: Parts, running: Running, setting: Setting, evidence: Evidence, handed: Handed) -> Outcome:
    request, pinned = setting.row.request, setting.pinned
    model = request["model"]
    if model is None:
        return failed(_told(f"no usable model: none of {', '.join(request['models'])} is available"))
    try:
        composer = parts.models.composer_for(model)
    except TriviumError as error:
        return failed(_told(f"no usable model: {error.message}"))
    instructions = [text for context in setting.contexts for text in binding.instructions_of(context)]
    if pinned["system_prompt"] is not None:
        instructions.append(pinned["system_prompt"])
    offered = [] if request["workflow"] == RAG else tools.build(parts, setting.scope, handed, pinned["tools"])
    task = Task(
        ask=request["ask"],
        history=setting.history.messages,
        history_is_cut=setting.history.is_cut,
        evidence=evidence,
        model=model,
        deadline=running.deadline,
        instructions=instructions,
        guardrails=pinned["guardrails"],
        vars=pinned["vars"],
        shape=request["shape"],
        tools=offered,
        max_steps=request["max_steps"],
        thinking_level=request["thinking_level"] or "low",
    )
    begun = time.monotonic()
    composed = composer.compose(task, running.recorder)
    milliseconds = composed.synthesis_ms or round((time.monotonic() - begun) * 1_000)
    running.recorder.close()
    return _checked(parts, running, setting, composed, handed, milliseconds)


def _checked(
    parts: Parts, running: Running, setting: Setting, composed: Composed, handed: Handed, milliseconds: int
) -> Outcome:
    """The response checks of reference 10.3 on what a composer gave."""
    shape = setting.row.request["shape"]
    text = well_formed(composed.text)
    warnings = [Warning(code, param, _told(message)) for code, param, message in composed.warnings]
    spent = _usage(composed.usage)
    fault = _fault(shape, composed, text)
    if fault is not None:
        return failed(_told(fault), usage=spent)
    told = running.recorder.told
    if not text.startswith(told):
        return failed("internal error: the answer is not what was told while it was written", usage=spent)
    good = _standing(parts, setting, composed.cited, handed)
    settled = _settled(text, composed.cited, good, handed, told, shaped=shape is not None)
    if settled is None or (not any(good) and any(map(handed.held, composed.cited))):
        return failed("a source that the answer cites has changed while it was written; ask again", usage=spent)
    dropped = good.count(False) + sum(number > len(good) for number in citations.marked(text))
    if dropped:
        message = f"{counted(dropped, 'citation')} left out: no live source in scope says so."
        warnings.append(Warning("citation_dropped", None, message))
    if not composed.found or (handed.is_empty and not settled.citations):
        message = "Nothing was found in the scoped contexts that answers this."
        warnings = [warning for warning in warnings if warning.code != "no_evidence"]
        warnings.append(Warning("no_evidence", None, message))
    usage = composed.usage
    block = synthesis_of(
        running.id, settled.text, usage.input_tokens, usage.output_tokens, usage.cached_tokens, milliseconds
    )
    return Outcome(
        COMPLETED,
        text=settled.text,
        tail=settled.text[len(told) :],
        output_json=composed.output_json if shape is not None else None,
        citations=settled.citations,
        usage=spent,
        synthesis=block,
        cached_tokens=usage.cached_tokens,
        warnings=warnings,
    )


def _fault(shape: dict[str, Any] | None, composed: Composed, text: str) -> str | None:
    """Why an answer cannot be given as completed."""
    if shape is None:
        return None if text.strip() else "the model gave an empty answer"
    from trivium.shapes.shape import Validator

    violation = Validator(shape).first_violation(composed.output_json)
    return None if violation is None else f"output did not conform to shape: {violation}"


def _standing(parts: Parts, setting: Setting, cited: Sequence[Cited], handed: Handed) -> list[bool]:
    """Which citations stand, by the store as it is now."""
    numbers = {context.id for context in setting.contexts}
    with parts.store.read() as session:
        return [citations.stands(session, item, handed, numbers) for item in cited]


def _settled(
    text: str, cited: Sequence[Cited], good: Sequence[bool], handed: Handed, told: str, *, shaped: bool
) -> citations.Settled | None:
    """The text with the citations that stand; None when that is no continuation of what was told already.

    Prose keeps the citations that it marks; where leaving out the others would change what was told, it keeps all.
    """
    marked = citations.marked(text)
    wanted = [is_good and (shaped or number in marked) for number, is_good in enumerate(good, 1)]
    for kept in (wanted, good):
        settled = citations.settle(text, cited, kept, handed)
        if settled.text.startswith(told):
            return settled
    return None


def _usage(usage: Usage) -> dict[str, Any]:
    """The usage block (reference 4.4); where nothing was billed the cost is 0."""
    total = usage.input_tokens + usage.output_tokens
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": total,
        "cost_usd": usage.cost_usd if total else usage.cost_usd or 0,
    }


def _told(error: str) -> str:
    return bounded(printable(error), _LONGEST_ERROR)
