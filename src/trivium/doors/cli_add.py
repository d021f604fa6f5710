"""`trivium add`, `curate` and `sources`: documents into a context."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from trivium.counting import counted
from trivium.doors.cli_context import size_text
from trivium.doors.cli_options import Choices, pass_choices, whole, with_store
from trivium.doors.cli_output import print_json, printable, progress_bar
from trivium.errors import EmbeddingError, MissingExtraError, NotFoundError, TriviumError

if TYPE_CHECKING:
    from trivium import BusyError, Context

MOST = 20
"""Files that are named one by one; of more the number is told."""
LONG = 50
"""Files from which a progress bar is shown."""
EMBEDDED_AT_ONCE = 1_000
"""Vectors that are made at once; for more there is `trivium embed`."""
WAIT = 600
"""Seconds that a command waits for another curate of the context to end."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_QUIET = "hidden"
"""A reason to leave a file out that nobody needs to read about."""
_waiting = click.option(
    "--wait",
    metavar="SECONDS",
    default=WAIT,
    callback=whole(86_400, WAIT),
    help=f"Wait so long for another curate to end (default: {WAIT}).",
)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--curate/--no-curate", "curating", default=True, help="Make it answer questions now (default).")
@click.option("--embed/--no-embed", "embedding", default=True, help="Make vectors for search by meaning (default).")
@click.option("--prefix", metavar="FOLDER", default="", help="Put this before the names of the files.")
@click.option("--sync", is_flag=True, help="Delete sources that the folders no longer hold.")
@_waiting
@with_store
@pass_choices
def add(
    choices: Choices, paths: tuple[str, ...], curating: bool, embedding: bool, prefix: str, sync: bool, wait: int
) -> None:
    """Import files, folders and archives into a context, and read them for `trivium ask`.

    Files are kept as they are; those that changed since the last time replace the old ones. When a PATH is missing
    nothing is imported; a file inside that cannot be read is told, and does not stop the rest. Web addresses are not
    fetched.
    """
    for path in paths:
        if _ADDRESS.match(path):
            raise TriviumError(f"{path} is an address; addresses are not fetched.", "Save it as a file and add this.")
    if prefix and not prefix.endswith("/"):
        prefix += "/"
    with _context(choices) as context:
        with progress_bar("Importing", LONG) as bar:
            imported = context.add(paths, prefix=prefix, sync=sync, progress=bar)
        touched = imported["added"] + imported["changed"] + imported["removed"]
        if not touched and not imported["unchanged"]:
            raise _nothing(imported)
        if not choices.json:
            _print_import(context, imported)
        curated = _curate(choices, context, wait, force=False) if curating else None
        embedded = _embed(choices, context) if curating and embedding else None
    if choices.json:
        print_json({"context": context.slug, "import": imported, "curate": curated, "embed": embedded})
    elif not curating:
        click.echo(f"Make them answer questions with: trivium curate --context {context.slug}")


@contextmanager
def _context(choices: Choices, *, must_exist: bool = False) -> Iterator[Context]:
    with choices.open(must_exist=must_exist) as kb:
        yield kb.context(choices.context or kb.slug)


def _nothing(imported: dict[str, Any]) -> TriviumError:
    reasons = [f"{item['path']}: {item['reason']}" for item in imported["skipped"]]
    if not reasons:
        return TriviumError("Nothing was imported: there are no files in it.", "Name files, folders or archives.")
    more = f" (and {len(reasons) - 3} more)" if len(reasons) > 3 else ""
    return TriviumError(
        f"Nothing was imported: {'; '.join(printable(reason) for reason in reasons[:3])}{more}.",
        "docs/ingest.md tells which files are read.",
    )


def _print_import(context: Context, imported: dict[str, Any]) -> None:
    parts = [f"{imported[name]} {name}" for name in ("added", "changed", "removed", "unchanged") if imported[name]]
    click.echo(f"Imported into {context.slug}: {', '.join(parts)} ({size_text(imported['bytes'])}).")
    _print_reasons("left out", [item for item in imported["skipped"] if item["reason"] != _QUIET])


def _print_reasons(what: str, items: list[dict[str, str]], key: str = "reason") -> None:
    for item in items[:MOST]:
        click.echo(f"{what}: {printable(item['path'])}: {printable(item[key])}", err=True)
    if len(items) > MOST:
        click.echo(f"{what}: {len(items) - MOST} more; --json lists all", err=True)


# --- curate ---------------------------------------------------------------------------------------


@click.command()
@click.option("--force", is_flag=True, help="Read every file again.")
@click.option("--embed/--no-embed", "embedding", default=True, help="Make vectors for search by meaning (default).")
@_waiting
@with_store
@pass_choices
def curate(choices: Choices, force: bool, embedding: bool, wait: int) -> None:
    """Read what changed in the sources of a context, and make the next version live.

    Until then the old version answers. A curate that was stopped goes on where it stood.
    """
    with _context(choices, must_exist=True) as context:
        report = _curate(choices, context, wait, force=force)
        if embedding:
            _embed(choices, context)
    if choices.json:
        print_json(report)


