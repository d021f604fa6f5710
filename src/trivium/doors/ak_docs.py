"""The command `ak-docs`: the surface of Knowledge query v1, with its own opt-in and its index file.

Entities are built only where the configuration says `index.knowledgeEntities.enabled`. The index lives in the same
store as that of `trivium index`; `index` also writes it to `index.outFile`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from trivium.doors import answering, indexing, repository
from trivium.doors.chatting import chat as chat_with
from trivium.doors.chatting import models, print_chat
from trivium.doors.cli import run_program
from trivium.doors.cli_options import Choices, remember
from trivium.doors.cli_output import printable, to_json
from trivium.doors.cli_target import TargetCommand
from trivium.errors import NotFoundError, StoreError, TriviumError
from trivium.files import whole_file
from trivium.why.names import text_of

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase
    from trivium.why.config import Config
    from trivium.why.stored import Loaded

Command = TypeVar("Command", bound=Callable[..., Any])
INDEX_FOLDERS = frozenset((".trivium", ".doc-bridge"))
"""Folders that hold indexes and nothing else; they are never part of one."""
LIMIT = 20
TRUNCATED = (
    f"Some results were left out, beyond {LIMIT} a list; to see more: trivium why TARGET --limit N, at most 100."
)


@dataclass(slots=True)
class Asked(Choices):
    """The values of `--config` and `--profile` too, wherever on the line they stood."""

    config: str | None = None
    profile: str = "local"

    def __post_init__(self) -> None:
        self.db = self.db or os.environ.get("TRIVIUM_DB") or None

    @property
    def root(self) -> Path:
        """The folder of the configuration: that of `--config`, else the nearest one above; else the work tree's."""
        if self.config is not None:
            return Path(os.path.realpath(Path(self.config).absolute().parent))
        top = repository.root_of(Path())
        here = Path.cwd().resolve()
        for folder in (here, *here.parents):
            if _is_configured(folder):
                return folder
            if folder == top:
                break
        return top

    @property
    def rebuild(self) -> str:
        """The command that builds the index."""
        options = [] if self.config is None else ["--config", self.config]
        return shlex.join(["ak-docs", *options, "index"])

    def rebuild_in(self, root: Path) -> str:
        """The command that builds the index of the repository at `root`."""
        return self.rebuild if root == self.root else f"cd {shlex.quote(str(root))} && {self.rebuild}"

    def leaves_open(self, root: Path) -> bool:
        """Whether it is the default alone that leaves entities out: nothing says so. Raises: ConfigError."""
        return repository.read_config(root, self.config, profile=self.profile, entities=True).entities

    def settings(self, root: Path) -> Config:
        """The configuration in force. Raises: ConfigError."""
        return repository.read_config(root, self.config, profile=self.profile, entities=False)


def _with_configuration(command: Command) -> Command:
    """Add `--config` and `--profile`; the values are in `Asked`."""
    config = click.option(
        "--config",
        metavar="PATH",
        expose_value=False,
        callback=remember("config", Asked),
        help="Configuration file; its folder is the repository's root.",
    )
    profile = click.option(
        "--profile",
        type=click.Choice(["local", "service"]),
        metavar="PROFILE",
        expose_value=False,
        callback=remember("profile", Asked),
        help="local, or service: the restricted profile, in which entities are off.",
    )
    return config(profile(command))


def _with_json(command: Command) -> Command:
    option = click.option(
        "--json", is_flag=True, expose_value=False, callback=remember("json", Asked), help="Print JSON."
    )
    return option(command)


pass_asked = click.make_pass_decorator(Asked, ensure=True)


