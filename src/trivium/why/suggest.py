"""Names close to one that nothing has: other case, or one edit away (reference 10). They are never answered instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trivium.why.prepared import Askable

MAX_SUGGESTIONS = 5
SHORTEST = 3
"""Shorter names are one edit from almost everything, so only their case is tried."""


def suggestions(askable: Askable, spellings: Iterable[str]) -> list[str]:
    """At most five exact names to ask for: those that differ in case first, then those one edit away, each ascending.

    One edit is a character inserted, removed or replaced, or two neighbours exchanged.

    >>> suggestions(Askable(["Cache", "cached", "Store"]), ["cache"])
    ['Cache', 'cached']
    """
    asked = list(dict.fromkeys(spellings))
    cased = {name for text in asked for name in askable.folded.get(text.casefold(), ())}
    edited = {name for text in asked if len(text) >= SHORTEST for name in _one_edit_away(askable, text)}
    ordered = [*sorted(cased), *sorted(edited - cased)]
    return [name for name in ordered if name not in asked][:MAX_SUGGESTIONS]


def _one_edit_away(askable: Askable, text: str) -> Iterator[str]:
    """An edit touches one half of a name, so the other half stands at the text's start or end: most names drop out."""
    for length in range(len(text) - 1, len(text) + 2):
        half = length // 2
        head, tail = text[: half - 1], text[len(text) - (length - half) + 1 :]
        for name in askable.by_length.get(length, ()):
            if (name.startswith(head) or name.endswith(tail)) and is_one_edit(name, text):
                yield name


def is_one_edit(left: str, right: str) -> bool:
    """Whether one insertion, removal, replacement or exchange of neighbours turns one text into the other.

    >>> is_one_edit("cache", "cahce"), is_one_edit("cache", "caches"), is_one_edit("cache", "cash")
    (True, True, False)
    """
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    short, long = sorted((left, right), key=len)
    at = next((i for i, character in enumerate(short) if character != long[i]), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    if short[at + 1 :] == long[at + 1 :]:
        return True
    return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
