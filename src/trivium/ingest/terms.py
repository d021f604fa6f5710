"""Terms that a document defines: in the tables and lists of a glossary, and where a contract says what a word means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trivium.ingest.parsed import one_line

MOST = 500
LONGEST_TERM = 80
LONGEST = 2_000
WINDOW = 2_000_000
"""Characters of a document that are looked at."""

_LONGEST_LINE = 4_000
_GLOSSARY = re.compile(
    r"glossar|terminolog|definition|\bterms and abbreviations\b|abbreviation|acronym|vocabular|begriffe|abkürzung"
    r"|glosario|definicion|glossaire|définition|术语|词汇|定义|缩写|用語",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*\Z")
_ROW = re.compile(r"[ \t]*\|?(.+?)\|(.+?)(?:\|.*)?\Z")
_RULE = re.compile(r"[\s|:-]+\Z")
_FIRST = re.compile(
    r"(?:term|word|name|concept|abbreviation|acronym|begriff|abkürzung|término|terme|术语|词|用語)\w*\Z", re.IGNORECASE
)
_SECOND = re.compile(
    r"(?:definition|meaning|description|explanation|stands for|expansion|bedeutung|erklärung|definición|significado"
    r"|définition|定义|含义|说明|意味|定義)\w*\Z",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"""
    [ \t]* (?: [-*+•] | \d{1,3}[.)] )? [ \t]*
      (?: \*\* | __ | ` ) (?P<marked> [^*_`\n]{1,80} ) (?: \*\* | __ | ` )
      [ \t]* (?: [:：] | [-–—]{1,2} )? [ \t]* (?P<said> \S.* ) \Z
    | [ \t]* (?: [-*+•] | \d{1,3}[.)] ) [ \t]+ (?P<plain> [^:：\n]{1,80}? )
      [ \t]* (?: [:：] | [ \t][-–—]{1,2}[ \t] ) [ \t]* (?P<then> \S.* ) \Z
    """,
    re.VERBOSE,
)
_MEANS = re.compile(
    r"""
    ["“„«] (?P<term> [^"“”„«»\n]{1,80} ) ["”“»] (?: [ \t]* \( [^()\n]{1,80} \) )? [ \t\n]+
    (?: means | shall[ ]mean | has[ ]the[ ]meaning | refers[ ]to | bedeutet | bezeichnet | significa | désigne ) \b
    [^\n]* (?: \n (?! [ \t]*\n ) [^\n]* ){0,8}
    """,
    re.VERBOSE,
)


def terms_of(text: str, path: str, title: str) -> list[tuple[str, str]]:
    """Terms with their definitions, verbatim, in the order of the text.

    >>> terms_of("# Glossary\\n\\n- **Buoy**: a float.\\n- **Quay**: a wall to land at.\\n", "a.md", "Glossary")
    [('Buoy', 'a float.'), ('Quay', 'a wall to land at.')]
    """
    text = text[:WINDOW]
    found: dict[str, tuple[str, str]] = {}
    for term, meaning in [*_listed(text, f"{path} {title}"), *_stated(text)]:
        term, meaning = one_line(term.strip(' *_`"“”|:')), meaning.strip(" |")[:LONGEST].strip()
        if term and meaning and len(term) <= LONGEST_TERM and any(map(str.isalpha, term)):
            found.setdefault(term.casefold(), (term, meaning))
        if len(found) >= MOST:
            break
    return list(found.values())


def _stated(text: str) -> Iterator[tuple[str, str]]:
    for match in _MEANS.finditer(text):
        yield match["term"], _first_sentences(match[0])


def _first_sentences(text: str) -> str:
    from trivium.search.sentences import sentences

    spans = sentences(text)
    return text[: spans[0][1]] if spans else text


def _listed(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Rows of tables with a column of terms and one of meanings; items and headings where the place is a glossary."""
    whole = bool(_GLOSSARY.search(name))
    inside = whole
    depth = 0
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        line = lines[index].rstrip("\r")
        index += 1
        heading = _HEADING.match(line) if line.startswith("#") and len(line) <= _LONGEST_LINE else None
        if heading:
            level = len(heading[1])
            if inside and not whole and level <= depth:
                inside = False
            if not inside and _GLOSSARY.search(heading[2]):
                inside, depth = True, level
            elif inside:
                yield from _under_heading(heading[2], lines, index)
            continue
        if "|" in line and _is_head(line):
            while index < len(lines) and "|" in lines[index]:
                row = _ROW.match(lines[index].rstrip("\r"))
                if row and not _RULE.match(lines[index]):
                    yield row[1], row[2]
                index += 1
        elif inside:
            item = _ITEM.match(line[:_LONGEST_LINE].strip())
            if item:
                yield item["marked"] or item["plain"], item["said"] or item["then"]


def _is_head(line: str) -> bool:
    row = _ROW.match(line)
    return row is not None and bool(_FIRST.match(row[1].strip(" *"))) and bool(_SECOND.match(row[2].strip(" *")))


def _under_heading(title: str, lines: list[str], index: int) -> Iterator[tuple[str, str]]:
    """A heading that is a term, with the paragraph below it."""
    while index < len(lines) and not lines[index].strip():
        index += 1
    paragraph = []
    while index < len(lines) and lines[index].strip() and not lines[index].startswith(("#", "|", "- ", "* ", "```")):
        paragraph.append(lines[index].strip())
        index += 1
    if paragraph and not _GLOSSARY.search(title) and len(title.split()) <= 6:
        yield title, "\n".join(paragraph)
