"""A loaded index with its look-up tables, so that a query touches little more than what it returns.

A `PreparedIndex` is made once for each loaded index; each profile sees the entities through its own `View`. Nothing
here reads a file, starts a process or opens a socket.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal

from trivium.why.model import CommitEvidence, DocumentRegion, Entity, Entry, Index, MemoryRelation
from trivium.why.suggest import Askable, starting

Profile = Literal["local", "service"]
FOLLOWED = frozenset({"defines-symbol", "affected-fact", "affected-path"})
"""The kinds of links that lead from a key to an entity and from a direct entity to keys (reference 7, steps 6, 7)."""
_UNASKED = frozenset({"default", "*"})
_KIND_ORDER = {"decision": 0, "concept": 1, "change": 2}

Span = tuple[int, int]


class PreparedIndex:
    """An index and what is looked up in it; the index must not change afterwards (reference 7).

    Making one costs some milliseconds for thousands of entities, a query on it well under one. Give it to
    `knowledge_why` in place of the index when more than one question is asked.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.by_id: dict[str, Entry] = {}
        self.by_path: dict[str, list[Entry]] = {}
        self.by_symbol: dict[str, list[Entry]] = {}
        for entry in sorted(index.entries, key=lambda entry: entry.id):
            self.by_id[entry.id] = entry
            self.by_path.setdefault(entry.path, []).append(entry)
            for name in _askable(entry):
                self.by_symbol.setdefault(name, []).append(entry)
        self.paths = sorted({*index.paths, *self.by_path})

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
    def citing(self) -> dict[str, list[str]]:
        """For each id and path of an entry the ids of the documents that cover or mention it."""
        found: dict[str, list[str]] = {}
        for document, entries in self.cited.items():
            for entry_id in entries:
                found.setdefault(entry_id, []).append(document)
                found.setdefault(self.by_id[entry_id].path, []).append(document)
        return found

    @cached_property
    def cited(self) -> dict[str, dict[str, int | None]]:
        """For each document the ids of the entries it covers or mentions, with the first line where that is known."""
        found: dict[str, dict[str, int | None]] = {}
        for entry in self.by_id.values():
            for document in (*entry.covered_by, *entry.mentioned_by):
                if document in self.by_id and self.by_id[document].kind == "document":
                    found.setdefault(document, {})[entry.id] = None
        for mention in self.index.mentions:
            lines = found.get(mention.document, {})
            if mention.entry in lines:
                lines[mention.entry] = min(mention.line, lines[mention.entry] or mention.line)
        return found

    def is_directory(self, path: str) -> bool:
        """Whether files of the repository lie below this path; the empty path is the root."""
        return bool(self._span_below(path))

    def paths_below(self, path: str) -> list[str]:
        """The paths below a directory, ascending."""
        span = self._span_below(path)
        return self.paths[span.start : span.stop]

    def _span_below(self, path: str) -> range:
        return starting(self.paths, f"{path}/" if path else "")

    def exporting(self, name: str) -> Iterable[Entry]:
        """Entries that export this name, or declare the method `Name.method` of an exported `Name` (reference 2.4)."""
        found = {entry.id: entry for entry in self.by_symbol.get(name, ())}
        if "." in name and "/" not in name:
            found.update((entry.id, entry) for entry in self.by_id.values() if _declares(entry, name))
        return found.values()


