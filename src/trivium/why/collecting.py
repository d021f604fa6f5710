"""Fewer passes of the garbage collector while many objects are made that stay (trees, entries, tables)."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 200_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Meanwhile the collector runs once for every 200,000 new objects; a bound set higher by the program stays."""
    before = gc.get_threshold()
    if not 0 < before[0] < YOUNG:
        yield
        return
    gc.set_threshold(YOUNG, *before[1:])
    try:
        yield
    finally:
        if gc.get_threshold()[0] == YOUNG:
            gc.set_threshold(*before)
