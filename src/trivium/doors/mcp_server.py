"""The MCP server: tools of KIP, `why` and KnowQL, the agent's guide as a resource and a prompt (KIP §6.1).

The engine runs in worker threads, so the protocol loop stays responsive while a command executes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Protocol

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from trivium.doors.mcp_ask import AskTools
from trivium.doors.mcp_why import WhyTools
from trivium.doors.mcp_wire import serve, standard_streams
from trivium.errors import KipError, NotFoundError
from trivium.knowql.hints import MCP, worded

SERVER_NAME = "kip-mcp-server"
GUIDE_URI = "kip://docs/Instructions.md"
PROMPT = "kip_bootstrap"

INSTRUCTIONS = (
    "A graph memory spoken to in KIP 1.0. Begin with execute_kip_readonly and the command DESCRIBE PRIMER; read the "
    f"resource {GUIDE_URI} for the language. On an error, follow its hint and try again. Commands act on the context "
    "of the server, or on the one that the argument `context` names. For questions over documents use query_context "
    "(an answer with citations) or retrieve (the passages alone)."
)
WAITING = 100
"""Answers that are waited for at once; they take no thread from other calls."""
ACKNOWLEDGEMENT = (
    "Understood. I will ground names with SEARCH before I write, keep facts with their source and confidence, and "
    "follow the hint of an error. I begin with DESCRIBE PRIMER."
)

# Without the `oneOf` that asks for exactly one of command and commands: several clients refuse it at the top level of
# a schema. The engine checks it.
ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {
            "type": "string",
            "description": "One KIP command text. Give exactly one of command and commands.",
        },
        "commands": {
            "type": "array",
            "description": "KIP commands executed in order; a write that fails ends the batch.",
            "items": {
                "oneOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "properties": {"command": {"type": "string"}, "parameters": {"type": "object"}},
                        "required": ["command"],
                        "additionalProperties": False,
                    },
                ]
            },
        },
        "parameters": {
            "type": "object",
            "description": 'Values for placeholders: {"name": "Fever"} fills :name. Safe for any text.',
        },
        "dry_run": {
            "type": "boolean",
            "default": False,
            "description": "Check everything and write nothing.",
        },
        "context": {
            "type": "string",
            "description": "The slug of the context to act on; by default the one of this server.",
        },
    },
    "additionalProperties": False,
}

WRITE_TOOL = types.Tool(
    name="execute_kip",
    title="Execute KIP",
    description=(
        "Read or change the memory with KIP commands: FIND, SEARCH, DESCRIBE and EXPORT read; UPSERT, UPDATE, MERGE "
        "and DELETE write. Prefer execute_kip_readonly when you only read."
    ),
    input_schema=ARGUMENTS,
    annotations=types.ToolAnnotations(read_only_hint=False, idempotent_hint=False, open_world_hint=False),
)
READ_TOOL = types.Tool(
    name="execute_kip_readonly",
    title="Execute KIP (read-only)",
    description="Read the memory with KIP commands: FIND, SEARCH, DESCRIBE and EXPORT. Writing commands are refused.",
    input_schema=ARGUMENTS,
    annotations=types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
)


class Executor(Protocol):
    """What the server needs of a knowledge base or a context."""

    def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
        """Execute one KIP request (§6); thread-safe."""
        ...


Contexts = Callable[[object], Executor]
"""Finds the context of a slug. Raises: NotFoundError."""


def make_server(
    context: Executor | None,
    *,
    readonly: bool = False,
    why: WhyTools | None = None,
    ask: AskTools | None = None,
    contexts: Contexts | None = None,
) -> Server[Any]:
    """An MCP server over one context; `readonly` leaves out the tool that writes.

    With `why` it also has the tools of a repository's index, with `ask` those of KnowQL; without a context it has
    these alone. `contexts` finds the contexts that calls name.
    """
    kip = [] if context is None else [READ_TOOL] if readonly else [WRITE_TOOL, READ_TOOL]
    tools = {tool.name: tool for tool in kip}
    waiting = anyio.CapacityLimiter(WAITING)

    def offered() -> list[types.Tool]:
        return [*kip, *(why.tools() if why is not None else ()), *(ask.tools() if ask is not None else ())]

    async def list_tools(
        _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await anyio.to_thread.run_sync(offered))

    async def call_tool(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        if why is not None and params.name in why:
            return await anyio.to_thread.run_sync(why.call, params.name, params.arguments)
        if ask is not None and params.name in ask:
            return await anyio.to_thread.run_sync(ask.call, params.name, params.arguments, limiter=waiting)
        if context is None or params.name not in tools:
            names = ", ".join(tool.name for tool in await anyio.to_thread.run_sync(offered))
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name!r}; there is {names}.")
        # Models fill in null for what they do not use.
        request = {name: value for name, value in (params.arguments or {}).items() if value is not None}
        execute = partial(_execute, context, contexts, request, readonly=params.name == READ_TOOL.name)
        return tool_result(await anyio.to_thread.run_sync(execute))

    about = None if why is None else why.instructions
    if context is None:
        return Server(
            SERVER_NAME,
            version=version("trivium"),
            title="Trivium",
            instructions=about,
            on_list_tools=list_tools,
            on_call_tool=call_tool,
        )
    return Server(
        SERVER_NAME,
        version=version("trivium"),
        title="Trivium",
        instructions=" ".join(filter(None, (INSTRUCTIONS, about))),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=_list_resources,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )


def _execute(
    context: Executor, contexts: Contexts | None, request: dict[str, Any], *, readonly: bool
) -> dict[str, Any]:
    """The response of the context that the request names, else of the server's own."""
    slug = request.pop("context", None)
    if slug is not None:
        try:
            if contexts is None:
                raise NotFoundError("This server has one context only.", "Leave out `context`.")
            context = contexts(slug)
        except NotFoundError as error:
            return {"error": KipError("KIP_3002", error.message, worded(error.hint, MCP) or "").to_dict()}
    return context.execute_kip(request, readonly=readonly)


