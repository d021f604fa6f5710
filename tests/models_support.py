"""What the tests of composers share: a progress that records, passages, and a composer over a scripted endpoint."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import trivium
from tests.answer_questions import evidence
from tests.openai_server import KEY, OpenAIServer, Script
from trivium.answers.composer import Composed, Composer, Message, Step, Stopped, Task, Tool
from trivium.models.catalogue import Catalogue
from trivium.models.extractive import Extractive
from trivium.search.passage import Evidence, Passage
from trivium.settings import Settings

_numbers = itertools.count(1)


class Recorder:
    """A progress that keeps what it is told; `until` calls of `check` may happen before it says stop."""

    def __init__(self, until: int | None = None) -> None:
        self.steps: list[Step] = []
        self.deltas: list[str] = []
        self._left = until

    def step(self, step: Step) -> None:
        self.check()
        self.steps.append(copy(step))

    def delta(self, text: str) -> None:
        self.check()
        self.deltas.append(text)

    def check(self) -> None:
        if self._left is not None:
            if self._left <= 0:
                raise Stopped
            self._left -= 1

    def stop(self) -> None:
        self._left = 0


def passage(source: str, text: str, *, dated: str | None = None, title: str = "", **more: Any) -> Passage:
    """A chunk that is a whole document."""
    number = next(_numbers)
    fields = {"id": f"chk_{number}", "kind": "chunk", "context": "test", "ctx": 1, "score": 1 / number, **more}
    return Passage(source=source, text=text, dated=dated, title=title, **fields)


def task(ask: str, passages: Sequence[Passage] | None = None, **fields: Any) -> Task:
    """A task over passages, or over the labelled documents when none are given."""
    found = evidence(ask) if passages is None else Evidence(passages=list(passages))
    return Task(ask, fields.pop("history", ()), found, "model", float("inf"), **fields)


def checked(composer: Composer, asked: Task, recorder: Recorder | None = None) -> Composed:
    """What a composer gives, once all that holds for every answer was seen to hold."""
    recorder = recorder or Recorder()
    composed = composer.compose(asked, recorder)
    assert "".join(recorder.deltas) == composed.text
    for cited in composed.cited:
        assert cited.quote.strip()
        assert cited.quote in cited.passage.text
    if asked.shape is None:
        from trivium.knowql.citations import marked

        assert marked(composed.text) == set(range(1, len(composed.cited) + 1))
        assert composed.text.strip()
    else:
        from trivium.shapes.shape import Validator

        assert Validator(asked.shape).first_violation(composed.output_json) is None
    return composed


def quoted(ask: str, passages: Sequence[Passage] | None = None, **fields: Any) -> Composed:
    """What the extractive composer answers, without an embedder."""
    return checked(Extractive(), task(ask, passages, **fields))


def codes(composed: Composed) -> list[str]:
    return [code for code, _, _ in composed.warnings]


@contextmanager
def asking(script: Script, *, refuses: Sequence[str] = (), **settings: Any) -> Iterator[tuple[Composer, OpenAIServer]]:
    """An agent over a scripted endpoint."""
    with OpenAIServer(script, refuses=refuses) as server:
        fields = {"llm_base_url": server.base_url, "llm_api_key": KEY, "llm_models": "test-model", **settings}
        yield Catalogue.from_settings(Settings(**fields)).composer_for("standard"), server


def said(text: str) -> Message:
    return Message("user", text)


def tool(name: str, run: Callable[[dict[str, Any]], Any], properties: dict[str, Any] | None = None) -> Tool:
    schema = {"query": {"type": "string", "minLength": 1}} if properties is None else properties
    parameters = {"type": "object", "properties": schema, "required": list(schema), "additionalProperties": False}
    return Tool(name, f"The tool {name}.", parameters, "search", run)


def asked_of(documents: dict[str, str], ask: str, **fields: Any) -> dict[str, Any]:
    """The response of the built-in composer to a question over these documents, without an embedder."""
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("documents")
        for path, text in documents.items():
            context.add_bytes(path, text.encode())
        context.curate()
        return context.ask(ask, model="builtin/extractive", **fields)
