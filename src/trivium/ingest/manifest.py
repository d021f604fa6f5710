"""The manifest of a context: the knobs of curate (KnowQL reference 11.3), every one optional."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field, inspect

from trivium.errors import TriviumError
from trivium.ingest.chunking import Chunking


class ManifestError(TriviumError):
    """A manifest, or another field of a context, is not as the reference has it."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message, "See docs/ingest.md for the fields of a context and the knobs of its manifest.")
        self.param = param


class ArtifactType(Struct, frozen=True, forbid_unknown_fields=True):
    """One of `curate.artifacts.artifact_types`."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    kind: Literal["summary", "topic", "entity", "event", "doc", "page", "glossary"] = "topic"
    scope: Literal["corpus", "document"] = "corpus"
    min_doc_count: Annotated[int, Meta(ge=1, le=64)] | None = None


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


# --- all that a manifest may hold -----------------------------------------------------------------


class _Object(Struct, frozen=True, forbid_unknown_fields=True):
    """An object of the manifest. What is None, or does not act here, is checked and kept alone."""


class _Keyword(_Object, frozen=True):
    enabled: bool | None = None


class _Chunks(_Object, frozen=True):
    enabled: bool | None = None
    embedding_model: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    chunking: Chunking | None = None
    keyword: _Keyword = _Keyword()


class _ArtifactType(ArtifactType, frozen=True, forbid_unknown_fields=True):
    description: Annotated[str, Meta(min_length=0, max_length=512)] | None = None
    coverage: Annotated[list[Any], Meta(max_length=32)] | None = None
    sections: Annotated[list[Any], Meta(max_length=64)] | None = None
    format: Literal["markdown", "sqlite"] | None = None
    columns: Annotated[list[Any], Meta(max_length=64)] | None = None
    natural_key: Annotated[list[Any], Meta(max_length=16)] | None = None


class _EdgeType(_Object, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=64)]
    from_: Annotated[str, Meta(min_length=1, max_length=64)] = field(name="from")
    to: Annotated[str, Meta(min_length=1, max_length=64)]
    attributes: Annotated[list[Any], Meta(max_length=16)] | None = None


class _Artifacts(_Object, frozen=True):
    enabled: bool | None = None
    artifact_model: Literal["lite", "standard"] | None = None
    artifact_types: Annotated[list[_ArtifactType], Meta(max_length=32)] | None = None
    edge_types: Annotated[list[_EdgeType], Meta(max_length=32)] | None = None
    min_doc_count: Annotated[int, Meta(ge=1, le=64)] | None = None
    max_tokens: Annotated[int, Meta(ge=128, le=8_192)] | None = None
    max_doc_chars: Annotated[int, Meta(ge=1_000, le=2_000_000)] | None = None
    extraction_window_chars: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    mention_max_chars: Annotated[int, Meta(ge=100, le=4_000)] | None = None
    max_mentions_per_artifact: Annotated[int, Meta(ge=1, le=500)] | None = None
    mention_context_chars: Annotated[int, Meta(ge=1_000, le=100_000)] | None = None
    max_artifacts_per_type: Annotated[int, Meta(ge=1, le=10_000)] | None = None


class _Curate(_Object, frozen=True):
    chunks: _Chunks = _Chunks()
    artifacts: _Artifacts = _Artifacts()


class _Search(_Object, frozen=True):
    instructions: Annotated[str, Meta(min_length=0, max_length=32_768)] | None = None


class _Manifest(_Object, frozen=True):
    curate: _Curate = _Curate()
    optimize: dict[str, Any] | None = None
    search: _Search = _Search()


# --- reading --------------------------------------------------------------------------------------


def knobs_of(manifest: dict[str, Any] | None) -> Knobs:
    """The knobs of a checked manifest."""
    read = _read(manifest)
    chunks, artifacts = read.curate.chunks, read.curate.artifacts
    types = tuple(
        ArtifactType(type_.name, type_.kind, type_.scope, type_.min_doc_count)
        for type_ in artifacts.artifact_types or ()
    )
    given = {
        "chunks": chunks.enabled,
        "chunking": chunks.chunking,
        "keyword": chunks.keyword.enabled,
        "artifacts": artifacts.enabled,
        "artifact_types": types,
        "max_artifacts_per_type": artifacts.max_artifacts_per_type,
        "max_tokens": artifacts.max_tokens,
        "min_doc_count": artifacts.min_doc_count,
    }
    return Knobs(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def check_manifest(manifest: Any) -> None:
    """Raises: ManifestError naming the first knob that is unknown, of the wrong type or out of its bounds."""
    try:
        _read(manifest)
    except msgspec.ValidationError as error:
        raise _told(str(error)) from None


def _read(manifest: Any) -> _Manifest:
    return msgspec.convert({} if manifest is None else _without_nulls(manifest), _Manifest)


def _without_nulls(value: Any) -> Any:
    """A value whose members that are null are left out: they mean what their absence does."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


_FAULT = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_FIELD = re.compile(r"Object (?P<how>contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[\d+\]")


def _told(fault: str) -> ManifestError:
    """What msgspec says of a value, in words that name the knob and what it may be."""
    match = _FAULT.fullmatch(fault)
    assert match is not None
    path, expected = f"manifest{match['path'] or ''}", _expected(match["path"] or "")
    if named := _FIELD.match(match["what"]):
        name = named["name"]
        if named["how"] == "missing required":
            return ManifestError(f"{path}.{name} is required.", f"{path}.{name}")
        known = ", ".join(item.encode_name for item in expected.fields)
        return ManifestError(f"{path} has no knob {name!r}; there are {known}.", f"{path}.{name}")
    return ManifestError(f"{path} must be {_words(expected)}.", path)


def _expected(path: str) -> Any:
    """The type of what stands at a path."""
    found: Any = inspect.type_info(_Manifest)
    for step in _STEP.finditer(path):
        inside = [item.type for item in found.fields if item.encode_name == step[1]] if step[1] else [found.item_type]
        found = inside[0]
        if isinstance(found, inspect.UnionType):
            found = next(item for item in found.types if not isinstance(item, inspect.NoneType))
    return found


def _words(expected: Any) -> str:
    if isinstance(expected, inspect.BoolType):
        return "true or false"
    if isinstance(expected, inspect.IntType):
        return f"a whole number from {expected.ge} to {expected.le}"
    if isinstance(expected, inspect.StrType):
        return f"a text of {expected.min_length} to {expected.max_length} characters"
    if isinstance(expected, inspect.LiteralType):
        return f"one of {', '.join(map(str, expected.values))}"
    if isinstance(expected, inspect.ListType):
        return "a list" if expected.max_length is None else f"a list of at most {expected.max_length}"
    return "an object"
