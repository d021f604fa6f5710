"""A client of Chat Completions, whatever package carries the requests: attempts, pauses, what is left out, cancel.

Requests are streamed. Faults that may pass (429, 5xx, a lost connection, a stream that breaks off) are tried again with
growing pauses, or after what Retry-After says; others are not. An endpoint that refuses a part of a request (tools, a
schema, a thinking level) is asked without it from then on. What an endpoint says about its errors is never passed on.
"""

from __future__ import annotations

import random
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from trivium.answers.composer import Progress, Stopped, Usage
from trivium.errors import TriviumError
from trivium.models.chat import (
    CALLS,
    LENGTH,
    SCHEMA,
    STOP,
    THINKING,
    TOOLS,
    ChatError,
    ChatRequest,
    Reply,
    Sink,
    ToolCall,
)

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
TOKEN_CHARACTERS = 8
"""A reply of more characters than this for each token it was allowed is cut, as if the model had reached its limit."""
MOST_CALLS = 16
LONGEST_ARGUMENTS = 65_536
LOOK_SECONDS = 0.1
"""How often a wait on the endpoint looks whether the turn is over."""

SHORTEST_SECRET, MASK = 8, "[key]"
"""Shorter keys are placeholders such as `none`, which texts may well hold."""

_STREAM, _USAGE, _LIMIT, _TEMPERATURE, _STRICT = "stream", "stream_options", "max_tokens", "temperature", "strict"
_MENTIONS: tuple[tuple[str, str], ...] = (
    (_USAGE, r"stream_options|include_usage"),
    (THINKING, r"reasoning|thinking"),
    (_LIMIT, r"max_(?:completion_)?tokens"),
    (_TEMPERATURE, r"temperature"),
    (_STRICT, r"strict"),
    (SCHEMA, r"response_format|json_schema|schema|grammar|structured"),
    (TOOLS, r"tool|function"),
    (_STREAM, r"\bstream"),
)
_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,40}")
_TOO_LONG = re.compile(r"context|too (?:long|large|many tokens)|maximum.{0,20}length", re.IGNORECASE)

_T = TypeVar("_T")


Create = Callable[..., Awaitable[Any]]
"""Sends a request; the answer is a whole completion, or its chunks where it is streamed."""


