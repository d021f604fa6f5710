"""PDF to text, page by page, with headings by bookmarks or by the size of the letters."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from msgspec import Struct

from trivium.errors import MissingExtraError
from trivium.ingest.dates import as_date
from trivium.ingest.parsed import Parsed, Unreadable, one_line
from trivium.ingest.pdf_forms import filled_in, open_form
from trivium.ingest.writing import Writer

MAX_PAGES = 20_000
MAX_BOOKMARKS = 5_000
LARGER = 1.12
"""How many times the size of the running text a heading's letters have."""
_LONGEST_HEADING = 120
_BROKEN_WORD = re.compile("[\x02\ufffe\u00ad]\\s*\\n\\s*")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")


class _Line(Struct):
    text: str
    size: float


def read_pdf(data: bytes) -> Parsed:
    """The text of a PDF. Raises: Unreadable, also for one without text; MissingExtraError without the extra `docs`."""
    try:
        import pypdfium2  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("docs", "Reading PDF files") from None
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable("the PDF is encrypted; save it without its password") from None
        raise Unreadable(f"the PDF is damaged ({error})") from None
    try:
        return _read(document)
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"the PDF is damaged ({error})") from None
    finally:
        document.close()


def _read(document: Any) -> Parsed:
    pages: list[list[_Line]] = []
    broken = 0
    count = min(len(document), MAX_PAGES)
    form = open_form(document)
    for number in range(count):
        try:
            pages.append(_page_lines(document, number, form))
        except Exception:  # one page that PDFium refuses does not make the others unreadable
            pages.append([])
            broken += 1
    if not any(pages):
        why = "its pages are damaged" if broken else "it holds pictures only, which would need OCR"
        raise Unreadable(f"there is no text in the PDF: {why}")
    parsed = _written(pages, _bookmarks(document))
    if broken:
        parsed.notes = [f"{broken} of {count} pages are damaged and were left out"]
    if len(document) > MAX_PAGES:
        parsed.notes = [*parsed.notes, f"only the first {MAX_PAGES:,} pages were read"]
    facts = document.get_metadata_dict(skip_empty=True)
    title = one_line(_CONTROLS.sub("", facts.get("Title", "")))
    parsed.title = title or parsed.title
    parsed.dated = _date(facts.get("ModDate")) or _date(facts.get("CreationDate"))
    return parsed


def _date(text: str | None) -> str | None:
    match = _DATE.match(text or "")
    return as_date(f"{match[1]}-{match[2] or '01'}-{match[3] or '01'}") if match else None


def _page_lines(document: Any, number: int, form: Any) -> list[_Line]:
    """The lines of a page with the size of their letters, then what is filled in on it."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    page = document[number]
    try:
        text_page = page.get_textpage()
        try:
            found: list[_Line] = []
            text = text_page.get_text_range(errors="replace")
            wide = len(text) != text_page.count_chars()
            at = 0
            for line in text.split("\n"):
                shown = line.rstrip("\r").strip()
                if shown:
                    first = at + len(line) - len(line.lstrip())
                    size = 0.0 if wide else float(pdfium.FPDFText_GetFontSize(text_page, first))
                    found.append(_Line(shown, size))
                at += len(line) + 1
            if form is not None:
                found += [_Line(line, 0.0) for line in filled_in(page, form)]
            return found
        finally:
            text_page.close()
    finally:
        page.close()


def _bookmarks(document: Any) -> dict[int, list[tuple[int, str]]]:
    """Level and title of the bookmarks of each page."""
    found: dict[int, list[tuple[int, str]]] = {}
    try:
        for count, item in enumerate(document.get_toc(max_depth=8)):
            if count >= MAX_BOOKMARKS:
                break
            destination = item.get_dest()
            title = one_line(item.get_title() or "")
            if destination is not None and title:
                found.setdefault(destination.get_index(), []).append((item.level + 1, title))
    except Exception:  # bookmarks that cannot be read are done without
        return {}
    return found


def _written(pages: list[list[_Line]], bookmarks: dict[int, list[tuple[int, str]]]) -> Parsed:
    sizes: Counter[float] = Counter()
    widths: Counter[int] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size, 1)] += len(line.text)
            widths[len(line.text)] += 1
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    larger = sorted({size for size in sizes if body and size >= body * LARGER}, reverse=True)
    levels = {size: level for level, size in enumerate(larger, 1)} if not bookmarks else {}
    full = _usual_width(widths)
    writer = Writer()
    for number, lines in enumerate(pages):
        writer.page(number + 1)
        _write_page(writer, lines, bookmarks.get(number, []), levels, full)
    return writer.result()


def _usual_width(widths: Counter[int]) -> int:
    """The length that nine of ten lines stay below."""
    total = sum(widths.values())
    seen = 0
    for width in sorted(widths):
        seen += widths[width]
        if seen * 10 >= total * 9:
            return width
    return 0


def _write_page(
    writer: Writer, lines: list[_Line], marks: list[tuple[int, str]], levels: dict[float, int], full: int
) -> None:
    """A page's headings and paragraphs. A paragraph ends at a full stop in a line that is not full, or at a heading."""
    waiting = {_key(title): (level, title) for level, title in marks}
    unplaced = dict(waiting)
    for line in lines:
        unplaced.pop(_key(line.text), None)
    for level, title in unplaced.values():  # bookmarks whose words do not stand on the page as they are
        writer.section(level, title)
    paragraph: list[str] = []
    for index, line in enumerate(lines):
        mark = waiting.pop(_key(line.text), None)
        level = mark[0] if mark else levels.get(round(line.size, 1), 0)
        if level and (mark or _may_head(line.text)):
            _end(writer, paragraph)
            if not mark and index and levels.get(round(lines[index - 1].size, 1), 0) == level:
                writer.continue_heading(level, line.text)
            else:
                writer.heading(level, line.text)
            continue
        paragraph.append(line.text)
        if line.text[-1] in ".!?:;。！？：；" and len(line.text) < 0.8 * full:
            _end(writer, paragraph)
    _end(writer, paragraph)


def _end(writer: Writer, paragraph: list[str]) -> None:
    if paragraph:
        text = _BROKEN_WORD.sub("", "\n".join(paragraph))
        writer.paragraph(_CONTROLS.sub("", text))
        paragraph.clear()


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _may_head(text: str) -> bool:
    return len(text) <= _LONGEST_HEADING and any(map(str.isalpha, text)) and text[-1] not in ".,;"
