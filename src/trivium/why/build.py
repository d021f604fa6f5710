"""A repository read into an index: the stages in order, each file only if it has changed (reference 2 to 6).

What one file says (`Part`) depends on its path, its bytes and the rules alone, and is kept from build to build; what
files mean together is worked out anew each time. So a warm build gives byte for byte what a cold one gives.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from trivium.code import symbols
from trivium.code.languages import PYTHON, is_analysed, is_source
from trivium.code.model import ModuleSymbols
from trivium.why import documents, entries, glance, linking, manifests, memory
from trivium.why.config import Config
from trivium.why.discover import Discovery, discover
from trivium.why.fingerprint import FileHashes, history_state
from trivium.why.glance import Glance
from trivium.why.history import read_history
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
    History,
    Index,
    MemoryNote,
    MemoryRelation,
    canonical,
    sha256,
)
from trivium.why.places import beside, is_beside, is_document
from trivium.why.reading import Reader, read_bytes
from trivium.why.reasons import Places
from trivium.why.regions import line_count, without_mark
from trivium.why.state import PYTHON_GRAMMAR, Survey, languages_of, marked, rules_of, state_of, survey, versions
from trivium.why.symbol_coverage import symbol_coverage

ANALYZER = "knowledge-entities"
DOCUMENTS = "documents"
MAX_COVERAGE = 32

Progress = Callable[[int, int], None]
"""Called with the number of files read so far and their total."""


class Part(Closed):
    """What one file says. `digest` is of its raw bytes, `content_hash` without a byte-order mark."""

    digest: str
    content_hash: str
    beside: str = ""
    """The digest of the file beside a document that says what front matter could."""
    document: Document | None = None
    symbols: ModuleSymbols | None = None
    line_count: int = 0


class KeptHistory(Closed):
    """A window of history with the state (`history_state`) that it was read in."""

    state: dict[str, Any]
    history: History


class Parts(Closed):
    """Parts by path, valid only under the same `key`, those of Python files under the same grammar; and the history."""

    key: str = ""
    grammar: str = ""
    files: dict[str, Part] = msgspec.field(default_factory=dict)
    history: KeptHistory | None = None

    @classmethod
    def from_bytes(cls, data: bytes) -> Parts:
        """Read what `to_bytes` wrote, without the parts that are damaged: they are read from their files again."""
        try:
            kept = msgspec.msgpack.decode(data, type=_Kept)
        except msgspec.MsgspecError:
            return cls()
        decode = msgspec.msgpack.Decoder(Part).decode
        found = cls(kept.key, kept.grammar)
        for path, (checksum, part) in kept.files.items():
            if checksum == _checksum(path, part):
                with suppress(msgspec.MsgspecError):
                    found.files[path] = decode(part)
        checksum, history = kept.history
        if history and checksum == _checksum("", history):
            with suppress(msgspec.MsgspecError):
                found.history = msgspec.msgpack.decode(history, type=KeptHistory)
        return found

    def to_bytes(self) -> bytes:
        encode = msgspec.msgpack.Encoder().encode
        encoded = {path: encode(part) for path, part in self.files.items()}
        files = {path: (_checksum(path, part), part) for path, part in encoded.items()}
        history = b"" if self.history is None else encode(self.history)
        return encode(_Kept(self.key, self.grammar, files, (_checksum("", history), history)))


class _Kept(Closed):
    """`Parts` as they are stored: each part by itself, with a checksum of it and its path."""

    key: str
    grammar: str
    files: dict[str, tuple[int, bytes]]
    history: tuple[int, bytes]


def _checksum(path: str, part: bytes) -> int:
    return zlib.crc32(part, zlib.crc32(path.encode()))


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
    glance: Glance | None = None


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
    found = survey(root, config, listing=discover)
    discovery = found.discovery
    discovery.files.sort(key=lambda file: file.path)
    reading = _Reading(found, parts or Parts(), hashes or FileHashes(), progress)
    reading.run()
    index = _assemble(root, config, discovery, reading)
    body = canonical(index)
    index.index_hash = sha256(body)
    mark = marked(state_of(found, _AsRead(reading.hashes.entries, reading.digests)), reading.modules)
    done = Build(index, body, mark, reading.parts, reading.hashes, _summary(index, discovery, reading))
    if config.entities and history_state(root, config) != found.history:
        done.fingerprint = f"moved:{mark}"  # commits came in meanwhile: the index is whole, but no longer of this state
        done.parts.history = None
    else:
        done.glance = glance.take(found, reading.hashes, mark)
    return done


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
        found: Survey,
        earlier: Parts,
        hashes: FileHashes,
        progress: Progress | None,
    ) -> None:
        self.found = found
        self.root = found.root
        self.rules = rules_of(found.config)
        self.discovery = discovery = found.discovery
        self.hashes = hashes
        self.progress = progress
        languages = languages_of(file.path for file in discovery.files)
        key = sha256(canonical([versions(languages), self.rules]))
        self.earlier = earlier.files if earlier.key == key else {}
        self.other_grammar = earlier.grammar != PYTHON_GRAMMAR
        self.kept_history = earlier.history
        self.parts = Parts(key, PYTHON_GRAMMAR)
        self.analysis = symbols.Analysis()
        self.manifests: dict[str, bytes] = {}
        self.digests: dict[str, str] = {}
        self.documents: set[str] = set()
        self.beside = {file.path: file for file in discovery.files if is_beside(file.path)}
        self.reasons = Places()
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
        for path, found in self.analysis.results().items():
            self.parts.files[path].symbols = found
        self.hashes.keep_only(file.path for file in files)

    @property
    def modules(self) -> dict[str, ModuleSymbols]:
        """What the source files export."""
        return {path: part.symbols for path, part in self.parts.files.items() if part.symbols is not None}

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
                    self.reasons.add("document-budget", file.path)
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
        stated, state = self._stated(file.path) if self.beside else (None, "")
        earlier = self._earlier(file.path)
        if earlier is not None and earlier.beside != state:
            earlier = None
        if earlier is not None and earlier.digest == self.hashes.known(file):
            self.parts.files[file.path] = earlier
            self.digests[file.path] = earlier.digest
            return
        found = self.reader.read(file, MAX_DOCUMENT_BYTES)
        if found.data is None:
            self.reasons.add(found.reason or "unreadable", file.path)
            self.digests[file.path] = f"!{found.reason}"
            return
        digest = self.digests[file.path] = self.hashes.record(found.file, found.data)
        if earlier is not None and earlier.digest == digest:
            self.parts.files[file.path] = earlier
            return
        self.read += 1
        part = self.parts.files[file.path] = self._analyse(file.path, digest, found.data, stated)
        part.beside = state

    def _earlier(self, path: str) -> Part | None:
        """The kept part of a file, unless it would come out otherwise by now."""
        part = self.earlier.get(path)
        if part is None or part.document is not None or not is_analysed(path):
            return part
        if part.symbols is None:
            return None  # its language had no analyser at hand
        return None if self.other_grammar and part.symbols.language == PYTHON else part

    def _stated(self, path: str) -> tuple[tuple[str, bytes | None] | None, str]:
        """The file that stands beside a document and says what front matter could, and its digest."""
        file = self.beside.get(beside(path) or "")
        if file is None:
            return None, ""
        found = self.reader.read(file, MAX_DOCUMENT_BYTES)
        if found.data is None:
            self.reasons.add(found.reason or "unreadable", file.path)
            self.digests[file.path] = f"!{found.reason}"
            return (file.path, None), self.digests[file.path]
        digest = self.digests[file.path] = self.hashes.record(found.file, found.data)
        return (file.path, found.data), digest

    def _analyse(self, path: str, digest: str, data: bytes, stated: tuple[str, bytes | None] | None) -> Part:
        body = without_mark(data)
        part = Part(digest, digest if body is data else sha256(body), line_count=line_count(data))
        if path in self.documents:
            part.document = documents.read_document(path, data, self.rules, stated)
        elif is_analysed(path):
            self.analysis.add(path, data)
        return part


# --- putting together -----------------------------------------------------------------------------


def _assemble(root: Path, config: Config, discovery: Discovery, reading: _Reading) -> Index:
    read = [part.document for part in reading.parts.files.values() if part.document is not None]
    modules = reading.modules
    paths = [file.path for file in discovery.files]
    built = entries.build_entries(
        paths,
        modules,
        read,
        {path: part.content_hash for path, part in reading.parts.files.items()},
        manifests.packages(reading.manifests),
        {path: part.line_count for path, part in reading.parts.files.items()},
    )
    index = Index(FORMAT_VERSION, "", built.entries, paths, built.mentions)
    if config.entities:
        history = _history(root, config, reading)
        _add_entities(root, config, discovery, reading, index, read, modules, built, history)
    return index


def _history(root: Path, config: Config, reading: _Reading) -> History:
    """The window of history, from the earlier build if the repository is in the same state."""
    if reading.found.history is None:
        return read_history(root, config)
    state = reading.found.history | {"tag": config.since_tag}  # a tag that is not there differs from none
    kept = reading.kept_history
    if kept is None or kept.state != state:
        kept = KeptHistory(state, read_history(root, config))
    reading.parts.history = kept if kept.history.lasting else None
    return kept.history


def _add_entities(
    root: Path,
    config: Config,
    discovery: Discovery,
    reading: _Reading,
    index: Index,
    read: list[Document],
    modules: dict[str, ModuleSymbols],
    built: entries.BuiltEntries,
    history: History,
) -> None:
    linked = linking.link_entities(read, built.resolver)
    room = MAX_ENTITIES - len(linked.entities)
    changes, by_path, link_reasons = linking.change_entities(history, built.resolver, room)
    index.entities = sorted([*linked.entities, *changes], key=lambda entity: entity.id)
    kept = {entity.id for entity in changes}
    named = (linking.change_id(commit.sha) for commit in history.commits)
    index.commits = [entity_id for entity_id in named if entity_id in kept]
    index.changes_by_path = by_path
    index.entities_by_path = linked.entities_by_path
    index.entities_by_name = linked.entities_by_name
    index.memory_relations, unread = _relations(root, config, index.entities, reading)
    reading.reasons.unite(linked.places)
    reading.reasons.unite({code: built.mentioned() for code in built.reasons})
    records = [
        _documents(reading.reasons),
        history.coverage,
        *built.coverage(),
        *symbol_coverage(index.paths, modules),
        *unread,
    ]
    if link_reasons:
        records.append(Coverage(ANALYZER, "links", "partial", reason=", ".join(link_reasons)))
    records += discovery.coverage()
    index.coverage = sorted(records, key=lambda record: (record.scope, record.analyzer))[:MAX_COVERAGE]


def _documents(reasons: Places) -> Coverage:
    """The record of scope `documents`, with where its codes were met (5)."""
    status: Literal["partial", "complete"] = "partial" if reasons else "complete"
    return Coverage(ANALYZER, DOCUMENTS, status, reason=reasons.reason(), evidence=reasons.evidence())


def _relations(
    root: Path, config: Config, entities: list[Entity], reading: _Reading
) -> tuple[list[MemoryRelation], list[Coverage]]:
    """What notes support, and a record of scope `memory` when some were not read (5, 6)."""
    notes: list[MemoryNote] = []
    unread = Places()
    for source, files in reading.found.memory.items():
        for file in files[config.max_files :]:
            unread.add("file-limit", file.path)
        for file in files[: config.max_files]:
            found = read_bytes(root, file, MAX_DOCUMENT_BYTES)
            if found.data is None:
                reading.digests[file.path] = f"!{found.reason}"
                unread.add(found.reason or "unreadable", file.path)
                continue
            reading.digests[file.path] = reading.hashes.record(found.file, found.data)
            notes += _notes(source, file.path, found.data)
    records: list[Coverage] = []
    if unread:
        reason = unread.reason({"file-limit": f"safety.maxFiles ({config.max_files:,})"})
        records.append(Coverage("memory-entities", "memory", "partial", reason=reason, evidence=unread.evidence()))
    return memory.relate(notes, entities), records


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
        [_told(record, reading.reasons) for record in index.coverage if record.status != "complete"],
    )


def _told(record: Coverage, reasons: Places) -> str:
    """A coverage record in one line; that of the documents names for each code where it was met."""
    reason = reasons.told() if record.scope == DOCUMENTS else record.reason
    return f"{record.scope}: {record.status}{f' ({reason})' if reason else ''}"
