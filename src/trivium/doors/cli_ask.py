"""`trivium ask`: a question over contexts, its answer as it comes, its citations with their places."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trivium.doors.cli_options import Choices, pass_choices, with_store

if TYPE_CHECKING:
    from trivium.knowledge_base import KnowledgeBase


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--scope", metavar="SLUGS", multiple=True, help="Contexts to ask, by commas or repeated; 1 to 10.")
@click.option("--session", "session_id", metavar="ID", help="Continue this session, in its own scope.")
@click.option("--continue", "go_on", is_flag=True, help="Continue the newest session.")
@click.option(
    "--shape", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="JSON Schema of the answer."
)
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
    document = {name: value for name, value in given.items() if value}
    text = " ".join(question)
    document["ask"] = sys.stdin.read() if text == "-" else text
    if shape is not None:
        document["shape"] = _read_shape(shape)
    with choices.open(must_exist=True) as kb:
        if go_on and session_id is None:
            session_id = _newest_session(kb)
        if session_id is not None:
            document["session_id"] = session_id
        else:
            document["scope"] = _slugs(scope) or [choices.context or kb.slug]
        if choices.json:
            from trivium.doors.cli_output import print_json

            found = kb.ask(document)
            print_json(found)
        else:
            found = _told(kb, document)
    return 0 if found["status"] == "completed" else 1


def _slugs(scope: tuple[str, ...]) -> list[str]:
    return [slug for part in scope for slug in part.split(",") if slug]


def _read_shape(path: str) -> Any:
    import json

    try:
        return json.loads(Path(path).read_bytes())
    except (ValueError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path} is no JSON: {error}", param_hint="--shape") from None


def _newest_session(kb: KnowledgeBase) -> str:
    from trivium.errors import NotFoundError

    sessions = kb.turns.sessions(1)["sessions"]
    if not sessions:
        raise NotFoundError("There is no session to continue.", "Ask without --continue to begin one.")
    return str(sessions[0]["id"])


def _told(kb: KnowledgeBase, document: dict[str, Any]) -> dict[str, Any]:
    """Run the turn and print its answer as it comes, for people."""
    from trivium.doors.ask_text import answer_text, sources_text
    from trivium.doors.cli_output import printable

    turns = kb.turns
    accepted = turns.submit({**document, "stream": True})
    streamed = False
    try:
        for event in turns.events(accepted.query_id):
            if event is not None and event[1] == "response.output_text.delta":
                click.echo(printable(event[2]["delta"]), nl=False)
                sys.stdout.flush()
                streamed = True
    except KeyboardInterrupt:
        turns.cancel(accepted.query_id)
        raise
    found: dict[str, Any] = turns.response(accepted.query_id)
    if streamed:
        click.echo()
    else:
        click.echo(printable(answer_text(found)), nl=False)
    click.echo(printable(sources_text(found)), nl=False)
    for warning in found["warnings"]:
        click.echo(printable(f"note: {warning['message']}"), err=True)
    if found["status"] != "completed":
        click.echo(printable(f"error {found['status']}: {found['error']}"), err=True)
    return found
