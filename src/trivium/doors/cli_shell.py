"""`trivium shell`: KIP commands typed one after another."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from trivium.doors.cli_kip import Amend, amending, explain, parameter_value, show_response
from trivium.doors.cli_options import Choices, pass_choices, with_store
from trivium.doors.cli_output import parse_json, print_error, to_json
from trivium.errors import KipError, TriviumError
from trivium.knowql.hints import CLI, worded
from trivium.location import data_folder

_KEYWORDS = (
    "FIND WHERE FILTER NOT OPTIONAL UNION ORDER BY ASC DESC LIMIT CURSOR COUNT DISTINCT SUM AVG MIN MAX CONTAINS "
    "STARTS_WITH ENDS_WITH REGEX IN IS_NULL IS_NOT_NULL UPSERT CONCEPT PROPOSITION SET ATTRIBUTES PROPOSITIONS "
    "METADATA WITH EXPECT VERSION UPDATE ADD MUL CLAMP COALESCE MERGE INTO DELETE FROM DETACH DESCRIBE PRIMER DOMAINS "
    "TYPE TYPES SEARCH MODE THRESHOLD EXPORT"
)
PARTS = ("id", "type", "name", "subject", "predicate", "object", "attributes", "metadata")
DELIMITERS = " \t\n(){}[],|=<>!"
HISTORY_LINES = 2_000

HELP = """\
Type a KIP command; it runs as soon as it is complete, or on an empty line.
  .help                this text
  .explain [on|off]    show tokens, tree, plan, SQL and timings of each command
  .params              show the parameters; .params NAME=VALUE sets one, .params {"a": 1} sets several,
                       .params clear drops them
  .readonly [on|off]   refuse commands that write
  .quit                leave (also Ctrl-D); Ctrl-C drops what is typed so far
