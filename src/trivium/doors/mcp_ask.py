"""The tools of KnowQL in the MCP server: which contexts there are, an answer, a turn, passages.

None of them changes knowledge, so a read-only server has them, too. An answer is kept as a turn of a session, to be
fetched and continued; what `retrieve` finds is not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types

from trivium.errors import NotFoundError, TriviumError
from trivium.knowql.errors import QueryError
from trivium.knowql.hints import MCP, worded

if TYPE_CHECKING:
    from trivium import KnowledgeBase

WAIT_SECONDS, LONGEST_WAIT = 60, 300

_READS = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ASKS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_SCOPE = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "maxItems": 10,
    "description": "Slugs of the contexts to ask, from list_contexts; by default the one of this server.",
}


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TOOLS = {
    tool.name: tool
    for tool in (
        types.Tool(
            name="list_contexts",
            title="List contexts",
            description="The units of knowledge that can be asked: slug, name, description, and whether each is ready.",
            input_schema=_schema([]),
            annotations=_READS,
        ),
        types.Tool(
            name="query_context",
            title="Ask",
            description=(
                "Ask a question over documents and facts; the answer cites what it rests on. With `shape`, a JSON "
                "Schema, output_json conforms to it. A turn that is still in_progress after wait_seconds is fetched "
                "with get_query. To go on in the same conversation give session_id of an earlier answer."
            ),
            input_schema=_schema(
                ["ask"],
                ask={"type": "string", "description": "The question, in any language."},
                scope=_SCOPE,
                session_id={"type": "string", "description": "Continue this session; its scope stays."},
                shape={"type": "object", "description": "JSON Schema of the answer."},
                model={"type": "string", "description": "A model or tier; by default the deployment's."},
                wait_seconds={
                    "type": "integer",
                    "minimum": 0,
                    "maximum": LONGEST_WAIT,
                    "default": WAIT_SECONDS,
                    "description": "How long to wait for the answer.",
                },
            ),
            annotations=_ASKS,
        ),
        types.Tool(
            name="get_query",
            title="Fetch an answer",
            description="A turn as it stands now; poll until its status is completed, failed or cancelled.",
            input_schema=_schema(["id"], id={"type": "string", "description": "The id that query_context gave, qry_…"}),
            annotations=_READS,
        ),
        types.Tool(
            name="retrieve",
            title="Find passages",
            description=(
                "Find passages of documents, and facts, without composing an answer: verbatim text with source, "
                "section, pages and score, best first. Fast, and no model is needed."
            ),
            input_schema=_schema(
                ["ask"],
                ask={"type": "string", "description": "What to look for: a question or words."},
                scope=_SCOPE,
                kind={"enum": ["both", "chunks", "artifacts"], "default": "both"},
                max_retrieved={"type": "integer", "minimum": 1, "maximum": 200, "default": 10},
                max_retrieved_chars={
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 100_000,
                    "description": "Cut each text after so many characters.",
                },
                pointers_only={"type": "boolean", "default": False, "description": "Places and scores without text."},
            ),
            annotations=_READS,
        ),
    )
}


class AskTools:
    """The tools over a knowledge base; `slug` is the context that calls without a scope ask."""

    def __init__(self, kb: KnowledgeBase, slug: str | None) -> None:
        self._kb = kb
        self._slug = slug or kb.slug

    def __contains__(self, name: str) -> bool:
        return name in TOOLS

    def tools(self) -> list[types.Tool]:
        return list(TOOLS.values())

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> types.CallToolResult:
        """The answer of a tool, or an error that the model can act on."""
        try:
            return _result(
                self._call(name, {key: value for key, value in (arguments or {}).items() if value is not None})
            )
        except QueryError as error:
            return _result(error.to_dict(MCP), is_error=True)
        except TriviumError as error:
            code = "not_found" if isinstance(error, NotFoundError) else "bad_request"
            return _result(
                {"error": {"code": code, "message": error.message, "hint": worded(error.hint, MCP)}}, is_error=True
            )

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        known = TOOLS[name].input_schema["properties"]
        for given in arguments:
            if given not in known:
                raise _refused(given, f"{name} takes no {given!r}.", f"It takes: {', '.join(known) or 'nothing'}.")
        if name == "list_contexts":
            return {"contexts": [_summary(context.describe()) for context in self._kb.contexts()]}
        if name == "get_query":
            return self._kb.turns.response(_text(arguments, "id"))
        if name == "retrieve":
            return self._retrieve(arguments)
        return self._ask(arguments)

    def _ask(self, arguments: dict[str, Any]) -> dict[str, Any]:
        wait = arguments.pop("wait_seconds", WAIT_SECONDS)
        if isinstance(wait, float) and wait.is_integer():
            wait = int(wait)
        if not isinstance(wait, int) or isinstance(wait, bool) or not 0 <= wait <= LONGEST_WAIT:
            raise _refused("wait_seconds", f"wait_seconds must be a whole number from 0 to {LONGEST_WAIT}.", None)
        accepted = self._kb.turns.submit({**self._scoped(arguments), "background": True})
        return self._kb.turns.wait(accepted.query_id, wait)

    def _retrieve(self, arguments: dict[str, Any]) -> dict[str, Any]:
        kind = arguments.pop("kind", "both")
        if kind not in ("both", "chunks", "artifacts"):
            raise _refused("kind", "kind must be both, chunks or artifacts.", None)
        control = {"both": "retrieval_only", "chunks": "chunks_only", "artifacts": "artifacts_only"}[kind]
        document = {"max_retrieved": 10, **self._scoped(arguments), control: True}
        found = self._kb.ask(document)
        self._kb.turns.delete_session(found["session_id"])
        if found["status"] != "completed":
            return {"error": {"code": found["status"], "message": found["error"], "hint": "Try again."}}
        envelope: dict[str, Any] = found["output_json"]
        return envelope

    def _scoped(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as a query document; a scope written as one text is taken as its list."""
        scope = arguments.get("scope")
        if isinstance(scope, str):
            return {**arguments, "scope": [scope]}
        if scope is None and "session_id" not in arguments:
            return {**arguments, "scope": [self._slug]}
        return arguments


