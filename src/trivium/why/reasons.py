"""Why something was read in part only: reason codes with the places where they were met (reference 4.5, 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice, zip_longest

from trivium.why.model import CoverageEvidence

MEANINGS = {
    "alias-limit": "an entity holds 32 aliases; it is found by the others too",
    "byte-limit": "the list of files ends there; later paths are unknown here",
    "document-budget": "10,000 documents and 64 MiB of them are read; safety.exclude makes room",
    "document-limit": "files over 4 MiB are not read",
    "entity-limit": "there is room for 10,000 entities",
    "file-limit": "the list of files ends there; later paths are unknown here",
    "git-failed": "git could not list the files, so the folders were walked",
    "git-missing": "no git program was found, so the folders were walked and there is no history",
    "heading-limit": "of a document with very many headings the later ones were not read",
    "link-limit": "an entity holds 64 links; it is found by the others too",
    "listing-limit": "git's list of files is over 64 MiB; what is beyond is unknown here",
    "node-limit": "of a document with very many blocks the later ones were not read",
    "time-limit": "the list of files ended at safety.maxTimeMs, or at the default",
}
"""What codes mean that call for a setting or another way to ask."""
MAX_EVIDENCE = 32
"""Places of one coverage record (reference 5)."""
_COUNTED = frozenset({"document-budget", "document-limit", "file-limit"})
"""Codes that leave something out at each of their places: how many is part of the reason."""


def counted(number: int, noun: str) -> str:
    """A number with what it counts.

    >>> counted(1, "file"), counted(2_000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def explained(reason: str) -> str:
    """A list of codes with the meaning of those that need one; any other reason as it is.

    >>> explained("document-limit: 2 files left unread, region-limit")
    'document-limit: 2 files left unread (files over 4 MiB are not read), region-limit'
    """
    told = ((text, MEANINGS.get(text.partition(":")[0])) for text in reason.split(", "))
    return ", ".join(f"{text} ({meaning})" if meaning else text for text, meaning in told)


def meanings(texts: Iterable[str]) -> list[tuple[str, str]]:
    """The codes that stand in texts and need a meaning, with it."""
    words = {word for text in texts for word in re.findall(r"[a-z]+(?:-[a-z]+)+", text)}
    return [(code, MEANINGS[code]) for code in sorted(words & MEANINGS.keys())]


class Reasons(dict[str, int]):
    """The codes met in one document, each with the first line where it was met."""

    def add(self, code: str, line: int = 1) -> None:
        self[code] = min(line, self.get(code, line))


class Places(dict[str, set[tuple[str, int]]]):
    """Codes with the paths and lines where they were met; some codes are met nowhere in particular."""

    def add(self, code: str, path: str | None = None, line: int = 1) -> None:
        places = self.setdefault(code, set())
        if path is not None:
            places.add((path, line))

    def add_all(self, path: str, reasons: Mapping[str, int]) -> None:
        """The codes of one document."""
        for code, line in reasons.items():
            self.add(code, path, line)

    def unite(self, others: Mapping[str, Iterable[tuple[str, int]]]) -> None:
        for code, places in others.items():
            self.setdefault(code, set()).update(places)

    def reason(self, settings: Mapping[str, str] | None = None) -> str | None:
        """The codes in order, each that leaves files out with how many, and with the setting that did.

        >>> places = Places(); places.add("region-limit", "a.md", 3); places.add("document-limit", "b.md")
        >>> places.reason()
        'document-limit: 1 file left unread, region-limit'
        """
        return ", ".join(self._counted(code, (settings or {}).get(code)) for code in sorted(self)) or None

    def _counted(self, code: str, setting: str | None = None) -> str:
        if code not in _COUNTED:
            return code
        by = f" by {setting}" if setting else ""
        return f"{code}: {counted(len(self[code]), 'file')} left unread{by}"

    def evidence(self) -> list[CoverageEvidence]:
        """At most 32 places in order; each code has its first ones among them."""
        rows = zip_longest(*(sorted(self[code]) for code in sorted(self)))
        places = dict.fromkeys(place for row in rows for place in row if place is not None)
        return [CoverageEvidence(path, line) for path, line in sorted(islice(places, MAX_EVIDENCE))]

    def told(self, shown: int = 3) -> str:
        """The codes, each with its first places, for a person.

        >>> places = Places(); places.add("region-limit", "a.md", 3); places.add("entity-limit"); places.told()
        'entity-limit; region-limit at a.md:3'
        """
        return "; ".join(self._told(code, sorted(self[code]), shown) for code in sorted(self))

    def _told(self, code: str, places: list[tuple[str, int]], shown: int) -> str:
        code = self._counted(code)
        if not places:
            return code
        named = ", ".join(f"{path}:{line}" for path, line in places[:shown])
        rest = len(places) - shown
        return f"{code} at {named}{f' and {rest:,} more' if rest > 0 else ''}"
