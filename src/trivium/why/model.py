"""The types of the index and of the answers; their JSON forms are closed (Knowledge query v1).

JSON names are the contract's own (`lineStart`, `regionHash`, …). Everything is ordered by code point and encoded with
sorted keys where it is hashed (`canonical`). Paths are repository-relative POSIX paths.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, Protocol

import msgspec

from trivium.code.model import Definition

FORMAT_VERSION: Literal[1] = 1
HISTORY_VERSION = "1"
"""Raise it when a window of history is read differently."""

DECISION, CONCEPT, CHANGE = "decision", "concept", "change"

# Bounds (reference 4.5).
MAX_NAME = 256
MAX_ID = 256
MAX_ALIASES = 32
MAX_EVIDENCE = 64
MAX_LINKS = 64
MAX_METADATA = 128
MAX_PATH = 512
MAX_ENTITIES = 10_000
MAX_DOCUMENTS = 10_000
MAX_DOCUMENT_BYTES = 4 << 20
MAX_ALL_DOCUMENT_BYTES = 64 << 20
MAX_REGION_BYTES = 16 << 10
MAX_BLOCKS = 8_192
MAX_HEADINGS = 128
MAX_LOG_HEADINGS = MAX_BLOCKS
"""Headings of a change log, where each release has some."""
MAX_REFERENCES = 4_096


class Closed(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, rename="camel", gc=False):
    """Base of all JSON objects: unknown members are refused, absent optional members are left out.

    None of them refers back to itself, so the garbage collector need not know them.
    """


# --- entities (reference 3) -----------------------------------------------------------------------


class DocumentRegion(Closed, tag_field="kind", tag="document-region"):
    """Lines of a document, one-based and inclusive; `region_hash` is SHA-256 of their exact bytes."""

    path: str
    line_start: int
    line_end: int
    region_hash: str


class CommitEvidence(Closed, tag_field="kind", tag="commit"):
    sha: str


class FactEvidence(Closed, tag_field="kind", tag="fact"):
    fact_id: str


Evidence = DocumentRegion | CommitEvidence | FactEvidence

LinkKind = Literal["affected-path", "affected-fact", "defines-symbol", "supersedes", "superseded-by"]


class Link(Closed):
    """A typed edge from an entity (reference 3.3)."""

    kind: LinkKind
    target: str
    symbol: str | None = None


class Conventional(Closed):
    """A commit subject of the form `type(scope)!: …`."""

    type: str
    breaking: bool
    scope: str | None = None


class Entity(Closed):
    """KnowledgeEntityV1."""

    schema_version: Literal[1]
    id: str
    kind: Literal["decision", "concept", "change"]
    name: str
    aliases: list[str]
    evidence: list[Evidence]
    links: list[Link]
    status: str | None = None
    date: str | None = None
    conventional: Conventional | None = None


class MemoryEvidence(Closed):
    kind: Literal["id", "alias", "path"]
    value: str
    fact_hash: str
    raw_path: str | None = None


class MemoryRelation(Closed):
    """A note of people or agents that supports an entity; never promotion or causality (reference 6)."""

    kind: Literal["memory-supports"]
    candidate_id: str
    target: str
    evidence: MemoryEvidence


class CoverageEvidence(Closed):
    path: str
    line: int


class Coverage(Closed):
    """What was looked at, by whom, and how completely (reference 5)."""

    analyzer: str
    scope: str
    status: Literal["complete", "partial", "not-analyzed", "not-applicable"]
    analyzer_version: str | None = None
    reason: str | None = None
    evidence: list[CoverageEvidence] = []


# --- the index (reference 2) ----------------------------------------------------------------------


class Entry(Closed):
    """One indexed thing: document, module, area or package."""

    id: str
    kind: Literal["document", "module", "area", "package"]
    path: str
    content_hash: str
    symbols: list[str] = []
    covered_by: list[str] = []
    mentioned_by: list[str] = []
    language: str | None = None
    title: str | None = None
    definitions: list[Definition] = []
    line_count: int | None = None
    """How many lines a document or module has; for `path:line`."""


class Mention(Closed):
    """Where a document mentions an entry first: `line` is one-based."""

    entry: str
    document: str
    line: int


class Index(Closed):
    """The whole artifact. `entities` None means built without them; the hash covers all but `index_hash`."""

    format_version: Literal[1]
    index_hash: str
    entries: list[Entry]
    paths: list[str]
    """Every file of the repository that discovery listed, entry or not."""
    mentions: list[Mention] = []
    entities: list[Entity] | None = None
    memory_relations: list[MemoryRelation] = []
    coverage: list[Coverage] = []
    changes_by_path: dict[str, list[str]] = {}
    """Paths of commits beyond the link bound, to change ids (reference 4.4)."""
    entities_by_path: dict[str, list[str]] = {}
    """Paths that records and change logs cite in code and that exist no more, and what is beyond the bounds of an
    entity (4.5): targets of links, paths of evidence; to entity ids."""
    entities_by_name: dict[str, list[str]] = {}
    """Names cited in code that have several owners, to the entities that cite them (reference 7); also the symbols and
    aliases beyond the bounds of an entity (4.5)."""
    commits: list[str] = []
    """Change ids of the window's commits along the first-parent line, newest first."""


# --- the answer (reference 8) ---------------------------------------------------------------------


