"""`trivium context …`: contexts are made, listed, shown, changed, deleted, packed and restored."""

from __future__ import annotations

import sys
from typing import Any

import click

from trivium.counting import counted
from trivium.doors.cli_options import Choices, pass_choices, with_db
from trivium.doors.cli_output import parse_json, print_json, printable, read_text
from trivium.errors import StoreError, TriviumError


def size_text(size: int) -> str:
    """Bytes for people.

    >>> size_text(999), size_text(1_234_567)
    ('999 B', '1.2 MB')
    """
    if size < 1_000:
        return f"{size} B"
    amount = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1_000
        if amount < 999.95 or unit == "TB":
            break
    return f"{amount:.1f} {unit}"


@click.group()
def context() -> None:
    """Make contexts and look after them: separate bodies of knowledge in one database."""


def _fields(command: Any) -> Any:
    """The options that set fields of a context."""
    options = [
        click.option("--name", metavar="TEXT", help="Name for people; by default the slug."),
        click.option("--description", metavar="TEXT", help="What the context is about."),
        click.option("--guide", metavar="TEXT", help="Standing instructions for every answer; @FILE reads a file."),
        click.option("--manifest", metavar="FILE", help="How curate works: a JSON file; - reads standard input."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _chosen(name: str | None, description: str | None, guide: str | None, manifest: str | None) -> dict[str, Any]:
    """The fields that were given. Raises: TriviumError when a file is no JSON."""
    if guide is not None and guide.startswith("@"):
        guide = read_text(guide[1:])
    found: dict[str, Any] = {"name": name, "description": description, "guide": guide}
    if manifest is not None:
        found["manifest"] = parse_json(read_text(manifest), "The manifest")
    return {key: value for key, value in found.items() if value is not None}


@context.command()
@click.argument("slug")
@_fields
@click.option("--kind", metavar="KIND", help="search (default) or work, which can be asked while it is empty.")
@with_db
@pass_choices
def create(
    choices: Choices,
    slug: str,
    name: str | None,
    description: str | None,
    guide: str | None,
    manifest: str | None,
    kind: str | None,
) -> None:
    """Make a new context named SLUG, with the standard types and actors in it."""
    fields = _chosen(name, description, guide, manifest) | ({"kind": kind} if kind else {})
    with choices.open() as kb:
        if slug in [known.slug for known in kb.contexts()]:
            raise StoreError(f"The context {slug!r} exists already.", f"Use it with --context {slug}.")
        try:
            made = kb.create_context(slug, **fields).describe()
        except ValueError as error:
            raise _no_slug(slug, error) from None
    if choices.json:
        print_json(made)
    else:
        click.echo(f"Made the context {slug}; use it with --context {slug}.")


def _no_slug(slug: str, error: ValueError) -> StoreError:
    from trivium.ingest.describing import slug_like

    return StoreError(str(error), f"Choose a slug such as {slug_like(slug)}.")


@context.command(name="list")
@with_db
@pass_choices
def list_(choices: Choices) -> None:
    """List the contexts with what they hold."""
    with choices.open(must_exist=True) as kb:
        found = [known.describe(stats=True) for known in kb.contexts()]
    if choices.json:
        print_json(found)
        return
    width = max(len(item["slug"]) for item in found)
    for item in found:
        click.echo(f"{item['slug']:<{width}}  {_summary(item)}")


def _summary(item: dict[str, Any]) -> str:
    stats = item["stats"]
    parts = [counted(stats["concepts"], "concept")]
    if stats["sources"]:
        parts.append(f"{counted(stats['sources'], 'source')}, {size_text(stats['bytes'])}")
    if stats["documents"]:
        parts.append(f"{counted(stats['documents'], 'document')}, {counted(stats['chunks'], 'chunk')}")
    if item["stale"]:
        parts.append("sources have changed since the last curate" if item["live_version"] else "not curated yet")
    return "; ".join(parts)


@context.command()
@click.argument("slug")
@with_db
@pass_choices
def show(choices: Choices, slug: str) -> None:
    """Show one context: its fields, its state, and what it holds."""
    with choices.open(must_exist=True) as kb:
        item = kb.context(slug).describe(stats=True)
    if choices.json:
        print_json(item)
        return
    for key in ("slug", "id", "name", "kind", "description", "guide"):
        if item[key]:
            click.echo(f"{key:<12} {printable(item[key])}")
    click.echo(f"{'holds':<12} {_summary(item)}")
    if item["stats"]["unreadable"]:
        click.echo(f"{'unreadable':<12} {item['stats']['unreadable']} (trivium sources --context {item['slug']})")
    click.echo(f"{'can be asked':<12} {'yes' if item['queryable'] else 'not yet: import with trivium add'}")
    if item["last_curated_at"]:
        click.echo(f"{'version':<12} {item['live_version']}, live since {item['last_curated_at']}")
    if item["manifest"]:
        click.echo(f"{'manifest':<12} with knobs set; --json shows them")


@context.command()
@click.argument("slug")
@click.option("--slug", "new", metavar="NEW", help="Rename it.")
@_fields
@with_db
@pass_choices
def update(
    choices: Choices,
    slug: str,
    new: str | None,
    name: str | None,
    description: str | None,
    guide: str | None,
    manifest: str | None,
) -> None:
    """Change fields of a context; those that are not named stay. An empty text clears, {} resets the manifest."""
    fields = _chosen(name, description, guide, manifest) | ({"slug": new} if new is not None else {})
    if not fields:
        raise click.UsageError("Name at least one field to change, such as --description TEXT.")
    with choices.open(must_exist=True) as kb:
        try:
            item = kb.context(slug).update(**fields)
        except ValueError as error:
            raise _no_slug(new or "", error) from None
    if choices.json:
        print_json(item)
        return
    click.echo(f"Changed {', '.join(fields)} of the context {item['slug']}.")
    if item["stale"] and "manifest" in fields:
        click.echo(f"The manifest acts at the next curate: trivium curate --context {item['slug']}")


@context.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_db
@pass_choices
def delete(choices: Choices, slug: str, yes: bool) -> None:
    """Delete a context with its graph, sources, documents and index. There is no way back but a backup."""
    with choices.open(must_exist=True) as kb:
        item = kb.context(slug).describe(stats=True)
        if not yes:
            _confirm(item)
        kb.delete_context(slug)
    if choices.json:
        print_json({"deleted": True, "slug": item["slug"]})
    else:
        click.echo(f"Deleted the context {item['slug']}.")


def _confirm(item: dict[str, Any]) -> None:
    if not sys.stdin.isatty():
        raise TriviumError(
            f"Deleting the context {item['slug']!r} removes all it holds ({_summary(item)}).", "Say so with --yes."
        )
    click.confirm(f"Delete {item['slug']} ({_summary(item)})?", abort=True, err=True)


@context.command()
@click.argument("slug")
@click.option("-o", "--output", metavar="FILE", help="Write to this new file; by default SLUG.context.zip.")
@with_db
@pass_choices
def pack(choices: Choices, slug: str, output: str | None) -> None:
    """Write a context to one file that `trivium context restore` reads: sources, graph, manifest and other fields."""
    with choices.open(must_exist=True) as kb:
        found = kb.context(slug)
        report = found.pack(output or f"{found.slug}.context.zip")
    if choices.json:
        print_json(report)
    else:
        click.echo(f"Packed {report['slug']} into {report['file']} ({size_text(report['bytes'])}).")


@context.command()
@click.argument("file")
@click.option("--as", "slug", metavar="SLUG", help="Restore under this slug instead of the one it was packed with.")
@click.option("--curate/--no-curate", "curating", default=True, help="Make it answer questions now (default).")
@with_db
@pass_choices
def restore(choices: Choices, file: str, slug: str | None, curating: bool) -> None:
    """Make a context of a file that `trivium context pack` wrote."""
    with choices.open() as kb:
        try:
            report = kb.restore(file, slug=slug, curate=curating)
        except ValueError as error:
            raise _no_slug(slug or "", error) from None
    if choices.json:
        print_json(report)
        return
    click.echo(f"Restored the context {report['slug']}: {counted(report['added'], 'source')}.")
    for item in report["skipped"]:
        click.echo(f"left out: {printable(item['path'])}: {printable(item['reason'])}", err=True)
