"""What of an item is turned into its vector: one text for each, and the digest by which an older one is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from trivium.search.escapes import unescaped
from trivium.search.index import aliases_of, body_of
from trivium.store.vectors import CHUNK, CONCEPT, Lacking

LONGEST_CONCEPT, LONGEST_PIECE = 1_500, 6_000
"""Characters that are embedded; what follows does not take part in meaning, only in keyword search."""


def of_concept(name: str, attributes: dict[str, Any]) -> str:
    """The grounding fields of a concept, its name twice: it tells most, and descriptions are long.

    >>> of_concept("Aspirin", {"aliases": ["ASA"], "description": "Relieves pain."})
    'Aspirin. Aspirin. ASA. Relieves pain.'
    """
    return _joined([name, name, *aliases_of(attributes), body_of(attributes)], LONGEST_CONCEPT)


def of_chunk(title: str, sections: Iterable[Sequence[str]], text: str) -> str:
    """A chunk behind the title and the headings it stands under: many a passage does not say what it is about."""
    headings = dict.fromkeys(heading for section in sections for heading in section)
    return _joined([title, *headings, unescaped(text)], LONGEST_PIECE)


def of_artifact(name: str, text: str) -> str:
    return _joined([name, text], LONGEST_PIECE)


def of_item(kind: str, item: Lacking) -> str:
    """The text of an item of the backlog."""
    if kind == CONCEPT:
        return of_concept(item.name, item.parts)
    if kind == CHUNK:
        return of_chunk(item.name, item.parts.get("sections") or [], item.text)
    return of_artifact(item.name, item.text)


def digest(text: str) -> str:
    """Sixteen hexadecimal digits that stand for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _joined(parts: Iterable[str], longest: int) -> str:
    return ". ".join(part for part in parts if part)[:longest]
