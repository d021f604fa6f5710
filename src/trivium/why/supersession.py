"""Which records a status text names, and in which direction (reference 4.1, supersession).

`superseded by`, `superceded by` and `replaced by` point to the newer record; `supersedes`, `supercedes` and `replaces`
to the older one. What follows a phrase, up to the next phrase or the end of its sentence, holds the targets: links,
else paths, else record numbers.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from trivium.why.front_matter import Value
from trivium.why.inline import CODE, LINK, TEXT, Found, References, scan_inline

_PHRASE = re.compile(
    r"(?P<by>\b(?:super[sc]e{1,2}ded|replaced)[\s_-]*by\b)|(?P<of>\b(?:super[sc]e{1,2}des|replaces)\b)", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:not|never|would|could|might|may|should|if)\b[^.;!?\n]{0,40}\Z", re.IGNORECASE)
"""Before a phrase, in its sentence: what is denied or only supposed is no supersession."""
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)")
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|#")
_PATH = re.compile(r"[\w./@+-]{1,200}\.(?:mdx?|rst|adoc|txt)\b(?:#[\w-]*)?", re.IGNORECASE)
RECORD_WORDS = r"(?:M?ADR|DR|RFC|RFD|KEP|PEP|JEP|AIP|TEP|PDR|TDR|decision|record|proposal)"
"""What people call a record before its number."""
_NAMED_NUMBER = re.compile(rf"\b{RECORD_WORDS}[\s#_-]{{0,3}}\d{{1,6}}\b(?![-_]\w)", re.IGNORECASE)
_BARE_NUMBER = re.compile(r"\s*[:=]?\s*#?(\d{1,6})\b(?![-_/.:]\w)")
_PADDED_NUMBER = re.compile(r"(?<![\w./-])0\d{1,5}\b(?![-_/.:]\w)")
_SLUG = re.compile(r"[\w./@+#-]+")
_NOTHING = frozenset({"", "none", "n/a", "na", "-", "–", "—", "no", "nothing", "null", "tbd", "nil"})
_KEYS = {
    **dict.fromkeys(("supersedes", "supercedes", "superseedes", "replaces"), True),
    **dict.fromkeys(("supersededby", "supercededby", "superseededby", "replacedby"), False),
}


class Supersession(Struct):
    """Targets as written: paths relative to the record, or record numbers."""

    supersedes: list[str] = field(default_factory=list)
    superseded_by: list[str] = field(default_factory=list)

    def add(self, targets: list[str], forward: bool) -> None:
        known = self.supersedes if forward else self.superseded_by
        known.extend(target for target in targets if target not in known)

    def __bool__(self) -> bool:
        return bool(self.supersedes or self.superseded_by)


def direction_of(key: str) -> bool | None:
    """Whether a key states what this record supersedes (True) or what supersedes it (False); None for other keys.

    >>> direction_of("Superceded-by"), direction_of("replaces"), direction_of("status")
    (False, True, None)
    """
    return _KEYS.get(re.sub(r"[\s_-]", "", key).lower())


def read_supersession(text: str, references: References, into: Supersession) -> None:
    """Adds what the phrases of a status text state.

    >>> found = Supersession(); read_supersession("Superseded by [3. B](0003-b.md).", {}, found); found.superseded_by
    ['0003-b.md']
    """
    phrases = list(_PHRASE.finditer(text))
    if not phrases:
        return
    found = scan_inline(text, references)
    masked = _masked(text, found)
    for index, phrase in enumerate(phrases):
        if _DENIED.search(masked, max(0, phrase.start() - 60), phrase.start()):
            continue
        end = phrases[index + 1].start() if index + 1 < len(phrases) else len(text)
        stop = _SENTENCE_END.search(masked, phrase.end(), end)
        into.add(_targets(masked, found, phrase.end(), stop.start() if stop else end), forward=phrase["of"] is not None)


def read_targets(value: str, references: References) -> list[str]:
    """The targets that the value of a supersession key lists; a value in no known form stays as it is, to be reported.

    >>> read_targets("ADR-12, 0003-x.md", {}), read_targets("0001-fifo", {}), read_targets("none", {})
    (['0003-x.md', 'ADR-12'], ['0001-fifo'], [])
    """
    value = value.strip()
    if value.lower() in _NOTHING:
        return []
    found = scan_inline(value, references)
    masked = _masked(value, found)
    targets = _targets(masked, found, 0, len(value))
    if _PATH.search(masked):
        targets.extend(match.group() for match in _NAMED_NUMBER.finditer(_PATH.sub(" ", masked)))
    if targets:
        return targets
    pieces = [piece.strip(" []`\"'") for piece in value.split(",")]
    return [piece for piece in pieces if _SLUG.fullmatch(piece)] or [value]


def read_front_targets(value: Value, references: References) -> list[str]:
    """The targets of a front matter key: one text or a list of texts."""
    values = value if isinstance(value, list) else [value]
    targets: list[str] = []
    for text in values:
        if isinstance(text, list):  # YAML reads `[[0003-x]]` as a list in a list
            targets.extend(item for item in text if isinstance(item, str))
        elif isinstance(text, str):
            targets.extend(read_targets(text, references))
    return targets


def _masked(text: str, found: list[Found]) -> str:
    """The text with links blanked out, so that a link's own text is no sentence or number of the status."""
    pieces: list[str] = []
    position = 0
    for item in found:
        if item.kind == LINK and item.start >= position:
            pieces.extend((text[position : item.start], "\N{BULLET}" * (item.end - item.start)))
            position = item.end
    pieces.append(text[position:])
    return "".join(pieces)


def _targets(masked: str, found: list[Found], start: int, end: int) -> list[str]:
    inside = [item for item in found if start <= item.start < end]
    links = [item.value for item in inside if item.kind == LINK and not _EXTERNAL.match(item.value)]
    if links:
        return links
    segment = masked[start:end]
    paths = [item.value for item in inside if item.kind == CODE and _PATH.fullmatch(item.value)]
    paths = paths or [match.group() for match in _PATH.finditer(segment)]
    if paths:
        return paths
    texts = [item.value for item in inside if item.kind == TEXT]
    return [number for text in (segment, *texts) for number in _numbers(text)]


def _numbers(text: str) -> list[str]:
    named = [match.group() for match in _NAMED_NUMBER.finditer(text)]
    if named:
        return named
    if bare := _BARE_NUMBER.match(text):
        return [bare.group(1), *(match.group() for match in _PADDED_NUMBER.finditer(text, bare.end()))]
    return [match.group() for match in _PADDED_NUMBER.finditer(text)]
