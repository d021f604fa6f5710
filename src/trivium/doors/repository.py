"""What the doors of `why` share: which repository is meant, its context, a build with its report, a fresh index."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trivium.errors import NotFoundError, TriviumError
from trivium.why.names import name_of, text_of

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


def naming_context(response: dict[str, Any], kb: KnowledgeBase) -> dict[str, Any]:
    """A response of KIP whose hint about an unknown type also names the context of the repository around us.

    For commands that act on the default context because nobody named one (KIP_2001).
    """
    result = response.get("result")
    answers = result if isinstance(result, list) else []
    failed = [one for one in (response, *answers) if isinstance(one, dict) and _is_unknown_type(one)]
    if not failed:
        return response
    try:
        slug = bound_context(kb, Path()).slug
    except (NotFoundError, OSError):
        return response
    if slug == kb.slug:
        return response
    said = f"The repository here is another context: --context {slug}."

    def told(answer: Any) -> Any:
        if not any(answer is one for one in failed):
            return answer
        error = answer["error"]
        return answer | {"error": error | {"hint": f"{error.get('hint') or ''} {said}".strip()}}

    response = told(response)
    return response | {"result": [told(answer) for answer in answers]} if answers else response


def _is_unknown_type(answer: dict[str, Any]) -> bool:
    error = answer.get("error")
    return isinstance(error, dict) and error.get("code") == "KIP_2001"


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


@contextmanager
def naming(command: str, profile: str = "local") -> Iterator[None]:
    """Let errors about a missing, stale or damaged index say how to build it."""
    from trivium.why.stored import IndexDamagedError, IndexMissingError, IndexSettingsError, IndexStaleError

    try:
        yield
    except IndexSettingsError as error:
        raise IndexSettingsError(error.message, error.setting, command) from None
    except (IndexMissingError, IndexStaleError, IndexDamagedError) as error:
        raise type(error)(error.message, _how(command, profile)) from None


def _how(command: str, profile: str) -> str:
    """How an index is had; in the service profile from elsewhere, since there nothing is built."""
    if profile == "service":
        return f"Give the service a database that holds one. Where the repository may be read: {command}"
    return f"Build it with: {command}"


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


def missing(root: Path, command: str, profile: str = "local") -> TriviumError:
    """The error that there is no index of this repository."""
    from trivium.why.stored import IndexMissingError

    return IndexMissingError(f"There is no index of {root}.", _how(command, profile))


class Answer(NamedTuple):
    """An answer with what its text form needs: the kind asked for, and the paths that the target stands for."""

    found: dict[str, Any]
    kind: str | None = None
    asked: Sequence[str] = ()


def answer(
    loaded: Loaded, target: str, *, kind: str | None, limit: int, budget_tokens: int | None, profile: str
) -> Answer:
    """The answer of a command. In the service profile entities are off, so it tells how to provide an index."""
    from trivium.why.model import FORMAT_VERSION, Index
    from trivium.why.prepared import PreparedIndex
    from trivium.why.query import asked_paths, knowledge_why

    prepared = loaded.prepared
    if profile == "service":
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

    from trivium.why.query import WhyRequestError, check_request

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
    from trivium.why.query import search_command
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


# --- building -------------------------------------------------------------------------------------


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
    (`again` gives the command that builds that one); NothingToReadError when there is no file and no history and no
    index of them yet, unless `empty`; NotFoundError for a slug that no context can have.
    """
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
