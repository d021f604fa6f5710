"""What a retrieval turn answers with: the envelope of KnowQL reference 9.2 to 9.4."""

from __future__ import annotations

from typing import Any

from trivium.knowql.citations import lines_of
from trivium.knowql.mode import Mode
from trivium.search.passage import CHUNK, Evidence, Passage


def envelope(evidence: Evidence, mode: Mode, longest: int | None) -> dict[str, Any]:
    """`output_json` of a retrieval turn. `longest` cuts each text, in characters; pointers carry no text."""
    ranked = list(enumerate(evidence.passages, 1))
    chunks = [_chunk(passage, rank) | _text(passage, mode, longest) for rank, passage in ranked if _is_chunk(passage)]
    artifacts = [
        _artifact(passage, rank, _text(passage, mode, longest)) for rank, passage in ranked if not _is_chunk(passage)
    ]
    return {
        "answered_by": "retrieval",
        "mode": mode.name,
        "counts": {"chunks": len(chunks), "artifacts": len(artifacts)},
        "chunks": _sorted(chunks),
        "artifacts": _sorted(artifacts),
        "retrieval": {
            "query_variants": evidence.query_variants,
            "keyword_query": evidence.keyword_query,
            "matched_artifacts": evidence.matched_artifacts,
            "entry_level": evidence.entry_level,
            "expand_window": evidence.expand_window,
        },
    }


def _is_chunk(passage: Passage) -> bool:
    return passage.kind == CHUNK


def _sorted(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: (-item["score"], item["id"]))


def _chunk(passage: Passage, rank: int) -> dict[str, Any]:
    return {
        "id": passage.id,
        "context": passage.context,
        "source": passage.source,
        "section_path": passage.section_path,
        "section_paths": passage.section_paths,
        "pages": passage.pages,
        "lines": lines_of(passage),
        "score": passage.score,
        "rank": rank,
    }


def _artifact(passage: Passage, rank: int, text: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": passage.id,
        "context": passage.context,
        "name": passage.name,
        "type": passage.type,
        "kind": passage.artifact_kind,
        "scope": passage.scope,
        "format": passage.format,
        "score": passage.score,
        "rank": rank,
        **text,
        "sources": passage.sources,
        "edges": passage.edges,
    }


def _text(passage: Passage, mode: Mode, longest: int | None) -> dict[str, Any]:
    if mode.pointers:
        return {"chars": len(passage.text)}
    text = passage.text if longest is None else passage.text[:longest]
    return {"text": text, "truncated": len(text) < len(passage.text), "chars": len(passage.text)}
