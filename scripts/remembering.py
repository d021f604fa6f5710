"""The built-in encoder for scripts that ask it for the same texts again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from trivium.search.embed_builtin import DIMENSIONS, BuiltinEmbedder, builtin

if TYPE_CHECKING:
    import numpy as np

_KNOWN: dict[str, np.ndarray] = {}


class RememberingEmbedder(BuiltinEmbedder):
    """Computes each text once in a process, for all of its instances."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        new = list(dict.fromkeys(text for text in texts if text not in _KNOWN))
        _KNOWN.update(zip(new, builtin().embed(new), strict=True))
        found: np.ndarray = numpy.zeros((len(texts), DIMENSIONS), dtype="float32")
        for row, text in zip(found, texts, strict=True):
            row[:] = _KNOWN[text]
        return found
