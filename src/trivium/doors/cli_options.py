"""What every command of the command line shares: which database, which context, which form of output."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trivium.errors import StoreError
from trivium.location import MEMORY, default_database, locate

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Choices:
    """The values of `--db`, `--context` and `--json`, wherever on the line they stood."""

    db: str | None = None
    context: str | None = None
    json: bool = False

    @property
    def url(self) -> str:
        """The database asked for, or the default one of this user. Raises: StoreError for what is no path."""
        return str(default_database()) if self.db is None else locate(self.db)

    def exists(self) -> bool:
        """Whether opening would find a database rather than make one."""
        return self.url != MEMORY and Path(self.url).exists()

    @contextmanager
    def open(self, *, must_exist: bool = False, staying: bool = False) -> Iterator[KnowledgeBase]:
        """Open the database; closes it at the end. Raises: StoreError.

        A command that is `staying` a while lets vectors be made in the background once meaning is asked for.
        """
        if must_exist and self.url != MEMORY and not self.exists():
            given = "" if self.db is None else f"--db {shlex.quote(self.url)} "
            hint = f"Give another file with --db, or make one: trivium {given}add FOLDER"
            raise StoreError(f"There is no database at {self.url}.", hint)
        if self.db is None:
            _make_private(default_database().parent)
        with opened(self.url) as kb:
            if not staying:
                kb.hold_embedding()
            yield kb

    @contextmanager
    def open_context(self, *, must_exist: bool = False, staying: bool = False) -> Iterator[KnowledgeBase | Context]:
        """Open the database and go to the context asked for. Raises: StoreError, NotFoundError."""
        with self.open(must_exist=must_exist, staying=staying) as kb:
            yield kb if self.context is None else kb.context(self.context)


def opened(url: str, **settings: Any) -> KnowledgeBase:
    """A knowledge base, to be closed. Raises: StoreError, also for a setting that is wrong."""
    import trivium

    with settings_told():
        return trivium.open(url, **settings)


@contextmanager
def settings_told() -> Iterator[None]:
    """Settings are read from the environment inside. Raises: StoreError for one that is wrong."""
    try:
        yield
    except ValueError as error:
        raise StoreError(f"A setting is wrong: {error}.", "Correct the environment variable, or unset it.") from None


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The data folder {folder} cannot be made: {error.strerror}.",
            "Give a database file with --db FILE or TRIVIUM_DB.",
        ) from None


def remember(field: str, kind: type[Choices] = Choices) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that puts an option's value into that field of the command's `Choices`."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:  # an empty text is a mistake to be told, not the default
            setattr(context.ensure_object(kind), field, value)

    return callback


def whole(most: int, example: int) -> Callable[[click.Context, click.Parameter, Any], int | None]:
    """A callback that takes a whole number from 1 to `most`; what it says about anything else names the range."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> int | None:
        if value is None:
            return None
        try:
            number = int(value)
        except ValueError:
            number = 0
        if not 1 <= number <= most:
            raise click.BadParameter(f"it must be a whole number from 1 to {most:,}, for example {example:,}.")
        return number

    return callback


def with_json(command: Command) -> Command:
    """Add `--json`; the value is in `Choices`."""
    option = click.option("--json", is_flag=True, expose_value=False, callback=remember("json"), help="Print JSON.")
    return option(command)


def with_store(command: Command) -> Command:
    """Add `--db`, `--context` and `--json`; the values are in `Choices`."""
    context = click.option(
        "--context",
        metavar="SLUG",
        expose_value=False,
        callback=remember("context"),
        help="Act on this context instead of 'default'.  [env: TRIVIUM_CONTEXT]",
    )
    return with_db(context(command))


def with_db(command: Command) -> Command:
    """Add `--db` and `--json`; the values are in `Choices`."""
    database = click.option(
        "--db",
        metavar="URL",
        expose_value=False,
        callback=remember("db"),
        help="Database file, or :memory:.  [env: TRIVIUM_DB]",
    )
    return database(with_json(command))


pass_choices = click.make_pass_decorator(Choices, ensure=True)
