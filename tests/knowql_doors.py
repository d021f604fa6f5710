"""Ways to turns for the KnowQL conformance runner: the library. HTTP has its own in the tests of that door."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import trivium
from tests.knowql_models import ScriptedModels
from tests.knowql_runner import Json, Reply
from trivium.knowql.errors import QueryError


class LibraryDoor:
    """`kb.turns` of a knowledge base of its own; what it gives passes through JSON, as on any other door."""

    def __init__(self) -> None:
        self._setups: list[Json] = []
        self._folder = tempfile.TemporaryDirectory(prefix="trivium-knowql-")
        self.models = ScriptedModels()

    def prepare(self, setup: Json) -> None:
        self._setups.append(setup)

    @cached_property
    def kb(self) -> trivium.KnowledgeBase:
        """A copy of the file that was once made with these setups."""
        path = Path(self._folder.name) / "x.db"
        path.write_bytes(_prepared(json.dumps(self._setups)))
        kb = trivium.open(str(path), workers=2, embedder="none")
        kb.models = self.models
        return kb

    def call(self, operation: str, argument: Json, options: Mapping[str, Json]) -> Reply:
        try:
            return self._call(operation, argument, options)
        except QueryError as error:
            return Reply(error.status, _json(error.to_dict()))

    def _call(self, operation: str, argument: Json, options: Mapping[str, Any]) -> Reply:
        turns = self.kb.turns
        if operation == "submit":
            accepted = turns.submit(argument, **options)
            if accepted.delivery == "stream":
                return Reply(200, None, self._frames(accepted.query_id, 0))
            if accepted.delivery == "background":
                return Reply(202, _json(turns.response(accepted.query_id)))
            return Reply(200, _json(turns.wait(accepted.query_id, 30)))
        if operation == "events":
            return Reply(200, None, self._frames(argument, options.get("after", 0)))
        if operation == "feedback":
            turns.feedback(argument[0], argument[1])
            return Reply(204)
        if operation == "delete":
            return Reply(200, {"deleted": turns.delete_session(argument)})
        if operation == "delete_context":
            self.kb.delete_context(argument)
            return Reply(200)
        if operation == "rename":
            query_id, body = argument
            return Reply(200, _json(turns.rename_session(query_id, body if isinstance(body, dict) else [body])))
        if operation in ("sessions", "models"):
            return Reply(200, _json(getattr(turns, operation)(**options)))
        if operation == "session_queries":
            return Reply(200, _json(turns.session_queries(argument, **options)))
        method = {"get": turns.response, "cancel": turns.cancel, "trace": turns.trace, "session": turns.session}
        return Reply(200, _json(method[operation](argument)))

    def _frames(self, query_id: str, after: int) -> list[Json]:
        events = (event for event in self.kb.turns.stream(query_id, after) if event is not None)
        return [{"id": number or None, "event": kind, "data": _json(data)} for number, kind, data in events]

    def close(self) -> None:
        self.models.composer.released.set()
        self.kb.close()
        self._folder.cleanup()


@cache
def _prepared(setups: str) -> bytes:
    """The file of a knowledge base that holds these setups."""
    with tempfile.TemporaryDirectory(prefix="trivium-knowql-") as folder:
        path = Path(folder) / "x.db"
        with trivium.open(str(path), embedder="none") as kb:
            for setup in json.loads(setups):
                prepare(kb, setup)
        return path.read_bytes()


def prepare(kb: trivium.KnowledgeBase, setup: Json) -> None:
    """Create the contexts of a setup: sources are added and, unless it says otherwise, curated."""
    for given in setup["contexts"]:
        fields = {key: value for key, value in given.items() if key not in ("slug", "sources", "curate")}
        context = kb.create_context(given["slug"], **fields)
        for path, text in given.get("sources", {}).items():
            context.add_bytes(path, text.encode())
        if given.get("curate", bool(given.get("sources"))):
            context.curate()


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))
