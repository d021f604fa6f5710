"""The agent loop over a language model: passages and read-only tools in, an answer with checked citations out.

The model may call the task's tools, `max_steps` times at most, then it answers; a model or endpoint without tool calls
answers from the passages at hand. Nothing that the model writes is believed: prose goes through `AnswerStream`, a shape
is validated, repaired twice and checked against the passages, and without any passage there is no answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from trivium.answers.composer import Cited, Composed, ComposeError, Progress, Step, Task, Usage
from trivium.answers.framing import NOT_FOUND, sentence
from trivium.answers.ranking import ENOUGH, UNLIKELY
from trivium.counting import counted
from trivium.language.languages import language_of
from trivium.language.matching import Vocabulary
from trivium.language.question import understand
from trivium.language.statements import Statement, statements_of
from trivium.models import prompt
from trivium.models.answer_stream import AnswerStream
from trivium.models.chat import CALLS, LENGTH, THINKING, TOOLS, ChatClient, ChatError, ChatRequest, Reply
from trivium.models.claims import refuses
from trivium.models.extractive import Extractive
from trivium.models.grounds import THE_VALUE, Grounds
from trivium.models.json_answer import MISSING, NoJson, leaves, read_json
from trivium.models.model import FREE, Model
from trivium.models.support import Support
from trivium.models.tool_calls import Called, ToolRunner, tool_definitions
from trivium.search.passage import Evidence, Passage
from trivium.shapes.shape import Validator

ENDPOINT = "the model's endpoint"
"""What faults call the endpoint."""
REPAIRS = 2
_RESERVE = 400
_MOST_DOUBTS = 5
_MOST_SOURCES = 3
_RESULT_CHARACTERS = 12_000
_ASK_TO_CITE = (
    "Your answer names no passage that says it. Answer again from the passages alone, with the number of a passage in "
    f"square brackets after each sentence; or write {prompt.NOT_FOUND}."
)
_ASK_TO_ANSWER = f"You gave no answer. Answer from the passages, or write {prompt.NOT_FOUND}."


class Agent:
    """A composer that asks a language model; `quoting` composes what is left when a model's answer rests on nothing."""

    def __init__(self, model: Model, client: ChatClient, quoting: Extractive) -> None:
        self._model = model
        self._client = client
        self._quoting = quoting

    def compose(self, task: Task, progress: Progress) -> Composed:
        """Raises: ComposeError, Stopped."""
        turn = _Turn(self._model, self._client, self._quoting, task, progress)
        try:
            composed = turn.shaped() if task.shape is not None else turn.prose()
        except ChatError as fault:
            turn.count(fault.usage)
            raise ComposeError(self._located(f"{fault}"), turn.usage) from fault
        composed.usage = turn.usage
        composed.warnings = list(dict.fromkeys([*turn.warnings, *composed.warnings]))
        composed.synthesis_ms = turn.synthesis_ms
        return composed

    def _located(self, fault: str) -> str:
        """A fault that names the endpoint's host, never more of its address."""
        host = self._model.host
        return fault.replace(ENDPOINT, f"{ENDPOINT} {host}", 1) if host else fault


class _Silent:
    """A sink that shows nothing, so that a request may always be made again."""

    def text(self, piece: str) -> None: ...

    def restart(self) -> bool:
        return True