def _summary(described: dict[str, Any]) -> dict[str, Any]:
    return {name: described[name] for name in ("slug", "name", "description", "kind", "queryable", "stale")}


def _text(arguments: dict[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value:
        raise _refused(name, f"{name} must be a text.", None)
    return value


def _refused(param: str, message: str, hint: str | None) -> QueryError:
    return QueryError(400, "bad_request", "invalid_value", message, param=param, hint=hint)


def _result(value: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    """The whole value as structured content; as text its JSON, of a turn without what only programs need."""
    text = types.TextContent(type="text", text=json.dumps(_told(value), ensure_ascii=False))
    failed = is_error or isinstance(value.get("error"), dict) or value.get("status") == "failed"
    return types.CallToolResult(content=[text], structured_content=value, is_error=failed)


def _told(value: dict[str, Any]) -> dict[str, Any]:
    """What an agent reads of a turn: its state, answer and sources. Other values stay as they are."""
    if value.get("object") != "query":
        return value
    answer = "".join(part["text"] for item in value["output"] for part in item["content"])
    told = {
        "status": value["status"],
        "error": value["error"],
        "answer": answer,
        "output_json": value["output_json"],
        "citations": [_source(number, cited) for number, cited in enumerate(value["citations"], 1)],
        "warnings": [warning["message"] for warning in value["warnings"]],
        "id": value["id"],
        "session_id": value["session_id"],
    }
    return {name: part for name, part in told.items() if part not in (None, "", [])}


def _source(number: int, cited: dict[str, Any]) -> dict[str, Any]:
    names = ("context", "source", "lines", "pages", "section_path", "artifact_name", "grounding")
    return {"n": number, **{name: cited[name] for name in names if cited[name] not in (None, [])}}
