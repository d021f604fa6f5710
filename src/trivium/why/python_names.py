"""Under which dotted names a repository's Python files may be imported (reference 2.4): one rule for all that asks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from trivium.code.languages import PYTHON
from trivium.why.model import Entry

_ROOT_FOLDERS = frozenset({"src", "lib", "python"})
_INITS = frozenset({"__init__.py", "__init__.pyi"})


def module_names(path: str, packages: Container[str] = (), folders: Container[str] = ()) -> set[str]:
    """The dotted names of one file.

    They start at the root, below `src`, `lib` or `python`, below a manifest's folder (`packages`), and at the topmost
    of the folders with an `__init__` (`folders`) around the file.

    >>> sorted(module_names("src/trivium/why/__init__.py"))
    ['src.trivium.why', 'trivium.why']
    """
    return set(_names(path, _starts(_folder(path), packages, folders)))


def python_modules(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Dotted names to the Python modules among these entries, in their order."""
    known = list(entries)
    modules = [entry for entry in known if entry.kind == "module" and entry.language == PYTHON]
    packages = {_folder(entry.path) for entry in known if entry.kind == "package"}
    folders = {_folder(entry.path) for entry in modules if entry.path.rpartition("/")[2] in _INITS}
    starts: dict[str, set[int]] = {}
    table: dict[str, list[Entry]] = {}
    for entry in modules:
        folder = _folder(entry.path)
        if folder not in starts:
            starts[folder] = _starts(folder, packages, folders)
        for name in _names(entry.path, starts[folder]):
            table.setdefault(name, []).append(entry)
    return table


def _starts(folder: str, packages: Container[str], folders: Container[str]) -> set[int]:
    """At which parts of their paths the names of a folder's files may start."""
    parts = folder.split("/") if folder else []
    starts = {0}
    for depth in range(1, len(parts) + 1):
        if parts[depth - 1] in _ROOT_FOLDERS or "/".join(parts[:depth]) in packages:
            starts.add(depth)
    top = len(parts)
    while top and "/".join(parts[:top]) in folders:
        top -= 1
    if top < len(parts):
        starts.add(top)
    return starts


def _names(path: str, starts: Iterable[int]) -> Iterator[str]:
    parts = path.removesuffix(".pyi").removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    return (".".join(parts[start:]) for start in starts if start < len(parts))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