class _Turn:
    """One turn of a model: what it was told, what it may cite, what it has cost."""

    def __init__(self, model: Model, client: ChatClient, quoting: Extractive, task: Task, progress: Progress) -> None:
        self._model = model
        self._client = client
        self._quoting = quoting
        self._task = task
        self._progress = progress
        self._nonce = prompt.new_nonce()
        self._support = Support()
        self._known: dict[tuple[int, str], int] = {}
        self._runner = ToolRunner(task.tools)
        self._tools = tool_definitions(task.tools) if model.calls_tools else []
        self._statements: tuple[int, list[Statement]] | None = None
        self._asked = 0
        self._unknown = False
        self._at_bound = False
        """Whether `max_steps` ended the search while the model would have gone on."""
        self._messages: list[dict[str, Any]] = []
        self.usage = Usage(cost_usd=0.0 if model.prices is not None else None)
        self.warnings: list[tuple[str, str | None, str]] = []
        self.synthesis_ms = 0

    # --- prose ------------------------------------------------------------------------------------

    def prose(self) -> Composed:
        if self._nothing_to_ask():
            return self._not_found()
        said = "\n".join([self._task.ask, *self._task.instructions, *(one.content for one in self._task.history)])
        self._support.hear(said)
        self._support.hear(json.dumps(self._task.vars, ensure_ascii=False))
        stream = AnswerStream(self._support, said, self._progress.delta)
        reply = self._gathered(stream)
        stream.finish(cut=reply.finish == LENGTH)
        if not stream.shown and self._may_do_better(stream):
            stream, reply = self._asked_again(stream, said)
        if not stream.shown and stream.cited and not self._model.small:
            stream.release()
        if stream.shown:
            return self._answered(stream, reply)
        if self._support.is_empty:
            return self._not_found()
        if refuses(stream.said):
            return self._quoted("found no answer") if self._model.small and self._likely(ENOUGH) else self._not_found()
        return self._quoted("gave an answer that rests on no stored text" if stream.said else "gave no answer")

    def _may_do_better(self, stream: AnswerStream) -> bool:
        """Whether it is worth asking again; a small model that cites what does not support it will not learn."""
        return not self._support.is_empty and not refuses(stream.said) and not (stream.cited and self._model.small)

    def _answered(self, stream: AnswerStream, reply: Reply) -> Composed:
        self._told_of(stream)
        self._warn_of_unmet_words()
        if reply.finish == LENGTH:
            self._warn("output_truncated", None, "The answer was cut at the output limit.")
        return Composed("".join(stream.shown), stream.cited)

    def _quoted(self, why: str) -> Composed:
        """Sentences of the passages instead of what the model wrote."""
        self._warn("weak_support", None, f"The model {why}; sentences are quoted instead.")
        evidence = Evidence(passages=list(self._support.passages.values()))
        return self._quoting.compose(replace(self._task, evidence=evidence), self._progress)

    def _likely(self, confidence: float) -> bool:
        """Whether the passages answer the question as surely as this, by their words alone."""
        passages = list(self._support.passages.values()) or self._task.evidence.passages
        return self._quoting.confidence(self._task.ask, passages) >= confidence

    def _asked_again(self, stream: AnswerStream, said: str) -> tuple[AnswerStream, Reply]:
        """Ask once more, when there is no answer, or one that names no passage and that none says."""
        self._messages.append({"role": "assistant", "content": stream.said or "(empty)"})
        self._messages.append({"role": "user", "content": _ASK_TO_CITE if stream.said else _ASK_TO_ANSWER})
        again = AnswerStream(self._support, said, self._progress.delta)
        reply = self._chat(again, tools=False)
        again.finish(cut=reply.finish == LENGTH)
        return again, reply

    def _told_of(self, stream: AnswerStream) -> None:
        if stream.dropped:
            self._warn("citation_dropped", None, f"{stream.dropped} markers named no passage and were left out.")
        if stream.moved:
            self._warn("citation_moved", None, f"{stream.moved} citations now name the passage that says so.")
        if stream.uncited:
            self._warn("uncited", None, "Part of the answer rests on results of tools, which cannot be cited.")
        if stream.links:
            self._warn("link_dropped", None, f"{stream.links} pictures or unknown addresses were left out.")
        if stream.refuses:
            self._warn("weak_support", None, "The model added that the passages do not hold the answer.")
        for weak in stream.weak[:_MOST_DOUBTS]:
            self._warn("weak_support", None, weak)
        if len(stream.weak) > _MOST_DOUBTS:
            more = counted(len(stream.weak) - _MOST_DOUBTS, "more sentence")
            self._warn("weak_support", None, f"The passages do not plainly say {more}.")

    def _warn_of_unmet_words(self) -> None:
        """Say which names and codes of the question stand in no passage: small models answer about others."""
        terms = [term.word for term in understand(self._task.ask).terms if term.must]
        known = Vocabulary([self._support.words])
        unmet = [word for word in terms if not known.met_by(word)]
        if unmet:
            self._warn("weak_support", None, f"No passage holds these words of the question: {', '.join(unmet[:8])}.")

    def _nothing_to_ask(self) -> bool:
        """Whether neither passages nor tools are there, or none that could do: a model could only make things up.

        Large models judge themselves what passages are worth; small ones answer anything.
        """
        if self._tools:
            return False
        return not self._task.evidence.passages or (self._model.small and not self._likely(UNLIKELY))

    def _not_found(self) -> Composed:
        text = sentence(NOT_FOUND, language_of(self._task.ask))
        self._progress.delta(text)
        self._warn("no_evidence", None, "No stored text answers the question.")
        return Composed(text, found=False)

    # --- shape ------------------------------------------------------------------------------------

    def shaped(self) -> Composed:
        shape = self._task.shape or {}
        if self._nothing_to_ask():
            raise ComposeError(f"output did not conform to shape: no evidence for `{_first(shape)}`", self.usage)
        check = Validator(shape)
        reply = self._gathered(_Silent())
        fault = ""
        insisted: list[str] = []
        for attempt in range(REPAIRS + 1):
            value, fault = _read(reply, check)
            if self._support.is_empty and (fault or any(leaves(value))):
                raise self._misshapen(f"no evidence for `{_first(shape)}`")
            if not fault:
                grounds = Grounds(value, self._support, shape, self._task.ask, self._opinion)
                self._warn_of_unmet_words()
                if not grounds.unfounded or (grounds.unfounded == insisted and (grounds.cited or grounds.told)):
                    return self._grounded(value, grounds)
                insisted = grounds.unfounded
                fault = f"no passage holds the value of `{insisted[0]}`"
            if attempt < REPAIRS:
                self._messages.append({"role": "assistant", "content": reply.text[:4_000] or "(empty)"})
                self._messages.append(
                    {"role": "user", "content": f"That is wrong: {fault}. Answer with the JSON alone."}
                )
                reply = self._chat(_Silent(), tools=False)
        raise self._misshapen(fault)

    def _misshapen(self, fault: str) -> ComposeError:
        """The failure of a shaped turn; where the search was cut off, with what it had found and what helps."""
        told = f"output did not conform to shape: {fault}"
        if self._at_bound:
            passages = self._support.passages.values()
            sources = list(dict.fromkeys(one.source or one.name or one.context for one in passages))
            named = ", ".join(sources[:_MOST_SOURCES]) + (", …" if len(sources) > _MOST_SOURCES else "")
            found = counted(len(passages), "passage") + (f" ({named})" if named else "")
            told += (
                f"; the search was ended by max_steps = {self._task.max_steps}, with {found} found. Raise max_steps,"
                " ask for less in one shape, or name another model; retrieval_only shows what was found"
            )
        return ComposeError(told, self.usage)

    def _grounded(self, value: Any, grounds: Grounds) -> Composed:
        """A conforming value with its citations, when anything in it rests on a passage."""
        if grounds.told:
            self._warn("uncited", None, "Part of the answer rests on results of tools, which cannot be cited.")
        if grounds.missing is not None:
            raise self._misshapen(f"no evidence for `{grounds.missing}`")
        for path in grounds.unfounded + grounds.loose:
            of = "" if path == THE_VALUE else f" of {path}"
            self._warn("weak_support", path, f"No passage says the value{of}.")
        cited = grounds.cited
        if not cited and not grounds.is_empty:  # choices, yes and no: what the question is about
            backing = self._support.best(self._task.ask)
            if backing is not None and backing.plain:
                cited = [Cited(self._support.passages[backing.number], backing.quote)]
        found = bool(cited or grounds.told)
        if not found:
            self._warn("no_evidence", None, "No stored text answers the question.")
        return Composed("", cited, value, found)

    def _opinion(self, path: str) -> tuple[bool, list[Cited]] | None:
        """What the passages plainly say to the yes-or-no question of a place in the value."""
        from trivium.shapes.fill import fill

        self._progress.check()
        if self._statements is None or self._statements[0] != len(self._support.passages):
            passages = list(self._support.passages.values())
            self._statements = len(passages), statements_of(passages)
        name = path.rpartition(".")[2].partition("[")[0]
        one: dict[str, Any] = {"type": "boolean"}
        shape = {"type": "object", "properties": {name: one}, "required": [name]} if name else one
        try:
            filled = fill(replace(self._task, shape=shape), self._statements[1], self._progress.check)
        except ComposeError:
            return None
        value = filled.output_json[name] if name else filled.output_json
        return bool(value), filled.cited

    # --- the loop ---------------------------------------------------------------------------------

    def _gathered(self, sink: Any) -> Reply:
        """Let the model call tools until it answers, `max_steps` times at most; then it must answer."""
        room = self._model.context - self._model.output - _RESERVE
        head = [prompt.system_message(self._task, tools=bool(self._tools))]
        if self._task.shape is None:
            head += prompt.example_messages(self._nonce)
        recent = _recent(self._task.history, room // 4)
        if self._task.history_is_cut or len(recent) < len(self._task.history):
            message = f"Of the turns before this one the model was told the newest {len(recent) // 2} alone."
            self._warn("history_cut", None, message)
        head += prompt.history_messages(recent)
        room -= sum(prompt.estimated_tokens(str(one["content"])) for one in head)
        room -= prompt.estimated_tokens(self._task.ask + str(self._task.vars or "") + str(self._task.shape or ""))
        room -= prompt.estimated_tokens(str(self._tools)) if self._tools else 0
        self._room = room
        passages = self._numbered(prompt.fitting(self._task.evidence.passages, room, self._model.most_passages))
        self._messages = [*head, prompt.question_message(self._task, passages, self._nonce)]
        self._room -= sum(prompt.passage_tokens(one) for _, one in passages)
        for _ in range(self._task.max_steps if self._tools else 0):
            reply = self._chat(sink, tools=True)
            if reply.finish != CALLS or TOOLS in reply.refused:
                return reply
            if not sink.restart():  # what is shown stays; the answer goes on after it
                sink.text("\n\n")
            self._answer_calls(reply)
        if self._tools:
            self._at_bound = True
            self._warn("max_steps_reached", "max_steps", f"The search ended after {self._task.max_steps} steps.")
        return self._chat(sink, tools=False)

    def _answer_calls(self, reply: Reply) -> None:
        """Run the calls of a reply and tell the model what came of them, as data."""
        step = self._step
        begun = time.monotonic()
        called = self._runner.run(reply.calls, self._progress)
        self._messages.append(
            {
                "role": "assistant",
                "content": reply.text or None,
                "tool_calls": [
                    {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
                    for one in reply.calls
                ],
            }
        )
        for one in called:
            self._messages.append({"role": "tool", "tool_call_id": one.call.id, "content": self._result(one)})
        step.fns = list(dict.fromkeys(one.summary["fn"] for one in called))
        step.tool_calls = [one.summary for one in called]
        step.cost["execute_ms"] = round((time.monotonic() - begun) * 1000)
        found = sum(len(one.result.passages) for one in called if one.result is not None)
        failed = sum(one.error is not None for one in called)
        step.commentary = f"Called {', '.join(step.fns)}: {counted(found, 'passage')}" + (
            f", {failed} failed" if failed else ""
        )
        step.status = "completed"
        self._progress.step(step)

    def _result(self, called: Called) -> str:
        if called.result is None:
            return prompt.error_text(called.error or "it failed", self._nonce)
        room = max(self._room, 200)
        passages = self._numbered(prompt.fitting(called.result.passages, room, self._model.most_passages))
        beside = prompt.beside_passages(called.result)
        if (beside and not called.result.passages) or _tells(beside):
            self._support.add_result(json.dumps(beside, ensure_ascii=False))
        text = prompt.result_text(beside, passages, self._nonce, min(_RESULT_CHARACTERS, room * 3))
        self._room -= prompt.estimated_tokens(text)
        return text

    def _chat(self, sink: Any, *, tools: bool) -> Reply:
        """One request to the model, told as a step."""
        self._progress.check()
        self._asked += 1
        step = Step(f"m{self._asked}", "running", f"Asking {self._model.id}")
        self._progress.step(step)
        begun = time.monotonic()
        request = ChatRequest(
            self._model.name,
            self._messages,
            self._tools if tools else [],
            self._task.shape if not tools and self._task.shape is not None and _is_object(self._task.shape) else None,
            self._task.thinking_level if self._model.thinks else None,
            self._model.output,
        )
        try:
            reply = self._client.chat(request, sink, self._progress)
        except BaseException:
            step.status, step.commentary = "failed", f"{self._model.id} gave no answer"
            raise
        milliseconds = round((time.monotonic() - begun) * 1000)
        self.synthesis_ms = milliseconds
        self.count(reply.usage)
        step.input_tokens, step.output_tokens = reply.usage.input_tokens, reply.usage.output_tokens
        step.total_tokens = step.input_tokens + step.output_tokens
        step.cum_input_tokens, step.cum_output_tokens = self.usage.input_tokens, self.usage.output_tokens
        step.cost = {
            "tokens_in": step.input_tokens,
            "tokens_out": step.output_tokens,
            "decide_ms": milliseconds,
            "execute_ms": 0,
        }
        self._step = step
        if THINKING in reply.refused and request.thinking is not None:
            self._warn("control_ignored", "thinking_level", f"{self._model.id} does not take a thinking level.")
        if reply.finish != CALLS or not tools:
            step.status = "completed"
            step.commentary = f"{self._model.id} answered"
            self._progress.step(step)
        return reply

    # --- what was given and spent -----------------------------------------------------------------

    def _numbered(self, passages: Sequence[Passage]) -> list[tuple[int, Passage]]:
        """Passages with the numbers under which they can be cited; those given before keep theirs and are left out."""
        fresh: list[tuple[int, Passage]] = []
        for passage in passages:
            key = passage.ctx, passage.id
            if key not in self._known:
                self._known[key] = len(self._known) + 1
                self._support.add(self._known[key], passage)
                fresh.append((self._known[key], passage))
        return fresh

    def count(self, usage: Usage) -> None:
        """Add what a request has cost."""
        self.usage.input_tokens += usage.input_tokens
        self.usage.output_tokens += usage.output_tokens
        self.usage.cached_tokens += usage.cached_tokens
        prices, spent = self._model.prices, self.usage
        self._unknown = self._unknown or not usage.input_tokens
        if prices is not None and (not self._unknown or prices == FREE):
            spent.cost_usd = prices.cost(spent.input_tokens, spent.output_tokens, spent.cached_tokens)
        else:
            spent.cost_usd = None

    def _warn(self, code: str, param: str | None, message: str) -> None:
        self.warnings.append((code, param, message))


def _read(reply: Reply, check: Validator) -> tuple[Any, str]:
    """The value of a reply, and what is wrong with it."""
    if reply.finish == LENGTH:
        return None, "it was cut at the output limit"
    if reply.finish == CALLS and not reply.text.strip():
        return None, "tools were called instead of an answer, when no more calls were taken"
    try:
        value = read_json(reply.text)
    except NoJson as fault:
        return None, str(fault) if reply.text.strip() else "it is empty"
    if isinstance(value, dict) and set(value) == {MISSING} and not check.conforms(value):
        return None, f"no evidence for `{str(value[MISSING])[:100]}`"
    return value, check.first_violation(value) or ""


def _tells(value: Any) -> bool:
    """Whether what stands beside passages tells more than single values about them, such as how many there are."""
    return isinstance(value, dict) and any(isinstance(one, (dict, list)) and bool(one) for one in value.values())


def _first(shape: dict[str, Any]) -> str:
    """The property to name when there is no evidence at all."""
    names = list(shape.get("required", ())) or list(shape.get("properties", ()))
    return str(names[0]) if names else "the value"


def _is_object(shape: dict[str, Any]) -> bool:
    """Whether a shape can be asked for natively: endpoints take objects at the root alone."""
    return shape.get("type") == "object"


def _recent(history: Sequence[Any], tokens: int) -> list[Any]:
    """The last messages that fit into a number of tokens, an answer never without its question."""
    kept: list[Any] = []
    for message in reversed(history):
        tokens -= prompt.estimated_tokens(message.content)
        if tokens < 0:
            break
        kept.append(message)
    while kept and kept[-1].role == "assistant":
        kept.pop()
    return kept[::-1]
