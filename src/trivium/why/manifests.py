"""Packages from the manifests of a repository, and the areas that its modules lie in (reference 2.1).

A package is an entry with the manifest's path and hash; its id is made of the name the manifest states. Names that a
program would have to compute are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from trivium.why.model import Entry, bounded_id, sha256

SOURCE_ROOTS = frozenset({"src", "lib", "app", "source", "server", "client", "packages", "apps"})

_MAX_BYTES = 1 << 20
_MAX_NAME = 240
_MAX_GLOBS = 256
_WORKSPACE_ITEM = re.compile(r"""^\s*-\s*(?:"([^"]*)"|'([^']*)'|([^\s#'"][^#]*?))\s*(?:#.*)?$""")
_GO_MODULE = re.compile(r'^module[ \t]+"?([^\s"]+)', re.M)
_BAD = re.compile(r"[\x00-\x20\x7f]")


def is_manifest(path: str) -> bool:
    """Whether `packages` wants the content of this file."""
    name = path.rpartition("/")[2]
    return name in _NAMES or name in _WORKSPACES


def packages(files: Mapping[str, bytes]) -> list[Entry]:
    """One entry a package, ascending by id (reference 2.1).

    `files` maps paths to bytes; other files than manifests are passed over. Below a folder whose `package.json` (or
    `pnpm-workspace.yaml`, `lerna.json`) lists workspaces, other `package.json` files count only if they are among
    them. Of several manifests with one name the one nearest to the root counts, then by the order of `_NAMES`.
    """
    workspaces = _workspaces(files)
    found: dict[str, tuple[tuple[int, int, str], Entry]] = {}
    for path, data in files.items():
        folder, _, file = path.rpartition("/")
        if file not in _NAMES or len(data) > _MAX_BYTES:
            continue
        if file == "package.json" and not _is_member(folder, workspaces):
            continue
        name = _name(file, data)
        if name is None:
            continue
        rank = (folder.count("/") + bool(folder), list(_NAMES).index(file), path)
        content_hash = sha256(data.removeprefix(b"\xef\xbb\xbf"))
        entry = Entry(bounded_id(f"package:{name}"), "package", path, content_hash, title=name)
        if name not in found or rank < found[name][0]:
            found[name] = (rank, entry)
    return sorted((entry for _, entry in found.values()), key=lambda entry: entry.id)


def areas(modules: Iterable[str], package_paths: Iterable[str] = ()) -> dict[str, list[str]]:
    """Area path to the modules that belong to it, each to its most specific area only (reference 2.1).

    An area is the first folder below a source root of the repository or of a package, when a module lies in it.

    >>> areas(["src/query/plan.ts", "src/main.ts", "packages/ui/src/form/input.tsx"], ["packages/ui/package.json"])
    {'packages/ui': [], 'packages/ui/src/form': ['packages/ui/src/form/input.tsx'], 'src/query': ['src/query/plan.ts']}
    """
    bases = {"", *(path.rpartition("/")[0] for path in package_paths)}
    found: dict[str, list[str]] = {}
    for module in sorted(modules):
        parts = module.split("/")
        own = ""
        for depth in range(len(parts) - 2):
            if parts[depth] in SOURCE_ROOTS and "/".join(parts[:depth]) in bases:
                own = "/".join(parts[: depth + 2])
                found.setdefault(own, [])
        if own:
            found[own].append(module)
    return dict(sorted(found.items()))


# --- names ----------------------------------------------------------------------------------------


def _name(file: str, data: bytes) -> str | None:
    """The name a manifest states; None when it states none or cannot be read."""
    try:
        name = _NAMES[file](data.decode("utf-8-sig"))
    except (ValueError, SyntaxError, RecursionError, MemoryError, msgspec.MsgspecError):
        return None
    if not isinstance(name, str):
        return None
    name = name.strip()
    return name if 0 < len(name) <= _MAX_NAME and not _BAD.search(name) else None


def _json(text: str) -> dict[str, Any]:
    value = msgspec.json.decode(text)
    return value if isinstance(value, dict) else {}


def _table(value: Any, *keys: str) -> Any:
    """A value inside nested tables, None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _pyproject(text: str) -> Any:
    import tomllib

    table = tomllib.loads(text)
    return _table(table, "project", "name") or _table(table, "tool", "poetry", "name")


def _cargo(text: str) -> Any:
    import tomllib

    return _table(tomllib.loads(text), "package", "name")


def _setup_cfg(text: str) -> str | None:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    name = parser.get("metadata", "name", fallback=None)
    return None if name is None or name.startswith(("attr:", "file:")) or "%(" in name else name


def _setup_py(text: str) -> str | None:
    """The literal `name` of the first call of `setup` or `….setup`."""
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="setup") | ast.Attribute(attr="setup"), keywords=keywords):
                for keyword in keywords:
                    if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                        return keyword.value.value if isinstance(keyword.value.value, str) else None
    return None


def _go_mod(text: str) -> str | None:
    found = _GO_MODULE.search(text)
    return found[1] if found else None


_NAMES: dict[str, Callable[[str], Any]] = {
    "package.json": lambda text: _json(text).get("name"),
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
}


# --- workspaces -----------------------------------------------------------------------------------


def _package_json_globs(text: str) -> Any:
    declared = _json(text).get("workspaces")
    return declared.get("packages") if isinstance(declared, dict) else declared


def _pnpm_globs(text: str) -> list[str]:
    """The list under `packages:`; only its plain form, one quoted or bare item a line."""
    globs: list[str] = []
    inside = False
    for line in text.splitlines():
        item = _WORKSPACE_ITEM.match(line) if inside else None
        if item:
            globs.append(item[1] or item[2] or item[3] or "")
        elif line.strip() and not line.lstrip().startswith("#"):
            inside = line.split("#")[0].rstrip() == "packages:"
    return globs


_WORKSPACES: dict[str, Callable[[str], Any]] = {
    "package.json": _package_json_globs,
    "pnpm-workspace.yaml": _pnpm_globs,
    "lerna.json": lambda text: _json(text).get("packages"),
}


def _workspaces(files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Folder to the workspace globs that a manifest in it declares."""
    found: dict[str, list[str]] = {}
    for path in sorted(files):
        folder, _, file = path.rpartition("/")
        if file not in _WORKSPACES or len(files[path]) > _MAX_BYTES:
            continue
        try:
            globs = _WORKSPACES[file](files[path].decode("utf-8-sig"))
        except (ValueError, RecursionError, msgspec.MsgspecError):
            continue
        if isinstance(globs, list) and globs:
            known = found.setdefault(folder, [])
            known += [glob for glob in globs if isinstance(glob, str) and len(glob) <= _MAX_NAME][:_MAX_GLOBS]
    return found


def _is_member(folder: str, workspaces: Mapping[str, list[str]]) -> bool:
    """Whether a `package.json` here is a package: a workspace of the nearest root above it, or under no root."""
    if folder in workspaces:
        return True
    parts = folder.split("/") if folder else []
    for depth in range(len(parts) - 1, -1, -1):
        globs = workspaces.get("/".join(parts[:depth]))
        if globs is not None:
            return _matches_globs(parts[depth:], globs)
    return True


def _matches_globs(parts: list[str], globs: list[str]) -> bool:
    member = False
    for glob in globs:
        pattern = [part for part in glob.lstrip("!").split("/") if part not in ("", ".")]
        if _matches(parts, pattern):
            member = not glob.startswith("!")
    return member


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Match folder names against a glob, `**` standing for any number of them."""
    places = {0}
    for piece in pattern:
        if piece == "**":
            places = set(range(min(places), len(parts) + 1)) if places else places
        else:
            places = {place + 1 for place in places if place < len(parts) and fnmatchcase(parts[place], piece)}
    return len(parts) in places
