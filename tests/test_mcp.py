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
from trivium.doors.mcp_wire import Refused, parse

pytestmark = pytest.mark.usefixtures("own_home")

PROGRAM = ["-c", "from trivium.doors.cli import main; main()"]
KNOWLEDGE = ["knowledge.decision", "knowledge.concept", "knowledge.whyChanged"]
ASK = ["list_contexts", "query_context", "get_query", "retrieve"]
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
        assert sorted(tools) == sorted(["execute_kip", "execute_kip_readonly", *KNOWLEDGE, *ASK])
        hints = {
            name: (tool.annotations.read_only_hint, tool.annotations.idempotent_hint) for name, tool in tools.items()
        }
        assert hints.pop("execute_kip") == (False, False)
        assert hints.pop("query_context") == (True, False)
        assert set(hints.values()) == {(True, True)}
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
        assert [tool.name for tool in (await client.list_tools()).tools] == ["execute_kip_readonly", *KNOWLEDGE, *ASK]
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
    messages = {message["id"]: message for message in map(json.loads, done.stdout.splitlines())}
    assert messages[1]["result"]["serverInfo"]["name"] == "kip-mcp-server"
    assert messages[None]["error"]["code"] == -32700
    assert all(message["jsonrpc"] == "2.0" for message in messages.values())


def exchange(*lines: str | bytes) -> dict[Any, list[dict[str, Any]]]:
    """The answers to lines sent at once to a server whose input then ends, by their ids."""
    data = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in (HELLO, *lines))
    done = subprocess.run(
        [sys.executable, *PROGRAM, "mcp", "--db", "test.db"], input=data, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answers: dict[Any, list[dict[str, Any]]] = {}
    for answer in map(json.loads, done.stdout.splitlines()):
        answers.setdefault(answer["id"], []).append(answer)
    return answers


HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": "hello",
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
)


def call(number: int, name: str) -> str:
    """A call that writes; `name` is JSON text."""
    write = 'UPSERT { CONCEPT { {type: "Domain", name: :name} } }'
    arguments = f'{{"command": {json.dumps(write)}, "parameters": {{"name": {name}}}}}'
    params = f'{{"name": "execute_kip", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "method": "tools/call", "params": {params}, "id": {number}}}'


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (call(7, "[" * 3_000 + "]" * 3_000), 7, -32600),
        (call(7, "1" * 5_000), 7, -32600),
        (call(7, "NaN"), 7, -32700),
        (call(7, '{"a": 1, "a": 2}'), 7, -32600),
        (call(7, '"x"').replace('"params"', '"method": "ping", "params"'), 7, -32600),
        (call(7, '"x"')[:-10] + ', "id": 8', 8, -32700),
        (call(7, '"caf\xe9"').encode("latin-1"), 7, -32700),
        ("{bad json", None, -32700),
        ("Content-Length: 46", None, -32700),
        ("[]", None, -32600),
        ("null", None, -32600),
        ('"text"', None, -32600),
        ('{"id":10}', 10, -32600),
        ('{"jsonrpc": "2.0", "id": "ten", "method": 5}', "ten", -32600),
        ('{"jsonrpc": "2.0", "id": 10, "method": "ping", "params": [1]}', 10, -32600),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
    ],
)
def test_a_line_that_is_no_request_is_answered_with_an_error(line: str | bytes, number: Any, code: int) -> None:
    with pytest.raises(Refused) as caught:
        parse(line if isinstance(line, bytes) else line.encode())
    answer = caught.value.answer
    assert (answer.id, answer.error.code) == (number, code)
    assert answer.error.message.endswith(".")


def test_bad_lines_between_good_ones_cost_nothing_but_themselves() -> None:
    answers = exchange(
        "{bad json", call(1, '"a"'), "[]", "", '{"id":10}', call(2, "[" * 3_000 + "]" * 3_000), "null", call(3, '"b"')
    )
    assert {number: len(found) for number, found in answers.items()} == {"hello": 1, None: 3, 1: 1, 10: 1, 2: 1, 3: 1}
    assert {number: "result" in found[0] for number, found in answers.items()} == {
        "hello": True,
        None: False,
        1: True,
        10: False,
        2: False,
        3: True,
    }


def test_half_an_emoji_is_an_error_that_the_model_can_mend() -> None:
    answers = exchange(
        call(1, '"half \\ud83d"'), call(2, '"whole \\ud83d\\ude00"'), call(3, '"x"').replace("UPSERT", "\\udc00")
    )
    for number in (1, 3):
        result = answers[number][0]["result"]
        assert result["isError"]
        assert "surrogate" in result["structuredContent"]["error"]["message"]
        assert result["structuredContent"]["error"]["hint"]
    assert not answers[2][0]["result"]["isError"]


def test_what_was_received_is_answered_before_the_server_leaves() -> None:
    answers = exchange(
        *(call(number, f'"n{number}"') for number in range(50)), '{"jsonrpc": "2.0", "id": 99, "method": "ping"}'
    )
    assert all(answers[number][0]["result"]["structuredContent"]["result"] for number in range(50))
    assert answers[99][0]["result"] == {}
    count = 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} FILTER(STARTS_WITH(?d.name, "n")) }'
    assert run("kip", count).json() == {"result": 50}


def test_a_cancelled_call_does_not_keep_the_server_from_leaving() -> None:
    cancel = '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}'
    answers = exchange(call(1, '"a"'), cancel, call(2, '"b"'))
    assert len(answers[2]) == 1


def test_a_reader_that_is_gone_ends_the_server() -> None:
    with subprocess.Popen(
        [sys.executable, *PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        server.stdin.write(HELLO.encode() + b"\n")
        server.stdin.flush()
        assert server.wait(20) == 1  # its input is still open
        assert server.stderr.read() == b""


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
