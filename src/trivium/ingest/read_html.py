"""HTML to text: what a reader of the page would see, with its headings, lists and tables."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from trivium.errors import MissingExtraError
from trivium.ingest.dates import as_date
from trivium.ingest.decoding import decode, decode_declared
from trivium.ingest.html_numbers import ListNumbers
from trivium.ingest.mathml import formula
from trivium.ingest.parsed import CODE, LIST, TABLE, TEXT, Parsed, Unreadable, header_row, one_line
from trivium.ingest.raised import above, below
from trivium.ingest.spans import Spans
from trivium.ingest.writing import Writer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNSEEN = _words(
    "script style noscript template head iframe svg math object embed applet canvas audio video map select datalist"
    " option button input textarea frame frameset noframes del"
)
_LISTS = ("ul", "ol", "menu", "dir")
_BLOCK = _words(
    "p div section article main header footer aside nav address blockquote figure figcaption details summary dl dt dd"
    " form fieldset hr center body html dialog legend hgroup search thead tbody tfoot caption"
)
_SPACE = re.compile(r"\s+")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?<![\w-])opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)"
    r"|font-size\s*:\s*0(?![.\d]*[1-9])|(?:text-indent|(?<![\w-])(?:left|top))\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_LONGEST_STYLE = 4_000
"""Characters of a style that comments are taken out of."""
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_DATE_NAMES = ("article:modified_time", "article:published_time", "last-modified", "date", "dc.date", "dcterms.date")
_MAX_NODES = 5_000_000
_MAX_DEPTH = 10_000
"""Elements within elements; the parser's time grows with the square of it."""
_MAX_ATTRIBUTES = 1_000
_IS_XML = re.compile(r"<\?xml\b|<html\b[^>]{0,500}?xmlns\s*=|-//W3C//DTD XHTML", re.IGNORECASE)
_CLOSED = re.compile(
    r"<(script|style|title|textarea|iframe|noscript|a|div|span|p|td|th|li|i|b|em|strong)\b((?:[^<>\"']|\"[^\"]*\"|'[^']*')*?)/>",
    re.IGNORECASE,
)
"""An element that XHTML closes at once: HTML would take all that follows for its contents."""
_END = re.compile(r"[<>]")
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_BETWEEN = re.compile(r"[\s/=]+")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,40})")
_CLOSED_BY_OTHERS = _words(
    "p li td th tr thead tbody tfoot dt dd option optgroup colgroup rt rp html head body"
    " area base br col embed hr img input link meta source track wbr"
)
"""Elements that need no end tag."""


def read_html(data: bytes, charset: str | None = None) -> Parsed:
    """The visible text of a page. Scripts, styles, comments and hidden elements give nothing.

    `charset` is the encoding that a message declares for it; else the page says it, or it is guessed.

    Raises: Unreadable; MissingExtraError without the extra `docs`.
    """
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError:
        raise MissingExtraError("docs", "Reading HTML") from None
    text, note = _decoded(data, charset)
    if _is_too_deep(text):
        raise Unreadable(f"its elements are nested more than {_MAX_DEPTH:,} deep")
    if _IS_XML.search(text, 0, 2_000):
        text = _CLOSED.sub(r"<\1\2></\1>", text)
    try:
        tree = LexborHTMLParser(_bounded_tags(text))
    except Exception as error:
        raise Unreadable(f"the HTML cannot be parsed ({error})") from None
    page = _Page()
    if tree.root is not None:
        _walk(tree.root, page)
    parsed = page.result()
    parsed.notes = [note] if note else []
    title = tree.css_first("head > title")
    if title is not None:
        parsed.title = one_line(title.text() or "") or parsed.title
    parsed.dated = _date(tree)
    return parsed


def _is_too_deep(text: str) -> bool:
    if text.count("<") <= _MAX_DEPTH:
        return False
    depth = 0
    open_: Counter[str] = Counter()
    for match in _TAG.finditer(text):
        name = match[2].lower()
        if name in _CLOSED_BY_OTHERS:
            continue
        if not match[1]:
            open_[name] += 1
            depth += 1
            if depth > _MAX_DEPTH:
                return True
        elif open_[name]:  # an end tag of what is not open closes nothing
            open_[name] -= 1
            depth -= 1
    return False


