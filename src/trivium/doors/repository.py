"""What the doors of `why` share: which repository is meant, its context, a build with its report, a fresh index."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import NotFoundError, TriviumError

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase
    from trivium.why.config import Config
    from trivium.why.stored import Indexed, Loaded

CONFIGURATIONS = ("trivium.toml", "doc-bridge.config.json")
LONG = 300
"""Files from which a build on a terminal shows its progress."""


def root_of(place: Path) -> Path:
    """The root of the git work tree that holds a folder or file, else the folder itself."""
    from trivium.why import git

    folder = place if place.is_dir() else place.parent
    repository = git.locate(folder)
    return Path(os.path.realpath(folder)) if repository is None else repository.top


def bound_context(kb: KnowledgeBase, place: Path, *, stop_at_git: bool = True) -> Context:
    """The context bound to the nearest folder at or above `place`, up to the root of its work tree.

    Raises: NotFoundError.
    """
    folders = [Path(os.path.realpath(place))]
    folders += folders[0].parents
    for folder in folders:
        try:
            return kb.repository_context(folder)
        except NotFoundError:
            if stop_at_git and (folder / ".git").exists():
                break
    raise NotFoundError(f"No context holds an index of {place}.", "Build it with: trivium index")


def read_config(root: Path, file: str | None, *, profile: str = "local", entities: bool = True) -> Config:
    """The configuration of a repository, or that of a named file. Raises: ConfigError."""
    from trivium.why.config import load_config

    path = None if file is None else Path(file).absolute()
    return load_config(root, path, profile="service" if profile == "service" else "local", entities=entities)


def fresh_index(context: Context, command: str, *, config: Config | None = None, cache: bool = True) -> Loaded:
    """The index of a context, if it still describes its repository. Raises an error whose hint is `command`."""
    with naming(command):
        context.check_index(config=config, cache=cache)
        return context.repository_index()


@contextmanager
def naming(command: str) -> Iterator[None]:
    """Let errors about a missing, stale or damaged index say how to build it."""
    from trivium.why.stored import IndexDamagedError, IndexMissingError, IndexSettingsError, IndexStaleError

    try:
        yield
    except IndexSettingsError as error:
        raise IndexSettingsError(error.message, error.setting, command) from None
    except (IndexMissingError, IndexStaleError, IndexDamagedError) as error:
        raise type(error)(error.message, f"Build it with: {command}") from None


def build_command(
    root: Path | None, *, db: str | None = None, context: str | None = None, config: str | None = None
) -> str:
    """The command that builds an index, with the options that it needs.

    `root` None means the repository of the working folder. A folder below the root of its work tree that has a
    configuration of its own is a repository to `ak-docs` alone.

    >>> build_command(Path("/"), db="my memory.db", context="shop")
    "trivium --db 'my memory.db' index / --context shop"
    """
    if root is not None and context is None and config is None and root != root_of(root):
        own = next((root / name for name in CONFIGURATIONS if (root / name).is_file()), None)
        if own is not None:
            variable = [] if db is None else [f"TRIVIUM_DB={shlex.quote(db)}"]
            return " ".join([*variable, shlex.join(["ak-docs", "--config", str(own), "index"])])
    words = ["trivium", *([] if db is None else ["--db", db]), "index"]
    words += [] if root is None else [str(root)]
    words += [] if context is None else ["--context", context]
    words += [] if config is None else ["--config", config]
    return shlex.join(words)


def missing(root: Path, command: str) -> TriviumError:
    """The error that there is no index of this repository."""
    from trivium.why.stored import IndexMissingError

    return IndexMissingError(f"There is no index of {root}.", f"Build it with: {command}")


def answer(
    loaded: Loaded, target: str, *, kind: str | None, limit: int, budget_tokens: int | None, profile: str
) -> dict[str, Any]:
    """The answer of a command. In the service profile entities are off, so it tells how to provide an index."""
    import msgspec

    from trivium.why.prepared import PreparedIndex
    from trivium.why.query import knowledge_why

    prepared = loaded.prepared
    if profile == "service":
        prepared = PreparedIndex(msgspec.structs.replace(prepared.index, entities=None))
    return knowledge_why(
        prepared,
        target,
        kind=kind,
        limit=limit,
        budget_tokens=budget_tokens,
        profile="service" if profile == "service" else "local",
        root=loaded.root,
    )


def check_arguments(target: str, kind: str | None, limit: int, budget_tokens: int | None) -> None:
    """Refuse bad arguments before anything is opened. Raises: click.BadParameter naming the argument."""
    import click

    from trivium.why.query import WhyRequestError, check_request

    try:
        check_request(target, kind, limit, budget_tokens, "local", None)
    except WhyRequestError as error:
        name = "TARGET" if error.argument == "target" else f"--{error.argument.replace('_', '-')}"
        raise click.BadParameter(f"it {error.problem}. {error.hint or ''}", param_hint=f"'{name}'") from None


def print_answer(found: dict[str, Any], loaded: Loaded, search: list[str], *, as_json: bool) -> None:
    """Print an answer as JSON or as text; `search` as for `answer_text`."""
    import click

    from trivium.doors.cli_output import wants_color

    text = answer_text(found, loaded, search, as_json=as_json, color=wants_color(sys.stdout))
    click.echo(text, nl=False, color=True)


def search_words(context: Context, db: str | None = None) -> list[str]:
    """The words of the command line before a KIP command that is to search a repository's graph."""
    slug = [] if context.slug == context.knowledge_base.slug else ["--context", context.slug]
    return ["trivium", *([] if db is None else ["--db", db]), *slug, "kip"]


