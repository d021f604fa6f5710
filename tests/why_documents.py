"""What the tests of `why` about documents share: reading texts, checking regions, and a resolver over a few files."""

from __future__ import annotations

import hashlib
import re
from posixpath import dirname, join, normpath

from trivium.why.documents import DocumentRules, read_document
from trivium.why.model import Document, Entry, RawEntity


def read(path: str, text: str | bytes, rules: DocumentRules | None = None) -> Document:
    """Reads a document and checks every region it states against the bytes."""
    data = text.encode() if isinstance(text, str) else text
    document = read_document(path, data, rules)
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", data) if document.entities else []
    for entity in document.entities:
        check_region(entity, path, lines)
    return document


def check_region(entity: RawEntity, path: str, lines: list[bytes]) -> None:
    """Recomputes a region's hash from lines that another splitter found."""
    region = entity.region
    assert region.path == path
    assert 1 <= region.line_start <= region.line_end <= len(lines)
    taken = b"".join(lines[region.line_start - 1 : region.line_end])
    assert region.region_hash == hashlib.sha256(taken).hexdigest()


def lines_of(document: Document) -> list[tuple[str, int, int]]:
    """Names and line ranges of the stated entities."""
    return [(entity.name, entity.region.line_start, entity.region.line_end) for entity in document.entities]


def names_of(document: Document, kind: str | None = None) -> list[str]:
    return [entity.name for entity in document.entities if kind in (None, entity.kind)]


class Files:
    """A resolver over listed files: `modules` maps a path to its exported names, `others` are paths without entry."""

    def __init__(
        self,
        modules: dict[str, list[str]] | None = None,
        others: list[str] | None = None,
        areas: list[str] | None = None,
    ) -> None:
        self._modules = modules or {}
        self._entries = {path: _entry("module", path, names) for path, names in self._modules.items()}
        self._entries |= {path: _entry("area", path) for path in areas or []}
        self._entries |= {path: _entry("document", path) for path in others or [] if path.endswith(".md")}
        listed = {*self._entries, *(others or [])}
        self._listed = listed | {parent for path in listed for parent in _parents(path)}

    def path(self, token: str, document: str) -> str | None:
        written = re.sub(r"[#?].*$|:\d+(-\d+)?$", "", token)
        if not written:
            return None
        for place in (written.lstrip("/"), join(dirname(document), written)):
            if normpath(place) in self._listed:
                return normpath(place)
        return None

    def entry_at(self, path: str) -> Entry | None:
        return self._entries.get(path)

    def holds_only_documents(self, folder: str) -> bool:
        below = [path for path in self._listed if path.startswith(f"{folder}/") and "." in path]
        return bool(below) and all(self._entries[path].kind == "document" for path in below if path in self._entries)

    def owners(self, name: str) -> list[str]:
        return sorted(f"module:{path}" for path, names in self._modules.items() if name in names)

    def package(self, name: str) -> str | None:
        return None


def _entry(kind: str, path: str, symbols: list[str] | None = None) -> Entry:
    return Entry(f"{kind}:{path}", kind, path, "0" * 64, symbols=symbols or [])  # type: ignore[arg-type]


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
