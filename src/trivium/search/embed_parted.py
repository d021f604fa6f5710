"""Vectors for many texts, some of which an embedder may refuse: too long for it, too many at once, or odd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trivium.errors import EmbeddingError
from trivium.search.embedder import Refusal

if TYPE_CHECKING:
    import numpy as np

Embed = Callable[[Sequence[str]], "np.ndarray"]
"""What makes a vector of each text."""
SHORTEST = 200
"""Characters of a text below which it is not cut any further."""
_HARMLESS = "a"


def vectors_of(embed: Embed, texts: Sequence[str]) -> list[np.ndarray | Refusal]:
    """A vector for each text, or why there is none; one that is refused does not hold up the others.

    What is refused together is sent in halves, and a single text without its second half, again and again. Raises:
    EmbeddingError when the embedder refuses whatever it is given, and for every other fault of it.
    """
    try:
        return list(embed(texts))
    except Refusal as refusal:
        try:
            embed([_HARMLESS])
        except Refusal:
            raise EmbeddingError(refusal.message, refusal.hint) from None
        return _parted(embed, texts, refusal)


def _parted(embed: Embed, texts: Sequence[str], refusal: Refusal) -> list[np.ndarray | Refusal]:
    """Vectors for texts that have been refused together."""
    if len(texts) == 1:
        return [_shortened(embed, texts[0], refusal)]
    middle = len(texts) // 2
    found: list[np.ndarray | Refusal] = []
    for half in (texts[:middle], texts[middle:]):
        try:
            found.extend(embed(half))
        except Refusal as again:
            found += _parted(embed, half, again)
    return found


def _shortened(embed: Embed, text: str, refusal: Refusal) -> np.ndarray | Refusal:
    while len(text) >= 2 * SHORTEST:
        text = text[: len(text) // 2]
        try:
            vector: np.ndarray = embed([text])[0]
        except Refusal:
            continue
        return vector
    return refusal
