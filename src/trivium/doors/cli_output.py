"""Printing: JSON, errors with their place in the text, and the choice between JSON and tables."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import click

from trivium.doors.json_numbers import whole_number
from trivium.errors import KipError, TriviumError
from trivium.knowql.errors import QueryError
from trivium.knowql.hints import CLI, worded

EXCERPT = 100
"""Characters of a source line that an error shows."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_JSON_CONTROLS = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_TURNS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
"""What turns the direction in which a line is shown: overrides, and what others must close."""
_CLOSED_BY = {"\u202a": "\u202c", "\u202b": "\u202c", "\u2066": "\u2069", "\u2067": "\u2069", "\u2068": "\u2069"}


def printable(text: str) -> str:
    """Text that cannot steer a terminal: control characters (line ends and tabs aside) as visible escapes.

    So are those that turn the direction of a line, unless each is closed in it.

    >>> printable("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    text = _CONTROLS.sub(_escape, text)
    return "\n".join(map(_straight, text.split("\n"))) if _TURNS.search(text) else text


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def _straight(line: str) -> str:
    open_: list[str] = []
    for match in _TURNS.finditer(line):
        if match[0] in _CLOSED_BY:
            open_.append(_CLOSED_BY[match[0]])
        elif not open_ or open_.pop() != match[0]:
            return _TURNS.sub(_escape, line)
    return _TURNS.sub(_escape, line) if open_ else line


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON for people and programs: letters of all scripts as they are, control characters escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _JSON_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    click.echo(to_json(value))


def parse_json(text: str | bytes, what: str) -> Any:
    """The value of a JSON text. Raises: TriviumError that names `what`, for anything that is not JSON in UTF-8.

    An object that has a member twice is refused with KIP_1001: which one counts would be a guess.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(
            text, parse_int=whole_number, parse_constant=_refuse_constant, object_pairs_hook=unique_members
        )
    except UnicodeDecodeError:
        raise TriviumError(f"{what} is not UTF-8 text.", "Save it as UTF-8.") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise TriviumError(
            f"{what} is not JSON: {error.msg} ({place}).", "Use double quotes and no comments."
        ) from None
    except (ValueError, RecursionError) as error:
        raise TriviumError(f"{what} is not usable JSON: {error}.", "Use finite numbers and modest nesting.") from None


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object as a dict. Raises: KipError KIP_1001 when one is there twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        shown = printable(json.dumps(twice if len(twice) < 60 else twice[:57] + "..."))
        raise KipError("KIP_1001", f"A JSON object has the member {shown} twice.", "Give each member once.")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


# --- errors ---------------------------------------------------------------------------------------


def error_dict(error: TriviumError) -> dict[str, Any]:
    """An exception as the `error` object that `--json` prints."""
    if isinstance(error, KipError):
        return error.to_dict()
    if isinstance(error, QueryError):
        refused: dict[str, Any] = error.to_dict(CLI)["error"]
        return refused
    return {"name": type(error).__name__, "message": error.message, "hint": worded(error.hint, CLI)}


def print_error(error: dict[str, Any], text: str | None = None, *, err: bool = True) -> None:
    """Print an error object, to stderr unless told otherwise; with the command's text, also the line it points at.

    error KIP_1001 (InvalidSyntax): Line 1, column 14: Unexpected '=': expected ...
      FIND(?x) WHERE = { }
                     ^
    hint: ...
    """
    code = " ".join(
        filter(None, [error.get("code"), f"({error['name']})" if {"code", "name"} <= error.keys() else None])
    )
    label = click.style(f"error {code}".strip() + ":", fg="red", bold=True)
    lines = [f"{label} {printable(error['message'])}"]
    if text is not None and "position" in error:
        lines += excerpt(text, error["position"]["line"], error["position"]["column"])
    if error.get("hint"):
        lines.append(f"{click.style('hint:', bold=True)} {printable(error['hint'])}")
    click.echo("\n".join(lines), err=err, color=wants_color(sys.stderr if err else sys.stdout))


def excerpt(text: str, line: int, column: int) -> list[str]:
    """A source line and a caret under one of its columns (both from 1), cut to what fits a screen.

    >>> excerpt('FIND(?x) WHERE = {}', 1, 16)
    ['  FIND(?x) WHERE = {}', '                 ^']
    """
    lines = re.split(r"\r\n|\r|\n", text)
    if not 1 <= line <= len(lines):
        return []
    source = _CONTROLS.sub("\ufffd", lines[line - 1].replace("\t", " "))
    start = max(0, column - 1 - EXCERPT * 2 // 3) if len(source) > EXCERPT else 0
    shown = source[start : start + EXCERPT]
    before = source[start : column - 1]
    lead = "…" if start else ""
    tail = "…" if start + EXCERPT < len(source) else ""
    return [f"  {lead}{shown}{tail}", " " * (2 + len(lead) + width(before)) + "^"]


def width(text: str) -> int:
    """Terminal columns that a text takes: East Asian letters two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


@contextmanager
def progress_bar(label: str, long: int) -> Iterator[Callable[[int, int], None] | None]:
    """What shows what is done and the total, 0 while unknown, as a bar on stderr; None when that is no terminal.

    Work of less than `long` shows none.
    """
    if not sys.stderr.isatty():
        yield None
        return
    shown: list[Any] = []

    def show(done: int, total: int) -> None:
        if not shown and max(done, total) >= long:
            bar: Any = click.progressbar(itertools.count(), total or None, label, show_pos=not total, file=sys.stderr)
            bar.__enter__()
            shown.append(bar)
        if shown:
            shown[0].update(done - shown[0].pos)

    try:
        yield show
    finally:
        for bar in shown:
            bar.__exit__(None, None, None)


def wants_color(stream: Any) -> bool:
    """Whether to colour output to this stream (a terminal, and NO_COLOR not set)."""
    return not os.environ.get("NO_COLOR") and stream.isatty()


def fail(error: dict[str, Any], *, as_json: bool, text: str | None = None) -> NoReturn:
    """Report an error (as JSON on stdout, or as text on stderr) and end the command with exit code 1."""
    if as_json:
        print_json({"error": error})
    else:
        print_error(error, text)
    raise click.exceptions.Exit(1)


# --- reading --------------------------------------------------------------------------------------


def read_text(source: str) -> str:
    """The text of a file, or of standard input for `-`. Raises: TriviumError when it is not UTF-8; OSError."""
    data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        name = "Standard input" if source == "-" else source
        raise TriviumError(f"{name} is not UTF-8 text.", "Save it as UTF-8.") from None


def read_stdin() -> str | Iterator[str]:
    """Standard input as a text when it is short, else in pieces that are read as they are used."""
    stream = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    pieces = _pieces(stream)
    start = "".join(itertools.islice(pieces, 16))
    rest = next(pieces, "")
    return itertools.chain([start, rest], pieces) if rest else start


def _pieces(stream: io.TextIOWrapper) -> Iterator[str]:
    try:
        while piece := stream.read(1 << 16):
            yield piece
    except UnicodeDecodeError:
        raise TriviumError("Standard input is not UTF-8 text.", "Save it as UTF-8.") from None
    finally:
        stream.detach()


def open_lines(source: str) -> AbstractContextManager[BinaryIO]:
    """The lines of a file, or of standard input for `-`, each as soon as it is there. Raises: OSError."""
    return nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb")
