"""The client of an endpoint: retries, what is not retried, parts that are refused, cancel, secrets."""

from __future__ import annotations

import threading
import time
from email.utils import formatdate
from typing import Any

import pytest

from tests.models_support import Recorder
from tests.openai_server import KEY, OpenAIServer, broken, calls, endless, hang, raw, status, text
from trivium.answers.composer import Stopped
from trivium.models.chat import CALLS, LENGTH, SCHEMA, STOP, THINKING, TOOLS, ChatError, ChatRequest, Reply
from trivium.models.chat_client import is_strict
from trivium.models.openai_client import Endpoint, OpenAIClient

SHAPE = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


class Kept:
    """A sink; `held` says whether what came may be asked for again."""

    def __init__(self, *, held: bool = True) -> None:
        self.pieces: list[str] = []
        self.held = held

    def text(self, piece: str) -> None:
        self.pieces.append(piece)

    def restart(self) -> bool:
        if self.held:
            self.pieces.clear()
        return self.held


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.models.chat_client.FIRST_PAUSE", 0.01)


def asked(server: OpenAIServer, sink: Kept | None = None, *, timeout: float = 5.0, **fields: Any) -> Reply:
    client = OpenAIClient(Endpoint(server.base_url, KEY), timeout, 3)
    messages = [{"role": "user", "content": "Hello"}]
    return client.chat(ChatRequest("test-model", messages, **fields), sink or Kept(), Recorder())


def test_a_streamed_answer_comes_piece_by_piece_with_its_usage() -> None:
    with OpenAIServer([text("Net 30 days.", usage={"prompt_tokens_details": {"cached_tokens": 1}})]) as server:
        sink = Kept()
        reply = asked(server, sink)
        assert (reply.text, reply.finish) == ("Net 30 days.", STOP)
        assert "".join(sink.pieces) == reply.text
        assert len(sink.pieces) > 1
        assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (1, 4, 1)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        assert server.requests[0]["temperature"] == 0


def test_tool_calls_are_put_together_from_their_pieces() -> None:
    with OpenAIServer([calls(("look", {"query": "terms"}), ("look", "{broken"))]) as server:
        reply = asked(server, tools=[TOOL])
        assert reply.finish == CALLS
        assert [(call.name, call.arguments) for call in reply.calls] == [
            ("look", '{"query": "terms"}'),
            ("look", "{broken"),
        ]


PASSING: list[Any] = [
    status(429, retry_after="0"),
    status(429, retry_after=formatdate(time.time() - 5, usegmt=True)),
    status(500),
    status(502, "<html>Bad gateway</html>"),
    status(503),
    status(408),
    broken("Net 3"),
    broken("Net 3", "reset"),
    raw(b"data: no json\n\n"),
    raw(b'data: {"error": {"message": "overloaded", "code": 529}}\n\n'),
    raw(b'data: {"choices": []}\n\n'),
]


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: str(fault)[:40])
def test_faults_that_pass_are_tried_again(fault: Any) -> None:
    with OpenAIServer([fault, text("Net 30 days.")]) as server:
        sink = Kept()
        assert asked(server, sink).text == "Net 30 days."
        assert "".join(sink.pieces) == "Net 30 days."
        assert len(server.requests) == 2


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: str(fault)[:40])
def test_faults_that_stay_fail_after_all_attempts_without_the_words_of_the_endpoint(fault: Any) -> None:
    with OpenAIServer([fault]) as server:
        with pytest.raises(ChatError, match="3 attempts") as caught:
            asked(server)
        assert len(server.requests) == 3
        _is_clean(caught.value)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (status(401), "refuses the key"),
        (status(403), "refuses the key"),
        (status(404), "does not know the model"),
        (status(413), "too long"),
        (
            status(400, {"error": {"message": f"maximum context length of {KEY}", "code": "context_length_exceeded"}}),
            "too long",
        ),
        (status(402), "refuses the request"),
    ],
    ids=str,
)
def test_faults_that_do_not_pass_are_not_tried_again(fault: Any, told: str) -> None:
    with OpenAIServer([fault]) as server:
        with pytest.raises(ChatError, match=told) as caught:
            asked(server)
        assert len(server.requests) == 1
        _is_clean(caught.value)


def _is_clean(error: Exception) -> None:
    shown = f"{error} {error!r}"
    for secret in (KEY, "went wrong", "overloaded", "gateway", "http://"):
        assert secret not in shown


def test_what_was_shown_is_not_asked_for_again() -> None:
    with OpenAIServer([broken("Net 3"), text("Net 30 days.")]) as server:
        with pytest.raises(ChatError, match="broke off"):
            asked(server, Kept(held=False))
        assert len(server.requests) == 1


def test_an_endpoint_that_asks_to_wait_too_long_is_not_waited_for() -> None:
    with OpenAIServer([status(429, retry_after="3600")]) as server:
        began = time.monotonic()
        with pytest.raises(ChatError, match="3600"):
            asked(server)
        assert time.monotonic() - began < 5
        assert len(server.requests) == 1


