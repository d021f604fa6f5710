"""Entries of an index: documents, modules, areas and packages, with what documents say about them (reference 2.2, 2.3).

Everything is a function of its arguments alone, whatever their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from trivium.code.languages import is_source, language_of
from trivium.code.model import ModuleSymbols
from trivium.why.manifests import areas
from trivium.why.model import (
    Coverage,
    CoverageEvidence,
    Document,
    Entry,
    Mention,
    Reference,
    bounded_id,
    canonical,
    sha256,
)
from trivium.why.resolver import EntryResolver, dirname

AMBIGUOUS = "ambiguous-symbol"
MAX_INBOUND = 64
MAX_OBSERVED = 64

_MAX_REASON = 1024
_MAX_EVIDENCE = 32
_COVERS, _MENTIONS, _MENTIONS_SYMBOL = "covers", "mentions", "mentions-symbol"


class BuiltEntries(NamedTuple):
    """`ambiguous` maps a name that documents use to its several owners, `places` to where it was first used."""

    entries: list[Entry]
    mentions: list[Mention]
    ambiguous: dict[str, list[str]]
    places: dict[str, CoverageEvidence]
    resolver: EntryResolver

    @property
    def reasons(self) -> list[str]:
        """Reason codes met while references were resolved (reference 4.5)."""
        return [AMBIGUOUS] if self.ambiguous else []

    def mentioned(self) -> set[tuple[str, int]]:
        """Where documents use names that have several owners."""
        return {(place.path, place.line) for place in self.places.values()}

    def coverage(self) -> list[Coverage]:
        """One `partial` record that lists the candidates of names with several owners; none when there are none."""
        if not self.ambiguous:
            return []
        listed = "; ".join(f"{name} ({', '.join(owners)})" for name, owners in self.ambiguous.items())
        reason = f"{AMBIGUOUS}: {listed}"
        if len(reason) > _MAX_REASON:
            reason = f"{reason[: _MAX_REASON - 2]} …"
        evidence = [self.places[name] for name in self.ambiguous][:_MAX_EVIDENCE]
        return [Coverage("entries", "mentions", "partial", reason=reason, evidence=evidence)]


def build_entries(
    files: Iterable[str],
    modules: Mapping[str, ModuleSymbols],
    documents: Iterable[Document],
    hashes: Mapping[str, str],
    packages: Iterable[Entry],
    line_counts: Mapping[str, int] | None = None,
) -> BuiltEntries:
    """All entries, ascending by id, and the mentions of them in documents (reference 2.2, 2.3).

    `files` are the paths that discovery listed; a source file without a hash in `hashes` was not read and is no
    entry. `packages` come from `manifests.packages`; `line_counts` are those of documents and modules. The resolver
    over the finished entries is part of the result.
    """
    paths = sorted(set(files))
    read = sorted(documents, key=lambda document: document.path)
    entries = [_document_entry(document) for document in read]
    sources = [path for path in paths if is_source(path) and path in hashes]
    entries += [_module_entry(path, modules.get(path), hashes[path]) for path in sources]
    for entry in entries:
        entry.line_count = (line_counts or {}).get(entry.path)
    named = [replace(entry, covered_by=[], mentioned_by=[]) for entry in packages]
    entries += named
    entries += _area_entries(sources, [entry.path for entry in named], hashes)
    entries = sorted({entry.id: entry for entry in entries}.values(), key=lambda entry: entry.id)
    resolver = EntryResolver(entries, paths, modules)
    observed = _Observed(resolver)
    for document in read:
        observed.document(document)
    return BuiltEntries(entries, observed.attach(), dict(sorted(observed.ambiguous.items())), observed.places, resolver)


def _document_entry(document: Document) -> Entry:
    entry_id = bounded_id(f"document:{document.path}")
    return Entry(entry_id, "document", document.path, document.content_hash, title=document.title)


def _module_entry(path: str, symbols: ModuleSymbols | None, content_hash: str) -> Entry:
    return Entry(
        bounded_id(f"module:{path}"),
        "module",
        path,
        content_hash,
        symbols=list(symbols.exports) if symbols is not None else [],
        language=symbols.language if symbols is not None else language_of(path),
        definitions=list(symbols.definitions) if symbols is not None else [],
    )


def _area_entries(sources: list[str], package_paths: list[str], hashes: Mapping[str, str]) -> Iterator[Entry]:
    """An area's hash covers the paths and hashes of the modules that belong to it."""
    for path, members in areas(sources, package_paths).items():
        content = canonical([[member, hashes[member]] for member in members])
        yield Entry(bounded_id(f"area:{path}"), "area", path, sha256(content))


