"""An index cut into pages as the store keeps them, for tests."""

from __future__ import annotations

from trivium.why.lookup import LookupIndex, pages_of
from trivium.why.model import Index
from trivium.why.prepared import PreparedIndex


class Whole:
    """Gives the whole index, and counts how often it was wanted."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.wanted = 0

    def __call__(self) -> Index:
        self.wanted += 1
        return self.index


def looked_up(source: Index | PreparedIndex, whole: Whole | None = None) -> LookupIndex:
    """The same index over its pages."""
    prepared = source if isinstance(source, PreparedIndex) else PreparedIndex(source)
    pages = {(part, number): data for part, number, data in pages_of(prepared)}
    return LookupIndex(lambda part, number: pages.get((part, number)), whole or Whole(prepared.index))
