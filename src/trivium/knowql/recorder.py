"""What a turn tells while it runs: steps and pieces of its answer, stored as events (KnowQL reference 7.2)."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from trivium.answers.composer import Step, Stopped
from trivium.errors import KipError, bounded
from trivium.knowql.ending import DELTA, STEP
from trivium.store.turns import Event

COALESCING_SECONDS = 0.05
"""How long pieces of text are gathered before they are stored as one event."""
AGAIN_SECONDS = 0.2
"""How soon the store is asked again after it could not take something."""
_LONGEST, _MOST, _DEEPEST = 300, 20, 4
_LONGEST_CODE = 10_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_LAST_HALF = re.compile("[\ud800-\udbff]$")


class Recorder:
    """The `Progress` that a composer reports to. What the store cannot take at once is kept and told later, in order.

    `store` stores events; it gives False once the turn has ended, and raises KIP_4001 when it should be asked again.
    `after` makes a call in so many seconds, on another thread.
    """

    def __init__(
        self, store: Callable[[list[Event]], bool], after: Callable[[float, Callable[[], None]], None]
    ) -> None:
        self._store = store
        self._after = after
        self._mutex = threading.Lock()
        self._stopped = threading.Event()
        self._held = False
        """Whether the store could not take the last that it was given: then only the other thread tries again."""
        self._events: list[Event] = []
        """What was told and is not stored yet, before the text that waits."""
        self._waiting = ""
        self._due = 0.0
        self._scheduled = False
        self._tokens: dict[str, tuple[int, int]] = {}
        self.told = ""
        """All pieces that were stored, joined."""

    def stop(self) -> None:
        """From now on every report raises `Stopped`."""
        self._stopped.set()

    def check(self) -> None:
        if self._stopped.is_set():
            raise Stopped

    def step(self, step: Step) -> None:
        with self._mutex:
            self.check()
            self._gather()
            self._events.append((STEP, summary(step) | self._totals(step)))
            if not self._held:
                self._send()
        self.check()

    def _totals(self, step: Step) -> dict[str, int]:
        """The tokens of a step, and of the turn up to it."""
        self._tokens[step.step_id] = step.input_tokens, step.output_tokens
        upto = list(self._tokens.values())[: list(self._tokens).index(step.step_id) + 1]
        return {
            "total_tokens": step.input_tokens + step.output_tokens,
            "cum_input_tokens": sum(tokens for tokens, _ in upto),
            "cum_output_tokens": sum(tokens for _, tokens in upto),
        }

    def delta(self, text: str) -> None:
        with self._mutex:
            self.check()
            self._waiting += text
            if not self._scheduled:
                self._schedule(COALESCING_SECONDS)
            elif not self._held and time.monotonic() >= self._due:  # the other thread is late
                self._gather()
                self._send()
        self.check()

    def close(self) -> list[Event]:
        """Store no more. The steps that the store has not taken yet; the text is left to the end of the turn."""
        self._stopped.set()
        with self._mutex:
            return [event for event in self._events if event[0] == STEP]

    def _schedule(self, seconds: float) -> None:
        self._scheduled = True
        self._due = time.monotonic() + seconds
        self._after(seconds, self._flush)

    def _flush(self) -> None:
        with self._mutex:
            self._scheduled = False
            if not self._stopped.is_set():
                self._gather()
                self._send()

    def _gather(self) -> None:
        """Make an event of the text that waits. A first half of a surrogate pair waits for the second."""
        text, kept = self._waiting, ""
        if _LAST_HALF.search(text):
            text, kept = text[:-1], text[-1]
        text = well_formed(text)
        if text:
            self._events.append((DELTA, {"delta": text}))
        self._waiting = kept

    def _send(self) -> None:
        """Store the events that were gathered, or have it tried again when the store is held by somebody else."""
        if not self._events:
            return
        try:
            stored = self._store(self._events)
        except KipError as error:
            if error.code != "KIP_4001":
                raise
            self._held = True
            if not self._scheduled:
                self._schedule(AGAIN_SECONDS)
            return
        self._held = False
        if stored:
            self.told += "".join(data["delta"] for kind, data in self._events if kind == DELTA)
            self._events = []
            self._due = time.monotonic() + COALESCING_SECONDS
        else:
            self._stopped.set()


def well_formed(text: str) -> str:
    """The text with pairs of surrogates joined and lone ones replaced, so that it can be sent as UTF-8."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def summary(step: Step) -> dict[str, Any]:
    """A step as it is shown and traced: calls and results cut to a summary."""
    told: dict[str, Any] = msgspec.to_builtins(step)
    told["commentary"] = bounded(well_formed(" ".join(step.commentary.split())), _LONGEST)
    for key in ("fns", "strategy", "cost"):
        told[key] = _compact(told[key], _DEEPEST)
    told["tool_calls"] = [_compact(call, _DEEPEST) for call in told["tool_calls"]]
    if step.code is not None:
        told["code"] = bounded(well_formed(step.code), _LONGEST_CODE)
    return told


def _compact(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return bounded(well_formed(value), _LONGEST)
    if isinstance(value, dict):
        if not levels:
            return {}
        return {_compact(key, 0): _compact(item, levels - 1) for key, item in list(value.items())[:_MOST]}
    if isinstance(value, list):
        return [_compact(item, levels - 1) for item in value[:_MOST]] if levels else []
    return value