def tool_result(response: dict[str, Any]) -> types.CallToolResult:
    """A KIP response as JSON text and as structured content; a KIP error is a tool error, for the model to mend."""
    text = types.TextContent(type="text", text=json.dumps(response, ensure_ascii=False))
    return types.CallToolResult(content=[text], structured_content=response, is_error="error" in response)


def guide() -> str:
    """The text that tells an agent how to use the memory."""
    return (files("trivium") / "docs" / "kip-guide.md").read_text(encoding="utf-8")


async def _list_resources(
    _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    resource = types.Resource(
        uri=GUIDE_URI,
        name="Instructions.md",
        title="How to use KIP memory",
        description="The language with examples, and habits that keep a memory useful.",
        mime_type="text/markdown",
    )
    return types.ListResourcesResult(resources=[resource])


async def _read_resource(
    _: ServerRequestContext[Any], params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    if str(params.uri) != GUIDE_URI:
        raise MCPError(types.INVALID_PARAMS, f"There is no resource {params.uri}; there is {GUIDE_URI}.")
    contents = types.TextResourceContents(uri=GUIDE_URI, mime_type="text/markdown", text=guide())
    return types.ReadResourceResult(contents=[contents])


async def _list_prompts(
    _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    prompt = types.Prompt(name=PROMPT, title="Use KIP memory", description="Teach the model the memory and its use.")
    return types.ListPromptsResult(prompts=[prompt])


async def _get_prompt(_: ServerRequestContext[Any], params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != PROMPT:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name!r}; there is {PROMPT}.")
    texts: list[tuple[types.Role, str]] = [("user", guide()), ("assistant", ACKNOWLEDGEMENT)]
    messages = [
        types.PromptMessage(role=role, content=types.TextContent(type="text", text=text)) for role, text in texts
    ]
    return types.GetPromptResult(description="How to use KIP memory", messages=messages)


def serve_stdio(
    context: Executor | None,
    *,
    readonly: bool = False,
    why: WhyTools | None = None,
    ask: AskTools | None = None,
    contexts: Contexts | None = None,
) -> None:
    """Serve on standard input and output until the input ends and all of it is answered.

    Only the protocol is written to standard output.
    """
    server = make_server(context, readonly=readonly, why=why, ask=ask, contexts=contexts)
    with standard_streams() as (source, sink):
        anyio.run(serve, server, source, sink)
