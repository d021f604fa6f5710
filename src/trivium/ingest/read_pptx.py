"""PowerPoint files to text: slides with their shapes, tables, diagrams and charts, and the speaker's notes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from trivium.errors import MissingExtraError
from trivium.ingest.core_properties import with_properties
from trivium.ingest.parsed import Parsed, one_line
from trivium.ingest.raised import above, below
from trivium.ingest.read_chart import CHART, write_chart
from trivium.ingest.writing import Writer

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_GENERATED = ("slidenum", "datetime", "header", "footer")
"""Fields that say nothing of the slide."""


def read_pptx(data: bytes) -> Parsed:
    """The text of a `pptx` file; raises errors of many kinds when it is damaged, MissingExtraError without `docs`."""
    try:
        import pptx
    except ImportError:
        raise MissingExtraError("docs", "Reading PowerPoint files") from None
    presentation = pptx.Presentation(io.BytesIO(data))
    writer = Writer()
    for number, slide in enumerate(presentation.slides, 1):
        writer.page(number)
        _slide(writer, slide, number)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            if notes:
                writer.paragraph(f"Notes: {notes}")
    return with_properties(writer.result(), presentation.core_properties)


def _slide(writer: Writer, slide: Any, number: int) -> None:
    shapes = list(_shapes(slide.shapes._spTree))
    title = next(filter(_is_title, shapes), None)
    heading = "" if title is None else one_line(" ".join(text for text, _ in _paragraphs(title)))
    writer.heading(1, heading or f"Slide {number}")
    for shape in shapes:
        if shape is title:
            continue
        if shape.tag == _P + "sp":
            _write(writer, shape)
            continue
        for table in shape.iter(_A + "tbl"):
            writer.table(_rows(table))
        for diagram in shape.iter(_DIAGRAM + "relIds"):
            _write(writer, _related(slide.part, diagram.get(_R + "dm")))
        for chart in shape.iter(CHART):
            part = _part(slide.part, chart.get(_R + "id"))
            if part is not None:
                write_chart(writer, part.blob)


def _shapes(tree: Any) -> Iterator[Any]:
    """Shapes with text and frames of tables and diagrams in order, those of groups included."""
    stack = [iter(tree)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif item.tag == _P + "grpSp":
            stack.append(iter(item))
        elif item.tag == _MC + "AlternateContent":  # the others say the same for older programs
            stack.append(iter(next(iter(item), ())))
        elif item.tag in (_P + "sp", _P + "graphicFrame"):
            yield item


def _is_title(shape: Any) -> bool:
    place = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return place is not None and place.get("type") in ("title", "ctrTitle")


def _write(writer: Writer, shape: Any) -> None:
    for text, level in _paragraphs(shape):
        writer.item(text) if level else writer.paragraph(text)


def _paragraphs(shape: Any) -> Iterator[tuple[str, int]]:
    """The paragraphs in a shape that are not empty, with their level in a list."""
    for paragraph in () if shape is None else shape.iter(_A + "p"):
        text = _text(paragraph)
        if text:
            properties = paragraph.find(_A + "pPr")
            level = "0" if properties is None else properties.get("lvl", "0")
            yield text, int(level) if level.isascii() and level.isdigit() else 0


def _text(paragraph: Any) -> str:
    parts: list[str] = []
    for item in paragraph:
        if item.tag == _A + "br":
            parts.append("\n")
        elif item.tag != _A + "fld" or not item.get("type", "").startswith(_GENERATED):
            properties = item.find(_A + "rPr")
            place = "" if properties is None else properties.get("baseline", "").rstrip("%")
            said = "".join(text.text or "" for text in item.iter(_A + "t"))
            parts.append(said if place.strip("-0") == "" else below(said) if place.startswith("-") else above(said))
    return "".join(parts).strip()


def _rows(table: Any) -> Iterator[list[str]]:
    """The cells of each row; one that is merged with those below it is repeated in their rows."""
    above: dict[int, str] = {}
    for row in table.iterchildren(_A + "tr"):
        cells = []
        for column, cell in enumerate(row.iterchildren(_A + "tc")):
            if cell.get("hMerge") in ("1", "true"):
                continue
            if cell.get("vMerge") not in ("1", "true"):
                above[column] = "\n".join(filter(None, map(_text, cell.iter(_A + "p"))))
            cells.append(above.get(column, ""))
        yield cells


def _related(part: Any, id_: str | None) -> Any:
    """The root of a part that a slide refers to by id; None if there is none."""
    from pptx.oxml import parse_xml

    found = _part(part, id_)
    return None if found is None else parse_xml(found.blob)


def _part(part: Any, id_: str | None) -> Any:
    """A part that a slide refers to by id; None if there is none."""
    relation = part.rels[id_] if id_ in part.rels else None  # noqa: SIM401 - it has no `get`
    return None if relation is None or relation.is_external else relation.target_part
