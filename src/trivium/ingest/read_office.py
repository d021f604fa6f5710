"""Office files to text: what all of them have in common, around the reader of each format."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable

from trivium.errors import MissingExtraError
from trivium.ingest.parsed import Parsed, Unreadable, one_line

MAX_PARTS_BYTES = 1 << 30
"""What the parts of an Office file may hold together, unpacked."""
MAX_PART_BYTES = 256 << 20
_STRICT = b"http://purl.oclc.org/ooxml/"
"""What the names of relations begin with in the strict variant of the format."""


def read_office(data: bytes, format_: str) -> Parsed:
    """The text of a `docx`, `pptx` or `xlsx` file. Raises: Unreadable; MissingExtraError without the extra `docs`."""
    _check(data)
    try:
        parsed = _reader(format_)(data)
    except (Unreadable, MissingExtraError, MemoryError):
        raise
    except Exception as error:  # these libraries raise errors of many kinds for files that break their rules
        if "Excessive depth" in str(error):
            raise Unreadable("its elements are nested too deep") from None
        if str(error).startswith("unknown error"):  # the XML parser's words when there is no memory left
            raise MemoryError from None
        raise Unreadable(f"the file is damaged ({one_line(str(error)) or type(error).__name__})") from None
    if not parsed.text.strip():
        raise Unreadable("there is no text in the file")
    return parsed


def _reader(format_: str) -> Callable[[bytes], Parsed]:
    if format_ == "docx":
        from trivium.ingest.read_docx import read_docx

        return read_docx
    if format_ == "pptx":
        from trivium.ingest.read_pptx import read_pptx

        return read_pptx
    from trivium.ingest.read_xlsx import read_xlsx

    return read_xlsx


def _check(data: bytes) -> None:
    """Raises: Unreadable for what is no Office file of today, or one that unpacks to absurd sizes."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise Unreadable("the file is encrypted; save it without its password")
        raise Unreadable("the file is of an old Office format, or encrypted; save it in today's, without a password")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            sizes = [info.file_size for info in infos if info.filename.endswith((".xml", ".rels"))]
            if any(info.flag_bits & 1 for info in infos):
                raise Unreadable("the file is encrypted; save it without its password")
            strict = _is_strict(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable(f"the file is damaged ({one_line(str(error)) or type(error).__name__})") from None
    if strict:
        raise Unreadable("it is of the strict variant of the format, which is not read; save it in the usual one")
    if sum(sizes) > MAX_PARTS_BYTES or max(sizes, default=0) > MAX_PART_BYTES:
        raise Unreadable("the file unpacks to far more than its size allows")


def _is_strict(archive: zipfile.ZipFile) -> bool:
    try:
        with archive.open("_rels/.rels") as relations:
            return _STRICT in relations.read(1 << 16)
    except KeyError:
        return False
