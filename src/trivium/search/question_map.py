"""From the vector of a question to where its answers are.

A sentence encoder puts a question near to texts that are worded like it: other questions, short texts, texts in its
language. The map moves its vector towards those that answer it; vectors of texts stay as they are. It is affine and
near to the identity, and was fitted to labelled questions (`scripts/question_map.py`, docs/search-quality.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np

SHIPPED = Path(__file__).with_suffix(".npz")
_STEPS = 127
"""The weights are small, and stored in bytes."""


class QuestionMap(Struct, frozen=True):
    """`weights` of shape (d, d) and `bias` of shape (d,): what is added to a vector v is `weights` v + `bias`."""

    weights: np.ndarray
    bias: np.ndarray

    def of(self, vectors: np.ndarray) -> np.ndarray:
        """Rows of unit length, moved; of unit length again."""
        import numpy

        moved = vectors + vectors @ self.weights.T + self.bias
        lengths = numpy.linalg.norm(moved, axis=1, keepdims=True)
        found: np.ndarray = moved / numpy.maximum(lengths, 1e-9)
        return found

    def rounded(self) -> QuestionMap:
        """As it is read again when it has been saved."""
        import numpy

        step = self._step()
        bias = self.bias.astype(numpy.float16).astype(numpy.float32)
        return QuestionMap((numpy.rint(self.weights / step) * step).astype(numpy.float32), bias)

    def save(self, path: Path) -> None:
        """Write it in a quarter of its size."""
        import numpy

        step = self._step()
        weights = numpy.rint(self.weights / step).astype(numpy.int8)
        numpy.savez_compressed(path, weights=weights, step=numpy.float32(step), bias=self.bias.astype(numpy.float16))

    def _step(self) -> float:
        return float(abs(self.weights).max()) / _STEPS or 1.0


def load(path: Path = SHIPPED) -> QuestionMap:
    """Raises: OSError, ValueError, KeyError, zipfile.BadZipFile."""
    import numpy

    with path.open("rb") as file, numpy.load(file, allow_pickle=False) as stored:
        return QuestionMap(
            stored["weights"].astype(numpy.float32) * stored["step"], stored["bias"].astype(numpy.float32)
        )