class Passing(Exception):
    """A fault that may pass: what to say if it does not, and for how long the endpoint asks to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Refusal(Exception):
    """The endpoint refuses a part of the request."""

    def __init__(self, part: str) -> None:
        super().__init__(part)
        self.part = part


class CompletionsClient(ABC):
    """A client of one endpoint; thread-safe. Must not be used in a thread that runs an event loop."""

    def __init__(
        self,
        timeout: float = 120.0,
        attempts: int = 4,
        jitter: Callable[[], float] = random.random,
        *,
        secret: str = "",
    ) -> None:
        self.timeout = timeout
        self._unsaid: Callable[[], Unsaid] = lambda: Unsaid(secret)  # so that no attribute shows it
        self._attempts = attempts
        self._jitter = jitter
        self._refused: dict[str, frozenset[str]] = {}
        self._mutex = threading.Lock()

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[Create]:
        """What sends requests, for as long as the context lasts. Raises: MissingExtraError."""

    @abstractmethod
    def told(self, error: Exception, request: ChatRequest, refused: frozenset[str]) -> Exception | None:
        """What a fault means: Passing, Refusal or ChatError; None when it is none of the endpoint's."""

    def unsaid(self, text: str) -> str:
        """A text of the endpoint's without the key."""
        return self._unsaid().within(text)

    def chat(self, request: ChatRequest, sink: Sink, progress: Progress) -> Reply:
        """Raises: ChatError, Stopped, MissingExtraError."""
        attempt = 0
        while True:
            progress.check()
            refused = self._refused.get(request.model, frozenset())
            try:
                return self._once(request, refused, sink, progress)
            except Refusal as fault:
                if fault.part in refused or not sink.restart():
                    raise ChatError("the model's endpoint refuses the request (400)") from None
                with self._mutex:
                    self._refused[request.model] = refused | {fault.part}
            except Passing as fault:
                attempt += 1
                pause = self._pause(attempt, fault.retry_after)
                if attempt >= self._attempts or pause is None or not sink.restart():
                    tried = f" ({attempt} attempts)" if attempt > 1 else ""
                    raise ChatError(f"{fault}{tried}") from None
                _wait(pause, progress)

    def _pause(self, attempt: int, retry_after: float | None) -> float | None:
        """How long to wait before the next attempt; None when the endpoint asks for longer than anyone would wait."""
        if retry_after is not None:
            return retry_after if retry_after <= LONGEST_PAUSE else None
        return float(min(FIRST_PAUSE * 2 ** (attempt - 1), 8.0) * (0.75 + 0.5 * self._jitter()))

    def _once(self, request: ChatRequest, refused: frozenset[str], sink: Sink, progress: Progress) -> Reply:
        import asyncio

        with asyncio.Runner() as runner:
            reply = runner.run(self._ask(request, refused, sink, progress))
        reply.refused = frozenset(refused & {TOOLS, SCHEMA, THINKING})
        return reply

    def _told(self, error: Exception, request: ChatRequest, refused: frozenset[str]) -> Exception | None:
        if isinstance(error, RecursionError):
            return Passing("the model's endpoint sent something that is no answer")
        return self.told(error, request, refused)

    async def _ask(self, request: ChatRequest, refused: frozenset[str], sink: Sink, progress: Progress) -> Reply:
        sent = arguments(request, refused)
        collected = _Collected(sink, request.max_tokens * TOKEN_CHARACTERS, self._unsaid())
        try:
            async with self.connect() as create:
                answer = await _watched(create(**sent), progress)
                if sent["stream"]:
                    async with _closing(answer):
                        chunks = aiter(answer)
                        while (chunk := await _watched(_following(chunks), progress)) is not None:
                            if not collected.add(chunk):
                                break
                    if not collected.began:
                        raise Refusal(_STREAM)
                else:
                    collected.add_whole(answer)
        except (Refusal, Passing, ChatError, Stopped, TriviumError):
            raise
        except Exception as error:
            told = self._told(error, request, refused)
            if told is None:
                raise
            if collected.began and isinstance(told, Passing):
                told = Passing("the model's answer broke off")
            raise told from error
        return collected.reply()


# --- the request ----------------------------------------------------------------------------------


def arguments(request: ChatRequest, refused: frozenset[str]) -> dict[str, Any]:
    sent: dict[str, Any] = {"model": request.model, "messages": request.messages, "stream": _STREAM not in refused}
    if sent["stream"] and _USAGE not in refused:
        sent["stream_options"] = {"include_usage": True}
    limit = "max_completion_tokens" if (request.thinking is not None) != (_LIMIT in refused) else "max_tokens"
    sent[limit] = request.max_tokens
    if request.thinking is None and _TEMPERATURE not in refused:
        sent["temperature"] = 0
    if request.thinking is not None and THINKING not in refused:
        sent["reasoning_effort"] = request.thinking
    if request.tools and TOOLS not in refused:
        sent["tools"] = request.tools
    if request.schema is not None and SCHEMA not in refused:
        schema: dict[str, Any] = {"name": "answer", "schema": request.schema}
        if _STRICT not in refused and is_strict(request.schema):
            schema["strict"] = True
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    return sent


def is_strict(schema: Any) -> bool:
    """Whether a schema is of the kind that endpoints enforce: all objects closed and all their properties required.

    >>> is_strict({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False})
    True
    """
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema.get("properties", {})):
            return False
    return all(is_strict(inner) for key, inner in schema.items() if key not in ("enum", "const", "required"))


