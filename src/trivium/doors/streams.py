"""The standard streams of the program: always there, and able to print any text."""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import IO, Any


def open_missing() -> None:
    """Give a program that was begun without some of its streams empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def prepare(stream: IO[Any]) -> None:
    """Let a stream print any text: a character that its encoding lacks as an escape that JSON and people understand."""
    if hasattr(stream, "reconfigure"):
        codecs.register_error("trivium", _escaped)
        stream.reconfigure(errors="trivium")


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """`\\uXXXX` for each character that cannot be encoded, two of them beyond U+FFFF."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), error.end
