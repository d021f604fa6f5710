"""Where a knowledge base is: what the `url` of `trivium.open` and of `--db` may be."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from trivium.errors import StoreError

MEMORY = ":memory:"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,3}")
_NEARLY_MEMORY = re.compile(r"\s*(?::+memory:*|:*memory:+|file:+memory.*)\s*", re.IGNORECASE)


def locate(url: str | os.PathLike[str]) -> str:
    """The path that a `url` means, with `~` as the user's home; `:memory:` as it is. It touches no file.

    Raises: TypeError for what is neither text nor a path; StoreError, with a hint, for what can be no path here.

    >>> locate("memory.db"), locate(":memory:")
    ('memory.db', ':memory:')
    """
    text: object = os.fspath(url) if isinstance(url, os.PathLike) else url
    if not isinstance(text, str):
        raise TypeError(
            f"url must be a path (text or a Path object), not {_shown(url)}; for example trivium.open('memory.db')."
        )
    if text == MEMORY:
        return text
    if not text.strip():
        raise StoreError("The path of the database is empty.", "Name a file, such as memory.db, or :memory:.")
    if "\0" in text:
        raise StoreError("The path of the database holds a NUL character.", "Name a file, such as memory.db.")
    _refuse_url(text)
    return _at_home(text)


def _refuse_url(text: str) -> None:
    """An address of another kind is no path: taken as one, it would make folders of its parts."""
    if _NEARLY_MEMORY.fullmatch(text):
        raise StoreError(f"{text!r} is nearly {MEMORY}, but not quite.", f"Write {MEMORY}, or ./ before a file's name.")
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else "file" if text.lower().startswith("file:") else None
    if scheme is None:
        return
    if scheme in ("postgres", "postgresql"):
        raise StoreError(
            "This version keeps its knowledge in SQLite files only.",
            "Pass a file path, for example trivium.open('memory.db').",
        )
    if scheme in ("sqlite", "file"):
        path = re.sub(r"^(sqlite:/{0,3}|file:(//)?)", "", text, flags=re.IGNORECASE).partition("?")[0]
        example = f"{path!r}" if path and path != MEMORY else f"'memory.db' or {MEMORY!r}"
        raise StoreError(f"{scheme}: URLs are not understood.", f"Pass the path alone, for example {example}.")
    raise StoreError(
        f"{scheme}: is no place for a knowledge base, which is a file.",
        "Pass a file path, for example memory.db; write ./ before a path that looks like a URL.",
    )


def _at_home(text: str) -> str:
    if not text.startswith("~"):
        return text
    path = os.path.expanduser(text)  # noqa: PTH111 - a name such as ~x.db stays as it is
    if path.startswith("~") and re.search(r"[/\\]", path):
        raise StoreError(
            f"{text}: there is no home folder of that name.", "Write the path in full, or ./ before a folder's name."
        )
    return path


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else type(value).__name__


def data_folder() -> Path:
    """Where this platform keeps a user's data for Trivium."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base or Path.home() / "AppData" / "Local") / "trivium"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "trivium"
    base = os.environ.get("XDG_DATA_HOME")
    return Path(base if base and Path(base).is_absolute() else Path.home() / ".local" / "share") / "trivium"


def default_database() -> Path:
    """The database that is used when none is named."""
    return data_folder() / "trivium.db"
