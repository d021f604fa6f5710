"""Concepts: concept documents, glossaries and definitions (reference 4.2)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from trivium.code.front_matter import texts_of
from trivium.why.decisions import is_record
from trivium.why.inline import attributes_after, plain_text, without_attributes
from trivium.why.markdown import HEADING, LIST, PARAGRAPH, TABLE, TERMS, Block, Heading, Item
from trivium.why.model import RawEntity
from trivium.why.source import DocumentSource
from trivium.why.terms import is_alias_label, listed_names, may_list_names, other_names
from trivium.why.wording import normal, words

MAX_TERM_WORDS = 6
MAX_LINE = 1_024

_GLOSSARY_TYPES = frozenset({"glossary", "definitions"})
_GLOSSARY_TEXT = re.compile(r"glossary|definitions", re.IGNORECASE)
_BOLD = re.compile(
    r"\s*(?:\*\*(?!\s)([^*\n]{1,300}?)\*\*|__(?!\s)([^_\n]{1,300}?)__)(\s*[(（][^()（）\n]{1,120}[)）])?\s*([:：–—]?)\s*(\S?)"
)
_BOLD_FIRST = re.compile(r"\s*(?:\*\*[^*\n]{1,300}\*\*|__[^_\n]{1,300}__)")
_DASH = re.compile(r"\s*(\S[^–—\n]{0,299}?)\s+[–—]\s+\S")
_COLON = re.compile(r"\s*(\S[^:\n]{0,299}?)\s*:\s+\S")
_KEYED = re.compile(r"[\s>*_+:-]*([^\W\d_][^:：\n]{0,40}?)[\s*_]*[:：]+[\s*_]*(\S.*)")
_REMARK = re.compile(r"\s*[(（][^()（）]*[)）]\s*")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_INDEX = re.compile(r"[\w#](?:\s*[-–—,]\s*\w)*")
_NAMES = frozenset({"term", "name", "full term", "meaning of acronym"})
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
        *("superseded by", "author", "authors", "owner", "owners", "version", "updated", "summary"),
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
            source.reasons.add("unbound-glossary-aliases", source.front_lines.get("aliases", 1))
        return [*filter(None, concepts), *_Glossary(source).read(blocks=not is_record(source))]
    if not is_record(source):
        concepts.extend(_from_blocks(source, bold=declared or bool(aliases and plain)))
    return [concept for concept in concepts if concept is not None]


def _concept(source: DocumentSource, name: str, lines: tuple[int, int]) -> RawEntity | None:
    entity = source.state("concept", f"knowledge-concept:{name}", name, lines)
    if entity is not None:
        entity.defines = True
        entity.aliases = other_names(name)
    return entity


def _whole(source: DocumentSource, aliases: list[str]) -> RawEntity | None:
    if source.parsed.is_blank():
        return None
    entity = _concept(source, source.title() or source.place.stem, (1, max(source.parsed.line_count, 1)))
    if entity is not None:
        entity.aliases = list(dict.fromkeys([*aliases, *entity.aliases]))
    return entity


def _from_blocks(source: DocumentSource, bold: bool) -> Iterator[RawEntity | None]:
    """Definitions in the paragraphs of a document that is no glossary; in a change log only Markdown has some."""
    if source.place.changelog and not source.place.is_markdown:
        return
    for block in source.parsed.blocks:
        if block.line > source.parsed.last_line:
            return
        if block.kind == PARAGRAPH:
            for name, lines in _definitions(source, block, bold, glossary=False):
                yield _concept(source, name, lines)


# --- glossaries -----------------------------------------------------------------------------------


class _Glossary:
    """The terms of one glossary: its headings, definitions, lists and tables, not what follows or introduces them."""

    def __init__(self, source: DocumentSource) -> None:
        self._source = source
        self._headings = source.parsed.headings
        self._apart = list(self._sections_apart())
        self._sections: list[tuple[int, int, RawEntity]] = []
        """The own lines of each heading that is a term, up to the next heading."""

    def read(self, blocks: bool = True) -> list[RawEntity]:
        """All terms; with `blocks` those of lists, tables and lines, too."""
        if self._is_term_page():
            return self._page()
        headed = [entity for entity in self._from_headings() if entity is not None]
        found = [entity for entity in self._from_blocks() if entity is not None] if blocks else []
        if not headed and not found and self._source.place.terms_apart and not self._is_collection(self._title()):
            return self._page()
        self._add_aliases()
        return [*headed, *found]

    # --- pages of one term ------------------------------------------------------------------------

    def _title(self) -> str:
        return self._source.title() or ""

    def _page(self) -> list[RawEntity]:
        """A page of a glossary's folder that is one term."""
        aliases = texts_of(self._source.front.get("aliases"))
        if aliases:
            self._source.reasons.pop("unbound-glossary-aliases", None)
        entity = _whole(self._source, aliases) if self._title() else None
        if entity is None:
            return []
        self._sections = [(1, self._source.parsed.last_line, entity)]
        self._add_aliases()
        return [entity]

    def _is_term_page(self) -> bool:
        """Whether a file of a glossary's folder is named after its title, as `glossary/cache.md` after `# Cache`."""
        title = self._title()
        if not self._source.place.terms_apart or not title or self._is_collection(title):
            return False
        return _slug(self._source.place.stem) in {_slug(name) for name in (title, *other_names(title))}

    # --- headings ---------------------------------------------------------------------------------

    def _from_headings(self) -> Iterator[RawEntity | None]:
        """Headings but the page's title, those that only gather terms, the letters of an index, and sections apart."""
        openings = _openings(self._source)
        for index, heading in enumerate(self._headings):
            if (index == 0 and self._is_title(heading)) or self._is_apart(heading.line):
                continue
            top = heading.level <= self._headings[0].level
            if (top and _GLOSSARY_TEXT.search(heading.text)) or normal(heading.text) in words("collection"):
                continue
            following = self._headings[index + 1] if index + 1 < len(self._headings) else None
            opening = openings.get(heading.line)
            letter = _INDEX.fullmatch(heading.text) is not None
            if letter and following is not None and following.level > heading.level:
                continue
            if opening is not None and _is_group(self._source, opening, letter):
                continue
            entity = _concept(self._source, heading.text, (heading.line, self._source.section_end(index)))
            if entity is not None:
                last = following.line - 1 if following else self._source.parsed.last_line
                self._sections.append((heading.line, last, entity))
            yield entity

    def _is_title(self, first: Heading) -> bool:
        """Whether the first heading is the page's title: alone at the top, above others unless it is of level 1."""
        others = self._headings[1:]
        alone = all(heading.level > first.level for heading in others)
        return alone and bool(others or (first.level == 1 and not self._source.declared_title()))

    def _is_collection(self, title: str) -> bool:
        label = normal(title)
        return bool(_GLOSSARY_TEXT.search(title)) or label in words("collection") or label in words("opening")

    def _sections_apart(self) -> Iterator[tuple[int, int]]:
        """Sections such as `See also` and `References`, and lists below a line that says so."""
        for index, heading in enumerate(self._headings):
            if normal(heading.text) in words("closing") and not (index == 0 and self._is_title(heading)):
                yield heading.line, self._source.section_end(index)
        for above, block in pairwise(self._source.parsed.blocks):
            label = plain_text(above.text).rstrip() if above.kind == PARAGRAPH and len(above.text) < 80 else ""
            if block.kind == LIST and label and normal(label) in words("closing"):
                yield block.line, block.end

    def _is_apart(self, line: int) -> bool:
        return any(start <= line <= end for start, end in self._apart)

    # --- definitions ------------------------------------------------------------------------------

    def _from_blocks(self) -> Iterator[RawEntity | None]:
        for block in self._source.parsed.blocks:
            if block.line > self._source.parsed.last_line:
                return
            if self._is_apart(block.line):
                continue
            if block.kind == PARAGRAPH:
                for name, lines in _definitions(self._source, block, bold=True, glossary=True):
                    if not (is_alias_label(name) and self._section_of(lines[0])):
                        yield _concept(self._source, name, lines)
            elif block.kind == LIST:
                yield from self._from_items(block.items)
            elif block.kind == TABLE:
                yield from self._from_rows(block)
            elif block.kind == TERMS:
                yield from self._from_terms(block)

    def _from_items(self, items: list[Item]) -> Iterator[RawEntity | None]:
        """Terms of a list; a nested item `Aliases: …` belongs to the term above it."""
        parent: RawEntity | None = None
        for item in items:
            if item.depth == 0:
                parent = None
            keyed = _alias_line(self._source, item.text.partition("\n")[0])
            if keyed is not None and (item.depth or self._section_of(item.line)):
                if parent is not None:
                    _add(parent, keyed)
                continue
            if name := _item_term(self._source, item):
                entity = _concept(self._source, name, (item.line, item.end))
                parent = entity if item.depth == 0 else parent
                yield entity

    def _from_terms(self, block: Block) -> Iterator[RawEntity | None]:
        """Entries of a list of terms; several names of one entry are aliases of the first."""
        for item in block.items:
            name, *others = (_plain(self._source, text) for text in item.text.split("\n"))
            if is_alias_label(name) and self._section_of(item.line):
                continue
            entity = _concept(self._source, name, (item.line, item.end)) if name else None
            if entity is not None:
                _add(entity, [other for other in others if other])
            yield entity

    def _from_rows(self, block: Block) -> Iterator[RawEntity | None]:
        """The first column of a table; columns of other names give aliases."""
        header = [plain_text(cell, self._source.parsed.references) for cell in block.rows[0]]
        headed = block.header or any(is_alias_label(label) or normal(label) in _NAMES for label in header[:1])
        if not headed:
            header = []
        short = bool(header) and is_alias_label(header[0])
        columns = [
            number
            for number, label in enumerate(header)
            if number and (is_alias_label(label) or (short and normal(label) in _NAMES))
        ]
        for row, line in zip(block.rows[headed:], block.row_lines[headed:], strict=False):
            name = _plain(self._source, row[0]) if row else ""
            entity = _concept(self._source, name, (line, line)) if name else None
            if entity is not None:
                for cell in (row[number] for number in columns if number < len(row)):
                    _add(entity, listed_names(self._read(_BREAK.sub(", ", cell))))
            yield entity

    def _read(self, raw: str) -> str:
        return plain_text(raw, self._source.parsed.references)

    # --- other names ------------------------------------------------------------------------------

    def _section_of(self, line: int) -> RawEntity | None:
        """The heading that is a term and whose own text this line belongs to."""
        at = bisect_left(self._sections, line, key=lambda section: section[0]) - 1
        if at < 0:
            return None
        _, last, entity = self._sections[at]
        return entity if line <= last else None

    def _add_aliases(self) -> None:
        """Gives lines such as `Also known as: …` below a heading to its term."""
        if not self._sections:
            return
        for line in self._source.text_lines(self._sections[0][0], self._source.parsed.last_line):
            if may_list_names(line.text) and not self._is_apart(line.number):
                names = _alias_line(self._source, line.text)
                if names and (entity := self._section_of(line.number)):
                    _add(entity, names)


