"""Word files to text: what a reader of the document sees, in its order.

Content controls, text boxes, charts, footnotes, endnotes and comments are read where they stand; the text of a note or
comment follows the paragraph or table that refers to it. The numbers of headings and lists stand before them. Headers
come first and footers last, each once. What is not read: hidden and deleted runs, placeholders, a generated table of
contents, page numbers.
"""

from __future__ import annotations

import io
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from trivium.errors import MissingExtraError
from trivium.ingest.core_properties import with_properties
from trivium.ingest.parsed import Parsed, one_line
from trivium.ingest.raised import above, below
from trivium.ingest.read_chart import CHART, write_chart
from trivium.ingest.word_margins import margins_of, mark_page_numbers, without_page_numbers
from trivium.ingest.word_numbers import BULLET, Numbers
from trivium.ingest.word_styles import Styles
from trivium.ingest.word_tree import MC, MOST, M, R, W, boxes_in, flat, is_hidden, is_on, names, number_of, root_of
from trivium.ingest.writing import Writer

_P, _R, _T, _TABLE, _ROW, _CELL = (W + name for name in ("p", "r", "t", "tbl", "tr", "tc"))
_SIGNS = {W + "tab": "\t", W + "ptab": "\t", W + "cr": "\n", W + "noBreakHyphen": "-"}
_COMMENTS = "comments"
_NOTES = {W + "footnoteReference": "footnotes", W + "endnoteReference": "endnotes", W + "commentReference": _COMMENTS}
_DRAWN = names("drawing pict object") | {MC + "AlternateContent"}


def read_docx(data: bytes) -> Parsed:
    """The text of a `docx` file; raises errors of many kinds when it is damaged, MissingExtraError without `docs`."""
    try:
        import docx
    except ImportError:
        raise MissingExtraError("docs", "Reading Word files") from None
    package = docx.package.Package.open(io.BytesIO(data))
    reader = _Reader(package.main_document_part)
    reader.read()
    return with_properties(reader.writer.result(), package.core_properties)


