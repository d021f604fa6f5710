"""A loaded index with its look-up tables, so that a query touches little more than what it returns.

A `PreparedIndex` is made once for each loaded index; each profile sees the entities through its own `View`. Nothing
here reads a file, starts a process or opens a socket. `trivium.why.lookup` keeps the same tables in the store.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeVar, overload

from trivium.code.languages import PYTHON
from trivium.code.model import Definition
from trivium.why.model import (
    MAX_LINKS,
    Closed,
    CommitEvidence,
    Coverage,
    DocumentRegion,
    Entity,
    Entry,
    Index,
    MemoryRelation,
    bounded_id,
)
from trivium.why.python_names import python_modules
from trivium.why.suggest import Askable, starting

Profile = Literal["local", "service"]
FOLLOWED = frozenset({"defines-symbol", "affected-fact", "affected-path"})
"""The kinds of links that lead from a key to an entity and from a direct entity to keys (reference 7, steps 6, 7)."""
_UNASKED = frozenset({"default", "*"})
_KIND_ORDER = {"decision": 0, "concept": 1, "change": 2}

_COMMIT = re.compile(r"knowledge-change:[0-9a-f]{40}(?:[0-9a-f]{24})?")

Span = tuple[int, int]
Cited = tuple[str, int | None]
"""The path of an entry, and the line where a document mentions it first, as far as it is known."""
T = TypeVar("T")


class Head(Closed):
    """What every question needs of an index. `enabled`: whether it was built with entities."""

    index_hash: str
    enabled: bool
    coverage: list[Coverage]
    commits: list[str]
    """As `Index.commits`."""


class PreparedIndex:
    """An index and what is looked up in it; the index must not change afterwards (reference 7).

    Making one costs some milliseconds for thousands of entities, a query on it well under one. Give it to
    `knowledge_why` in place of the index when more than one question is asked.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.head = Head(index.index_hash, index.entities is not None, index.coverage, index.commits)

    @cached_property
    def by_id(self) -> Mapping[str, Entry]:
        """Entries by id, ascending."""
        return {entry.id: entry for entry in sorted(self.index.entries, key=lambda entry: entry.id)}

    @cached_property
    def by_path(self) -> Mapping[str, Sequence[Entry]]:
        """The entries at each path."""
        return _grouped((entry.path, entry) for entry in self.by_id.values())

    @cached_property
    def by_inner(self) -> Mapping[str, Sequence[Entry]]:
        """The entries that define a name by which it cannot be asked for, with its type and without."""
        return _grouped((name, entry) for entry in self.by_id.values() for name in sorted(_inner_names(entry)))

    @cached_property
    def by_symbol(self) -> Mapping[str, Sequence[Entry]]:
        """The entries that export each name, also those names that nobody asks for."""
        return _grouped((name, entry) for entry in self.by_id.values() for name in entry.symbols)

    @cached_property
    def by_module(self) -> Mapping[str, Sequence[Entry]]:
        """Python modules by the dotted names under which they may be imported."""
        return python_modules(self.by_id.values())

    @cached_property
    def paths(self) -> Sequence[str]:
        """All listed files and the paths of entries, ascending."""
        return sorted({*self.index.paths, *self.by_path})

    def ids_at(self, path: str) -> Iterable[str]:
        """The ids of the entries at a path."""
        return (entry.id for entry in self.by_path.get(path, ()))

    @cached_property
    def local(self) -> View:
        """All entities."""
        return View(self, self.index.entities or [])

    @cached_property
    def service(self) -> View:
        """The entities without any evidence from commits (reference 12, restricted profile)."""
        return View(self, [entity for entity in self.index.entities or [] if not is_commit(entity)])

    def view(self, profile: Profile) -> View:
        """What a profile may see."""
        return self.service if profile == "service" else self.local

    @cached_property
    def citing(self) -> Mapping[str, Sequence[str]]:
        """For each id and path of an entry the ids of the documents that cover or mention it."""
        found: dict[str, list[str]] = {}
        for document, entries in self.cited.items():
            for entry_id, (path, _) in entries.items():
                found.setdefault(entry_id, []).append(document)
                found.setdefault(path, []).append(document)
        return found

    @cached_property
    def cited(self) -> Mapping[str, Mapping[str, Cited]]:
        """For each document the ids of the entries it covers or mentions."""
        found: dict[str, dict[str, Cited]] = {}
        for entry in self.by_id.values():
            for document in (*entry.covered_by, *entry.mentioned_by):
                if document in self.by_id and self.by_id[document].kind == "document":
                    found.setdefault(document, {})[entry.id] = (entry.path, None)
        for mention in self.index.mentions:
            lines = found.get(mention.document, {})
            if mention.entry in lines:
                path, line = lines[mention.entry]
                lines[mention.entry] = (path, min(mention.line, line or mention.line))
        return found

    def package(self, name: str) -> Entry | None:
        """The package of this name or id."""
        for entry_id in (name, bounded_id(f"package:{name}")):
            entry = self.by_id.get(entry_id)
            if entry is not None and entry.kind == "package" and name in (entry.id, entry.title):
                return entry
        return None

    def is_directory(self, path: str) -> bool:
        """Whether files of the repository lie below this path; the empty path is the root."""
        return bool(self._span_below(path))

    def has(self, path: str) -> bool:
        """Whether there is a file or a directory at this path."""
        position = bisect_left(self.paths, path)
        listed = position < len(self.paths) and self.paths[position] == path
        return listed or path in self.by_path or self.is_directory(path)

    def paths_below(self, path: str) -> Sequence[str]:
        """The paths below a directory, ascending."""
        span = self._span_below(path)
        return self.paths[span.start : span.stop]

    def _span_below(self, path: str) -> range:
        return starting(self.paths, f"{path}/" if path else "")

    def definitions_at(self, path: str | None, lines: tuple[int, int] | None) -> Iterator[tuple[Entry, Definition]]:
        """The definitions of a file that meet these lines; none without lines."""
        if path is None or lines is None:
            return
        first, last = lines
        for entry in self.by_path.get(path, ()):
            for definition in entry.definitions:
                if definition.line_start <= last and definition.line_end >= first:
                    yield entry, definition

    def exporting(self, name: str) -> Iterable[Entry]:
        """Entries that export this name, or declare the method `Name.method` of an exported `Name` (reference 2.4).

        The dotted name of its module may precede either, for Python alone. `::` and `#` read like a dot.
        """
        found = {entry.id: entry for entry in self.by_symbol.get(name, ()) if _can_ask(entry, name)}
        name = dotted(name)
        if "." in name and "/" not in name:
            found.update((entry.id, entry) for entry in self._declaring(name))
        return found.values()

    def _declaring(self, name: str) -> Iterator[Entry]:
        """Entries of which a dotted name is an exported name or a method, be it after the module's own name."""
        yield from (entry for entry in self._exporting(name) if _owns(entry, name))
        dot = name.find(".")
        while dot >= 0:
            rest = name[dot + 1 :]
            yield from (entry for entry in self.by_module.get(name[:dot], ()) if _owns(entry, rest))
            dot = name.find(".", dot + 1)

    def _exporting(self, name: str) -> Iterator[Entry]:
        """Entries that export a dotted name or its first part."""
        for symbol in (name, name.partition(".")[0]):
            yield from self.by_symbol.get(symbol, ())

    def names(self) -> Iterator[str]:
        """The paths, exported names with their methods, and packages that can be asked for."""
        yield from self.paths
        for entry in self.by_id.values():
            symbols = frozenset(entry.symbols)
            yield from (found.name for found in entry.definitions if _is_method(found.name, symbols))
        for name, entries in self.by_symbol.items():
            if name not in _UNASKED or any(_can_ask(entry, name) for entry in entries):
                yield name
        yield from (entry.title for entry in self.by_id.values() if entry.kind == "package" and entry.title)


