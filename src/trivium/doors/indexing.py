"""An index built by a command of the command line: into which context, with which report, and again after changes."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.doors.repository import CONFIGURATIONS, bound_context, build_command
from trivium.errors import ConflictError, NotFoundError, TriviumError

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase
    from trivium.why.config import Config
    from trivium.why.stored import Indexed

LONG = 300
"""Files from which a build on a terminal shows its progress."""


class Filled:
    """The context that takes an index, and whether it was made for it."""

    def __init__(self, context: Context, *, made: bool) -> None:
        self.context = context
        self.made = made


def context_to_fill(
    kb: KnowledgeBase,
    slug: str | None,
    root: Path,
    config: Config,
    *,
    empty: bool = False,
    again: Callable[[Path], str] = lambda folder: build_command(folder),
) -> Filled:
    """The context that takes the index of a repository: the named one, or the one bound to it, made if need be.

    Raises, before any context is made: InsideIndexedError when the folder is part of what a context holds the index of
    (`again` gives the command that builds that one); BareRepositoryError; NothingToReadError when there is no file and
    no history and no index of them yet, unless `empty`; NotFoundError for a slug that no context can have.
    """
    from trivium.why import git

    git.require_work_tree(root)
    missing: NotFoundError | None = None
    known = False
    try:
        context = kb.repository_context(root) if slug is None else kb.context(slug)
        known = context.repository_root == root
    except NotFoundError as error:
        missing = error
        if slug is None:
            _check_not_inside(kb, root, again)
    if not known and not empty and not _is_anything(kb.context(kb.slug).index_settings(root, config), root):
        raise NothingToReadError(
            f"There is nothing to read in {root}: no file, and no history of git.",
            "Name the folder of a repository: trivium index PATH. Ignored and excluded files are not read.",
        )
    if missing is None:
        return Filled(context, made=False)
    if slug is None:
        return Filled(kb.repository_context(root, create=True), made=True)
    try:
        return Filled(kb.create_context(slug), made=True)
    except ConflictError:  # another process was faster
        return Filled(kb.context(slug), made=False)
    except ValueError:
        raise missing from None


def _check_not_inside(kb: KnowledgeBase, root: Path, again: Callable[[Path], str]) -> None:
    """Refuse a folder that an index above covers: without git nothing else tells that it is a part only."""
    from trivium.why import git

    if git.locate(root) is not None or any((root / name).is_file() for name in CONFIGURATIONS):
        return
    try:
        context = bound_context(kb, root.parent)
    except NotFoundError:
        return
    whole = context.repository_root or root.parent
    raise InsideIndexedError(
        f"{root} lies in {whole}, which the context {context.slug!r} holds the index of.",
        f"Build that one with: {again(whole)}. For an index of this folder alone name another context: "
        f"{shlex.join(['trivium', 'index', str(root), '--context'])} SLUG",
    )


class InsideIndexedError(TriviumError):
    """A folder is part of a folder that has an index."""


class NothingToReadError(TriviumError):
    """A folder holds nothing that an index could be made of."""


def _is_anything(config: Config, root: Path) -> bool:
    from trivium.why.discover import discover
    from trivium.why.fingerprint import history_state

    if discover(root, config).files:
        return True
    history = history_state(root, config)
    return history is not None and history["head"] is not None


def build(context: Context, root: Path, config: Config, *, cache: bool = True) -> Indexed:
    """Build the index of a repository into a context. Raises: StoreError."""
    from trivium.doors.cli_output import progress_bar

    with progress_bar("Reading", LONG) as progress:
        return context.index_repository(root, config=config, cache=cache, progress=progress)


def report(done: Indexed, path: str, filled: Filled, config: Config) -> dict[str, Any]:
    """A build as the object that `index --json` prints."""
    summary = done.summary
    counts = ("files", "read", "reused", "documents", "modules", "decisions", "concepts", "changes")
    return {
        "path": path,
        "context": filled.context.slug,
        "contextCreated": filled.made,
        "hash": summary.index_hash,
        "enabled": config.entities,
        "changed": done.changed,
        "counts": {name: getattr(summary, name) for name in counts} | {"memoryRelations": summary.memory_relations},
        "graph": {name: getattr(done.projection, name) for name in ("created", "updated", "removed")},
        "diagnostics": [*summary.diagnostics, *(f"configuration: {key} is ignored" for key in config.ignored)],
    }


def report_text(made: dict[str, Any], ask: str) -> str:
    """A build for people; `ask` is the command that asks the index."""
    from trivium.why.reasons import meanings

    counts, graph = made["counts"], made["graph"]
    kinds = ("decisions", "concepts", "changes")
    recorded = ", ".join(f"{counts[kind]} {kind}" for kind in kinds)
    lines = [
        f"Indexed {made['path']} into the {'new ' if made['contextCreated'] else ''}context {made['context']!r}.",
        f"  files     {_files(counts)}",
        f"  entries   {counts['documents']:,} documents, {counts['modules']:,} modules",
        f"  recorded  {recorded if made['enabled'] else 'not looked for: index.knowledgeEntities.enabled is off'}",
        f"  graph     {graph['created']:,} made, {graph['updated']:,} changed, {graph['removed']:,} removed"
        if made["changed"]
        else "  graph     as it was",
        f"  hash      {made['hash']}",
    ]
    if counts["memoryRelations"]:
        lines.insert(4, f"  notes     {counts['memoryRelations']:,} that support what is recorded")
    if made["diagnostics"]:
        lines += ["Not complete:", *(f"  {_cut(text)}" for text in made["diagnostics"])]
        lines += [f"  {code}: {meaning}" for code, meaning in meanings(made["diagnostics"])]
    if not counts["files"]:
        return "\n".join([*lines, "There is no file to read here."])
    return "\n".join([*lines, f"Ask with: {ask}"])


def _files(counts: dict[str, int]) -> str:
    """How many files there are, and what became of them: the numbers in brackets add up to the first."""
    by_path = counts["files"] - counts["read"] - counts["reused"]
    kinds = {"read": counts["read"], "unchanged since the last build": counts["reused"], "known by path only": by_path}
    told = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number > 0)
    return f"{counts['files']:,} ({told})" if told else f"{counts['files']:,}"


def _cut(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} … (--json shows all)"


def keep_indexing(context: Context, root: Path, read: Callable[[], Config], make: Callable[[Config], None]) -> None:
    """Build, and build again after changes, until interrupted. A build that fails is told, and the next one awaited."""
    from threading import Event

    import click

    from trivium.doors.cli_output import error_dict, print_error
    from trivium.why.watch import snapshot, watch

    def again() -> Config | None:
        try:
            config = context.index_settings(root, read())
            make(config)
        except TriviumError as error:
            print_error(error_dict(error))
            return None
        return config

    config = context.index_settings(root, read())
    seen = snapshot(root, config)
    make(config)
    try:
        watch(root, config, again, stop=Event(), seen=seen)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
