"""Word files to text: what a reader of the document sees, in its order.

Content controls, text boxes, footnotes and endnotes are read where they stand; the text of a note follows the paragraph
or table that refers to it. What is not read: hidden and deleted runs, placeholders, a generated table of contents,
comments, headers and footers.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from trivium.errors import MissingExtraError
from trivium.ingest.parsed import Parsed
from trivium.ingest.read_office import facts
from trivium.ingest.writing import Writer

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"


def _names(text: str) -> frozenset[str]:
    return frozenset(_W + name for name in text.split())


_P, _R, _T, _TABLE, _ROW, _CELL, _SDT, _BOX = (
    _W + name for name in ("p", "r", "t", "tbl", "tr", "tc", "sdt", "txbxContent")
)
_AROUND = _names("sdtContent customXml ins moveTo hyperlink smartTag fldSimple dir bdo")
"""Elements whose content is read as if it stood in their place."""
_SIGNS = {_W + "tab": "\t", _W + "ptab": "\t", _W + "cr": "\n", _W + "noBreakHyphen": "-"}
_NOTES = {_W + "footnoteReference": "footnotes", _W + "endnoteReference": "endnotes"}
_DRAWN = _names("drawing pict object") | {_MC + "AlternateContent"}
_OFF = ("0", "false", "off")
_LEVEL = re.compile(r"(?:heading|überschrift|titre|título|titolo|标题|見出し)\s*(\d)", re.IGNORECASE)
_MOST_COLUMNS = 1_000


def read_docx(data: bytes) -> Parsed:
    """The text of a `docx` file; raises errors of many kinds when it is damaged, MissingExtraError without `docs`."""
    try:
        import docx
    except ImportError:
        raise MissingExtraError("docs", "Reading Word files") from None
    package = docx.package.Package.open(io.BytesIO(data))
    reader = _Reader(package.main_document_part)
    reader.read()
    return facts(reader.writer.result(), package.core_properties)


class _Reader:
    """Reads one document into a writer."""

    def __init__(self, part: Any) -> None:
        self.writer = Writer()
        self._part = part
        self._styles = _styles(self._related("styles"))
        self._levels: dict[str, tuple[int, bool]] = {}
        self._notes: dict[str, dict[str, Any]] = {}
        self._marks: dict[tuple[str, str], str] = {}
        self._waiting: list[tuple[str, Any]] = []

    def read(self) -> None:
        for body in _root(self._part).iterchildren(_W + "body"):
            self._blocks(body)

    def _related(self, kind: str) -> Any:
        """The root of a part that the document refers to; None if there is none."""
        for relation in self._part.rels.values():
            if not relation.is_external and relation.reltype.endswith("/" + kind):
                return _root(relation.target_part)
        return None

    # --- paragraphs -------------------------------------------------------------------------------

    def _blocks(self, parent: Any) -> None:
        for block in _flat(parent):
            if block.tag == _TABLE:
                self.writer.table(self._rows(block))
            elif block.tag == _P:
                boxes: list[Any] = []
                self._paragraph(block, boxes)
                for box in boxes:
                    self._blocks(box)
            self._end_notes()

    def _paragraph(self, paragraph: Any, boxes: list[Any]) -> None:
        text = self._text(paragraph, boxes).strip()
        if not text:
            return
        level, is_item = self._style(paragraph)
        if level:
            self.writer.heading(level, text)
        elif is_item:
            self.writer.item(text)
        else:
            self.writer.paragraph(text)

    def _text(self, paragraph: Any, boxes: list[Any]) -> str:
        """The text of a paragraph; the text boxes that are anchored in it are put into the list."""
        parts: list[str] = []
        for item in _flat(paragraph):
            if item.tag == _R:
                if not _is_hidden(item):
                    self._run(item, parts, boxes)
            elif item.tag in (_M + "oMath", _M + "oMathPara"):
                parts += [text.text or "" for text in item.iter(_M + "t")]
        return "".join(parts)

    def _run(self, run: Any, parts: list[str], boxes: list[Any]) -> None:
        for item in run:
            tag = item.tag
            if tag == _T:
                parts.append(item.text or "")
            elif tag in _SIGNS:
                parts.append(_SIGNS[tag])
            elif tag == _W + "br":
                parts.append("\n" if item.get(_W + "type", "textWrapping") == "textWrapping" else "")
            elif tag in _NOTES:
                parts.append(self._mark(_NOTES[tag], item.get(_W + "id", "")))
            elif tag in _DRAWN:
                boxes.extend(_boxes(item))

    def _style(self, paragraph: Any) -> tuple[int, bool]:
        """The heading level of a paragraph (0 for none), and whether it is an item of a list."""
        properties = paragraph.find(_W + "pPr")
        if properties is None:
            return 0, False
        named = properties.find(_W + "pStyle")
        id_ = "" if named is None else named.get(_W + "val", "")
        if id_ not in self._levels:
            self._levels[id_] = self._of_style(id_)
        level, is_item = self._levels[id_]
        own = _outline(properties)
        return level if own is None else own, is_item or properties.find(_W + "numPr") is not None

    def _of_style(self, id_: str) -> tuple[int, bool]:
        name, outline, base = self._styles.get(id_, ("", None, ""))
        is_item = name.lower().startswith("list")
        match = _LEVEL.match(name)
        if match:
            return int(match[1]) or 1, is_item
        if name == "Title":
            return 1, is_item
        for _ in range(10):  # the outline level may stand in a style that this one is based on
            if outline is not None or not base:
                break
            _, outline, base = self._styles.get(base, ("", None, ""))
        return outline or 0, is_item

    # --- tables -----------------------------------------------------------------------------------

    def _rows(self, table: Any) -> Iterator[list[str]]:
        """The cells of each row; one that is merged with those below it is repeated in their rows."""
        above: dict[int, str] = {}
        for row in _flat(table, _ROW):
            properties = row.find(_W + "trPr")
            if properties is not None and properties.find(_W + "del") is not None:
                continue
            column = _number(properties, "gridBefore", 0)
            cells = [""] * column
            for cell in _flat(row, _CELL):
                properties = cell.find(_W + "tcPr")
                merged = None if properties is None else properties.find(_W + "vMerge")
                if merged is None or merged.get(_W + "val") == "restart":
                    above[column] = self._plain(cell)
                cells.append(above.get(column, ""))
                column = min(column + max(1, _number(properties, "gridSpan", 1)), _MOST_COLUMNS)
            yield cells

    def _plain(self, parent: Any) -> str:
        """The text of what stands in a cell, a note or a text box, without its structure."""
        lines: list[str] = []
        for block in _flat(parent):
            if block.tag == _TABLE:
                lines += [" | ".join(cells) for cells in self._rows(block)]
            elif block.tag == _P:
                boxes: list[Any] = []
                lines.append(self._text(block, boxes).strip())
                lines += map(self._plain, boxes)
        return "\n".join(filter(None, lines))

    # --- notes ------------------------------------------------------------------------------------

    def _mark(self, kind: str, id_: str) -> str:
        """What stands where a note is referred to; the note waits for the end of the paragraph or table."""
        known = self._marks.get((kind, id_))
        if known is not None:
            return known
        if kind not in self._notes:
            root = self._related(kind)
            self._notes[kind] = {} if root is None else {note.get(_W + "id", ""): note for note in root}
        note = self._notes[kind].get(id_)
        number = sum(1 for (other, _), mark in self._marks.items() if other == kind and mark) + 1
        mark = "" if note is None else f"[{number if kind == 'footnotes' else f'note {number}'}]"
        self._marks[kind, id_] = mark
        if note is not None:
            self._waiting.append((mark, note))
        return mark

    def _end_notes(self) -> None:
        while self._waiting:
            mark, note = self._waiting.pop(0)
            text = self._plain(note)
            if text:
                self.writer.paragraph(f"{mark} {text}")


# --- the tree -------------------------------------------------------------------------------------


def _root(part: Any) -> Any:
    """The root element of a part of the package."""
    from docx.oxml.parser import parse_xml

    found = getattr(part, "element", None)
    return parse_xml(part.blob) if found is None else found


def _flat(parent: Any, tag: str | None = None) -> Iterator[Any]:
    """The elements in a parent, those in content controls, insertions and the like included; only `tag`, if given."""
    stack = [iter(parent)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif item.tag == _SDT:
            if not _is_generated(item):
                stack.append(iter(item))
        elif item.tag in _AROUND:
            stack.append(iter(item))
        elif item.tag == _MC + "AlternateContent":
            stack.append(iter(_chosen(item)))
        elif tag is None or item.tag == tag:
            yield item


def _chosen(alternatives: Any) -> Iterable[Any]:
    """The content of the first alternative; the others say the same for older programs."""
    return next(iter(alternatives), ())


def _boxes(drawn: Any) -> Iterator[Any]:
    """The outermost text boxes of a drawing."""
    stack = [drawn]
    while stack:
        item = stack.pop()
        if item.tag == _BOX:
            yield item
        elif item.tag == _MC + "AlternateContent":
            stack += reversed(list(_chosen(item)))
        else:
            stack += reversed(list(item))


def _is_generated(control: Any) -> bool:
    """Whether a content control shows a placeholder, or a table of contents."""
    properties = control.find(_W + "sdtPr")
    if properties is None:
        return False
    if _is_on(properties.find(_W + "showingPlcHdr")):
        return True
    return any(item.get(_W + "val") == "Table of Contents" for item in properties.iter(_W + "docPartGallery"))


def _is_hidden(run: Any) -> bool:
    properties = run.find(_W + "rPr")
    return properties is not None and _is_on(properties.find(_W + "vanish"))


def _is_on(switch: Any) -> bool:
    return switch is not None and switch.get(_W + "val", "1") not in _OFF


def _number(properties: Any, name: str, default: int) -> int:
    found = None if properties is None else properties.find(_W + name)
    text = "" if found is None else found.get(_W + "val", "")
    return min(int(text), _MOST_COLUMNS) if text.isascii() and text.isdigit() and len(text) < 10 else default


def _outline(properties: Any) -> int | None:
    """The heading level that properties of a paragraph or style give: 0 for running text, None if they say nothing."""
    found = properties.find(_W + "outlineLvl")
    text = "" if found is None else found.get(_W + "val", "")
    return (int(text) + 1) % 10 if len(text) == 1 and text.isascii() and text.isdigit() else None


def _styles(root: Any) -> dict[str, tuple[str, int | None, str]]:
    """Name, outline level and base of each style."""
    found: dict[str, tuple[str, int | None, str]] = {}
    for style in () if root is None else root.iterchildren(_W + "style"):
        name, base, properties = (style.find(_W + tag) for tag in ("name", "basedOn", "pPr"))
        found[style.get(_W + "styleId", "")] = (
            "" if name is None else name.get(_W + "val", ""),
            None if properties is None else _outline(properties),
            "" if base is None else base.get(_W + "val", ""),
        )
    return found