def _openings(source: DocumentSource) -> dict[int, Block]:
    """The first block below each heading, by the heading's line."""
    blocks = source.parsed.blocks
    return {block.line: after for block, after in pairwise(blocks) if block.kind == HEADING}


def _is_group(source: DocumentSource, opening: Block, letter: bool) -> bool:
    """Whether a heading only gathers terms: at least two, below a letter of an index one, follow at once.

    They are most of what its list or table holds.
    """
    least = 1 if letter else 2
    if opening.kind == TERMS:
        first = opening.items[0].text.partition("\n")[0]
        return bool(_plain(source, first)) and not is_alias_label(first)
    if opening.kind == PARAGRAPH and not letter:
        return opening.text.count("\n: ") >= least and len(list(_definitions(source, opening, False, True))) >= least
    if letter and opening.kind == PARAGRAPH:
        return next(_definitions(source, opening, bold=True, glossary=True), None) is not None
    if opening.kind == TABLE:
        return len(opening.rows) > least
    items = [item for item in opening.items if item.depth == 0] if opening.kind == LIST else []
    terms = sum(_bold_term(source, item.text.partition("\n")[0], dash=True) is not None for item in items)
    return terms >= least and 2 * terms > len(items)


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold()).lstrip("0123456789")


# --- lines ----------------------------------------------------------------------------------------


