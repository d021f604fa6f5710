"""`trivium embed`: make the vectors that search by meaning lacks."""

from __future__ import annotations

import click

from trivium.doors.cli_options import Choices, pass_choices, with_db
from trivium.doors.cli_output import print_json, progress_bar

LONG = 200
"""Vectors from which a progress bar is shown."""


@click.command()
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Stop after N vectors.")
@click.option("--prune", is_flag=True, help="Also delete the vectors of other models.")
@click.option("--dry-run", is_flag=True, help="Only tell how many are missing.")
@with_db
@pass_choices
def embed(choices: Choices, limit: int | None, prune: bool, dry_run: bool) -> None:
    """Make the vectors that search by meaning lacks, in all contexts.

    Programs that stay (serve, mcp, shell, and Python programs) make them in the background; commands that end at once
    do not. It goes on where it was stopped. The embedder is set with TRIVIUM_EMBEDDER; the built-in one needs the
    extra: pip install 'trivium[semantic]'.
    """
    with choices.open(must_exist=True) as kb:
        backlog = kb.embedding_backlog()
        if dry_run:
            done = {"model": kb.meaning.model, "embedded": 0, "confirmed": 0, "pruned": 0, "backlog": backlog}
        else:
            total = backlog if limit is None else min(backlog, limit)
            with progress_bar("Embedding", LONG) as bar:
                progress = None if bar is None else lambda made: bar(made, total)
                done = kb.embed_pending(limit, progress=progress, prune=prune)
    if choices.json:
        print_json(done)
        return
    counts = [f"{done['embedded']} vectors made", f"{done['backlog']} missing"]
    if done["confirmed"]:
        counts.insert(1, f"{done['confirmed']} still right")
    if done["pruned"]:
        counts.append(f"{done['pruned']} of other models deleted")
    click.echo(f"{done['model'] or 'no embedder'}: {', '.join(counts)}.")
