"""The seam between a turn and what composes its answer: a model's agent loop, or the extractive composer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from trivium.search.passage import Evidence, Passage


class Message(Struct, frozen=True):
    """One message of the history: `role` is user or assistant."""

    role: str
    content: str


class Tool(Struct, frozen=True):
    """A read-only call that an agent loop may make. Its result is data, never instructions.

    `parameters` is a JSON Schema object. `run` takes checked arguments and gives a JSON value, with the passages that
    may be cited from it; a `ToolError` inside it is shown to the model.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    category: str
    run: Callable[[dict[str, Any]], ToolResult]


class ToolResult(Struct, frozen=True):
    value: Any
    passages: list[Passage] = []


class ToolError(Exception):
    """A tool call that was wrong or found nothing; the text helps the model to do better."""


class Task(Struct, frozen=True):
    """All that a composer may go by. `evidence` is what retrieval found for the ask.

    `history` are the newest turns before this one, oldest first; `history_is_cut` when there are older ones.
    `instructions` are the guide of each context, then `search.instructions`, then the session's `system_prompt`;
    `guardrails` outrank them. `deadline` is a `time.monotonic` value.
    """

    ask: str
    history: Sequence[Message]
    evidence: Evidence
    model: str
    deadline: float
    instructions: Sequence[str] = ()
    guardrails: str | None = None
    vars: dict[str, Any] = {}
    shape: dict[str, Any] | None = None
    tools: Sequence[Tool] = ()
    max_steps: int = 8
    thinking_level: str = "low"
    history_is_cut: bool = False


class Step(Struct):
    """A step of the turn as it is shown (KnowQL reference 4.3)."""

    step_id: str
    status: str
    commentary: str
    fns: list[str] = []
    strategy: dict[str, Any] = {}
    tool_calls: list[dict[str, Any]] = []
    code: str | None = None
    cost: dict[str, Any] = {}
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cum_input_tokens: int = 0
    cum_output_tokens: int = 0


class Progress(Protocol):
    """What a composer reports to while it works. Each call raises `Stopped` once the turn is cancelled or overdue."""

    def step(self, step: Step) -> None: ...

    def delta(self, text: str) -> None:
        """The next piece of the answer. The pieces joined are `Composed.text`, exactly."""
        ...

    def check(self) -> None: ...


class Stopped(Exception):
    """The turn was cancelled or its time is over; composers let it pass."""


class Cited(Struct, frozen=True):
    """What marker `[n]` of the text stands for, n being its place in the list, from 1; `quote` is in the passage."""

    passage: Passage
    quote: str


class Usage(Struct):
    """Tokens as the provider billed them; cost in US dollars, None when no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    cached_tokens: int = 0


class Composed(Struct):
    """An answer. With a shape, `output_json` conforms to it; `found` is False when the knowledge does not hold it."""

    text: str
    cited: list[Cited] = []
    output_json: Any = None
    found: bool = True
    usage: Usage = field(default_factory=Usage)
    warnings: list[tuple[str, str | None, str]] = []
    """Code, parameter and message of each."""
    synthesis_ms: int = 0


class ComposeError(Exception):
    """The answer cannot be composed; the text is what the failed document says (shape not met, provider's fault).

    `usage` is what the attempt has cost all the same.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class Composer(Protocol):
    def compose(self, task: Task, progress: Progress) -> Composed:
        """Raises: ComposeError, Stopped."""
        ...


NEAREST_TOLD = "No source uses the question's words; the nearest in meaning is quoted."
"""The warning of an answer that says so itself."""


class Choice(Struct, frozen=True):
    """The model that a list of wishes comes down to; None when none of them is there. `skipped` came before it.

    `reasons` says of skipped models why they cannot be used, as far as it is known.
    """

    model: str | None
    skipped: list[str] = []
    thinks: bool = False
    reasons: dict[str, str] = {}
