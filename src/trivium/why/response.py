"""The answer as JSON: key order, closed JSON Schema with its bounds, and a check against it (reference 8)."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from typing import Any

import msgspec

from trivium.errors import TriviumError
from trivium.why.model import (
    MAX_ALIASES,
    MAX_EVIDENCE,
    MAX_ID,
    MAX_LINKS,
    MAX_METADATA,
    MAX_NAME,
    MAX_PATH,
    Response,
)

MAX_TARGET = 512
MAX_GUIDANCE = 512
MAX_RESULTS = 100
MAX_BUDGET = 1_000_000
MAX_COVERAGE = 32
SCHEMA_FILE = "knowledge-why.schema.json"

KEY_ORDER = (
    "type",
    "schemaVersion",
    "source",
    "target",
    "enabled",
    "guidance",
    "entities",
    "documents",
    "memoryRelations",
    "coverage",
    "truncated",
    "budget",
)


class WhyResponseError(TriviumError):
    """An answer is not a KnowledgeWhyResponseV1."""


def to_dict(response: Response) -> dict[str, Any]:
    """The answer as plain objects, keys in the order of the contract's table; absent members are left out."""
    built: dict[str, Any] = msgspec.to_builtins(response)
    return {key: built[key] for key in KEY_ORDER if key in built}


def to_json(answer: dict[str, Any]) -> str:
    """The pretty-printed JSON text of an answer, the same through every door; without a final line ending.

    Control characters are escaped, so that a repository's texts cannot steer a terminal.
    """
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    return re.sub("[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text)


def validate(answer: Any) -> None:
    """Raise `WhyResponseError`, naming the place, unless this is an answer of the contract (reference 8)."""
    from trivium.why.json_schema import first_fault

    fault = first_fault(answer, _schema())
    if fault is not None:
        raise WhyResponseError(
            f"Not a knowledge-why answer: {fault}", f"Compare it with {SCHEMA_FILE}, which lists every member."
        )


def response_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of an answer: all objects closed, all bounds of reference 3, 5 to 9 included."""
    return copy.deepcopy(_schema())


def schema_text() -> str:
    """The text of the shipped schema file."""
    return json.dumps(_schema(), ensure_ascii=False, indent=2) + "\n"


# --- bounds ---------------------------------------------------------------------------------------


def _text(most: int, least: int = 1) -> dict[str, Any]:
    return {"minLength": least, "maxLength": most}


def _list(most: int, least: int = 0, **items: Any) -> dict[str, Any]:
    bounds: dict[str, Any] = {"minItems": least, "maxItems": most} if least else {"maxItems": most}
    return {**bounds, "items": items} if items else bounds


_HASH = {"pattern": "^[0-9a-f]{64}$"}
_PATH = {**_text(MAX_PATH), "pattern": r"^(?!/)(?!(.*/)?\.\.(/|$))[^\\\u0000]+$"}
_LINE = {"minimum": 1}
_COUNT = {"minimum": 0}

BOUNDS: dict[str, dict[str, dict[str, Any]]] = {
    "Response": {
        "source": {"pattern": "^index:[0-9a-f]{64}$"},
        "target": {**_text(MAX_TARGET), "pattern": r"\S"},
        "guidance": _text(MAX_GUIDANCE),
        "entities": _list(MAX_RESULTS),
        "documents": _list(MAX_RESULTS),
        "memoryRelations": _list(MAX_RESULTS, 1),
        "coverage": _list(MAX_COVERAGE),
    },
    "Entity": {
        "id": _text(MAX_ID),
        "name": _text(MAX_NAME),
        "aliases": _list(MAX_ALIASES, **_text(MAX_NAME)),
        "evidence": _list(MAX_EVIDENCE, 1),
        "links": _list(MAX_LINKS),
        "status": _text(MAX_METADATA),
        "date": _text(MAX_METADATA),
    },
    "DocumentRegion": {"path": _PATH, "lineStart": _LINE, "lineEnd": _LINE, "regionHash": _HASH},
    "CommitEvidence": {"sha": {"pattern": "^[0-9a-f]{40,64}$"}},
    "FactEvidence": {"factId": _text(MAX_ID)},
    "Link": {"target": _text(MAX_PATH), "symbol": _text(MAX_NAME)},
    "Conventional": {"type": _text(MAX_METADATA), "scope": _text(MAX_METADATA)},
    "MemoryRelation": {"candidateId": _text(MAX_PATH), "target": _text(MAX_ID)},
    "MemoryEvidence": {"value": _text(MAX_PATH), "rawPath": _PATH, "factHash": _HASH},
    "Coverage": {
        "analyzer": _text(128),
        "analyzerVersion": _text(64),
        "scope": _text(512),
        "reason": _text(1024, 0),
        "evidence": _list(32),
    },
    "CoverageEvidence": {"path": _PATH, "line": _LINE},
    "DocumentItem": {"id": _text(MAX_ID), "path": _PATH, "contentHash": _HASH, "context": {"minLength": 1}},
    "Budget": {"budgetTokens": {"minimum": 1, "maximum": MAX_BUDGET}},
    "BudgetTokens": {"total": _COUNT, "budget": {"minimum": 1, "maximum": MAX_BUDGET}, "core": _COUNT},
}
"""The bounds of each type's members, added to what the types themselves say."""


@cache
def _schema() -> dict[str, Any]:
    generated = _without_nulls(msgspec.json.schema(Response))
    for name, members in BOUNDS.items():
        properties = generated["$defs"][name]["properties"]
        for member, bounds in members.items():
            _tighten(properties[member], bounds)
    answer = generated["$defs"]["Response"]
    answer["description"] = "An answer of Knowledge query v1, members in the order of the contract."
    answer["properties"] = {key: answer["properties"][key] for key in KEY_ORDER}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "KnowledgeWhyResponseV1",
        **generated,
    }


def _tighten(schema: dict[str, Any], bounds: dict[str, Any]) -> None:
    for keyword, bound in bounds.items():
        if keyword == "items":
            schema["items"].update(bound)
        else:
            schema[keyword] = bound


def _without_nulls(schema: Any) -> Any:
    """The schema with optional members absent rather than null, and without defaults."""
    if isinstance(schema, list):
        return [_without_nulls(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    choices = schema.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        left = [choice for choice in choices if choice != {"type": "null"}]
        if len(left) == 1:
            return _without_nulls(left[0])
        schema = {**schema, "anyOf": left}
    return {key: _without_nulls(value) for key, value in schema.items() if key != "default"}
