"""A repository read into an index: the stages in order, each file only if it has changed (reference 2 to 6).

What one file says (`Part`) depends on its path, its bytes and the rules alone, and is kept from build to build; what
files mean together is worked out anew each time. So a warm build gives byte for byte what a cold one gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from trivium.why import documents, entries, linking, manifests, memory, symbols
from trivium.why.config import Config
from trivium.why.discover import Discovery, Reader, discover, discover_memory, read_bytes
from trivium.why.fingerprint import FileHashes, history_state
from trivium.why.history import read_history
from trivium.why.languages import is_analysed, is_source
from trivium.why.model import (
    FORMAT_VERSION,
    MAX_ALL_DOCUMENT_BYTES,
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENTS,
    MAX_ENTITIES,
    Closed,
    Coverage,
    Document,
    Entity,
    File,
    Index,
    MemoryNote,
    MemoryRelation,
    ModuleSymbols,
    canonical,
    sha256,
)
from trivium.why.places import is_document
from trivium.why.state import rules_of, state_of, versions

ANALYZER = "knowledge-entities"
MAX_COVERAGE = 32
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Progress = Callable[[int, int], None]
"""Called with the number of files read so far and their total."""


class Part(Closed):
    """What one file says. `digest` is of its raw bytes, `content_hash` without a byte-order mark."""

    digest: str
    content_hash: str
    document: Document | None = None
    symbols: ModuleSymbols | None = None


class Parts(Closed):
    """Parts by path; valid only under the same `key`."""

    key: str = ""
    files: dict[str, Part] = msgspec.field(default_factory=dict)

    @classmethod
    def from_bytes(cls, data: bytes) -> Parts:
        """Read what `to_bytes` wrote; anything else gives none, since parts only save reading."""
        try:
            return msgspec.msgpack.decode(data, type=cls)
        except msgspec.MsgspecError:
            return cls()

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)


class Summary(Closed):
    """What a build did, for people and scripts."""

    index_hash: str
    files: int
    read: int
    reused: int
    documents: int
    modules: int
    decisions: int
    concepts: int
    changes: int
    memory_relations: int
    diagnostics: list[str]


class Build(msgspec.Struct):
    """A finished build. `body` is the index as canonical JSON with an empty hash; its SHA-256 is the index hash."""

    index: Index
    body: bytes
    fingerprint: str
    parts: Parts
    hashes: FileHashes
    summary: Summary


def build(
    root: str | Path,
    config: Config,
    *,
    parts: Parts | None = None,
    hashes: FileHashes | None = None,
    progress: Progress | None = None,
) -> Build:
    """Read a repository. `parts` and `hashes` of an earlier build save reading what has not changed."""
    root = Path(root).resolve()
    history = history_state(root, config) if config.entities else None
    discovery = discover(root, config)
    discovery.files.sort(key=lambda file: file.path)
    reading = _Reading(root, config, discovery, parts or Parts(), hashes or FileHashes(), progress)
    reading.run()
    index = _assemble(root, config, discovery, reading)
    body = canonical(index)
    index.index_hash = sha256(body)
    mark = state_of(root, config, discovery, _AsRead(reading.hashes.entries, reading.digests))
    if config.entities and history_state(root, config) != history:
        mark = f"moved:{mark}"  # commits came in meanwhile: the index is consistent, but no longer of this state
    return Build(index, body, mark, reading.parts, reading.hashes, _summary(index, discovery, reading))


# --- reading --------------------------------------------------------------------------------------


class _AsRead(FileHashes):
    """Hashes for the fingerprint of a build: of the bytes that were read, whatever the files hold by now."""

    digests: dict[str, str] = msgspec.field(default_factory=dict)

    def digest(self, root: Path, file: File) -> str:
        return self.digests.get(file.path) or super().digest(root, file)


class _Reading:
    """Every file's part, from the earlier build or from its bytes."""

    def __init__(
        self,
        root: Path,
        config: Config,
        discovery: Discovery,
        earlier: Parts,
        hashes: FileHashes,
        progress: Progress | None,
    ) -> None:
        self.root = root
        self.rules = rules_of(config)
        self.discovery = discovery
        self.hashes = hashes
        self.progress = progress
        key = sha256(canonical([versions(discovery), self.rules]))
        self.earlier = earlier.files if earlier.key == key else {}
        self.parts = Parts(key)
        self.manifests: dict[str, bytes] = {}
        self.digests: dict[str, str] = {}
        self.documents: set[str] = set()
        self.reasons: set[str] = set()
        self.read = 0

    def run(self) -> None:
        files = self.discovery.files
        self.documents.update(file.path for file in files if is_document(file.path, self.rules))
        wanted = self._within_budget([file for file in files if self._is_read(file.path)])
        with Reader(self.root) as self.reader:
            for number, file in enumerate(wanted, 1):
                if file.path in self.documents or is_source(file.path):
                    self._part(file)
                if manifests.is_manifest(file.path):
                    self._manifest(file)
                if self.progress is not None:
                    self.progress(number, len(wanted))
        self.hashes.keep_only(file.path for file in files)

    def _is_read(self, path: str) -> bool:
        return path in self.documents or is_source(path) or manifests.is_manifest(path)

    def _within_budget(self, files: list[File]) -> list[File]:
        """Documents up to their bounds in path order; more is left unread and reported (4.5)."""
        kept: list[File] = []
        number = total = 0
        for file in files:
            if file.path in self.documents:
                size = min(file.size, MAX_DOCUMENT_BYTES)
                if number >= MAX_DOCUMENTS or total + size > MAX_ALL_DOCUMENT_BYTES:
                    self.reasons.add("document-budget")
                    continue
                number, total = number + 1, total + size
            kept.append(file)
        return kept

    def _manifest(self, file: File) -> None:
        found = self.reader.read(file, MAX_DOCUMENT_BYTES)
        if found.data is not None:
            self.digests.setdefault(file.path, self.hashes.record(found.file, found.data))
            self.manifests[file.path] = found.data
        else:
            self.digests.setdefault(file.path, f"!{found.reason}")

    def _part(self, file: File) -> None:
        earlier = self.earlier.get(file.path)
        if earlier is not None and earlier.symbols is None and earlier.document is None and is_analysed(file.path):
            earlier = None  # its language had no analyser at hand
        if earlier is not None and earlier.digest == self.hashes.known(file):
            self.parts.files[file.path] = earlier
            self.digests[file.path] = earlier.digest
            return
        found = self.reader.read(file, MAX_DOCUMENT_BYTES)
        if found.data is None:
            self.reasons.add(found.reason or "unreadable")
            self.digests[file.path] = f"!{found.reason}"
            return
        digest = self.digests[file.path] = self.hashes.record(found.file, found.data)
        if earlier is not None and earlier.digest == digest:
            self.parts.files[file.path] = earlier
            return
        self.read += 1
        self.parts.files[file.path] = self._analyse(file.path, digest, found.data)

    def _analyse(self, path: str, digest: str, data: bytes) -> Part:
        marked = data.startswith(_BYTE_ORDER_MARK)
        part = Part(digest, sha256(data[len(_BYTE_ORDER_MARK) :]) if marked else digest)
        if path in self.documents:
            part.document = documents.read_document(path, data, self.rules)
        elif is_analysed(path):
            part.symbols = symbols.analyse(path, data)
        return part


