"""One source to all that curate stores of it: text, outline, chunks, and their tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from trivium.errors import MissingExtraError
from trivium.ingest.chunking import chunks
from trivium.ingest.manifest import Knobs
from trivium.ingest.parse import parse
from trivium.ingest.parsed import Parsed, Unreadable, well_formed
from trivium.search.passage_text import chunk_texts
from trivium.store.documents import NewChunk

BATCH_CHARS = 1 << 20
MAX_HEADINGS = 5_000


class Read(Struct):
    """A source as it was read; `problem` says why it could not be, and then there is no text."""

    title: str
    text: str = ""
    dated: str | None = None
    problem: str | None = None
    outline: dict[str, Any] = {}
    chunks: list[NewChunk] = []


def read_source(path: str, media_type: str, data: bytes, knobs: Knobs) -> Read:
    """Read a source whole. What is wrong with a file is told in the result, never raised."""
    try:
        found = open_source(path, media_type, data, knobs)
        if isinstance(found, Read):
            return found
        made = [chunk for batch in batches(path, found, knobs) for chunk in batch]
        return Read(found.title, found.text, found.dated, None, outline_of(media_type, found), made)
    except MemoryError:
        return failed(path, media_type, "reading it takes too much memory")
    except Exception as error:  # a reader met what it does not expect: that file is not read, the others are
        return failed(path, media_type, unexpected(error))


def unexpected(error: Exception) -> str:
    """What is told of a file whose reader failed in a way that nobody foresaw."""
    return f"reading it failed ({type(error).__name__}: {error})"


def open_source(path: str, media_type: str, data: bytes, knobs: Knobs) -> Parsed | Read:
    """A source whose chunks are still to be made, by `batches`; or what tells why there are none."""
    try:
        parsed = parse(path, data, knobs.chunking.strategy)
    except Unreadable as error:
        return failed(path, media_type, str(error))
    except MissingExtraError as error:
        return failed(path, media_type, f"{error.message} Install it with: {error.hint}")
    parsed.text = well_formed(parsed.text)
    return parsed


def failed(path: str, media_type: str, problem: str) -> Read:
    """A source that could not be read."""
    problem = problem[:500].encode(errors="replace").decode()
    return Read(path, problem=problem, outline=outline_of(media_type, None))


def outline_of(media_type: str, parsed: Parsed | None) -> dict[str, Any]:
    """The outline of a document; its headings are complete once its blocks are used up."""
    outline: dict[str, Any] = {"media_type": media_type, "headings": [], "notes": [], "pages": 0}
    if parsed is not None:
        outline["headings"] = [
            {"level": item.level, "title": item.title, "line": item.line, "start": item.start}
            for item in parsed.headings[:MAX_HEADINGS]
        ]
        outline["notes"] = parsed.notes
        outline["pages"] = len(parsed.pages)
    return outline


def batches(path: str, parsed: Parsed, knobs: Knobs) -> Iterator[list[NewChunk]]:
    """The chunks of a document with their tokens, in lists of about BATCH_CHARS."""
    if not knobs.chunks:
        for _ in parsed.blocks:
            pass
        return
    batch: list[NewChunk] = []
    size = 0
    for chunk in chunks(path, parsed, knobs.chunking):
        heading, body = tokens_of(path, parsed.title, chunk.place, chunk.text) if knobs.keyword else ("", "")
        span = (chunk.start, chunk.stop, chunk.first_line, chunk.last_line)
        batch.append(NewChunk(chunk.key, *span, chunk.place, chunk.text, heading, body))
        size += len(chunk.text)
        if size >= BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def tokens_of(path: str, title: str, place: dict[str, Any], text: str) -> tuple[str, str]:
    """The tokens of a chunk; those of a table's header row count as its heading."""
    sections = place["sections"]
    if "header" in place:
        sections = [*sections, [place["header"]]]
    return chunk_texts(path, title, sections, text)
