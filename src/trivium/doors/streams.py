"""What is printed where the terminal's encoding lacks a character: an escape that JSON and people understand."""

from __future__ import annotations

import codecs
from typing import IO, Any


def prepare(stream: IO[Any]) -> None:
    """Let a stream print any text."""
    if hasattr(stream, "reconfigure"):
        codecs.register_error("trivium", _escaped)
        stream.reconfigure(errors="trivium")


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """`\\uXXXX` for each character that cannot be encoded, two of them beyond U+FFFF."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), error.end