# --- putting together -----------------------------------------------------------------------------


def _assemble(root: Path, config: Config, discovery: Discovery, reading: _Reading) -> Index:
    read = [part.document for part in reading.parts.files.values() if part.document is not None]
    modules = {path: part.symbols for path, part in reading.parts.files.items() if part.symbols is not None}
    paths = [file.path for file in discovery.files]
    built = entries.build_entries(
        paths,
        modules,
        read,
        {path: part.content_hash for path, part in reading.parts.files.items()},
        manifests.packages(reading.manifests),
    )
    index = Index(FORMAT_VERSION, "", built.entries, paths, built.mentions)
    if config.entities:
        _add_entities(root, config, discovery, reading, index, read, modules, built)
    return index


def _add_entities(
    root: Path,
    config: Config,
    discovery: Discovery,
    reading: _Reading,
    index: Index,
    read: list[Document],
    modules: dict[str, ModuleSymbols],
    built: entries.BuiltEntries,
) -> None:
    linked = linking.link_entities(read, built.resolver)
    history = read_history(root, config)
    room = MAX_ENTITIES - len(linked.entities)
    changes, by_path, link_reasons = linking.change_entities(history, built.resolver, room)
    index.entities = sorted([*linked.entities, *changes], key=lambda entity: entity.id)
    kept = {entity.id for entity in changes}
    named = (linking.change_id(commit.sha) for commit in history.commits)
    index.commits = [entity_id for entity_id in named if entity_id in kept]
    index.changes_by_path = by_path
    index.entities_by_path = linked.entities_by_path
    index.entities_by_name = linked.entities_by_name
    index.memory_relations = _relations(root, config, index.entities, reading.digests)
    reasons = sorted({*linked.reasons, *built.reasons, *reading.reasons})
    records = [
        Coverage(ANALYZER, "documents", "partial" if reasons else "complete", reason=", ".join(reasons) or None),
        history.coverage,
        *built.coverage(),
        *symbols.coverage(index.paths, modules),
    ]
    if link_reasons:
        records.append(Coverage(ANALYZER, "links", "partial", reason=", ".join(link_reasons)))
    left_out = discovery.coverage()
    if left_out is not None:
        records.append(left_out)
    index.coverage = sorted(records, key=lambda record: (record.scope, record.analyzer))[:MAX_COVERAGE]


def _relations(root: Path, config: Config, entities: list[Entity], digests: dict[str, str]) -> list[MemoryRelation]:
    notes: list[MemoryNote] = []
    for source, files in discover_memory(root, config).items():
        for file in files:
            found = read_bytes(root, file, MAX_DOCUMENT_BYTES)
            digests[file.path] = f"!{found.reason}" if found.data is None else sha256(found.data)
            if found.data is not None:
                notes += _notes(source, file.path, found.data)
    return memory.relate(notes, entities)


def _notes(source: str, path: str, data: bytes) -> Iterable[MemoryNote]:
    if source == "instructions":
        return memory.read_notes(path, data)
    note = memory.read_note(path, data)
    return [] if note is None else [note]


def _summary(index: Index, discovery: Discovery, reading: _Reading) -> Summary:
    found = index.entities or []
    kinds = [entity.kind for entity in found]
    return Summary(
        index.index_hash,
        len(discovery.files),
        reading.read,
        len(reading.parts.files) - reading.read,
        sum(entry.kind == "document" for entry in index.entries),
        sum(entry.kind == "module" for entry in index.entries),
        kinds.count("decision"),
        kinds.count("concept"),
        kinds.count("change"),
        len(index.memory_relations),
        [
            f"{record.scope}: {record.status}" + (f" ({record.reason})" if record.reason else "")
            for record in index.coverage
            if record.status != "complete"
        ],
    )
