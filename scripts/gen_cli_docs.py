"""Write the generated part of `docs/cli/*.md`: synopsis and options, from the commands themselves.

    python -m scripts.gen_cli_docs

The text between the two marks of a page is replaced; the rest is written by hand. A page that does not exist yet is
begun with the sections it must have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from trivium.doors import ak_docs
from trivium.doors.cli import cli

PAGES = Path(__file__).resolve().parents[1] / "docs" / "cli"
BEGIN = "<!-- generated: options -->"
END = "<!-- end of generated -->"
_GENERATED = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with the name of its page: the program, its commands, `ak-docs`; subcommands share a page."""
    yield "trivium", cli
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command
    yield "ak-docs", ak_docs.cli


def _title(name: str, command: click.Command) -> str:
    return name if command in (cli, ak_docs.cli) else f"trivium {name}"


def generated(name: str, command: click.Command) -> str:
    """The generated part of a page."""
    title = _title(name, command)
    parts = [BEGIN, "", *_section(title, command)]
    if isinstance(command, click.Group) and command is not cli:
        for sub in command.commands.values():
            parts += [f"### {title} {sub.name}", "", *_section(f"{title} {sub.name}", sub)]
    if command is cli:
        parts += ["| command | |", "| --- | --- |", *_command_rows(), ""]
    return "\n".join([*parts, END])


def _section(title: str, command: click.Command) -> list[str]:
    usage = " ".join([title, *command.collect_usage_pieces(click.Context(command))])
    rows = [_row(parameter) for parameter in command.params if isinstance(parameter, click.Option)]
    return ["```text", usage, "```", "", "| option | |", "| --- | --- |", *rows, _HELP_ROW, ""]


_HELP_ROW = "| `-h`, `--help` | Show this message and exit. |"


def _row(option: click.Option) -> str:
    metavar = "" if option.is_flag else f" {option.metavar}"
    names = ", ".join(f"`{name}{metavar}`" for name in option.opts)
    text = (option.help or "").replace("|", "\\|")
    again = " Can be given again." if option.multiple else ""
    return f"| {names} | {re.sub(r'  +', ' ', text)}{again} |"


def _command_rows() -> list[str]:
    from trivium.doors.cli import COMMANDS

    return [f"| [`{name}`]({name}.md) | {text} |" for name, (_, _, text) in COMMANDS.items()]


def updated(page: str, name: str, command: click.Command) -> str:
    """A page with its generated part renewed."""
    part = generated(name, command)
    if BEGIN not in page:
        start = f"# {_title(name, command)}\n\n{(command.help or '').strip()}"
        return f"{start}\n\n## Synopsis\n\n{part}\n\n## Examples\n\n## Exit codes\n"
    return _GENERATED.sub(lambda _: part, page, count=1)


def stale_pages() -> dict[Path, str]:
    """The pages that differ from what they should be, with their right text."""
    stale = {}
    for name, command in commands():
        path = PAGES / f"{name}.md"
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        right = updated(page, name, command)
        if right != page:
            stale[path] = right
    return stale


if __name__ == "__main__":
    PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in stale_pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(PAGES.parents[1])}")
