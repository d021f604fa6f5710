"""The Query Document (KnowQL reference 3): its fields as one table, and what can be checked without the store.

    document -> plain JSON -> reserved names -> ask -> types -> shape -> delivery -> warnings -> Request

Each check is one function of `CHECKS`, in the order of reference 10.1 (steps 1 to 6); the first that fails decides the
error. What the store must tell (steps 7 to 13) is in `trivium.knowql.binding`.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from trivium.errors import bounded, printable
from trivium.knowql.errors import QueryError, refusal
from trivium.knowql.hints import Hint
from trivium.knowql.mode import Mode, resolve

TEXT, FLAG, WHOLE, LIST, OBJECT, SCHEMA, SCOPE = "text", "flag", "whole", "list", "object", "schema", "scope"
LONGEST_TEXT = 32_768
LARGEST_VARS = 64 << 10
DEEPEST = 200
MOST_CONTEXTS = 10
WARNINGS_EACH = 32
"""How many unknown fields get a warning of their own; the others share one."""

THINKING_LEVELS = ("minimal", "low", "medium", "high")
DEFAULT_THINKING = "low"
SEARCH, RAG, CODE = "search", "search_rag", "search_cc"
WORKFLOWS = {SEARCH: 8, RAG: 1}
"""The workflows that are installed, with the steps that their retrieval loops may take."""
ALIASES = {"query_search": SEARCH, "query_sac": SEARCH, "query_rag": RAG, "query_cc": CODE}
DEFAULT_MODELS = ["standard"]

ANSWER_CHANGING = ("where", "as_of", "since", "window", "link", "resolve", "explain", "await", "apply")
"""Reserved names that are refused: leaving them out would give another answer than was asked for."""
ADVISORY = ("ground", "budget", "trace")


class Field(Struct, frozen=True):
    """One field: its kind, its limits, and whether it is pinned (then it has no effect on a continuing turn).

    `most` is the ceiling of a number, above which it is lowered, or the length of a text or list, above which it is
    refused.
    """

    name: str
    kind: str
    pinned: bool = False
    most: int | None = None
    default: Any = None
    choices: tuple[str, ...] = ()


FIELDS: tuple[Field, ...] = (
    Field("ask", TEXT, most=LONGEST_TEXT),
    Field("scope", SCOPE, pinned=True, most=MOST_CONTEXTS),
    Field("session_id", TEXT),
    Field("previous_query_id", TEXT),
    Field("model", TEXT),
    Field("models", LIST, most=8),
    Field("tools", LIST, pinned=True),
    Field("workflow", TEXT),
    Field("system_prompt", TEXT, pinned=True, most=LONGEST_TEXT),
    Field("guardrails", TEXT, pinned=True, most=LONGEST_TEXT),
    Field("vars", OBJECT, pinned=True, most=LARGEST_VARS),
    Field("stream", FLAG),
    Field("background", FLAG, default=False),
    Field("timeout_seconds", WHOLE, most=900, default=900),
    Field("max_steps", WHOLE, most=50),
    Field("thinking_level", TEXT, choices=THINKING_LEVELS),
    Field("shape", SCHEMA),
    Field("compose", FLAG, default=True),
    Field("retrieval_only", FLAG, default=False),
    Field("pointers_only", FLAG, default=False),
    Field("chunks_only", FLAG, default=False),
    Field("artifacts_only", FLAG, default=False),
    Field("max_retrieved", WHOLE, most=200, default=20),
    Field("max_retrieved_chars", WHOLE, most=100_000),
)
_BY_NAME = {field.name: field for field in FIELDS}
_CAPS = ("max_retrieved", "max_retrieved_chars")

REFUSED_WHEN_STRICT = {
    "unknown_field": "unsupported_field",
    "reserved_field_ignored": "unsupported_field",
    "pinned_field_ignored": "pinned_field",
    "control_ignored": "invalid_value",
    "shape_ignored": "invalid_value",
    "timeout_clamped": "invalid_value",
    "value_clamped": "invalid_value",
}
"""Warnings that are errors under `Prefer: handling=strict`, and the reason of each (reference 3.8)."""


class Warning(Struct, frozen=True):
    """Something of the request that had no effect, or not the whole effect."""

    code: str
    param: str | None
    message: str


class Request(Struct):
    """A query document whose own text is right. `scope` and names of models, tools and workflow are still unchecked.

    `given` holds every field of the document that counts, without nulls; `digest` tells it from other documents.
    """

    given: dict[str, Any]
    mode: Mode
    digest: str
    warnings: list[Warning] = []

    @property
    def ask(self) -> str:
        return str(self.given["ask"])

    @property
    def continues(self) -> bool:
        return "session_id" in self.given or "previous_query_id" in self.given

    def get(self, name: str) -> Any:
        """The value of a field, or its default."""
        return self.given.get(name, _BY_NAME[name].default)


def read_document(document: Any, *, strict: bool = False) -> Request:
    """Steps 1 to 6 of reference 10.1 on a query document. Raises: QueryError."""
    draft = _Draft(document)
    for check in CHECKS:
        check(draft)
    request = Request(draft.given, resolve(draft.given), draft.digest, draft.warnings)
    _note_ignored(request)
    insist(request.warnings, strict)
    return request


def insist(warnings: list[Warning], strict: bool) -> None:
    """Under strict handling, refuse what would only have produced a warning. Raises: QueryError."""
    for warning in warnings if strict else ():
        if warning.code in REFUSED_WHEN_STRICT:
            raise refusal(
                REFUSED_WHEN_STRICT[warning.code],
                warning.message,
                param=warning.param,
                hint="Leave it out or correct it; without strict handling it is only a warning.",
            )


class _Draft:
    """A document while it is checked: `given` loses what does not count, `warnings` says so."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.given: dict[str, Any] = {}
        self.digest = ""
        self.warnings: list[Warning] = []

    @property
    def continues(self) -> bool:
        return "session_id" in self.given or "previous_query_id" in self.given


