"""Decisions: records, and `Decision…` headings of other documents (reference 4.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from posixpath import basename, dirname

from trivium.why.front_matter import texts_of
from trivium.why.metadata import Metadata, read_metadata
from trivium.why.model import MAX_NAME, RawEntity
from trivium.why.places import is_home
from trivium.why.source import DocumentSource
from trivium.why.supersession import RECORD_WORDS
from trivium.why.wording import is_status_word, normal, words

_RECORD_TYPES = frozenset({"adr", "decision"})
_DECISION_HEADING = re.compile(r"decisions?(?=$|[\s:])", re.IGNORECASE)
_SECTION_NUMBER = re.compile(r"(?:\d+(?:\.\d+)*[.)]?|[IVX]+[.)])\s+")
_NUMBER_PREFIX = re.compile(
    rf"^(?:{RECORD_WORDS}[\s#_-]*)?(?:NUMBER|N+|X+|\d+|\{{[^{{}}]*\}}|\[[^\[\]]*\]|<[^<>]*>)\s*[.:–—-]+\s+", re.I
)
_PLACEHOLDER = re.compile(r"\[[^\[\]]*\]|\{+[^{}]*\}+|<[^<>]*>|TITLE|STATUS|DATE|Title|Short title|Template", re.DOTALL)
_UNFILLED = frozenset({"STATUS", "Status", "[status]", "<status>", "[STATUS]", "<STATUS>"})
_UNFILLED_FIELD = re.compile(r"\(\s*(?:fill|your|insert|e\.g)|(?:none|n/?a|tbd|todo|-+)\s*$", re.IGNORECASE)
_CHOICES = re.compile(r"\s*(?:[|/,、]|\b(?:or|oder|ou|o|или)\b)\s*")


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
    metadata = read_metadata(source)
    name = record_name(source, metadata)
    if _is_placeholder(name, source) or (metadata.status and _is_choice(metadata.status)):
        return
    entity = source.state(
        "decision", f"knowledge-decision:{source.path}:{name}", name, (1, max(source.parsed.line_count, 1))
    )
    if entity is None:
        return
    entity.aliases = texts_of(source.front.get("aliases"))
    entity.status = source.cut(metadata.status, line=metadata.status_line) if metadata.status else None
    entity.date = source.cut(metadata.date, line=metadata.date_line) if metadata.date else None
    supersession = metadata.supersession
    entity.supersedes = list(supersession.supersedes)
    entity.superseded_by = list(supersession.superseded_by)
    entity.stated = {**supersession.supersedes, **supersession.superseded_by}
    yield entity


def record_name(source: DocumentSource, metadata: Metadata) -> str:
    """Front matter `title`, else the first heading, else the file name (4.1).

    A first heading that is a section of every record, such as `Summary`, is no name: then a line `Feature Name: …` or
    `Title: …` is, before the file name. A README is named after its folder.
    """
    if declared := source.declared_title():
        return declared
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
    headed = source.parsed.headings and not source.front.get("title") and title == source.title()
    raw = source.parsed.headings[0].raw if headed else title
    return any(_PLACEHOLDER.fullmatch(_NUMBER_PREFIX.sub("", text.strip(), count=1)) for text in (title, raw))


def _is_choice(status: str) -> bool:
    """Whether a status was never filled in, such as `STATUS` or `{proposed | accepted}`."""
    options = _CHOICES.split(status)
    if len(options) > 2 and all(is_status_word(option) for option in options):
        return True
    bracketed = status[0] + status[-1] in ("[]", "<>") and not status[1:-1].isalpha()
    return bracketed or status[0] + status[-1] == "{}" or status in _UNFILLED or status.count("|") > 1
