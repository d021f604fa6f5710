"""Words that deny, in a dozen languages."""

from __future__ import annotations

import re

from trivium.search.segment import fold

_NEGATION = re.compile(
    r"\b(?:not?|never|none|nobody|neither|nor|cannot|without|\w+n't|nicht|kein\w*|nie|niemand|ohne|nunca|nadie|ningun\w*|sin|jamais|aucun\w*"
    r"|pas|non|nessun\w*|ninguem|nao|nenhum\w*|niet|geen|нет|не|ни|никто|без)\b|不|没|無|ない|ません|않|없"
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
    r"(?:not|\w+n't|nicht|never|nie|pas|non|nao|niet|не|no(?= (?:se|es|esta\w*|son|puede\w*|debe\w*|hay|tiene\w*)\b))"
    r"(?! (?:only|just|nur|seulement|solo|apenas|alleen|только)\b)"
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
