"""What a document is by its path: record, glossary, change log (reference 4.1 to 4.3)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from posixpath import basename
from typing import Any

from msgspec import Struct

from trivium.why.change_places import ChangePlace, change_place, has_own_ending
from trivium.why.generated import DEFAULT_MARKERS
from trivium.why.wording import is_cjk, words

MARKDOWN = frozenset({".md", ".mdx"})
PLAIN = frozenset({".rst", ".adoc", ".txt", ""})

BESIDE = "kep.yaml"
"""The file with the title, status and dates of a proposal whose text is the README of its folder."""

_ENDING = "|".join(sorted(word for word in words("glossary") if not word.isascii() and is_cjk(word)))
_RECORD_FOLDER = re.compile(
    r"_?(?:(?:architectur(?:e|al)|design|technical|tech|engineering|software|product|project|key)_)?"
    r"(?:adrs?|decisions|decision_(?:records?|logs?))"
)
_RECORD_NAME = re.compile(r"(?:adrs?|decisions)[-_.]|adrs?\d")
_GLOSSARY_PART = re.compile(
    rf"(?:.*[-_. ])?(?:{'|'.join(sorted(words('glossary')))})(?:[-_. ].*)?|definitions(?:[-_. ].*)?|.*(?:{_ENDING})"
)
"""A part of a path that says glossary, in any of the languages; without spaces between words at its end."""
_BOOK_SUFFIXES = frozenset({".rst", ".adoc"})
_NUMBER = re.compile(r"\d+[-_. ]+")
_SEPARATOR = re.compile(r"[- ]")
_NUMBERED = re.compile(r"(?:[a-z]+[-_ ])?0*([1-9]\d{0,5})[-_. ]+(.*)")
_TEMPLATE_WORDS = frozenset(
    {"template", "templates", "adr", "madr", "decision", "record", "short", "long", "minimal", "bare", "the", "a"}
)


class DocumentRules(Struct, frozen=True):
    """Places in addition to the usual ones, as globs (`**` crosses folders), and the generators' markers."""

    records: tuple[str, ...] = ()
    glossaries: tuple[str, ...] = ()
    changelogs: tuple[str, ...] = ()
    markers: tuple[str, ...] = DEFAULT_MARKERS


class Place(Struct, frozen=True):
    """What a path alone says about a document."""

    suffix: str
    stem: str
    record: bool
    glossary: bool
    terms_apart: bool
    """A glossary in which each file may be one term: a folder, or what a pattern with a wildcard names."""
    change_place: ChangePlace
    not_record: bool
    """A template at the place of a record, or a folder's README or index that no pattern names (`rfcs/*/README.md`)."""
    template: bool

    @property
    def changelog(self) -> bool:
        return self.change_place.is_log

    @property
    def is_only_changelog(self) -> bool:
        return self.changelog and not (self.record or self.glossary)

    @property
    def is_markdown(self) -> bool:
        return self.suffix in MARKDOWN


def is_document(path: str, rules: DocumentRules) -> bool:
    """Whether a path is read as a document (2.1): Markdown; other texts as records, glossaries, change logs."""
    name = basename(path).lower()
    suffix = _suffix(name)
    if suffix in MARKDOWN:
        return True
    if suffix not in PLAIN and not has_own_ending(path, name, suffix):
        return False
    place = place_of(path, rules)
    if place.suffix not in PLAIN:
        return False
    if place.suffix in _BOOK_SUFFIXES and (place.glossary or _is_log(place.stem)):
        return True
    named = place.glossary and _any(rules.glossaries, path)
    return place.changelog or named or (place.record and not place.not_record)


@lru_cache(maxsize=4_096)
def place_of(path: str, rules: DocumentRules, stated: bool = False) -> Place:
    """What the path says (4.1, 4.2, 4.3); case does not count. `stated`: a file `beside` it makes it a record.

    >>> place_of("docs/ADR/0001-x.md", DocumentRules()).record
    True
    """
    *folders, name = path.lower().split("/")
    suffix = _suffix(name)
    if suffix not in PLAIN and has_own_ending(path, name, suffix):
        suffix = ""
    stem = name.removesuffix(suffix) if suffix else name
    named = [glob for glob in rules.records if _glob(glob).fullmatch(path)]
    record = stated or bool(named) or bool(_RECORD_NAME.match(name))
    record = record or any(_RECORD_FOLDER.fullmatch(_SEPARATOR.sub("_", part)) for part in folders)
    home = is_home(stem)
    terms = [glob for glob in rules.glossaries if _glob(glob).fullmatch(path)]
    folder = any(_is_glossary(part) for part in folders)
    template = record and (_is_template(stem) or (home and bool(folders) and _is_template(folders[-1])))
    return Place(
        suffix=suffix,
        stem=basename(path)[: len(stem)],
        record=record,
        glossary=folder or _is_glossary(stem) or bool(terms),
        terms_apart=not home and (folder or any("*" in basename(glob) for glob in terms)),
        change_place=change_place(path, suffix, named=_any(rules.changelogs, path)),
        not_record=record
        and (template or (home and not stated and not any(is_home(basename(glob)) for glob in named))),
        template=template,
    )


def beside(path: str) -> str | None:
    """Where a file may stand that says what the front matter of a document could; None for most documents.

    >>> beside("keps/sig-a/12-x/README.md"), beside("keps/sig-a/12-x/notes.md")
    ('keps/sig-a/12-x/kep.yaml', None)
    """
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{BESIDE}" if name.lower() == "readme.md" else None


def is_beside(path: str) -> bool:
    """Whether a file is named as one that stands beside a document and belongs to it."""
    return path == BESIDE or path.endswith(f"/{BESIDE}")


def is_home(name: str) -> bool:
    """Whether a file speaks for its folder: README or index, with any ending."""
    return name.lower().split(".", 1)[0] in ("readme", "index")


def _is_glossary(part: str) -> bool:
    """Whether a part of a path, in lower case, says that terms are below; file systems may part letters from marks."""
    return _GLOSSARY_PART.fullmatch(part if part.isascii() else unicodedata.normalize("NFC", part)) is not None


def _is_log(stem: str) -> bool:
    """Whether a file is named as a folder of records is, perhaps numbered: `09_architecture_decisions`."""
    return _RECORD_FOLDER.fullmatch(_SEPARATOR.sub("_", _NUMBER.sub("", stem.lower(), count=1))) is not None


def _suffix(name: str) -> str:
    dot = name.rfind(".")
    suffix = name[dot:] if dot > 0 else ""
    return "" if suffix[1:].isdigit() else suffix


def _is_template(stem: str) -> bool:
    """A name with `template`, unless it is a numbered record about templates."""
    if "template" not in stem:
        return False
    numbered = _NUMBERED.fullmatch(stem)
    return numbered is None or _TEMPLATE_WORDS.issuperset(re.split(r"[-_. ]+", numbered.group(2)))


def _any(globs: tuple[str, ...], path: str) -> bool:
    return any(_glob(glob).fullmatch(path) for glob in globs)


@lru_cache(maxsize=256)
def _glob(glob: str) -> Any:
    """`*` and `?` stay within a folder; `**` as a whole part stands for any folders, at the end for anything.

    RE2 matches them, since no pattern takes it more than linear time.
    """
    import re2

    pieces: list[str] = []
    parts = glob.removeprefix("./").split("/")
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            pieces.append(".*" if last else "(?:[^/]+/)*")
            continue
        escaped = re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
        pieces.append(escaped if last else escaped + "/")
    return re2.compile("(?s)" + "".join(pieces))
