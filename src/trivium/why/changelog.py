"""Changes that a change log lists (reference 4.3)."""

from __future__ import annotations

import re
from bisect import bisect_left

from trivium.why.gnu_changes import file_cites, is_gnu, is_gnu_header
from trivium.why.inline import cut_text, plain_text
from trivium.why.markdown import LIST, PARAGRAPH
from trivium.why.model import MAX_NAME, RawEntity
from trivium.why.source import DocumentSource

_VERSION = r"v?\d+(?:\.\d+)+[\w.+-]*"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_RELEASE = re.compile(
    rf"""
      (?:unreleased | upcoming | (?:not\s+yet|to\s+be)\s+released | next\s+(?:release|version))\b
    | (?:main|master|trunk|head|next|in\s+development)(?:\Z | \s*[-–—(\[])
    | (?:(?:noteworthy|new)\s+)?changes\s+(?:in|since|for)\s+(?:version\s+|release\s+)?(?:[\w.-]+\s+)??{_VERSION}(?!\S)
    | what['’]?s\s+new\s+in\s+(?:version\s+|release\s+)?(?:[\w.-]+\s+){{0,3}}?{_VERSION}(?!\S)
    | [\w.+-]{{1,80}}\s+\(\d[\w.+:~-]*\)\s+[\w-]+(?:\s+[\w-]+){{0,4}};\s*urgency=
    | (?:version|release|rel|ver)\.?\s*{_VERSION}
    | (?:version|release|v)\.?\s*\d+\b
    | {_VERSION}(?!\S)
    | \d+\Z
    | [\w@/.-]{{1,80}}?[\s@:_-]+(?:version\s+|release\s+)?{_VERSION}
        (?:\Z | \s*[-–—:,(\[/"'] | \s+(?:released?|final|is)\b | \s+\d)
    | (?:released?\s+)?(?:on\s+)?\d{{4}}[-./]\d{{1,2}}(?:[-./]\d{{1,2}})?(?!\d)
    | \d{{1,2}}[-./]\d{{1,2}}[-./]\d{{4}}\b
    | (?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+{_MONTH}\s+\d{{1,2}}\s+(?:[\d:]+\s+)?(?:[a-z]{{2,5}}\s+)?\d{{4}}\b
    | {_MONTH}\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?\d{{4}}\b
    | \d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH},?\s+\d{{4}}\b
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CHANGES_IN = re.compile(
    r"""(?!no\b)(?:[\w'’-]+\s+){0,6}?(?:changes|packages|programs)\s+(?:in|since|for)\s+(?:version\s+|release\s+)?
    (?:[\w.+-]+\s+){0,2}?(?:v?\d+(?:\.\d+)+[\w.+-]*|\d+\Z|\?+(?:\.\?+)+)
    (?::|\s*[(\[].*|\s+on\s.*|,?\s+\d.*)? """,
    re.IGNORECASE | re.VERBOSE,
)
_WRAPPING = re.compile(r"^[\W_]+")


def is_release(heading: str) -> bool:
    """Whether a heading's text begins like a release: a version, a date or `Unreleased`.

    >>> [is_release(text) for text in ("[1.2.0] - 2024-01-01", "flask 2.0 (2021)", "Unreleased", "Bug Fixes")]
    [True, True, True, False]
    """
    text = _WRAPPING.sub("", heading[:MAX_NAME]).replace("]", " ", 1).strip()
    return bool(text) and _RELEASE.match(text) is not None


def is_outline_release(heading: str) -> bool:
    """Whether a first heading of an outline names a release, if only one to come.

    >>> [is_outline_release(text) for text in ("Noteworthy changes in release ?.? (????-??-??) [?]", "New option -z")]
    [True, False]
    """
    return is_release(heading) or tells_changes(heading)


def tells_changes(heading: str) -> bool:
    """Whether a line says that it stands above the changes of a release, in whatever words.

    >>> tells_changes("Installation Changes in Emacs 30.1"), tells_changes("Incompatible changes since 2.0 are rare")
    (True, False)
    """
    return _CHANGES_IN.fullmatch(heading[:MAX_NAME]) is not None


def read_changes(source: DocumentSource) -> list[RawEntity]:
    """Each item of a top-level list under a release heading; nested items are entries of their own (4.3).

    Without such a heading the file's own release counts, if its path tells one; a fragment that begins with a text is
    one entry. An entry of GNU's form cites the files and functions that it begins with.
    """
    if not source.place.changelog:
        return []
    if source.place.change_place.fragment and (fragment := _fragment(source)):
        return [fragment]
    outline = source.parsed.outline
    names_release = is_outline_release if outline else is_release
    releases = [heading for _, heading in source.headings() if names_release(heading.text)]
    lines = [heading.line for heading in releases]
    headed = [is_gnu_header(heading.raw) for heading in releases]
    named = is_gnu(source.place)
    changes: list[RawEntity] = []
    for block in source.parsed.blocks:
        at = bisect_left(lines, block.line) - 1
        release = releases[at].text if at >= 0 else source.place.change_place.release
        if block.kind != LIST or not release:
            continue
        for item in block.items:
            if item.line > source.parsed.last_line:
                return changes
            gnu = at >= 0 and headed[at]
            text = " ".join(item.text.split()) if gnu or outline else plain_text(item.text, source.parsed.references)
            entity_id = f"knowledge-change:{source.path}:{text}:{release}"
            entity = source.state("change", entity_id, cut_text(text, MAX_NAME), (item.line, item.end))
            if entity is not None:
                entity.cites += file_cites(item.text, item.line, gnu or named)
                changes.append(entity)
    return changes


def _fragment(source: DocumentSource) -> RawEntity | None:
    """The one change of a fragment that begins with a text, named by it; None where it begins with a list."""
    first = next((block for block in source.parsed.blocks if block.kind in (PARAGRAPH, LIST)), None)
    if first is None or first.kind == LIST:
        return None
    text = plain_text(first.text, source.parsed.references)
    entity_id = f"knowledge-change:{source.path}:{text}:{source.place.change_place.release}"
    lines = (1, max(source.parsed.line_count, 1))
    return source.state("change", entity_id, cut_text(text, MAX_NAME), lines)
