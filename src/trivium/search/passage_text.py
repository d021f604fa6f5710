"""Tokens of chunks and artifacts for the text index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trivium.search.words import passage_tokens

VERSION = "1"
"""Raised whenever the same text gives other tokens: the next curate of a context then reads all of it again."""


def chunk_texts(path: str, title: str, sections: Iterable[Sequence[str]], text: str) -> tuple[str, str]:
    """Heading and body of a chunk as space-separated tokens, for `store.chunks.add_chunks`.

    The heading is the document's path and title with the heading paths of the chunk, each word once.
    """
    headings = [path, title, *(heading for section in sections for heading in section)]
    found = dict.fromkeys(token for part in headings for token in passage_tokens(part))
    return " ".join(found), " ".join(passage_tokens(text))


def artifact_texts(name: str, text: str) -> tuple[str, str]:
    """Name and body of an artifact as space-separated tokens, for `store.chunks.add_artifacts`."""
    return " ".join(dict.fromkeys(passage_tokens(name))), " ".join(passage_tokens(text))