class View:
    """The entities of one profile, ascending by id, with tables of their positions."""

    def __init__(self, prepared: PreparedIndex, entities: Iterable[Entity]) -> None:
        self.prepared = prepared
        self.entities = sorted(entities, key=lambda entity: entity.id)
        self.by_name: dict[str, list[int]] = {}
        self.by_region: dict[str, list[tuple[int, Span]]] = {}
        self.by_link: dict[str, list[int]] = {}
        self.by_symbol: dict[str, list[int]] = {}
        for position, entity in enumerate(self.entities):
            self._add(position, entity)
        self.position = {entity.id: position for position, entity in enumerate(self.entities)}
        self._add_citations()
        self.cited_names = {name: self._positions(ids) for name, ids in prepared.index.entities_by_name.items()}

    def _add(self, position: int, entity: Entity) -> None:
        for name in {entity.id, entity.name, *entity.aliases}:
            self.by_name.setdefault(name, []).append(position)
        for path, span in regions(entity):
            self.by_region.setdefault(path, []).append((position, span))
        for link in entity.links:
            if link.kind in FOLLOWED:
                self.by_link.setdefault(link.target, []).append(position)
                if link.symbol is not None:
                    self.by_symbol.setdefault(link.symbol, []).append(position)

    def _add_citations(self) -> None:
        """Let paths beyond the bound of links, and removed ones that records cite, lead to entities like links do."""
        index = self.prepared.index
        for path, ids in index.entities_by_path.items():
            self._lead(path, self._positions(ids))
        for path, ids in index.changes_by_path.items():
            positions = self._positions(ids)
            self._lead(path, positions)
            for entry in self.prepared.by_path.get(path, ()):
                if entry.kind != "document":
                    self._lead(entry.id, positions)

    def _lead(self, key: str, positions: list[int]) -> None:
        if positions:
            self.by_link.setdefault(key, []).extend(positions)

    def _positions(self, ids: Iterable[str]) -> list[int]:
        return [self.position[i] for i in ids if i in self.position]

    def entity(self, entity_id: str) -> Entity | None:
        """The entity of this id, if the profile may see it."""
        position = self.position.get(entity_id)
        return None if position is None else self.entities[position]

    def knows(self, path: str) -> bool:
        """Whether something is recorded at this path, or was: a file, a directory, a region, a link."""
        prepared = self.prepared
        return (
            path in prepared.by_path or path in self.by_link or path in self.by_region or self._is_listed(path)
        ) or prepared.is_directory(path)

    def _is_listed(self, path: str) -> bool:
        position = bisect_left(self.prepared.paths, path)
        return position < len(self.prepared.paths) and self.prepared.paths[position] == path

    @cached_property
    def rank(self) -> list[int]:
        """For each position its place when a limit must choose: decisions, concepts, change logs, newest commits."""
        newest = {entity_id: place for place, entity_id in enumerate(self.prepared.index.commits)}
        places = sorted(range(len(self.entities)), key=lambda position: _preference(self.entities[position], newest))
        rank = [0] * len(places)
        for place, position in enumerate(places):
            rank[position] = place
        return rank

    @cached_property
    def relations(self) -> dict[str, list[MemoryRelation]]:
        """Memory relations by the entity they support, each list in the order of answers."""
        found: dict[str, list[MemoryRelation]] = {}
        for relation in sorted(self.prepared.index.memory_relations, key=relation_order):
            if relation.target in self.position:
                found.setdefault(relation.target, []).append(relation)
        return found

    @cached_property
    def askable(self) -> Askable:
        """The names that may be suggested for a target that nothing matches."""
        names = {name for entity in self.entities for name in (entity.name, *entity.aliases)}
        return Askable(names.union(self.prepared.paths, self.prepared.by_symbol))


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


def module_names(path: str) -> Iterator[str]:
    """The dotted names under which a Python file may be imported: from the root, and below a first `src` or `lib`.

    >>> list(module_names("src/trivium/why/__init__.py"))
    ['src.trivium.why', 'trivium.why']
    """
    parts = path.removesuffix(".pyi").removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    if parts:
        yield ".".join(parts)
    if len(parts) > 1 and parts[0] in {"src", "lib"}:
        yield ".".join(parts[1:])


def _askable(entry: Entry) -> Iterable[str]:
    """The exported names that can be asked for: outside Python `default` and `*` are no names (reference 2.4)."""
    if entry.language == "python":
        return entry.symbols
    return (name for name in entry.symbols if name not in _UNASKED)


def _declares(entry: Entry, name: str) -> bool:
    """Whether a dotted name is one of this entry: an exported name or a method `Name.method`, after its module's name.

    The module's name may be left out, and counts for Python alone.
    """
    if _owns(entry, name):
        return True
    if entry.language != "python":
        return False
    prefixes = (f"{prefix}." for prefix in module_names(entry.path))
    return any(name.startswith(prefix) and _owns(entry, name.removeprefix(prefix)) for prefix in prefixes)


def _owns(entry: Entry, name: str) -> bool:
    if name in entry.symbols:
        return True
    head, dot, rest = name.partition(".")
    if not dot or head not in entry.symbols or rest.startswith(("_", "#")):
        return False
    return any(definition.name == name for definition in entry.definitions)


def _preference(entity: Entity, newest: dict[str, int]) -> tuple[int, bool, int, tuple[int, ...], tuple[str, int], str]:
    """Sort key of `View.rank`: kind, change logs before commits, newest first, place in the document, id.

    `newest` holds the places of commits along the first-parent line; those without one follow by date.
    """
    commit = is_commit(entity) and entity.kind == "change"
    line = newest.get(entity.id, len(newest)) if commit else 0
    dated = tuple(-ord(character) for character in entity.date or "") if commit else ()
    place = min(((path, span[0]) for path, span in regions(entity)), default=("", 0))
    return (_KIND_ORDER[entity.kind], commit, line, dated or (0,), place, entity.id)