@click.group(name="ak-docs", context_settings={"help_option_names": ["-h", "--help"]})
@_with_configuration
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Knowledge query v1: which decisions, concepts and changes are recorded about a piece of a repository.

    Switch entities on with index.knowledgeEntities.enabled in trivium.toml or doc-bridge.config.json, run
    `ak-docs index`, then ask: `ak-docs why TARGET`. Exit codes: 0 success, 1 failure, 2 wrong command line.
    """
    ctx.ensure_object(Asked)


# --- index ----------------------------------------------------------------------------------------


@cli.command()
@click.option("--watch", is_flag=True, help="Stay, and build again after changes.")
@click.option("--text", is_flag=True, help="Print the summary for people instead of JSON.")
@_with_configuration
@_with_json
@pass_asked
def index(asked: Asked, watch: bool, text: bool) -> None:
    """Build the index of the repository, write it to index.outFile, and print a summary as JSON.

    An index that holds entities is kept when the configuration does not say whether to read them.
    """
    if text and asked.json:
        raise click.UsageError("--text and --json exclude each other.")
    root = asked.root

    def make(settings: Config) -> None:
        kept = None if settings.entities or not asked.leaves_open(root) else _with_entities(filled.context)
        if kept is not None:
            _tell_kept(kept, write_index(root, settings, kept.prepared.index), filled.context, settings, text, watch)
            return
        done = indexing.build(filled.context, root, settings)
        file = write_index(root, settings, done.build.index)
        made = indexing.report(done, str(file), filled, settings)
        filled.made = False
        if text:
            click.echo(printable(indexing.report_text(made, "ak-docs why TARGET")))
        else:
            click.echo(to_json(made, indent=None if watch else 2))

    settings = asked.settings(root)
    with asked.open() as kb:
        filled = indexing.context_to_fill(kb, None, root, settings, empty=watch, again=asked.rebuild_in)
        if watch:
            indexing.keep_indexing(filled.context, root, lambda: asked.settings(root), make)
        else:
            make(settings)


def _with_entities(context: Context) -> Loaded | None:
    """The index that the context holds, if it holds entities."""
    from trivium.why.stored import IndexDamagedError, IndexMissingError

    try:
        loaded = context.repository_index()
    except (IndexMissingError, IndexDamagedError):
        return None
    return None if loaded.prepared.index.entities is None else loaded


def _tell_kept(kept: Loaded, file: Path, context: Context, settings: Config, text: bool, one_line: bool) -> None:
    """Say that the index with entities was not replaced by one without, and how to choose."""
    from trivium.why.stored import entities_switch

    switch = entities_switch(settings)
    index = kept.prepared.index
    told = (
        f"Kept the index that the context {context.slug!r} holds, because it holds decisions, concepts and changes, "
        f"and nothing says that they are not wanted. It was not built again. Set {switch} to true to build it with "
        "them, or to false to replace it by one without."
    )
    if text:
        click.echo(printable(told))
        return
    kinds = [entity.kind for entity in index.entities or []]
    counts = {
        "files": len(index.paths),
        "read": 0,
        "reused": 0,
        **{f"{kind}s": sum(entry.kind == kind for entry in index.entries) for kind in ("document", "module")},
        **{f"{kind}s": kinds.count(kind) for kind in ("decision", "concept", "change")},
        "memoryRelations": len(index.memory_relations),
    }
    made = {
        "path": str(file),
        "context": context.slug,
        "contextCreated": False,
        "hash": index.index_hash,
        "enabled": True,
        "changed": False,
        "kept": True,
        "counts": counts,
        "graph": {"created": 0, "updated": 0, "removed": 0},
        "diagnostics": [told],
    }
    click.echo(to_json(made, indent=None if one_line else 2))
    click.echo(printable(told), err=True)


def write_index(root: Path, config: Config, index: Any) -> Path:
    """Replace the index file by canonical JSON with its hash, in one step. Raises: StoreError."""
    from trivium.why.model import canonical

    file = root / config.out_file
    try:
        _make_folder(root, config.out_file)
        if not file.parent.resolve().is_relative_to(root.resolve()):
            raise StoreError(
                f"index.outFile {config.out_file} passes a link that leads out of the repository.",
                "Name a path inside the repository.",
            )
        if file.exists() and not _is_index(file):
            raise StoreError(
                f"index.outFile {config.out_file} names a file that is no index; it is left alone.",
                "Give the index a path of its own, such as .trivium/index.json.",
            )
        with whole_file(file) as stream:
            stream.write(canonical(index) + b"\n")
    except OSError as error:
        raise StoreError(
            f"The index file {config.out_file} cannot be written: {error.strerror}.",
            "Check index.outFile and the rights of its folder.",
        ) from None
    return file


def _make_folder(root: Path, out_file: str) -> None:
    """Make the folder of the index file; one that is for indexes alone is made so that git leaves it out."""
    own = root / Path(out_file).parts[0]
    ignored = own.name in INDEX_FOLDERS and not os.path.lexists(own)
    (root / out_file).parent.mkdir(parents=True, exist_ok=True)
    if ignored:
        (own / ".gitignore").write_text("*\n", encoding="utf-8")


def _is_index(file: Path) -> bool:
    """Whether an earlier run wrote this file: a configuration from elsewhere must not make us replace others."""
    import msgspec

    try:
        found = msgspec.json.decode(file.read_bytes())
    except (ValueError, OSError):
        return False
    return isinstance(found, dict) and found.keys() >= {"formatVersion", "indexHash", "entries"}


# --- why and ask ----------------------------------------------------------------------------------


@cli.command(cls=TargetCommand)
@click.argument("target")
@_with_configuration
@_with_json
@pass_asked
def why(asked: Asked, target: str) -> None:
    """Tell what is recorded about TARGET: a path, a symbol, a concept, a name or an id. Text unless --json."""
    target = text_of(target)
    answering.check_arguments(target, None, LIMIT, None)
    root = asked.root
    settings = asked.settings(root)
    if not asked.exists():
        raise repository.missing(root, asked.rebuild, asked.profile)
    with asked.open() as kb:
        context, whole, config = _configured(asked, root, settings, kb)
        closed = not config.entities and asked.profile == "local" and asked.leaves_open(whole) and _is_kept(context)
        with (
            context.opened_index()
            if closed
            else answering.asked_index(context, asked.rebuild_in(whole), asked.profile, config=config)
        ) as loaded:
            found = answering.answer(
                loaded,
                target,
                kind=None,
                limit=LIMIT,
                budget_tokens=None,
                profile=asked.profile,
                entities=not closed,
            )
            if closed:
                found = found._replace(found=found.found | {"guidance": _closed(config, asked.rebuild_in(whole))})
            search = answering.search_words(context)
            answering.print_answer(found, loaded, search, as_json=asked.json, truncated=TRUNCATED)


def _is_kept(context: Context) -> bool:
    """Whether the context holds an index with entities, which `index` keeps as it is."""
    from trivium.why.stored import IndexDamagedError, IndexMissingError

    try:
        with context.opened_index() as loaded:
            return loaded.prepared.head.enabled
    except (IndexMissingError, IndexDamagedError):
        return False


def _closed(settings: Config, rebuild: str) -> str:
    """That the index holds entities which nobody asked for, and how to ask for them."""
    from trivium.why.response import MAX_GUIDANCE
    from trivium.why.stored import entities_switch

    told = (
        "The index holds decisions, concepts and changes, but nothing says that they are wanted here. Set "
        f"{entities_switch(settings)} to true and build it again with: "
    )
    return f"{told}{rebuild}" if len(told) + len(rebuild) <= MAX_GUIDANCE else f"{told}ak-docs index"


def _configured(asked: Asked, root: Path, settings: Config, kb: KnowledgeBase) -> tuple[Context, Path, Config]:
    """The context of the repository, the repository's own root, and the configuration that holds there."""
    context = _bound(asked, root, kb)
    whole = context.repository_root or root
    return context, whole, settings if whole == root else asked.settings(whole)


