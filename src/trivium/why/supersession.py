"""Which records a status text names, and in which direction (reference 4.1, supersession).

`superseded by`, `superceded by` and `replaced by` point to the newer record; `supersedes`, `supercedes` and `replaces`
to the older one; the words of other languages are in `wording`. What follows a phrase, up to the next phrase or the end
of its sentence, holds the targets: a list of links, paths and record numbers; where a language puts the record first,
what precedes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from msgspec import Struct, field

from trivium.code.front_matter import Value
from trivium.why.inline import CODE, LINK, TEXT, References, scan_inline
from trivium.why.wording import LANGUAGES, Language, alternation, alternatives, normal, words

MAX_TEXT = 2_048
"""How much of a status or of a list of records is read."""

RECORD_WORDS = r"(?:M?ADR|DR|RFC|RFD|KEP|PEP|JEP|AIP|TEP|PDR|TDR|decision|record|proposal)"
"""What people call a record before its number."""
_BEFORE, _AFTER = r"(?<![A-Za-z0-9_./-])", r"(?![A-Za-z0-9_]|[-_/.:][A-Za-z0-9])"
_NAMED_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_]){RECORD_WORDS}s?(?:[\s#_-]{{0,3}}|\s?(?:no\.?|nr\.?|n[°º]|№|number)\s?)\d{{1,6}}"
    r"(?![A-Za-z0-9_]|[-_][A-Za-z0-9])",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(rf"{_BEFORE}#?(\d{{1,6}}){_AFTER}")
_PADDED_NUMBER = re.compile(rf"{_BEFORE}0\d{{1,5}}{_AFTER}")
_SLUG_NUMBER = re.compile(rf"{_BEFORE}(?:[A-Za-z]{{1,10}}[-_])?\d{{1,6}}[-_][A-Za-z][\w-]{{0,200}}(?![\w./])", re.ASCII)
_PATH = re.compile(r"[\w./@+-]{1,200}\.(?:mdx?|rst|adoc|txt)(?![A-Za-z0-9_])(?:#[\w-]*)?", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SLUG = re.compile(r"[\w./@+#-]+")
_SENTENCE_END = re.compile(r"(?:(?<!\b[Nn][or])\.|[;!?])(?=\s|$)|[。！？；]")
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|#")
_MARK = "\N{BULLET}"
_BETWEEN = r"(?:[\s_*(:,-]|</?[A-Za-z]{1,9}>){0,9}"
"""What may stand between the words of a phrase: emphasis, and as in `Superseded (by …)`."""
_MAX_PHRASE = 80
_NAMING = re.compile(r"[\d\]]|\.\w")
"""What each way to name a record has."""
_COLON = re.compile(r"\s*[:：]")
_LINKED = re.compile(f"{_MARK}+")
_ASIDE = re.compile(
    r"\b(?:which|because|whose|see|extends?|amends?|amended|relates?|related|based\s+on|following|due\s+to|while|although"
    r"|depends?)\b",
    re.IGNORECASE,
)
"""Where a sentence begins to tell about something else than the records it lists."""
_ENDING = re.compile(
    rf"\s*(?:$|[^\w\s]|(?:{alternation([word for one in LANGUAGES.values() for word in alternatives(one, 'linking')])}"
    rf"|{alternation([word for one in LANGUAGES.values() for word in alternatives(one, 'joining')])}))",
    re.IGNORECASE,
)
"""What may follow a bare number that is a record's, unlike `2 services` and `12 March`."""
_JOIN = alternation([word for one in LANGUAGES.values() for word in alternatives(one, "joining")])
_FILLER = re.compile(rf"[\s`*:：=>\[\]\"'“”「」『』]*(?:(?:{_JOIN})[\s:：]*){{0,3}}", re.IGNORECASE)
_SEPARATOR = re.compile(
    rf"[\s`*\]]*(?:\([^()\n]{{0,120}}\)\s*)?(?:[,;&+/、，；]\s*(?:(?:{_JOIN})\s*){{0,3}}|(?:(?:{_JOIN})\s*){{1,3}})[\s`*\[]*",
    re.IGNORECASE,
)


class Supersession(Struct):
    """Targets as written, paths relative to the record or record numbers, each with the line that states it."""

    supersedes: dict[str, int] = field(default_factory=dict)
    superseded_by: dict[str, int] = field(default_factory=dict)

    def add(self, targets: list[str], forward: bool, line: int = 1) -> None:
        known = self.supersedes if forward else self.superseded_by
        for target in targets:
            known.setdefault(target, line)

    def add_all(self, other: Supersession) -> None:
        for target, line in other.supersedes.items():
            self.supersedes.setdefault(target, line)
        for target, line in other.superseded_by.items():
            self.superseded_by.setdefault(target, line)

    def __bool__(self) -> bool:
        return bool(self.supersedes or self.superseded_by)


