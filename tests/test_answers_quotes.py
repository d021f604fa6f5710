"""Which sentences are quoted, as data: holders of posts, codes in headings, follow-ups, chats, settings, dates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import trivium
from tests.answer_questions import DATA

GROUPS: list[dict[str, Any]] = json.loads((DATA / "quotes.json").read_text(encoding="utf-8"))
CASES = [(number, case) for number, group in enumerate(GROUPS) for case in group["asks"]]


@pytest.fixture(scope="module")
def contexts() -> Iterator[list[trivium.Context]]:
    with trivium.open(":memory:", embedder="none") as kb:
        found = []
        for number, group in enumerate(GROUPS):
            context = kb.create_context(f"quotes{number}")
            for name, text in group["files"].items():
                context.add_bytes(name, text.encode())
            context.curate()
            found.append(context)
        yield found


@pytest.mark.parametrize(
    ("number", "case"), CASES, ids=lambda one: str(one["ask"]) if isinstance(one, dict) else str(one)
)
def test_what_says_it_is_quoted_and_nothing_else(
    contexts: list[trivium.Context], number: int, case: dict[str, Any]
) -> None:
    asks = case["ask"] if isinstance(case["ask"], list) else [case["ask"]]
    answer: dict[str, Any] = {}
    for ask in asks:
        session = {"session_id": answer["session_id"]} if answer else {}
        answer = contexts[number].ask(ask, model="builtin/extractive", **session)
    assert [cited["grounding"] for cited in answer["citations"]] == case["quotes"]


def test_sources_that_disagree_are_dated_as_their_texts_say() -> None:
    files = {
        "a.md": "# Club, 5 March 2025\n\nThe run is 12 km long.\n",
        "b.md": "# Club\n\nJune 2024\n\nThe run is 10 km long.\n",
    }
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("dated")
        for name, text in files.items():
            context.add_bytes(name, text.encode())
        context.curate()
        answer = context.ask("How long is the run?", model="builtin/extractive")
    text = answer["output"][0]["content"][0]["text"]
    assert text.index("a.md (2025-03-05)") < text.index("b.md (2024-06)")


def test_quotes_of_a_list_with_boxes_show_what_is_done() -> None:
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("boxes")
        context.add_bytes("a.md", b"# Shopping\n\n- [x] Milk from the farm\n- [ ] Bread\n")
        context.curate()
        answer = context.ask("Which milk is on the shopping list?", model="builtin/extractive")
    assert '☑ "Milk from the farm" [1]' in answer["output"][0]["content"][0]["text"]
