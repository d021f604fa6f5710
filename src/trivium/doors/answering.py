"""A question to the index of a repository, answered as a command of the command line tells it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trivium.doors.repository import naming
from trivium.why.names import name_of, text_of

if TYPE_CHECKING:
    from trivium import Context
    from trivium.why.config import Config
    from trivium.why.stored import Loaded


@contextmanager
def asked_index(
    context: Context, command: str, profile: str, *, config: Config | None = None, cache: bool = True
) -> Iterator[Loaded]:
    """As `fresh_index`, for one question that is asked and answered while this is open.

    In the service profile it is the stored index as it is.
    """
    with naming(command, profile):
        if profile == "service":
            yield context.repository_index()
            return
        context.check_index(config=config, cache=cache)
        with context.opened_index() as loaded:
            yield loaded


class Answer(NamedTuple):
    """An answer with what its text form needs: the kind asked for, and the paths that the target stands for."""

    found: dict[str, Any]
    kind: str | None = None
    asked: Sequence[str] = ()


def answer(
    loaded: Loaded,
    target: str,
    *,
    kind: str | None,
    limit: int,
    budget_tokens: int | None,
    profile: str,
    entities: bool = True,
) -> Answer:
    """The answer of a command. In the service profile entities are off, so it tells how to provide an index.

    Without `entities` those that the index holds are left alone, and the answer tells how to switch them on.
    """
    from trivium.why.model import FORMAT_VERSION, Index
    from trivium.why.prepared import PreparedIndex
    from trivium.why.query import asked_paths, knowledge_why

    prepared = loaded.prepared
    if profile == "service" or not entities:
        prepared = PreparedIndex(Index(FORMAT_VERSION, prepared.head.index_hash, [], []))
    root, folder = spelled_root(loaded.root, target), folder_below(loaded.root)
    found = knowledge_why(
        prepared,
        target,
        kind=kind,
        limit=limit,
        budget_tokens=budget_tokens,
        profile="service" if profile == "service" else "local",
        root=root,
        folder=folder,
    )
    return Answer(found, kind, asked_paths(prepared, target, root=root, folder=folder))


def folder_below(root: str) -> str:
    """The working folder as a path below a repository's root; empty at the root and outside."""
    try:
        here = Path(text_of(os.path.realpath(Path.cwd())))
    except OSError:  # the folder is gone
        return ""
    below = here.relative_to(root).as_posix() if here.is_relative_to(root) else "."
    return "" if below == "." else below


def spelled_root(root: str, target: str) -> str:
    """The root as an absolute target spells it, who may have come through a link; else as it is."""
    path = Path(os.path.normpath(target.strip()))
    if path.is_absolute() and not path.is_relative_to(root) and "\0" not in target:
        for folder in (path, *path.parents):
            if text_of(os.path.realpath(name_of(str(folder)))) == root:
                return str(folder)
    return root


def check_arguments(target: str, kind: str | None, limit: int, budget_tokens: int | None) -> None:
    """Refuse bad arguments before anything is opened. Raises: click.BadParameter naming the argument."""
    import click

    from trivium.why.request import WhyRequestError, check_request

    try:
        check_request(target, kind, limit, budget_tokens, "local", None)
    except WhyRequestError as error:
        name = "TARGET" if error.argument == "target" else f"--{error.argument.replace('_', '-')}"
        raise click.BadParameter(f"it {error.problem}. {error.hint or ''}", param_hint=f"'{name}'") from None


def print_answer(found: Answer, loaded: Loaded, search: list[str], *, as_json: bool, truncated: str = "") -> None:
    """Print an answer as JSON or as text; the rest as for `answer_text`."""
    import click

    from trivium.doors.cli_output import wants_color

    text = answer_text(found, loaded, search, as_json=as_json, color=wants_color(sys.stdout), truncated=truncated)
    click.echo(text, nl=False, color=True)


def search_words(context: Context, db: str | None = None) -> list[str]:
    """The words of the command line before a KIP command that is to search a repository's graph."""
    slug = [] if context.slug == context.knowledge_base.slug else ["--context", context.slug]
    return ["trivium", *([] if db is None else ["--db", db]), *slug, "kip"]


def answer_text(
    answer: Answer, loaded: Loaded, search: list[str], *, as_json: bool, color: bool = False, truncated: str = ""
) -> str:
    """An answer as JSON or for people, with its last line ending.

    `search` are the words before a KIP command that searches the graph, for a target that nothing has; `truncated`
    says in place of the usual sentence how more results are had.
    """
    from trivium.why.guidance import search_command
    from trivium.why.render import TRUNCATED, render_text
    from trivium.why.response import to_json

    found = answer.found
    if as_json:
        return f"{to_json(found)}\n"
    command = search_command(found["target"])
    if command is not None and "guidance" in found:
        found = found | {"guidance": found["guidance"].replace(command, shlex.join([*search, command]))}
    prepared = loaded.prepared
    return render_text(
        found,
        prepared.local.entity,
        beyond=prepared.local.beyond,
        kind=answer.kind,
        asked=answer.asked,
        color=color,
        truncated=truncated or TRUNCATED,
        commits=prepared.head.commits,
    )
