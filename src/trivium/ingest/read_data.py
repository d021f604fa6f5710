"""CSV and JSON to blocks; the text itself stays as it is."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from trivium.ingest.parsed import CODE, TABLE, TEXT, Block, Parsed, header_row, one_line

ROWS = 500
"""Rows of a table that make one block."""
PART = 1_500
"""Characters of a JSON value that stays whole."""
DEEPEST = 32
_SAMPLE = 1 << 14
_QUOTED_SAMPLE = 1 << 12
_SPACE = re.compile(r"[ \t\r\n]*")
_DELIMITERS = ",;\t|"


# --- CSV ------------------------------------------------------------------------------------------


def read_csv(path: str, text: str) -> Parsed:
    """The rows of a table. The first row is its header, unless numbers or gaps in it say otherwise."""
    parsed = Parsed(text, ())
    delimiter = "\t" if path.lower().endswith(".tsv") else _delimiter(_sample(text))
    parsed.blocks = _rows(text, delimiter, parsed)
    return parsed


def _sample(text: str) -> str:
    """The first lines; few, as the time of the standard sniffer grows with the cube of what stands in quotes."""
    sample = text[:_SAMPLE]
    if '"' not in sample and "'" not in sample:
        return sample
    end = sample.rfind("\n", 0, _QUOTED_SAMPLE)
    return sample[: end + 1 if end > 0 else _QUOTED_SAMPLE]


def _delimiter(sample: str) -> str:
    try:
        return csv.Sniffer().sniff(sample, _DELIMITERS).delimiter
    except csv.Error:
        return max(_DELIMITERS, key=sample.count)


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends, `\\n` or `\\r\\n`; a lone `\\r` ends one only where there is no `\\n` at all."""
    end = "\n" if "\n" in text else "\r"
    start = 0
    while (stop := text.find(end, start)) >= 0:
        yield text[start : stop + 1]
        start = stop + 1
    if start < len(text):
        yield text[start:]


def _rows(text: str, delimiter: str, parsed: Parsed) -> Iterator[Block]:
    at = 0

    def counted() -> Iterator[str]:
        nonlocal at
        for line in _lines(text):
            at += len(line)
            yield line

    header = ""
    start = 0
    rows: list[int] = []
    first = True
    try:
        for cells in csv.reader(counted(), delimiter=delimiter):
            if first and cells:
                first = False
                if _is_header(cells):
                    header = header_row(text[:at])
            if len(rows) >= ROWS:
                yield Block(TABLE, start, rows[-1], (), tuple(rows[:-1]), header)
                start, rows = rows[-1], []
            rows.append(at)
    except csv.Error as error:
        parsed.notes = [*parsed.notes, f"not a whole table ({error}); what follows was read as plain text"]
        stop = rows[-1] if rows else start
        if start < stop:
            yield Block(TABLE, start, stop, (), tuple(rows[:-1]), header)
        yield Block(TEXT, stop, len(text))
        return
    if start < len(text):
        yield Block(TABLE, start, len(text), (), tuple(rows[:-1]), header)


def _is_header(cells: list[str]) -> bool:
    names = [cell.strip() for cell in cells]
    return all(names) and len(set(names)) == len(names) and not any(_is_number(name) for name in names)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?[\d.,]*\d[\d.,%]*", text) is not None


# --- JSON -----------------------------------------------------------------------------------------

_decoder = json.JSONDecoder()


def read_json(path: str, text: str) -> Parsed:
    """The members of a JSON value, or of each line of a file of such lines, as blocks under the path of their keys."""
    if path.lower().endswith(".ipynb"):
        notebook = _notebook(text)
        if notebook is not None:
            return notebook
    parsed = Parsed(text, ())
    try:
        start = _skip(text, 0)
        stop = _value(text, start)
    except (ValueError, RecursionError) as error:
        parsed.notes = [f"not valid JSON ({error}); read as plain text"]
        parsed.blocks = [Block(CODE, 0, len(text))]
        return parsed
    if _skip(text, stop) < len(text):
        parsed.blocks = _json_lines(text, parsed)
    else:
        parsed.blocks = _split(text, 0, len(text), start, (), "")
    return parsed


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, start: int) -> int:
    """Where the value that begins here ends. Raises: ValueError, RecursionError."""
    stop: int = _decoder.raw_decode(text, start)[1]
    return stop


def _json_lines(text: str, parsed: Parsed) -> Iterator[Block]:
    """One value after the other, as in JSON Lines."""
    at = 0
    while at < len(text):
        start = _skip(text, at)
        try:
            stop = _value(text, start)
        except (ValueError, RecursionError) as error:
            if start < len(text):
                parsed.notes = [*parsed.notes, f"not valid JSON ({error}); what follows was read as plain text"]
                yield Block(CODE, at, len(text))
            return
        yield from _split(text, at, stop, start, (), "")
        at = stop


def _split(text: str, begin: int, end: int, start: int, path: tuple[str, ...], label: str) -> Iterator[Block]:
    """A value with what stands around it: whole under `path`, or its members under its own label."""
    if end - begin <= PART or text[start] not in "{[" or len(path) >= DEEPEST:
        yield Block(CODE, begin, end, path)
        return
    own = (*path, one_line(label)) if label else path
    at = begin
    last: tuple[int, str] | None = None
    for name, member, value in _members(text, start):
        if last is not None:
            yield from _split(text, at, member, last[0], own, last[1])
            at = member
        last = (value, name)
    if last is None:
        yield Block(CODE, begin, end, path)
    else:
        yield from _split(text, at, end, last[0], own, last[1])


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Label, start and start of the value of each member of an object or array that is known to be well-formed."""
    is_object = text[start] == "{"
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        member, name = at, ""
        if is_object:
            name, at = scanstring(text, at + 1, True)
            at = _skip(text, _skip(text, at) + 1)
        value = at
        decoded: Any
        decoded, at = _decoder.raw_decode(text, at)
        if not is_object and isinstance(decoded, dict):
            name = next((found for key in ("name", "title", "id") if isinstance(found := decoded.get(key), str)), "")
        elif is_object and not isinstance(decoded, dict | list):
            name = ""
        yield name, member, value
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _notebook(text: str) -> Parsed | None:
    """The cells of a notebook as Markdown, without what they printed."""
    from trivium.ingest.read_markdown import read_markdown

    try:
        content = json.loads(text)
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in content["cells"]]
        language = content.get("metadata", {}).get("kernelspec", {}).get("language", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    parts = [f"```{language}\n{source}\n```" if kind == "code" else source for kind, source in cells if source.strip()]
    return read_markdown("\n\n".join(parts) + "\n") if parts else None