# --- the reply ------------------------------------------------------------------------------------


class _Collected:
    """A reply as it grows, without the key. Endpoints differ in what they send, so nothing is taken for granted."""

    def __init__(self, sink: Sink, most: int, unsaid: Unsaid) -> None:
        self._sink = sink
        self._unsaid = unsaid
        self._most = most
        self._text: list[str] = []
        self._length = 0
        self._calls: dict[Any, dict[str, str]] = {}
        self._finish: str | None = None
        self._usage = Usage()
        self._refusal = False
        self.began = False

    def add(self, chunk: Any) -> bool:
        """Take a chunk of a stream; False when that was enough."""
        self.began = True
        self._count(getattr(chunk, "usage", None))
        for choice in _listed(chunk, "choices")[:1]:
            delta = getattr(choice, "delta", None)
            self._take(delta)
            for number, call in enumerate(_listed(delta, "tool_calls")):
                self._call(call, number)
            self._finish = getattr(choice, "finish_reason", None) or self._finish
        return self._length <= self._most

    def add_whole(self, answer: Any) -> None:
        self.began = True
        self._count(getattr(answer, "usage", None))
        choices = _listed(answer, "choices")
        if not choices:
            raise Passing("the model's endpoint gave no answer")
        message = getattr(choices[0], "message", None)
        self._finish = getattr(choices[0], "finish_reason", None) or STOP
        self._take(message)
        for number, call in enumerate(_listed(message, "tool_calls")):
            self._call(call, number)

    def _take(self, part: Any) -> None:
        if getattr(part, "refusal", None):
            self._refusal = True
        content = getattr(part, "content", None)
        if isinstance(content, list):
            content = "".join(str(item.get("text", "")) for item in content if isinstance(item, dict))
        if isinstance(content, str) and content:
            content = content[: self._most + 1 - self._length]
            self._length += len(content)
            self._show(self._unsaid.add(content))

    def _show(self, piece: str) -> None:
        if piece:
            self._text.append(piece)
            self._sink.text(piece)

    def _call(self, call: Any, number: int) -> None:
        index = getattr(call, "index", None)
        name = getattr(call, "id", None)
        key = index if isinstance(index, int) else name if isinstance(name, str) and name else number
        if key not in self._calls and len(self._calls) >= MOST_CALLS:
            return
        held = self._calls.setdefault(key, {"id": "", "name": "", "arguments": ""})
        function = getattr(call, "function", None)
        for name, value in (
            ("id", getattr(call, "id", None)),
            ("name", getattr(function, "name", None)),
            ("arguments", getattr(function, "arguments", None)),
        ):
            if isinstance(value, str) and not (name != "arguments" and held[name]):
                held[name] = (held[name] + value)[: LONGEST_ARGUMENTS + 1]

    def _count(self, usage: Any) -> None:
        def number(name: str, of: Any = usage) -> int:
            value = getattr(of, name, None)
            return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

        if usage is not None:
            cached = number("cached_tokens", getattr(usage, "prompt_tokens_details", None))
            self._usage = Usage(number("prompt_tokens"), number("completion_tokens"), None, cached)

    def reply(self) -> Reply:
        if self._refusal or self._finish == "content_filter":
            raise ChatError("the model declined to answer", self._usage)
        cut = self._finish == LENGTH or self._length > self._most
        if self._finish is None and not cut:
            raise Passing("the model's answer broke off")
        self._show(self._unsaid.rest())
        calls = [
            ToolCall(held["id"] or f"call_{number}", *map(self._unsaid.within, (held["name"], held["arguments"])))
            for number, held in enumerate(self._calls.values())
            if held["name"]
        ]
        finish = LENGTH if cut else CALLS if calls else STOP
        return Reply("".join(self._text), calls, finish, self._usage)


