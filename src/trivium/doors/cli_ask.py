"""`trivium ask`: a question over contexts, its answer as it comes, its citations with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trivium.doors.cli_options import Choices, pass_choices, with_store
from trivium.knowql.errors import QueryError, refusal
from trivium.knowql.hints import CLI, Hint, worded

if TYPE_CHECKING:
    from trivium import KnowledgeBase

_OPTIONS = {"max_retrieved": "--max", "timeout_seconds": "--timeout"}
_LONGEST_SHAPE = 1 << 22
_FIELDS = re.compile("|".join(_OPTIONS))


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--scope", metavar="SLUGS", multiple=True, help="Contexts to ask, by commas or repeated; 1 to 10.")
@click.option("--session", "session_id", metavar="ID", help="Continue this session, in its own scope.")
@click.option("--continue", "go_on", is_flag=True, help="Continue the newest session.")
@click.option("--shape", metavar="SCHEMA", help="JSON Schema of the answer: a file, or the JSON itself.")
@click.option("--retrieval-only", is_flag=True, help="Show what is found, and compose nothing.")
@click.option("--max", "max_retrieved", type=int, metavar="N", help="The most passages with --retrieval-only.")
@click.option("--model", metavar="ID", help="Model or tier; builtin/extractive quotes and needs none.")
@click.option("--timeout", "timeout_seconds", type=int, metavar="SECONDS", help="End the turn after this time.")
@with_store
@pass_choices
def ask(
    choices: Choices,
    /,
    question: tuple[str, ...],
    scope: tuple[str, ...],
    session_id: str | None,
    go_on: bool,
    shape: str | None,
    **given: Any,
) -> int:
    """Ask a question of one or more contexts; the answer cites what it rests on.

    Without --scope it asks --context, or `default`. QUESTION `-` is read from standard input. Text goes to standard
    output as it comes, then the citations; with --json the Response Document. Exit 1 when the turn fails.
    """
    document = {name: value for name, value in given.items() if value is not None and value is not False}
    text = " ".join(question)
    document["ask"] = _from_stdin() if text == "-" else text
    for name, value in (
        ("QUESTION", text),
        ("--scope", ",".join(scope)),
        ("--session", session_id),
        ("--model", given["model"]),
    ):
        if not _is_utf8(value or ""):
            raise click.UsageError(f"{name} holds bytes that are no UTF-8.")
    if scope and not _slugs(scope):
        raise click.UsageError("--scope names no context.")
    if shape is not None:
        document["shape"] = _read_shape(shape)
    if given["max_retrieved"] is not None and not given["retrieval_only"]:
        raise click.UsageError("--max has no effect without --retrieval-only.")
    if not document["ask"].strip():
        hint = Hint("{ask}")
        raise refusal("ask_required", "The question is empty.", param="ask", hint=hint)
    with choices.open(must_exist=True) as kb:
        if go_on and session_id is None:
            session_id = _newest_session(kb)
        if session_id is not None:
            document["session_id"] = session_id
            if scope:
                document["scope"] = _slugs(scope)
        else:
            document["scope"] = _slugs(scope) or [choices.context or kb.slug]
        if choices.json:
            from trivium.doors.cli_output import print_json

            with _in_options():
                found = kb.ask(document)
            print_json(found)
        else:
            with _in_options():
                found = _told(kb, document)
    return 0 if found["status"] == "completed" else 1


def _slugs(scope: tuple[str, ...]) -> list[str]:
    return [slug for part in scope for slug in map(str.strip, part.split(",")) if slug]


def _from_stdin() -> str:
    from trivium.doors.cli_output import read_stdin

    text = read_stdin()
    if not isinstance(text, str):
        raise refusal("invalid_value", "The question is longer than 32,768 characters.", hint="Shorten it.")
    return text


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_shape(path: str) -> Any:
    import json

    from trivium.doors.cli_output import printable
    from trivium.doors.json_numbers import whole_number

    inline = path.lstrip().startswith("{")
    try:
        if not path.strip():
            raise ValueError("it is empty")
        data = path if inline else _begin(path)
        return json.loads(data, parse_int=whole_number, parse_constant=_no_constant)
    except OSError as error:
        fault = f"{path}: {error.strerror}"
    except RecursionError:
        fault = f"{'it' if inline else path} is nested too deep"
    except ValueError as error:
        fault = f"{'it' if inline or not path.strip() else path} is no JSON: {error}"
    told = printable(f"{fault}. Give a file, or a JSON Schema that begins with {{.")
    raise click.BadParameter(told, param_hint="--shape")


def _begin(path: str) -> bytes:
    """The file, or of a very long one enough to be refused."""
    with Path(path).open("rb") as file:
        return file.read(_LONGEST_SHAPE)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _as_options(text: str) -> str:
    """A text of KnowQL with the names of options in the place of the fields that they set."""
    return _FIELDS.sub(lambda field: _OPTIONS[field[0]], text)


@contextmanager
def _in_options() -> Iterator[None]:
    """A refusal names the option that it is about."""
    try:
        yield
    except QueryError as error:
        if error.param in _OPTIONS:
            error.message = _as_options(error.message)
            error.hint = None if error.hint is None else _as_options(worded(error.hint, CLI) or "")
        raise


def _newest_session(kb: KnowledgeBase) -> str:
    from trivium.errors import NotFoundError

    sessions = kb.turns.sessions(1)["sessions"]
    if not sessions:
        raise NotFoundError("There is no session to continue.", "Ask without --continue to begin one.")
    return str(sessions[0]["id"])


def _told(kb: KnowledgeBase, document: dict[str, Any]) -> dict[str, Any]:
    """Run the turn and print its answer as it comes, for people."""
    from trivium.doors.ask_text import answer_text, notes, sources_text
    from trivium.doors.cli_output import printable

    turns = kb.turns
    accepted = turns.submit({**document, "stream": True})
    streamed = False
    try:
        for event in turns.events(accepted.query_id):
            if event is not None and event[1] == "response.output_text.delta":
                click.echo(printable(event[2]["delta"]), nl=False)
                streamed = True
    except (KeyboardInterrupt, OSError):  # nobody reads on
        turns.cancel(accepted.query_id)
        raise
    found: dict[str, Any] = turns.response(accepted.query_id)
    if streamed:
        click.echo()
    else:
        click.echo(printable(answer_text(found)), nl=False)
    click.echo(printable(sources_text(found)), nl=False)
    for note in notes(found):
        click.echo(printable(f"note: {_as_options(note)}"), err=True)
    if found["status"] != "completed":
        click.echo(printable(f"error {found['status']}: {found['error']}"), err=True)
        if (found["error"] or "").startswith("the model's endpoint"):
            click.echo("hint: Check TRIVIUM_LLM_BASE_URL, or ask with --model builtin/extractive.", err=True)
    return found
