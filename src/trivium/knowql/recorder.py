"""What a turn tells while it runs: steps and pieces of its answer, stored as events (KnowQL reference 7.2)."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from trivium.errors import bounded
from trivium.knowql.ending import DELTA, STEP
from trivium.knowql.ticker import Ticker
from trivium.models.composer import Step, Stopped
from trivium.store.turns import Event

COALESCING_SECONDS = 0.05
"""How long pieces of text are gathered before they are stored as one event."""
_LONGEST, _MOST, _DEEPEST = 300, 20, 4
_LONGEST_CODE = 10_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_LAST_HALF = re.compile("[\ud800-\udbff]$")


class Recorder:
    """The `Progress` that a composer reports to. `store` stores events; it gives False once the turn has ended."""

    def __init__(self, store: Callable[[list[Event]], bool], ticker: Ticker) -> None:
        self._store = store
        self._ticker = ticker
        self._mutex = threading.Lock()
        self._stopped = threading.Event()
        self._waiting = ""
        self._since = 0.0
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
        self.check()
        with self._mutex:
            self._send([(STEP, summary(step) | self._counted(step))])
        self.check()

    def _counted(self, step: Step) -> dict[str, int]:
        """The tokens of a step, and of the turn up to it."""
        self._tokens[step.step_id] = step.input_tokens, step.output_tokens
        upto = list(self._tokens.values())[: list(self._tokens).index(step.step_id) + 1]
        return {
            "total_tokens": step.input_tokens + step.output_tokens,
            "cum_input_tokens": sum(tokens for tokens, _ in upto),
            "cum_output_tokens": sum(tokens for _, tokens in upto),
        }

    def delta(self, text: str) -> None:
        self.check()
        with self._mutex:
            self._waiting += text
            if time.monotonic() - self._since >= COALESCING_SECONDS and self._scheduled:
                self._send([])
            elif not self._scheduled:
                self._since = time.monotonic()
                self._schedule()
        self.check()

    def _schedule(self) -> None:
        self._scheduled = True
        self._ticker.at(time.monotonic() + COALESCING_SECONDS, self._flush)

    def close(self) -> None:
        """The composer has told all: what is still waiting is left to the end of the turn."""
        with self._mutex:
            self._stopped.set()

    def _flush(self) -> None:
        with self._mutex:
            self._scheduled = False
            if not self._stopped.is_set():
                self._send([])

    def _send(self, events: list[Event]) -> None:
        """Store the waiting text and then the events. A first half of a surrogate pair waits for the second."""
        text, kept = self._waiting, ""
        if _LAST_HALF.search(text):
            text, kept = text[:-1], text[-1]
        text = well_formed(text)
        if text:
            events = [(DELTA, {"delta": text}), *events]
        if not events:
            return
        if self._store(events):
            self._waiting, self.told, self._since = kept, self.told + text, time.monotonic()
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