class View:
    """The entities of one profile, ascending by id, with tables of their positions."""

    entities: Sequence[Entity]
    by_name: Mapping[str, Sequence[int]]
    by_region: Mapping[str, Sequence[tuple[int, Span]]]
    by_link: Mapping[str, Sequence[int]]
    by_symbol: Mapping[str, Sequence[int]]
    cited_names: Mapping[str, Sequence[int]]

    def __init__(self, prepared: PreparedIndex, entities: Iterable[Entity]) -> None:
        self.prepared = prepared
        self.entities = sorted(entities, key=lambda entity: entity.id)
        numbered = list(enumerate(self.entities))
        self.by_name = _grouped((name, place) for place, entity in numbered for name in _names(entity))
        self.by_region = _grouped((path, (place, span)) for place, entity in numbered for path, span in regions(entity))
        links = [(link, place) for place, entity in numbered for link in entity.links if link.kind in FOLLOWED]
        self.by_symbol = _grouped((link.symbol, place) for link, place in links if link.symbol is not None)
        by_link = _grouped((link.target, place) for link, place in links)
        for key, ids in self._citations():
            if positions := self._positions(ids):
                by_link.setdefault(key, []).extend(positions)
        self.by_link = by_link
        self.cited_names = {name: self._positions(ids) for name, ids in prepared.index.entities_by_name.items()}

    @cached_property
    def ids(self) -> Sequence[str]:
        """The ids of the entities, ascending."""
        return [entity.id for entity in self.entities]

    @cached_property
    def kinds(self) -> Sequence[str]:
        """The kinds of the entities."""
        return [entity.kind for entity in self.entities]

    @cached_property
    def full(self) -> Collection[int]:
        """The places of the entities that have no room for more links."""
        return {place for place, entity in enumerate(self.entities) if len(entity.links) >= MAX_LINKS}

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The place of each id."""
        return {entity_id: place for place, entity_id in enumerate(self.ids)}

    def _citations(self) -> Iterator[tuple[str, list[str]]]:
        """Paths beyond the bound of links, and removed ones that records cite: they lead to entities like links do."""
        index = self.prepared.index
        yield from index.entities_by_path.items()
        for path, ids in index.changes_by_path.items():
            yield path, ids
            yield from ((e.id, ids) for e in self.prepared.by_path.get(path, ()) if e.kind != "document")

    def _positions(self, ids: Iterable[str]) -> list[int]:
        return [self.position[i] for i in ids if i in self.position]

    def entity(self, entity_id: str) -> Entity | None:
        """The entity of this id, if the profile may see it."""
        position = self.position.get(entity_id)
        return None if position is None else self.entities[position]

    def beyond(self, ids: Iterable[str]) -> dict[str, Sequence[str]]:
        """Paths and ids of entries that these entities lead to beyond the bound of their links (reference 4.5)."""
        return {entity_id: self.unlinked[entity_id] for entity_id in ids if entity_id in self.unlinked}

    @cached_property
    def unlinked(self) -> Mapping[str, Sequence[str]]:
        """For each entity with more links than it holds what it leads to beyond them, ascending."""
        full = {self.ids[place] for place in self.full}
        found: dict[str, list[str]] = {}
        if not full:
            return found
        prepared = self.prepared
        for target, owners in prepared.index.changes_by_path.items():
            for owner in full.intersection(owners):
                found.setdefault(owner, []).append(target)
        for target, owners in prepared.index.entities_by_path.items():  # removed paths among these are no links
            for owner in full.intersection(owners):
                if target in prepared.by_id or prepared.has(target):
                    found.setdefault(owner, []).append(target)
        return {owner: sorted(targets) for owner, targets in found.items()}

    def knows(self, path: str) -> bool:
        """Whether something is recorded at this path, or was: a file, a directory, a region, a link."""
        prepared = self.prepared
        return path in self.by_link or path in self.by_region or prepared.has(path)

    def touched_below(self, path: str) -> Iterator[str]:
        """Paths below a directory that commits touched, also of what was removed; all there are for the root."""
        for key in self.linked(f"{path}/" if path else ""):
            if _is_path(key) and any(_COMMIT.fullmatch(self.ids[at]) for at in self.by_link[key]):
                yield key

    def linked(self, start: str) -> Iterable[str]:
        """Paths and ids with this start that lead to entities, ascending."""
        return (self._linked[place] for place in starting(self._linked, start))

    @cached_property
    def _linked(self) -> Sequence[str]:
        return sorted(self.by_link)

    @cached_property
    def rank(self) -> Sequence[int]:
        """For each position its place when a limit must choose: decisions that hold, superseded ones, concepts, change
        logs, newest commits."""
        newest = {entity_id: place for place, entity_id in enumerate(self.prepared.index.commits)}
        places = sorted(range(len(self.entities)), key=lambda position: _preference(self.entities[position], newest))
        rank = [0] * len(places)
        for place, position in enumerate(places):
            rank[position] = place
        return rank

    @cached_property
    def relations(self) -> Mapping[str, Sequence[MemoryRelation]]:
        """Memory relations by the entity they support, each list in the order of answers."""
        found: dict[str, list[MemoryRelation]] = {}
        for relation in sorted(self.prepared.index.memory_relations, key=relation_order):
            if relation.target in self.position:
                found.setdefault(relation.target, []).append(relation)
        return found

    @cached_property
    def askable(self) -> Askable:
        """The names that may be suggested for a target that nothing matches."""
        return Askable(self.names())

    def names(self) -> Collection[str]:
        """All that can be asked for by name, paths that were removed among it."""
        names = {name for entity in self.entities for name in (entity.name, *entity.aliases)}
        removed = (path for path in self.by_link if _is_path(path) and not self.prepared.is_directory(path))
        return names.union(self.prepared.names(), removed)


class Chosen(Sequence[Entity]):
    """Entities of a view in an order of their own, looked up when they are asked for."""

    def __init__(self, view: View, places: list[int]) -> None:
        self._view = view
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> Entity: ...
    @overload
    def __getitem__(self, number: slice) -> list[Entity]: ...
    def __getitem__(self, number: int | slice) -> Entity | list[Entity]:
        if isinstance(number, slice):
            return [self._view.entities[place] for place in self._places[number]]
        return self._view.entities[self._places[number]]

    def full(self, without: set[int]) -> Iterator[Entity]:
        """Those that have no room for more links, but for some."""
        return (
            self._view.entities[place] for place in self._places if place in self._view.full and place not in without
        )


def dotted(name: str) -> str:
    """A name with dots for the other signs that stand between a type and its method.

    >>> dotted("Queue::next"), dotted("Queue#next")
    ('Queue.next', 'Queue.next')
    """
    return name.replace("::", ".").replace("#", ".")


def _is_path(key: str) -> bool:
    """Whether what a link leads to is a path, and no id."""
    return ":" not in key.partition("/")[0]


def is_commit(entity: Entity) -> bool:
    """Whether any evidence of the entity is a commit."""
    return any(isinstance(evidence, CommitEvidence) for evidence in entity.evidence)


def regions(entity: Entity) -> Iterator[tuple[str, Span]]:
    """Path and lines of the entity's document regions."""
    for evidence in entity.evidence:
        if isinstance(evidence, DocumentRegion):
            yield evidence.path, (evidence.line_start, evidence.line_end)