# --- phrases --------------------------------------------------------------------------------------


class _Phrase(NamedTuple):
    """One phrase of a text; `side` says where its targets stand: `after`, `next`, `colon`, `back` or `in` it."""

    start: int
    end: int
    forward: bool
    side: str
    inside: tuple[int, int]
    language: Language


class _Pattern(NamedTuple):
    pattern: re.Pattern[str]
    forward: bool
    side: str
    language: Language


@lru_cache(maxsize=1)
def _patterns() -> list[_Pattern]:
    found: list[_Pattern] = []
    for language in LANGUAGES.values():
        for name, forward, side in (
            ("by", False, "after"),
            ("of", True, "after"),
            ("by_next", False, "next"),
            ("by_colon", False, "colon"),
            ("of_next", True, "next"),
        ):
            if choices := alternatives(language, name):
                pattern = re.compile(alternation(choices, between=_BETWEEN), re.IGNORECASE)
                found.append(_Pattern(pattern, forward, side, language))
        for name, forward, side in (("by_around", False, "in"), ("by_back", False, "back"), ("of_back", True, "back")):
            if written := getattr(language, name):
                found.append(_Pattern(re.compile(written, re.IGNORECASE), forward, side, language))
    return found


@lru_cache(maxsize=16)
def _denying(language: Language) -> re.Pattern[str]:
    choices = alternation(alternatives(language, "denied"))
    return re.compile(rf"(?:{choices})[^.;!?。；\n]{{0,40}}\Z", re.IGNORECASE)


def _phrases(text: str, masked: str = "") -> list[_Phrase]:
    """The phrases of a text from left to right, the longer one where two overlap.

    What stands around a target is sought where links are `masked`, too, since these hold ends of sentences.
    """
    found: list[_Phrase] = []
    for pattern, forward, side, language in _patterns():
        matches = pattern.finditer(text)
        for match in chain(matches, pattern.finditer(masked)) if side == "in" else matches:
            inside = match.span("in") if side == "in" else (match.end(), match.end())
            found.append(_Phrase(match.start(), match.end(), forward, side, inside, language))
    found.sort(key=lambda phrase: (phrase.start, -phrase.end))
    kept: list[_Phrase] = []
    for phrase in found:
        if not kept or phrase.start >= kept[-1].end:
            kept.append(phrase)
    return kept


@lru_cache(maxsize=1)
def _keys() -> dict[str, bool]:
    forward = {True: ("of", "of_next", "of_keys"), False: ("by", "by_next", "by_keys")}
    return {word.replace(" ", ""): of for of, names in forward.items() for name in names for word in words(name)}


def direction_of(key: str) -> bool | None:
    """Whether a key states what this record supersedes (True) or what supersedes it (False); None for other keys.

    >>> direction_of("Superceded-by"), direction_of("replaces"), direction_of("Ersetzt durch"), direction_of("status")
    (False, True, False, None)
    """
    return _keys().get(normal(key).replace(" ", ""))


def begins_with_phrase(text: str) -> bool:
    """Whether a text begins by saying what supersedes the record.

    >>> begins_with_phrase("Superseded by ADR-3."), begins_with_phrase("It is superseded by ADR-3.")
    (True, False)
    """
    phrases = _phrases(text[:MAX_TEXT])
    return bool(phrases) and phrases[0].start == 0 and not phrases[0].forward and phrases[0].side == "after"


def read_supersession(text: str, references: References, into: Supersession, line: int = 1) -> None:
    """Adds what the phrases of a status text state.

    >>> found = Supersession(); read_supersession("Superseded by [3. B](0003-b.md).", {}, found); found.superseded_by
    {'0003-b.md': 1}
    """
    text = text[:MAX_TEXT]
    linked = "]" in text
    phrases = [] if linked else _phrases(text)
    if not (linked or phrases):
        return
    spans = _Spans(text, references)
    phrases = phrases or _phrases(text, spans.masked)
    for index, phrase in enumerate(phrases):
        if _denying(phrase.language).search(spans.masked, max(0, phrase.start - 60), phrase.start):
            continue
        before = phrases[index - 1].end if index else 0
        after = phrases[index + 1].start if index + 1 < len(phrases) else len(text)
        own = [] if index else spans.linked_by(phrase)
        into.add(own or spans.of(phrase, before, after), phrase.forward, line)


