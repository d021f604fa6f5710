"""Charts of Office files to text: title, axes, the names of the series, and the numbers that the file holds of them."""

from __future__ import annotations

from typing import Any

from trivium.ingest.parsed import one_line
from trivium.ingest.writing import Writer

CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
"""What refers to a chart, and what a chart itself is within its part."""
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MOST_SERIES = 1_000
_MOST_CELLS = 100_000
"""Of a chart with more, the names alone are read."""


def write_chart(writer: Writer, data: bytes, *, numbers: bool = True) -> None:
    """Write what a chart says; `numbers` are not wanted where the sheets hold them. One that is damaged is noted."""
    try:
        from docx.oxml.parser import parse_xml

        root = parse_xml(data)
    except (ImportError, ValueError, SyntaxError):  # the parser's own error is a SyntaxError
        writer.note("a chart could not be read")
        return
    title = _title(root.find(CHART))
    axes = [found for axis in root.iterfind(f"{CHART}/{_C}plotArea/*") if (found := _title(axis))]
    every = [_Series(item) for _, item in zip(range(_MOST_SERIES), root.iter(_C + "ser"), strict=False)]
    names = [series.name for series in every if series.name]
    if title or axes or every:
        told = ": ".join(filter(None, ["Chart", title]))
        writer.paragraph(told + (f" ({', '.join(axes)})" if axes else ""))
    places = sorted({place for series in every for place in series.values})
    if numbers and places and len(places) * (len(every) + 1) <= _MOST_CELLS:
        labels = next((series.labels for series in every if series.labels), {})
        rows = [["", *(series.name for series in every)]] if names else []
        rows += [[labels.get(place, ""), *(series.values.get(place, "") for series in every)] for place in places]
        writer.table(rows)
    elif names:
        writer.paragraph(", ".join(names))


class _Series:
    """One row of numbers: its name, and by place the label and the number."""

    def __init__(self, item: Any) -> None:
        name = item.find(_C + "tx")
        self.name = "" if name is None else one_line(" ".join(found.text or "" for found in name.iter(_C + "v")))
        labels = item.find(_C + "cat")
        values = item.find(_C + "val")
        self.labels = _points(item.find(_C + "xVal") if labels is None else labels)
        self.values = _points(item.find(_C + "yVal") if values is None else values)


def _title(of: Any) -> str:
    found = None if of is None else of.find(_C + "title")
    if found is None:
        return ""
    texts = found.iter(_A + "t", _C + "v")
    return one_line("".join(item.text or "" for item in texts))


def _points(of: Any) -> dict[int, str]:
    """The stored points by place; of labels on several levels the innermost, which come first."""
    found: dict[int, str] = {}
    for point in () if of is None else of.iter(_C + "pt"):
        place, value = point.get("idx", ""), point.find(_C + "v")
        if place.isascii() and place.isdigit() and len(place) < 10 and value is not None and value.text:
            found.setdefault(int(place), _plain(value.text))
    return found


def _plain(text: str) -> str:
    """A number without the traces of how it is stored.

    >>> _plain("0.30000000000000004"), _plain("Q1"), _plain("12.50")
    ('0.3', 'Q1', '12.50')
    """
    if len(text) < 16:
        return text.strip()
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return one_line(text)