def relation_order(relation: MemoryRelation) -> tuple[str, ...]:
    """The order of memory relations in an answer (reference 6)."""
    proof = relation.evidence
    return (
        relation.target,
        relation.candidate_id,
        proof.kind,
        proof.value,
        proof.raw_path or "",
        proof.fact_hash,
    )


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """The second parts by the first, in their order."""
    groups: dict[str, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _names(entity: Entity) -> set[str]:
    return {entity.id, entity.name, *entity.aliases}


def _can_ask(entry: Entry, name: str) -> bool:
    """Whether an exported name can be asked for: outside Python `default` and `*` are no names (reference 2.4)."""
    return name not in _UNASKED or entry.language == PYTHON


def _owns(entry: Entry, name: str) -> bool:
    if name in entry.symbols:
        return True
    return _is_method(name, entry.symbols) and any(definition.name == name for definition in entry.definitions)


def _is_method(name: str, symbols: Collection[str]) -> bool:
    """Whether a name is that of a type among these and, behind a dot, a public one."""
    head, dot, rest = name.partition(".")
    return bool(dot) and head in symbols and not rest.startswith(("_", "#"))


def _inner_names(entry: Entry) -> set[str]:
    symbols = frozenset(entry.symbols)
    names = {found.name for found in entry.definitions} - symbols
    inner = {name for name in names if not _is_method(name, symbols)}
    return inner | {name.rpartition(".")[2] for name in inner}


def _preference(
    entity: Entity, newest: dict[str, int]
) -> tuple[int, bool, bool, int, tuple[int, ...], tuple[str, int], str]:
    """Sort key of `View.rank`: kind, superseded ones last, change logs before commits, newest first, place, id.

    `newest` holds the places of commits along the first-parent line; those without one follow by date.
    """
    commit = is_commit(entity) and entity.kind == "change"
    line = newest.get(entity.id, len(newest)) if commit else 0
    dated = tuple(-ord(character) for character in entity.date or "") if commit else ()
    place = min(((path, span[0]) for path, span in regions(entity)), default=("", 0))
    past = any(link.kind == "superseded-by" for link in entity.links)
    return (_KIND_ORDER[entity.kind], past, commit, line, dated or (0,), place, entity.id)
