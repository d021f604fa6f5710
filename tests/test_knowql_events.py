"""Property: what is replayed is what was told live, whole, from any number on."""

from __future__ import annotations

import threading
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trivium
from tests.knowql_models import ScriptedModels

PIECES = st.lists(st.text(max_size=12), max_size=8)
SCRIPTS = st.fixed_dictionaries(
    {"pieces": PIECES, "between": st.sampled_from([0, 0.03, 0.06]), "steps": st.integers(0, 3)},
    optional={"error": st.text(min_size=1, max_size=10), "found": st.booleans()},
)


@given(SCRIPTS, st.integers(-2, 30))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_replay_equals_live_from_any_number_on(script: dict[str, Any], after: int) -> None:
    with trivium.open(":memory:", embedder="none") as kb:
        kb.models = ScriptedModels()
        kb.create_context("notes", kind="work")
        script["text"] = "".join(script["pieces"]) or "nothing"
        if not script["pieces"]:
            script["stream"] = False
        accepted = kb.turns.submit({"ask": "x", "scope": ["notes"], "stream": True, "vars": {"script": script}})
        live: list[list[Any]] = [[], []]
        readers = [
            threading.Thread(
                target=lambda seen: seen.extend(filter(None, kb.turns.stream(accepted.query_id))), args=(one,)
            )
            for one in live
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(30)
        replay = [event for event in kb.turns.stream(accepted.query_id) if event]
        document = kb.turns.response(accepted.query_id)
        assert live == [replay, replay]
        numbers = [number for number, _, _ in replay[:-1]]
        assert numbers == list(range(1, len(replay)))
        assert replay[-1] == (0, "query", document)
        told = "".join(data["delta"] for _, kind, data in replay if kind == "response.output_text.delta")
        if document["status"] == "completed":
            assert told == document["output"][0]["content"][0]["text"]
        start = after if 0 <= after <= len(numbers) else 0
        assert [event for event in kb.turns.stream(accepted.query_id, after) if event] == replay[start:]
