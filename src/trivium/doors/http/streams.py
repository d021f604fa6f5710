"""Server-sent events of a turn (KnowQL reference 7.2, 7.3).

A stream takes what `Turns.stream` gives. It waits for the next event in a thread and for its client in none, so a
client that is slow holds a connection and nothing else; one that takes nothing for long is let go. The turn goes on in
any case, and the client can come back with `Last-Event-ID`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING, Any, cast

from anyio import CapacityLimiter, to_thread
from fastapi.responses import StreamingResponse

from trivium.doors.http.answers import to_line

if TYPE_CHECKING:
    from trivium.knowql.service import Turns

HEARTBEAT_SECONDS = 15.0
PATIENCE_SECONDS = 60.0
"""How long a client may take nothing of what is sent to it."""
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
HEARTBEAT = b": keep-alive\n\n"
_END = object()


class EventStream(StreamingResponse):
    """A response of events; it ends when its client takes nothing for too long."""

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[bytes, None]) -> None:
        super().__init__(frames, headers=HEADERS)
        self.frames = frames

    async def stream_response(self, send: Any) -> None:
        async def patient(message: Any) -> None:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await send(message)

        try:
            await super().stream_response(patient)
        except TimeoutError:
            return
        finally:
            await self.frames.aclose()


class Follower:
    """Gives the events of turns to streams: each wait is in a thread, and there are at most `threads` of them."""

    def __init__(self, threads: int = 1_000) -> None:
        self._threads = threads
        self._limiter: CapacityLimiter | None = None

    async def response(self, turns: Turns, query_id: str, after: int = 0) -> EventStream:
        """An open stream of what is stored after event `after`, then of what happens, then the document.

        Raises: QueryError when there is no such turn, before anything is sent.
        """
        events = await to_thread.run_sync(turns.stream, query_id, after)
        return EventStream(self._frames(events))

    def limiter(self) -> CapacityLimiter:
        """What bounds the threads that wait for turns; made inside the event loop."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(self._threads)
        return self._limiter

    async def _frames(self, events: Iterator[Any]) -> AsyncGenerator[bytes, None]:
        limiter = self.limiter()
        spoken = time.monotonic()
        try:
            while (text := await to_thread.run_sync(_next, events, limiter=limiter)) is not None:
                if text:
                    yield text
                elif time.monotonic() - spoken < HEARTBEAT_SECONDS:
                    continue
                else:
                    yield HEARTBEAT
                spoken = time.monotonic()
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()


def _next(events: Iterator[Any]) -> bytes | None:
    """The next frame; empty when there is no news, None at the end."""
    event = next(events, _END)
    if event is _END:
        return None
    if event is None:
        return b""
    number, kind, data = cast("tuple[int, str, Any]", event)
    return frame(number, kind, data)


def frame(number: int, kind: str, data: Any) -> bytes:
    """One event; number 0 is that of none.

    >>> frame(3, "response.completed", {"query_id": "q"})
    b'id: 3\\nevent: response.completed\\ndata: {"query_id":"q"}\\n\\n'
    """
    head = f"id: {number}\n" if number else ""
    return f"{head}event: {kind}\ndata: {to_line(data)}\n\n".encode()


def resume_point(header: str | None) -> int:
    """The event after which `Last-Event-ID` resumes; from the start for what is no number (7.3)."""
    text = (header or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
