"""A file that an import came across, in a folder, in an archive, or as bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, BinaryIO

from msgspec import Struct


class Found(Struct):
    """A file to be imported, or the reason why it is not. `open` gives its bytes from the start.

    `unseen` is a folder (with `/`, or empty for all) that may hold files that were not looked at for that reason.
    """

    path: str
    size: int = 0
    dated: str | None = None
    open: Callable[[], BinaryIO] | None = None
    reason: str | None = None
    unseen: str | None = None

    def within(self, folder: str) -> Found:
        """The same file, seen from outside of the folder it lies in."""
        if folder:
            self.path = f"{folder}/{self.path}"
            self.unseen = None if self.unseen is None else f"{folder}/{self.unseen}"
        return self


def again(held: IO[bytes]) -> Callable[[], BinaryIO]:
    """Gives the bytes of an open file from the start, as often as it is called."""

    def open_() -> BinaryIO:
        held.seek(0)
        return _Kept(held)  # type: ignore[return-value]

    return open_


class _Kept:
    """A view of a stream that stays open when the view is closed; the last reference to it closes it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size)

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *_: object) -> None:
        pass