class DocumentItem(Closed):
    id: str
    path: str
    content_hash: str
    context: str


class BudgetTokens(Closed):
    total: int
    budget: int
    core: int
    sections: dict[str, int]


class Budget(Closed):
    budget_tokens: int
    tokens: BudgetTokens
    fits: bool
    order: list[str]
    kept: list[str]
    dropped: list[str]
    token_method: Literal["approximate"]


class Response(Closed):
    """KnowledgeWhyResponseV1. Key order in JSON output is that of reference 8 (see `response.to_dict`)."""

    type: Literal["knowledge-why"]
    schema_version: Literal[1]
    source: str
    target: str
    enabled: bool
    entities: list[Entity]
    documents: list[DocumentItem]
    coverage: list[Coverage]
    truncated: bool
    guidance: str | None = None
    memory_relations: list[MemoryRelation] | None = None
    budget: Budget | None = None


# --- what passes between the stages of a build ----------------------------------------------------


class File(msgspec.Struct, frozen=True):
    """A discovered file; `mtime_ns` and `size` are as of discovery."""

    path: str
    size: int
    mtime_ns: int


class Cite(Closed):
    """An inline code token or inline link inside a region, as written.

    A `file` is one that an entry of a GNU change log begins with, `symbol` a name that the entry says it holds.
    """

    kind: Literal["code", "link", "file"]
    value: str
    line: int
    symbol: str | None = None


class RawEntity(Closed):
    """An entity as one document states it, before its citations and supersessions are resolved."""

    kind: Literal["decision", "concept", "change"]
    id: str
    name: str
    region: DocumentRegion
    aliases: list[str] = []
    status: str | None = None
    date: str | None = None
    cites: list[Cite] = []
    supersedes: list[str] = []
    """Targets as written: paths relative to the record, or record numbers."""
    superseded_by: list[str] = []
    stated: dict[str, int] = {}
    """The line that states each of these targets."""
    beside: DocumentRegion | None = None
    """The file beside its document that states the rest of it, such as its status."""
    stated_beside: dict[str, int] = {}
    """The line of that file for each target that it states."""
    defines: bool = False
    """Whether `defines-symbol` links are sought for its name and aliases."""


class Reference(Closed):
    """A token of a document that may name an entry. `kind`: `code`, `link` (a target) or `text` (a link's text)."""

    kind: Literal["code", "link", "text"]
    value: str
    line: int
    fenced: bool = False


class Document(Closed):
    """What one document says, independent of all other files; cached by content hash."""

    path: str
    content_hash: str
    title: str | None = None
    covers: list[str] = []
    """Front matter `docbridge.covers` (or `trivium.covers`): ids, aliases, package names or paths."""
    references: list[Reference] = []
    entities: list[RawEntity] = []
    reasons: list[str] = []
    """Reason codes met while reading (reference 4.5), sorted, distinct."""
    reason_lines: dict[str, int] = {}
    """Where each of them was met first."""
    beside: str | None = None
    """The path of a file beside it that says what front matter could."""
    beside_reasons: dict[str, int] = {}
    """Reason codes met in that file, and where."""


class CommitChange(Closed):
    """One commit of the history window."""

    sha: str
    subject: str
    date: str
    paths: list[str]
    conventional: Conventional | None = None


class History(Closed):
    """The window, newest first, with its coverage record (scope `git:first-parent`).

    `lasting`: the same state of the repository gives the same again, since no bound and no failure ended the reading.
    """

    commits: list[CommitChange]
    coverage: Coverage
    lasting: bool = False


class MemoryNote(Closed):
    """A candidate fact from a memory file (reference 6)."""

    candidate_id: str
    fact: str
    raw_path: str
    references: list[str] = []
    """Tokens of the fact that may name an entity: pieces, code tokens, link targets, declared references."""


class Resolver(Protocol):
    """Exact look-ups in the entries and the file list; nothing is guessed."""

    def path(self, token: str, document: str) -> str | None:
        """The repository path that a token names (fragment and `:line` suffix dropped; from the root, then relative to
        the document), if discovery listed it or a directory of that name holds listed files; else None."""

    def entry_at(self, path: str) -> Entry | None:
        """The module, area or document entry at exactly this path."""

    def holds_only_documents(self, folder: str) -> bool:
        """Whether every listed file below this folder is a document."""

    def owners(self, name: str) -> list[str]:
        """Ids of the modules that own an exported (or dotted) name; the declaring ones, else the forwarding ones."""

    def package(self, name: str) -> str | None:
        """The id of the package of this name (or unique last part of a scoped name)."""


# --- encoding -------------------------------------------------------------------------------------

_canonical = msgspec.json.Encoder(order="sorted").encode
_compact = msgspec.json.Encoder().encode


def canonical(value: Any) -> bytes:
    """Compact JSON with sorted keys, UTF-8: what hashes are taken over."""
    return _canonical(value)


def compact(value: Any) -> bytes:
    """Compact JSON in field order."""
    return _compact(value)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def bounded_id(text: str) -> str:
    """An id of at most 256 characters: a longer one ends in `:` and 32 hex digits of its own hash."""
    if len(text) <= MAX_ID:
        return text
    return f"{text[: MAX_ID - 33]}:{sha256(text.encode())[:32]}"