@lru_cache(maxsize=1)
def _superseded() -> re.Pattern[str]:
    choices = [word for one in LANGUAGES.values() for word in alternatives(one, "superseded")]
    return re.compile(rf"[\W_]*(?:{alternation(choices)})", re.IGNORECASE)


def names_successor(text: str, references: References) -> bool:
    """Whether a status says that the record is superseded and names a record, in whatever form.

    >>> names_successor("Superseded, see ADR-3", {}), names_successor("Superseded in 2024", {})
    (True, False)
    """
    text = text[:MAX_TEXT]
    said = _superseded().match(text)
    return said is not None and bool(_Spans(text, references).targets(said.end(), len(text)))


@lru_cache(maxsize=1)
def _leading() -> re.Pattern[str]:
    choices = [word for one in LANGUAGES.values() for name in ("by", "of") for word in alternatives(one, name)]
    return re.compile(rf"(?:{alternation(choices, between=_BETWEEN)})\Z", re.IGNORECASE)


def leads_on(text: str) -> bool:
    """Whether a line ends where the record is to be named, as `Superseded by` does, or `Superseded` alone.

    >>> leads_on("Accepted, supersedes:"), leads_on("Superseded by a later decision")
    (True, False)
    """
    text = text[:MAX_TEXT].rstrip(" \t*_:：")
    return (
        _leading().search(text, max(0, len(text) - _MAX_PHRASE)) is not None
        or _superseded().fullmatch(text) is not None
    )


def read_continued(begun: str, text: str, references: References, into: Supersession, line: int = 1) -> None:
    """Adds what a line states together with one above it that leads on; of `Superseded` alone only what it can mean.

    >>> found = Supersession(); read_continued("Superseded", "by ADR-3", {}, found); found.superseded_by
    {'ADR-3': 1}
    """
    if not _NAMING.search(text):
        return
    stated = Supersession()
    read_supersession(f"{begun} {text}", references, stated, line)
    if _superseded().fullmatch(begun.strip()):
        stated.supersedes.clear()
    into.add_all(stated)


def read_targets(value: str, references: References) -> list[str]:
    """The targets that the value of a supersession key lists; a value in no known form stays as it is, to be reported.

    >>> read_targets("ADR-12, 0003-x.md", {}), read_targets("0001-fifo", {}), read_targets("4, 5", {})
    (['ADR-12', '0003-x.md'], ['0001-fifo'], ['4', '5'])
    """
    value = value.strip()[:MAX_TEXT]
    if not value or normal(value) in words("nothing"):
        return []
    spans = _Spans(value, references)
    if targets := spans.targets(0, len(value)):
        return targets
    pieces = [piece.strip(" []`\"'") for piece in value.split(",")]
    return [piece for piece in pieces if _SLUG.fullmatch(piece)] or [value]


def read_front_targets(value: Value, references: References) -> list[str]:
    """The targets of a front matter key: one text, a list of texts, or lists by kind of document (`{adrs: [1]}`)."""
    if isinstance(value, dict):
        return [target for part in value.values() for target in read_front_targets(part, references)]
    values = value if isinstance(value, list) else [value]
    targets: list[str] = []
    for text in values:
        if isinstance(text, list):  # YAML reads `[[0003-x]]` as a list in a list
            targets.extend(item for item in text if isinstance(item, str))
        elif isinstance(text, str):
            targets.extend(read_targets(text, references))
    return targets


# --- targets --------------------------------------------------------------------------------------