def _bounded_tags(text: str) -> str:
    """The page without the attributes of tags that have absurdly many; the parser's time grows with their square."""
    parts: list[str] = []
    at = kept = 0
    while (start := text.find("<", at)) >= 0:
        end = _END.search(text, start + 1)  # also at the next "<": in a script a sign is no tag
        stop = end.start() if end else len(text)
        if stop - start > 2 * _MAX_ATTRIBUTES:
            inside = _QUOTED.sub("=", text[start:stop])
            if len(_BETWEEN.findall(inside)) > _MAX_ATTRIBUTES and (name := _TAG.match(inside)):
                parts.append(text[kept:start] + name[0])
                kept = stop
        at = stop
    return "".join([*parts, text[kept:]]) if parts else text


def _decoded(data: bytes, charset: str | None) -> tuple[str, str | None]:
    declared = _META.search(data, 0, 4_096)
    if (declared or charset) and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        name = charset or (declared[1].decode("ascii").lower() if declared else "")
        if name not in ("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be"):
            text = decode_declared(data, name)
            if text is not None:
                return text, None
    return decode(data)


def _date(tree: Any) -> str | None:
    found: dict[str, str] = {}
    for node in tree.css("meta")[:200]:
        attributes = node.attributes
        name = (attributes.get("property") or attributes.get("name") or "").lower()
        if name in _DATE_NAMES:
            found.setdefault(name, attributes.get("content") or "")
    return next((date for name in _DATE_NAMES if (date := as_date(found.get(name)))), None)


def _walk(root: Any, page: _Page) -> None:
    """All nodes in document order, without recursion: pages may be nested as deeply as they like."""
    node, count = root, 0
    path: list[tuple[Any, str]] = []
    while node is not None:
        count += 1
        if count > _MAX_NODES:
            raise Unreadable("the page has too many elements")
        tag = node.tag
        child = None
        if node.is_text_node:
            page.add(node.text_content or "")
        elif tag == "math" and not _is_hidden(node):
            page.add(formula(node))
        elif node.is_element_node and tag not in _UNSEEN and not _is_hidden(node):
            page.open(tag, node)
            child = node.first_child
            if child is None:
                page.close(tag)
            else:
                path.append((node, tag))
        elif node.is_document_node:
            child = node.first_child
            if child is not None:
                path.append((node, ""))
        if child is not None:
            node = child
            continue
        while node.next is None and path:
            node, tag = path.pop()
            page.close(tag)
        if node.next is None:
            return
        node = node.next


def _is_hidden(node: Any) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = attributes.get("style")
    if not style:
        return False
    if "/*" in style and len(style) <= _LONGEST_STYLE:
        style = _CSS_COMMENT.sub("", style)
    return _HIDING.search(style) is not None


