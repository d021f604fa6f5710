"""The knowledge tools as a client sees them: the library's answers, from an index that is fresh at every call."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

import trivium
from tests.cli_support import run
from tests.git_repository import GitRepository
from tests.why_examples import FILES
from trivium.why.response import to_json, validate

PROGRAM = ["-c", "from trivium.doors.cli import main; main()"]
KNOWLEDGE = {"knowledge.decision": "decision", "knowledge.concept": "concept", "knowledge.whyChanged": "change"}


@pytest.fixture
def repository(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """The worked example as a repository with one commit; the working folder is in it."""
    made = GitRepository(own_home / "shop")
    for path, text in FILES.items():
        made.write(path, text)
    made.commit("feat: evict by last use")
    monkeypatch.chdir(made.root)
    return made


def talk(scene: Callable[[Client], Awaitable[None]], *arguments: str) -> None:
    """Play a scene against a server in a child process, in the working folder."""

    async def play() -> None:
        server = StdioServerParameters(
            command=sys.executable,
            args=[*PROGRAM, "mcp", *arguments],
            env={name: os.environ[name] for name in ("PATH", "HOME", "TRIVIUM_DB") if name in os.environ},
            cwd=Path.cwd(),
        )
        async with Client(server, read_timeout_seconds=30) as client:
            await scene(client)

    asyncio.run(play())


@pytest.mark.parametrize("name", KNOWLEDGE)
def test_a_tool_answers_as_the_library_does(repository: GitRepository, name: str) -> None:
    assert run("index").code == 0
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        context = kb.repository_context(repository.root)
        expected = context.why("Cache", kind=KNOWLEDGE[name], limit=3, budget_tokens=40)

    async def scene(client: Client) -> None:
        result = await client.call_tool(name, {"target": "Cache", "limit": 3, "budgetTokens": 40})
        assert not result.is_error
        assert [item.text for item in result.content] == [to_json(expected)]
        text = (await client.call_tool(name, {"target": "Cache", "format": "text"})).content[0].text
        assert text.startswith("Why: Cache\n")
        assert text.count(f"\n{KNOWLEDGE[name]}: ") >= 1

    talk(scene)


def test_the_tools_are_read_only_and_their_arguments_closed(repository: GitRepository) -> None:
    async def scene(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name in KNOWLEDGE:
            assert tools[name].annotations.read_only_hint is True
            assert tools[name].input_schema["additionalProperties"] is False
        for arguments, fault in [
            ({}, "target is missing"),
            ({"target": "x", "limit": 0}, "limit must be"),
            ({"target": "x", "kind": "change"}, "kind is unknown"),
            ({"target": "x", "budgetTokens": None}, "budgetTokens must be"),
            ({"target": "x", "format": "xml"}, "format must be"),
        ]:
            result = await client.call_tool("knowledge.decision", arguments)
            assert result.is_error
            assert result.content[0].text.startswith(f"knowledge.decision invalid arguments: {fault}")
        with pytest.raises(MCPError, match=r"There is no tool 'knowledge\.other'"):
            await client.call_tool("knowledge.other", {"target": "x"})

    talk(scene)


def test_each_call_sees_what_changed_since(repository: GitRepository) -> None:
    async def scene(client: Client) -> None:
        async def ask() -> tuple[bool, str]:
            result = await client.call_tool("knowledge.decision", {"target": "Cache"})
            return bool(result.is_error), result.content[0].text

        failed, text = await ask()
        assert failed
        assert "There is no index" in text
        assert f"trivium --db {os.environ['TRIVIUM_DB']} index {repository.root}" in text
        assert run("index").code == 0
        assert [entity["status"] for entity in json.loads((await ask())[1])["entities"]] == ["accepted"]
        repository.write("docs/adr/0002-lru.md", FILES["docs/adr/0002-lru.md"].replace("accepted", "deprecated"))
        failed, text = await ask()
        assert failed
        assert f"Build it with: trivium --db {os.environ['TRIVIUM_DB']} index {repository.root}" in text
        assert run("index").code == 0
        assert [entity["status"] for entity in json.loads((await ask())[1])["entities"]] == ["deprecated"]

    talk(scene)


def test_the_configured_tools_alone_are_offered(repository: GitRepository) -> None:
    repository.write("trivium.toml", '[surfaces.mcp]\ntools = ["knowledge.concept"]\n')
    assert run("index").code == 0

    async def scene(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["execute_kip", "execute_kip_readonly", "knowledge.concept"]
        refused = await client.call_tool("knowledge.decision", {"target": "Cache"})
        assert refused.is_error
        assert refused.content[0].text.startswith("knowledge.decision is not offered here")
        assert not (await client.call_tool("knowledge.concept", {"target": "Cache"})).is_error

    talk(scene)


def test_the_restricted_profile_answers_from_the_stored_index_alone(repository: GitRepository) -> None:
    assert run("index").code == 0
    repository.write("src/cache.ts", "export class Other {}\n")  # the files are not looked at

    async def scene(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(KNOWLEDGE)
        result = await client.call_tool("knowledge.whyChanged", {"target": "src/cache.ts"})
        found = json.loads(result.content[0].text)
        validate(found)
        assert [entity["evidence"][0]["kind"] for entity in found["entities"]] == ["document-region"]
        history = next(record for record in found["coverage"] if record["scope"] == "git:first-parent")
        assert history["status"] == "not-analyzed"
        assert result.meta["serviceProfile"]["coverage"] == found["coverage"]
        with pytest.raises(MCPError, match="There is no tool"):
            await client.call_tool("execute_kip", {"command": "DESCRIBE PRIMER"})

    talk(scene, "--profile", "service")


def test_the_restricted_profile_without_an_index_says_that_nothing_was_analysed(own_home: Path) -> None:
    async def scene(client: Client) -> None:
        result = await client.call_tool("knowledge.decision", {"target": "Cache"})
        assert result.is_error
        assert "not analyzed" in result.content[0].text

    talk(scene, "--profile", "service")


def test_a_named_context_is_asked_wherever_the_server_runs(repository: GitRepository, own_home: Path) -> None:
    assert run("context", "create", "notes").code == 0
    assert run("index", repository.root, "--context", "notes").code == 0
    os.chdir(own_home)

    async def scene(client: Client) -> None:
        result = await client.call_tool("knowledge.decision", {"target": str(repository.root / "src/cache.ts")})
        assert [entity["status"] for entity in json.loads(result.content[0].text)["entities"]] == ["accepted"]

    talk(scene, "--context", "notes")
