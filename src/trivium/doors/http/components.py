"""The bodies and answers of the HTTP door as JSON Schemas, by name: the components of `/openapi.json`.

Answers are closed: what is not named here is never sent. Query documents are open, since KnowQL admits further fields.
"""

from __future__ import annotations

from typing import Any

from trivium.ingest.tasks import WORKFLOWS
from trivium.knowql.document import ANSWER_CHANGING, THINKING_LEVELS
from trivium.store.tasks import STATES

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
ANY_OBJECT: Schema = {"type": "object"}
INSTANT: Schema = {"type": "string", "description": "RFC 3339, UTC."}
CURSOR: Schema = {"type": ["string", "null"], "description": "Send it as `cursor` for the next page; null on the last."}


def optional(*kinds: str) -> Schema:
    return {"type": [*kinds, "null"]}


def list_of(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def closed(required: dict[str, Schema], /, **further: Schema) -> Schema:
    """An object with these members and no others; `further` may be absent."""
    return {
        "type": "object",
        "properties": required | further,
        "required": list(required),
        "additionalProperties": False,
    }


def taken(required: dict[str, Schema], /, *, also: bool = False, **further: Schema) -> Schema:
    """A body: members that must be there, members that may be; others are refused unless `also`."""
    schema: Schema = {"type": "object", "properties": required | further}
    if required:
        schema["required"] = list(required)
    if not also:
        schema["additionalProperties"] = False
    return schema


def _map(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _null_or(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


_FLAG_OR_NULL = optional("boolean")
_CAP: Schema = {"type": ["integer", "null"], "minimum": 1, "description": "Above the ceiling it is lowered to it."}
_LONG: Schema = {"type": ["string", "null"], "maxLength": 32_768}
_LINES: Schema = {
    "type": ["array", "null"],
    "items": {"type": "integer", "minimum": 1},
    "minItems": 2,
    "maxItems": 2,
    "description": "First and last line of the source's text, from 1.",
}
_ROLLUP_COUNTS = {
    "n_steps": COUNT,
    "n_tool_calls": COUNT,
    "by_category": _map(COUNT),
    "total_hits": COUNT,
    "duration_ms": COUNT,
    "cache_read_tokens": COUNT,
    "cache_write_tokens": COUNT,
}
_PLACE = {"section_path": optional("string"), "section_paths": list_of(list_of(TEXT)), "pages": list_of(WHOLE)}
SLUG: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9_-]{2,63}$"}
_NAME: Schema = {"type": "string", "minLength": 1, "pattern": r"\S", "description": "At most 128 characters, trimmed."}
_SOURCE = {
    "path": TEXT,
    "media_type": TEXT,
    "size": COUNT,
    "hash": {"type": "string", "description": "SHA-256 of the bytes."},
    "dated": optional("string"),
    "imported_at": INSTANT,
    "state": {"enum": ["live", "changed", "new", "unreadable"]},
    "problem": optional("string"),
}

TURN: dict[str, Schema] = {
    "QueryDocument": {
        **taken(
            {"ask": {"type": "string", "minLength": 1, "maxLength": 32_768, "pattern": r"\S"}},
            also=True,
            scope={
                "type": ["array", "null"],
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "maxItems": 10,
            },
            session_id=optional("string"),
            previous_query_id=optional("string"),
            model=optional("string"),
            models={"type": ["array", "null"], "items": TEXT, "minItems": 1, "maxItems": 8},
            tools={"type": ["array", "null"], "items": TEXT},
            workflow=optional("string"),
            system_prompt=_LONG,
            guardrails=_LONG,
            vars=optional("object"),
            stream=_FLAG_OR_NULL,
            background=_FLAG_OR_NULL,
            timeout_seconds=_CAP,
            max_steps=_CAP,
            thinking_level={"enum": [*THINKING_LEVELS, None]},
            shape={"type": ["object", "null"], "description": "A JSON Schema; output_json conforms to it."},
            compose=_FLAG_OR_NULL,
            retrieval_only=_FLAG_OR_NULL,
            pointers_only=_FLAG_OR_NULL,
            chunks_only=_FLAG_OR_NULL,
            artifacts_only=_FLAG_OR_NULL,
            max_retrieved=_CAP,
            max_retrieved_chars=_CAP,
            **{name: {"not": {}, "description": "Reserved; refused."} for name in ANSWER_CHANGING},
        ),
        "example": {"ask": "What are Acme's payment terms?", "scope": ["contracts"]},
    },
    "Citation": closed(
        {
            "source": TEXT,
            **_PLACE,
            "score": optional("number"),
            "grounding": optional("string"),
            "kind": {"enum": ["chunk", "artifact"]},
            "artifact_name": optional("string"),
            "sources": list_of(TEXT),
            "context": TEXT,
            "chunk_id": optional("string"),
            "lines": _LINES,
        }
    ),
    "Step": closed(
        {
            "step_id": TEXT,
            "status": {"enum": ["running", "completed", "failed"]},
            "commentary": TEXT,
            "fns": list_of(TEXT),
            "strategy": ANY_OBJECT,
            "tool_calls": list_of(ANY_OBJECT),
            "code": optional("string"),
            "cost": ANY_OBJECT,
            **dict.fromkeys(
                ("input_tokens", "output_tokens", "total_tokens", "cum_input_tokens", "cum_output_tokens"), COUNT
            ),
        }
    ),
    "Usage": closed(
        {"input_tokens": COUNT, "output_tokens": COUNT, "total_tokens": COUNT, "cost_usd": optional("number")}
    ),
    "Rollup": closed({"type": {"const": "response.turn_rollup"}, "query_id": TEXT, **_ROLLUP_COUNTS}),
    "Synthesis": closed(
        {
            "type": {"const": "response.synthesis"},
            "query_id": TEXT,
            "status": TEXT,
            "tokens_in": COUNT,
            "tokens_out": COUNT,
            "ms": COUNT,
            "answer_preview": TEXT,
            "tokens_in_cached": COUNT,
            "tokens_in_cache_write": COUNT,
            "tokens_in_fresh": COUNT,
        }
    ),
    "FeedbackGiven": closed({"rating": {"enum": ["up", "down"]}, "comment": optional("string")}),
    "Warning": closed({"code": TEXT, "param": optional("string"), "message": TEXT}),
    "Message": closed({"role": TEXT, "content": TEXT}),
    "OutputItem": closed({"role": TEXT, "content": list_of(closed({"type": TEXT, "text": TEXT}))}),
    "ResponseDocument": closed(
        {
            "id": TEXT,
            "object": {"const": "query"},
            "session_id": TEXT,
            "model": optional("string"),
            "created": WHOLE,
            "status": {"enum": ["in_progress", "completed", "failed", "cancelled"]},
            "error": optional("string"),
            "previous_query_id": optional("string"),
            "input": list_of(ref("Message")),
            "output": list_of(ref("OutputItem")),
            "output_json": {"description": "What conforms to the shape, or what retrieval found."},
            "citations": list_of(ref("Citation")),
            "steps": list_of(ref("Step")),
            "usage": ref("Usage"),
            "rollup": _null_or(ref("Rollup")),
            "synthesis": _null_or(ref("Synthesis")),
            "trace_ref": optional("string"),
            "runtime_ms": COUNT,
            "workflow": TEXT,
            "max_steps": optional("integer"),
            "thinking_level": optional("string"),
            "feedback": _null_or(ref("FeedbackGiven")),
            "warnings": list_of(ref("Warning")),
        }
    ),
    "Event": closed(
        {"event": TEXT, "data": {"type": "string", "contentMediaType": "application/json"}},
        id={"type": "string", "description": "Resume behind it with Last-Event-ID; the closing event has none."},
    ),
    "Trace": closed(
        {
            "steps": list_of(
                closed(
                    {
                        "step_id": TEXT,
                        "commentary": TEXT,
                        "code": optional("string"),
                        "calls": list_of(ANY_OBJECT),
                        "strategy": ANY_OBJECT,
                        "cost": ANY_OBJECT,
                    }
                )
            ),
            "rollup": _null_or(closed(_ROLLUP_COUNTS)),
        }
    ),
    "Feedback": taken(
        {"rating": {"enum": ["up", "down"]}},
        also=True,
        comment={"type": ["string", "null"], "description": "At most 2,000 characters, trimmed."},
    ),
    "Models": {
        **taken(
            {
                "default": optional("string"),
                "models": list_of(
                    taken(
                        {"id": TEXT, "label": TEXT, "provider": TEXT, "available": FLAG},
                        also=True,
                    )
                ),
                "tiers": _map(optional("string")),
                "query_defaults": closed(
                    {"max_steps": _map(WHOLE), "thinking_levels": list_of(TEXT), "thinking_level": TEXT}
                ),
            },
            also=True,
        )
    },
}

SESSIONS: dict[str, Schema] = {
    "Session": closed(
        {
            "id": TEXT,
            "scope": list_of(TEXT),
            "scope_ids": list_of(TEXT),
            "title": optional("string"),
            "system_prompt": optional("string"),
            "guardrails": optional("string"),
            "models": list_of(TEXT),
            "tools": list_of(TEXT),
            "vars": ANY_OBJECT,
            "workflow": optional("string"),
            "last_query_id": optional("string"),
            "created_at": INSTANT,
            "updated_at": INSTANT,
        },
        queries=list_of(ref("ResponseDocument")),
        queries_active={"type": "integer", "minimum": 0, "description": "With queries_active=true alone."},
    ),
    "SessionList": closed({"sessions": list_of(ref("Session")), "next_cursor": CURSOR}),
    "SessionChange": taken({"title": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"\S"}}),
    "QueryList": closed({"queries": list_of(ref("ResponseDocument")), "next_cursor": CURSOR}),
    "Deleted": closed({"deleted": FLAG}),
}

_STATS = closed(
    dict.fromkeys(
        (
            "sources",
            "bytes",
            "documents",
            "unreadable",
            "chunks",
            "artifacts",
            "concepts",
            "propositions",
        ),
        COUNT,
    )
)
_ENTRY = taken(
    {"name": TEXT, "type": {"enum": ["folder", "file", "document", "chunk", "artifact"]}, "path": TEXT}, also=True
)

KNOWLEDGE: dict[str, Schema] = {
    "Context": closed(
        {
            "id": TEXT,
            "object": {"const": "context"},
            "slug": TEXT,
            "name": TEXT,
            "kind": {"enum": ["search", "work"]},
            "description": TEXT,
            "guide": TEXT,
            "manifest": ref("Manifest"),
            **dict.fromkeys(("queryable", "has_sources", "is_importing", "is_curating", "is_optimizing"), FLAG),
            "import_task_id": optional("string"),
            "curate_task_id": optional("string"),
            "last_source_import_at": optional("string"),
            "last_curated_at": optional("string"),
            "live_version": COUNT,
            "stale": FLAG,
            "sample_queries": list_of(TEXT),
            "created_at": INSTANT,
            "updated_at": INSTANT,
        },
        stats=_STATS,
    ),
    "ContextList": list_of(ref("Context")),
    "NewContext": {
        **taken(
            {"slug": SLUG, "name": _NAME},
            description=_LONG,
            guide=_LONG,
            manifest=_null_or(ref("Manifest")),
            kind={"enum": ["search", "work", None]},
        ),
        "example": {"slug": "contracts", "name": "Contracts"},
    },
    "ContextChange": taken(
        {},
        slug={**SLUG, "type": ["string", "null"]},
        name={**_NAME, "type": ["string", "null"]},
        description=_LONG,
        guide=_LONG,
        manifest=_null_or(ref("Manifest")),
    ),
    "Manifest": {"type": "object", "description": "The knobs of curate; see the guide to importing."},
    "Curate": taken({}, force=_FLAG_OR_NULL),
    "Started": closed({"task_id": TEXT, "state": {"enum": ["importing", "curating", "packing", "restoring"]}}),
    "Ledger": closed(
        {
            "live_version": COUNT,
            "last_curated_at": optional("string"),
            "stale": FLAG,
            "is_curating": FLAG,
            "curate_task_id": optional("string"),
            "sources": list_of(
                closed(
                    {
                        "path": TEXT,
                        "hash": TEXT,
                        "live_hash": optional("string"),
                        "imported_at": INSTANT,
                        "state": _SOURCE["state"],
                    }
                )
            ),
            "pending_deletes": list_of(TEXT),
            "next_cursor": CURSOR,
        }
    ),
    "Folder": closed({"path": TEXT, "entries": list_of(_ENTRY), "next_cursor": CURSOR}),
    "Source": closed(_SOURCE),
    "SourceManifest": closed({"sources": list_of(ref("Source")), "next_cursor": CURSOR}),
    "SourceStats": closed(
        {
            "files": COUNT,
            "bytes": COUNT,
            "media_types": _map(closed({"files": COUNT, "bytes": COUNT})),
            "states": closed(dict.fromkeys(("live", "changed", "new", "unreadable"), COUNT)),
        }
    ),
    "SourceGone": closed({"deleted": FLAG, "path": TEXT}),
    "KnowledgeStats": closed(
        {
            "live_version": COUNT,
            "last_curated_at": optional("string"),
            "stale": FLAG,
            **dict.fromkeys(
                ("documents", "unreadable", "chunks", "artifacts", "chars", "concepts", "propositions"), COUNT
            ),
            "artifact_types": _map(COUNT),
        }
    ),
    "Knowledge": taken(
        {"type": {"enum": ["document", "artifact", "chunk"]}, "context": TEXT, "chars": COUNT, "text": TEXT}, also=True
    ),
    "Task": closed(
        {
            "id": TEXT,
            "object": {"const": "task"},
            "workflow": {"enum": list(WORKFLOWS)},
            "context": optional("string"),
            "state": {"enum": list(STATES)},
            "created_at": INSTANT,
            "updated_at": INSTANT,
            "done": COUNT,
            "total": COUNT,
            "error": optional("string"),
            "result": optional("object"),
        }
    ),
    "TaskList": closed({"tasks": list_of(ref("Task")), "next_cursor": CURSOR}),
}

_COMMAND = {"type": "string", "minLength": 1, "description": "A KIP command."}

SERVICE: dict[str, Schema] = {
    "Error": closed(
        {
            "error": closed(
                {
                    "code": TEXT,
                    "message": TEXT,
                    "reason": optional("string"),
                    "param": optional("string"),
                    "hint": optional("string"),
                }
            )
        }
    ),
    "Health": closed({"status": {"const": "ok"}, "name": TEXT, "version": TEXT}),
    "KipCall": {
        **taken(
            {
                "method": {"enum": ["execute_kip", "execute_kip_readonly"]},
                "params": {
                    **taken(
                        {},
                        command=_COMMAND,
                        commands=list_of(
                            {"anyOf": [TEXT, taken({"command": TEXT}, parameters=ANY_OBJECT)]}, minItems=1
                        ),
                        parameters=ANY_OBJECT,
                        dry_run=FLAG,
                        readonly=FLAG,
                    ),
                    "oneOf": [{"required": ["command"]}, {"required": ["commands"]}],
                },
            },
        ),
        "example": {"method": "execute_kip", "params": {"command": "DESCRIBE PRIMER"}},
    },
    "KipResponse": {
        "type": "object",
        "properties": {
            "result": {},
            "next_cursor": TEXT,
            "error": taken({"code": TEXT, "name": TEXT, "message": TEXT, "hint": TEXT}, also=True),
        },
        "anyOf": [{"required": ["result"]}, {"required": ["error"]}],
    },
}

COMPONENTS: dict[str, Schema] = {**SERVICE, **TURN, **SESSIONS, **KNOWLEDGE}
