"""Lines of a document and the evidence taken from them (reference 3.2).

A line ends at `\\n`, `\\r\\n` or a lone `\\r`. Hashes are taken over the exact bytes of the file, so a byte-order mark
belongs to line 1 and bytes that are not UTF-8 count as they are.
"""

from __future__ import annotations

import re

from trivium.why.model import MAX_REGION_BYTES, DocumentRegion, sha256

_LINE_END = re.compile(rb"\r\n?|\n")


class SourceLines:
    """The lines of one document's bytes; where they start is found on first use."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._bounds: list[int] | None = None

    @property
    def bounds(self) -> list[int]:
        """Offset of each line's first byte, then the length of the data; the last line needs no line end."""
        if self._bounds is None:
            bounds = [0]
            bounds.extend(match.end() for match in _LINE_END.finditer(self._data))
            if bounds[-1] != len(self._data):
                bounds.append(len(self._data))
            self._bounds = bounds
        return self._bounds

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


def region(path: str, data: bytes, line_start: int, line_end: int) -> DocumentRegion:
    """Evidence for lines `line_start` to `line_end` (one-based, inclusive) of a document's bytes (reference 3.2).

    >>> region("a.md", b"one\\ntwo\\n", 2, 2).line_end
    2
    """
    return SourceLines(data).region(path, line_start, line_end)[0]
