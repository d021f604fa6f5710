"""What a record declares of itself: status, date and supersession, in the forms that records use (reference 4, 4.1).

Front matter comes first, then lines `Key: value` and small tables above the first section, then such lines below,
then a section headed Status, then other small tables, then quotes above the first section. A value that is found
stays; it is kept as written, without emphasis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from trivium.code.front_matter import text_of, texts_of
from trivium.why.dates import looks_like_date
from trivium.why.html_text import without_struck
from trivium.why.inline import plain_text
from trivium.why.markdown import HTML, LIST, PARAGRAPH, QUOTE, TABLE
from trivium.why.source import DocumentSource, Line
from trivium.why.supersession import (
    MAX_TEXT,
    Supersession,
    begins_with_phrase,
    direction_of,
    leads_on,
    names_successor,
    read_continued,
    read_front_targets,
    read_supersession,
    read_targets,
)
from trivium.why.wording import alternation, begins_with_status, normal, words

Kind: TypeAlias = Literal["status", "state", "date", "created", "title", "supersedes", "superseded-by"]

HEAD_LINES = 40
_STATUSES: tuple[Kind, ...] = ("status", "state")
_DATES: tuple[Kind, ...] = ("date", "created")
_BELOW = (*_STATUSES, *_DATES)
"""Kinds whose value may stand below the label."""

_KEY = re.compile(r"[\W_]*([^\W\d_][^:：\n]{0,48}?)[\s*_]*[:：]+(?!/)[\s*_]*(.*)", re.DOTALL)
_DASH_KEY = re.compile(r"[\W_]*([^\W\d_][^:：\n]{0,48}?)\s+[-–—=]+>?\s+(\S.*)", re.DOTALL)
_BOLD_KEY = re.compile(r"[\s>*+-]*(?:\*\*|__)\s*([^*_:：\n]{1,48}?)\s*(?:\*\*|__)\s+(\S.*)", re.DOTALL)
_CELLS = re.compile(r"\s*\|\s*([^|\n]{1,48}?)\s*\|\s*([^|\n]{1,1024}?)\s*\|\s*")
_LABEL = re.compile(r"\s*(?:\*\*|__|<b>|<strong>)[^*_<>\n]{1,48}(?:\*\*|__|</b>|</strong>)\s*[:：]?\s*")
_PARTING = "|·•‖"
_PARTED = re.compile(r"<br|\S\s*[;,]?\s(?:\*\*|__)[^\s*_]", re.IGNORECASE)
_MAYBE_PARTED = ("**", "__", "<b", "<B")
_LEADING = re.compile(r"(?:[\s*_~`:：]|</?[A-Za-z][^<>]{0,80}>)+")
_STRAY = re.compile(r"\*\*+|~~+|(?<![^\W_])__+|__+(?![^\W_])")
_EDGES = " \t*_~"
_BOX = re.compile(r"\[([ xX*✓✔])\](?![\[(:])|([☐☑☒])")
_UNTICKED = (" ", "☐")
_STATUS_HEADING = re.compile(
    r"(?:\d+(?:\.\d+)*[.)]?\s+)?(?P<key>[^:：]{1,48}?)\s*(?:[:：]\s*(?P<value>.*))?", re.DOTALL
)


_SHORTCODE = re.compile(r":[a-z0-9_+-]{1,40}:", re.ASCII)
_SIGNS = re.compile(r"^[\W_]+|[\W_]+$")


class Metadata(Struct):
    """What a record declares of itself; supersession as written."""

    status: str | None = None
    status_line: int = 1
    date: str | None = None
    date_line: int = 1
    title: str | None = None
    title_line: int = 0
    """Where a line `Title: …` stands; 0 for one of another label."""
    supersession: Supersession = field(default_factory=Supersession)
    beside: dict[str, int] = field(default_factory=dict)
    """Targets of the supersession that a file beside the document states, with the line there."""


class _Keyed(NamedTuple):
    """A key with its value, as written and as a reader sees it."""

    kind: Kind
    label: str
    raw: str
    plain: str


def read_metadata(source: DocumentSource, last: int | None = None) -> Metadata:
    """Status, date, supersession and the title that a line states (4.1), of a document or of its lines up to `last`."""
    end = source.parsed.last_line if last is None else last
    reader = _Metadata(source, 1, end, min(source.parsed.front.lines + HEAD_LINES, end))
    reader.from_front_matter()
    return reader.read()


def read_section_metadata(source: DocumentSource, first: int, last: int) -> Metadata:
    """The same of a section, whose heading is line `first`."""
    return _Metadata(source, first, last, min(first + HEAD_LINES, last)).read()


class _Metadata:
    """Reads lines `first` to `last`; keys, tables and quotes up to `head` only."""

    def __init__(self, source: DocumentSource, first: int, last: int, head: int) -> None:
        self._source = source
        self._references = source.parsed.references
        self._first, self._last, self._head = first, last, head
        self._created: tuple[str, int] | None = None
        self._found = Metadata()

    def read(self) -> Metadata:
        above = self._above_sections()
        lines = list(self._source.text_lines(self._first, self._head))
        self._from_lines([line for line in lines if line.number <= above])
        self._from_tables(self._first, above)
        self._from_lines([line for line in lines if line.number > above])
        self._from_section()
        self._from_date_section()
        self._from_supersession_sections()
        self._from_tables(above + 1, self._head)
        self._from_quotes()
        if self._found.date is None and self._created is not None:
            self._found.date, self._found.date_line = self._created
        return self._found

    def from_front_matter(self) -> None:
        beside = self._source.beside
        for key, value in self._source.front.items():
            line = self._source.front_lines.get(key, 1)
            kind = kind_of(key)
            if kind == "supersedes" or kind == "superseded-by":
                targets = read_front_targets(value, self._references)
                self._found.supersession.add(targets, kind == "supersedes", line)
                if beside is not None and key in beside.values:
                    self._found.beside.update(dict.fromkeys(targets, beside.lines.get(key, 1)))
            elif kind in _STATUSES and isinstance(value, dict) and not _inner(value):
                self._found.status = "{}"
            elif kind in _STATUSES and isinstance(value, dict):
                self._take(_Keyed(kind, key, _inner(value), self._plain(_inner(value))), line)
            elif kind in _STATUSES and isinstance(value, list):
                several = ", ".join(texts_of(value))
                self._take(_Keyed(kind, key, several, self._plain(several)), line)
            elif kind is not None and key != "title" and (text := text_of(value)):
                chosen = _chosen(text)
                self._take(_Keyed(kind, key, chosen, self._plain(chosen)), line)

    def _from_lines(self, lines: Sequence[Line]) -> None:
        for index, line in enumerate(lines):
            following = lines[index + 1] if index + 1 < len(lines) else None
            text = line.text
            if following is not None and following.block == line.block and following.text.startswith(": "):
                text = f"{text}{following.text}"  # a definition list
            for piece in _pieces(text) if _may_hold_keys(text) else []:
                keyed = self._keyed(piece)
                if keyed is not None and (keyed.plain or keyed.kind not in _BELOW):
                    self._take(self._wrapped(keyed, line, following), line.number)
                elif (kind := keyed.kind if keyed is not None else self._label(piece)) is not None:
                    self._below(kind, line, lines[index + 1 :])

    def _wrapped(self, keyed: _Keyed, line: Line, following: Line | None) -> _Keyed:
        """A status that ends before the record it names, with the line that goes on."""
        if keyed.kind not in _STATUSES or following is None or following.block != line.block:
            return keyed
        paragraph = self._source.parsed.blocks[line.block].kind == PARAGRAPH and following.number == line.number + 1
        if not paragraph or not leads_on(keyed.plain) or self._keyed(following.text) is not None:
            return keyed
        return _Keyed(
            keyed.kind, keyed.label, f"{keyed.raw} {following.text}", f"{keyed.plain} {self._plain(following.text)}"
        )

    def _below(self, kind: Kind, label: Line, lines: Sequence[Line]) -> None:
        """The value below a label that stands alone: the rest of its paragraph, or the next list or paragraph."""
        blocks = self._source.parsed.blocks
        group = [line for line in lines if line.block == label.block]
        same = bool(group) and blocks[label.block].kind == PARAGRAPH
        if not group:
            group = [line for line in lines if line.block == label.block + 1]
        if group and blocks[group[0].block].kind not in (PARAGRAPH, LIST, HTML):
            return
        if kind in _STATUSES and any(_BOX.search(line.text) for line in group):
            self._take_ticked(kind, group)
        elif group and kind in _DATES:
            self._take_date(kind, group[0])
        elif group and self._keyed(group[0].text) is None:
            text = _chosen(group[0].text)
            plain = self._plain(text)
            if begins_with_status(plain) or (same and self._label(label.text) is None):
                self._take(_Keyed(kind, "status", text, plain), group[0].number)

    def _from_section(self) -> None:
        """A section headed Status: its first line of text is the status, later lines may carry supersession."""
        for kind, value, start, last in self._sections(_STATUSES):
            if value:
                self._take(_Keyed(kind, "status", value, self._plain(value)), start)
            lines = list(self._source.text_lines(start, last, quoted=True))
            boxed = any(_BOX.search(line.text) for line in lines)
            if boxed:
                self._take_ticked(kind, lines)
            late: tuple[str, int] | None = None
            begun = ""
            for line in lines:
                for piece in _pieces(line.text):
                    if begun and self._goes_on(begun, piece, line.number):
                        late = late or (self._plain(f"{begun} {piece}"), line.number)
                        begun = begun if self._source.parsed.blocks[line.block].kind == LIST else ""
                        continue
                    begun = piece if not boxed and leads_on(self._plain(piece)) else ""
                    keyed = self._keyed(piece)
                    if keyed is not None:
                        self._take(keyed, line.number)
                        if keyed.kind == "superseded-by" and self._found.supersession.superseded_by:
                            late = late or (self._plain(piece), line.number)
                    elif not boxed:
                        text = _chosen(piece)
                        self._take(_Keyed(kind, "status", text, self._plain(text)), line.number)
            if late is not None and self._found.status is None:
                self._found.status, self._found.status_line = late  # `Superseded by: …` and nothing else
            if kind == "status" or self._found.status is not None:
                return

    def _from_date_section(self) -> None:
        """A section headed Date, whose first line is one."""
        for kind, value, start, last in self._sections(_DATES):
            lines = [Line(start, value, -1), *self._source.text_lines(start, last, quoted=True)]
            if (first := next((line for line in lines if line.text.strip()), None)) is not None:
                self._take_date(kind, first)

    def _from_supersession_sections(self) -> None:
        """Sections headed Supersedes or Superseded by: the first record that each of their lines names."""
        for kind, value, start, last in self._sections(("supersedes", "superseded-by")):
            for line in [Line(start, value, -1), *self._source.text_lines(start, last, quoted=True)]:
                targets = [one for one in read_targets(line.text, self._references) if _NAMES_RECORD.search(one)]
                self._found.supersession.add(targets[:1], kind == "supersedes", line.number)

    def _sections(self, kinds: Sequence[Kind]) -> Iterator[tuple[Kind, str, int, int]]:
        """The sections headed by a word of these kinds: the kind, what the heading says behind it, and their lines."""
        headings = self._source.parsed.headings
        for index, heading in enumerate(headings):
            if not self._first <= heading.line <= self._last:
                continue
            match = _STATUS_HEADING.fullmatch(_SHORTCODE.sub(" ", heading.text).strip())
            kind = kind_of(_SIGNS.sub("", match.group("key"))) if match else None
            if match is None or kind is None or kind not in kinds:
                continue
            last = min(headings[index + 1].line - 1 if index + 1 < len(headings) else self._last, self._last)
            yield kind, (match.group("value") or "").strip(), heading.line, last

    def _take_date(self, kind: Kind, line: Line) -> None:
        """The date that a line is; `1. January 2026` reads as an item of a list."""
        items = self._source.parsed.blocks[line.block].items if line.block >= 0 else []
        number = next((item.number for item in items if item.line == line.number), "")
        plain = self._plain(line.text)
        plain = f"{number}. {plain}" if number and plain[:1].isalpha() else plain
        if looks_like_date(plain):
            self._take(_Keyed(kind, "date", plain, plain), line.number)

    def _goes_on(self, begun: str, piece: str, line: int) -> bool:
        """Whether a line names records that the one above it leads to; they are taken."""
        stated, alone = Supersession(), Supersession()
        read_continued(self._plain(begun), piece, self._references, stated, line)
        if stated:
            read_supersession(piece, self._references, alone, line)
        if alone:
            return False
        self._found.supersession.add_all(stated)
        return bool(stated)

    def _take_ticked(self, kind: Kind, lines: Sequence[Line]) -> None:
        """The last option of a list that is ticked; none of one where nothing is."""
        for line in reversed(lines):
            if _BOX.search(line.text) and (text := _chosen(line.text)):
                keyed = self._keyed(text) or _Keyed(kind, "status", text, self._plain(text))
                self._take(keyed, line.number)
                return

    def _above_sections(self) -> int:
        """The last line of what stands above the first section below the title."""
        headings = [one for one in self._source.parsed.headings if self._first <= one.line <= self._last]
        later = [one.line for one in headings if one.line > headings[0].line or _is_opening(one.text)]
        return min([self._head, *(line - 1 for line in later[:1])])

    def _from_tables(self, first: int, last: int) -> None:
        """Small tables that begin on these lines: two rows (keys above) or two columns (keys at the left)."""
        for block in self._source.parsed.blocks:
            if block.line > last:
                return
            if block.line < first:
                continue
            header = True
            if block.kind == TABLE:
                rows, header = block.rows, block.header
            elif block.kind == HTML:
                rows = self._source.html(block).rows
            else:
                continue
            for key, value in _cells([[cell.strip() for cell in row] for row in rows], header):
                kind = kind_of(key)
                text = _chosen(value)
                if kind is not None and kind != "title":
                    self._take(_Keyed(kind, key, text, self._plain(text)), block.line)

    def _from_quotes(self) -> None:
        """Lines of quotes above the first section below the title, such as `> Status: Accepted`."""
        last = self._above_sections()
        for block in self._source.parsed.blocks:
            if block.line > last:
                return
            for item in block.items if block.kind == QUOTE and block.line >= self._first else []:
                for offset, text in enumerate(item.text.split("\n")):
                    for piece in _pieces(text):
                        self._quoted(piece, item.line + offset)

    def _quoted(self, piece: str, line: int) -> None:
        keyed = self._keyed(piece)
        if keyed is None and begins_with_phrase(plain := self._plain(piece)):
            keyed = _Keyed("status", "status", piece, plain)
        if keyed is not None:
            self._take(keyed, line)

    # --- one value --------------------------------------------------------------------------------

    def _keyed(self, piece: str) -> _Keyed | None:
        """The known key and the value of a line; None for other lines."""
        text = _chosen(piece)
        if not _label_first().match(text):
            return None
        seen = self._plain(text)
        if ":" in seen or "：" in seen:
            match = _KEY.match(seen)
            kind = kind_of(match.group(1)) if match else None
            if match and kind is not None:
                return _Keyed(kind, match.group(1), _after_key(text, match.group(1)), _tidy(match.group(2)))
        for pattern, written in ((_BOLD_KEY, text), (_DASH_KEY, seen), (_CELLS, text)):
            match = pattern.fullmatch(written)
            kind = kind_of(match.group(1)) if match else None
            if match and kind is not None and kind in _BELOW:
                plain = self._plain(match.group(2))
                if begins_with_status(plain) if kind in _STATUSES else looks_like_date(plain):
                    return _Keyed(kind, match.group(1), match.group(2), plain)
        return None

    def _label(self, piece: str) -> Kind | None:
        """What a line in bold means that is `Status` or `Date` and nothing else."""
        kind = kind_of(self._plain(piece)) if _LABEL.fullmatch(piece) else None
        return kind if kind in _BELOW else None

    def _plain(self, text: str) -> str:
        return _tidy(plain_text(text, self._references))

    def _take(self, keyed: _Keyed, line: int) -> None:
        """One value; a key that is filled already keeps its first."""
        found = self._found
        if keyed.kind == "supersedes" or keyed.kind == "superseded-by":
            found.supersession.add(read_targets(keyed.raw, self._references), keyed.kind == "supersedes", line)
        elif not keyed.plain:
            return
        elif keyed.kind == "date":
            if found.date is None and (normal(keyed.label) == "date" or re.search(r"\d", keyed.plain)):
                found.date, found.date_line = keyed.plain, line
        elif keyed.kind == "created":
            if self._created is None and re.search(r"\d", keyed.plain):
                self._created = keyed.plain, line
        elif keyed.kind == "title":
            if found.title is None:
                found.title = keyed.plain
                found.title_line = line if normal(keyed.label) == "title" else 0
        else:
            stated = Supersession()
            read_supersession(keyed.raw, self._references, stated, line)
            if keyed.kind == "state" and not (stated or begins_with_status(keyed.plain)):
                return
            found.supersession.add_all(stated)
            if not stated and names_successor(keyed.raw, self._references):
                self._source.reasons.add("unresolved-supersession", line)
            if found.status is None:
                found.status, found.status_line = keyed.plain, line


# --- forms ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _kinds() -> dict[str, Kind]:
    kinds: tuple[Kind, ...] = ("title", "created", "date", "state", "status")
    return {word: kind for kind in kinds for word in words(kind)}


def kind_of(key: str) -> Kind | None:
    """What a label means, in any of the languages; None for other labels.

    >>> kind_of("**Status**"), kind_of("Remplacé par"), kind_of("Author")
    ('status', 'superseded-by', None)
    """
    label = normal(key.strip(_EDGES + ":："))
    if (forward := direction_of(label)) is not None:
        return "supersedes" if forward else "superseded-by"
    return _kinds().get(label)


def _is_opening(text: str) -> bool:
    return normal(text) in words("opening")


@lru_cache(maxsize=1)
def _next_key() -> re.Pattern[str]:
    """Where a further key begins on a line: after a break, a bar, a dot or in bold; a known one after a comma."""
    known = alternation(
        [*(word for name in ("status", "date", "by", "of") for word in words(name)), "deciders", "author", "authors"]
    )
    mark = r"(?:[*_]{1,3}|<(?:b|strong)>)"
    key = r"[^\W\d_][^\n:：|*_<>]{0,30}"
    return re.compile(
        rf"<br\s*/?>|\s*[|·•‖]\s*(?={mark}?{key}(?:{mark}|</(?:b|strong)>)?\s*[:：])"
        rf"|[;,]?\s+(?=(?:\*\*|__){key}(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*[:：]))"
        rf"|[;,]\s+(?=(?:{known})\s*[:：])",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _label_first() -> re.Pattern[str]:
    labels = [word for name in ("by", "by_next", "by_keys", "of", "of_next", "of_keys") for word in words(name)]
    known = alternation([*labels, *_kinds()])
    return re.compile(rf"(?:<[^<>]{{1,80}}>|\[[xX]\]|[\W_])*+(?:{known})", re.IGNORECASE)


def _may_hold_keys(text: str) -> bool:
    """Whether a line begins with a known label, or has what may part it into several keys."""
    return _is_parted(text[:MAX_TEXT]) or _label_first().match(text, 0, MAX_TEXT) is not None


def _is_parted(text: str) -> bool:
    if any(sign in text for sign in _PARTING):
        return True
    return any(sign in text for sign in _MAYBE_PARTED) and _PARTED.search(text) is not None


def _pieces(text: str) -> list[str]:
    """A line cut where further keys begin: `**Status:** accepted | **Date:** 2024-01-10`."""
    text = text[:MAX_TEXT]
    return [piece for piece in _next_key().split(text) if piece.strip()]


_NAMES_RECORD = re.compile(r"\d|\.\w{2,8}$")
"""What tells the name of a record from other words: a number, or that it is a file."""


def _inner(value: dict[str, Any]) -> str:
    """The status within a mapping (`status: {state: accepted, since: 2024}`); none in `{proposed | accepted}`."""
    named = [value[key] for key in ("state", "status", "value", "name", "current") if key in value]
    return next(filter(None, (text_of(inner) or "" for inner in [*named, *value.values()])), "")


def _chosen(text: str) -> str:
    """A line without what is struck out; of options with boxes the last one that is ticked, with what precedes them."""
    text = without_struck(text[:MAX_TEXT])
    boxes = list(_BOX.finditer(text))
    if not boxes:
        return text
    ends = [*(box.start() for box in boxes[1:]), len(text)]
    options = zip(boxes, ends, strict=True)
    ticked = [text[box.end() : end] for box, end in options if (box.group(1) or box.group(2)) not in _UNTICKED]
    return text[: boxes[0].start()] + ticked[-1].strip(" \t,;|/·") if ticked else ""


def _tidy(plain: str) -> str:
    """A value without what emphasis that does not pair leaves behind, and without leading arrows."""
    return _STRAY.sub("", plain).strip(_EDGES).lstrip("→➜➡ ") if plain else plain


def _after_key(text: str, key: str) -> str:
    """What a raw line says after its key; the whole line where markup parts the key."""
    at = text.find(key)
    colon = re.compile(r"[:：]").search(text, at + len(key)) if at >= 0 else None
    if colon is None:
        return text
    leading = _LEADING.match(text, colon.end())
    return text[leading.end() if leading else colon.end() :].removesuffix("\\")


def _cells(rows: list[list[str]], header: bool) -> Iterator[tuple[str, str]]:
    """Keys and values of a table of two rows or of two columns; a table with both keys above many rows is a history.

    One without a head has its keys above only where all cells there are some.
    """
    if not rows:
        return
    above = [_is_key(cell) for cell in rows[0]]
    beside = len(above) == 2 and above[0] and bool(rows[-1]) and _is_key(rows[-1][0])
    if len(rows) == 2 and any(above) and not beside and (header or all(above)):
        yield from zip(rows[0], rows[1], strict=False)
    elif len(rows[0]) == 2 and not all(above):
        yield from ((row[0], row[1]) for row in rows if len(row) == 2)


def _is_key(cell: str) -> bool:
    return kind_of(plain_text(cell)) not in (None, "title")
