"""Packs: a context as one archive, `<slug>.context.zip`, and back (KnowQL reference 11.2).

A pack holds `pack.json` (the fields of the context and the list of its sources with their hashes), the sources
verbatim under `sources/`, and the graph as capsules in `graph.kip`. All of it is one moment of the context.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, Protocol

from trivium.errors import StoreError, TriviumError
from trivium.files import whole_file
from trivium.ingest.archives import FREE, RATIO
from trivium.ingest.dates import as_date
from trivium.ingest.found import Found
from trivium.ingest.importing import Importer
from trivium.ingest.names import UnsafeName, source_path
from trivium.settings import Settings
from trivium.store import contexts, sources
from trivium.store.codec import encode
from trivium.store.sqlite import SqliteStore

FORMAT, VERSION = "trivium-context", 1
LIST, GRAPH, FOLDER = "pack.json", "graph.kip", "sources/"
MAX_LIST = 256 << 20
LIST_FREE, LIST_RATIO = 16 << 20, 8
"""The list may be so many times as large as the pack, whose directory names every source too, beside LIST_FREE."""
MAX_GRAPH = 4 << 30
_PIECE = 1 << 18

_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, UnicodeDecodeError)

Report = Callable[[int, int], None]


class Made(Protocol):
    """What restoring needs of a context that was made for it."""

    _number: int

    @property
    def slug(self) -> str: ...

    def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]: ...

    def curate(self) -> dict[str, Any]: ...


class Place(NamedTuple):
    """Where packs come from and go to."""

    store: SqliteStore
    settings: Settings
    clock: Callable[[], str]


class PackError(TriviumError):
    """A pack cannot be written or restored."""


# --- out ------------------------------------------------------------------------------------------


def write_pack(place: Place, ctx: int, destination: Path, report: Report) -> dict[str, Any]:
    """Write the pack of a context to a new file, whole or not at all; gives what it holds.

    Raises: StoreError when the file exists or cannot be written.
    """
    try:
        destination.lstat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise _unwritable(destination, error) from None
    else:
        raise StoreError(f"{destination} already exists.", "Choose another name, or move the old file away.")
    try:
        with whole_file(destination) as file:
            facts = _write(place, ctx, file, report)
    except OSError as error:
        raise _unwritable(destination, error) from None
    return {"file": str(destination), "bytes": destination.stat().st_size, **facts}


def _unwritable(destination: Path, error: Exception) -> StoreError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StoreError(f"{str(destination)!r} cannot be written: {why}.", "Choose another name or folder.")


def _write(place: Place, ctx: int, file: IO[bytes], report: Report) -> dict[str, Any]:
    from trivium.kip.export import capsules

    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        place.store.read(timeout=86_400) as session,
    ):
        row = contexts.get(session, ctx)
        if row is None:
            raise PackError("The context has been deleted.", "Choose another one.")
        listed = []
        rows = list(sources.rows(session, row.id))
        for number, source in enumerate(rows):
            report(number, len(rows))
            with archive.open(FOLDER + source.path, "w", force_zip64=True) as member:
                for piece in sources.pieces(session, source.id):
                    member.write(piece)
            facts = {"path": source.path, "hash": source.hash, "size": source.size, "dated": source.dated}
            listed.append(facts)
        with archive.open(GRAPH, "w", force_zip64=True) as member:
            for capsule in capsules(session, row.id):
                member.write(capsule.encode())
        head = {"format": FORMAT, "version": VERSION, "slug": row.slug, "fields": row.fields, "sources": listed}
        archive.writestr(LIST, json.dumps({**head, "packed_at": place.clock()}, ensure_ascii=False, indent=1))
    return {"slug": row.slug, "sources": len(listed)}


# --- in -------------------------------------------------------------------------------------------


def restore_pack(
    place: Place,
    source: Path | BinaryIO,
    create: Callable[[str, dict[str, Any]], Made],
    delete: Callable[[str], None],
    report: Report,
    *,
    slug: str | None = None,
    curate: bool = True,
) -> dict[str, Any]:
    """Make a context of a pack, under the slug it was packed with or another one, with `create`.

    Sources whose bytes do not have the hash that the pack lists are left out and told. When anything else fails, no
    context is left behind. Raises: PackError for what is no pack, StoreError when the slug is taken, ValueError when it
    is none.
    """
    with _opened(source) as archive:
        head = _head(archive, _size(source))
        context = create(slug or head["slug"], head["fields"])
        try:
            facts = _fill(place, context, archive, head, _size(source), report)
            if curate and facts["added"]:
                facts["curate"] = context.curate()
        except BaseException:
            delete(context.slug)
            raise
    return {"slug": context.slug, **facts}


def slug_of(source: Path | BinaryIO) -> str:
    """The slug that a pack was packed with. Raises: PackError for what is no pack."""
    with _opened(source) as archive:
        return str(_head(archive, _size(source))["slug"])


@contextmanager
def _opened(source: Path | BinaryIO) -> Iterator[zipfile.ZipFile]:
    """The archive of a pack; whatever shows that it is damaged is told as such. Raises: PackError."""
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except _DAMAGE as error:
        raise PackError(f"The pack is damaged ({error or type(error).__name__}).", "Pack the context again.") from None
    except OSError as error:
        if error.strerror is None:  # the decompressor's, not the system's
            raise PackError(f"The pack is damaged ({error}).", "Pack the context again.") from None
        raise PackError(f"The pack cannot be read: {error.strerror}.", "Check the file and the disk.") from None


def _size(source: Path | BinaryIO) -> int:
    return source.stat().st_size if isinstance(source, Path) else source.seek(0, io.SEEK_END)


def _head(archive: zipfile.ZipFile, size: int) -> dict[str, Any]:
    """The checked list of a pack. Raises: PackError."""
    no_pack = PackError("This archive is no pack of a context.", "Packs are written by `trivium context pack`.")
    try:
        info = archive.getinfo(LIST)
        if info.flag_bits & 1 or info.file_size > min(MAX_LIST, LIST_FREE + LIST_RATIO * size):
            raise no_pack
        head = json.loads(archive.read(info))
        encode(head)  # text that no database can hold
    except (KeyError, ValueError, TypeError, RecursionError):
        raise no_pack from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise no_pack
    if head.get("version") != VERSION:
        raise PackError("The pack was written by a newer Trivium.", "Upgrade with: pip install --upgrade trivium")
    fields, listed = head.get("fields"), head.get("sources")
    if not isinstance(head.get("slug"), str) or not isinstance(fields, dict) or not isinstance(listed, list):
        raise no_pack
    for name in ("slug", "self"):  # they are no fields
        fields.pop(name, None)
    for item in listed:
        if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("path", "hash")):
            raise no_pack
    return head


def _fill(
    place: Place, context: Made, archive: zipfile.ZipFile, head: dict[str, Any], size: int, report: Report
) -> dict[str, Any]:
    from trivium.kip.capsule_import import import_capsules

    importer = Importer(place.store, context._number, place.settings, place.clock)
    importer.run(_found(archive, head["sources"], FREE + RATIO * size), "", report)
    facts = importer.report.to_dict()
    try:
        info = archive.getinfo(GRAPH)
    except KeyError:
        return {**facts, "statements": 0}
    if info.flag_bits & 1:
        raise PackError("The graph of the pack is encrypted.", "Pack the context again.")
    if info.file_size > min(MAX_GRAPH, FREE + RATIO * size):
        raise PackError("The graph of the pack unpacks to far more than its size allows.", "Pack the context again.")
    with archive.open(info) as stream, io.TextIOWrapper(stream, encoding="utf-8") as text:
        try:
            return {**facts, "statements": import_capsules(context, [iter(lambda: text.read(_PIECE), "")]).statements}
        except UnicodeDecodeError:
            raise PackError("The graph of the pack is no UTF-8 text.", "Pack the context again.") from None


def _found(archive: zipfile.ZipFile, listed: list[dict[str, Any]], budget: int) -> Iterator[Found]:
    """The listed sources, each compared with its hash before it is given."""
    for item in listed:
        path, dated = item["path"], item.get("dated")
        try:
            if source_path(path) != path:
                raise UnsafeName("the name is not written as names of sources are")
            info = archive.getinfo(FOLDER + path)
        except (UnsafeName, KeyError) as error:
            reason = "it is not in the pack" if isinstance(error, KeyError) else str(error)
            yield Found(path, reason=reason)
            continue
        budget -= info.file_size
        if budget < 0:
            raise PackError("The pack unpacks to far more than its size allows.", "Pack the context again.")
        if info.flag_bits & 1:
            yield Found(path, reason="encrypted")
        elif _hash(archive, info) != item["hash"]:
            yield Found(path, reason="its bytes differ from those that were packed")
        else:
            yield Found(
                path, info.file_size, as_date(dated) if isinstance(dated, str) else None, _opener(archive, info)
            )


def _hash(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str | None:
    hashing = hashlib.sha256()
    try:
        with archive.open(info) as stream:
            while piece := stream.read(_PIECE):
                hashing.update(piece)
    except (*_DAMAGE, OSError):
        return None
    return hashing.hexdigest()


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: archive.open(info)  # type: ignore[return-value]
