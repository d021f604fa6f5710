"""Concepts: concept documents, glossaries and definitions (reference 4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from trivium.why.decisions import is_record
from trivium.why.front_matter import texts_of
from trivium.why.inline import plain_text
from trivium.why.markdown import HEADING, LIST, PARAGRAPH, TABLE, Block, Item
from trivium.why.model import RawEntity
from trivium.why.source import DocumentSource

MAX_TERM_WORDS = 6

_GLOSSARY_TYPES = frozenset({"glossary", "definitions"})
_GLOSSARY_TEXT = re.compile(r"glossary|definitions", re.IGNORECASE)
_BOLD = re.compile(r"\s*(?:\*\*(?!\s)([^*\n]{1,300}?)\*\*|__(?!\s)([^_\n]{1,300}?)__)\s*([:–—]?)\s*(\S?)")
_DASH = re.compile(r"\s*(\S[^–—\n]{0,299}?)\s+[–—]\s+\S")
_COLON = re.compile(r"\s*(\S[^:\n]{0,299}?)\s*:\s+\S")
_SENTENCE = re.compile(
    r"""(?: a|an|the|from|in|on|at|by|with|for|to|if|when|while|we|you|it|they|this|that|these|those|there|some|most )\b
      | .*\s(?: a|an|the|is|are|was|were|has|have|had|may|must|will|can|cannot|should|we|you|they )\b""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""Words before a dash that begin or make up a sentence rather than name a term."""
_LABELS = frozenset(
    {
        *("status", "date", "note", "notes", "nb", "warning", "caution", "danger", "tip", "hint", "info", "important"),
        *("example", "examples", "see", "see also", "todo", "fixme", "attention", "remark", "remember", "supersedes"),
        *("superseded by", "superseded-by", "author", "authors", "owner", "owners", "version", "updated", "summary"),
        *("last updated", "related", "source", "sources", "default", "deprecated", "context", "why", "result"),
    }
)


def is_glossary(source: DocumentSource) -> bool:
    """Whether headings, lists and tables of the document are terms: by path or by type (4.2)."""
    return source.place.glossary or source.type in _GLOSSARY_TYPES


def read_concepts(source: DocumentSource) -> list[RawEntity]:
    """Every concept that the document defines, in order of kind; equal names are united later."""
    glossary = is_glossary(source)
    aliases = texts_of(source.front.get("aliases"))
    declared = source.type == "concept"
    plain = not (glossary or source.place.changelog or source.place.record or is_record(source))
    concepts: list[RawEntity | None] = []
    if declared or (aliases and plain):
        concepts.append(_whole(source, aliases))
    if glossary:
        if aliases and not declared:
            source.reasons.add("unbound-glossary-aliases")
        concepts.extend(_from_headings(source))
    if not is_record(source):
        concepts.extend(_from_blocks(source, glossary, bold=glossary or declared or bool(aliases and plain)))
    return [concept for concept in concepts if concept is not None]


def _concept(source: DocumentSource, name: str, lines: tuple[int, int]) -> RawEntity | None:
    entity = source.state("concept", f"knowledge-concept:{name}", name, lines)
    if entity is not None:
        entity.defines = True
    return entity


def _whole(source: DocumentSource, aliases: list[str]) -> RawEntity | None:
    if source.parsed.is_blank():
        return None
    entity = _concept(source, source.title() or source.place.stem, (1, max(source.parsed.line_count, 1)))
    if entity is not None:
        entity.aliases = aliases
    return entity


def _from_headings(source: DocumentSource) -> Iterator[RawEntity | None]:
    """Headings below the first one's level, or that do not call themselves a glossary; not the letters of an index."""
    openings = _openings(source)
    for index, heading in source.headings():
        top = heading.level <= source.parsed.headings[0].level
        if top and _GLOSSARY_TEXT.search(heading.text):
            continue
        following = source.parsed.headings[index + 1 : index + 2]
        if len(heading.text) == 1 and following and following[0].level > heading.level:
            continue
        opening = openings.get(heading.line)
        if opening is not None and _is_group(source, opening):
            continue
        yield _concept(source, heading.text, (heading.line, source.section_end(index)))


def _openings(source: DocumentSource) -> dict[int, Block]:
    """The first block below each heading, by the heading's line."""
    blocks = source.parsed.blocks
    return {block.line: after for block, after in pairwise(blocks) if block.kind == HEADING}


def _is_group(source: DocumentSource, opening: Block) -> bool:
    """Whether a heading only gathers terms: at least two, and most of what its list or table holds, follow at once."""
    if opening.kind == TABLE:
        return len(opening.rows) > 2
    items = [item for item in opening.items if item.depth == 0] if opening.kind == LIST else []
    terms = sum(_bold_term(source, item.text.partition("\n")[0], dash=True) is not None for item in items)
    return terms > 1 and 2 * terms > len(items)


def _from_blocks(source: DocumentSource, glossary: bool, bold: bool) -> Iterator[RawEntity | None]:
    for block in source.parsed.blocks:
        if block.line > source.parsed.last_line:
            return
        if block.kind == PARAGRAPH:
            yield from _from_paragraph(source, block, glossary, bold)
        elif glossary and block.kind == LIST:
            for item in block.items:
                if name := _item_term(source, item):
                    yield _concept(source, name, (item.line, item.end))
        elif glossary and block.kind == TABLE:
            for row, line in zip(block.rows[1:], block.row_lines[1:], strict=False):
                if row and (name := _plain(source, row[0])):
                    yield _concept(source, name, (line, line))


def _from_paragraph(source: DocumentSource, block: Block, glossary: bool, bold: bool) -> Iterator[RawEntity | None]:
    if not bold and "\n: " not in block.text:
        return
    lines = block.text.split("\n")
    for index, text in enumerate(lines):
        line = block.line + index
        if index + 1 < len(lines) and lines[index + 1].startswith(": ") and not text.startswith(": "):
            end = index + 1
            while end + 1 < len(lines) and lines[end + 1].startswith(": "):
                end += 1
            if term := _plain(source, text):
                yield _concept(source, term, (line, block.line + end))
        elif name := _line_term(source, text, glossary, bold):
            yield _concept(source, name, (line, line))


def _line_term(source: DocumentSource, text: str, glossary: bool, bold: bool) -> str | None:
    """The term that a line defines: `**Term**: text` where bold counts, `Term — text` in glossaries."""
    if bold and (name := _bold_term(source, text, dash=glossary)):
        return name
    if glossary and (match := _DASH.match(text)) and not _SENTENCE.match(match.group(1)):
        return _short(_plain(source, match.group(1)))
    return None


def _bold_term(source: DocumentSource, text: str, dash: bool) -> str | None:
    match = _BOLD.match(text)
    if match is None:
        return None
    term = (match.group(1) or match.group(2)).strip()
    mark, follows = match.group(3), match.group(4)
    inside = term.endswith(":")
    if not follows or not (inside or mark == ":" or (dash and mark)):
        return None
    return _short(_plain(source, term.rstrip(": ")))


def _item_term(source: DocumentSource, item: Item) -> str | None:
    text = item.text.partition("\n")[0]
    if name := _bold_term(source, text, dash=True):
        return name
    match = (_DASH.match(text) or _COLON.match(text)) if item.depth == 0 else None
    return _short(_plain(source, match.group(1))) if match else None


def _plain(source: DocumentSource, raw: str) -> str:
    name = plain_text(raw, source.parsed.references).strip()
    return "" if name.lower().rstrip(":") in _LABELS else name


def _short(name: str) -> str | None:
    return name if name and len(name.split()) <= MAX_TERM_WORDS else None
