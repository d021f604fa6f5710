"""Long and branching sessions, and what changes under a turn while its model is slow."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.knowql_models import ScriptedModels
from tests.openai_server import OpenAIServer, calls, text
from trivium.knowql.errors import QueryError
from trivium.models.catalogue import Catalogue
from trivium.settings import Settings
from trivium.store import turns
from trivium.store.sqlite import Session

SAYS = "Invoices of Acme are payable net 30 days from receipt"
ASK = "When are invoices of Acme payable?"
LOST = "a source that the answer cites has changed while it was written; ask again"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(str(tmp_path / "x.db"), embedder="none") as kb:
        kb.models = ScriptedModels()
        add(kb, "contracts")
        yield kb


def add(kb: trivium.KnowledgeBase, slug: str, says: str = SAYS) -> None:
    context = kb.create_context(slug)
    context.add_bytes("acme.md", f"# Acme\n\n{says}.\n".encode())
    context.curate()


def asks_told(kb: trivium.KnowledgeBase) -> list[str]:
    """The earlier asks that the latest task was given."""
    return [message.content for message in kb.models.composer.tasks[-1].history if message.role == "user"]


# --- branches -------------------------------------------------------------------------------------


def test_each_of_fifty_branches_of_branches_is_told_its_own_ancestors(kb: trivium.KnowledgeBase) -> None:
    last = first = kb.context("contracts").ask("Acme 0?")
    for number in range(1, 51):
        kb.ask(f"Acme side {number}?", previous_query_id=last["id"])
        assert asks_told(kb) == [f"Acme {before}?" for before in range(number)]
        last = kb.ask(f"Acme {number}?", previous_query_id=last["id"])
    assert asks_told(kb) == [f"Acme {before}?" for before in range(50)]
    queries = kb.turns.session(first["session_id"])["queries"]
    assert len(queries) == 101
    assert [query["id"] for query in queries] == sorted(query["id"] for query in queries)
    newest = kb.ask("Acme again?", session_id=first["session_id"])
    assert newest["previous_query_id"] == last["id"]


@pytest.mark.parametrize("how", ["failed", "cancelled"])
def test_a_turn_that_came_to_nothing_can_be_branched_from_and_is_not_told(kb: trivium.KnowledgeBase, how: str) -> None:
    script = {"broken?": {"error": "no"}, "slow?": {"hang": True}}
    first = kb.context("contracts").ask("Acme?", vars={"script": script})
    ask = "broken?" if how == "failed" else "slow?"
    accepted = kb.turns.submit({"ask": ask, "session_id": first["session_id"], "background": True})
    if how == "cancelled":
        kb.turns.cancel(accepted.query_id)
    ended = kb.turns.wait(accepted.query_id, 20)
    assert ended["status"] == how
    for _ in range(2):
        branch = kb.ask("And now?", previous_query_id=ended["id"])
        assert (branch["status"], branch["previous_query_id"]) == ("completed", ended["id"])
        assert asks_told(kb) == ["Acme?"]


def test_no_branch_begins_while_another_turn_of_the_session_runs(kb: trivium.KnowledgeBase) -> None:
    first = kb.context("contracts").ask("Acme?", vars={"script": {"slow?": {"hang": True}}})
    running = kb.turns.submit({"ask": "slow?", "session_id": first["session_id"], "background": True}).query_id
    for previous in (first["id"], running):
        with pytest.raises(QueryError) as caught:
            kb.ask("other?", previous_query_id=previous)
        assert caught.value.reason == "query_in_progress"
    kb.turns.cancel(running)


# --- what a turn reads of its session -------------------------------------------------------------


def lengthened(kb: trivium.KnowledgeBase, first: dict[str, Any], number: int, status: str = "completed") -> str:
    """Turns like the first one behind it, as many as asked for; the id of the last one."""
    copied = (
        "INSERT INTO query(workspace, id, session, number, previous, status, created_ms, deadline_ms, finished_ms,"
        " request, result) SELECT workspace, ?1, session, ?2, ?3, ?4, created_ms, deadline_ms, finished_ms, request,"
        " result FROM query WHERE id = ?5"
    )
    last: str = first["id"]
    with kb._store.write() as session:
        for place in range(2, number + 2):
            id_ = f"qry_{place:026}"
            session.execute(copied, (id_, place, last, status, first["id"]))
            last = id_
        session.execute("UPDATE session SET last_query = ? WHERE id = ?", (last, first["session_id"]))
    return last


def read_of(kb: trivium.KnowledgeBase, last: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bool, int]:
    """How many turns a turn behind `last` is told, whether there are older ones, and the rows that were read."""
    rows = 0
    whole = Session.row

    def counted(self: Session, sql: str, bindings: Any = ()) -> Any:
        nonlocal rows
        rows += 1
        return whole(self, sql, bindings)

    with kb._store.read() as session, monkeypatch.context() as patch:
        patch.setattr(Session, "row", counted)
        past, is_cut = turns.past_turns(session, "default", last)
    return len(past), is_cut, rows


def test_what_a_turn_reads_of_its_session_is_bounded(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kb.context("contracts").ask("Acme?")
    most = turns.MOST_REPLAYED
    assert read_of(kb, first["id"], monkeypatch) == (1, False, 2)
    last = lengthened(kb, first, most - 1)
    assert read_of(kb, last, monkeypatch) == (most, False, 2 * most)
    with kb._store.write() as session:
        session.execute("DELETE FROM query WHERE number > 1")
    last = lengthened(kb, first, 3 * most)
    told, is_cut, rows = read_of(kb, last, monkeypatch)
    assert (told, is_cut) == (most, True)
    assert rows <= 2 * most + 2
    kb.ask("And then?", session_id=first["session_id"])
    task = kb.models.composer.tasks[-1]
    assert (len(task.history), task.history_is_cut) == (2 * most, True)


def test_large_results_are_not_all_read_again(kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    first = kb.context("contracts").ask("Acme?")
    last = lengthened(kb, first, 9)
    with kb._store.write() as session:
        session.execute("UPDATE query SET result = json_set(result, '$.text', ?)", ("x" * (turns.MOST_READ // 4),))
    assert read_of(kb, last, monkeypatch)[:2] == (3, True)
    with kb._store.write() as session:
        session.execute("UPDATE query SET result = json_set(result, '$.text', ?)", ("x" * (turns.MOST_READ * 2),))
    assert read_of(kb, last, monkeypatch)[:2] == (1, True)


def test_the_whole_session_can_be_read_page_by_page(kb: trivium.KnowledgeBase) -> None:
    first = kb.context("contracts").ask("Acme?")
    lengthened(kb, first, 120)
    numbers: list[str] = []
    cursor = None
    while True:
        page = kb.turns.session_queries(first["session_id"], limit=50, cursor=cursor)
        numbers += [query["id"] for query in page["queries"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(numbers) == len(set(numbers)) == 121


def test_a_long_run_of_failures_is_walked_over_and_no_further_than_it_may(kb: trivium.KnowledgeBase) -> None:
    first = kb.context("contracts").ask("Acme?")
    kb.ask("And then?", previous_query_id=lengthened(kb, first, 200, "failed"))
    assert asks_told(kb) == ["Acme?"]
    with kb._store.write() as session:
        session.execute("DELETE FROM query WHERE number > 1")
    kb.ask("And then?", previous_query_id=lengthened(kb, first, turns.LONGEST_CHAIN, "failed"))
    task = kb.models.composer.tasks[-1]
    assert (list(task.history), task.history_is_cut) == ([], True)


# --- what changes while a model is slow -----------------------------------------------------------


def while_it_composes(kb: trivium.KnowledgeBase, slug: str, change: Callable[[], Any], *tools: Any) -> dict[str, Any]:
    """A turn over a context that changes once its model has been asked; then the model calls the tools, and answers."""
    done: list[bool] = []

    def step(body: dict[str, Any]) -> dict[str, Any]:
        if not done:
            done.append(True)
            change()
            if tools:
                return calls(*tools)
        return text(f"{SAYS} [1].")

    with OpenAIServer([step]) as server:
        kb.models = Catalogue.from_settings(Settings(llm_base_url=server.base_url, llm_models="test-model"))
        return kb.context(slug).ask(ASK)


CALLS = (
    ("search_chunks", {"query": "acme invoices"}),
    ("read_document", {"source": "acme.md"}),
    ("execute_kip_readonly", {"command": 'FIND(?d.name) WHERE { ?d {type: "Domain"} }'}),
    ("why", {"target": "acme.md"}),
)


@pytest.mark.parametrize("tools", [(), CALLS], ids=["no tools", "tools"])
def test_a_context_that_is_deleted_while_a_model_writes_is_not_cited(
    kb: trivium.KnowledgeBase, tools: tuple[Any, ...]
) -> None:
    document = while_it_composes(kb, "contracts", lambda: kb.delete_context("contracts"), *tools)
    assert (document["status"], document["error"], document["citations"]) == ("failed", LOST, [])
    called = [call for step in document["steps"][1:] for call in step["tool_calls"]]
    assert len(called) == len(tools)
    assert not any(call["ok"] and call["result"]["passages"] for call in called)
    with pytest.raises(QueryError) as caught:
        kb.ask("And then?", session_id=document["session_id"])
    assert caught.value.reason == "scope_unavailable"


def test_a_source_that_says_something_else_by_then_is_not_cited(kb: trivium.KnowledgeBase) -> None:
    context = kb.context("contracts")

    def change() -> None:
        context.add_bytes("acme.md", b"# Acme\n\nInvoices of Acme are payable at once.\n")
        context.curate()

    document = while_it_composes(kb, "contracts", change)
    assert (document["status"], document["error"]) == ("failed", LOST)


@pytest.mark.parametrize("how", ["add", "rename", "guide"])
def test_a_source_that_still_says_so_is_cited(kb: trivium.KnowledgeBase, how: str) -> None:
    context = kb.context("contracts")

    def change() -> None:
        if how == "add":
            context.add_bytes("other.md", b"# Other\n\nGlobex pays at once.\n")
            context.curate()
        else:
            context.update(**({"slug": "agreements"} if how == "rename" else {"guide": "Be brief."}))

    document = while_it_composes(kb, "contracts", change)
    assert document["status"] == "completed"
    assert [one["grounding"] for one in document["citations"]] == [f"{SAYS}."]


def test_a_context_that_takes_over_a_slug_is_not_read_instead(kb: trivium.KnowledgeBase) -> None:
    def change() -> None:
        kb.context("contracts").update(slug="agreements")
        add(kb, "contracts", "The vault of Acme opens at noon")
        kb.context("contracts").execute_kip({"command": 'UPSERT { CONCEPT { {type: "Domain", name: "Vault"} } }'})

    find = ("execute_kip_readonly", {"command": 'FIND(?d) WHERE { ?d {type: "Domain", name: "Vault"} }'})
    document = while_it_composes(kb, "contracts", change, find)
    assert document["status"] == "completed"
    (call,) = [call for step in document["steps"] for call in step["tool_calls"] if call["fn"] == find[0]]
    assert (call["ok"], call["result"]["passages"]) == (True, 0)


# --- an endpoint that dies ------------------------------------------------------------------------

ENDPOINT = """
import sys, time
import tests.openai_server as endpoint
whole = endpoint.ThreadingHTTPServer
endpoint.ThreadingHTTPServer = lambda address, handler: whole(("127.0.0.1", int(sys.argv[1])), handler)
server = endpoint.OpenAIServer([eval(sys.argv[2], vars(endpoint))]).__enter__()
print(server.base_url, flush=True)
time.sleep(600)
"""


@contextmanager
def endpoint(step: str, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """An endpoint in a process of its own, which is killed at the end."""
    command = [sys.executable, "-c", ENDPOINT, str(port), step]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("shown", [False, True], ids=["nothing shown", "something shown"])
def test_an_endpoint_that_is_killed_within_its_answer_and_comes_back(kb: trivium.KnowledgeBase, shown: bool) -> None:
    step = f"text({SAYS + ' [1]. '!r} * 200, delay=0.02)" if shown else "hang(60, after='Inv')"
    with endpoint(step) as (process, url):
        kb.models = Catalogue.from_settings(Settings(llm_base_url=url, llm_models="test-model"))
        query = kb.turns.submit({"ask": ASK, "scope": ["contracts"], "background": True}).query_id
        wanted = "response.output_text.delta" if shown else "response.step"
        events = kb.turns.events(query)
        assert any(event[1] == wanted and event[2].get("step_id") != "retrieval" for event in events if event)
        time.sleep(0.3)
        process.kill()
        process.wait()
    with endpoint(f"text({SAYS + ' [1].'!r})", int(url.split(":")[2].split("/")[0])):
        document = kb.turns.wait(query, 30)
        if shown:
            assert (document["status"], document["error"]) == ("failed", "the model's answer broke off")
        else:
            assert document["status"] == "completed"
        again = kb.turns.wait(kb.turns.submit({"ask": ASK, "session_id": document["session_id"]}).query_id, 30)
        assert again["status"] == "completed"
