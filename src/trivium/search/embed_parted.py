"""Vectors for many texts, some of which an embedder may refuse: too long for it, too many at once, or odd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trivium.errors import EmbeddingError
from trivium.search.embedder import Embedder, Refusal

if TYPE_CHECKING:
    import numpy as np

SHORTEST = 200
"""Characters of a text below which it is not cut any further."""
_HARMLESS = "a"


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> list[np.ndarray | Refusal]:
    """A vector for each text, or why there is none; one that is refused does not hold up the others.

    What is refused together is sent in halves, and a single text without its second half, again and again. Raises:
    EmbeddingError when the embedder refuses whatever it is given, and for every other fault of it.
    """
    try:
        return list(embedder.embed(texts))
    except Refusal as refusal:
        try:
            embedder.embed([_HARMLESS])
        except Refusal:
            raise EmbeddingError(refusal.message, refusal.hint) from None
        return _parted(embedder, texts, refusal)


def _parted(embedder: Embedder, texts: Sequence[str], refusal: Refusal) -> list[np.ndarray | Refusal]:
    """Vectors for texts that have been refused together."""
    if len(texts) == 1:
        return [_shortened(embedder, texts[0], refusal)]
    middle = len(texts) // 2
    found: list[np.ndarray | Refusal] = []
    for half in (texts[:middle], texts[middle:]):
        try:
            found.extend(embedder.embed(half))
        except Refusal as again:
            found += _parted(embedder, half, again)
    return found


def _shortened(embedder: Embedder, text: str, refusal: Refusal) -> np.ndarray | Refusal:
    while len(text) >= 2 * SHORTEST:
        text = text[: len(text) // 2]
        try:
            vector: np.ndarray = embedder.embed([text])[0]
        except Refusal:
            continue
        return vector
    return refusal