class _Page:
    """Gathers the text and its blocks: one line for a paragraph, a list item, or a row of a table."""

    def __init__(self) -> None:
        self._text = Writer()
        self._line: list[str] = []
        self._title = ""
        self._group = 0  # where the outermost list or table that is open began
        self._rows: list[int] = []
        self._lists = 0
        self._tables = 0
        self._cells = 0
        self._cell = 0
        self._pre = 0
        self._prefix = ""
        self._numbers = ListNumbers()
        self._raised: list[int] = []
        self._spans = Spans()

    def add(self, text: str) -> None:
        if self._pre:
            self._line.append(text)
            return
        folded = _SPACE.sub(" ", text.replace("\u200b", "").replace("\ufeff", ""))
        if folded and (folded != " " or self._line):
            self._line.append(folded)

    def open(self, tag: str, node: Any) -> None:
        if tag == "br":
            self._line.append("\n")
        elif tag == "img":
            self.add(f" {node.attributes.get('alt') or ''} ")
        elif tag in _RAISED:
            self._raised.append(len(self._line))
        elif tag in ("td", "th"):
            self._begin_cell(node)
        elif tag == "tr":
            self._end_line()
            self._cells = 0
            self._spans.begin_row()
            self._mark_row(self._tables == 1 and not self._lists)
        elif tag == "table":
            self._break()
            self._tables += 1
            if self._tables == 1:
                self._spans = Spans()
            self._begin_group(self._tables == 1 and not self._lists)
        elif tag in _LISTS:
            self._break()
            self._lists += 1
            self._numbers.begin(tag, node)
            self._begin_group(self._lists == 1 and not self._tables)
        elif tag == "li":
            self._break()
            self._mark_row(self._lists == 1 and not self._tables)
            self._begin_item(self._numbers.next(node))
        elif tag == "pre":
            self._break()
            self._pre += 1
        elif tag in _HEADINGS or tag in _BLOCK:
            self._break()

    def close(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._break(_HEADINGS[tag])
        elif tag in _RAISED and self._raised:
            start = self._raised.pop()
            self._line[start:] = [_RAISED[tag]("".join(self._line[start:]))]
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag == "tr":
            if self._tables == 1:
                self._add_cells(self._spans.rest())
            self._end_line()
            self._cells = 0
        elif tag == "table" and self._tables:
            self._end_line()
            self._tables -= 1
            self._end_group(TABLE, self._tables == 0 and not self._lists)
        elif tag in _LISTS and self._lists:
            self._break()
            self._lists -= 1
            self._numbers.end()
            self._end_group(LIST, self._lists == 0 and not self._tables)
        elif tag == "pre" and self._pre:
            self._break(kind=CODE)
            self._pre -= 1
        elif tag in _BLOCK or tag == "li":
            self._break()

    def _begin_item(self, mark: str) -> None:
        """An item has its mark before it; in a cell only the number of a numbered one."""
        if not (self._tables and self._cells):
            self._prefix = "  " * min(max(self._lists - 1, 0), 8) + f"{mark or '-'} "
        elif mark:
            self.add(f"{mark} ")

    def _begin_cell(self, node: Any) -> None:
        if self._tables == 1:
            attributes = node.attributes
            self._add_cells(self._spans.begin(attributes.get("colspan"), attributes.get("rowspan")))
        if self._cells:
            self._line.append(" | ")
        self._cells += 1
        self._cell = len(self._line)

    def _end_cell(self) -> None:
        if self._tables == 1:
            self._add_cells(self._spans.end(_SPACE.sub(" ", "".join(self._line[self._cell :])).strip()))

    def _add_cells(self, texts: list[str]) -> None:
        """Cells of a row that stand in the page once for several columns or rows."""
        for text in texts:
            self._line.append(f" | {text}" if self._cells else text)
            self._cells += 1

    def _begin_group(self, outermost: bool) -> None:
        if outermost:
            self._text.blank()
            self._group, self._rows = self._text.size, []

    def _mark_row(self, outermost: bool) -> None:
        if outermost and (not self._rows or self._rows[-1] < self._text.size):
            self._rows.append(self._text.size)

    def _end_group(self, kind: str, outermost: bool) -> None:
        if not outermost or self._text.size <= self._group:
            return
        rows = tuple(row for row in self._rows if row < self._text.size)
        header = ""
        if kind == TABLE and len(rows) > 1:
            header = header_row(self._text.since(rows[0]).split("\n", 1)[0])
        rows = rows[1:] if header else rows
        self._text.close(kind, self._group, rows, header)
        self._text.blank()

    def _break(self, level: int = 0, kind: str = TEXT) -> None:
        """A block begins or ends: so does a line, but not inside a row of a table."""
        if self._tables and self._cells:
            if self._line:
                self._line.append(" ")
        else:
            self._end_line(level, kind)

    def _end_line(self, level: int = 0, kind: str = TEXT) -> None:
        text = "".join(self._line)
        self._line = []
        text = text.strip("\n").rstrip() if self._pre else _plain_lines(text)
        if not text.strip():
            return
        grouped = bool(self._lists or self._tables)
        if self._tables:
            text = _SPACE.sub(" ", text)
        if level and not grouped:
            self._text.heading(level, text)
            if level == 1:
                self._title = self._title or one_line(text)
            return
        if not grouped:
            self._text.blank()
        start = self._text.size
        self._text.put(self._prefix + text + "\n")
        self._prefix = ""
        if not grouped:
            self._text.close(kind, start)

    def result(self) -> Parsed:
        self._cells = self._tables = self._lists = 0
        self._end_line()
        parsed = self._text.result()
        parsed.title = self._title
        return parsed


_RAISED = {"sup": above, "sub": below}


def _plain_lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n")).strip()