class _Spans:
    """A text with its links blanked out, so that a link's own text is no sentence or number of the status."""

    def __init__(self, text: str, references: References) -> None:
        self._found = scan_inline(text, references)
        pieces: list[str] = []
        position = 0
        for item in self._found:
            if item.kind == LINK and item.start >= position:
                pieces.extend((text[position : item.start], _MARK * (item.end - item.start)))
                position = item.end
        pieces.append(text[position:])
        self.masked = "".join(pieces)

    def of(self, phrase: _Phrase, before: int, after: int) -> list[str]:
        """The targets of a phrase between the phrases before and after it."""
        if phrase.side == "in":
            return self.targets(*phrase.inside)
        if phrase.side == "back":
            return self._preceding(before, phrase.start)
        stop = _SENTENCE_END.search(self.masked, phrase.end, after)
        end = stop.start() if stop else after
        if phrase.side == "colon" and not _COLON.match(self.masked, phrase.end):
            return []
        if phrase.side in ("next", "colon"):
            return [target for target, _ in self._listed(phrase.end, end)]
        return self.targets(phrase.end, end)

    def linked_by(self, phrase: _Phrase) -> list[str]:
        """The link whose text the phrase begins: `[Superseded by 2](0002-b.md)`."""
        inside = [item for item in self._found if item.start < phrase.start < item.end]
        texts = (item.value for item in inside if item.kind == TEXT)
        if not any(found.start == 0 for text in texts for found in _phrases(text)[:1]):
            return []
        return [item.value for item in inside if item.kind == LINK and not _EXTERNAL.match(item.value)]

    def targets(self, start: int, end: int) -> list[str]:
        """The list at the start, then what else the sentence names: links, else paths, else numbers."""
        listed = list(self._listed(start, end))
        stop = listed[-1][1] if listed else start
        aside = _ASIDE.search(self.masked, stop, end) if listed else None
        better = self._places(start, aside.start() if aside else end)
        if better and len(better) >= len(listed) and not any(target in better for target, _ in listed):
            return better
        rest = better or self._numbers(stop, aside.start() if aside else end, padded=not listed)
        return list(dict.fromkeys([*(target for target, _ in listed), *rest]))

    def _places(self, start: int, end: int) -> list[str]:
        """Links into the repository, else paths."""
        inside = [item for item in self._found if start <= item.start < end]
        links = [item.value for item in inside if item.kind == LINK and not _EXTERNAL.match(item.value)]
        if links:
            return links
        paths = [item.value for item in inside if item.kind == CODE and _PATH.fullmatch(item.value)]
        return paths or [match.group() for match in _PATH.finditer(self.masked[:end], start)]

    def _numbers(self, start: int, end: int, padded: bool) -> list[str]:
        """Numbers of records, as `ADR-3` or `0003`, in the sentence and in the texts of links that lead elsewhere."""
        texts = [item.value for item in self._found if item.kind == TEXT and start <= item.start < end]
        found = [match.group() for text in (self.masked[start:end], *texts) for match in _NAMED_NUMBER.finditer(text)]
        if found or not padded:
            return found
        matches = (match for text in (self.masked[start:end], *texts) for match in _PADDED_NUMBER.finditer(text))
        return [match.group() for match in matches if _ENDING.match(match.string, match.end())]

    def _listed(self, start: int, end: int) -> Iterator[tuple[str, int]]:
        """The members of the list that begins at `start`, each with where it ends."""
        position = self._filled(start, end)
        first = True
        while (member := self._member(position, end, first)) is not None:
            yield member
            separator = _SEPARATOR.match(self.masked, member[1], end)
            if separator is None:
                return
            position = separator.end()
            first = False

    def _filled(self, start: int, end: int) -> int:
        filler = _FILLER.match(self.masked, start, end)
        return filler.end() if filler else start

    def _member(self, start: int, end: int, first: bool) -> tuple[str, int] | None:
        """The link, path or number at `start`; a year after the first member is a date's."""
        masked = self.masked
        if linked := _LINKED.match(masked, start, end):
            target = self._link_at(start)
            return (target, linked.end()) if target else None
        for pattern in (_PATH, _NAMED_NUMBER, _SLUG_NUMBER):
            if match := pattern.match(masked, start, end):
                return match.group(), match.end()
        bare = _BARE_NUMBER.match(masked, start, end)
        if bare is None or not _ENDING.match(masked[:end], bare.end()):
            return None
        return None if not first and _YEAR.fullmatch(bare.group(1)) else (bare.group(1), bare.end())

    def _link_at(self, start: int) -> str | None:
        """The target of the link at `start`; of one that leads elsewhere the number that its text names."""
        inside = [item for item in self._found if item.start == start]
        link = next((item.value for item in inside if item.kind == LINK), None)
        if link is not None and not _EXTERNAL.match(link):
            return link
        texts = (item.value for item in inside if item.kind == TEXT)
        return next((match.group() for text in texts if (match := _NAMED_NUMBER.search(text))), None)

    def _preceding(self, start: int, end: int) -> list[str]:
        """The list that ends right before `end`."""
        for stop in _SENTENCE_END.finditer(self.masked, start, end):
            start = stop.end()
        for position in range(start, end):
            if position > start and self.masked[position - 1].isalnum() and self.masked[position - 1].isascii():
                continue
            listed = list(self._listed(position, end))
            if listed and not self.masked[listed[-1][1] : end].strip(" `」』)"):
                return [target for target, _ in listed]
        return []
