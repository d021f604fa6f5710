"""Folders as they are listed: entries, pages, and the names that people type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.store.browsing import Entry

Page = tuple[list[dict[str, Any]], str | None]
"""Entries, and where the next page goes on; None after the last."""


def prefix_of(folder: str) -> str:
    """What the paths in a folder begin with, however its name is typed; "" for the folder of all."""
    from trivium.ingest.names import as_stored

    return as_stored(folder).rstrip("/") + "/" if folder.strip("/") else ""


def next_after(found: list[Entry], limit: int) -> str | None:
    """The entry behind which the next page begins; a folder is named with its slash."""
    if len(found) <= limit:
        return None
    last = found[limit - 1]
    return last.name if last.files is None else f"{last.name}/"


def file_entry(name: str) -> dict[str, Any]:
    return {"name": name, "type": "file"}


def folder_entry(entry: Entry) -> dict[str, Any]:
    return {"name": entry.name, "type": "folder", "path": entry.path, "files": entry.files}