class _Reader:
    """Reads one document into a writer."""

    def __init__(self, part: Any) -> None:
        self.writer = Writer()
        self._part = part
        self._styles = Styles(self._related("styles"))
        self._numbers = Numbers(self._related("numbering"), self._styles)
        self._notes: dict[str, dict[str, Any]] = {}
        self._marks: dict[tuple[str, str], str] = {}
        self._marked: Counter[str] = Counter()
        self._waiting: deque[tuple[str, Any]] = deque()
        self._charts: list[str] = []

    def read(self) -> None:
        self._margins("header")
        for body in root_of(self._part).iterchildren(W + "body"):
            self._blocks(body)
        self.writer.leave()
        self._margins("footer")

    def _related(self, kind: str) -> Any:
        """The root of a part that the document refers to; None if there is none."""
        for relation in self._part.rels.values():
            if not relation.is_external and relation.reltype.endswith("/" + kind):
                return root_of(relation.target_part)
        return None

    # --- paragraphs -------------------------------------------------------------------------------

    def _blocks(self, parent: Any) -> None:
        for block in flat(parent):
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
        level, mark = self._look(paragraph, text)
        if not text:
            return
        if level:
            self.writer.heading(level, text if mark == BULLET else mark + text)
        elif mark:
            self.writer.item(text, mark)
        else:
            self.writer.paragraph(text)

    def _look(self, paragraph: Any, text: str) -> tuple[int, str]:
        """The level of a heading, 0 for none, and what the program shows before the paragraph."""
        look = self._styles.look(paragraph)
        if not look.is_item or (not text and _is_gone(paragraph)):
            return look.level, ""
        return look.level, self._numbers.next(look) or ""

    def _text(self, paragraph: Any, boxes: list[Any]) -> str:
        """The text of a paragraph; the text boxes that are anchored in it are put into the list."""
        parts: list[str] = []
        for item in flat(paragraph):
            if item.tag == _R:
                if not is_hidden(item):
                    self._run(item, parts, boxes)
            elif item.tag in (M + "oMath", M + "oMathPara"):
                parts += [text.text or "" for text in item.iter(M + "t")]
        return "".join(parts)

    def _run(self, run: Any, parts: list[str], boxes: list[Any]) -> None:
        raised = run.find(f"{W}rPr/{W}vertAlign")
        set_ = _RAISED.get("" if raised is None else raised.get(W + "val", ""), str)
        for item in run:
            tag = item.tag
            if tag == _T:
                parts.append(set_(item.text or ""))
            elif tag in _SIGNS:
                parts.append(_SIGNS[tag])
            elif tag == W + "br":
                parts.append("\n" if item.get(W + "type", "textWrapping") == "textWrapping" else "")
            elif tag in _NOTES:
                parts.append(self._mark(_NOTES[tag], item.get(W + "id", "")))
            elif tag in _DRAWN:
                boxes.extend(boxes_in(item))
                self._charts += [chart.get(R + "id", "") for chart in item.iter(CHART)]

    # --- tables -----------------------------------------------------------------------------------

    def _rows(self, table: Any) -> Iterator[list[str]]:
        """The cells of each row; one that is merged with those below it is repeated in their rows."""
        above: dict[int, str] = {}
        for row in flat(table, _ROW):
            properties = row.find(W + "trPr")
            if properties is not None and properties.find(W + "del") is not None:
                continue
            column = number_of(properties, "gridBefore", 0)
            cells = [""] * column
            for cell in flat(row, _CELL):
                properties = cell.find(W + "tcPr")
                merged = None if properties is None else properties.find(W + "vMerge")
                if merged is None or merged.get(W + "val") == "restart":
                    above[column] = self._plain(cell)
                cells.append(above.get(column, ""))
                column = min(column + max(1, number_of(properties, "gridSpan", 1)), MOST)
            yield cells

    def _plain(self, parent: Any) -> str:
        """The text of what stands in a cell, a note or a text box, without its structure."""
        lines: list[str] = []
        for block in flat(parent):
            if block.tag == _TABLE:
                lines += [" | ".join(cells) for cells in self._rows(block)]
            elif block.tag == _P:
                boxes: list[Any] = []
                text = self._text(block, boxes).strip()
                mark = self._look(block, text)[1]
                lines.append(text if mark == BULLET else (mark + text).strip())
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
            self._notes[kind] = {} if root is None else {note.get(W + "id", ""): note for note in root}
        note = self._notes[kind].get(id_)
        if note is None:
            mark = ""
        elif kind == _COMMENTS:
            mark = ""
            author = one_line(note.get(W + "author", ""))
            self._waiting.append((f"[Comment by {author}]" if author else "[Comment]", note))
        else:
            self._marked[kind] += 1
            number = self._marked[kind]
            mark = f"[{number if kind == 'footnotes' else f'note {number}'}]"
            self._waiting.append((mark, note))
        self._marks[kind, id_] = mark
        return mark

    def _end_notes(self) -> None:
        charts, self._charts = self._charts, []
        for id_ in charts:
            relation = self._part.rels[id_] if id_ in self._part.rels else None  # noqa: SIM401 - as python-pptx's
            if relation is not None and not relation.is_external:
                write_chart(self.writer, relation.target_part.blob)
        while self._waiting:
            mark, note = self._waiting.popleft()
            with self._numbers.apart():
                text = self._plain(note)
            if text:
                self.writer.paragraph(f"{mark} {text}")

    # --- margins ----------------------------------------------------------------------------------

    def _margins(self, kind: str) -> None:
        """The headers or footers of all sections, each once, without the numbers of pages."""
        written: set[str] = set()
        for part in margins_of(self._part, self._related("settings"), kind):
            root = root_of(part)
            mark_page_numbers(root)
            with self._numbers.apart():
                text = without_page_numbers(self._plain(root))
            if text and text not in written:
                written.add(text)
                self.writer.paragraph(f"{kind.capitalize()}: {text}")
            self._end_notes()


_RAISED = {"superscript": above, "subscript": below}


def _is_gone(paragraph: Any) -> bool:
    """Whether the end of a paragraph is deleted or hidden, so that without a text it is not there."""
    found = paragraph.find(f"{W}pPr/{W}rPr")
    return found is not None and (found.find(W + "del") is not None or is_on(found.find(W + "vanish")))
