"""The seam to a language model: one request, its text as it comes, and the reply."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct, field

from trivium.answers.composer import Progress, Usage

TOOLS, SCHEMA, THINKING = "tools", "schema", "thinking"
"""Parts of a request that an endpoint may refuse; it is asked again without them, and the reply says so."""

STOP, LENGTH, CALLS = "stop", "length", "calls"
"""Why a model stopped: it was done, its output was cut, it wants tools called."""


class ToolCall(Struct, frozen=True):
    """A call that the model asks for; `arguments` are its own words, JSON at best."""

    id: str
    name: str
    arguments: str


class ChatRequest(Struct, frozen=True):
    """`schema` asks for JSON that conforms to it; `thinking` is minimal, low, medium or high."""

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = []
    schema: dict[str, Any] | None = None
    thinking: str | None = None
    max_tokens: int = 2_000


class Reply(Struct):
    """What a model gave. `refused` are the parts of the request that the endpoint did not take."""

    text: str = ""
    calls: list[ToolCall] = []
    finish: str = STOP
    usage: Usage = field(default_factory=Usage)
    refused: frozenset[str] = frozenset()


class Sink(Protocol):
    """Takes the text of a reply as it comes."""

    def text(self, piece: str) -> None: ...

    def restart(self) -> bool:
        """The reply broke off and may be asked for again: forget what came, or say False if it was shown already."""
        ...


class ChatError(Exception):
    """A model's endpoint failed. The text is ours, never the endpoint's, and holds no secret."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class ChatClient(Protocol):
    def chat(self, request: ChatRequest, sink: Sink, progress: Progress) -> Reply:
        """Raises: ChatError after all attempts, Stopped as soon as `progress.check` does."""
        ...
