"""The calls that an agent loop may make while it composes: all of them only read, all inside the pinned scope.

What they give is data. A document cannot widen them: context names are checked against the scope, and what is found is
noted in `Handed`, so that only passages that came out of here can be cited.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from trivium.answers.composer import Tool, ToolError, ToolResult
from trivium.errors import TriviumError, bounded
from trivium.knowql.citations import Handed
from trivium.knowql.parts import Parts
from trivium.knowql.reading import read_artifact, read_lines
from trivium.knowql.recorded import recorded
from trivium.search.facts import fact
from trivium.search.passage import Evidence, Passage
from trivium.search.retrieval import ScopedContext
from trivium.store import contexts

NAMES = ("search_chunks", "search_artifacts", "read_document", "read_artifact", "execute_kip_readonly", "why")
"""The tools of this deployment, as the field `tools` names them."""
MOST_FACTS = 10
"""Concepts of a KIP result that can be cited, with what the graph knows of them."""
LONGEST_RESULT = 20_000
"""Characters of one result."""
MOST_LINES = 400
LAST_LINE = 2**31 - 1


def build(parts: Parts, scope: Sequence[ScopedContext], handed: Handed, names: Sequence[str]) -> list[Tool]:
    """The tools of these names, all of them when none is named."""
    room = _Room(parts, scope, handed)
    tools = [
        _tool(
            "search_chunks",
            "Search the documents for passages. Ask again in other words when the first search misses.",
            "search",
            room.search_chunks,
            {"query": _text("What to look for."), "limit": _whole("How many, at most 50.", 50)},
            ["query"],
            room,
        ),
        _tool(
            "search_artifacts",
            "Search the artifacts: summaries, entities, glossaries and the like that were made from the documents.",
            "search",
            room.search_artifacts,
            {"query": _text("What to look for."), "limit": _whole("How many, at most 50.", 50)},
            ["query"],
            room,
        ),
        _tool(
            "read_document",
            f"Read lines of a document, at most {MOST_LINES} at once.",
            "read",
            room.read_document,
            {
                "source": _text("Path of the document, as a passage names it."),
                "first_line": _whole("First line, from 1."),
                "last_line": _whole("Last line."),
            },
            ["source"],
            room,
        ),
        _tool(
            "read_artifact",
            "Read an artifact by its name or id.",
            "read",
            room.read_artifact,
            {"name": _text("Name or id of the artifact.")},
            ["name"],
            room,
        ),
        _tool(
            "execute_kip_readonly",
            'Query the knowledge graph with KIP, such as: FIND(?d.name) WHERE { ?d {type: "Decision"} } LIMIT 20.'
            " DESCRIBE PRIMER tells what there is.",
            "graph",
            room.execute_kip,
            {"command": _text("One KIP command that reads: FIND, DESCRIBE, SEARCH or EXPORT.")},
            ["command"],
            room,
        ),
        _tool(
            "why",
            "Which decisions, concepts and changes are recorded about a path, symbol or name of an indexed repository,"
            " with the lines that say so.",
            "graph",
            room.why,
            {
                "target": _text("A path, a symbol or a name."),
                "kind": {"type": "string", "enum": ["decision", "concept", "change"], "description": "Only this kind."},
            },
            ["target"],
            room,
        ),
    ]
    return [tool for tool in tools if not names or tool.name in names]


class _Room:
    """What the tools of one turn share."""

    def __init__(self, parts: Parts, scope: Sequence[ScopedContext], handed: Handed) -> None:
        self._parts = parts
        self.scope = scope
        self._handed = handed

    def search_chunks(self, arguments: dict[str, Any]) -> ToolResult:
        return self._search("chunks", arguments)

    def search_artifacts(self, arguments: dict[str, Any]) -> ToolResult:
        return self._search("artifacts", arguments)

    def _search(self, kind: str, arguments: dict[str, Any]) -> ToolResult:
        chosen = self._chosen(arguments)
        limit = min(int(arguments.get("limit") or 10), 50)
        found: Evidence = self._parts.retrieve(chosen, str(arguments["query"]), kind=kind, limit=limit)
        return self._result(
            {"hits": len(found.passages), "passages": [_shown(passage) for passage in found.passages]}, found.passages
        )

    def read_document(self, arguments: dict[str, Any]) -> ToolResult:
        source = str(arguments["source"])
        first = max(1, int(arguments.get("first_line") or 1))
        last = min(int(arguments.get("last_line") or first + MOST_LINES - 1), first + MOST_LINES - 1)
        for context in self._chosen(arguments):
            with self._parts.store.read() as session:
                found = read_lines(session, context, source, first, last)
            if found is not None:
                value = {
                    "context": context.slug,
                    "source": found.path,
                    "first_line": first,
                    "last_line": min(last, found.lines),
                    "lines": found.lines,
                    "text": bounded(found.text, LONGEST_RESULT),
                    "passages": [_named(passage) for passage in found.passages],
                }
                return self._result(value, found.passages)
        raise ToolError(f"There is no document {bounded(source, 200)!r}; search_chunks names the sources there are.")

    def read_artifact(self, arguments: dict[str, Any]) -> ToolResult:
        name = str(arguments["name"])
        for context in self._chosen(arguments):
            with self._parts.store.read() as session:
                found = read_artifact(session, context, name)
            if found is not None:
                return self._result(_shown(found), [found])
        raise ToolError(f"There is no artifact {bounded(name, 200)!r}; search_artifacts names those there are.")

    def execute_kip(self, arguments: dict[str, Any]) -> ToolResult:
        context = self._one(arguments)
        response = self._parts.execute_kip(self._uuid(context), {"command": str(arguments["command"])})
        if "error" in response:
            error = response["error"]
            raise ToolError(bounded(f"{error['code']}: {error['message']} {error['hint']}", 2_000))
        self._handed.told |= _holds_anything(response["result"])
        with self._parts.store.read() as session:
            told = [fact(session, context.ctx, context.slug, id_) for id_ in concept_ids(response, MOST_FACTS)]
        return self._result(response, [passage for passage in told if passage is not None])

    def why(self, arguments: dict[str, Any]) -> ToolResult:
        context = self._one(arguments)
        options = {"target": str(arguments["target"]), "kind": arguments.get("kind")}
        try:
            answer = self._parts.why(self._uuid(context), options)
        except TriviumError as error:
            raise ToolError(bounded(error.message, 2_000)) from error
        self._handed.told |= bool(answer["entities"])
        with self._parts.store.read() as session:
            found = recorded(session, context, self.scope, answer)
        return self._result(answer, found)

    def _chosen(self, arguments: dict[str, Any]) -> Sequence[ScopedContext]:
        name = arguments.get("context")
        if name is None:
            return self.scope
        chosen = [context for context in self.scope if context.slug == name]
        if not chosen:
            slugs = ", ".join(context.slug for context in self.scope)
            raise ToolError(f"{bounded(str(name), 80)!r} is not in the scope of this session, which is: {slugs}.")
        return chosen

    def _uuid(self, context: ScopedContext) -> str:
        """What a context is called whatever becomes of its slug, which another one may have got meanwhile."""
        with self._parts.store.read() as session:
            row = contexts.get(session, context.ctx)
        if row is None:
            raise ToolError(f"The context {context.slug} has been deleted.")
        return row.uuid

    def _one(self, arguments: dict[str, Any]) -> ScopedContext:
        chosen = self._chosen(arguments)
        if len(chosen) > 1:
            raise ToolError(f"Name one context: {', '.join(context.slug for context in chosen)}.")
        return chosen[0]

    def _result(self, value: Any, passages: Sequence[Passage] = ()) -> ToolResult:
        self._handed.add(passages)
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > LONGEST_RESULT:
            value = {"cut": f"{len(text):,} characters; ask for less", "beginning": text[: LONGEST_RESULT // 2]}
        return ToolResult(value, list(passages))


def concept_ids(value: Any, most: int) -> list[str]:
    """The ids of the concept nodes in a KIP result, in its order.

    >>> concept_ids({"result": [{"id": "C:7", "type": "City", "name": "Bern"}, ["C:8"]]}, 5)
    ['C:7']
    """
    found: dict[str, None] = {}
    stack = [value]
    while stack and len(found) < most:
        item = stack.pop()
        if isinstance(item, dict):
            if isinstance(item.get("id"), str) and item["id"].startswith("C:"):
                found.setdefault(item["id"])
            stack += reversed(item.values())
        elif isinstance(item, list):
            stack += reversed(item)
    return list(found)


def _tool(
    name: str,
    description: str,
    category: str,
    run: Callable[[dict[str, Any]], ToolResult],
    properties: dict[str, Any],
    required: list[str],
    room: _Room,
) -> Tool:
    slugs = [context.slug for context in room.scope]
    if len(slugs) > 1:
        properties = {**properties, "context": {"type": "string", "enum": slugs, "description": "Which context."}}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Tool(name, description, parameters, category, run)


def _holds_anything(result: Any) -> bool:
    """Whether a KIP result holds a value anywhere."""
    if isinstance(result, dict):
        return any(map(_holds_anything, result.values()))
    if isinstance(result, list):
        return any(map(_holds_anything, result))
    return result is not None


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


def _whole(description: str, most: int = LAST_LINE) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "description": description, "maximum": most}


def _named(passage: Passage) -> dict[str, Any]:
    """How a passage is named to a model; its numbers in the prompt are the composer's."""
    place = {"source": passage.source, "section": passage.section_path, "pages": passage.pages}
    name = {"artifact": passage.name, "type": passage.type}
    return {"id": passage.id, "context": passage.context, **(name if passage.name else place)}


def _shown(passage: Passage) -> dict[str, Any]:
    return {**_named(passage), "score": round(passage.score, 3), "text": passage.text}
