"""Hints in the words of the door at which they are read."""

from __future__ import annotations

import pickle
import threading

import pytest

import trivium
from trivium.knowql.errors import QueryError
from trivium.knowql.hints import _ACTIONS, CLI, HTTP, MCP, PYTHON, Hint, worded

FOREIGN = {
    PYTHON: ("GET /", "POST /", "trivium "),
    CLI: ("GET /", "POST /", "kb."),
    HTTP: ("`trivium ", "kb."),
    MCP: ("GET /", "POST /", "kb."),
}


@pytest.mark.parametrize("action", _ACTIONS)
@pytest.mark.parametrize("door", FOREIGN)
def test_no_door_speaks_of_another(action: str, door: int) -> None:
    said = Hint(f"{{{action}}}", slug="notes", id="qry_1").at(door)
    assert not any(word in said for word in FOREIGN[door]), said
    assert "SLUG" not in said
    assert "'ask'" not in said


def test_a_hint_is_a_text_in_the_words_of_python() -> None:
    hint = Hint("{sessions} lists them; {this} and {…} stay.")
    assert hint == "`kb.turns.sessions()` lists them; {this} and {…} stay."
    assert pickle.loads(pickle.dumps(hint)).at(CLI) == "`trivium sessions list` lists them; {this} and {…} stay."
    assert (worded("plain", CLI), worded(None, HTTP)) == ("plain", None)


def test_refusals_and_missing_contexts_suggest_near_names() -> None:
    with trivium.open(":memory:", embedder="none") as kb:
        kb.create_context("contracts")
        with pytest.raises(QueryError) as refused:
            kb.ask("x", scope=["contract"])
        assert refused.value.hint == "Did you mean 'contracts'? `kb.contexts()` lists the contexts there are."
        assert "GET /api/v0/contexts" in refused.value.to_dict(HTTP)["error"]["hint"]
        with pytest.raises(trivium.NotFoundError) as missing:
            kb.context("contrats")
        assert missing.value.hint == "Did you mean 'contracts'? `kb.create_context('contrats')` creates it."


def test_a_context_that_is_being_curated_says_so_and_names_the_task() -> None:
    go_on = threading.Event()
    with trivium.open(":memory:", embedder="none") as kb:
        notes = kb.create_context("notes")
        notes.add_bytes("tea.md", b"# Tea\n\nTea is hot.\n")
        task = kb.tasks.start(notes._number, "curate", lambda report: {"waited": go_on.wait(30)})
        try:
            with pytest.raises(QueryError) as refused:
                notes.ask("Is tea hot?")
        finally:
            go_on.set()
        error = refused.value
        assert (error.status, error.reason, error.passing) == (409, "context_not_queryable", True)
        assert error.message == f"The context notes cannot be asked yet: it is being curated (task {task})."
        assert f"GET /api/v0/tasks/{task}" in error.to_dict(HTTP)["error"]["hint"]
        while kb.tasks.get(task)["state"] != "completed":
            pass
        with pytest.raises(QueryError, match="have not been curated") as refused:
            notes.ask("Is tea hot?")
        assert not refused.value.passing
