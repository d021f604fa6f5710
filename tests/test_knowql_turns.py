"""One turn at a time: what composers get, what becomes of what they give, and who may end a turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.knowql_models import ScriptedModels
from trivium.answers.composer import Cited, Composed, Progress, Step, Task, Usage
from trivium.knowql.errors import QueryError
from trivium.search.passage import Passage
from trivium.store import turns as rows

TEXT = "# Acme\n\n## Terms\n\nInvoices are payable net 30 days from receipt.\n\n## Term\n\nIt runs for 24 months.\n"


class Composing(ScriptedModels):
    """The scripted catalogue with a composer that a test writes itself."""

    def __init__(self, compose: Callable[[Task, Progress], Composed]) -> None:
        super().__init__()
        self.composer.compose = compose  # type: ignore[method-assign]


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(str(tmp_path / "x.db"), workers=2, embedder="none") as kb:
        kb.models = ScriptedModels()
        context = kb.create_context(
            "contracts", guide="Name the customer.", manifest={"search": {"instructions": "Be brief."}}
        )
        context.add_bytes("acme.md", TEXT.encode())
        context.curate()
        yield kb
        kb.models.composer.released.set()
        kb.turns.close(0)


def hang(kb: trivium.KnowledgeBase, kind: Any = True, **fields: Any) -> str:
    """Start a background turn that hangs, and wait until it composes."""
    kb.models.composer.begun.clear()
    document = {
        "ask": "Acme terms",
        "scope": ["contracts"],
        "background": True,
        "vars": {"script": {"hang": kind}},
        **fields,
    }
    accepted = kb.turns.submit(document)
    assert kb.models.composer.begun.wait(10)
    return accepted.query_id


def text_of(document: dict[str, Any]) -> str:
    return "".join(part["text"] for item in document["output"] for part in item["content"])


def deltas(kb: trivium.KnowledgeBase, query_id: str) -> list[str]:
    return [event[2]["delta"] for event in kb.turns.events(query_id) if event and event[1].endswith("delta")]


# --- what a composer gets -------------------------------------------------------------------------


def test_a_composer_gets_guides_then_the_system_prompt_and_the_guardrails_apart(kb: trivium.KnowledgeBase) -> None:
    kb.context("contracts").ask("Acme terms?", system_prompt="Answer in French.", guardrails="No names.", vars={"a": 1})
    task = kb.models.composer.tasks[-1]
    assert list(task.instructions) == ["Name the customer.", "Be brief.", "Answer in French."]
    assert (task.guardrails, task.vars, task.thinking_level, task.max_steps) == ("No names.", {"a": 1}, "low", 8)
    assert [passage.source for passage in task.evidence.passages][:1] == ["acme.md"]


def test_the_tools_of_a_turn_are_those_pinned(kb: trivium.KnowledgeBase) -> None:
    from trivium.knowql.tools import NAMES

    kb.context("contracts").ask("Acme terms?")
    assert [tool.name for tool in kb.models.composer.tasks[-1].tools] == list(NAMES)
    kb.context("contracts").ask("Acme terms?", tools=["why", "search_chunks"])
    assert [tool.name for tool in kb.models.composer.tasks[-1].tools] == ["search_chunks", "why"]
    kb.context("contracts").ask("Acme terms?", workflow="search_rag")
    assert list(kb.models.composer.tasks[-1].tools) == []


def test_history_is_the_branch_of_completed_turns(kb: trivium.KnowledgeBase) -> None:
    context = kb.context("contracts")
    script = {"Acme first?": {"text": "One [1]."}, "fails?": {"error": "no"}, "shaped?": {"text": "", "json": {"n": 1}}}
    first = context.ask("Acme first?", vars={"script": script})
    context.ask("Acme terms", session_id=first["session_id"], retrieval_only=True)
    context.ask("fails?", session_id=first["session_id"])
    shaped = context.ask("shaped?", session_id=first["session_id"], shape={"type": "object"})
    context.ask("other branch?", previous_query_id=first["id"])
    context.ask("last?", previous_query_id=shaped["id"])
    history = [(message.role, message.content) for message in kb.models.composer.tasks[-1].history]
    assert history == [
        ("user", "Acme first?"),
        ("assistant", "One [1]."),
        ("user", "Acme terms"),
        ("assistant", "(Showed what retrieval found: 2 chunks and 0 artifacts.)"),
        ("user", "shaped?"),
        ("assistant", '{"n":1}'),
    ]
    context.ask("branch again?", previous_query_id=first["id"])
    assert [message.content for message in kb.models.composer.tasks[-1].history] == ["Acme first?", "One [1]."]


def test_earlier_asks_are_searched_for_at_lower_weight(kb: trivium.KnowledgeBase) -> None:
    context = kb.context("contracts")
    context.add_bytes("globex.md", b"# Globex\n\n## Terms\n\nInvoices are paid after 45 days.\n\n## Seat\n\nIn Bern.\n")
    context.curate()
    first = context.ask("When are invoices of Acme payable?", retrieval_only=True)
    follow_up = context.ask("and for Globex?", session_id=first["session_id"], retrieval_only=True)
    found = follow_up["output_json"]
    meant = "When are invoices of Globex payable?"
    assert found["retrieval"]["query_variants"] == ["and for Globex?", meant, "When are invoices of Acme payable?"]
    assert {chunk["source"] for chunk in found["chunks"]} == {"acme.md", "globex.md"}
    assert found["chunks"][0]["source"] == "globex.md"
    other = context.ask("Globex seat in Bern", session_id=first["session_id"], retrieval_only=True)
    assert "Bern" in other["output_json"]["chunks"][0]["text"]
    assert [chunk["rank"] for chunk in other["output_json"]["chunks"]] == list(
        range(1, len(other["output_json"]["chunks"]) + 1)
    )


def test_a_continuing_turn_reads_the_scope_after_a_rename(kb: trivium.KnowledgeBase) -> None:
    first = kb.context("contracts").ask("Acme terms", retrieval_only=True)
    kb.context("contracts").update(slug="agreements")
    again = kb.ask("Acme terms", session_id=first["session_id"], retrieval_only=True)
    assert again["output_json"]["chunks"][0]["context"] == "agreements"
    assert kb.turns.session(first["session_id"])["scope"] == ["contracts"]


# --- what becomes of an answer --------------------------------------------------------------------


def passage(task: Task) -> Passage:
    return task.evidence.passages[0]


def composed(kb: trivium.KnowledgeBase, compose: Callable[[Task, Progress], Composed], **fields: Any) -> dict[str, Any]:
    kb.turns.close(0)
    kb._turns = None
    kb.models = Composing(compose)
    return kb.context("contracts").ask("Acme payment terms", **fields)


def test_only_what_was_handed_out_can_be_cited(kb: trivium.KnowledgeBase) -> None:
    """A passage that a composer makes up is dropped, although its words are stored somewhere."""
    other = kb.create_context("secrets")
    other.add_bytes("keys.md", b"# Keys\n\nThe vault opens at noon.\n")
    other.curate()
    stolen = kb.context("secrets").ask("keys vault", retrieval_only=True)["output_json"]["chunks"][0]

    def compose(task: Task, progress: Progress) -> Composed:
        forged = Passage(stolen["id"], "chunk", "contracts", 99, "keys.md", stolen["text"], 1.0)
        return Composed(
            "At noon [1], net 30 [2].", [Cited(forged, "opens at noon"), Cited(passage(task), "net 30 days")]
        )

    document = composed(kb, compose)
    assert text_of(document) == "At noon, net 30 [1]."
    assert [item["grounding"] for item in document["citations"]] == ["net 30 days"]
    assert [warning["code"] for warning in document["warnings"]] == ["citation_dropped"]


def test_a_citation_is_told_as_it_was_handed_out(kb: trivium.KnowledgeBase) -> None:
    """Place and context of a citation come from the store, not from the composer."""

    def compose(task: Task, progress: Progress) -> Composed:
        found = passage(task)
        forged = Passage(found.id, found.kind, "elsewhere", found.ctx, "other.md", found.text, 9.0, pages=[7])
        return Composed("Net 30 [1].", [Cited(forged, "net 30 days")])

    citation = composed(kb, compose)["citations"][0]
    assert (citation["context"], citation["source"], citation["pages"]) == ("contracts", "acme.md", [])


def test_a_source_that_changes_before_its_citation_is_told_loses_it(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        kb.context("contracts").delete_source("acme.md")
        return Composed("Net 30 [1].", [Cited(passage(task), "net 30 days")])

    document = composed(kb, compose)
    assert (text_of(document), document["citations"]) == ("Net 30.", [])
    assert "citation_dropped" in [warning["code"] for warning in document["warnings"]]


def test_a_source_that_changes_after_its_citation_was_told_fails_the_turn(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        progress.delta("Net 30 [1].")
        time.sleep(0.2)
        kb.context("contracts").delete_source("acme.md")
        return Composed("Net 30 [1].", [Cited(passage(task), "net 30 days")])

    document = composed(kb, compose)
    assert (document["status"], document["output"], document["citations"]) == ("failed", [], [])
    assert "has changed while it was written" in document["error"]


def test_prose_that_is_not_what_was_streamed_fails_the_turn(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        progress.delta("Net 60.")
        time.sleep(0.2)
        return Composed("Net 30.")

    assert composed(kb, compose)["status"] == "failed"


def test_an_entry_that_prose_does_not_mark_is_left_out(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        both = [Cited(passage(task), "Acme"), Cited(passage(task), "net 30 days")]
        return Composed("Net 30 [2].", both)

    document = composed(kb, compose)
    assert text_of(document) == "Net 30 [1]."
    assert [item["grounding"] for item in document["citations"]] == ["net 30 days"]
    assert document["warnings"] == []


@pytest.mark.parametrize("value", [{"a": float("nan")}, {1, 2}, "\ud800"])
def test_a_structured_value_that_is_no_json_fails_the_turn(kb: trivium.KnowledgeBase, value: Any) -> None:
    document = composed(kb, lambda task, progress: Composed("x", output_json=value), shape={})
    assert (document["status"], document["output_json"]) == ("failed", None)


def test_halves_of_characters_are_joined_or_replaced(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        for piece in ("a\ud83d", "\ude00b", "\udc00c", "d\ud83d"):
            progress.delta(piece)
            time.sleep(0.08)
        return Composed("a\ud83d\ude00b\udc00cd\ud83d", usage=Usage(1, 1))

    document = composed(kb, compose)
    assert text_of(document) == "a\U0001f600b\ufffdcd\ufffd"
    assert "".join(deltas(kb, document["id"])) == text_of(document)


def test_pieces_are_gathered_for_a_moment_and_then_told(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        for number in range(100):
            progress.delta(f"{number} ")
            time.sleep(0.002)
        progress.delta("end")
        time.sleep(0.3)
        return Composed("".join(f"{number} " for number in range(100)) + "end")

    document = composed(kb, compose)
    told = deltas(kb, document["id"])
    assert "".join(told) == text_of(document)
    assert 3 <= len(told) <= 12


def test_a_piece_is_told_although_no_other_follows(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        progress.delta("Net")
        time.sleep(1.0)
        return Composed("Net 30.")

    kb.turns.close(0)
    kb._turns = None
    kb.models = Composing(compose)
    accepted = kb.turns.submit({"ask": "Acme terms", "scope": ["contracts"], "stream": True})
    begun = time.monotonic()
    first = next(e for e in kb.turns.events(accepted.query_id) if e and e[1].endswith("delta"))
    assert (first[2]["delta"], time.monotonic() - begun < 0.7) == ("Net", True)
    assert text_of(kb.turns.wait(accepted.query_id)) == "Net 30."


def test_steps_are_told_as_summaries(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        call = {
            "fn": "x",
            "category": "read",
            "args": {"q": "y" * 5_000},
            "result": {"rows": list(range(500)), "hits": 3},
        }
        progress.step(Step("s1", "completed", "z\n" * 2_000, tool_calls=[call], input_tokens=7))
        return Composed("x")

    document = composed(kb, compose)
    step = document["steps"][1]
    assert len(str(step)) < 2_000
    assert document["rollup"]["total_hits"] == 3 + document["steps"][0]["tool_calls"][0]["result"]["hits"]
    assert document["rollup"]["by_category"] == {"read": 1, "search": 1}


# --- who ends a turn ------------------------------------------------------------------------------


def test_a_deaf_composer_keeps_no_slot_and_its_late_result_is_dropped(kb: trivium.KnowledgeBase) -> None:
    ids = [hang(kb, "deaf", timeout_seconds=1) for _ in range(2)]
    with pytest.raises(QueryError, match="busy"):
        kb.context("contracts").ask("Acme terms", retrieval_only=True)
    documents = [kb.turns.wait(query_id) for query_id in ids]
    assert [document["error"] for document in documents] == ["timed out after 1s"] * 2
    assert all(document["runtime_ms"] < 3_000 for document in documents)
    assert kb.context("contracts").ask("Acme terms", retrieval_only=True)["status"] == "completed"
    kb.models.composer.released.set()
    time.sleep(0.3)
    assert [kb.turns.response(query_id) for query_id in ids] == documents


def test_threads_that_hang_for_ever_are_bounded(kb: trivium.KnowledgeBase) -> None:
    from trivium.knowql import pool

    for _ in range(2 * pool.MOST_LOST):
        kb.turns.cancel(hang(kb, "deaf"))
    with pytest.raises(QueryError) as caught:
        kb.context("contracts").ask("Acme terms", retrieval_only=True)
    assert (caught.value.status, caught.value.reason) == (429, "workers_busy")
    kb.models.composer.released.set()
    for _ in range(100):
        if not any(thread.name.startswith("trivium-qry") for thread in threading.enumerate()):
            break
        time.sleep(0.05)
    assert kb.context("contracts").ask("Acme terms", retrieval_only=True)["status"] == "completed"


def test_a_cancelled_composer_is_told_to_stop(kb: trivium.KnowledgeBase) -> None:
    query_id = hang(kb)
    assert kb.turns.cancel(query_id)["status"] == "cancelled"
    for _ in range(100):
        if not any(thread.name == f"trivium-{query_id}" for thread in threading.enumerate()):
            break
        time.sleep(0.02)
    else:
        pytest.fail("the thread of the cancelled turn still runs")


def test_what_ran_when_a_turn_was_ended_is_shown_as_failed(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        progress.step(Step("s1", "running", "Looking"))
        while True:
            progress.check()
            time.sleep(0.01)

    document = composed(kb, compose, timeout_seconds=1)
    assert [step["status"] for step in document["steps"]] == ["completed", "failed"]
    events = [e for e in kb.turns.events(document["id"]) if e and e[1] == "response.step" and e[2]["step_id"] == "s1"]
    assert [event[2]["status"] for event in events] == ["running", "failed"]


def test_closing_fails_what_still_runs(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    query_id = hang(kb)
    kb.turns.close(0.1)
    document = kb.turns.response(query_id)
    assert (document["status"], document["error"]) == ("failed", "interrupted: the service stopped")
    assert document["rollup"] is None
    with pytest.raises(QueryError) as caught:
        kb.context("contracts").ask("Acme terms")
    assert (caught.value.status, caught.value.code) == (503, "unavailable")


def test_closing_lets_turns_finish_within_the_grace(kb: trivium.KnowledgeBase) -> None:
    document = {"ask": "Acme terms", "scope": ["contracts"], "background": True, "vars": {"script": {"sleep": 0.5}}}
    ids = [kb.turns.submit(document).query_id for _ in range(3)]
    kb.turns.close(10)
    assert [kb.turns.response(query_id)["status"] for query_id in ids] == ["completed"] * 3


def test_no_store_handle_is_held_while_a_composer_runs(kb: trivium.KnowledgeBase) -> None:
    memory = trivium.open(":memory:", workers=1, embedder="none")
    memory.models = ScriptedModels()
    context = memory.create_context("notes", kind="work")
    memory.turns.submit({"ask": "x", "scope": ["notes"], "background": True, "vars": {"script": {"hang": True}}})
    assert memory.models.composer.begun.wait(10)
    begun = time.monotonic()
    assert "result" in context.execute_kip({"command": "DESCRIBE PRIMER"})
    assert time.monotonic() - begun < 5
    memory.turns.close(0)
    memory.close()


def test_a_store_that_cannot_take_the_end_gets_it_later(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trivium.errors import KipError

    real, faults = rows.finish, [2]

    def finish(*arguments: Any) -> bool:
        if faults[0]:
            faults[0] -= 1
            raise KipError("KIP_4003", "The disk is full.")
        return real(*arguments)

    monkeypatch.setattr(rows, "finish", finish)
    document = kb.context("contracts").ask("Acme terms", retrieval_only=True)
    assert (document["status"], faults) == ("completed", [0])


def test_faults_of_the_store_are_unavailable(kb: trivium.KnowledgeBase) -> None:
    turns = kb.turns
    document = kb.context("contracts").ask("Acme terms", retrieval_only=True)
    kb.close()
    with pytest.raises(QueryError) as caught:
        turns.response(document["id"])
    assert (caught.value.status, caught.value.code, caught.value.reason) == (503, "unavailable", "storage")


def test_a_model_that_has_gone_fails_the_turn_and_not_the_request(kb: trivium.KnowledgeBase) -> None:
    first = kb.context("contracts").ask("Acme terms", model="test/thinking")
    kb.models.gone = True
    later = kb.context("contracts").ask("Acme terms", session_id=first["session_id"])
    assert (later["status"], later["model"]) == ("failed", None)
    assert later["error"].startswith("no usable model: ")


# --- the library ----------------------------------------------------------------------------------


def test_ask_takes_a_text_or_a_document(kb: trivium.KnowledgeBase) -> None:
    context = kb.context("contracts")
    assert context.ask({"ask": "Acme terms"}, retrieval_only=True)["output_json"]["answered_by"] == "retrieval"
    assert kb.ask("Acme terms", scope=["contracts"])["status"] == "completed"
    assert context.ask("Acme terms", background=True)["status"] == "in_progress"
    with pytest.raises(QueryError) as caught:
        kb.ask("Acme terms")
    assert (caught.value.reason, caught.value.param) == ("context_not_queryable", "scope")
    assert "curate" in (caught.value.hint or "")
    with pytest.raises(QueryError) as caught:
        kb.ask(["terms"])  # type: ignore[arg-type]
    assert caught.value.reason == "invalid_json"
    with pytest.raises(QueryError) as caught:
        context.ask("Acme terms", vars={"x": {1, 2}})
    assert caught.value.reason == "invalid_json"


def test_later_changes_of_a_document_have_no_effect(kb: trivium.KnowledgeBase) -> None:
    document: dict[str, Any] = {"ask": "Acme terms", "scope": ["contracts"], "vars": {"a": [1]}, "retrieval_only": True}
    accepted = kb.turns.submit(document)
    document["vars"]["a"].append(2)
    session = kb.turns.session(kb.turns.wait(accepted.query_id)["session_id"])
    assert session["vars"] == {"a": [1]}


def test_a_wait_ends_after_its_time(kb: trivium.KnowledgeBase) -> None:
    query_id = hang(kb)
    begun = time.monotonic()
    assert kb.turns.wait(query_id, 0.3)["status"] == "in_progress"
    assert 0.2 < time.monotonic() - begun < 2


def test_following_gives_none_while_nothing_happens(kb: trivium.KnowledgeBase) -> None:
    query_id = hang(kb)
    events = kb.turns.events(query_id, after=3)
    assert next(events) is None or next(events) is None
    kb.turns.cancel(query_id)
    assert [event[1] for event in events if event][-1] == "response.cancelled"


def test_a_session_deleted_while_followed_ends_its_stream_with_a_document(kb: trivium.KnowledgeBase) -> None:
    query_id = hang(kb)
    frames: list[Any] = []
    reader = threading.Thread(target=lambda: frames.extend(kb.turns.stream(query_id)))
    reader.start()
    time.sleep(0.2)
    assert kb.turns.delete_session(kb.turns.response(query_id)["session_id"])
    reader.join(10)
    kinds = [frame[1] for frame in frames if frame]
    assert kinds[-2:] == ["response.cancelled", "query"]
    assert frames[-1][2]["status"] == "cancelled"


def test_workspaces_never_meet(kb: trivium.KnowledgeBase) -> None:
    from trivium.knowql.service import Caller

    document = kb.context("contracts").ask("Acme terms", retrieval_only=True)
    foreign = kb.turns.for_caller(Caller("other"))
    query_id, session_id = document["id"], document["session_id"]
    calls: list[Callable[[], Any]] = [
        lambda: foreign.response(query_id),
        lambda: foreign.wait(query_id),
        lambda: foreign.events(query_id),
        lambda: foreign.stream(query_id),
        lambda: foreign.cancel(query_id),
        lambda: foreign.trace(query_id),
        lambda: foreign.feedback(query_id, {"rating": "up"}),
        lambda: foreign.session(session_id),
        lambda: foreign.session_queries(session_id),
        lambda: foreign.rename_session(session_id, "mine"),
        lambda: foreign.submit({"ask": "x", "session_id": session_id}),
        lambda: foreign.submit({"ask": "x", "previous_query_id": query_id}),
        lambda: foreign.submit({"ask": "x", "scope": ["contracts"]}),
        lambda: foreign.sessions(context="contracts"),
    ]
    for call in calls:
        with pytest.raises(QueryError) as caught:
            call()
        assert caught.value.status == 404
    assert foreign.sessions()["sessions"] == []
    assert foreign.delete_session(session_id) is False
    assert kb.turns.response(query_id)["feedback"] is None


def test_a_composer_that_leaves_with_the_thread_fails_its_turn(kb: trivium.KnowledgeBase) -> None:
    def compose(task: Task, progress: Progress) -> Composed:
        raise SystemExit(3)

    assert composed(kb, compose)["error"] == "internal error (SystemExit)"


def test_a_session_moves_when_a_turn_begins_and_when_it_ends(kb: trivium.KnowledgeBase) -> None:
    query_id = hang(kb)
    session_id = kb.turns.response(query_id)["session_id"]
    begun = kb.turns.session(session_id)["updated_at"]
    time.sleep(0.01)
    kb.turns.cancel(query_id)
    assert begun < kb.turns.session(session_id)["updated_at"]
