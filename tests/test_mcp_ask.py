"""The tools of KnowQL in the MCP server, in memory and over standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import trivium
from tests.http_server import scripted
from tests.knowql_doors import prepare
from tests.knowql_runner import load_setup
from trivium.doors.mcp_ask import TOOLS, AskTools
from trivium.doors.mcp_server import make_server

Scene = Callable[[Client], Awaitable[None]]


@pytest.fixture
def kb() -> Iterator[trivium.KnowledgeBase]:
    with scripted() as kb:
        prepare(kb, load_setup("contracts"))
        yield kb


def play(kb: trivium.KnowledgeBase, scene: Scene, *, readonly: bool = False, slug: str | None = "contracts") -> None:
    """A scene against a server in memory, whose calls ask the context `slug` unless they say otherwise."""

    async def run() -> None:
        async with Client(make_server(kb, readonly=readonly, ask=AskTools(kb, slug))) as client:
            await scene(client)

    asyncio.run(run())


def text_of(result: Any) -> Any:
    return json.loads(result.content[0].text)


def test_contexts_are_listed_with_whether_they_can_be_asked(kb: trivium.KnowledgeBase) -> None:
    async def scene(client: Client) -> None:
        result = await client.call_tool("list_contexts", {})
        found = {item["slug"]: item for item in result.structured_content["contexts"]}
        assert found["contracts"]["queryable"]
        assert not found["drafts"]["queryable"]
        assert found["contracts"].keys() == {"slug", "name", "description", "kind", "queryable", "stale"}
        assert text_of(result) == result.structured_content

    play(kb, scene)


def test_an_answer_has_its_sources_and_can_be_fetched_and_continued(kb: trivium.KnowledgeBase) -> None:
    async def scene(client: Client) -> None:
        result = await client.call_tool("query_context", {"ask": "Globex termination notice"})
        document, told = result.structured_content, text_of(result)
        assert not result.is_error
        assert document["status"] == "completed"
        assert told["answer"] == document["output"][0]["content"][0]["text"]
        assert told["citations"][0] == {
            "n": 1,
            "context": "contracts",
            "source": "globex.md",
            "lines": document["citations"][0]["lines"],
            "section_path": document["citations"][0]["section_path"],
            "grounding": document["citations"][0]["grounding"],
        }
        assert told.keys() == {"status", "answer", "citations", "id", "session_id"}
        fetched = await client.call_tool("get_query", {"id": told["id"]})
        assert fetched.structured_content == document
        further = await client.call_tool("query_context", {"ask": "And Acme?", "session_id": told["session_id"]})
        assert further.structured_content["previous_query_id"] == told["id"]

    play(kb, scene)


def test_a_turn_that_outlasts_the_wait_is_fetched_later(kb: trivium.KnowledgeBase) -> None:
    async def scene(client: Client) -> None:
        started = time.monotonic()
        result = await client.call_tool("query_context", {"ask": "terms", "wait_seconds": 0})
        assert time.monotonic() - started < 5
        told = text_of(result)
        assert told["status"] in ("in_progress", "completed")
        while told["status"] == "in_progress":
            told = text_of(await client.call_tool("get_query", {"id": told["id"]}))
        assert told["status"] == "completed"

    play(kb, scene)


def test_a_shape_gives_structured_output(kb: trivium.KnowledgeBase) -> None:
    first = kb.ask("terms", scope=["contracts"], vars={"script": {"json": {"days": 30}, "text": "", "stream": False}})

    async def scene(client: Client) -> None:
        shape = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
        arguments = {"ask": "terms", "session_id": first["session_id"], "shape": shape}
        result = await client.call_tool("query_context", arguments)
        assert text_of(result)["output_json"] == {"days": 30}
        shape["properties"]["days"] = {"type": "string"}
        result = await client.call_tool("query_context", arguments)
        assert result.is_error
        assert text_of(result)["error"].startswith("output did not conform to shape")

    play(kb, scene)


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"ask": "payment terms"}, {"chunks", "artifacts"}),
        ({"ask": "payment terms", "kind": "chunks", "max_retrieved": 1}, {"chunks"}),
        ({"ask": "payment terms", "kind": "artifacts"}, set()),
        ({"ask": "payment terms", "scope": "policies"}, {"chunks"}),
        ({"ask": "payment terms", "scope": ["contracts", "policies"], "max_retrieved_chars": 10}, {"chunks"}),
        ({"ask": "payment terms", "pointers_only": True}, {"chunks"}),
    ],
)
def test_passages_are_found_and_no_session_is_left(
    kb: trivium.KnowledgeBase, arguments: dict[str, Any], kept: set[str]
) -> None:
    async def scene(client: Client) -> None:
        result = await client.call_tool("retrieve", arguments)
        found = result.structured_content
        assert not result.is_error
        assert found["answered_by"] == "retrieval"
        assert text_of(result) == found
        assert {kind for kind in ("chunks", "artifacts") if found[kind]} <= kept
        for chunk in found["chunks"]:
            assert len(chunk["lines"]) == 2
            assert ("text" in chunk) is not arguments.get("pointers_only", False)
            assert len(chunk.get("text", "")) <= arguments.get("max_retrieved_chars", 10_000)

    play(kb, scene)
    assert kb.turns.sessions()["sessions"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("query_context", {"ask": ""}, "ask_required"),
        ("query_context", {"ask": "x", "scope": ["nope"]}, "context_not_found"),
        ("query_context", {"ask": "x", "scope": ["drafts"]}, "context_not_queryable"),
        ("query_context", {"ask": "x", "session_id": "ses_x"}, "session_not_found"),
        ("query_context", {"ask": "x", "wait_seconds": -1}, "invalid_value"),
        ("query_context", {"ask": "x", "wait_seconds": True}, "invalid_value"),
        ("query_context", {"ask": "x", "where": {}}, "invalid_value"),
        ("query_context", {"ask": "x", "shape": {"type": "nonsense"}}, "invalid_shape"),
        ("query_context", {"ask": "x", "model": "nobody/none"}, "unknown_model"),
        ("get_query", {"id": "qry_x"}, "query_not_found"),
        ("get_query", {}, "invalid_value"),
        ("retrieve", {"ask": "x", "kind": "all"}, "invalid_value"),
        ("retrieve", {"ask": "x", "max_retrieved": 0}, "invalid_value"),
        ("retrieve", {}, "ask_required"),
        ("list_contexts", {"all": True}, "invalid_value"),
    ],
)
def test_what_is_refused_is_an_error_that_the_model_can_mend(
    kb: trivium.KnowledgeBase, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    async def scene(client: Client) -> None:
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        error = text_of(result)["error"]
        assert error["reason"] == reason
        assert error["message"]

    play(kb, scene)


def test_nulls_that_models_fill_in_are_as_good_as_absent(kb: trivium.KnowledgeBase) -> None:
    async def scene(client: Client) -> None:
        nulls = dict.fromkeys(("scope", "session_id", "shape", "model", "wait_seconds"))
        assert not (await client.call_tool("query_context", {"ask": "terms", **nulls})).is_error

    play(kb, scene)


def test_a_readonly_server_asks_and_says_that_nothing_changes(kb: trivium.KnowledgeBase) -> None:
    async def scene(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*tools] == ["execute_kip_readonly", *TOOLS]
        assert all(tool.annotations.read_only_hint for tool in tools.values())
        assert not (await client.call_tool("query_context", {"ask": "terms"})).is_error

    play(kb, scene, readonly=True)


def test_other_calls_are_answered_while_an_answer_is_waited_for(kb: trivium.KnowledgeBase) -> None:
    slow = kb.ask("x", scope=["contracts"], vars={"script": {"sleep": 1.0}})

    async def scene(client: Client) -> None:
        waiting = asyncio.create_task(
            client.call_tool("query_context", {"ask": "terms", "session_id": slow["session_id"]})
        )
        await asyncio.sleep(0.1)
        read = await client.call_tool("execute_kip_readonly", {"command": "DESCRIBE PRIMER"})
        assert not read.is_error
        assert not waiting.done()
        assert text_of(await waiting)["status"] == "completed"

    play(kb, scene)


@pytest.mark.usefixtures("own_home")
def test_the_tools_work_over_stdio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
    with trivium.open("test.db") as kb:
        context = kb.create_context("notes")
        context.add_bytes("tea.md", b"# Tea\n\nThe steeping temperature of green tea is 70 degrees.\n")
        context.curate()

    async def run() -> None:
        program = ["-c", "from trivium.doors.cli import main; main()"]
        arguments = [*program, "mcp", "--db", "test.db", "--context", "notes"]
        environment = {"TRIVIUM_EMBEDDER": "none"}
        server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        async with Client(server, read_timeout_seconds=60) as client:
            answer = text_of(
                await client.call_tool("query_context", {"ask": "What is the steeping temperature of green tea?"})
            )
            assert answer["status"] == "completed"
            assert "70 degrees" in answer["answer"]
            assert answer["citations"][0]["lines"] == [3, 3]
            found = text_of(await client.call_tool("retrieve", {"ask": "green tea", "scope": ["notes"]}))
            assert found["chunks"][0]["source"] == "tea.md"

    asyncio.run(run())
