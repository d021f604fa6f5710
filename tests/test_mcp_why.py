"""The knowledge tools as a client sees them: the library's answers, from an index that is fresh at every call."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
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
        assert names[:3] == ["execute_kip", "execute_kip_readonly", "knowledge.concept"]
        assert [name for name in names if name.startswith("knowledge")] == ["knowledge.concept"]
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


def test_plain_names_are_listed_and_both_spellings_answered(repository: GitRepository) -> None:
    assert run("index").code == 0

    async def scene(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools)[2:5] == ["knowledge_decision", "knowledge_concept", "knowledge_whyChanged"]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in tools)
        assert "knowledge_decision" in client.instructions
        assert "knowledge." not in client.instructions + "".join(tool.description for tool in tools.values())
        answers = [
            await client.call_tool(name, {"target": "Cache"}) for name in ("knowledge_concept", "knowledge.concept")
        ]
        assert answers[0].content[0].text == answers[1].content[0].text
        assert not answers[0].is_error

    talk(scene, "--plain-names")


def test_both_kinds_of_tools_reach_the_same_context(repository: GitRepository, own_home: Path) -> None:
    assert run("index").code == 0
    other = GitRepository(own_home / "harbour")
    other.write("docs/adr/0001-tides.md", "# Read the tides\n\nStatus: accepted\n")
    assert run("index", other.root).code == 0
    titles = 'FIND(?d.attributes.title) WHERE { ?d {type: "Decision"} FILTER(?d.attributes.status == "accepted") }'

    async def scene(client: Client) -> None:
        about = f'The repository {repository.root} is the context "shop"'
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert about in client.instructions
        assert about in tools["knowledge.decision"].description
        for name in ("execute_kip", "execute_kip_readonly"):
            found = await client.call_tool(name, {"command": titles, "context": "shop"})
            assert found.structured_content == {"result": ["Evict the least recently used"]}
            assert (await client.call_tool(name, {"command": titles, "context": None})).is_error  # no such type
            unknown = await client.call_tool(name, {"command": titles, "context": "shed"})
            assert unknown.is_error
            error = unknown.structured_content["error"]
            assert (error["code"], error["message"]) == ("KIP_3002", "There is no context 'shed'.")
            assert "default, harbour, shop" in error["hint"]
            assert (await client.call_tool(name, {"command": titles, "context": 5})).is_error
        for slug, title in (("shop", "Evict the least recently used"), ("harbour", "Read the tides")):
            answer = await client.call_tool("knowledge.decision", {"target": title, "context": slug})
            assert title in [entity["name"] for entity in json.loads(answer.content[0].text)["entities"]]
        unknown = await client.call_tool("knowledge.decision", {"target": "Cache", "context": "shed"})
        assert unknown.is_error
        assert "There is no context 'shed'. There is: default, harbour, shop." in unknown.content[0].text
        empty = await client.call_tool("knowledge.decision", {"target": "Cache", "context": "default"})
        assert "The context 'default' holds no index of a repository." in empty.content[0].text

    talk(scene)


def test_the_restricted_profile_stays_with_its_own_context(repository: GitRepository) -> None:
    assert run("index").code == 0

    async def scene(client: Client) -> None:
        assert "context" not in (await client.list_tools()).tools[0].input_schema["properties"]
        refused = await client.call_tool("knowledge.decision", {"target": "Cache", "context": "shop"})
        assert "context is unknown" in refused.content[0].text

    talk(scene, "--profile", "service")


@pytest.mark.parametrize("options", ["none", "all", "asked"])
def test_the_hint_run_literally_makes_the_tool_answer(
    repository: GitRepository, own_home: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    (own_home / "my settings.toml").write_text('[safety]\nexclude = ["docs/guide.md"]\n')
    database = "../my memory.db"
    assert run("context", "create", "notes", "--db", database).code == 0
    arguments = ["--db", database, "--root", "docs"]
    if options == "all":
        arguments += ["--config", "../my settings.toml", "--context", "notes"]
    question = {"target": "Cache"} | ({"context": "notes"} if options == "asked" else {})

    async def scene(client: Client) -> None:
        for _ in range(2):  # without an index, then with a stale one
            failed = await client.call_tool("knowledge.decision", question)
            assert failed.is_error
            hint = failed.content[0].text.partition("Build it with: ")[2]
            words = shlex.split(hint)
            assert words[0] == "trivium"
            monkeypatch.chdir(own_home)  # it can be run in any folder
            assert run(*words[1:]).code == 0, hint
            monkeypatch.chdir(repository.root)
            answer = await client.call_tool("knowledge.decision", question)
            assert not answer.is_error
            assert json.loads(answer.content[0].text)["entities"]
            repository.write("docs/more.md", "`Cache`\n")

    talk(scene, *arguments)


def test_another_folder_is_asked_about_with_root(repository: GitRepository, own_home: Path) -> None:
    assert run("index").code == 0
    os.chdir(own_home)

    async def scene(client: Client) -> None:
        answer = await client.call_tool("knowledge.decision", {"target": "src/cache.ts"})
        assert json.loads(answer.content[0].text)["entities"]

    talk(scene, "--root", str(repository.root / "docs"))
    assert run("mcp", "--root", "nowhere").code == 2


def test_paths_through_a_link_and_whole_numbers_with_a_point_are_understood(
    repository: GitRepository, own_home: Path
) -> None:
    assert run("index").code == 0
    (own_home / "link").symlink_to(repository.root, target_is_directory=True)

    async def scene(client: Client) -> None:
        target = str(own_home / "link/src/cache.ts")
        answer = await client.call_tool("knowledge.decision", {"target": target, "limit": 5.0})
        assert [entity["status"] for entity in json.loads(answer.content[0].text)["entities"]] == ["accepted"]

    talk(scene)


def test_a_memory_in_no_file_has_no_index_to_build(repository: GitRepository) -> None:
    async def scene(client: Client) -> None:
        failed = await client.call_tool("knowledge.decision", {"target": "Cache"})
        assert "is in no file, so it has no index. Use --db FILE." in failed.content[0].text

    talk(scene, "--db", ":memory:")


def test_a_server_on_a_terminal_says_what_it_waits_for(own_home: Path) -> None:
    master, slave = os.openpty()
    with subprocess.Popen(
        [sys.executable, *PROGRAM, "mcp"], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        os.close(slave)
        assert server.stdout is not None
        assert server.stderr is not None
        assert server.stderr.readline().startswith(b"Waiting for an MCP client on standard input; Ctrl-D ends.")
        os.write(master, b"\x04")
        assert server.wait(20) == 0
        assert (server.stdout.read(), server.stderr.read()) == (b"", b"")
    os.close(master)
