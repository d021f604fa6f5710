"""One file to its text and blocks, by the reader of its format."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from trivium.ingest import formats
from trivium.ingest.decoding import decode
from trivium.ingest.escapes import without_escapes
from trivium.ingest.parsed import Parsed, Unreadable

VERSION = "7"
"""Raised whenever any reader or the chunker makes something else of a file; all files are then read again."""

_AS_TEXT = {"html": formats.HTML, "csv": formats.CSV, "code": formats.CODE, "markdown_heading": formats.TEXT}
"""How a file whose name does not tell its format is read, by chunking strategy."""

_LIBRARIES = {
    formats.MARKDOWN: "markdown-it-py",
    formats.HTML: "selectolax",
    formats.PDF: "pypdfium2",
    formats.DOCX: "python-docx",
    formats.PPTX: "python-pptx",
    formats.XLSX: "openpyxl",
}


def parse(path: str, data: bytes, strategy: str = "markdown_heading") -> Parsed:
    """Read one file. Raises: Unreadable with the reason, MissingExtraError when its reader is not installed."""
    if not data.strip():
        raise Unreadable("the file is empty")
    format_ = formats.format_of(path, data)
    if format_ == formats.OTHER:
        problem = formats.unreadable(path, data)
        if problem:
            raise Unreadable(problem)
    if format_ in (formats.OTHER, formats.TEXT) and format_ != (chosen := _AS_TEXT.get(strategy, formats.TEXT)):
        format_ = chosen
    parsed = _read(format_, path, data)
    if not parsed.title and isinstance(parsed.blocks, Iterator):
        _look_ahead(parsed)
    if not parsed.title:
        parsed.title = path.rpartition("/")[2].rpartition(".")[0] or path.rpartition("/")[2]
    return parsed


def _look_ahead(parsed: Parsed) -> None:
    """Read on to the first heading, which is the title."""
    blocks = iter(parsed.blocks)
    seen = []
    for block in islice(blocks, 50):
        seen.append(block)
        if parsed.title:
            break
    parsed.blocks = chain(seen, blocks)


def reader_of(path: str, strategy: str) -> str:
    """What the recipe of a document holds about its reader: format, strategy, and the version of the library it needs.

    It changes when the library is installed, so that files that could not be read are tried again then.
    """
    from importlib import metadata

    format_ = formats.by_name(path)[0]
    try:
        library = metadata.version(_LIBRARIES[format_]) if format_ in _LIBRARIES else ""
    except metadata.PackageNotFoundError:
        library = "missing"
    return f"{format_} {strategy if format_ in (formats.OTHER, formats.TEXT) else ''} {library}"


def _read(format_: str, path: str, data: bytes) -> Parsed:
    if format_ == formats.HTML:
        from trivium.ingest.read_html import read_html

        parsed = read_html(data)
        if not parsed.text.strip():
            parsed.notes = [*parsed.notes, "the page shows no text: it may be written by a script"]
        return parsed
    if format_ == formats.MAIL:
        from trivium.ingest.read_mail import read_mail

        return read_mail(data)
    if format_ == formats.MBOX:
        from trivium.ingest.read_mbox import read_mbox

        return read_mbox(data)
    if format_ == formats.PDF:
        from trivium.ingest.read_pdf import read_pdf

        return read_pdf(data)
    if format_ in (formats.DOCX, formats.PPTX, formats.XLSX):
        from trivium.ingest.read_office import read_office

        return read_office(data, format_)
    text, note = decode(data)
    text, codes = without_escapes(text, is_json=format_ == formats.JSON)
    if not text.strip():
        raise Unreadable("the file is empty")
    parsed = _read_text(format_, path, text)
    if codes:
        parsed.notes = [*parsed.notes, f"codes that steer a terminal were left out: {codes:,}"]
    if note:
        parsed.notes = [*parsed.notes, note]
    return parsed


def _read_text(format_: str, path: str, text: str) -> Parsed:
    """The formats whose files are texts: the document's text is the file itself."""
    if format_ == formats.MARKDOWN:
        from trivium.ingest.read_markdown import read_markdown

        return read_markdown(text)
    if format_ == formats.CSV:
        from trivium.ingest.read_data import read_csv

        return read_csv(path, text)
    if format_ == formats.JSON:
        from trivium.ingest.read_data import read_json

        return read_json(path, text)
    if format_ == formats.CODE:
        from trivium.ingest.read_code import read_code

        return read_code(path, text)
    from trivium.ingest.read_text import read_text

    return read_text(text, formats.extension_of(path))
