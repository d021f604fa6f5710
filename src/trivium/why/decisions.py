"""Decisions: records, and `Decision…` headings of other documents (reference 4.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from trivium.why.front_matter import text_of, texts_of
from trivium.why.inline import plain_text
from trivium.why.markdown import TABLE
from trivium.why.model import RawEntity
from trivium.why.source import DocumentSource
from trivium.why.supersession import (
    RECORD_WORDS,
    Supersession,
    direction_of,
    read_front_targets,
    read_supersession,
    read_targets,
)

HEAD_LINES = 40

_RECORD_TYPES = frozenset({"adr", "decision"})
_DECISION_HEADING = re.compile(r"decisions?(?=$|[\s:])", re.IGNORECASE)
_KEY_LINE = re.compile(r"[\W_]*(?:status|date|super[sc]e|replace)", re.IGNORECASE)
_KEY = re.compile(r"[\W_]*([A-Za-z]+(?:[\s_-]+by)?)[\s*_]*:+(?!/)[\s*_]*(.*)", re.IGNORECASE | re.DOTALL)
_STATUS_HEADING = re.compile(r"(?:\d+[.)]?\s+)?status\s*(?::\s*(.*))?", re.IGNORECASE)
_NUMBER_PREFIX = re.compile(
    rf"^(?:{RECORD_WORDS}[\s#_-]*)?(?:NUMBER|N+|X+|\d+|\{{[^{{}}]*\}}|\[[^\[\]]*\]|<[^<>]*>)\s*[.:–—-]+\s+", re.I
)
_PLACEHOLDER = re.compile(r"\[[^\[\]]*\]|\{+[^{}]*\}+|<[^<>]*>|TITLE|STATUS|DATE|Title|Short title|Template", re.DOTALL)
_UNFILLED = frozenset({"STATUS", "Status", "[status]", "<status>", "[STATUS]", "<STATUS>"})


class Metadata(Struct):
    """What a record declares of itself; supersession as written."""

    status: str | None = None
    date: str | None = None
    supersession: Supersession = field(default_factory=Supersession)


def is_record(source: DocumentSource) -> bool:
    """A record by place or by type; a folder's README or index only by type, a template never (4.1)."""
    typed = source.type in _RECORD_TYPES
    return not source.place.template and (typed or (source.place.record and not source.place.not_record))


def read_decisions(source: DocumentSource) -> list[RawEntity]:
    """The decision of a record, else those of `Decision…` headings; none of what only stands at a record's place."""
    if is_record(source):
        return list(_record(source))
    return [] if source.place.not_record else list(_headings(source))


def _record(source: DocumentSource) -> Iterator[RawEntity]:
    if source.parsed.is_blank():
        return
    name = source.title() or source.place.stem
    metadata = read_metadata(source)
    if _is_placeholder(name, source) or (metadata.status and _is_choice(metadata.status)):
        return
    entity = source.state(
        "decision", f"knowledge-decision:{source.path}:{name}", name, (1, max(source.parsed.line_count, 1))
    )
    if entity is None:
        return
    entity.aliases = texts_of(source.front.get("aliases"))
    entity.status = source.cut(metadata.status) if metadata.status else None
    entity.date = source.cut(metadata.date) if metadata.date else None
    entity.supersedes = metadata.supersession.supersedes
    entity.superseded_by = metadata.supersession.superseded_by
    yield entity


def _headings(source: DocumentSource) -> Iterator[RawEntity]:
    seen: Counter[str] = Counter()
    for index, heading in source.headings():
        if not _DECISION_HEADING.match(heading.text):
            continue
        count = seen[heading.text]
        seen[heading.text] += 1
        entity = source.state(
            "decision",
            f"knowledge-decision:{source.path}:{heading.text}:{count}",
            heading.text,
            (heading.line, source.section_end(index)),
        )
        if entity is not None:
            yield entity


# --- placeholders ---------------------------------------------------------------------------------


def _is_placeholder(title: str, source: DocumentSource) -> bool:
    """Whether a title was never filled in, such as `[short title …]` or `NUMBER. TITLE`."""
    raw = source.parsed.headings[0].raw if source.parsed.headings and not source.front.get("title") else title
    return any(_PLACEHOLDER.fullmatch(_NUMBER_PREFIX.sub("", text.strip(), count=1)) for text in (title, raw))