def _bound(asked: Asked, root: Path, kb: KnowledgeBase) -> Context:
    """The context of the repository; without git and configuration, of the nearest folder above that has one."""
    from trivium.why import git

    try:
        if git.locate(root) is None and asked.config is None and not _is_configured(root):
            return repository.bound_context(kb, root)
        return kb.repository_context(root)
    except NotFoundError:
        raise repository.missing(root, asked.rebuild, asked.profile) from None


def _is_configured(folder: Path) -> bool:
    return any((folder / name).is_file() for name in repository.CONFIGURATIONS)


@cli.command()
@click.argument("question")
@click.option("--chat", is_flag=True, help="Let a configured model answer.")
@_with_configuration
@_with_json
@pass_asked
def ask(asked: Asked, question: str, chat: bool) -> None:
    """Put a question to a model that you configured, with what the index holds about it."""
    if not chat:
        raise click.UsageError("ask needs --chat. Without a model, ask for a path or a name: ak-docs why TARGET")
    if not question.strip():
        raise click.BadParameter("it must not be empty.", param_hint="'QUESTION'")
    catalogue, model = models()
    root = asked.root
    settings = asked.settings(root)
    if not asked.exists():
        raise repository.missing(root, asked.rebuild, asked.profile)
    with asked.open() as kb:
        context, whole, config = _configured(asked, root, settings, kb)
        rebuild = asked.rebuild_in(whole)
        if not config.entities:
            raise _nothing_to_give(config, rebuild)
        with answering.asked_index(context, rebuild, asked.profile, config=config):
            index = context.repository_index().prepared.index
        print_chat(chat_with(catalogue, model, index, question, context.slug), as_json=asked.json)


def _nothing_to_give(settings: Config, rebuild: str) -> TriviumError:
    from trivium.why.stored import entities_switch

    return NotFoundError(
        "Entities are off, so there is nothing to give to a model.",
        f"Set {entities_switch(settings)} to true and build the index: {rebuild}",
    )


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run `ak-docs` and leave the process."""
    run_program(cli, "ak-docs", arguments)
