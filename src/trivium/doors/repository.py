"""What the doors of `why` share: which repository is meant, its context, a fresh index, and how to build one."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import NotFoundError, TriviumError

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase
    from trivium.why.config import Config
    from trivium.why.stored import Loaded

CONFIGURATIONS = ("trivium.toml", "doc-bridge.config.json")


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