def _definitions(
    source: DocumentSource, block: Block, bold: bool, glossary: bool
) -> Iterator[tuple[str, tuple[int, int]]]:
    """The terms that lines of a paragraph define, with their lines."""
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
                yield term, (line, block.line + end)
        elif name := _line_term(source, text, glossary, bold):
            yield name, (line, line)


def _line_term(source: DocumentSource, text: str, glossary: bool, bold: bool) -> str | None:
    """The term that a line defines: `**Term**: text` where bold counts, `Term — text` in glossaries."""
    if bold and (name := _bold_term(source, text, dash=glossary)):
        return name
    if glossary and (match := _DASH.match(text)) and not _SENTENCE.match(match.group(1)):
        return _short(_plain(source, match.group(1)))
    return None


def _bold_term(source: DocumentSource, text: str, dash: bool) -> str | None:
    """The bold words before a colon or dash, with what follows in parentheses if that is another name."""
    if "{" in text and (begins := _BOLD_FIRST.match(text)):
        text = text[: begins.end()] + text[attributes_after(text, begins.end()) :]
    match = _BOLD.match(text)
    if match is None:
        return None
    term = (match.group(1) or match.group(2)).strip()
    remark, mark, follows = (match.group(3) or "").strip(), match.group(4), match.group(5)
    inside = term.endswith((":", "："))
    if not follows or not (inside or mark in (":", "：") or (dash and mark)):
        return None
    name = _plain(source, term.rstrip(":： "))
    whole = f"{name} {plain_text(remark, source.parsed.references)}" if remark and not inside else name
    return _short(whole if other_names(whole) else name)


