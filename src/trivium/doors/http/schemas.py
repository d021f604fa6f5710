"""How routes describe themselves for `/openapi.json`: what they take and give, and how they fail."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response

from trivium.doors.http.components import COMPONENTS, FLAG, SLUG, TEXT, Schema, ref
from trivium.ingest.tasks import WORKFLOWS
from trivium.store.tasks import STATES

RUN = (400, 401, 404, 408, 409, 413, 415, 429)
"""How `POST /query` may fail."""
ALWAYS = (403, 503)
"""How every route may fail: a caller that the guard refuses, a store that cannot be used now."""
_RETRY: Schema = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
_HEADERS: dict[str, Schema] = {
    "Idempotency-Key": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}
}
_EXACT = "x-exact"


def _parameter(description: str, schema: Schema) -> Any:
    """A query parameter that is taken as a text and checked by its handler; the contract shows `schema`."""
    return Query(description=description, json_schema_extra={_EXACT: schema})


def limit(default: int, most: int) -> Any:
    """How many a list gives. Above `most` is no error (KnowQL reference 0)."""
    return _parameter(f"Above {most} it is {most}.", {"type": "integer", "minimum": 1, "default": default})


def _one_of(*values: str) -> Any:
    return _parameter("Only these.", {"enum": list(values)})


ListLimit = Annotated[str | None, limit(200, 1_000)]
TurnLimit = Annotated[str | None, limit(50, 200)]
TaskLimit = Annotated[str | None, limit(30, 1_000)]
CursorParameter = Annotated[str | None, _parameter("next_cursor of the page before.", TEXT)]
ContextParameter = Annotated[str | None, _parameter("Only this context, by slug or id.", TEXT)]
TextParameter = Annotated[str | None, _parameter("Only those that hold this text.", TEXT)]
FlagParameter = Annotated[str | None, _parameter("true, or false as by default.", FLAG)]
FolderParameter = Annotated[str, _parameter("The folder that the files are put into.", TEXT)]
SlugParameter = Annotated[str | None, _parameter("Another slug than the one it was packed with.", SLUG)]
WorkflowParameter = Annotated[str | None, _one_of(*WORKFLOWS)]
StateParameter = Annotated[str | None, _one_of(*STATES)]


def route(
    summary: str,
    *,
    body: str | None = None,
    gives: str | None = None,
    status: int = 200,
    fails: tuple[int, ...] = (),
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Keyword arguments of a route: names of components for its body and its answer, and how it may fail.

    `headers` are request headers that it heeds, with what they say.
    """
    responses: dict[int | str, Schema] = {code: _failure(code) for code in sorted({*fails, *ALWAYS})}
    responses[status] = _empty() if gives is None else _given(gives, status)
    described: dict[str, Any] = {
        "summary": summary,
        "status_code": status,
        "responses": responses,
        "response_model": None,
    }
    if gives is None:
        described["response_class"] = Response
    extra: Schema = {}
    if body is not None:
        extra["requestBody"] = _body(body)
    if headers:
        extra["parameters"] = [
            {"name": name, "in": "header", "required": False, "description": text, "schema": _HEADERS.get(name, TEXT)}
            for name, text in headers.items()
        ]
    if extra:
        described["openapi_extra"] = extra
    return described


def turn(summary: str) -> dict[str, Any]:
    """Keyword arguments of the route that runs turns."""
    headers = {
        "Accept": "text/event-stream asks for events where the body says nothing.",
        "Prefer": "handling=strict makes errors of warnings.",
        "Idempotency-Key": "The same key and body give the same turn for 24 hours.",
    }
    described = route(summary, body="QueryDocument", gives="ResponseDocument", fails=RUN, headers=headers)
    responses = described["responses"]
    responses[200]["description"] = "The turn has ended, or its events follow."
    responses[200]["content"]["text/event-stream"] = {"schema": ref("Event")}
    responses[202] = _given("ResponseDocument", 202) | {
        "description": "The turn runs; poll it.",
        "headers": {"Location": {"description": "The turn.", "schema": TEXT}, **_RETRY},
    }
    return described


def kip(summary: str, fails: tuple[int, ...]) -> dict[str, Any]:
    """Keyword arguments of a route that executes KIP: it fails as KIP does, or as the other routes do."""
    described = route(summary, body="KipCall", gives="KipResponse", fails=fails)
    for code in (400, 403, 404, 408, 409, 500):
        schema = {"anyOf": [ref("KipResponse"), ref("Error")]}
        described["responses"][code]["content"]["application/json"]["schema"] = schema
    return described


def stream(summary: str) -> dict[str, Any]:
    """Keyword arguments of a route that gives events."""
    described = route(summary, fails=(404,), headers={"Last-Event-ID": "Events behind this one alone."})
    described["responses"][200] = {"description": "Events.", "content": {"text/event-stream": {"schema": ref("Event")}}}
    return described


def download(summary: str) -> dict[str, Any]:
    """Keyword arguments of a route that gives a file."""
    described = route(summary, fails=(404,), headers={"If-None-Match": "The ETag of what the caller has."})
    described["responses"][200] = {"description": "The file.", "content": {"*/*": {"schema": {}}}}
    described["responses"][304] = {"description": "The caller has it."}
    return described


def _given(name: str, status: int) -> Schema:
    answer: Schema = {"description": "Done.", "content": {"application/json": {"schema": ref(name)}}}
    if status == 201:
        answer["headers"] = {"Location": {"description": "What was made.", "schema": TEXT}}
    return answer


def _empty() -> Schema:
    return {"description": "Done; there is no body."}


def _failure(code: int) -> Schema:
    answer: Schema = {"description": "An error.", "content": {"application/json": {"schema": ref("Error")}}}
    if code in (429, 503):
        answer["headers"] = _RETRY
    return answer


def _body(name: str) -> Schema:
    if name == "Upload":
        file = {
            "type": "object",
            "properties": {"file": {"type": "string", "format": "binary"}},
            "required": ["file"],
        }
        return {"required": True, "content": {"multipart/form-data": {"schema": file}}}
    return {"required": name != "Curate", "content": {"application/json": {"schema": ref(name)}}}


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The derived document with our schemas: components, exact parameters, and no failure that cannot occur."""
    document.setdefault("components", {})["schemas"] = COMPONENTS
    for path in document["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            for parameter in operation.get("parameters", ()):
                _complete_parameter(parameter, operation["responses"])
    return document


def _complete_parameter(parameter: dict[str, Any], responses: dict[str, Any]) -> None:
    if parameter["in"] == "path":
        parameter["schema"] = {"type": "string", "minLength": 1}
        return
    schema = parameter["schema"]
    if _EXACT in schema:
        parameter["schema"] = schema[_EXACT]
