"""What a token names in a repository: a path, a module, a package. Exact look-ups only (reference 2.3, 2.4, 4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from urllib.parse import unquote

from trivium.code.collector import UNASKED
from trivium.code.languages import PYTHON
from trivium.code.model import ModuleSymbols
from trivium.why.model import Entry
from trivium.why.python_names import python_modules

_MAX_TOKEN = 1024
_LINES = re.compile(r":L?[0-9]{1,9}(?:[-:]L?[0-9]{1,9})?\Z")
_SPECIAL = re.compile(r"[/\\.#?:%]")
_SEPARATORS = re.compile(r"::|#|\\")
_PATH_WORDS = re.compile(r"[/.]")
_BETWEEN = re.compile(r"[.:\\]+")
_HERE = frozenset({"crate"})
"""What stands for the whole that a file belongs to, at the beginning of a name."""
_MAX_STEPS = 8


def dirname(path: str) -> str:
    return path.rpartition("/")[0]


def normal(base: str, text: str) -> str | None:
    """`text` seen from the folder `base`, without `.`, `..` and empty parts; None when it leaves the repository.

    >>> normal("docs/adr", "../../src/x.ts"), normal("docs", "../../x.ts")
    ('src/x.ts', None)
    """
    parts = base.split("/") if base else []
    for part in text.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/".join(parts)


def spellings(token: str) -> Iterator[str]:
    """The token as written, then with `/` for backslashes, then without fragment, query and line numbers, decoded."""
    yield token
    seen = {token}
    text = token
    for step in (
        lambda text: text.replace("\\", "/"),
        lambda text: text.partition("#")[0],
        lambda text: text.partition("?")[0],
        lambda text: _LINES.sub("", text),
        _decoded,
    ):
        text = step(text)
        if text not in seen:
            seen.add(text)
            yield text


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict") if "%" in text else text
    except UnicodeDecodeError:
        return text


class EntryResolver:
    """Implements `model.Resolver` over entries and the paths that discovery listed.

    `modules` are the results of the analysers by path. Without them, as from a stored index, what a module declares is
    read from its definitions, and names that a package passes on are not followed to the module they come from.
    """

    def __init__(
        self, entries: Iterable[Entry], paths: Iterable[str], modules: Mapping[str, ModuleSymbols] | None = None
    ) -> None:
        self.by_id: dict[str, Entry] = {}
        self._modules = modules or {}
        self._paths = set(paths)
        self._at: dict[str, Entry] = {}
        self._packages: dict[str, str] = {}
        self._declaring: dict[str, list[str]] = {}
        self._forwarding: dict[str, list[str]] = {}
        self._definitions: dict[str, set[str]] = {}
        for entry in sorted(entries, key=lambda entry: entry.id):
            self.by_id[entry.id] = entry
            if entry.kind == "package":
                self._packages[entry.title or entry.id.partition(":")[2]] = entry.id
            else:
                self._at[entry.path] = entry
            if entry.kind in ("module", "document"):
                self._paths.add(entry.path)
            if entry.kind == "module":
                self._add_names(entry)
        self._folders = _folders(self._paths)

    def _add_names(self, entry: Entry) -> None:
        result = self._modules.get(entry.path)
        declared = set(result.declared) if result is not None else {found.name for found in entry.definitions}
        for name in entry.symbols:
            if name not in UNASKED or entry.language == PYTHON:
                table = self._declaring if name in declared else self._forwarding
                table.setdefault(name, []).append(entry.id)

    # --- paths ------------------------------------------------------------------------------------

    def path(self, token: str, document: str) -> str | None:
        """The repository path that a token names, from the root, then from the document's folder (reference 4.1).

        Fragments, queries, `:12` and `:3-9` suffixes, `./`, a leading `/`, backslashes and percent-encoding are
        understood; a path that is listed as written wins. A folder counts when it holds listed files.
        """
        return self._path(token, dirname(document))

    def rooted_path(self, token: str) -> str | None:
        """Like `path`, from the root only."""
        return self._path(token, None)

    def linked_path(self, target: str, document: str) -> str | None:
        """What an inline link's target names: relative to the document, from the root with a leading `/` (2.3)."""
        if _is_foreign(target):
            return None
        for text in filter(_has_name, spellings(target)):
            found = normal("" if text.startswith("/") else dirname(document), text)
            if found and self._knows(found):
                return found
        return None

    def _path(self, token: str, folder: str | None) -> str | None:
        if token in self._paths:
            return token
        if _is_foreign(token):
            return None
        if not _SPECIAL.search(token):
            places = (token,) if not folder else (token, f"{folder}/{token}")
            return next((place for place in places if self._knows(place)), None)
        for text in filter(_has_name, spellings(token)):
            found = normal("", text)
            if found and self._knows(found):
                return found
            found = normal(folder, text) if folder and not text.startswith("/") else None
            if found and self._knows(found):
                return found
        return None

    def _knows(self, path: str) -> bool:
        return path in self._paths or path in self._folders

    def entry_at(self, path: str) -> Entry | None:
        """The module, area or document at exactly this path."""
        return self._at.get(path)

    def holds_only_documents(self, folder: str) -> bool:
        """Whether every listed file below this folder is a document."""
        return folder in self._folders and folder not in self._working_folders

    @cached_property
    def _working_folders(self) -> set[str]:
        """Folders that hold anything but documents."""
        return _folders(path for path in self._paths if path not in self._at or self._at[path].kind != "document")

    # --- packages ---------------------------------------------------------------------------------

    def package(self, name: str) -> str | None:
        """The id of the package of this name, or the only scoped one with this last part (reference 2.3)."""
        return self._packages.get(name) or self._tails.get(name)

    @cached_property
    def _tails(self) -> dict[str, str]:
        tails: dict[str, list[str]] = {}
        for name, entry_id in self._packages.items():
            if name.startswith("@") and "/" in name:
                tails.setdefault(name.rpartition("/")[2], []).append(entry_id)
        return {tail: ids[0] for tail, ids in tails.items() if len(ids) == 1}

    # --- symbols ----------------------------------------------------------------------------------

    def owners(self, name: str) -> list[str]:
        """Ids of the modules that own a name, ascending: those that declare it, else those that forward it (2.3).

        Also `Name.method` and, for Python, `package.module.Name`, `package.Name`, `package.module` (2.4); elsewhere a
        name behind the package, namespace, module or crate that its file's path shows. `::`, `#` and `\\` between names
        read like a dot. A stub beside its module does not count as a second owner.
        """
        found = self._declaring.get(name) or self._forwarding.get(name)
        if found is None and len(name) <= _MAX_TOKEN:
            dotted = _SEPARATORS.sub(".", name)
            found = self._dotted_owners(dotted) if "." in dotted else None
        return self._without_stubs(found) if found else []

    def _without_stubs(self, ids: Iterable[str]) -> list[str]:
        unique = sorted(set(ids))
        if len(unique) < 2:
            return unique
        paths = {self.by_id[entry_id].path for entry_id in unique}
        return [entry_id for entry_id in unique if not _is_stub_of(self.by_id[entry_id].path, paths)]

    def _dotted_owners(self, name: str) -> list[str]:
        if name in self._methods:
            return self._methods[name]
        if name in self._members:
            head = name.partition(".")[0]
            found = self._declaring.get(head) or self._forwarding.get(head)
            if found:
                return found
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            modules = self._python.get(".".join(parts[:length]), ())
            found = [owner for module in modules for owner in self._inside(module, parts[length:], _MAX_STEPS)]
            if found:
                return found
        return self._qualified_owners(parts)

    def _qualified_owners(self, parts: list[str]) -> list[str]:
        """The owners of the end of a dotted name whose path or namespace has the part before it: `pay.PaymentService`
        in `com/acme/pay/PaymentService.java`, `Acme.Mailer` in a file with `module Acme`."""
        for start in range(1, len(parts)):
            inner = parts[start:]
            name = ".".join(inner)
            found = self._declaring.get(name) or self._methods.get(name)
            if found is None and name in self._members:
                found = self._declaring.get(inner[0])
            before = _same_word(parts[start - 1])
            agreeing = [owner for owner in found or () if self._agrees(owner, before, first=start == 1)]
            if agreeing:
                return agreeing
        return []

    def _agrees(self, owner: str, before: str, *, first: bool) -> bool:
        entry = self.by_id[owner]
        if entry.language == PYTHON:
            return False  # there a dotted name is that of a module, exactly
        if (first and before in _HERE) or before in map(_same_word, _PATH_WORDS.split(entry.path)):
            return True
        result = self._modules.get(entry.path)
        said = result.namespaces if result is not None else ()
        return any(before in map(_same_word, _BETWEEN.split(name)) for name in said)

    def _inside(self, module: str, rest: list[str], steps: int) -> list[str]:
        """The owner of what a dotted name says inside a module: itself, a name of it, a method of that name."""
        if not rest:
            return [module]
        entry = self.by_id[module]
        defined = self._defined(entry)
        if rest[0] in defined:
            known = len(rest) == 1 or ".".join(rest) in defined or ".".join(rest) in self._members
            return [module] if known else []
        if rest[0] not in entry.symbols or not steps:
            return []
        source = self._source(entry, rest[0])
        if source is not None:
            target, is_module = source
            return self._inside(target, rest[1:] if is_module else rest, steps - 1)
        return [module] if len(rest) == 1 else []

    def _source(self, entry: Entry, name: str) -> tuple[str, bool] | None:
        """The module that a forwarded name comes from, and whether the name is that module itself."""
        result = self._modules.get(entry.path)
        specifier = result.forwarded.get(name) if result is not None else None
        if specifier is None:
            return None
        submodule = f"{specifier}{name}" if specifier.endswith(".") else f"{specifier}.{name}"
        for written, is_module in ((submodule, True), (specifier, False)):
            relative = written.startswith(".")
            target = self._relative_module(entry.path, written) if relative else self._absolute_module(written)
            if target is not None and target != entry.id:
                return target, is_module
        return None

    def _absolute_module(self, name: str) -> str | None:
        found = self._without_stubs(self._python.get(name, ()))
        return found[0] if len(found) == 1 else None

    def _relative_module(self, path: str, specifier: str) -> str | None:
        dots = len(specifier) - len(specifier.lstrip("."))
        folder: str | None = dirname(path)
        for _ in range(dots - 1):
            folder = dirname(folder) if folder else None
        if folder is None:
            return None
        names = [part for part in specifier[dots:].split(".") if part]
        base = "/".join([*([folder] if folder else []), *names])
        for candidate in (f"{base}.py", f"{base}/__init__.py", f"{base}.pyi", f"{base}/__init__.pyi"):
            entry = self._at.get(candidate.lstrip("/"))
            if entry is not None:
                return entry.id
        return None

    def _defined(self, entry: Entry) -> set[str]:
        known = self._definitions.get(entry.id)
        if known is None:
            known = self._definitions[entry.id] = {found.name for found in entry.definitions}
        return known

    @cached_property
    def _methods(self) -> dict[str, list[str]]:
        """`Name.method` to the modules that declare both."""
        table: dict[str, list[str]] = {}
        for entry in self.by_id.values():
            symbols = set(entry.symbols) if entry.definitions else set()
            for name in dict.fromkeys(found.name for found in entry.definitions):
                head, dot, tail = name.partition(".")
                if dot and head in symbols and tail[:1] not in ("_", "#") and "._" not in tail:
                    table.setdefault(name, []).append(entry.id)
        return table

    @cached_property
    def _members(self) -> set[str]:
        """Every `Name.method` that some module defines, be it apart from `Name` (Go, Rust, C++, Swift)."""
        return {
            found.name
            for entry in self.by_id.values()
            for found in entry.definitions
            if "." in found.name and "._" not in found.name and ".#" not in found.name
        }

    @cached_property
    def _python(self) -> dict[str, list[str]]:
        """Dotted names of Python modules to their ids."""
        modules = python_modules(self.by_id.values())
        return {name: [entry.id for entry in entries] for name, entries in modules.items()}


def _same_word(text: str) -> str:
    """A part of a name as that of a path may be written: `acme_core`, `acme-core`, `AcmeCore`."""
    return text.replace("_", "").replace("-", "").lower()


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder that holds a listed file, at any depth."""
    folders: set[str] = set()
    for path in paths:
        folder = dirname(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = dirname(folder)
    return folders


def _is_foreign(token: str) -> bool:
    """Whether a token cannot be a path of this repository: an address, or longer than any path."""
    return len(token) > _MAX_TOKEN or "://" in token or token.startswith("//") or "\0" in token or "\n" in token


def _has_name(text: str) -> bool:
    """Whether more is written than dots and slashes, which name whatever folder one stands in."""
    return bool(text.strip("./"))


def _is_stub_of(path: str, paths: set[str]) -> bool:
    """Whether a stub file lies beside the module whose names it repeats."""
    if path.endswith(".pyi"):
        return path[:-1] in paths
    stem, ending, _ = path.rpartition(".d.")
    if not ending:
        return False
    return any(f"{stem}.{extension}" in paths for extension in ("js", "jsx", "mjs", "cjs"))
