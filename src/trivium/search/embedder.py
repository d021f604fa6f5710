"""The seam to models that turn text into vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from trivium.errors import EmbeddingError, TriviumError, bounded

if TYPE_CHECKING:
    import numpy as np


_ROUNDING = 0.02
"""By how much the length of a vector may differ from 1: some models compute in 16 bits or less."""


class Refusal(EmbeddingError):
    """The embedder works, as far as one knows, but gives no vectors for these texts: one is too long for it, or odd."""


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


class QuestionEmbedder(Embedder, Protocol):
    """An embedder for which questions are other texts than those that answer them. Offering it is a choice."""

    def embed_questions(self, texts: Sequence[str]) -> np.ndarray:
        """As `embed`, for texts that are looked for. Raises: EmbeddingError."""
        ...


class CheckedEmbedder:
    """Another embedder, of which nothing is taken for granted: what goes wrong in it is an EmbeddingError, and so is
    what it gives that is no vector of length 1, which would be near to everything or to nothing.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    def info(self) -> EmbedderInfo:
        """Raises: EmbeddingError."""
        try:
            info = self._inner.info()
        except TriviumError:
            raise
        except Exception as error:
            raise _failed(error) from error
        if info.dimensions < 1 or not info.floor < info.ceiling:
            raise EmbeddingError(f"The embedder {info.model} gives no dimensions, or no floor below its ceiling.")
        return info

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Raises: EmbeddingError."""
        return self._checked(self._inner.embed, texts)

    def embed_questions(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts that are looked for; as `embed` makes them, unless the other embedder tells them apart.

        Raises: EmbeddingError.
        """
        return self._checked(getattr(self._inner, "embed_questions", self._inner.embed), texts)

    def _checked(self, embed: Callable[[Sequence[str]], np.ndarray], texts: Sequence[str]) -> np.ndarray:
        import numpy

        info = self.info()
        try:
            made = numpy.asarray(embed(texts), dtype=numpy.float32)
        except TriviumError:
            raise
        except Exception as error:
            raise _failed(error) from error
        if made.shape != (len(texts), info.dimensions):
            wanted = f"{len(texts)} vectors of {info.dimensions} numbers"
            raise Refusal(f"The embedder {info.model} gave an array of the form {made.shape}, not {wanted}.")
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", made, made, dtype=numpy.float64))
        if not (abs(lengths - 1) <= _ROUNDING).all():  # not of NaN either
            raise Refusal(
                f"The embedder {info.model} gave a vector whose length is not 1.", "Divide each vector by its length."
            )
        return made


def _failed(error: Exception) -> Refusal:
    return Refusal(f"The embedder failed: {type(error).__name__}: {bounded(str(error), 300)}.")
