"""`trivium sessions …`: the conversations with a knowledge base are listed, shown, renamed, deleted."""

from __future__ import annotations

from typing import Any

import click

from trivium.doors.cli_options import Choices, pass_choices, whole, with_db, with_store
from trivium.doors.cli_output import print_json, printable
from trivium.errors import NotFoundError

LISTED, MOST_LISTED = 20, 200


@click.group()
def sessions() -> None:
    """Look at the conversations that `trivium ask` and the other doors have had."""


@sessions.command(name="list")
@click.option("--limit", metavar="N", callback=whole(MOST_LISTED, LISTED), help=f"The most to list; {LISTED}.")
@click.option("--cursor", metavar="CURSOR", help="Go on where a list ended.")
@with_store
@pass_choices
def list_(choices: Choices, limit: int | None, cursor: str | None) -> None:
    """List the sessions, newest first; with --context those that ask this context."""
    with choices.open(must_exist=True) as kb:
        found = kb.turns.sessions(limit or LISTED, cursor, choices.context)
    if choices.json:
        print_json(found)
        return
    for item in found["sessions"]:
        scope = ", ".join(item["scope"])
        click.echo(printable(f"{item['id']}  {item['created_at'][:16]}  {scope}: {item['title']}"))
    if found["next_cursor"]:
        click.echo(f"There are more: --cursor {found['next_cursor']}", err=True)
    elif not found["sessions"]:
        click.echo("There are no sessions.", err=True)


@sessions.command()
@click.argument("session_id", metavar="ID")
@with_db
@pass_choices
def show(choices: Choices, session_id: str) -> None:
    """Show a session with its questions and answers, oldest first."""
    with choices.open(must_exist=True) as kb:
        found = kb.turns.session(session_id)
    if choices.json:
        print_json(found)
        return
    click.echo(printable(_head(found)))
    for turn in found["queries"]:
        click.echo(printable(_turn(turn)), nl=False)


def _head(session: dict[str, Any]) -> str:
    lines = [
        f"{session['title']}",
        f"{session['id']}  {session['created_at']}",
        f"scope: {', '.join(session['scope'])}",
    ]
    for name in ("system_prompt", "guardrails"):
        if session[name]:
            lines.append(f"{name}: {session[name]}")
    return "\n".join(lines)


def _turn(turn: dict[str, Any]) -> str:
    from trivium.doors.ask_text import answer_text, sources_text

    head = f"\n{turn['id']}  {turn['status']}" + (f": {turn['error']}" if turn["error"] else "")
    asked = "".join(message["content"] for message in turn["input"])
    quoted = "\n".join(f"> {line}" for line in asked.splitlines())
    return f"{head}\n{quoted}\n{answer_text(turn)}{sources_text(turn)}"


@sessions.command()
@click.argument("session_id", metavar="ID")
@click.argument("title")
@with_db
@pass_choices
def rename(choices: Choices, session_id: str, title: str) -> None:
    """Give a session another title."""
    with choices.open(must_exist=True) as kb:
        found = kb.turns.rename_session(session_id, title)
    if choices.json:
        print_json(found)
    else:
        click.echo(printable(f"{found['id']} is now: {found['title']}"))


@sessions.command()
@click.argument("session_id", metavar="ID")
@with_db
@pass_choices
def delete(choices: Choices, session_id: str) -> None:
    """Delete a session with its turns. A turn that is in progress is cancelled."""
    with choices.open(must_exist=True) as kb:
        deleted = kb.turns.delete_session(session_id)
    if not deleted:
        raise NotFoundError(f"There is no session {session_id!r}.", "`trivium sessions list` lists what there is.")
    if choices.json:
        print_json({"deleted": True, "id": session_id})
    else:
        click.echo(f"Deleted {session_id}.")
