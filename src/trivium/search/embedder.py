"""The seam to models that turn text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np


class EmbedderInfo(Struct, frozen=True):
    """Which model makes the vectors; stored beside each, so that another model's are never mixed in.

    `floor` is the cosine below which two texts count as unrelated, `ceiling` the one above which they count as the
    same: scores are calibrated between them, for each model.
    """

    model: str
    dimensions: int
    floor: float
    ceiling: float


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Used by several threads at once."""

    def info(self) -> EmbedderInfo:
        """Which model this is. Raises: EmbeddingError, when that can be told only by asking the model."""
        ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One row of float32 for each text, of unit length. Raises: EmbeddingError."""
        ...
