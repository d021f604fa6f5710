"""The manifest of a context: the knobs of curate (KnowQL reference 11.3), every one optional."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trivium.errors import TriviumError
from trivium.ingest.chunking import Chunking

STRATEGIES = ("markdown_heading", "sliding_window", "html", "csv", "code")
KINDS = ("summary", "topic", "entity", "event", "doc", "page", "glossary")


class ManifestError(TriviumError):
    """A manifest, or another field of a context, is not as the reference has it."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message, "See docs/ingest.md for the fields of a context and the knobs of its manifest.")
        self.param = param


class ArtifactType(Struct, frozen=True):
    """One of `curate.artifacts.artifact_types`; what only a model could build is kept and not built."""

    name: str
    kind: str = "topic"
    scope: str = "corpus"
    description: str = ""
    min_doc_count: int | None = None


class Knobs(Struct, frozen=True):
    """What curate goes by."""

    chunks: bool = True
    chunking: Chunking = Chunking()
    keyword: bool = True
    artifacts: bool = False
    artifact_types: tuple[ArtifactType, ...] = ()
    max_artifacts_per_type: int = 10_000
    max_tokens: int = 1_500
    min_doc_count: int = 1


def knobs_of(manifest: dict[str, Any] | None) -> Knobs:
    """The knobs of a checked manifest."""
    curate = (manifest or {}).get("curate") or {}
    chunks = curate.get("chunks") or {}
    chunking = chunks.get("chunking") or {}
    artifacts = curate.get("artifacts") or {}
    defaults = Chunking()
    return Knobs(
        chunks=chunks.get("enabled", True),
        chunking=Chunking(
            strategy=chunking.get("strategy", defaults.strategy),
            target_size=chunking.get("target_size", defaults.target_size),
            overlap=chunking.get("overlap", defaults.overlap),
            respect_sections=chunking.get("respect_sections", defaults.respect_sections),
        ),
        keyword=(chunks.get("keyword") or {}).get("enabled", True),
        artifacts=artifacts.get("enabled", False),
        artifact_types=tuple(
            ArtifactType(
                item["name"],
                item.get("kind", "topic"),
                item.get("scope", "corpus"),
                item.get("description", ""),
                item.get("min_doc_count"),
            )
            for item in artifacts.get("artifact_types") or []
        ),
        max_artifacts_per_type=artifacts.get("max_artifacts_per_type", 10_000),
        max_tokens=artifacts.get("max_tokens", 1_500),
        min_doc_count=artifacts.get("min_doc_count", 1),
    )


_Rule = tuple[Any, ...]
_BOOL: _Rule = ("boolean",)
_CHUNKING: dict[str, Any] = {
    "strategy": ("choice", STRATEGIES),
    "target_size": ("integer", 64, 4096),
    "overlap": ("integer", 0, 1024),
    "respect_sections": _BOOL,
}
_TYPE: dict[str, Any] = {
    "name": ("text", 1, 64),
    "kind": ("choice", KINDS),
    "scope": ("choice", ("corpus", "document")),
    "description": ("text", 0, 512),
    "coverage": ("list", 32, None),
    "sections": ("list", 64, None),
    "min_doc_count": ("integer", 1, 64),
    "format": ("choice", ("markdown", "sqlite")),
    "columns": ("list", 64, None),
    "natural_key": ("list", 16, None),
}
_EDGE: dict[str, Any] = {
    "name": ("text", 1, 64),
    "from": ("text", 1, 64),
    "to": ("text", 1, 64),
    "attributes": ("list", 16, None),
}
_RULES: dict[str, Any] = {
    "curate": {
        "chunks": {
            "enabled": _BOOL,
            "embedding_model": ("text", 1, 128),
            "chunking": _CHUNKING,
            "keyword": {"enabled": _BOOL},
        },
        "artifacts": {
            "enabled": _BOOL,
            "artifact_model": ("choice", ("lite", "standard")),
            "artifact_types": ("list", 32, _TYPE),
            "edge_types": ("list", 32, _EDGE),
            "min_doc_count": ("integer", 1, 64),
            "max_tokens": ("integer", 128, 8192),
            "max_doc_chars": ("integer", 1000, 2_000_000),
            "extraction_window_chars": ("integer", 0, 1_000_000),
            "mention_max_chars": ("integer", 100, 4000),
            "max_mentions_per_artifact": ("integer", 1, 500),
            "mention_context_chars": ("integer", 1000, 100_000),
            "max_artifacts_per_type": ("integer", 1, 10_000),
        },
    },
    "optimize": ("object",),
    "search": {"instructions": ("text", 0, 32_768)},
}
_REQUIRED = {id(_TYPE): ("name",), id(_EDGE): ("name", "from", "to")}


def check_manifest(manifest: Any) -> None:
    """Raises: ManifestError naming the first knob that is unknown, of the wrong type or out of its bounds."""
    _check(manifest, _RULES, "manifest")


def _check(value: Any, rule: Any, path: str) -> None:
    if value is None:
        return
    if isinstance(rule, dict):
        _check_object(value, rule, path)
        return
    kind = rule[0]
    if kind == "boolean" and not isinstance(value, bool):
        raise ManifestError(f"{path} must be true or false.", path)
    if kind == "object" and not isinstance(value, dict):
        raise ManifestError(f"{path} must be an object.", path)
    if kind == "choice" and value not in rule[1]:
        raise ManifestError(f"{path} must be one of {', '.join(rule[1])}.", path)
    if kind == "integer" and (isinstance(value, bool) or not isinstance(value, int) or not rule[1] <= value <= rule[2]):
        raise ManifestError(f"{path} must be a whole number from {rule[1]} to {rule[2]}.", path)
    if kind == "text" and (not isinstance(value, str) or not rule[1] <= len(value) <= rule[2]):
        raise ManifestError(f"{path} must be a text of {rule[1]} to {rule[2]} characters.", path)
    if kind == "list":
        if not isinstance(value, list) or len(value) > rule[1]:
            raise ManifestError(f"{path} must be a list of at most {rule[1]}.", path)
        for index, item in enumerate(value):
            if rule[2] is not None:
                _check(item, rule[2], f"{path}[{index}]")


def _check_object(value: Any, rules: dict[str, Any], path: str) -> None:
    if not isinstance(value, dict):
        raise ManifestError(f"{path} must be an object.", path)
    for key in value:
        if key not in rules:
            raise ManifestError(f"{path} has no knob {key!r}; there are {', '.join(rules)}.", f"{path}.{key}")
    for key in _REQUIRED.get(id(rules), ()):
        if value.get(key) is None:
            raise ManifestError(f"{path}.{key} is required.", f"{path}.{key}")
    for key, member in value.items():
        _check(member, rules[key], f"{path}.{key}")
