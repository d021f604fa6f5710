"""Where sentences begin and end, in scripts with and without spaces.

A sentence ends at `.`, `!`, `?` or `…` before white space, at the full stops of Chinese, Japanese, Hindi, Arabic and
other scripts wherever they stand, at a blank line, and before a line that begins a list item, heading, table row,
quotation or an entry of a log. It does not end after a title or an abbreviation (`Dr.`, `e.g.`), an initial (`J. R. R.
Tolkien`), the number of a list item, or before a lower-case letter. Thai has no such signs: there a blank line ends a
sentence.
"""

from __future__ import annotations

import re

_CLOSING = "\"'”’»›)\\]}」』）】》〉｣*_`"
_STOPS = "。！？｡︒।॥؟۔։።။។៕᠃"
_STAMP = (
    r"\[?\d{4}[-/.]\d{2}[-/.]\d{2}(?:[T\s,]{1,2}\d{2}:\d{2}|\]?\s\[?[A-Z]{4,8}\b)"
    r"|\[?\d{2}:\d{2}:\d{2}[\s.,\]]|[A-Z][a-z]{2}\s[\s\d]\d\s\d{2}:\d{2}:\d{2}\s"
    r"|\u200e?\[?\d{1,2}[-./]\d{1,2}[-./]\d{2,4},?\s\d{1,2}:\d{2}(?::\d{2})?(?:[\s\u202f]?[AaPp]\.?[Mm]\.?)?\]?\s(?:[-–]\s)?"
    r"[^\s:][^:\n]{0,40}:\s"
)
"""How an entry of a log begins: a date with a time or a level, or a time; and a message of an exported chat."""
_BREAK = re.compile(
    rf"""
    (?P<blank> \n[^\S\n]*+\n\s*+ | \f\s*+ )
    | (?P<line> \n(?=[^\S\n]*+(?: (?:[-*+•‣]|\#{{1,6}}|\d{{1,3}}[.)])[^\S\n] | [|>] | {_STAMP} )) )
    | [{_STOPS}]++[{_CLOSING}]*+
    | (?P<sign> [.!?…]++ ) (?P<closing> [{_CLOSING}]*+ ) (?=\s|\Z)
    """,
    re.VERBOSE,
)
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘«*_`]+\Z")
_ORDINAL = re.compile(
    r"\b(?:der|die|das|dem|den|des|ein|eine|einen|einem|einer|im|am|vom|zum|zur|ins|jede[rmsn]?|de[nt]|på)[^\S\n]\Z",
    re.IGNORECASE,
)
"""What stands before an ordinal that is written with a full stop: `im 2. Stock`, `ein 13. Gehalt`."""
_OPENING = "\"'“‘«‹([{「『（【*_`¿¡"
_LONGEST_WORD = 40


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# After these no sentence ends: something must follow.
_TITLES = _words(
    "dr mr mrs ms mx prof rev hon pres gov sen rep gen col lt capt sgt st mt messrs mme mlle mgr sr sra srta dra dña"
    " e.g i.e eg ie cf vs viz resp approx ca no nos nr nº art abs fig figs sec sect ch chap vol p pp para cl eq eqs"
    " eds ver rev dept est incl excl tel ref refs z.b d.h u.a i.d.r s.o vgl bzw ggf evtl inkl zzgl hr"
    " fr dipl p.ej ej pág art núm vd ud uds p.ex ex env т.е т.к напр см рис стр им г ул"
)
# After these one may end: it does before a word that begins sentences.
_MAYBE = _words(
    "etc inc ltd co corp plc llc gmbh bros jr sr esq u.s u.k u.n e.u u.s.a d.c a.m p.m b.c a.d ph.d m.d m.a b.a b.sc"
    " m.sc d.phil al ibid usw u.s.w jan feb apr jun jul aug sep sept oct nov dec"
    " т.д т.п др"
)
_MONTHS = _words(
    "januar februar märz april mai juni juli august september oktober november dezember jänner"
    " january february march may june july october december"
)
_STARTERS = _words(
    "the a an it he she we they you i this that these those there here in on at if when while where what who why how"
    " after before since because although however but and so or as for from with without by to no not all each every"
    " both some many most its his her their our your my one two also then thus therefore finally first next"
    " der die das ein eine es er sie wir ihr ich dies diese dieser in im am auf wenn als da weil aber und"
    " el la los las un una le les des il elle nous vous ils este esta en se si pero y"
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Offsets `(start, stop)` of the sentences, in order.

    Each begins and ends with something other than white space, and all that is no white space is in one of them.

    >>> text = "Dr. Wu paid $3.50, e.g. in cash. 合同已签。下周付款！"
    >>> [text[start:stop] for start, stop in sentences(text)]
    ['Dr. Wu paid $3.50, e.g. in cash.', '合同已签。', '下周付款！']
    """
    found: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        if match["sign"] and not _ends(text, match):
            continue
        _add(found, text, start, match.end())
        start = match.end()
    _add(found, text, start, len(text))
    return found


def _add(found: list[tuple[int, int]], text: str, start: int, stop: int) -> None:
    while start < stop and text[start].isspace():
        start += 1
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    if start < stop:
        found.append((start, stop))


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop before white space ends a sentence."""
    after = _next(text, match.end())
    if after is None:
        return True
    if text[after].islower():
        return match["sign"][0] in "!?" and not match["closing"]
    if match["sign"] != ".":
        return True
    before = match.start()
    held = _WORD_BEFORE.search(text, max(0, before - _LONGEST_WORD), before)
    if held is None:
        return True
    word = held[0]
    known = word.lower()
    if known in _TITLES:
        return known in ("no", "p", "st", "fr", "art", "ex", "est", "rev") and _starts(text, after)
    if known in _MAYBE or (len(word) == 1 and word.isalpha()):
        return _starts(text, after)
    if word.isdigit() and len(word) <= 3:
        line = text.rfind("\n", 0, before) + 1
        if not text[line : held.start()].strip(" \t>*-+"):
            return False
        if _ORDINAL.search(text, max(0, held.start() - _LONGEST_WORD), held.start()) and not _starts(text, after):
            return False
        return len(word) > 2 or _word(text, after).lower() not in _MONTHS
    return True


def _next(text: str, start: int) -> int | None:
    """Where the next word begins, past white space and opening signs."""
    stop = min(len(text), start + 400)
    while start < stop and (text[start].isspace() or text[start] in _OPENING):
        start += 1
    return start if start < len(text) else None


def _word(text: str, start: int) -> str:
    stop = start
    while stop < len(text) and stop - start < _LONGEST_WORD and (text[stop].isalpha() or text[stop] in "'’"):
        stop += 1
    return text[start:stop]


def _starts(text: str, start: int) -> bool:
    return _word(text, start).lower().partition("'")[0].partition("’")[0] in _STARTERS