def _is_choice(status: str) -> bool:
    """Whether a status was never filled in, such as `STATUS` or `{proposed | accepted}`."""
    bracketed = status[0] + status[-1] in ("[]", "<>") and not status[1:-1].isalpha()
    return bracketed or status[0] + status[-1] == "{}" or status in _UNFILLED or status.count("|") > 1


# --- status, date, supersession -------------------------------------------------------------------


def read_metadata(source: DocumentSource) -> Metadata:
    """Status, date and supersession: front matter first, then lines, then a Status section, then a table (4.1)."""
    metadata = Metadata()
    _from_front_matter(source, metadata)
    head = source.parsed.front.lines + HEAD_LINES
    for line in source.text_lines(1, head):
        if _KEY_LINE.match(line):
            _from_line(source, line, metadata)
    _from_section(source, metadata)
    for key, value in _table_cells(source, head):
        _take(source, key, value, metadata)
    return metadata


def _from_front_matter(source: DocumentSource, metadata: Metadata) -> None:
    references = source.parsed.references
    for key, value in source.front.items():
        if (forward := direction_of(key)) is not None:
            metadata.supersession.add(read_front_targets(value, references), forward)
    status = source.front.get("status")
    if isinstance(status, dict):
        metadata.status = "{}"
    elif text := text_of(status):
        read_supersession(text, references, metadata.supersession)
        metadata.status = plain_text(text, references) or None
    metadata.date = text_of(source.front.get("date"))


def _from_line(source: DocumentSource, line: str, metadata: Metadata) -> None:
    if match := _KEY.match(line):
        _take(source, match.group(1), match.group(2), metadata)


def _take(source: DocumentSource, key: str, value: str, metadata: Metadata) -> None:
    """One key with its raw text; a key that is filled already keeps its value."""
    value = value.strip().removesuffix("\\")
    references = source.parsed.references
    if (forward := direction_of(key)) is not None:
        metadata.supersession.add(read_targets(value, references), forward)
        return
    text = plain_text(value, references).strip("*_ ")
    if key.lower() == "status" and text:
        read_supersession(value, references, metadata.supersession)
        metadata.status = metadata.status or text
    elif key.lower() == "date" and text:
        metadata.date = metadata.date or text


def _from_section(source: DocumentSource, metadata: Metadata) -> None:
    """A section headed Status: its first line of text is the status, later lines may carry supersession."""
    headings = source.parsed.headings
    for index, heading in enumerate(headings):
        match = _STATUS_HEADING.fullmatch(heading.text)
        if match is None:
            continue
        if match.group(1):
            _take(source, "status", match.group(1), metadata)
        last = headings[index + 1].line - 1 if index + 1 < len(headings) else source.parsed.last_line
        for line in source.text_lines(heading.line, last):
            keyed = _KEY.match(line) if _KEY_LINE.match(line) else None
            if keyed and (keyed.group(1).lower() in ("status", "date") or direction_of(keyed.group(1)) is not None):
                _take(source, keyed.group(1), keyed.group(2), metadata)
            else:
                _take(source, "status", line, metadata)
        return


def _table_cells(source: DocumentSource, head: int) -> Iterator[tuple[str, str]]:
    """Keys and values of small tables near the top: two rows (keys above) or two columns (keys at the left)."""
    for block in source.parsed.blocks:
        if block.line > head:
            return
        if block.kind != TABLE:
            continue
        rows = [[cell.strip() for cell in row] for row in block.rows]
        keys = [_cell_key(cell) for cell in rows[0]]
        if (
            len(rows) == 2
            and any(keys)
            and not (len(keys) == 2 and keys[0] and _cell_key(rows[1][0] if rows[1] else ""))
        ):
            yield from ((key, value) for key, value in zip(keys, rows[1], strict=False) if key)
        elif len(rows[0]) == 2:
            yield from ((key, row[1]) for row in rows if len(row) == 2 and (key := _cell_key(row[0])))


def _cell_key(cell: str) -> str:
    key = cell.strip("*_: ")
    return key if key.lower() in ("status", "date") or direction_of(key) is not None else ""
