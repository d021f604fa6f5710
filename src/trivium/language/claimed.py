"""Whether a sentence affirms or denies a claim: the clause that speaks of it decides, not the whole sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile

from msgspec import Struct

from trivium.language.denial import negated
from trivium.language.languages import silent_words
from trivium.search.segment import fold, tokens

_CONTRAST = (
    "but|although|though|while|whereas|however|yet|except|aber|sondern|jedoch|doch|obwohl|wahrend|ausser|mais|sauf"
    "|tandis|cependant|pero|sino|aunque|mientras|salvo|excepto|ma|mentre|tranne|bensi|mas|porem|enquanto|exceto"
    "|maar|terwijl|behalve|но|а|однако|кроме|хотя"
)
_JOINS = "and|und|et|y|e|en|и|without|ohne|sin|sans|senza|sem|zonder|без"
_BOUND = re.compile(
    rf"[;:；：，、。！](?=\S)|[;:,](?=\s)|(?<=[.!?])\s|\s[-–—](?=\s)|\s(?=(?:{_CONTRAST}|{_JOINS})\s)|\s(?=\()|(?<=\))",
    re.IGNORECASE,
)
_OPENS = re.compile(
    rf"[\s,;:，、；(–—-]*(?:(?P<contrast>{_CONTRAST}|但是?|而|不过|ただし)(?:\b|(?<=[\u2e80-\uffff])))?\s*(?:and|und|et|y|e|en"
    rf"|и)?\s*"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|does|do|did|has|have|had|can|may|must|shall|should|will|need|needs|stays?|remains?|ist"
    r"|sind"
    r"|war|waren|hat|haben|kann|konnen|darf|durfen|muss|mussen|soll|sollen|wird|werden|bleibt|est|sont|etait|a|ont|peut"
    r"|peuvent|doit|doivent|es|esta|son|estan|era|tiene|tienen|puede|pueden|debe|deben|e|sono|ha|hanno|puo|possono|deve"
    r"|devono|sao|tem|pode|podem|devem|mag|mogen|moet|moeten|wordt|worden|zijn|heeft|можно|нельзя|может|могут|должен"
    r"|разрешен\w*|запрещен\w*)\b|[\u3040-\u30ff](?:ます|です|る|た)|可以|能|是|有|要|须|必须"
)
_GOES_ON = re.compile(
    r"(?:or|nor|in|on|at|by|for|with|from|during|oder|noch|im|am|an|auf|bei|mit|von|zu|ou|ni|dans|sur|avec|pour|o|con"
    r"|por"
    r"|para|su|nei|nelle|nel|per|em|no|na|com|of|op|bij|met|voor|или|ни|в|на|с|для)\b|和|或|及|在"
)
_NO_DENIAL = re.compile(
    r"\b(?:not (?:only|just|least|merely)|not? (?:later|earlier|more|less|fewer|longer) than|no (?:doubt|matter)"
    r"|nicht (?:nur|zuletzt|(?:spater|fruher|mehr|weniger|langer) als)|pas (?:seulement|plus (?:tard|de))"
    r"|no (?:solo|mas (?:tarde )?de)|non (?:solo|oltre)|nao (?:so|apenas)|niet (?:alleen|later dan)"
    r"|не (?:только|позднее|позже|более|менее))\b|不(?:仅|但|只|超过|少于|晚于)|だけでなく"
)

_NO_MORE = re.compile(
    r"\b(?:n['’]|ne )(?:\w+ ){0,2}?\w+ plus\b(?! (?:de|que|d['’]))|\bplus (?:jamais|aucun\w*)\b|\bnon \w+ piu\b"
    r"|\bnao \w+ mais\b"
)


class Claim(Struct, frozen=True):
    """What of a claim a clause speaks of: places of its terms, and whether it says the opposite of one of them."""

    met: frozenset[int]
    opposed: bool = False


class _Clause(Struct):
    text: str
    words: list[str]
    denies: bool
    contrast: bool
    claim: Claim


def says(text: str, claimed: Callable[[frozenset[str]], Claim]) -> bool | None:
    """Whether a sentence affirms (True) or denies a claim; None when that cannot be told from its form.

    `claimed` gives what a clause of these words speaks of. The last clause that adds a term of the claim decides: `Cats
    and dogs are not allowed, birds are` denies of cats and affirms of birds.

    >>> def of(*terms):
    ...     return lambda words: Claim(frozenset(n for n, term in enumerate(terms) if term in words))
    >>> said = "Passwords are stored hashed, never in plain text."
    >>> [says(said, of(*terms)) for terms in (("passwords", "hashed"), ("passwords", "plain", "text"))]
    [True, False]
    >>> said = "Smoking is allowed on the terrace, but not in the offices."
    >>> [says(said, of(*terms)) for terms in (("smoking", "terrace"), ("smoking", "offices"), ("smoking",))]
    [True, False, None]
    """
    clauses = _clauses(text, claimed)
    known: frozenset[int] = frozenset()
    deciding = None
    for place, clause in enumerate(clauses):
        if clause.claim.met - known:
            deciding = place
            known |= clause.claim.met
    if deciding is None:
        return None
    denies = _polarity(clauses, deciding)
    if any(one.claim.met == known and _polarity(clauses, place) != denies for place, one in enumerate(clauses)):
        return None
    if denies is None or _is_limited(clauses, deciding, claimed):
        return None
    return denies == clauses[deciding].claim.opposed


def denied(folded: str) -> bool:
    """Whether a folded clause denies something, also by what is no more (`n'est plus`, `ya no`) or what nobody may.

    >>> [denied(text) for text in ("la carte n'est plus acceptee", "not only cats", "it is no longer read")]
    [True, False, True]
    """
    return negated(without_mere_limits(folded)) or _NO_MORE.search(folded) is not None


def without_mere_limits(folded: str) -> str:
    """A folded text without what looks like a denial and is none: `not only`, `no later than`."""
    return _NO_DENIAL.sub(" ", folded)


def _clauses(text: str, claimed: Callable[[frozenset[str]], Claim]) -> list[_Clause]:
    bounds = [0, *(match.start() for match in _BOUND.finditer(text)), len(text)]
    found = []
    for start, stop in pairwise(bounds):
        part = fold(text[start:stop])
        words = tokens(text[start:stop])
        if not words:
            continue
        opens = _OPENS.match(part)
        found.append(
            _Clause(
                part[opens.end() :] if opens else part,
                words,
                denied(part),
                bool(opens and opens["contrast"]),
                claimed(frozenset(words)),
            )
        )
    return found


def _polarity(clauses: Sequence[_Clause], place: int) -> bool | None:
    """Whether a clause denies; one without a verb goes on with what the one before says, or tells nothing."""
    clause, before = clauses[place], clauses[:place]
    if clause.denies:
        return True
    if clause.contrast or not any(one.denies for one in before):
        return False
    if _is_open(before[-1]):
        return True
    if _VERB.search(clause.text):
        return False
    return _polarity(clauses, place - 1) if _GOES_ON.match(clause.text) else None


def _is_open(clause: _Clause) -> bool:
    """Whether a clause is the first of an enumeration: `No dogs, cats or birds are admitted`."""
    return clause.denies and not _VERB.search(clause.text)


def _is_limited(clauses: Sequence[_Clause], deciding: int, claimed: Callable[[frozenset[str]], Claim]) -> bool:
    """Whether a clause goes on to limit what is claimed, and another says the opposite of other cases.

    Such a one has no subject of its own: `but not in the offices`.
    """
    clause = clauses[deciding]
    silent = silent_words(clause.words)
    behind = takewhile(lambda word: not claimed(frozenset([word])).met, reversed(clause.words))
    if all(word in silent for word in behind):
        return False
    words = set(clause.words) - silent
    return any(
        other.denies != clause.denies and not _VERB.search(other.text) and words.isdisjoint(other.words)
        for other in clauses[deciding + 1 :]
    )