def _item_term(source: DocumentSource, item: Item) -> str | None:
    text = item.text.partition("\n")[0]
    if name := _bold_term(source, text, dash=True):
        return name
    match = (_DASH.match(text) or _COLON.match(text)) if item.depth == 0 else None
    return _short(_plain(source, match.group(1))) if match else None


def _alias_line(source: DocumentSource, text: str) -> list[str] | None:
    """The names that a line `Aliases: …` lists; None for other lines."""
    if not may_list_names(text):
        return None
    match = _KEYED.match(plain_text(_BREAK.sub(", ", text[:MAX_LINE]), source.parsed.references))
    return listed_names(match.group(2)) if match and is_alias_label(match.group(1)) else None


def _add(entity: RawEntity, names: list[str]) -> None:
    entity.aliases = list(dict.fromkeys([*entity.aliases, *(name for name in names if name != entity.name)]))


def _plain(source: DocumentSource, raw: str) -> str:
    name = plain_text(without_attributes(raw), source.parsed.references).strip()
    label = normal(name)
    return "" if label in _LABELS or label in words("closing") else name


def _short(name: str) -> str | None:
    """A name of at most six words, what stands in parentheses apart."""
    return name if name and len(_REMARK.sub(" ", name).split()) <= MAX_TERM_WORDS else None
