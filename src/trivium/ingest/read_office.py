"""Word, PowerPoint and Excel files to text: paragraphs under their headings, slides, sheets."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time
from typing import Any

from trivium.errors import MissingExtraError
from trivium.ingest.dates import as_moment
from trivium.ingest.parsed import Parsed, Unreadable, one_line
from trivium.ingest.writing import Writer

MAX_PARTS_BYTES = 1 << 30
"""What the parts of an Office file may hold together, unpacked."""
MAX_PART_BYTES = 256 << 20
MAX_EMPTY_ROWS = 10_000
_HIDDEN_RUNS = ".//w:r[w:rPr/w:vanish[not(@w:val) or not(contains('|0|false|off|', concat('|', @w:val, '|')))]]"
"""The property may also be set to false, where a style has it."""
_LEVEL = re.compile(r"(?:heading|überschrift|titre|título|titolo|标题|見出し)\s*(\d)", re.IGNORECASE)


def read_office(data: bytes, format_: str) -> Parsed:
    """The text of a `docx`, `pptx` or `xlsx` file. Raises: Unreadable; MissingExtraError without the extra `docs`."""
    reader: Callable[[bytes], Parsed] = {"docx": _docx, "pptx": _pptx, "xlsx": _xlsx}[format_]
    _check(data)
    try:
        parsed = reader(data)
    except (Unreadable, MissingExtraError, MemoryError):
        raise
    except Exception as error:  # these libraries raise errors of many kinds for files that break their rules
        raise Unreadable(f"the file is damaged ({one_line(str(error)) or type(error).__name__})") from None
    if not parsed.text.strip():
        raise Unreadable("there is no text in the file")
    return parsed


def _check(data: bytes) -> None:
    """Raises: Unreadable for what is no Office file of today, or one that unpacks to absurd sizes."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise Unreadable("the file is encrypted, or of an old Office format")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = [info.file_size for info in archive.infolist() if info.filename.endswith((".xml", ".rels"))]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable(f"the file is damaged ({error})") from None
    if sum(sizes) > MAX_PARTS_BYTES or max(sizes, default=0) > MAX_PART_BYTES:
        raise Unreadable("the file unpacks to far more than its size allows")


def _facts(parsed: Parsed, properties: Any) -> Parsed:
    """Title and date of a file's core properties."""
    title = getattr(properties, "title", None)
    parsed.title = one_line(title) if isinstance(title, str) and title.strip() else parsed.title
    for name in ("modified", "created"):
        moment = getattr(properties, name, None)
        if isinstance(moment, datetime):
            parsed.dated = as_moment(moment)
            break
    return parsed


# --- Word -----------------------------------------------------------------------------------------


def _docx(data: bytes) -> Parsed:
    try:
        import docx
        from docx.table import Table
    except ImportError:
        raise MissingExtraError("docs", "Reading Word files") from None
    document = docx.Document(io.BytesIO(data))
    writer = Writer()
    for run in document.element.body.xpath(_HIDDEN_RUNS):
        run.getparent().remove(run)
    levels: dict[str, tuple[int, bool]] = {}
    for item in document.iter_inner_content():
        if isinstance(item, Table):
            writer.table(_table_rows(item))
            continue
        text = item.text.strip()
        if not text:
            continue
        level, is_item = _style(item, levels)
        if level:
            writer.heading(level, text)
        elif is_item:
            writer.item(text)
        else:
            writer.paragraph(text)
    return _facts(writer.result(), document.core_properties)


def _style(paragraph: Any, known: dict[str, tuple[int, bool]]) -> tuple[int, bool]:
    """The heading level of a paragraph (0 for none), and whether it is an item of a list."""
    style = paragraph.style
    properties = paragraph._p.pPr
    numbered = properties is not None and properties.numPr is not None
    name = (style.name or "") if style is not None else ""
    if name not in known:
        known[name] = (_level(style, name), name.lower().startswith("list"))
    level, is_item = known[name]
    return level, is_item or numbered


def _level(style: Any, name: str) -> int:
    match = _LEVEL.match(name)
    if match:
        return int(match[1]) or 1
    if name == "Title":
        return 1
    for _ in range(10):  # the outline level may stand in a style that this one is based on
        if style is None:
            return 0
        found = style.element.xpath("./w:pPr/w:outlineLvl/@w:val")
        if found:
            return int(found[0]) + 1 if found[0].isdigit() and int(found[0]) < 9 else 0
        style = style.base_style
    return 0


def _table_rows(table: Any) -> Iterator[list[str]]:
    for row in table.rows:
        cells: list[str] = []
        last = None
        for cell in row.cells:
            if cell._tc is not last:  # a merged cell is given once for each column it covers
                cells.append(cell.text)
            last = cell._tc
        yield cells


# --- PowerPoint -----------------------------------------------------------------------------------


def _pptx(data: bytes) -> Parsed:
    try:
        import pptx
    except ImportError:
        raise MissingExtraError("docs", "Reading PowerPoint files") from None
    presentation = pptx.Presentation(io.BytesIO(data))
    writer = Writer()
    for number, slide in enumerate(presentation.slides, 1):
        writer.page(number)
        title = slide.shapes.title
        heading = one_line(title.text_frame.text) if title is not None and title.has_text_frame else ""
        writer.heading(1, heading or f"Slide {number}")
        for shape in _shapes(slide.shapes):
            if title is not None and shape.shape_id == title.shape_id:
                continue
            if getattr(shape, "has_table", False):
                writer.table([cell.text for cell in row.cells] for row in shape.table.rows)
            elif shape.has_text_frame:
                for paragraph in shape.text_frame.paragraphs:
                    text = "".join(run.text for run in paragraph.runs).strip() or paragraph.text.strip()
                    if text:
                        writer.item(text) if paragraph.level else writer.paragraph(text)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            if notes:
                writer.paragraph(f"Notes: {notes}")
    return _facts(writer.result(), presentation.core_properties)


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """Shapes in order, those of groups included, without recursion."""
    stack = list(shapes)[::-1]
    while stack:
        shape = stack.pop()
        if hasattr(shape, "shapes"):
            stack += list(shape.shapes)[::-1]
        else:
            yield shape


# --- Excel ----------------------------------------------------------------------------------------


def _xlsx(data: bytes) -> Parsed:
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("docs", "Reading Excel files") from None
    workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    writer = Writer()
    try:
        for number, sheet in enumerate(workbook.worksheets, 1):
            if sheet.sheet_state != "visible":
                continue
            writer.page(number)
            writer.heading(1, one_line(sheet.title))
            writer.table(_sheet_rows(sheet))
        parsed = writer.result()
        parsed.title = ""
        return _facts(parsed, workbook.properties)
    finally:
        workbook.close()


def _sheet_rows(sheet: Any) -> Iterator[list[str]]:
    empty = 0
    for row in sheet.iter_rows(values_only=True):
        cells = [_cell(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            empty = 0
            yield cells
        else:
            empty += 1
            if empty > MAX_EMPTY_ROWS:
                return


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)
