"""Tokens of chunks and artifacts for the text index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from trivium.search.escapes import unescaped
from trivium.search.words import passage_line, passage_tokens

VERSION = "3"
"""Raised whenever the same text gives other tokens: the next curate of a context then reads all of it again."""


def chunk_texts(path: str, title: str, sections: Iterable[Sequence[str]], text: str) -> tuple[str, str]:
    """Heading and body of a chunk as space-separated tokens, for `store.chunks.add_chunks`.

    The heading is the document's path and title with the heading paths of the chunk, each word once. Characters that
    are written as escapes are found by what they stand for.
    """
    headings = [path, title, *(heading for section in sections for heading in section)]
    found = dict.fromkeys(token for part in headings for token in _of_heading(part))
    return " ".join(found), passage_line(unescaped(text, path))


@lru_cache(maxsize=4_096)
def _of_heading(text: str) -> tuple[str, ...]:
    """The tokens of a heading, which the chunks below it share."""
    return tuple(passage_tokens(text))


def artifact_texts(name: str, text: str) -> tuple[str, str]:
    """Name and body of an artifact as space-separated tokens, for `store.chunks.add_artifacts`."""
    return " ".join(dict.fromkeys(passage_tokens(name))), passage_line(text)
