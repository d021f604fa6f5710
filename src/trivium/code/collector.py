"""What a source file declares and passes on, gathered while its tree is walked once (reference 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trivium.code.model import Definition, ModuleSymbols
from trivium.code.namespaces import namespaces

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SYMBOLS = 256
MAX_SYMBOL = 128
MAX_DEFINITIONS = 1024
UNASKED = frozenset({"default", "*"})
"""Exported names that nobody looks up: they say how a module is imported, not what it holds."""


def words(text: str) -> frozenset[str]:
    """A set of words, for tables of node types."""
    return frozenset(text.split())


class Collector:
    """Names of one file. Declared exported names always keep a definition, so an index alone tells who declares.

    `source` is the text that a tree was made of; nodes of a tree only know their places in it.
    """

    def __init__(self, language: str, source: bytes = b"") -> None:
        self.language = language
        self.source = source
        self._exports: set[str] = set()
        self._forwarded: dict[str, str] = {}
        self._lines: dict[str, list[tuple[int, int]]] = {}
        self._members: dict[str, list[tuple[int, int]]] = {}
        self._public_members: set[str] = set()

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def declare(self, name: str, start: int, end: int, *, public: bool) -> None:
        """A name that this file defines on these lines, one-based and inclusive."""
        self._lines.setdefault(name, []).append((start, end))
        if public:
            self._exports.add(name)

    def export(self, name: str) -> None:
        """A name that the file offers; whether it declares it is told by `declare`."""
        self._exports.add(name)

    def forward(self, name: str, specifier: str) -> None:
        """An exported name that comes from another module; a declaration of the same name in this file wins."""
        self._exports.add(name)
        self._forwarded.setdefault(name, specifier)

    def member(self, owner: str, name: str, start: int, end: int, *, public: bool) -> None:
        """A method of a class. Private ones are kept only where their name tells so (`_x`, `#x`)."""
        if not public and name[:1] not in ("_", "#"):
            return
        dotted = f"{owner}.{name}"
        self._members.setdefault(dotted, []).append((start, end))
        if public:
            self._public_members.add(dotted)

    def declares(self, name: str) -> bool:
        return name in self._lines

    def lines(self, name: str) -> tuple[int, int] | None:
        """Where a name is defined first, if this file does."""
        places = self._lines.get(name)
        return places[0] if places else None

    def build(self, *, parsed: bool = True) -> ModuleSymbols:
        """The result, sorted and within the bounds of reference 2.2."""
        exports = sorted(name for name in self._exports if 0 < len(name) <= MAX_SYMBOL and name != "*")[:MAX_SYMBOLS]
        kept = set(exports)
        declared = [
            name for name in exports if name in self._lines or (name in UNASKED and name not in self._forwarded)
        ]
        owned = set(declared)
        forwarded = {name: self._forwarded[name] for name in sorted(self._forwarded) if name in kept - owned}
        dotted = sorted(name for name in self._public_members if name.partition(".")[0] in owned)
        return ModuleSymbols(
            language=self.language,
            exports=exports,
            declared=declared,
            forwarded=forwarded,
            dotted=dotted[:MAX_DEFINITIONS],
            definitions=self._definitions(owned),
            parsed=parsed,
            namespaces=namespaces(self.language, self.source),
        )

    def _definitions(self, owned: set[str]) -> list[Definition]:
        """All definitions by line; when there are too many, first those of exported names, then the earliest."""
        found = [
            (start, end, name)
            for table in (self._lines, self._members)
            for name, places in table.items()
            if len(name) <= 2 * MAX_SYMBOL
            for start, end in (places if len(places) == 1 else dict.fromkeys(places))
        ]
        if len(found) > MAX_DEFINITIONS:
            first = {(*places[0], name) for name, places in self._lines.items() if name in owned}
            found = sorted(found, key=lambda item: (item not in first, item))[:MAX_DEFINITIONS]
        return [Definition(name, start, end) for start, end, name in sorted(found)]


def lines(node: Node) -> tuple[int, int]:
    """First and last line of a node, one-based; a final line ending belongs to its line."""
    (start, _), (end, column) = node.start_point, node.end_point
    return start + 1, end + 1 if column or end == start else end


def unparsed(language: str) -> ModuleSymbols:
    """The result for a file that could not be read as source code: no names, and counted in coverage."""
    return ModuleSymbols(language=language, exports=[], declared=[], parsed=False)
