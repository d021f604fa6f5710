"""Lines of a document and the evidence taken from them (reference 3.2).

A line ends at `\\n`, `\\r\\n` or a lone `\\r`, in UTF-16 (told by its byte-order mark) as in UTF-8. Hashes are taken
over the exact bytes of the file, so a byte-order mark belongs to line 1 and bytes that are no text count as they are.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from trivium.why.model import MAX_REGION_BYTES, DocumentRegion, sha256

UTF8, UTF16_LE, UTF16_BE = "utf-8", "utf-16-le", "utf-16-be"

_MARKS = {UTF8: codecs.BOM_UTF8, UTF16_LE: codecs.BOM_UTF16_LE, UTF16_BE: codecs.BOM_UTF16_BE}
_LINE_ENDS = {
    UTF8: re.compile(rb"\r\n?|\n"),
    UTF16_LE: re.compile(rb"\r\0(?:\n\0)?|\n\0"),
    UTF16_BE: re.compile(rb"\0\r(?:\0\n)?|\0\n"),
}


def encoding_of(data: bytes) -> str:
    """UTF-16 where a byte-order mark says so, else UTF-8; UTF-32 is not read.

    >>> encoding_of("a".encode("utf-16")), encoding_of(b"a"), encoding_of("a".encode("utf-32-le"))
    ('utf-16-le', 'utf-8', 'utf-8')
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return UTF8
    return next((name for name in (UTF16_LE, UTF16_BE) if data.startswith(_MARKS[name])), UTF8)


def without_mark(data: bytes) -> bytes:
    """The bytes after a byte-order mark (2.2)."""
    return data.removeprefix(_MARKS[encoding_of(data)])


def read_text(data: bytes) -> tuple[str, int]:
    """The text, line ends as `\\n`, and the first line with bytes that are none and were replaced; 0 for no such line.

    >>> read_text(b"a\\r\\nb\\xff"), read_text("a".encode("utf-16"))
    (('a\\nb\ufffd', 2), ('a', 0))
    """
    encoding = encoding_of(data)
    body = data.removeprefix(_MARKS[encoding])
    foreign = -1
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        text = body.decode(encoding, "replace")
        foreign = len(body[: error.start].decode(encoding, "replace"))
    zero = text.find("\0")
    if zero >= 0:
        foreign = zero if foreign < 0 else min(foreign, zero)
        text = text.replace("\0", "\ufffd")
    line = len(_TEXT_END.findall(text, 0, foreign)) + 1 if foreign >= 0 else 0
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, line


_TEXT_END = re.compile(r"\r\n?|\n")


class SourceLines:
    """The lines of one document's bytes; where they start is found on first use."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._bounds: list[int] | None = None

    @property
    def bounds(self) -> list[int]:
        """Offset of each line's first byte, then the length of the data; the last line needs no line end."""
        if self._bounds is None:
            bounds = [0, *self._line_ends()]
            if bounds[-1] != len(self._data):
                bounds.append(len(self._data))
            self._bounds = bounds
        return self._bounds

    def _line_ends(self) -> Iterator[int]:
        """Where a line end ends; in UTF-16 only one that begins at a whole unit is one."""
        encoding = encoding_of(self._data)
        unit = 1 if encoding == UTF8 else 2
        for match in _LINE_ENDS[encoding].finditer(self._data):
            if match.start() % unit == 0:
                yield match.end()

    @property
    def count(self) -> int:
        """The number of lines; an empty string after a final line end is none."""
        return len(self.bounds) - 1

    def region(self, path: str, line_start: int, line_end: int) -> tuple[DocumentRegion, bool]:
        """The region of these lines and whether it was cut to 16 KiB (4.5).

        It is cut at the last line that fits; a first line that alone is too long stays, since a region has a line.
        """
        bounds = self.bounds
        start = min(max(line_start, 1), max(self.count, 1))
        end = min(max(line_end, start), max(self.count, 1))
        cut = False
        if self.count and bounds[end] - bounds[start - 1] > MAX_REGION_BYTES:
            whole = end
            while end > start and bounds[end] - bounds[start - 1] > MAX_REGION_BYTES:
                end -= 1
            cut = end < whole or end == start
        data = self._data[bounds[start - 1] : bounds[end]] if self.count else b""
        return DocumentRegion(path, start, end, sha256(data)), cut


def line_count(data: bytes) -> int:
    """The number of lines of a file, in whichever of its encodings.

    >>> line_count(b"a\\r\\nb"), line_count("a\\r\\nb\\n".encode("utf-16"))
    (2, 2)
    """
    return len(data.splitlines()) if encoding_of(data) == UTF8 else SourceLines(data).count


def region(path: str, data: bytes, line_start: int, line_end: int) -> DocumentRegion:
    """Evidence for lines `line_start` to `line_end` (one-based, inclusive) of a document's bytes (reference 3.2).

    >>> region("a.md", b"one\\ntwo\\n", 2, 2).line_end
    2
    """
    return SourceLines(data).region(path, line_start, line_end)[0]
