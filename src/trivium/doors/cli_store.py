"""Commands about the store as a whole: import, export, backup, doctor, contexts."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trivium.counting import counted
from trivium.doors.cli_options import Choices, opened, pass_choices, with_db, with_store
from trivium.doors.cli_output import fail, print_json, printable, progress_bar, read_stdin
from trivium.errors import KipError, TriviumError
from trivium.files import whole_file
from trivium.location import MEMORY

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase

LONG = 1 << 20
"""Bytes of capsule text from which an import shows its progress."""
MANY = 10_000
"""Elements from which an export shows its progress."""


# --- import ---------------------------------------------------------------------------------------


@click.command(name="import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@with_store
@pass_choices
def import_(choices: Choices, files: tuple[str, ...]) -> None:
    """Write capsules (files of UPSERT statements) into the memory; - reads standard input.

    Files of any size are cut at their statements and written command by command. A fault ends the import; what was
    written before stays, and importing again is safe. An import that finds no statement ends with exit code 1.
    """
    from trivium.kip.capsule_import import import_capsules

    sources = [read_stdin() if name == "-" else Path(name) for name in files]
    size = sum(path.stat().st_size for path in sources if isinstance(path, Path))
    with choices.open_context() as context, progress_bar("Importing", LONG) as bar:
        progress = None if bar is None else lambda done: bar(done, size)
        try:
            report = import_capsules(context, sources, progress=progress)
        except KipError as error:
            fail(error.to_dict(), as_json=choices.json, text=_text_at_fault(sources, error))
    if not report.statements:
        raise _nothing(files)
    if choices.json:
        print_json(asdict(report))
        return
    if report.empty:
        click.echo(f"note: {report.empty} of {counted(report.sources, 'file')} held no statement.", err=True)
    counts = f"{report.concepts} concept and {report.propositions} proposition blocks"
    click.echo(f"Imported {counted(report.statements, 'statement')} from {counted(report.sources, 'file')}: {counts}.")


def _nothing(files: tuple[str, ...]) -> TriviumError:
    """The error of an import without a statement, which mostly means that something went wrong before it."""
    if "-" in files:
        return TriviumError(
            "Nothing was imported: the input holds no statement.",
            "If it comes from a pipe, the command before the pipe wrote nothing; look for its message above.",
        )
    names = ", ".join(files[:3]) + (", …" if len(files) > 3 else "")
    return TriviumError(
        f"Nothing was imported: there is no statement in {names}.", "A capsule holds UPSERT statements; see its text."
    )


def _text_at_fault(sources: Sequence[Path | str | Iterable[str]], error: KipError) -> str | None:
    """The text that an import error points into: the file its message begins with, or a short standard input."""
    for source in sources:
        if isinstance(source, Path) and error.message.startswith(f"{source}: "):
            return source.read_text(encoding="utf-8-sig")
    return next((source for source in sources if isinstance(source, str)), None)


# --- export ---------------------------------------------------------------------------------------


@click.command()
@click.option("-o", "--output", metavar="FILE", help="Write to a file, replaced as a whole; else standard output.")
@click.option("--where", metavar="GROUP", help="Only what ?x binds to, as in --where '{ ?x {type: \"Drug\"} }'.")
@with_store
@pass_choices
def export(choices: Choices, output: str | None, where: str | None) -> None:
    """Print a context as a capsule that `trivium import` reads, here or in another KIP engine.

    Everything is exported: schema first, then concepts, then links, as they stood at one moment. What --where leaves
    out must exist where the capsule is imported.
    """
    from trivium.kip.capsule_export import count_elements, export_capsule

    with _snapshot(choices) as context:
        total = count_elements(context) if where is None and output and sys.stderr.isatty() else 0
        with progress_bar("Exporting", MANY) as bar:
            progress = None if bar is None or not total else lambda done: bar(done, total)
            try:
                size = _write(choices, output, export_capsule(context, where, progress=progress))
            except KipError as error:
                fail(error.to_dict(), as_json=choices.json, text=where)
    if not size and where is not None:
        click.echo("note: nothing matches the pattern; the capsule is empty.", err=True)
    if output and choices.json:
        print_json({"file": output, "bytes": size})
    elif output:
        click.echo(f"Wrote {size} bytes to {output}.", err=True)


@contextmanager
def _snapshot(choices: Choices) -> Iterator[KnowledgeBase | Context]:
    """The context as it stands at this moment: writers at work cannot make the pages of an export disagree."""
    from trivium.settings import LARGEST

    if choices.url == MEMORY:
        with choices.open_context() as context:
            yield context
        return
    with tempfile.TemporaryDirectory(prefix="trivium-export-") as folder:
        copy = str(Path(folder) / "snapshot.db")
        with choices.open(must_exist=True) as kb:
            kb.backup(copy)
        # without the limits that guard against careless queries: exporting everything is meant
        with opened(copy, max_rows=LARGEST, timeout=86_400) as kb:
            yield kb if choices.context is None else kb.context(choices.context)


def _write(choices: Choices, output: str | None, capsules: Iterator[str]) -> int:
    """Write the pages to the file or standard output; gives the bytes written."""
    if output is not None:
        return replace_file(Path(output), capsules)
    if choices.json:
        text = "".join(capsules)
        print_json({"capsule": text})
        return len(text.encode())
    size = 0
    for capsule in capsules:
        size += sys.stdout.buffer.write(capsule.encode())
    sys.stdout.buffer.flush()
    return size


def replace_file(path: Path, pieces: Iterator[str]) -> int:
    """Write a UTF-8 file so that it is either the old one or the whole new one; gives the bytes written."""
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "No such folder", str(path.parent))
    with whole_file(path) as file:
        return sum(file.write(piece.encode()) for piece in pieces)


# --- backup, doctor -------------------------------------------------------------------------------


@click.command()
@click.argument("destination", metavar="DEST")
@with_db
@pass_choices
def backup(choices: Choices, destination: str) -> None:
    """Copy the whole database to the new file DEST, consistent also while others write."""
    with choices.open(must_exist=True) as kb:
        kb.backup(destination)
    size = Path(destination).stat().st_size
    if choices.json:
        print_json({"file": destination, "bytes": size})
    else:
        click.echo(f"Copied {choices.url} to {destination} ({size} bytes).")


@click.command()
@with_db
@pass_choices
def doctor(choices: Choices) -> None:
    """Check the database and the installation; exit code 1 when something is wrong.

    Where there is no database yet, the installation is checked with an empty one in memory.
    """
    fresh = not choices.exists()
    with (Choices(db=MEMORY) if fresh else choices).open() as kb:
        report = kb.doctor()
    if choices.json:
        print_json({"database": None if fresh else choices.url, **report})
    else:
        _print_checkup(choices.url, fresh, report)
    if not report["ok"]:
        raise click.exceptions.Exit(1)


def _print_checkup(url: str, fresh: bool, report: dict[str, Any]) -> None:
    place = f"none yet at {url}; checked an empty one in memory" if fresh else url
    click.echo(f"database: {printable(place)}")
    for check in report["checks"]:
        mark = click.style("ok  ", fg="green") if check["ok"] else click.style("FAIL", fg="red", bold=True)
        detail = f": {check['detail']}" if check["detail"] else ""
        click.echo(f"{mark} {check['name']}{printable(str(detail))}")
    for section in ("versions", "capabilities"):
        for name, value in report[section].items():
            click.echo(f"     {name}: {printable(_shown(value))}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


# --- contexts -------------------------------------------------------------------------------------


@click.command()
@with_db
@pass_choices
def contexts(choices: Choices) -> None:
    """List the contexts of the database, one slug a line."""
    with choices.open(must_exist=True) as kb:
        slugs = [context.slug for context in kb.contexts()]
    if choices.json:
        print_json([{"slug": slug} for slug in slugs])
    else:
        click.echo("\n".join(slugs))
