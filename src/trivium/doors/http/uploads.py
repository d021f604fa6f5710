"""Receiving one file as multipart/form-data: written to a temporary file and bounded while it arrives."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from anyio import to_thread
from fastapi import Request
from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from trivium.doors.http.bodies import too_slow
from trivium.doors.http.faults import invalid
from trivium.ingest import formats
from trivium.ingest.names import UnsafeName, source_path
from trivium.knowql.errors import QueryError
from trivium.settings import Settings

ARCHIVE_BYTES = 2 << 30
"""The most bytes of an archive that is sent, and no more than a context may hold."""
SILENCE_SECONDS = 30.0
"""How long a client may send nothing."""
OVERHEAD = 64 << 10
"""Bytes that may be around the file: boundaries, headers, other fields."""
_PIECE = 1 << 20

logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # its warnings repeat what we answer


class Upload(Struct):
    """A file that has arrived whole; whoever has it closes it."""

    path: str
    file: BinaryIO


async def receive(request: Request, folder: str, settings: Settings) -> Upload:
    """The part `file` of the body. Raises: QueryError 400, 408, 413, 415, when nothing is left behind."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise QueryError(
            415,
            "unsupported_media_type",
            None,
            "A file is sent as multipart/form-data with a boundary.",
            hint="For example: curl -F file=@report.pdf …",
        )
    form = _Form(folder, settings)
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max(settings.max_file_bytes, _most_of_archive(settings)) + OVERHEAD:
        raise _too_large(max(settings.max_file_bytes, _most_of_archive(settings)), "TRIVIUM_MAX_FILE_BYTES")
    try:
        await _read(request, MultipartParser(options[b"boundary"], form.callbacks()), form)
        return form.upload()
    except FormParserError as error:
        form.close()
        raise _broken(str(error) or "it cannot be read") from None
    except BaseException:
        form.close()
        raise


async def _read(request: Request, parser: MultipartParser, form: _Form) -> None:
    stream = request.stream().__aiter__()
    while True:
        try:
            piece = await asyncio.wait_for(anext(stream), SILENCE_SECONDS)
        except StopAsyncIteration:
            break
        except TimeoutError:
            raise too_slow(SILENCE_SECONDS) from None
        parser.write(piece)
        if len(form.waiting) >= _PIECE:
            await to_thread.run_sync(form.flush)
    await to_thread.run_sync(form.flush)


class _Form:
    """What the parser has come to: the one file, and whether its end was seen."""

    def __init__(self, folder: str, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._name: list[bytes] = []
        self._value: list[bytes] = []
        self._disposition = b""
        self._inside = False
        self._around = 0
        self._size = 0
        self._limit = 0
        self._path: str | None = None
        self._file: BinaryIO | None = None
        self._whole = False
        self.waiting = bytearray()

    def callbacks(self) -> Any:
        names = ("part_begin", "part_data", "part_end", "header_field", "header_value", "header_end")
        found: dict[str, Callable[..., None]] = {f"on_{name}": getattr(self, f"_{name}") for name in names}
        return found | {"on_headers_finished": self._headers_finished, "on_end": self._end}

    def _part_begin(self) -> None:
        self._disposition = b""

    def _header_field(self, data: bytes, start: int, stop: int) -> None:
        self._name.append(data[start:stop])
        self._count(stop - start)

    def _header_value(self, data: bytes, start: int, stop: int) -> None:
        self._value.append(data[start:stop])
        self._count(stop - start)

    def _header_end(self) -> None:
        if b"".join(self._name).lower() == b"content-disposition":
            self._disposition = b"".join(self._value)
        self._name, self._value = [], []

    def _headers_finished(self) -> None:
        options = parse_options_header(self._disposition)[1]
        self._inside = options.get(b"name") == b"file"
        if not self._inside:
            return
        if self._path is not None:
            raise invalid("file", "The body holds more than one file.", "Send each file in a request of its own.")
        self._path = self._checked(options.get(b"filename"))
        archive = formats.is_archive(self._path)
        self._limit = _most_of_archive(self._settings) if archive else self._settings.max_file_bytes
        self._file = cast("BinaryIO", tempfile.TemporaryFile("w+b"))  # noqa: SIM115 - the taker closes it

    def _checked(self, name: bytes | None) -> str:
        if not name:
            raise invalid("file", "The part `file` has no file name.", 'Give one: name="file"; filename="report.pdf".')
        folder = self._folder if not self._folder or self._folder.endswith("/") else self._folder + "/"
        try:
            return source_path(folder + source_path(name.decode("utf-8")))
        except UnicodeDecodeError:
            raise invalid("file", "The file name is not UTF-8.", "Send the name as UTF-8.") from None
        except UnsafeName as error:
            shown = name.decode("utf-8", "replace")[:200]
            hint = "Use a relative path without '..', both in the file name and in `path`."
            raise invalid("file", f"The file name {shown!r} cannot be used: {error}.", hint) from None

    def _part_data(self, data: bytes, start: int, stop: int) -> None:
        if not self._inside:
            self._count(stop - start)
            return
        self._size += stop - start
        if self._size > self._limit:
            assert self._path is not None
            setting = "TRIVIUM_MAX_CONTEXT_BYTES" if formats.is_archive(self._path) else "TRIVIUM_MAX_FILE_BYTES"
            raise _too_large(self._limit, setting)
        self.waiting += data[start:stop]

    def _part_end(self) -> None:
        self._inside = False

    def _end(self) -> None:
        self._whole = True

    def _count(self, size: int) -> None:
        self._around += size
        if self._around > OVERHEAD:
            raise _broken(f"there are more than {OVERHEAD:,} bytes around the file")

    def flush(self) -> None:
        if self.waiting and self._file is not None:
            self._file.write(self.waiting)
            self.waiting.clear()

    def upload(self) -> Upload:
        """The file. Raises: QueryError when there is none, or not all of it."""
        if not self._whole:
            raise _broken("its end is missing")
        if self._path is None or self._file is None:
            raise invalid("file", "The body holds no part `file`.", "For example: curl -F file=@report.pdf …")
        self._file.seek(0)
        return Upload(self._path, self._file)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _most_of_archive(settings: Settings) -> int:
    return min(ARCHIVE_BYTES, settings.max_context_bytes)


def _broken(why: str) -> QueryError:
    return invalid("file", f"The body is no multipart/form-data: {why}.", "For example: curl -F file=@report.pdf …")


def _too_large(limit: int, setting: str) -> QueryError:
    message = f"The file is larger than {limit:,} bytes."
    return QueryError(413, "payload_too_large", "file", message, param="file", hint=f"{setting} sets the limit.")
