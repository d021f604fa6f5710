"""`trivium index` and `trivium why`: the road from a piece of a repository to what is recorded about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trivium.doors import answering, indexing, repository
from trivium.doors.cli_options import Choices, pass_choices, remember, whole, with_db
from trivium.doors.cli_target import TargetCommand
from trivium.errors import NotFoundError
from trivium.why.names import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trivium import Context
    from trivium.why.config import Config

    Command = TypeVar("Command", bound=Callable[..., Any])


def _with_repository(command: Command) -> Command:
    """Add `--context`, `--config`, `--no-cache`, `--db` and `--json`."""
    context = click.option(
        "--context",
        metavar="SLUG",
        expose_value=False,
        callback=remember("context"),
        help="Use this context instead of the one bound to the repository.  [env: TRIVIUM_CONTEXT]",
    )
    config = click.option("--config", metavar="FILE", help="Configuration instead of trivium.toml in the root.")
    cache = click.option("--no-cache", is_flag=True, help="Read every file again instead of trusting size and time.")
    return config(cache(context(with_db(command))))


@click.command()
@click.argument("path", type=click.Path(exists=True, file_okay=False), default=".")
@click.option("--watch", is_flag=True, help="Stay, and build again after changes.")
@_with_repository
@pass_choices
def index(choices: Choices, path: str, watch: bool, config: str | None, no_cache: bool) -> None:
    """Read a repository for `trivium why`: its documents, symbols, decisions, concepts and history.

    PATH is a folder of the repository, by default the working folder. Inside a git work tree all of it is read. The
    index and its graph replace the old ones in one transaction. A context that --context names is made if need be.
    """
    root = repository.root_of(Path(path))

    def make(settings: Config) -> None:
        done = indexing.build(filled.context, root, settings, cache=not no_cache)
        _print_report(indexing.report(done, text_of(root), filled, settings), choices, one_line=watch)
        filled.made = False

    settings = repository.read_config(root, config)
    with choices.open() as kb:
        filled = indexing.context_to_fill(
            kb, choices.context, root, settings, empty=watch, again=lambda whole: _build_command(choices, config, whole)
        )
        if watch:
            indexing.keep_indexing(filled.context, root, lambda: repository.read_config(root, config), make)
        else:
            make(settings)


def _print_report(made: dict[str, Any], choices: Choices, *, one_line: bool) -> None:
    from trivium.doors.cli_output import printable, to_json

    if choices.json:
        click.echo(to_json(made, indent=None if one_line else 2))
    else:
        click.echo(printable(indexing.report_text(made, "trivium why TARGET")))


@click.command(cls=TargetCommand)
@click.argument("target")
@click.option("--kind", metavar="KIND", help="Only entities of this kind: decision, concept or change.")
@click.option(
    "--limit",
    callback=whole(100, 20),
    metavar="N",
    default="20",
    help="The most results in each list, 1 to 100; 20 if absent.",
)
@click.option(
    "--budget-tokens",
    callback=whole(1_000_000, 4_000),
    metavar="N",
    help="Say whether the answer fits 1 to 1,000,000 tokens, and which limit would.",
)
@click.option(
    "--profile",
    type=click.Choice(["local", "service"]),
    metavar="PROFILE",
    default="local",
    help="local, or service: the restricted profile, which reads no repository.",
)
@_with_repository
@pass_choices
def why(
    choices: Choices,
    /,
    target: str,
    config: str | None,
    no_cache: bool,
    profile: str,
    **asked: Any,
) -> None:
    """Tell which decisions, concepts and changes are recorded about TARGET, with their evidence.

    TARGET is a path (also path:line), a directory, an exported symbol, a package, a name, an alias, a commit or an id.
    The answer comes from the index of `trivium index` alone, which must be up to date.
    """
    target = text_of(target)
    answering.check_arguments(target, **asked)
    root = repository.root_of(Path())
    if not choices.exists():
        raise repository.missing(root, _rebuild(choices, config), profile)
    with choices.open() as kb:
        try:
            context = repository.bound_context(kb, Path()) if choices.context is None else kb.context(choices.context)
        except NotFoundError:
            if choices.context is not None:
                raise
            raise repository.missing(root, _rebuild(choices, config), profile) from None
        command = _rebuild(choices, config, context)
        settings = None
        if config is not None and profile != "service":
            settings = repository.read_config(context.repository_root or root, config)
        with answering.asked_index(context, command, profile, config=settings, cache=not no_cache) as loaded:
            found = answering.answer(loaded, target, profile=profile, **asked)
            search = answering.search_words(context, _own_database(choices))
            answering.print_answer(found, loaded, search, as_json=choices.json)


def _rebuild(choices: Choices, config: str | None, context: Context | None = None) -> str:
    """The command that builds the index which this one wanted, with the options that it needs."""
    db = _own_database(choices)
    if context is None:
        return repository.build_command(None, db=db, context=choices.context, config=config)
    root = context.repository_root
    if choices.context is not None:
        return repository.build_command(root or Path(), db=db, context=choices.context, config=config)
    elsewhere = root is not None and root != repository.root_of(Path())
    return _build_command(choices, config, root if elsewhere else None)


def _build_command(choices: Choices, config: str | None, root: Path | None) -> str:
    return repository.build_command(root, db=_own_database(choices), config=config)


def _own_database(choices: Choices) -> str | None:
    """The database given on the command line: not what the environment says to every command."""
    return None if choices.db == os.environ.get("TRIVIUM_DB") else choices.db
