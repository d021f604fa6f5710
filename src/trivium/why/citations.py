"""What a cited token names: a path, a symbol with one owner, or nothing (reference 3.3, 4.1 row `links`)."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath

from msgspec import Struct

from trivium.why.code_names import bare_names
from trivium.why.model import MAX_PATH, Cite, LinkKind, Resolver

_SYMBOL = re.compile(r"((?:[^\W\d]|\$)[\w$]*(?:(?:\.|::|#|\\)(?:[^\W\d]|\$)[\w$]*)*[!?]?)(?:\(\))?")
_AFTER_PATH = re.compile(r"[#?].*$|:L?\d+(?:-L?\d+)?$", re.DOTALL)
_PATH_SHAPE = re.compile(r"(?:\.{0,2}/)?(?:[\w@.+~\[\]()-]+/)*[\w@.+~\[\]()-]+")
_FILE_NAME = re.compile(
    r".+\.(?:pyi?|[cm]?[jt]sx?|go|rs|java|kt|rb|php|cs|c|h|cc|cpp|hpp|swift|scala|sql|sh|toml|ya?ml|json|cfg|ini|md)"
)


class Resolution(Struct, frozen=True):
    """The links of a citation; else a name with several owners, or a path that is not there."""

    links: tuple[tuple[LinkKind, str, str | None], ...] = ()
    ambiguous: str | None = None
    gone: str | None = None


class Citations:
    """Resolves citations; equal ones of one folder once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[tuple[str, str, str, str | None], Resolution] = {}

    def resolve(self, cite: Cite, document: str) -> Resolution:
        """A path (from the root, then relative to the document) that is no document; else a symbol (4.1)."""
        key = (dirname(document), cite.kind, cite.value, cite.symbol)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._resolve(cite, document)
        return known

    def _resolve(self, cite: Cite, document: str) -> Resolution:
        if cite.kind == "file":
            return self._file(cite, document)
        value = cite.value.strip()
        path = self._resolver.path(value, document) if "\0" not in value else None
        if path is not None:
            return self._path(path)
        if cite.kind == "code":
            found = self._in_file(value, document) or self._symbol(value)
            if found is not None:
                return found
        return Resolution(gone=_gone(value, document, from_document=cite.kind == "link"))

    def _symbol(self, code: str) -> Resolution | None:
        """An exported name, as it stands or with what code writes around one (`Queue<T>`, `new Queue()`)."""
        for text in (code, *bare_names(code)):
            match = _SYMBOL.fullmatch(text)
            owners = self._resolver.owners(match[1]) if match else []
            if match and owners:
                if len(owners) > 1:
                    return Resolution(ambiguous=match[1])
                return Resolution((("affected-fact", owners[0], match[1]),))
        return None

    def _in_file(self, code: str, document: str) -> Resolution | None:
        """A name behind the path of its file (`src/queue.py::Queue`), if that file has it."""
        written, separator, name = code.partition("::")
        if not separator or not _FILE_NAME.fullmatch(written):
            return None
        path = self._resolver.path(written, document)
        link = None if path is None else self._defined_in(path, name.removesuffix("()"))
        return None if link is None else Resolution((link,))

    def _file(self, cite: Cite, document: str) -> Resolution:
        """A file beside a change log or below it, else from the root; with a symbol that this file defines (4.3)."""
        places = dict.fromkeys(normpath(place) for place in (join(dirname(document), cite.value), cite.value))
        path = next((place for place in places if self._resolver.path(place, document) == place), None)
        if path is None:
            return Resolution() if cite.symbol else Resolution(gone=_gone(cite.value, document, from_document=True))
        if cite.symbol is None:
            return self._path(path)
        link = self._defined_in(path, cite.symbol)
        return Resolution(() if link is None else (link,))

    def _defined_in(self, path: str, symbol: str) -> tuple[LinkKind, str, str | None] | None:
        entry = self._resolver.entry_at(path)
        name = symbol.replace("::", ".")
        if entry is None or entry.kind != "module" or not is_path(path):
            return None
        known = name in entry.symbols or any(definition.name == name for definition in entry.definitions)
        return ("affected-fact", entry.id, symbol) if known else None

    def _path(self, path: str) -> Resolution:
        entry = self._resolver.entry_at(path)
        if not is_path(path) or (entry is not None and entry.kind == "document"):
            return Resolution()
        if entry is None:
            documents = self._resolver.holds_only_documents(path)
            return Resolution() if documents else Resolution((("affected-path", path, None),))
        return Resolution((("affected-path", path, None), ("affected-fact", entry.id, None)))


def is_path(path: str) -> bool:
    """Whether a path may stand in a link (3.1): relative, POSIX, without `..`, at most 512 characters."""
    return (
        0 < len(path) <= MAX_PATH
        and not path.startswith("/")
        and "\\" not in path
        and "\0" not in path
        and ".." not in path.split("/")
    )


def _gone(value: str, document: str, from_document: bool) -> str | None:
    """The repository path that a token of a path's shape would name; None for other tokens."""
    written = _AFTER_PATH.sub("", value).rstrip("/")
    if not _PATH_SHAPE.fullmatch(written) or not ("/" in written or _FILE_NAME.fullmatch(written)):
        return None
    if written.startswith("/"):
        path = normpath(written.lstrip("/"))
    elif from_document or written.startswith("."):
        path = normpath(join(dirname(document), written))
    else:
        path = normpath(written)
    return path if is_path(path) and path != "." else None
