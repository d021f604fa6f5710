"""Names of files as texts and as the system has them. Texts are UTF-8 here, whatever the locale says.

Python reads the system's names by the locale; under `LC_ALL=C` all but ASCII would come out as something else. What is
no UTF-8 becomes lone surrogates, as Python does it, and can be part of no index.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_BY_LOCALE = sys.getfilesystemencoding() != "utf-8"


def text_of(path: str | os.PathLike[str]) -> str:
    """A name or path as Python has it, as text."""
    name = os.fspath(path)
    return os.fsencode(name).decode("utf-8", "surrogateescape") if _BY_LOCALE else name


def name_of(text: str) -> str:
    """The name that `text_of` made a text of, as Python has it."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape")) if _BY_LOCALE else text


def names_of(texts: Sequence[str]) -> Sequence[str]:
    """As `name_of`, of many."""
    return [name_of(text) for text in texts] if _BY_LOCALE else texts


def path_of(text: str) -> Path:
    """The path that `text_of` made a text of."""
    return Path(name_of(text))


def below(root: str | os.PathLike[str], path: str) -> str:
    """Where a path of a repository lies, as Python has it."""
    return f"{os.fspath(root)}{os.sep}{name_of(path)}"
