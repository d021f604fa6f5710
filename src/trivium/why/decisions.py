"""Decisions: records, and `Decision…` headings of other documents (reference 4.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from posixpath import basename, dirname

from trivium.code.front_matter import texts_of
from trivium.why.markdown import TABLE, Heading
from trivium.why.metadata import Metadata, read_metadata, read_section_metadata
from trivium.why.model import MAX_HEADINGS, MAX_NAME, RawEntity
from trivium.why.places import is_home
from trivium.why.source import DocumentSource
from trivium.why.supersession import RECORD_WORDS
from trivium.why.wording import begins_with_status, is_status_word, normal, words

_RECORD_TYPES = frozenset({"adr", "decision"})
_DECISION_HEADING = re.compile(r"decisions?(?=$|[\s:])", re.IGNORECASE)
_SECTION_NUMBER = re.compile(r"(?:\d+(?:\.\d+)*[.)]?|[IVX]+[.)])\s+")
_NUMBER_PREFIX = re.compile(
    rf"^(?:{RECORD_WORDS}[\s#_-]*)?(?:NUMBER|N+|X+|\d+|\{{[^{{}}]*\}}|\[[^\[\]]*\]|<[^<>]*>)\s*[.:–—-]+\s+", re.I
)
_PLACEHOLDER = re.compile(r"\[[^\[\]]*\]|\{+[^{}]*\}+|<[^<>]*>|TITLE|STATUS|DATE|Title|Short title|Template", re.DOTALL)
_UNFILLED = frozenset({"STATUS", "Status", "[status]", "<status>", "[STATUS]", "<STATUS>"})
_QUESTION = "what is the status"
_UNFILLED_FIELD = re.compile(r"\(\s*(?:fill|your|insert|e\.g)|(?:none|n/?a|tbd|todo|-+)\s*$", re.IGNORECASE)
_NAMED_RECORD = re.compile(r"(?:adrs?|decisions)(?:[-_.\d]|$)", re.IGNORECASE)
_LIST_STEM = re.compile(r"\d+[-_ ]+(?:index|readme|overview)|toc", re.IGNORECASE)
_CHOICES = re.compile(r"\s*(?:[|/,、]|\b(?:or|oder|ou|o|или)\b)\s*")


def is_record(source: DocumentSource) -> bool:
    """A record by place or by type; a folder's README or index only by type, a template never (4.1)."""
    typed = source.type in _RECORD_TYPES
    return not source.place.template and (typed or (source.place.record and not source.place.not_record))


def read_decisions(source: DocumentSource) -> list[RawEntity]:
    """The decision of a record, else those of headings; none of what only stands at a record's place.

    A record that is a log of decisions has those of its sections, too.
    """
    if source.place.not_record and not is_record(source):
        return []
    logged = dict(_logged(source))
    if is_record(source):
        above = min((source.parsed.headings[index].line - 1 for index in logged), default=None)
        return [*_record(source, above), *_headings(source, logged, named=False)]
    return list(_headings(source, logged))


def _record(source: DocumentSource, above: int | None) -> Iterator[RawEntity]:
    """The whole document; of a log only what stands above its first decision tells its status."""
    if source.parsed.is_blank():
        return
    metadata = read_metadata(source, above)
    name = record_name(source, metadata)
    if _is_placeholder(name, source) or (metadata.status and _is_choice(metadata.status)):
        return
    if _is_list_of_records(name, source) and not _states_status(metadata, source):
        return
    entity = source.state(
        "decision", f"knowledge-decision:{source.path}:{name}", name, (1, max(source.parsed.line_count, 1))
    )
    if entity is None:
        return
    entity.aliases = texts_of(source.front.get("aliases"))
    entity.beside = source.beside.region if source.beside is not None else None
    _declare(entity, metadata, source)
    yield entity


def _is_list_of_records(name: str, source: DocumentSource) -> bool:
    """Whether a page of a folder of records only lists them: `Architecture Decision Records`, `0000-index.md`."""
    if _NAMED_RECORD.match(source.place.stem):
        return False
    return bool(_LIST_STEM.fullmatch(source.place.stem)) or (" " in name and normal(name) in words("log"))


def _states_status(metadata: Metadata, source: DocumentSource) -> bool:
    """Whether a status stands outside of tables, which on a page that lists records hold theirs."""
    tables = (block for block in source.parsed.blocks if block.kind == TABLE)
    return metadata.status is not None and not any(table.line == metadata.status_line for table in tables)


def _declare(entity: RawEntity, metadata: Metadata, source: DocumentSource) -> None:
    """Gives a decision the status, date and supersession that its text states."""
    entity.status = source.cut(metadata.status, line=metadata.status_line) if metadata.status else None
    entity.date = source.cut(metadata.date, line=metadata.date_line) if metadata.date else None
    supersession = metadata.supersession
    entity.supersedes = list(supersession.supersedes)
    entity.superseded_by = list(supersession.superseded_by)
    entity.stated = {**supersession.supersedes, **supersession.superseded_by}
    entity.stated_beside = metadata.beside