class _Observed:
    """Edges from documents to entries, gathered document by document in path order."""

    def __init__(self, resolver: EntryResolver) -> None:
        self.resolver = resolver
        self.inbound: dict[str, dict[tuple[str, str], int]] = {}
        self.ambiguous: dict[str, list[str]] = {}
        self.places: dict[str, CoverageEvidence] = {}
        self._known: dict[tuple[str, str, str], list[tuple[str, str]]] = {}

    def document(self, document: Document) -> None:
        own = bounded_id(f"document:{document.path}")
        for token in document.covers[:MAX_OBSERVED]:
            target = self._covered(token, document.path)
            if target is not None and target != own:
                self.inbound.setdefault(target, {}).setdefault((_COVERS, own), 0)
        edges: dict[tuple[str, str], int] = {}
        for reference in document.references:
            if reference.fenced:
                continue
            for edge in self._edges(reference, document.path):
                if edge[1] != own and (edge in edges or len(edges) < MAX_OBSERVED):
                    edges[edge] = min(reference.line, edges.get(edge, reference.line))
        for (kind, target), line in edges.items():
            self.inbound.setdefault(target, {})[kind, own] = line

    def _covered(self, token: str, document: str) -> str | None:
        """The entry that a document declares to cover, by id, package name or path (reference 2.2)."""
        if token in self.resolver.by_id:
            return token
        package = self.resolver.package(token)
        if package is not None:
            return package
        path = self.resolver.path(token, document)
        entry = self.resolver.entry_at(path) if path is not None else None
        return entry.id if entry is not None else None

    def _edges(self, reference: Reference, document: str) -> list[tuple[str, str]]:
        """Kind and target of each edge that a reference makes; documents of a folder repeat each other."""
        key = (reference.kind, reference.value, dirname(document))
        if key not in self._known:
            self._known[key] = list(self._sought(reference, document))
        return self._known[key]

    def _sought(self, reference: Reference, document: str) -> Iterator[tuple[str, str]]:
        """What a reference names: a path, a package, the owner of a symbol (reference 2.3)."""
        token = reference.value
        if reference.kind == "link":
            path = self.resolver.linked_path(token, document)
            entry = self.resolver.entry_at(path) if path is not None else None
            if entry is not None and entry.kind != "document":
                yield _MENTIONS, entry.id
            return
        near = "/" in token or "." in token
        path = self.resolver.path(token, document) if near else self.resolver.rooted_path(token)
        entry = self.resolver.entry_at(path) if path is not None else None
        if entry is not None:
            yield _MENTIONS, entry.id
        package = self.resolver.package(token)
        if package is not None:
            yield _MENTIONS, package
        owners = self.resolver.owners(token) if entry is None else []
        if len(owners) == 1:
            yield _MENTIONS_SYMBOL, owners[0]
        elif owners:
            self.ambiguous.setdefault(token, owners)
            self.places.setdefault(token, CoverageEvidence(document, reference.line))

    def attach(self) -> list[Mention]:
        """Write the edges into the entries, at most 64 each in the order of kind and id; the mentions kept."""
        mentions: list[Mention] = []
        for target in sorted(self.inbound):
            entry = self.resolver.by_id[target]
            kept = sorted(self.inbound[target].items())[:MAX_INBOUND]
            lines: dict[str, int] = {}
            for (kind, document), line in kept:
                if kind == _COVERS:
                    entry.covered_by.append(document)
                else:
                    lines[document] = min(line, lines.get(document, line))
            entry.mentioned_by = sorted(lines)
            mentions += [Mention(target, document, lines[document]) for document in sorted(lines)]
        return mentions