# --- the checks, in order -------------------------------------------------------------------------


def _is_plain_json(draft: _Draft) -> None:
    """Step 1: an object of JSON values. A copy is kept, so that later changes of the caller's have no effect."""
    try:
        text = json.dumps(draft.document, ensure_ascii=False, allow_nan=False, sort_keys=True)
        plain = json.loads(text)
        draft.digest = hashlib.sha256(text.encode()).hexdigest()
    except RecursionError:
        raise _no_json("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise _no_json("half of a surrogate pair is no character") from None
    except (TypeError, ValueError) as error:
        raise _no_json(str(error)) from None
    if not isinstance(plain, dict):
        raise _no_json("its root is no object")
    if depth(plain) > DEEPEST:
        raise _no_json(f"it is nested more than {DEEPEST} deep")
    draft.given = {name: value for name, value in plain.items() if value is not None}


def _has_no_reserved_name(draft: _Draft) -> None:
    """Step 2: nothing that would change which answer is right."""
    for name in ANSWER_CHANGING:
        if name in draft.given:
            raise refusal(
                "unsupported_field",
                f"{name} is reserved and not part of KnowQL 0.1.0; without it the answer would be another one.",
                param=name,
                hint=f"Leave {name} out, and say in the ask itself what it should do.",
            )


def _has_an_ask(draft: _Draft) -> None:
    """Step 3."""
    ask = draft.given.get("ask")
    if ask is None or (isinstance(ask, str) and not ask.strip()):
        raise refusal("ask_required", "ask is required", param="ask", hint=Hint("{ask}"))
    _check_text(_BY_NAME["ask"], ask)


def _has_right_types(draft: _Draft) -> None:
    """Step 4: types, enumerations and lower bounds; a pinned field of a continuing turn is dropped unread."""
    for name in sorted(draft.given.keys() - _BY_NAME.keys()):
        del draft.given[name]
        draft.warnings.append(_unknown(name))
    draft.warnings = _shortened(draft.warnings)
    for field in FIELDS:
        if field.name not in draft.given:
            continue
        if field.pinned and draft.continues:
            del draft.given[field.name]
            message = f"{field.name} is fixed by the turn that began the session; on a later turn it has no effect."
            draft.warnings.append(Warning("pinned_field_ignored", field.name, message))
        elif field.kind in _TYPE_CHECKS:
            value = _TYPE_CHECKS[field.kind](field, draft.given[field.name])
            if field.kind == WHOLE and field.most is not None and value > field.most:
                draft.given[field.name] = field.most
                draft.warnings.append(_clamped(field))


def _has_a_good_shape(draft: _Draft) -> None:
    """Step 5."""
    shape = draft.given.get("shape")
    if shape is None:
        return
    from trivium.shapes.shape import check_schema

    fault = check_schema(shape)
    if fault is not None:
        raise refusal(
            "invalid_shape",
            f"{fault}.",
            param="shape",
            hint='Send a JSON Schema object, such as {"type": "object", "properties": {…}, "required": […]}.',
        )


def _has_one_delivery(draft: _Draft) -> None:
    """Step 6."""
    if draft.given.get("stream") is True and draft.given.get("background") is True:
        raise refusal(
            "stream_background_conflict",
            "stream and background exclude each other.",
            param="stream",
            hint=Hint("Send background alone, and follow its events with {events}."),
        )


CHECKS: tuple[Callable[[_Draft], None], ...] = (
    _is_plain_json,
    _has_no_reserved_name,
    _has_an_ask,
    _has_right_types,
    _has_a_good_shape,
    _has_one_delivery,
)


def _note_ignored(request: Request) -> None:
    """The soft rules of reference 10.2 that the document alone decides."""
    if request.mode.composes:
        for name in _CAPS:
            if name in request.given:
                request.warnings = [w for w in request.warnings if w.param != name]
                message = f"{name} has no effect on a turn that composes an answer."
                request.warnings.append(Warning("control_ignored", name, message))
    elif "shape" in request.given:
        message = "shape has no effect on a turn that gives what retrieval found."
        request.warnings.append(Warning("shape_ignored", "shape", message))


# --- types ----------------------------------------------------------------------------------------


def _check_text(field: Field, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(field.name, "a text", value)
    if field.most is not None and len(value) > field.most:
        raise refusal(
            "invalid_value",
            f"{field.name} has {len(value):,} characters; at most {field.most:,} are allowed.",
            param=field.name,
            hint="Shorten it, or add long material to a context as a source.",
        )
    if field.choices and value not in field.choices:
        raise _wrong(field.name, "one of " + ", ".join(field.choices), value)
    return value


def _check_flag(field: Field, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(field.name, "true or false", value)
    return value


def _check_whole(field: Field, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _wrong(field.name, f"a whole number from 1 to {field.most:,}, written without a fraction", value)
    return value


def _check_list(field: Field, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise _wrong(field.name, "a list of texts that are not empty", value)
    if field.most is not None and not 1 <= len(value) <= field.most:
        raise refusal(
            "invalid_value",
            f"{field.name} has {len(value)} entries; 1 to {field.most} are allowed.",
            param=field.name,
            hint=f"Leave {field.name} out for the default.",
        )
    return value


def _check_object(field: Field, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(field.name, "an object", value)
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if field.most is not None and size > field.most:
        raise refusal(
            "invalid_value",
            f"{field.name} is {size:,} bytes as JSON; at most {field.most:,} are allowed.",
            param=field.name,
            hint="Keep small settings in it; add documents to a context as sources.",
        )
    return value


_TYPE_CHECKS: dict[str, Callable[[Field, Any], Any]] = {
    TEXT: _check_text,
    FLAG: _check_flag,
    WHOLE: _check_whole,
    LIST: _check_list,
    OBJECT: _check_object,
}


def check_scope(value: Any) -> list[str]:
    """Step 8: the scope of a new turn as a list of 1 to 10 names. Raises: QueryError."""
    if value is None:
        raise refusal(
            "scope_required",
            "scope is required on a new turn.",
            param="scope",
            hint=Hint("{scope}"),
        )
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise _wrong("scope", "a list of slugs or ids of contexts", value)
    if not 1 <= len(value) <= MOST_CONTEXTS:
        raise refusal(
            "scope_size",
            f"scope has {len(value)} entries; 1 to {MOST_CONTEXTS} are allowed.",
            param="scope",
            hint="Ask in several turns, or gather the sources in fewer contexts.",
        )
    return value


def check_whole(name: str, value: Any, default: int, most: int) -> int:
    """A number beside the document, such as the `limit` of a list: from 1, lowered to `most`. Raises: QueryError."""
    return default if value is None else min(_check_whole(Field(name, WHOLE, most=most), value), most)


def check_characters(name: str, text: str) -> None:
    """Whether a text beside the document can be stored and sent. Raises: QueryError."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise refusal(
            "invalid_json",
            f"{name} holds half of a surrogate pair, which is no character.",
            param=name,
            hint="Send whole characters.",
        ) from None


def depth(value: Any) -> int:
    """How deeply a JSON value is nested; 0 for one that is no container."""
    deepest, pending = 0, [(value, 1)]
    while pending:
        item, level = pending.pop()
        if isinstance(item, (dict, list)):
            deepest = max(deepest, level)
            pending += [(member, level + 1) for member in (item.values() if isinstance(item, dict) else item)]
    return deepest


# --- texts ----------------------------------------------------------------------------------------


def _no_json(why: str) -> QueryError:
    return refusal("invalid_json", f"The query document is no JSON object: {why}.", hint="Send one JSON object.")


def _wrong(name: str, wanted: str, value: Any) -> QueryError:
    shown = bounded(json.dumps(value, ensure_ascii=False), 80)
    return refusal("invalid_value", f"{name} must be {wanted}, not {shown}.", param=name, hint=f"Correct {name}.")


def _unknown(name: str) -> Warning:
    shown = bounded(printable(name), 100)
    if name in ADVISORY:
        return Warning("reserved_field_ignored", name, f"{name} is reserved for later versions and has no effect.")
    close = difflib.get_close_matches(name[:100], _BY_NAME, 1)
    advice = f" Did you mean {close[0]}?" if close else ""
    return Warning("unknown_field", shown, f"{shown} is no field of KnowQL 0.1.0 and has no effect.{advice}")


def _shortened(warnings: list[Warning]) -> list[Warning]:
    if len(warnings) <= WARNINGS_EACH:
        return warnings
    rest = len(warnings) - WARNINGS_EACH
    return [*warnings[:WARNINGS_EACH], Warning("unknown_field", None, f"{rest} more unknown fields have no effect.")]


def _clamped(field: Field) -> Warning:
    code = "timeout_clamped" if field.name == "timeout_seconds" else "value_clamped"
    return Warning(code, field.name, f"{field.name} was lowered to {field.most:,}, the most that is allowed.")
