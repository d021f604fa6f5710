"""Words that deny, in a dozen languages."""

from __future__ import annotations

import re
from collections.abc import Callable

from trivium.search.segment import fold

_NEGATION = re.compile(
    r"\b(?:not?|never|none|nobody|neither|nor|cannot|without|\w+n't|nicht|kein\w*|nie|niemand|ohne|nunca|nadie"
    r"|ningun\w*|sin|jamais|aucun\w*"
    r"|pas|n['’]\w+(?: \w+)? (?:plus|guere|point)|ne (?:\w+ ){1,2}(?:plus|guere|point)|non|nessun\w*|ninguem|nao"
    r"|nenhum\w*|niet|geen|нет|не|ни|никто|без)\b|不|没|無|ない|ません|않|없"
)


def negated(text: str) -> bool:
    """Whether a statement denies something.

    >>> [negated(text) for text in ("It is not allowed.", "It is allowed.", "Das ist nicht erlaubt.")]
    [True, False, True]
    """
    return denial_in(fold(text)) is not None


def denial_in(folded: str) -> tuple[int, int] | None:
    """Where a folded text first denies something."""
    found = _NEGATION.search(folded)
    return found.span() if found else None


def without_denials(folded: str) -> str:
    return _NEGATION.sub(" ", folded)


_WHO = (
    "who|what|whom|which|was|wer|wen|welche\\w*|qui|quels?|quelles?|qu'est-ce qui|que|quien\\w*|cuales|chi|cosa|quali"
    "|quem|o que|quais|wie|wat|welke|кто|что|какие"
)
_NOT = (
    r"(?:not|\w+n't|nicht|never|nie|pas|(?<=n['’]est )plus|(?<=ne sont )plus|non|nao|niet|не|no(?= (?:se|es|esta\w*"
    r"|son|puede\w*|debe\w*|hay|tiene\w*)\b))"
    r"(?!-\w| (?:only|just|nur|seulement|solo|apenas|alleen|только)\b)"
)
_ASKS_NOT = re.compile(
    rf"^\W*(?:(?:list|name|tell me|show) )?(?:{_WHO})(?: [\w']+){{0,4}}? {_NOT}(?!\w)|[么些谁].{{0,8}}[不没]"
)
_CASE = re.compile(r"\b(?:if|when|while|wenn|falls|si|quand|cuando|se|quando|als|если|когда)\b")


def asks_not(folded: str) -> bool:
    """Whether a folded question asks what or who is not: `which expenses are not reimbursed`.

    >>> asks_not("which expenses are not reimbursed?"), asks_not("what must i do if it does not start?")
    (True, False)
    """
    match = _ASKS_NOT.search(folded)
    return match is not None and not _CASE.search(match[0])


_WITHOUT = re.compile(
    r"\b(?:without|instead of|rather than|ohne|anstatt|statt|sans|au lieu de|sin|en lugar de|en vez de|senza"
    r"|invece di|sem"
    r"|em vez de|zonder|in plaats van|без|вместо)\b|不(?=[^是])|无需|而不|せずに|しないで"
)
_REACH = 4
"""How many words behind `without` what does not happen may stand."""


def only_without(text: str, matches: Callable[[str], bool]) -> bool:
    """Whether a text speaks of something only as what is not done: `to empty it without deleting it`.

    >>> only_without("To empty a queue without deleting it, run q drain.", lambda word: word.startswith("delet"))
    True
    >>> only_without("To delete it without a question, run q rm.", lambda word: word.startswith("delet"))
    False
    """
    folded = fold(text)
    words = [(match.start(), match[0]) for match in re.finditer(r"[^\W_]+", folded)]
    places = [number for number, (_, word) in enumerate(words) if matches(word)]
    starts = [match.start() for match in _WITHOUT.finditer(folded)]
    if not places or not starts:
        return False
    return all(
        any(words[max(0, number - _REACH)][0] <= start < words[number][0] for start in starts) for number in places
    )