def record_name(source: DocumentSource, metadata: Metadata) -> str:
    """Front matter `title`, else the first heading, else the file name (4.1).

    A header above the first heading counts as front matter where it has a line `Title: …`. A first heading that is a
    section of every record, such as `Summary`, is no name: then a line `Feature Name: …` or `Title: …` is, before the
    file name. A README is named after its folder.
    """
    if declared := source.declared_title():
        return declared
    first = source.parsed.headings[0].line if source.parsed.headings else 0
    if metadata.title and 0 < metadata.title_line < first and not _UNFILLED_FIELD.match(metadata.title):
        return source.cut(metadata.title, MAX_NAME)
    if (titled := source.title()) and not _is_section(titled, source):
        return titled
    if metadata.title and not _UNFILLED_FIELD.match(metadata.title):
        return source.cut(metadata.title, MAX_NAME)
    folder = basename(dirname(source.path))
    return source.cut(folder if is_home(source.place.stem) and folder else source.place.stem, MAX_NAME)


def _is_section(heading: str, source: DocumentSource) -> bool:
    """Whether a heading is one that any record may begin with, unless the file is named so."""
    label = normal(_SECTION_NUMBER.sub("", heading, count=1))
    return label in words("opening") and label != normal(source.place.stem)


def _logged(source: DocumentSource) -> Iterator[tuple[int, Metadata]]:
    """The sections right below a heading such as `Architecture Decisions` that state a status of their own."""
    headings = source.parsed.headings
    room = MAX_HEADINGS
    for index, heading in enumerate(headings):
        if not _is_log(heading):
            continue
        below = list(_below(source, index))
        level = min((headings[at].level for at in below), default=0)
        for at in below:
            if headings[at].level != level:
                continue
            if not room:
                source.reasons.add("heading-limit", headings[at].line)
                return
            room -= 1
            metadata = read_section_metadata(source, headings[at].line, source.section_end(at))
            if metadata.status and begins_with_status(metadata.status) and not _is_choice(metadata.status):
                yield at, metadata


def _is_log(heading: Heading) -> bool:
    """Whether a heading stands above several decisions: `9. Architecture Decisions`."""
    return normal(_SECTION_NUMBER.sub("", heading.text, count=1)) in words("log")


def _below(source: DocumentSource, index: int) -> Iterator[int]:
    """The headings of a section."""
    headings = source.parsed.headings
    end = source.section_end(index)
    return takewhile(lambda at: headings[at].line <= end, range(index + 1, len(headings)))


def _headings(source: DocumentSource, logged: dict[int, Metadata], named: bool = True) -> Iterator[RawEntity]:
    """The decisions of sections: those of a log, and with `named` those that `Decision…` heads.

    A heading such as `Decision Log` is none where decisions stand below it.
    """
    seen: Counter[str] = Counter()
    found = {
        index
        for index, heading in source.headings()
        if index in logged or (named and _DECISION_HEADING.match(heading.text))
    }
    room = MAX_HEADINGS
    for index, heading in source.headings():
        nested = next((at for at in _below(source, index) if at in found), None) if index in found else None
        if index not in found or (nested is not None and index not in logged and _is_log(heading)):
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
            if index in logged:
                _declare(entity, logged[index], source)
            elif room:
                room -= 1
                _declare(entity, _own_metadata(source, index, nested), source)
            else:
                source.reasons.add("heading-limit", heading.line)
            yield entity


def _own_metadata(source: DocumentSource, index: int, nested: int | None) -> Metadata:
    """What a section states of itself, above the first decision below it; a status that was never chosen is none."""
    headings = source.parsed.headings
    last = source.section_end(index) if nested is None else headings[nested].line - 1
    metadata = read_section_metadata(source, headings[index].line, last)
    if metadata.status and _is_choice(metadata.status):
        metadata.status = None
    return metadata


# --- placeholders ---------------------------------------------------------------------------------


def _is_placeholder(title: str, source: DocumentSource) -> bool:
    """Whether a title was never filled in, such as `[short title …]` or `NUMBER. TITLE`."""
    headed = source.parsed.headings and not source.front.get("title") and title == source.title()
    raw = source.parsed.headings[0].raw if headed else title
    return any(_PLACEHOLDER.fullmatch(_NUMBER_PREFIX.sub("", text.strip(), count=1)) for text in (title, raw))


def _is_choice(status: str) -> bool:
    """Whether a status was never filled in, such as `STATUS` or `{proposed | accepted}`."""
    options = _CHOICES.split(status)
    if len(options) > 2 and all(is_status_word(option) for option in options):
        return True
    if normal(status).startswith(_QUESTION):
        return True
    bracketed = status[0] + status[-1] in ("[]", "<>") and not status[1:-1].isalpha()
    return bracketed or status[0] + status[-1] == "{}" or status in _UNFILLED or status.count("|") > 1
