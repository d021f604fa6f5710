"""What retrieval gives and composition reads: pieces of stored text with the place they stand at."""

from __future__ import annotations

from msgspec import Struct

CHUNK, ARTIFACT = "chunk", "artifact"


class Passage(Struct, frozen=True):
    """A chunk of a document or an artifact, as stored; `text` is verbatim.

    `id` is the chunk's key (`chk_…`) or the artifact's (`art_…`); `context` the slug; `source` the path in the
    context ("" for an artifact). `section_paths` are heading paths, outermost first. Lines and pages are 1-based,
    `start` is the offset of `text` in the document's text in characters. `table_header` is the header row of a table
    that began before the passage and goes on in it, as written. `score` compares within one retrieval.
    """

    id: str
    kind: str
    context: str
    ctx: int
    source: str
    text: str
    score: float
    section_paths: list[list[str]] = []
    pages: list[int] = []
    first_line: int = 0
    last_line: int = 0
    start: int = 0
    table_header: str = ""
    dated: str | None = None
    title: str = ""
    name: str = ""
    type: str = ""
    artifact_kind: str = ""
    scope: str = ""
    format: str = ""
    sources: list[str] = []
    edges: list[dict[str, object]] = []

    @property
    def section_path(self) -> str | None:
        """The first heading path as one line, or None (KnowQL reference 4.2)."""
        return " > ".join(self.section_paths[0]) if self.section_paths and self.section_paths[0] else None


class Evidence(Struct):
    """What one retrieval found, best first, and how (the `retrieval` block of KnowQL reference 9.2)."""

    passages: list[Passage] = []
    query_variants: list[str] = []
    keyword_query: str | None = None
    matched_artifacts: list[str] = []
    entry_level: str | None = None
    expand_window: int = 0
    total_hits: int = 0
