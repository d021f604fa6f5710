"""Packs: a context out as one archive, and in again (KnowQL reference 11.2).

A pack is written to a folder of the server by a task, and can be fetched until newer ones take its place or the server
ends.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from trivium.doors.http import schemas
from trivium.doors.http.access import Own
from trivium.doors.http.answers import Answer
from trivium.doors.http.browsing import attachment
from trivium.doors.http.faults import invalid, missing
from trivium.doors.http.uploads import receive
from trivium.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from trivium import KnowledgeBase

KEPT = 8
"""Packs that are kept at a time."""
SUFFIX = ".context.zip"


class Shelf:
    """The folder of the packs that wait to be fetched."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._places: list[Path] = []

    def place(self, slug: str) -> Path:
        """A new file name, which takes no room until it is kept."""
        with self._mutex:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="trivium-packs-")
            return Path(tempfile.mkdtemp(dir=self._folder.name)) / f"{slug}{SUFFIX}"

    def keep(self, place: Path) -> None:
        """A pack is on its way to this place; the oldest packs make room for it."""
        with self._mutex:
            self._places.append(place)
            while len(self._places) > KEPT:
                _remove(self._places.pop(0))

    def open(self, file: str, name: str) -> tuple[BinaryIO, int] | None:
        """The pack `file` and its size, if it is one of this folder with this name and still there."""
        with self._mutex:
            place = next((place for place in self._places if str(place) == file and place.name == name), None)
            try:
                return None if place is None else (place.open("rb"), place.stat().st_size)
            except OSError:
                return None

    def close(self) -> None:
        with self._mutex:
            if self._folder is not None:
                self._folder.cleanup()
            self._folder, self._places = None, []


def _remove(place: Path) -> None:
    place.unlink(missing_ok=True)
    place.parent.rmdir()


def router(shelf: Shelf) -> APIRouter:
    """The routes of packs."""
    routes = APIRouter()

    @routes.post(
        "/contexts/{slug}/pack",
        tags=["contexts"],
        **schemas.route("Pack a context into one archive", gives="Started", fails=(404, 409)),
    )
    def pack(slug: str, own: Own) -> Response:
        context = own.kb.context(slug)
        place = shelf.place(context.slug)
        try:
            task = context.start_pack(place)
        except BaseException:
            _remove(place)
            raise
        shelf.keep(place)
        return Answer({"task_id": task, "state": "packing"})

    @routes.post(
        "/contexts/restore",
        tags=["contexts"],
        **schemas.route(
            "Make a context of a pack", body="Upload", gives="Started", fails=(400, 404, 408, 409, 413, 415)
        ),
    )
    async def restore(request: Request, own: Own, slug: schemas.SlugParameter = None) -> Response:
        received = await receive(request, "", own.kb.settings)
        try:
            task = await to_thread.run_sync(_restore, own.kb, received.file, slug)
        except BaseException:
            received.file.close()
            raise
        return Answer({"task_id": task, "state": "restoring"})

    @routes.get("/tasks/{id}/files/read/{name}", tags=["tasks"], **schemas.download("A pack that a task has written"))
    def read(id: str, name: str, own: Own) -> Response:
        with missing("task_not_found", "id"):
            task = own.kb.tasks.get(id)
        found = shelf.open(str((task["result"] or {}).get("file")), name)
        if found is None:
            with missing("task_not_found", "name"):
                raise NotFoundError(f"The task {id} has no file {name[:200]!r} here.", "Pack the context again.")
        file, size = found
        return attachment(file, name, "application/zip", size, {})

    return routes


def _restore(kb: KnowledgeBase, file: BinaryIO, slug: str | None) -> str:
    """Start the task, unless it is clear that it must fail. Raises: PackError, ConflictError, QueryError."""
    from trivium.ingest.describing import SLUG, SLUG_RULE
    from trivium.ingest.pack import slug_of

    if slug is not None and not SLUG.fullmatch(slug):
        raise invalid("slug", f"{slug[:80]!r} is no slug: {SLUG_RULE}.", "For example ?slug=contracts-2.")
    name = slug or slug_of(file)
    if any(context.slug == name for context in kb.contexts()):
        hint = "Restore it under another slug: ?slug=NAME."
        raise ConflictError(f"The context {name!r} exists already.", hint, "slug_exists")
    return kb.start_restore(file, slug=slug)


def shown(task: dict[str, Any]) -> dict[str, Any]:
    """A task as it is told: where on this machine its file is, is nobody's business."""
    result = task["result"]
    if not isinstance(result, dict) or "file" not in result:
        return task
    return {**task, "result": {**result, "file": Path(str(result["file"])).name}}
