"""The command line: `trivium COMMAND …`. This file holds the group, the global options and the guard around all.

Commands live in `cli_*.py`. A command's module is imported when the command is used, heavy libraries inside it when
they are needed, so that one-line commands start fast.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from trivium.doors.cli_options import Choices
from trivium.doors.cli_output import error_dict, print_error, print_json
from trivium.doors.streams import open_missing, prepare
from trivium.errors import TriviumError

COMMANDS: dict[str, tuple[str, str, str]] = {
    "kip": ("cli_kip", "kip", "Execute a KIP command, a request, or a stream of requests."),
    "shell": ("cli_shell", "shell", "Type KIP commands one after another."),
    "index": ("cli_why", "index", "Read a repository for why."),
    "why": ("cli_why", "why", "Tell what is recorded about a path, symbol or concept of a repository."),
    "demo": ("cli_demo", "demo", "See what the memory can do, on sample knowledge."),
    "import": ("cli_store", "import_", "Write capsules into the memory."),
    "export": ("cli_store", "export", "Print a context as a capsule."),
    "check": ("cli_source", "check", "Find mistakes in KIP texts without executing them."),
    "format": ("cli_source", "format_", "Lay out KIP texts in the standard form."),
    "contexts": ("cli_store", "contexts", "List the contexts of the database."),
    "context": ("cli_context", "context", "Make contexts and look after them."),
    "add": ("cli_add", "add", "Import files, folders and archives into a context."),
    "curate": ("cli_add", "curate", "Read what changed in the sources of a context."),
    "sources": ("cli_add", "sources", "List the sources of a context."),
    "ask": ("cli_ask", "ask", "Answer a question from documents and facts, with citations."),
    "models": ("cli_models", "models", "List the models that may compose answers."),
    "sessions": ("cli_sessions", "sessions", "Look at past conversations."),
    "serve": ("cli_serve", "serve", "Serve all of it over HTTP."),
    "embed": ("cli_embed", "embed", "Make the vectors that search by meaning lacks."),
    "backup": ("cli_store", "backup", "Copy the database while it is in use."),
    "doctor": ("cli_store", "doctor", "Check the database and the installation."),
    "mcp": ("cli_mcp", "mcp", "Serve the memory to an AI agent over MCP (stdio)."),
}
"""Command name: its module, its function there, and its line in the list of commands."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, function, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"trivium.doors.{module}"), function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            from trivium.knowql.hints import did_you_mean

            near = did_you_mean(name, COMMANDS)
            ctx.fail(f"No such command {name!r}. {near or '`trivium --help` lists what there is.'}".rstrip())
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"trivium {version('trivium')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--db", metavar="URL", envvar="TRIVIUM_DB", help="Database file, or :memory:.  [env: TRIVIUM_DB]")
@click.option("--context", metavar="SLUG", envvar="TRIVIUM_CONTEXT", help="Context to act on.  [env: TRIVIUM_CONTEXT]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print it.")
@click.pass_context
def cli(ctx: click.Context, db: str | None, context: str | None, as_json: bool) -> None:
    """Trivium: one knowledge base in one file, three roads: remember (KIP 1.0), ask (KnowQL), explain (why).

    Start with `trivium demo`. Without --db the memory is trivium.db in your data folder. These options also stand
    after the command. Exit codes: 0 success, 1 failure, 2 wrong command line.
    """
    ctx.obj = Choices(db, context, as_json)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process."""
    run_program(cli, "trivium", arguments)


def run_program(program: click.Command, name: str, arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a program and leave the process; every failure is a sentence with a hint, never a stack trace.

    `TRIVIUM_DEBUG=1` shows the trace as well.
    """
    gc.set_threshold(200_000, *gc.get_threshold()[1:])  # most of what a command makes, it keeps until it ends
    open_missing()
    for stream in (sys.stdout, sys.stderr):
        prepare(stream)
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(program, name, arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()
        code = 1
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        code = 130
    except Exception as error:
        code = 1
        _report(error, as_json)
    sys.exit(code)


def _run(program: click.Command, name: str, arguments: Sequence[str] | None) -> int:
    try:
        result: Any = program.main(args=arguments, prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return result if isinstance(result, int) else 0


def _report(error: Exception, as_json: bool) -> None:
    if os.environ.get("TRIVIUM_DEBUG"):
        import traceback

        traceback.print_exception(error)
    described = _describe(error)
    with contextlib.suppress(BrokenPipeError):
        if as_json:
            print_json({"error": described})
        else:
            print_error(described)


def _describe(error: Exception) -> dict[str, Any]:
    """Any exception as a message and a hint for people."""
    if isinstance(error, TriviumError):
        return error_dict(error)
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return {"name": "OSError", "message": f"{name}{error.strerror}.", "hint": "Check the path and its permissions."}
    return {
        "name": type(error).__name__,
        "message": f"Trivium met an unexpected fault ({type(error).__name__}: {error}).",
        "hint": "Run `trivium doctor`; TRIVIUM_DEBUG=1 shows where it happened, which helps a report.",
    }


def _abandon_stdout() -> None:
    """The reader of our output is gone: nothing more is written there, not even at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
