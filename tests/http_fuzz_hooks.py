"""For the fuzzing of HTTP (see test_http_fuzz.py): every second made-up request is about things that exist."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import schemathesis

KNOWN = json.loads(os.environ.get("TRIVIUM_FUZZ_KNOWN", "{}"))
"""Ids in the server: slug, turn, session, task, source, chunk."""
_number = itertools.count()


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    if not path_parameters or next(_number) % 2 or context.operation is None:
        return path_parameters
    path, method = context.operation.path, context.operation.method.upper()
    if method in ("DELETE", "PUT") and "/tasks/" not in path:
        return path_parameters
    kind = next((name for name in ("task", "session") if f"/{name}s/" in path), "turn")
    below = {"source/list": "", "knowledge/list": "documents/", "knowledge/read": f"chunks/{KNOWN['chunk']}"}
    there = next((text for part, text in below.items() if part in path), KNOWN["source"])
    found = {"slug": KNOWN["slug"], "id": KNOWN[kind], "path": there}
    return {name: found.get(name, value) or value for name, value in path_parameters.items()}


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    if context.operation is None or not isinstance(body, dict) or next(_number) % 4 == 0:
        return body
    if context.operation.path.endswith("/query"):
        bent = {
            name: body.get(name) for name in ("shape", "workflow", "model", "models", "tools", "vars") if name in body
        }
        kept = {name: value for name, value in body.items() if name not in bent}
        return kept | {"scope": [KNOWN["slug"]], "session_id": None, "previous_query_id": None}
    return body
