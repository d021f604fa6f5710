"""`trivium demo`: the shipped sample knowledge and what can be done with it."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trivium.doors.cli_kip import print_table
from trivium.doors.cli_options import Choices, opened, pass_choices, with_json
from trivium.doors.cli_output import print_error, print_json, to_json
from trivium.errors import StoreError
from trivium.location import MEMORY, locate

if TYPE_CHECKING:
    from trivium import Context


@click.command()
@click.option("--keep", metavar="FILE", help="Leave the database in this new file, to go on with.")
@with_json
@pass_choices
def demo(choices: Choices, keep: str | None) -> None:
    """See what the memory can do, on sample knowledge about programming languages.

    Works offline, on a database that is removed at the end unless --keep names a file.
    """
    from trivium.doors.demo_ask import answers
    from trivium.doors.demo_scenes import SCENES
    from trivium.doors.demo_why import why
    from trivium.kip.capsule_import import import_capsules

    with _database(keep) as path, _capsules() as capsules, opened(str(path)) as kb:
        report = import_capsules(kb, capsules)
        stage = PrintedStage(kb) if not choices.json else RecordedStage(kb)
        stage.title("Sample knowledge")
        stage.say(
            f"Imported {report.statements} statements from {report.sources} capsules that come with Trivium: "
            "programming languages, their makers, ideas, lineage and disputes."
        )
        for scene in SCENES:
            scene(stage)
        answers(stage, kb.context(kb.slug))
        why(stage, kb)
    if isinstance(stage, RecordedStage):
        print_json(stage.steps)
    elif keep:
        click.echo(f"\nThe database is in {keep}. Go on with: trivium --db {shlex.quote(keep)} shell")
    else:
        click.echo("\nNow your own: trivium kip 'DESCRIBE PRIMER', trivium add FOLDER, trivium index, trivium mcp.")


@contextmanager
def _database(keep: str | None) -> Iterator[Path]:
    if keep is not None:
        path = locate(keep)
        if path == MEMORY or os.path.lexists(path):
            told = "keeps nothing" if path == MEMORY else "exists already"
            raise StoreError(f"{keep} {told}.", "Give --keep a new file.")
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="trivium-demo-") as folder:
        yield Path(folder) / "demo.db"


@contextmanager
def _capsules() -> Iterator[list[Path]]:
    """The demo's capsule files, in order."""
    with as_file(files("trivium") / "capsules") as folder:
        yield sorted(folder.glob("demo-languages*.kip"))


class PrintedStage:
    """Plays scenes for people."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._last: Any = None

    def title(self, text: str) -> None:
        click.secho(f"\n== {text} " + "=" * (74 - len(text)), bold=True, fg="cyan")

    def say(self, text: str) -> None:
        click.echo("\n" + click.wrap_text(text, width=78))

    def run(self, command: str, /, **parameters: Any) -> Any:
        lines = [*command.splitlines(), *([f"// with {to_json(parameters, indent=None)}"] if parameters else [])]
        if self._last == (command, parameters):
            lines = [f"{lines[0]} … the same again"]
        self._last = (command, parameters)
        click.echo("\n" + "\n".join(f"{'kip>' if not i else '    '} {line}" for i, line in enumerate(lines)))
        response = self.context.execute_kip({"command": command, "parameters": parameters})
        if "error" in response:
            print_error(response["error"], command, err=False)
        elif command == "DESCRIBE PRIMER":
            click.echo(to_json(abridged(response["result"])))
        else:
            print_table(command, response, brief=True)
        return response.get("result")

    def why(self, context: Context, target: str, kind: str | None = None) -> None:
        from trivium.why.render import render_text

        click.echo(f"\n$ trivium why {target}{f' --kind {kind}' if kind else ''}")
        prepared = context.repository_index().prepared
        answer = context.why(target, kind=kind)
        view = prepared.local
        text = render_text(answer, view.entity, beyond=view.beyond, kind=kind, commits=prepared.head.commits)
        click.echo(text.rstrip())

    def ask(self, context: Context, question: str, **fields: Any) -> dict[str, Any]:
        from trivium.doors.ask_text import answer_text, sources_text

        shown = f" --shape {shlex.quote(to_json(fields['shape'], indent=None))}" if "shape" in fields else ""
        click.echo(f"\n$ trivium ask {shlex.quote(question)}{shown}")
        document = context.ask(question, **fields)
        click.echo((answer_text(document) + sources_text(document)).rstrip())
        return document

    def use(self, context: Context) -> None:
        self.context = context


class RecordedStage:
    """Plays scenes for programs: the steps with their requests and responses."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.steps: list[dict[str, Any]] = []
        self._scene = ""

    def title(self, text: str) -> None:
        self._scene = text

    def say(self, text: str) -> None:
        self.steps.append({"scene": self._scene, "text": text})

    def run(self, command: str, /, **parameters: Any) -> Any:
        request = {"command": command, "parameters": parameters}
        response = self.context.execute_kip(request)
        self.steps.append({"scene": self._scene, "request": request, "response": response})
        return response.get("result")

    def why(self, context: Context, target: str, kind: str | None = None) -> None:
        answer = context.why(target, kind=kind)
        self.steps.append({"scene": self._scene, "why": target, "kind": kind, "answer": answer})

    def ask(self, context: Context, question: str, **fields: Any) -> dict[str, Any]:
        document = context.ask(question, **fields)
        self.steps.append({"scene": self._scene, "ask": question, **fields, "document": document})
        return document

    def use(self, context: Context) -> None:
        self.context = context


def abridged(value: Any) -> Any:
    """A JSON value with long texts and lists cut short, each cut marked.

    >>> abridged({"list": [1, 2, 3, 4], "text": "x" * 80})["list"]
    [1, 2, '… and 2 more']
    """
    if isinstance(value, dict):
        return {key: abridged(item) for key, item in value.items() if item not in (None, [], {})}
    if isinstance(value, list):
        rest = [f"… and {len(value) - 2} more"] if len(value) > 3 else value[2:]
        return [abridged(item) for item in [*value[:2], *rest]]
    if isinstance(value, str) and len(value) > 70:
        return value[:70] + "…"
    return value
