"""The three read-only tools of Knowledge query v1, apart from any protocol library (reference 12)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from trivium.errors import TriviumError
from trivium.why.model import Index
from trivium.why.prepared import PreparedIndex, Profile
from trivium.why.query import asked_paths, knowledge_why
from trivium.why.redact import redact, redact_values
from trivium.why.render import render_text
from trivium.why.request import DEFAULT_LIMIT, WhyRequestError, check_request
from trivium.why.response import MAX_BUDGET, MAX_RESULTS, MAX_TARGET, to_json

LoadIndex = Callable[[], Index | PreparedIndex]

TOOL_KINDS = {"knowledge.decision": "decision", "knowledge.concept": "concept", "knowledge.whyChanged": "change"}
"""The tools and the kind of entities that each answers with."""
PLAIN_NAMES = {name.replace(".", "_"): name for name in TOOL_KINDS}
"""The tools under names for clients that refuse dots."""
_DESCRIPTIONS = {
    "knowledge.decision": (
        "Which recorded decisions are about a path, symbol, concept or entity id: status, supersession and the lines "
        "that say so. Call it before changing code. Exact look-up in a stored index; an empty answer is no proof that "
        "nothing was decided."
    ),
    "knowledge.concept": (
        "Which defined concepts a path, symbol, term or alias belongs to, with the lines that define them. Exact "
        "look-up, case counts."
    ),
    "knowledge.whyChanged": (
        "Which recorded changes (change-log entries, commits of the indexed window) touched a path, symbol or "
        "concept. What is returned are observations; no cause is inferred."
    ),
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "target": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_TARGET,
            "description": "A path (with :line or :start-end if wanted), exported symbol, name, alias or entity id.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_RESULTS,
            "default": DEFAULT_LIMIT,
            "description": (
                "The most entities, documents and notes, counted separately. Decisions are kept longest; `truncated` "
                "tells that something was left out."
            ),
        },
        "budgetTokens": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_BUDGET,
            "description": "Report whether the answer fits this many tokens, and which limit would.",
        },
        "format": {
            "type": "string",
            "enum": ["json", "text"],
            "default": "json",
            "description": (
                "text is enough to read, and about twenty times shorter than json for a file with much history; json "
                "has every link and hash."
            ),
        },
    },
    "required": ["target"],
    "additionalProperties": False,
}
_CONTEXT: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "description": "The slug of the context whose repository is asked about; by default the one of this server.",
}
_USAGE = 'With format "text" the answer is about twenty times shorter than JSON; `limit` bounds each of its lists.'
_FORMATS = ("json", "text")
_MORE = "format json shows all"
_JSON_NAMES = {"budget_tokens": "budgetTokens"}


@dataclass(frozen=True)
class ToolResult:
    """What a call gives: one text, whether it is an error, and the members of `_meta` (empty for local calls)."""

    text: str
    is_error: bool
    meta: dict[str, Any]


def tool_definitions(
    allowed: Collection[str] | None = None, *, plain: bool = False, contexts: bool = False, about: str | None = None
) -> list[dict[str, Any]]:
    """Name, description, input schema and annotations of the offered tools; `allowed` None offers all.

    `plain` names them without dots, `contexts` adds the argument `context`, `about` is one more sentence of each
    description.
    """
    schema = copy.deepcopy(_SCHEMA)
    if contexts:
        schema["properties"]["context"] = dict(_CONTEXT)
    return [
        {
            "name": spelled(name, plain),
            "description": " ".join(filter(None, (_DESCRIPTIONS[name], _USAGE, about))),
            "inputSchema": copy.deepcopy(schema),
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }
        for name in TOOL_KINDS
        if allowed is None or name in allowed
    ]


def spelled(name: str, plain: bool) -> str:
    """The name of a tool, without dots if they are to be avoided."""
    return name.replace(".", "_") if plain else name


def call_tool(
    name: str,
    arguments: Mapping[str, Any] | None,
    load_index: LoadIndex | None,
    *,
    profile: Profile = "local",
    allowed: Collection[str] | None = None,
    root: str | None = None,
    contexts: bool = False,
) -> ToolResult:
    """The answer of a tool: the library's answer for the same request, as pretty-printed JSON or as text.

    `load_index` gives the fresh index (prepared, best) and is called only after the arguments are checked; in the
    service profile it must be injected, nothing else is read. Errors come back as results, naming the tool as it was
    called, with or without a dot. With `contexts` the argument `context` is admitted; to choose the index by it is the
    caller's part. The result's `meta` is what belongs under `_meta`.
    """
    service = profile == "service"
    tool = PLAIN_NAMES.get(name, name)
    if tool not in TOOL_KINDS or (allowed is not None and tool not in allowed):
        plain = name in PLAIN_NAMES
        kept = (spelled(one, plain) for one in TOOL_KINDS if allowed is None or one in allowed)
        return _failed(f"{name} is not offered here. Offered: {', '.join(kept) or 'none'}.", service)
    try:
        request = _checked(arguments, contexts)
    except WhyRequestError as error:
        return _failed(f"{name} invalid arguments: {_sentence(error)}", service)
    if load_index is None:
        return _failed(f"{name} has no index to read: not analyzed. Give the service a stored index.", service)
    try:
        index = load_index()
    except TriviumError as error:
        return _failed(f"{name} failed: {error.message}{f' {error.hint}' if error.hint else ''}", service)
    prepared = index if isinstance(index, PreparedIndex) else PreparedIndex(index)
    written = request.pop("format")
    kind = TOOL_KINDS[tool]
    answer = knowledge_why(prepared, kind=kind, profile=profile, root=root, **request)
    safe = redact_values(answer) if service else answer
    if written == "json":
        text = to_json(safe)
    else:
        view = prepared.view(profile)
        text = render_text(
            safe,
            view.entity,
            beyond=view.beyond,
            kind=kind,
            asked=asked_paths(prepared, request["target"], profile=profile, root=root),
            more=_MORE,
            commits=prepared.head.commits,
        )
    if not service:
        return ToolResult(text, False, {})
    return ToolResult(
        text if written == "json" else redact(text), False, _service_meta(safe["coverage"], safe != answer)
    )


def _checked(arguments: Mapping[str, Any] | None, contexts: bool) -> dict[str, Any]:
    """The arguments of `knowledge_why` and `format`; raises `WhyRequestError` with JSON names."""
    given = {} if arguments is None else arguments
    names = [*_SCHEMA["properties"], *(["context"] if contexts else [])]
    if not isinstance(given, Mapping):
        raise WhyRequestError("arguments", "must be an object", f"Known: {', '.join(names)}.")
    for argument in given:
        if argument not in names:
            raise WhyRequestError(str(argument), "is unknown", f"Known: {', '.join(names)}.")
    if "context" in given and (not isinstance(given["context"], str) or not given["context"]):
        raise WhyRequestError("context", "must be the slug of a context", "Leave it out for that of the server.")
    if "target" not in given:
        raise WhyRequestError("target", "is missing", "Give a path, a symbol, a name or an entity id.")
    written = given.get("format", "json")
    if written not in _FORMATS:
        raise WhyRequestError("format", "must be json or text", "Leave it out to get JSON.")
    if "budgetTokens" in given and given["budgetTokens"] is None:
        raise WhyRequestError("budgetTokens", "must be a whole number", "Leave it out to get no report.")
    limit, budget = _integer(given.get("limit", DEFAULT_LIMIT)), _integer(given.get("budgetTokens"))
    try:
        request = check_request(given["target"], None, limit, budget, "local", None)
    except WhyRequestError as error:
        raise WhyRequestError(
            _JSON_NAMES.get(error.argument, error.argument), error.problem, error.hint or ""
        ) from None
    return {"target": request.target, "limit": request.limit, "budget_tokens": request.budget_tokens, "format": written}


def _integer(value: Any) -> Any:
    """A number without a fraction as a whole one: to JSON Schema `5.0` is an integer, and some clients write it so."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sentence(error: WhyRequestError) -> str:
    return f"{error.message}. {error.hint}"


def _failed(text: str, service: bool) -> ToolResult:
    if not service:
        return ToolResult(text, True, {})
    safe = redact(text)
    return ToolResult(safe, True, _service_meta([], safe != text))


def _service_meta(coverage: list[dict[str, Any]], redacted: bool) -> dict[str, Any]:
    """`serviceProfile` for `_meta`: what the restricted profile left out or changed, and the coverage."""
    diagnostics = [{"code": "history-not-analyzed", "message": "Commits are left out of restricted answers."}]
    if redacted:
        diagnostics.append({"code": "redacted", "message": "Text that looks like a secret was replaced."})
    return {"serviceProfile": {"diagnostics": diagnostics, "coverage": coverage}}