Examples:
  DESCRIBE PRIMER
  FIND(?t.name) WHERE { ?t {type: "$ConceptType"} }
  SEARCH CONCEPT "fever" LIMIT 5"""


@click.command()
@click.option("--readonly", is_flag=True, help="Refuse commands that write.")
@with_store
@pass_choices
def shell(choices: Choices, readonly: bool) -> None:
    """Type KIP commands, with history, completion and multi-line input.

    Without a terminal, commands are read from standard input, and the exit code is 1 if any of them fails.
    """
    with choices.open_context(staying=True) as context:
        session = Shell(context, readonly=readonly, as_json=choices.json, amend=amending(choices, context))
        if sys.stdin.isatty():
            click.echo(f"{choices.url}, context {choices.context or 'default'}. Type .help for help, .quit to leave.")
            with _line_editing(session):
                session.run(_typed_lines(session))
        elif not session.run(line.rstrip("\r\n") for line in sys.stdin):
            raise click.exceptions.Exit(1)


class Shell:
    """The state of one session: the text typed so far and the switches."""

    def __init__(
        self,
        context: Any,
        *,
        readonly: bool = False,
        as_json: bool = False,
        amend: Amend = lambda response: response,
    ) -> None:
        self.context = context
        self.amend = amend
        self.switches = {"readonly": readonly, "explain": False}
        self.as_json = as_json
        self.params: dict[str, Any] = {}
        self.typed: list[str] = []
        self.failed = False

    def run(self, lines: Iterator[str]) -> bool:
        """Take lines until they end or `.quit`; tells whether every command succeeded."""
        for line in lines:
            if not self.typed and line.strip().startswith("."):
                if not self.dot_command(line.strip()):
                    return not self.failed
            else:
                self.take(line)
        self.flush()
        return not self.failed

    def take(self, line: str) -> None:
        """Add a line; execute the command when it is complete, or when the line is empty."""
        if not line.strip():
            self.flush()
            return
        self.typed.append(line)
        if is_complete("\n".join(self.typed)):
            self.flush()

    def flush(self) -> None:
        """Execute what is typed so far."""
        text, self.typed = "\n".join(self.typed), []
        if text.strip():
            try:
                ok = self._execute(text)
            except KeyboardInterrupt:
                click.echo("Interrupted.", err=True)
                ok = False
            self.failed = self.failed or not ok

    def _execute(self, text: str) -> bool:
        readonly = self.switches["readonly"]
        if self.switches["explain"]:
            return explain(
                self.context, text, self.params or None, readonly=readonly, as_json=self.as_json, amend=self.amend
            )
        request = {"command": text, **({"parameters": self.params} if self.params else {})}
        response = self.amend(self.context.execute_kip(request, readonly=readonly))
        return show_response(response, text, as_json=self.as_json)

    # --- dot-commands ---

    def dot_command(self, line: str) -> bool:
        """Execute a dot-command; False ends the session."""
        name, _, rest = line[1:].partition(" ")
        if name in ("quit", "exit"):
            return False
        if name == "help":
            click.echo(HELP)
        elif name in self.switches:
            self._switch(name, rest.strip())
        elif name == "params":
            self._set_params(rest.strip())
        else:
            self._complain(f"There is no command .{name}.", "Type .help for the list.")
        return True

    def _switch(self, name: str, value: str) -> None:
        if value not in ("", "on", "off"):
            self._complain(f".{name} takes on or off, not {value!r}.", f"Type .{name} on")
            return
        self.switches[name] = value == "on" if value else not self.switches[name]
        click.echo(f"{name} is {'on' if self.switches[name] else 'off'}")

    def _set_params(self, text: str) -> None:
        try:
            if text == "clear":
                self.params = {}
            elif text.startswith("{"):
                self.params.update(parse_json(text, "The parameter object"))
            elif match := re.fullmatch(r"([A-Za-z_]\w*)\s*=\s*(.*)", text, re.ASCII | re.DOTALL):
                self.params[match[1]] = parameter_value(match[2])
            elif text:
                raise TriviumError(f"{text!r} is not NAME=VALUE.", "Type .params limit=5")
        except TriviumError as error:
            self._complain(error.message, worded(error.hint, CLI))
            return
        click.echo(to_json(self.params, indent=None))

    def _complain(self, message: str, hint: str | None) -> None:
        self.failed = True
        print_error({"message": message, "hint": hint})

    # --- completion ---

    def completions(self, word: str) -> list[str]:
        """What a word can be continued to: names in quotes, parts of a path, dot-commands, keywords."""
        if word.startswith('"'):
            known = [f'"{name}"' for name in self._names()]
        elif word.startswith("."):
            known = [".help", ".quit", ".explain", ".params", ".readonly"]
        elif word.startswith("?") and "." in word:
            path = word[: word.rindex(".") + 1]
            known = [path + part for part in PARTS]
        else:
            known = sorted(_KEYWORDS.split())
        return [item for item in known if item.startswith(word)]

    def _names(self) -> list[str]:
        names: list[str] = []
        for kind in ("CONCEPT", "PROPOSITION"):
            response = self.context.execute_kip({"command": f"DESCRIBE {kind} TYPES"}, readonly=True)
            names += response.get("result", [])
        return names


def is_complete(text: str) -> bool:
    """Whether a text can be executed: it parses, or it is wrong in a way that more text cannot mend.

    >>> is_complete('FIND(?x)'), is_complete('FIND(?x) WHERE { ?x {type: "T"} }'), is_complete("FIND ?x")
    (False, True, True)
    """
    from trivium.kip.lexer import tokenize
    from trivium.kip.parser import parse

    tokens = tokenize(text)
    if sum(map(tokens.count, "{[(")) > sum(map(tokens.count, "}])")):
        return False
    try:
        parse(text)
    except KipError as error:
        return getattr(error, "found", None) != "the end of the text"
    return True


# --- the terminal ---------------------------------------------------------------------------------


def _typed_lines(session: Shell) -> Iterator[str]:
    while True:
        try:
            yield input("kip> " if not session.typed else "...> ")
        except KeyboardInterrupt:
            session.typed = []
            click.echo()
        except EOFError:
            click.echo()
            return


@contextmanager
def _line_editing(session: Shell) -> Iterator[None]:
    """Editing, history and completion by readline while the block runs; nothing where there is no readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    history = data_folder() / "history"
    with suppress(OSError):
        readline.read_history_file(history)
    readline.set_completer_delims(DELIMITERS)
    readline.set_completer(completer(session.completions))
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
        readline.set_history_length(HISTORY_LINES)
        with suppress(OSError):
            history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            history.touch(mode=0o600)
            readline.write_history_file(history)


def completer(candidates: Callable[[str], list[str]]) -> Callable[[str, int], str | None]:
    """A completion function as readline wants it, called with 0, 1, 2, … for one word."""
    found: list[str] = []

    def complete(word: str, state: int) -> str | None:
        if state == 0:
            found[:] = candidates(word)
        return found[state] if state < len(found) else None

    return complete
