"""Providers by name, through `any-llm-sdk` (extra `providers`), here with the scripted endpoint as the provider."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.openai_server import KEY, OpenAIServer, broken, calls, hang, status, text
from trivium.answers.composer import Stopped
from trivium.models.any_llm_client import AnyLLMClient
from trivium.models.chat import CALLS, ChatError, ChatRequest, Reply

pytest.importorskip("any_llm", reason="the extra 'providers' is not installed")

TOOL = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}


class Sink:
    def __init__(self) -> None:
        self.pieces: list[str] = []

    def text(self, piece: str) -> None:
        self.pieces.append(piece)

    def restart(self) -> bool:
        self.pieces.clear()
        return True


class Going:
    def __init__(self) -> None:
        self.stopped = False

    def check(self) -> None:
        if self.stopped:
            raise Stopped

    def step(self, _: Any) -> None: ...

    def delta(self, _: str) -> None: ...


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.models.chat_client.FIRST_PAUSE", 0.01)


def asked(server: OpenAIServer, sink: Sink | None = None, provider: str = "openai", **fields: Any) -> Reply:
    client = AnyLLMClient(provider, KEY, server.base_url, 5.0, 3)
    request = ChatRequest("test-model", [{"role": "user", "content": "Hello"}], **fields)
    return client.chat(request, sink or Sink(), Going())


def test_an_answer_is_streamed_with_its_usage() -> None:
    with OpenAIServer([text("Net 30 days.")]) as server:
        sink = Sink()
        reply = asked(server, sink)
        assert "".join(sink.pieces) == reply.text == "Net 30 days."
        assert len(sink.pieces) > 1
        assert reply.usage.output_tokens == 4


def test_tools_are_called() -> None:
    with OpenAIServer([calls(("look", {"a": 1}))]) as server:
        reply = asked(server, tools=[TOOL])
        assert reply.finish == CALLS
        assert reply.calls[0].arguments == '{"a": 1}'


@pytest.mark.parametrize(
    "fault", [status(429, retry_after="0"), status(500), broken("Net"), broken("Net", "reset")], ids=str
)
def test_faults_that_pass_are_tried_again(fault: Any) -> None:
    with OpenAIServer([fault, text("Net 30 days.")]) as server:
        assert asked(server).text == "Net 30 days."
        assert len(server.requests) == 2


@pytest.mark.parametrize(("fault", "told"), [(status(401), "refuses the key"), (status(404), "does not know")], ids=str)
def test_faults_that_do_not_pass_are_told_in_our_words(fault: Any, told: str) -> None:
    with OpenAIServer([fault]) as server:
        with pytest.raises(ChatError, match=told) as caught:
            asked(server)
        assert len(server.requests) == 1
        assert KEY not in str(caught.value)
        assert "went wrong" not in str(caught.value)


def test_an_unknown_provider_is_told() -> None:
    with OpenAIServer() as server, pytest.raises(ChatError, match="no provider 'nosuch'"):
        asked(server, provider="nosuch")


def test_cancel_gives_the_request_up() -> None:
    with OpenAIServer([hang()]) as server:
        going = Going()
        threading.Timer(0.5, lambda: setattr(going, "stopped", True)).start()
        began = time.monotonic()
        request = ChatRequest("m", [{"role": "user", "content": "Hello"}])
        with pytest.raises(Stopped):
            AnyLLMClient("openai", KEY, server.base_url).chat(request, Sink(), going)
        assert time.monotonic() - began < 8