class Unsaid:
    """Text without a secret, wherever it is cut into pieces: endpoints may repeat the key that they were sent."""

    def __init__(self, secret: str) -> None:
        self._secret = secret if len(secret) >= SHORTEST_SECRET else ""
        self._held = ""

    def add(self, piece: str) -> str:
        """What may be shown now; an end that may be the beginning of the secret waits."""
        text = self.within(self._held + piece)
        most = min(len(self._secret) - 1, len(text))
        wait = next((size for size in range(most, 0, -1) if self._secret.startswith(text[-size:])), 0)
        self._held = text[len(text) - wait :]
        return text[: len(text) - wait]

    def rest(self) -> str:
        """What still waits, once no more comes."""
        rest, self._held = self._held, ""
        return rest

    def within(self, text: str) -> str:
        """
        >>> Unsaid("sk-12345678").within("the key sk-12345678")
        'the key [key]'
        """
        return text.replace(self._secret, MASK) if self._secret else text


def _listed(of: Any, name: str) -> list[Any]:
    value = getattr(of, name, None)
    return value if isinstance(value, list) else []


@asynccontextmanager
async def _closing(answer: Any) -> AsyncIterator[None]:
    """Close a stream that may not have been read to its end, while its connection still stands."""
    try:
        yield
    finally:
        close = getattr(answer, "close", None)
        if iscoroutinefunction(close):
            await close()


def _following(chunks: Any) -> Awaitable[Any]:
    return anext(chunks, None)


async def _watched(work: Awaitable[_T], progress: Progress) -> _T:
    """Wait for work, looking at times whether the turn is over; then the work is given up, its connection closed."""
    import asyncio

    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
            progress.check()
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _wait(seconds: float, progress: Progress) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        progress.check()
        time.sleep(min(left, LOOK_SECONDS))


# --- faults ---------------------------------------------------------------------------------------


def of_status(
    status: int, said: str, request: ChatRequest, refused: frozenset[str], *, after: str | None = None, code: str = ""
) -> Exception:
    """What a status means. `said` is read for what it blames, and never shown."""
    if status in (408, 409, 425, 429) or status >= 500:
        seconds = _retry_after(after)
        busy = "is busy" if status == 429 else "is at fault"
        told = f"; it asks to wait {seconds:g} s" if seconds is not None and seconds > LONGEST_PAUSE else ""
        return Passing(f"the model's endpoint {busy} ({status}){told}", seconds)
    if status in (401, 403):
        return ChatError(f"the model's endpoint refuses the key ({status})")
    if status in (400, 404, 422, 501) and not _TOO_LONG.search(said):
        part = _blamed(said, request, refused, status)
        if part is not None:
            return Refusal(part)
    if status == 404:
        return ChatError("the model's endpoint does not know the model or the path (404)")
    if status == 413 or _TOO_LONG.search(said):
        return ChatError(f"the question and its passages are too long for the model ({status})")
    named = f" {code}" if _CODE.fullmatch(code) else ""
    return ChatError(f"the model's endpoint refuses the request ({status}{named})")


def _blamed(said: str, request: ChatRequest, refused: frozenset[str], status: int) -> str | None:
    """The part of the request that an error blames, or may: the first that can be left out."""
    sent = arguments(request, refused)
    there = {
        _USAGE: "stream_options" in sent,
        THINKING: "reasoning_effort" in sent,
        _LIMIT: _LIMIT not in refused,
        _TEMPERATURE: "temperature" in sent,
        _STRICT: "strict" in sent.get("response_format", {}).get("json_schema", {}),
        SCHEMA: "response_format" in sent,
        TOOLS: "tools" in sent,
        _STREAM: sent["stream"],
    }
    for part, mention in _MENTIONS:
        if there[part] and re.search(mention, said, re.IGNORECASE):
            return part
    if status == 404:
        return None
    return next((part for part in (THINKING, _STRICT, SCHEMA, TOOLS, _USAGE) if there[part]), None)


def _retry_after(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, given as a number or as a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