def answer_text(found: dict[str, Any], loaded: Loaded, search: list[str], *, as_json: bool, color: bool = False) -> str:
    """An answer as JSON or for people, with its last line ending.

    `search` are the words before a KIP command that searches the graph, for a target that nothing has.
    """
    from trivium.why.query import search_command
    from trivium.why.render import render_text
    from trivium.why.response import to_json

    if as_json:
        return f"{to_json(found)}\n"
    command = search_command(found["target"])
    if command is not None and "guidance" in found:
        found = found | {"guidance": found["guidance"].replace(command, shlex.join([*search, command]))}
    prepared = loaded.prepared
    return render_text(found, prepared.local.entity, color=color, commits=prepared.index.commits)


# --- building -------------------------------------------------------------------------------------


class Bar:
    """Progress of a build: a bar on stderr when that is a terminal and there is much to read."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __enter__(self) -> Callable[[int, int], None]:
        return self._show

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)

    def _show(self, done: int, total: int) -> None:
        if self._bar is None:
            if total < LONG or not sys.stderr.isatty():
                return
            import click

            self._bar = click.progressbar(length=total, label="Reading", file=sys.stderr)
            self._bar.__enter__()
        self._bar.update(done - self._bar.pos)


def context_to_fill(kb: KnowledgeBase, slug: str | None, root: Path, config: Config, *, empty: bool = False) -> Context:
    """The context that takes the index of a repository: the named one, or the one bound to it, made if need be.

    Raises: NotFoundError; NothingToReadError, before any context is made, when there is no file and no history and no
    index of them yet, unless `empty`.
    """
    try:
        context = kb.repository_context(root) if slug is None else kb.context(slug)
        known = context.repository_root == root
    except NotFoundError:
        if slug is not None:
            raise
        known = False
    if not known and not empty and not _is_anything(kb.context(kb.slug).index_settings(root, config), root):
        raise NothingToReadError(
            f"There is nothing to read in {root}: no file, and no history of git.",
            "Name the folder of a repository: trivium index PATH. Ignored and excluded files are not read.",
        )
    return kb.repository_context(root, create=True) if slug is None else kb.context(slug)


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
    with Bar() as progress:
        return context.index_repository(root, config=config, cache=cache, progress=progress)


def report(done: Indexed, path: str, context: Context, config: Config) -> dict[str, Any]:
    """A build as the object that `index --json` prints."""
    summary = done.summary
    counts = ("files", "read", "reused", "documents", "modules", "decisions", "concepts", "changes")
    return {
        "path": path,
        "context": context.slug,
        "hash": summary.index_hash,
        "enabled": config.entities,
        "changed": done.changed,
        "counts": {name: getattr(summary, name) for name in counts} | {"memoryRelations": summary.memory_relations},
        "graph": {name: getattr(done.projection, name) for name in ("created", "updated", "removed")},
        "diagnostics": [*summary.diagnostics, *(f"configuration: {key} is ignored" for key in config.ignored)],
    }


def report_text(made: dict[str, Any], ask: str) -> str:
    """A build for people; `ask` is the command that asks the index."""
    counts, graph = made["counts"], made["graph"]
    kinds = ("decisions", "concepts", "changes")
    recorded = ", ".join(f"{counts[kind]} {kind}" for kind in kinds)
    lines = [
        f"Indexed {made['path']} into the context {made['context']!r}.",
        f"  files     {counts['files']:,} ({counts['read']:,} read, {counts['reused']:,} known from before)",
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
    if not counts["files"]:
        return "\n".join([*lines, "There is no file to read here."])
    return "\n".join([*lines, f"Ask with: {ask}"])


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