def test_retry_after_is_heeded() -> None:
    with OpenAIServer([status(429, retry_after="0.5"), text("Yes.")]) as server:
        began = time.monotonic()
        asked(server)
        assert time.monotonic() - began >= 0.5


def test_a_silent_endpoint_times_out() -> None:
    def silent(_: dict[str, Any]) -> Any:
        time.sleep(2)
        return text("late")

    with OpenAIServer([silent]) as server, pytest.raises(ChatError, match=r"no answer within 0.2 s"):
        asked(server, timeout=0.2)


@pytest.mark.parametrize("step", [hang(), hang(after="Net 3"), endless("more ")], ids=["hang", "hang later", "endless"])
def test_cancel_closes_the_connection_at_once(step: Any) -> None:
    with OpenAIServer([step]) as server:
        recorder = Recorder()
        client = OpenAIClient(Endpoint(server.base_url), 30.0, 3)
        threading.Timer(0.4, recorder.stop).start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            client.chat(ChatRequest("m", [{"role": "user", "content": "x"}], max_tokens=10_000_000), Kept(), recorder)
        assert time.monotonic() - began < 5
        assert server.gone.wait(5)


def test_cancel_interrupts_a_pause() -> None:
    with OpenAIServer([status(429, retry_after="30")]) as server:
        recorder = Recorder()
        threading.Timer(0.4, recorder.stop).start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            OpenAIClient(Endpoint(server.base_url)).chat(ChatRequest("m", []), Kept(), recorder)
        assert time.monotonic() - began < 5


def test_an_answer_without_end_is_cut() -> None:
    with OpenAIServer([endless("word " * 50)]) as server:
        reply = asked(server, max_tokens=100)
        assert reply.finish == LENGTH
        assert len(reply.text) <= 801


def test_a_line_without_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.models.openai_client.MOST_BYTES", 100_000)
    with (
        OpenAIServer([raw(b"data: " + b"x" * 1_000_000)]) as server,
        pytest.raises(ChatError, match="more than anyone"),
    ):
        asked(server)


@pytest.mark.parametrize(
    ("refuses", "fields", "part"),
    [
        (["tools"], {"tools": [TOOL]}, TOOLS),
        (["response_format"], {"schema": SHAPE}, SCHEMA),
        (["reasoning_effort"], {"thinking": "low"}, THINKING),
        (["stream_options"], {}, None),
        (["max_tokens"], {}, None),
        (["temperature"], {}, None),
        (["tools", "stream_options", "max_tokens"], {"tools": [TOOL]}, TOOLS),
    ],
    ids=str,
)
def test_refused_parts_are_left_out_and_told(refuses: list[str], fields: dict[str, Any], part: str | None) -> None:
    with OpenAIServer([text("Yes.")], refuses=refuses) as server:
        reply = asked(server, **fields)
        assert reply.text == "Yes."
        assert reply.refused == ({part} if part else set())
        assert not set(refuses) & set(server.requests[-1])


def test_a_refusal_is_remembered() -> None:
    with OpenAIServer([text("Yes.")], refuses=["tools"]) as server:
        client = OpenAIClient(Endpoint(server.base_url), 5.0, 3)
        for _ in range(2):
            client.chat(ChatRequest("m", [{"role": "user", "content": "x"}], [TOOL]), Kept(), Recorder())
        assert ["tools" in body for body in server.requests] == [True, False, False]


def test_an_endpoint_that_cannot_stream_is_asked_for_whole_answers() -> None:
    def whole(body: dict[str, Any]) -> Any:
        return raw(b'{"object": "chat.completion"}', "application/json") if body["stream"] else text("Whole.")

    with OpenAIServer([whole]) as server:
        assert asked(server).text == "Whole."


def test_a_declined_answer_is_a_fault() -> None:
    for step in (text("", refusal="I can't."), text("Net", finish="content_filter")):
        with OpenAIServer([step]) as server, pytest.raises(ChatError, match="declined"):
            asked(server)


def test_an_endpoint_that_is_not_there_is_told() -> None:
    client = OpenAIClient(Endpoint("http://127.0.0.1:9/v1"), 1.0, 1)
    with pytest.raises(ChatError, match="cannot be reached"):
        client.chat(ChatRequest("m", []), Kept(), Recorder())


def test_schemas_that_endpoints_enforce_are_told_from_others() -> None:
    assert is_strict(SHAPE)
    assert not is_strict({"type": "object", "properties": {"a": {}}})
    assert not is_strict({**SHAPE, "properties": {"a": {"type": "object"}}})


def test_an_endpoint_does_not_show_its_key() -> None:
    assert KEY not in repr(Endpoint("http://x/v1", KEY))
    assert KEY not in repr(OpenAIClient(Endpoint("http://x/v1", KEY)).__dict__)
