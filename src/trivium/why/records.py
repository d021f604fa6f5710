"""Where a supersession target leads: the records of a repository by path and by number (reference 4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from posixpath import basename, dirname, join, normpath

from trivium.why.model import DECISION, Document, RawEntity, bounded_id
from trivium.why.places import is_home
from trivium.why.supersession import RECORD_WORDS

_SECTION = re.compile(r"^\d+(?:\.\d+)+[.)]?\s+")
_FILE_NUMBER = re.compile(r"(?:[A-Za-z]+[-_ ])*0*(\d{1,6})(?=[-_. ]|$)(?!-\d\d-\d\d)")
_TITLE_NUMBER = re.compile(
    r"(?:(?:[A-Za-z]+[\s#_-]*)?0*(?=\d{1,6}\s*[.:–—-])"
    rf"|{RECORD_WORDS}[\s#_-]*0*(?=\d{{1,6}}\s*\Z))(\d{{1,6}})",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:[A-Za-z]+[\s#_-]*|#)?(?:(?:no\.?|nr\.?|n[°º]|№|number)\s*)?0*(\d{1,6})", re.IGNORECASE)
_PAGES = re.compile(r"(?:.*/)?modules/[^/]+/pages/")
_SUFFIXES = ("", ".md", ".mdx", ".rst", ".adoc", ".txt")


class Records:
    """The records among the stated entities: one a document, found by its path or by its number in its folder."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_number: dict[tuple[str, str], list[str]] = {}
        for document in documents:
            for raw in document.entities:
                if is_record_entity(raw):
                    self._add(document.path, raw)
                elif raw.kind == DECISION and (match := _TITLE_NUMBER.match(_SECTION.sub("", raw.name))):
                    self._by_number.setdefault((document.path, _number(match)), []).append(raw.id)

    def _add(self, path: str, raw: RawEntity) -> None:
        self._by_path[path] = raw.id
        place = _place(path)
        self._by_path.setdefault(place, raw.id)
        if raw.beside is not None:
            self._by_path.setdefault(raw.beside.path, raw.id)
        match = _FILE_NUMBER.match(basename(place)) or _TITLE_NUMBER.match(raw.name)
        if match:
            self._by_number.setdefault((dirname(place), _number(match)), []).append(raw.id)

    def find(self, target: str, record: str) -> str | None:
        """The id of the one record that a written target names, seen from the record at path `record`; else None.

        A path is tried relative to the record, then from the root, each with the usual suffixes too, then from the
        `pages` of an Antora module; a number must name exactly one decision of the same document, else one record of
        the same folder. A record that is the README or index of a folder counts as that folder.
        """
        written = re.split(r"[#?]", target, maxsplit=1)[0].strip() or target
        if "\0" not in written and "\\" not in written:
            places = [written.lstrip("/")] if written.startswith("/") else [join(dirname(record), written), written]
            if pages := _PAGES.match(record):
                places.append(pages.group() + written)
            for place in places:
                path = normpath(place)
                for suffix in _SUFFIXES:
                    if found := self._by_path.get(path + suffix):
                        return found
        match = _NUMBER.fullmatch(target.strip())
        if match is None:
            return None
        for place in (record, dirname(_place(record))):
            if numbered := self._by_number.get((place, _number(match)), []):
                return numbered[0] if len(numbered) == 1 else None
        return None


def is_record_entity(raw: RawEntity) -> bool:
    """Whether a decision is a record of its own, not a heading (their ids differ, 3.4)."""
    return raw.kind == DECISION and raw.id == bounded_id(f"knowledge-decision:{raw.region.path}:{raw.name}")


def _place(path: str) -> str:
    """The path of a record; of a README or index that of its folder."""
    return dirname(path) if is_home(basename(path)) and "/" in path else path


def _number(match: re.Match[str]) -> str:
    return match.group(1).lstrip("0") or "0"