def _curate(choices: Choices, context: Context, wait: int, *, force: bool) -> dict[str, Any]:
    with progress_bar("Reading", LONG) as bar:
        report = _in_turn(context, wait, lambda: context.curate(force=force, progress=bar))
    if not choices.json:
        read = f"{report['read']} read, {report['reused']} unchanged"
        read += f", {report['removed']} removed" if report["removed"] else ""
        counts = f"{counted(report['documents'], 'document')} in {counted(report['chunks'], 'chunk')}"
        counts += f", {counted(report['artifacts'], 'artifact')}" if report["artifacts"] else ""
        click.echo(f"Version {report['live_version']} of {context.slug} is live: {counts} ({read}).")
        _print_reasons("could not be read", report["failed"])
        _print_reasons("note", report["notes"], "note")
    return report


def _in_turn(context: Context, wait: int, curating: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Curate once no other curate of the context runs. Raises: TriviumError when one outlasts `wait` seconds."""
    from trivium import BusyError

    end = time.monotonic() + wait
    told = False
    while True:
        try:
            return curating()
        except BusyError as error:
            rest = end - time.monotonic()
            if rest <= 0:
                raise _still_busy(context, error, wait) from None
            if not told:
                click.echo(f"waiting for another curate of {context.slug} to end (task {error.task_id})", err=True)
                told = True
            context.knowledge_base.tasks.wait(error.task_id, rest)


def _still_busy(context: Context, error: BusyError, wait: int) -> TriviumError:
    return TriviumError(
        f"Another curate of the context {context.slug!r} is still running after {counted(wait, 'second')}"
        f" (task {error.task_id}); what was imported is kept, and answers after the next curate.",
        f"Wait longer with --wait SECONDS, or run later: trivium curate --context {context.slug}",
    )


def _embed(choices: Choices, context: Context) -> dict[str, int] | None:
    """Make the vectors that the context lacks, as many as take no long time; None without an embedder."""
    if context.knowledge_base.meaning.model is None:
        return None
    try:
        with progress_bar("Embedding", LONG) as bar:
            progress = None if bar is None else lambda done: bar(done, 0)
            report = context.embed_pending(EMBEDDED_AT_ONCE, progress=progress)
    except (MissingExtraError, EmbeddingError) as error:
        if not choices.json:
            click.echo(f"note: search by meaning has to wait: {printable(error.message)}", err=True)
        return None
    backlog = report["backlog"]
    if backlog and not choices.json:
        click.echo(f"{counted(backlog, 'passage')} can be found by words only until you run: trivium embed")
    return {"embedded": report["embedded"] + report["confirmed"], "backlog": backlog}


# --- sources --------------------------------------------------------------------------------------


@click.command()
@click.argument("prefix", metavar="[PREFIX]", required=False, default="")
@click.option("--delete", "deleting", metavar="PATH", multiple=True, help="Delete this source; it answers no more.")
@click.option("--read", "reading", metavar="PATH", help="Write this source to standard output, as it was imported.")
@with_store
@pass_choices
def sources(choices: Choices, prefix: str, deleting: tuple[str, ...], reading: str | None) -> None:
    """List the sources of a context whose paths begin with PREFIX, with what became of them."""
    with _context(choices, must_exist=True) as context:
        if reading is not None:
            sys.stdout.buffer.write(context.read_source(reading))
            sys.stdout.buffer.flush()
            return
        if deleting:
            _delete(choices, context, deleting)
            return
        found = context.sources(prefix)
    if choices.json:
        print_json(found)
        return
    for item in found:
        note = f": {item['problem']}" if item["problem"] else ""
        line = f"{item['state']:<10}  {size_text(item['size']):>9}  {item['path']}{note}"
        click.echo(printable(line).replace("\n", "\\n"))
    if not found:
        where = " there" if prefix else ""
        click.echo(f"{context.slug} has no sources{where}; import some with: trivium add PATH", err=True)


def _delete(choices: Choices, context: Context, paths: tuple[str, ...]) -> None:
    from trivium.ingest.names import as_stored

    known = {item["path"] for item in context.sources()}
    for path in paths:
        if as_stored(path) not in known:
            raise NotFoundError(f"{context.slug!r} has no source {path!r}.", "`trivium sources` lists what there is.")
    for path in paths:
        context.delete_source(path)
    if choices.json:
        print_json({"deleted": list(paths)})
    else:
        click.echo(f"Deleted {', '.join(map(printable, paths))}; the next curate removes what is left of it.")
