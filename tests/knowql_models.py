"""Models for the tests of turns: they do what the script in the session's `vars` says, as a door can send it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from trivium.answers.composer import Choice, Cited, Composed, ComposeError, Composer, Progress, Step, Task, Usage
from trivium.errors import TriviumError

SCRIPTED, THINKING, GONE = "test/scripted", "test/thinking", "test/gone"
TIERS = ("lite", "standard", "pro")
DEFAULT_TEXT = "According to the sources: {quote} [1]."


class ScriptedModels:
    """A catalogue of `test/scripted`, `test/thinking` (the same, with the knob) and `test/gone`, never available."""

    def __init__(self) -> None:
        self.composer = Scripted()
        self.gone = False
        """Set it to take every model away."""

    def choose(self, wanted: Sequence[str]) -> Choice:
        skipped = []
        for name in wanted:
            model = SCRIPTED if name in TIERS else name
            if model in (SCRIPTED, THINKING) and not self.gone:
                return Choice(model, skipped, model == THINKING)
            skipped.append(name)
        return Choice(None, skipped)

    def composer_for(self, model: str) -> Composer:
        if self.gone:
            raise TriviumError(f"the model {model} has gone")
        return self.composer

    def to_dict(self) -> dict[str, Any]:
        models = [
            {"id": name, "label": name, "provider": "test", "available": name != GONE}
            for name in (SCRIPTED, THINKING, GONE)
        ]
        return {"default": SCRIPTED, "models": models, "tiers": dict.fromkeys(TIERS, SCRIPTED)}


class Scripted:
    """Answers as `vars["script"]` says (see tests/conformance/knowql/README.md), and keeps the tasks it got."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.released = threading.Event()
        """Ends a script that hangs without heeding anything."""
        self.begun = threading.Event()
        """Set once the pieces of an answer are told."""

    def compose(self, task: Task, progress: Progress) -> Composed:
        self.tasks.append(task)
        script = task.vars.get("script", {}).get(task.ask, task.vars.get("script", {}))
        passages = task.evidence.passages
        quote = passages[0].text.strip().split("\n")[-1][:80] if passages else ""
        text = script.get("text", DEFAULT_TEXT.format(quote=quote) if passages else "The sources do not say.")
        for number in range(script.get("steps", 0)):
            step = Step(f"s{number}", "running", f"Step {number}", fns=["search_chunks"], input_tokens=3)
            progress.step(step)
            step.status = "completed"
            step.tool_calls = [{"fn": "search_chunks", "category": "search", "args": {}, "result": {"hits": 2}}]
            progress.step(step)
        for piece in script.get("pieces", [text] if script.get("stream", True) and text else []):
            progress.delta(piece)
            self._pause(script.get("between", 0), progress)
        self.begun.set()
        if script.get("hang") == "deaf":
            self.released.wait(60)
        elif script.get("hang"):
            self._pause(60, progress)
        self._pause(script.get("sleep", 0), progress)
        if "error" in script:
            raise ComposeError(script["error"])
        if "fault" in script:
            raise RuntimeError(script["fault"])
        cited = [
            Cited(passages[place], passages[place].text.strip()[:40])
            for place in script.get("cite", [0] if passages else [])
        ]
        cited = [Cited(one.passage, script["quote"]) if "quote" in script else one for one in cited]
        warnings = [("max_steps_reached", "max_steps", "stopped")] if script.get("steps", 0) >= task.max_steps else []
        return Composed(
            text,
            cited,
            output_json=script.get("json"),
            found=script.get("found", bool(passages)),
            usage=Usage(script.get("tokens", 100), 20, 0.25, 40),
            warnings=warnings,
        )

    def _pause(self, seconds: float, progress: Progress) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            progress.check()
            time.sleep(min(0.01, seconds))
