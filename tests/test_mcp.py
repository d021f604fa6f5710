"""The MCP server as a client sees it: a child process spoken to over standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

import trivium
from tests.cli_support import run
from trivium.doors.mcp_server import ARGUMENTS, make_server

pytestmark = pytest.mark.usefixtures("own_home")

PROGRAM = ["-c", "from trivium.doors.cli import main; main()"]
WRITE = 'UPSERT { CONCEPT { {type: "Domain", name: "Tea"} } }'
READ = 'FIND(?d.name) WHERE { ?d {type: "Domain", name: "Tea"} }'


def talk(scene: Callable[[Client], Awaitable[None]], *arguments: str, mode: str = "auto") -> None:
    """Play a scene against a server in a child process."""

    async def play() -> None:
        server = StdioServerParameters(command=sys.executable, args=[*PROGRAM, "mcp", "--db", "test.db", *arguments])
        async with Client(server, mode=mode, read_timeout_seconds=30) as client:
            await scene(client)

    asyncio.run(play())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_tools_read_and_write_over_stdio(mode: str) -> None:
    async def scene(client: Client) -> None:
        assert client.server_info.name == "kip-mcp-server"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["execute_kip", "execute_kip_readonly"]
        hints = {
            name: (tool.annotations.read_only_hint, tool.annotations.idempotent_hint) for name, tool in tools.items()
        }
        assert hints == {"execute_kip": (False, False), "execute_kip_readonly": (True, True)}
        written = await client.call_tool("execute_kip", {"command": WRITE})
        assert not written.is_error
        assert written.structured_content["result"]["blocks"] == 1
        read = await client.call_tool("execute_kip_readonly", {"command": READ})
        assert read.structured_content == {"result": ["Tea"]}
        assert json.loads(read.content[0].text) == {"result": ["Tea"]}

    talk(scene, mode=mode)
    assert run("kip", READ).json() == {"result": ["Tea"]}


def test_kip_faults_are_tool_errors_that_the_model_can_mend() -> None:
    async def scene(client: Client) -> None:
        for name, arguments in [
            ("execute_kip_readonly", {"command": WRITE}),
            ("execute_kip", {"command": "FIND(?x"}),
            ("execute_kip", {}),
            ("execute_kip", {"command": READ, "commands": [READ]}),
            ("execute_kip", {"command": READ, "dryrun": True}),
        ]:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert result.structured_content["error"]["hint"]
        nulls = {"command": READ, "commands": None, "parameters": None, "dry_run": None}
        assert (await client.call_tool("execute_kip", nulls)).structured_content == {"result": []}
        with pytest.raises(MCPError, match="There is no tool"):
            await client.call_tool("forget_everything", {})

    talk(scene)


def test_guide_and_prompt_teach_the_memory() -> None:
    guide = (Path(trivium.__file__).parent / "docs" / "kip-guide.md").read_text(encoding="utf-8")

    async def scene(client: Client) -> None:
        resources = (await client.list_resources()).resources
        assert [(str(item.uri), item.mime_type) for item in resources] == [
            ("kip://docs/Instructions.md", "text/markdown")
        ]
        read = await client.read_resource("kip://docs/Instructions.md")
        assert read.contents[0].text == guide
        with pytest.raises(MCPError, match="There is no resource"):
            await client.read_resource("kip://docs/Other.md")
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["kip_bootstrap"]
        prompt = await client.get_prompt("kip_bootstrap")
        assert [message.role for message in prompt.messages] == ["user", "assistant"]
        assert prompt.messages[0].content.text == guide
        with pytest.raises(MCPError, match="There is no prompt"):
            await client.get_prompt("other")

    talk(scene)


def test_a_readonly_server_has_no_tool_that_writes() -> None:
    async def scene(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["execute_kip_readonly"]
        with pytest.raises(MCPError, match="There is no tool"):
            await client.call_tool("execute_kip", {"command": WRITE})

    talk(scene, "--readonly")


def test_the_schema_is_flat_for_clients_that_refuse_alternatives_at_the_top() -> None:
    assert not {"oneOf", "anyOf", "allOf"} & set(ARGUMENTS)
    assert ARGUMENTS["additionalProperties"] is False


def test_the_loop_answers_while_a_command_executes() -> None:
    release = asyncio.Event()

    class Slow:
        def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
            if request["command"] == "slow":
                asyncio.run_coroutine_threadsafe(release.wait(), loop).result(20)
            return {"result": request["command"]}

    async def play() -> None:
        nonlocal loop
        loop = asyncio.get_running_loop()
        async with Client(make_server(Slow())) as client:
            slow = asyncio.create_task(client.call_tool("execute_kip", {"command": "slow"}))
            fast = await asyncio.wait_for(client.call_tool("execute_kip", {"command": "fast"}), 10)
            assert fast.structured_content == {"result": "fast"}
            assert not slow.done()
            release.set()
            assert (await slow).structured_content == {"result": "slow"}

    loop: asyncio.AbstractEventLoop
    asyncio.run(play())


def test_parallel_calls_lose_nothing() -> None:
    async def scene(client: Client) -> None:
        write = 'UPSERT { CONCEPT { {type: "Domain", name: :name} } }'
        calls = [
            client.call_tool("execute_kip", {"command": write, "parameters": {"name": f"n{i}"}}) for i in range(30)
        ]
        for result in await asyncio.gather(*calls):
            assert not result.is_error
        count = 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} FILTER(STARTS_WITH(?d.name, "n")) }'
        assert (await client.call_tool("execute_kip", {"command": count})).structured_content == {"result": 30}

    talk(scene)


def test_standard_output_carries_the_protocol_alone_and_the_server_ends_with_its_input() -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    done = subprocess.run(
        [sys.executable, *PROGRAM, "mcp"],
        input=json.dumps(hello) + "\nnot json\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert messages[0]["result"]["serverInfo"]["name"] == "kip-mcp-server"
    assert all(message["jsonrpc"] == "2.0" for message in messages)


def test_a_missing_extra_is_one_sentence_with_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.doors.cli_mcp.find_spec", lambda name: None)
    outcome = run("mcp")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "needs the extra 'mcp'" in outcome.err
    assert "pip install 'trivium[mcp]'" in outcome.err


def test_a_database_that_cannot_be_opened_ends_the_server_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("these are notes, and no database of any kind\n" * 50)
    outcome = run("mcp", "--db", "notes.db")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "hint: " in outcome.err
