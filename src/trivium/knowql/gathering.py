"""What a turn knows when it begins to compose: passages of documents, artifacts, and facts of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from trivium.search.facts import facts, without_doubles
from trivium.search.passage import ARTIFACT, Evidence, Passage
from trivium.search.retrieval import Retriever, ScopedContext
from trivium.store.sqlite import SqliteStore


class Gatherer:
    """Retrieval over documents and graph as one ranking."""

    def __init__(self, store: SqliteStore, retriever: Retriever) -> None:
        self._store = store
        self._retriever = retriever

    def retrieve(
        self,
        scope: Sequence[ScopedContext],
        ask: str,
        *,
        kind: str = "both",
        limit: int = 20,
        expand: int = 0,
        variants: Sequence[str] = (),
    ) -> Evidence:
        """As `Retriever.retrieve`; unless only chunks are asked for, concepts of the graph are artifacts among them."""
        evidence = self._retriever.retrieve(scope, ask, kind=kind, limit=limit, expand=expand, variants=variants)
        if kind == "chunks":
            return evidence
        told: list[Passage] = []
        with self._store.read() as session:
            for context in scope:
                told += facts(session, context.ctx, context.slug, [ask, *variants], evidence.passages)
        told = without_doubles(told, evidence.passages)
        passages = sorted([*evidence.passages, *told], key=lambda p: (-p.score, p.id, p.context))[:limit]
        return structs.replace(
            evidence,
            passages=passages,
            matched_artifacts=[passage.name for passage in passages if passage.kind == ARTIFACT],
            entry_level=_entry_level(passages),
            total_hits=evidence.total_hits + len(told),
        )


def _entry_level(passages: Sequence[Passage]) -> str | None:
    if not passages:
        return None
    return "artifacts" if passages[0].kind == ARTIFACT else "chunks"
