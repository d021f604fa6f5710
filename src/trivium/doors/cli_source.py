"""Commands about KIP texts, which need no database: check and format."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from trivium.doors.cli_options import Choices, pass_choices, with_json
from trivium.doors.cli_output import print_json, printable, read_text
from trivium.errors import KipError, Position

STDIN = "<stdin>"


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding with the file it is in; line and column are those of the file."""

    file: str
    line: int
    column: int
    severity: str
    code: str
    message: str
    hint: str | None

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@with_json
@pass_choices
def check(choices: Choices, files: tuple[str, ...]) -> None:
    """Find mistakes in KIP texts without executing them; - reads standard input.

    Each finding is a line FILE:LINE:COLUMN: SEVERITY CODE MESSAGE. Exit code 1 when there is an error; warnings alone
    give 0.
    """
    remarks = [remark for name in files for remark in _check_text(STDIN if name == "-" else name, read_text(name))]
    if choices.json:
        print_json([remark.to_dict() for remark in remarks])
    else:
        for remark in remarks:
            place = f"{remark.file}:{remark.line}:{remark.column}"
            click.echo(printable(f"{place}: {remark.severity} {remark.code} {remark.message}"))
            if remark.hint:
                click.echo(printable(f"    hint: {remark.hint}"))
    if any(remark.severity == "error" for remark in remarks):
        raise click.exceptions.Exit(1)


def _check_text(name: str, text: str) -> Iterator[Remark]:
    from trivium.kip.capsule_text import without_place
    from trivium.kip.check import check as check_command

    try:
        for chunk in _chunks(text):
            for finding in check_command(chunk.text):
                place = chunk.place(Position(finding.line or 1, finding.column or 1, 0))
                about = (finding.severity, finding.code, without_place(finding.message), finding.hint)
                yield Remark(name, place.line, place.column, *about)
    except KipError as error:
        place = error.position or Position(1, 1, 0)
        yield Remark(name, place.line, place.column, "error", error.code, without_place(error.message), error.hint)


def _chunks(text: str) -> Iterator[Any]:
    """A text above the command limit in parts, any other as it is."""
    from trivium.kip.capsule_text import Chunk, split_chunks
    from trivium.kip.lexer import MAX_BYTES

    return iter([Chunk(text, 1, 1)]) if len(text.encode()) <= MAX_BYTES else split_chunks(text)


@click.command(name="format")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--write", is_flag=True, help="Change the files in place.")
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit 1 when a file is not formatted.")
@with_json
@pass_choices
def format_(choices: Choices, files: tuple[str, ...], write: bool, only_check: bool) -> None:
    """Lay out KIP texts in the standard form, comments kept; prints to standard output without --write.

    - reads standard input. A text that does not parse is left alone and ends the command with exit code 1.
    """
    if write and only_check:
        raise click.UsageError("Give --write or --check, not both.")
    if write and "-" in files:
        raise click.UsageError("--write changes files; standard input has none.")
    outcome: list[dict[str, Any]] = []
    for name in files:
        text = read_text(name)
        formatted = _format_text(STDIN if name == "-" else name, text)
        outcome.append({"file": name, "changed": formatted != text})
        if write and formatted != text:
            _replace(name, formatted)
        elif not (write or only_check or choices.json):
            sys.stdout.write(formatted)
        if choices.json and not (write or only_check):
            outcome[-1]["text"] = formatted
    _report(choices, outcome, write, only_check)


def _report(choices: Choices, outcome: list[dict[str, Any]], write: bool, only_check: bool) -> None:
    changed = [item["file"] for item in outcome if item["changed"]]
    if choices.json:
        print_json(outcome)
    elif write or only_check:
        verb = "would change" if only_check else "changed"
        for name in changed:
            click.echo(f"{verb} {name}")
    if only_check and changed:
        raise click.exceptions.Exit(1)


def _replace(name: str, text: str) -> None:
    from trivium.doors.cli_store import replace_file

    replace_file(Path(name), iter([text]))


def _format_text(name: str, text: str) -> str:
    """The standard form. Raises: KipError that names the file and the place in it."""
    from trivium.kip.format import format_command

    parts: list[str] = []
    line = 1
    try:
        for chunk in _chunks(text):
            line = chunk.line
            parts.append(format_command(chunk.text).rstrip("\n") + "\n")
    except KipError as error:
        where = f"{name}: " if line == 1 else f"{name}, in the command that begins on line {line}: "
        raise KipError(error.code, where + error.message, error.hint, position=error.position) from None
    return "\n".join(parts)
