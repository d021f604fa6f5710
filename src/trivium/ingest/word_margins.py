"""Headers and footers of a Word file: which of them are shown, and what they say besides the numbers of pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trivium.ingest.word_tree import R, W, is_on, root_of

_PAGE = "\ue000"
"""Stands for the number of a page or of pages."""
_LONGEST_TOLD = 100
_COUNTING = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)
_BESIDE = re.compile(
    rf"""
    (?:\b(?:page|pg\.?|p\.|seite|s\.|página|pagina|pág\.?|side|sida|sivu|strona|str\.|страница|стр\.)[^\S\n]*|第\s*)?
    {_PAGE}
    (?:[^\S\n]*(?:of|von|de|sur|di|van|av|af|z|из|/|[页頁]?[,，]?\s*共)[^\S\n]*{_PAGE})?[^\S\n]*[页頁]?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BETWEEN = re.compile(r"\t+| \| ")


def margins_of(part: Any, settings: Any, kind: str) -> Iterator[Any]:
    """The parts that hold the headers (or footers) that are shown on any page, each once.

    Those of a first page, and those of even pages, count where the document tells them apart.
    """
    sections = [item for item in root_of(part).iter(W + "sectPr") if item.getparent().tag != W + "sectPrChange"]
    shown = {"default"}
    if any(is_on(section.find(W + "titlePg")) for section in sections):
        shown.add("first")
    if settings is not None and is_on(settings.find(W + "evenAndOddHeaders")):
        shown.add("even")
    seen: set[str] = set()
    for section in sections:
        for reference in section.iterchildren(f"{W}{kind}Reference"):
            id_ = reference.get(R + "id", "")
            if reference.get(W + "type", "default") not in shown or id_ in seen or id_ not in part.rels:
                continue
            seen.add(id_)
            relation = part.rels[id_]
            if not relation.is_external:
                yield relation.target_part


def mark_page_numbers(root: Any) -> None:
    """Put a sign in the place of the results of the fields that count pages."""
    for field in root.iter(W + "fldSimple"):
        if _COUNTING.match(field.get(W + "instr", "")):
            _blank(list(field.iter(W + "t")))
    open_: list[_Field] = []
    for item in root.iter(W + "fldChar", W + "instrText", W + "t"):
        if item.tag == W + "fldChar":
            kind = item.get(W + "fldCharType")
            if kind == "begin":
                open_.append(_Field())
            elif kind == "separate" and open_:
                open_[-1].shows = True
            elif kind == "end" and open_:
                field = open_.pop()
                if _COUNTING.match(field.told):
                    _blank(field.texts)
        elif item.tag == W + "t":
            if open_ and open_[-1].shows:
                open_[-1].texts.append(item)
        elif open_ and len(open_[-1].told) < _LONGEST_TOLD:
            open_[-1].told += item.text or ""


class _Field:
    """A field while it is read: what it is told to show, and the texts that show it."""

    def __init__(self) -> None:
        self.told = ""
        self.shows = False
        self.texts: list[Any] = []


def _blank(texts: list[Any]) -> None:
    for number, item in enumerate(texts):
        item.text = "" if number else _PAGE


def without_page_numbers(text: str) -> str:
    """The text of a margin on one line for each of its own, without what says only which page this is.

    >>> without_page_numbers("Acme\\tPage \\ue000 of \\ue000")
    'Acme'
    """
    lines = []
    for line in text.split("\n"):
        parts = []
        for part in _BETWEEN.split(line):
            left = _BESIDE.sub("", part) if _PAGE in part else part
            if any(map(str.isalnum, left)):
                parts.append(" ".join(left.split()).strip("|-–— ") if left is not part else part.strip())
        if parts:
            lines.append(" | ".join(parts))
    return "\n".join(lines)
