"""The calls that a model asks for: checked, run, told, and bounded. Only the tools of the task can be called."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from trivium.answers.composer import Progress, Tool, ToolError, ToolResult
from trivium.errors import TriviumError, bounded
from trivium.models.chat import ToolCall
from trivium.shapes.shape import Validator

MOST_CALLS = 8
"""Calls that are run of one reply of the model; it is told of the others."""
_LONGEST_ARGUMENT = 200
_LARGEST = 2**53


class Called(Struct):
    """A call that was made: what the model is told of it, and how a step shows it."""

    call: ToolCall
    result: ToolResult | None
    error: str | None
    summary: dict[str, Any]


def tool_definitions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as the Chat Completions protocol has them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


class ToolRunner:
    """Runs the calls of one turn. The same call is not made twice."""

    def __init__(self, tools: Sequence[Tool], clock: Callable[[], float] = time.monotonic) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._validators: dict[str, Validator] = {}
        self._made: set[tuple[str, str]] = set()
        self._clock = clock

    def run(self, calls: Sequence[ToolCall], progress: Progress) -> list[Called]:
        """Every call of a reply, in order. Raises: Stopped."""
        done: list[Called] = []
        for number, call in enumerate(calls):
            progress.check()
            begun = self._clock()
            result: ToolResult | None
            error: str | None
            if number >= MOST_CALLS:
                result, error = None, f"Only {MOST_CALLS} calls are made at once; this one was not."
            else:
                result, error = self._one(call)
            done.append(Called(call, result, error, self._summary(call, result, error, self._clock() - begun)))
        return done

    def _one(self, call: ToolCall) -> tuple[ToolResult | None, str | None]:
        tool = self._tools.get(call.name)
        if tool is None:
            return None, f"There is no tool {bounded(call.name, 80)!r}; there are {', '.join(self._tools)}."
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            return None, "The arguments are no JSON."
        if not isinstance(arguments, dict):
            return None, "The arguments must be a JSON object."
        if tool.name not in self._validators:
            self._validators[tool.name] = Validator(tool.parameters)
        violation = self._validators[tool.name].first_violation(arguments)
        if violation is not None:
            return None, f"The arguments do not fit: {violation}"
        key = tool.name, json.dumps(arguments, sort_keys=True)
        if key in self._made:
            return None, "This call was made before; its result stands above. Ask in another way, or answer."
        self._made.add(key)
        try:
            return tool.run(arguments), None
        except ToolError as fault:
            return None, str(fault)
        except TriviumError as fault:
            return None, fault.message

    def _summary(self, call: ToolCall, result: ToolResult | None, error: str | None, seconds: float) -> dict[str, Any]:
        tool = self._tools.get(call.name)
        summary: dict[str, Any] = {
            "fn": bounded(_whole_letters(call.name), 80),
            "category": tool.category if tool is not None else "unknown",
            "args": _shown(call.arguments),
            "result": {} if result is None else _counted(result),
            "duration_ms": round(seconds * 1000),
            "ok": error is None,
        }
        if error is not None:
            summary["error"] = bounded(error, 300)
        return summary


def _shown(arguments: str) -> dict[str, Any]:
    """The arguments of a call, cut, for a step."""
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {bounded(_whole_letters(str(key)), 40): _cut(value) for key, value in list(read.items())[:8]}


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return bounded(_whole_letters(value), _LONGEST_ARGUMENT)
    whole = isinstance(value, (int, float)) and abs(value) < _LARGEST  # not of NaN, which is no JSON
    return value if whole or value is None else "…"


def _whole_letters(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _counted(result: ToolResult) -> dict[str, Any]:
    value = result.value
    found: dict[str, Any] = {"passages": len(result.passages)}
    if isinstance(value, dict) and isinstance(value.get("hits"), int):
        found["hits"] = value["hits"]
    return found
