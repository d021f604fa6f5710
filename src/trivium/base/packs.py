"""Contexts as files: packing one, and making one of a pack."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from trivium.base.core import Core, Progress
from trivium.errors import NotFoundError

if TYPE_CHECKING:
    from trivium.ingest.pack import Made
    from trivium.ingest.tasks import Work

Pack = str | os.PathLike[str] | BinaryIO


def packing(core: Core, ctx: int, destination: str | os.PathLike[str]) -> Work:
    """The work of writing a pack. See `Context.pack`."""
    from trivium.ingest.pack import Place, write_pack

    place = Place(core.store, core.settings, core.clock)
    return lambda report: write_pack(place, ctx, Path(destination), report)


def restoring(
    core: Core,
    pack: Pack,
    create: Callable[[str, dict[str, Any]], Made],
    delete: Callable[[str], None],
    slug: str | None,
    curate: bool,
) -> Work:
    """The work of making a context of a pack, with `create`. See `KnowledgeBase.restore`. Raises: NotFoundError."""
    from trivium.ingest.pack import Place, restore_pack

    source = Path(pack) if isinstance(pack, str | os.PathLike) else pack
    if isinstance(source, Path) and not source.is_file():
        raise NotFoundError(f"There is no file {str(source)!r}.", "Check the path.")
    place = Place(core.store, core.settings, core.clock)
    return lambda report: restore_pack(place, source, create, delete, report, slug=slug, curate=curate)


def closing(pack: Pack, work: Work) -> Work:
    """The same work; a pack that is an open file is closed at its end."""

    def run(report: Progress) -> dict[str, Any]:
        try:
            return work(report)
        finally:
            if not isinstance(pack, str | os.PathLike):
                pack.close()

    return run
