"""Who or what is told to be no more: former holders of a post, what was until a year, ranges of years that ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trivium.language.holders import asks_for_holder, begun, earlier_holders, holds_not, newly, replaced, spoken
from trivium.language.matching import INSIDE, alike
from trivium.language.statements import CODE, Statement
from trivium.search.segment import fold, tokens

_FORMER = re.compile(
    r"(?:former|formerly|previous|previously|past|outgoing|retired|erstwhile|ex|onetime"
    r"|ehemalig\w*|fruher\w*|vormalig\w*|einstig\w*|damalig\w*|vorherig\w*"
    r"|anterior\w*|antigu[oa]s?|expresident\w*|ancien\w*|precedent\w*|precedente|passato|antig[oa]s?|vorige"
    r"|voormalig\w*"
    r"|бывш\w*|прежн\w*|предыдущ\w*|לשעבר|הקוד(?:ם|מת)|السابق\w*|سابق\w*)"
)
_FORMER_HAN = re.compile("(?:前任|前|原任|原|元|曾任|曾是|曾经是|曾為|曾为|旧)(?:的|の)?$")
_NEAR = 2
"""How many words may stand between `former` and what it is said of (`former deputy chair`)."""
_PAST = re.compile(
    r"\b(?:was|were|had been|served|led|headed|ran|held|worked|acted|chaired|managed|directed|war|waren|leitete|fuhrte"
    r"|fue|fueron|era|eran|dirigio|etait|etaient|fut|furent|dirigeait|erano|fu|foi|foram|eram|werd|waren"
    r"|был|была|было|были|возглавлял\w*|руководил\w*|היה|היתה|הייתה|كان|كانت)\b"
)
_PRESENT = re.compile(
    r"\b(?:is|are|has been|have been|remains|ist|sind|es|son|est|sont|e|sono|sao|zijn)\b|\bявляется\b|是|です|である"
)
_DONE = re.compile(
    r"\s+(?:\w+ly )?(?:\w+ed|made|chosen|put|built|held|kept|led|run|written|bought|sold|paid|given|taken|found|set|cut"
    r"|won|lost|ge\w+[tn]|er\w+t|\w+[aio]d[oa]s?|nomme\w*|elu\w*|\w+[aiu]t[oa]|назначен\w*|избран\w*)\b"
)
"""What follows `was` where something happened: one who was chosen may still be it."""
_WAS = ("was", "were", "war", "era", "etait", "fue", "fu", "foi")
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_END = re.compile(
    rf"\b(?:until|till|through|up to|bis|hasta|jusqu\w*(?:['’]?(?:en|au))?|fino (?:al?|nel)|ate|tot|do|до|עד|حتي)\b"
    rf"|\b(?:to|a|au|al|по) (?:\w+ )?{_YEAR}\b|(?<!\d){_YEAR}\s?[-–—~至到]\s?{_YEAR}(?!\d)"
)
_RANGE = re.compile(
    rf"(?<!\d)(?P<first>{_YEAR})\s?(?:[-–—~至到]|to|until|till|bis|hasta|a|al?|au|jusqu'en|до"
    rf"|по)\s?(?P<last>{_YEAR})(?!\d)"
)
_SINCE = re.compile(rf"(?:\b(?:since|seit|desde|depuis|dal|sinds|с|מאז|منذ)\b|自)\D{{0,14}}?(?P<year>{_YEAR})(?!\d)")
_REPLACED = re.compile(
    r"(?:^|[.!:(*_>|]|\n)[\s*_>(]*(?:(?:this|dieses?|diese[rs]?|ce|cette|este|esta|questo|questa|dit|deze) \w+ "
    r"(?:is|was|has been|ist|wurde|est|a ete|es|fue|ha sido|e|e stat[oa]|foi) (?:\w+ )?)?"
    r"(?:(?:replaced|superseded) by|obsolete\b|no longer (?:valid|in force)|ersetzt durch|abgelost durch|uberholt\b"
    r"|veraltet\b"
    r"|ausser kraft|nicht mehr gultig|remplacee? par|perimee?\b|abrogee?\b|sustituid[oa] por|reemplazad[oa] por"
    r"|derogad[oa]\b"
    r"|sostituit[oa] da|substituid[oa] por|vervangen door|vervallen\b|замен[её]н\w*|утратил\w* силу|已废止|已被"
    r"|本.{0,6}已废止|廃止)"
)
"""How a text says of itself that it no longer holds."""
_MOST = 60
"""How many statements are looked at, the best ones."""
_ASKS_PAST = re.compile(
    r"\b(?:was|were|did|had|used to|former|formerly|previous|previously|past|ex|until|till|before|predecessor\w*|ago"
    r"|first|last|(?:who|which \w+|what) (?:\w+ed|built|wrote|made|won|found|began|bought|sold|drew|led|ran|held|left)"
    r"|war|waren|hat|haben|baute|grundete|schrieb|wurde\w*|hatte\w*|bis|vor|ehemalig\w*|fruher\w*|vormalig\w*"
    r"|vorganger\w*|vorherig\w*|erste\w*"
    r"|fue|fueron|era|eran|hasta|antes|antigu[oa]s?|anterior\w*|exdirector\w*|expresident\w*|etait|etaient|fut|jusqu\w*"
    r"|avant|ancien\w*|precedent\w*|fu|erano|fino|prima|precedente|foi|foram|ate|antig[oa]s?|werd|voormalig\w*"
    r"|vorige|tot"
    rf"|был\w*|бывш\w*|прежн\w*|предыдущ\w*|до|לשעבר|הקוד(?:ם|מת)|היה|היתה|הייתה|עד|السابق\w*|سابق\w*|كان\w*|حتي"
    rf"|{_YEAR})\b"
    r"|前任|以前|之前|曾|原任|前の|元(?!旦)|でしたか|だった|いましたか|이전|전임"
)


def asks_of_now(ask: str) -> bool:
    """Whether a question asks how things are, rather than how they were.

    >>> [asks_of_now(ask) for ask in ("Who is the chair?", "Who was it?", "The former chair?", "chair in 2018?")]
    [True, False, False, False]
    """
    return _ASKS_PAST.search(fold(ask)) is None


def still(
    statements: Sequence[Statement],
    words: Sequence[str],
    *,
    of_people: bool = False,
    ask: str = "",
    single: bool = False,
) -> list[bool]:
    """Of each of some statements whether it may stand beside the others: what is over only where nothing else is told.

    `of_people`: a range of years that ended is over too, where another one goes on or ends later, and who does not hold
    the post that `ask` is for is no answer at all. `single`: one holder is asked for, who is the one since latest.
    """
    stands = [True] * len(statements)
    some = [statement for statement in statements[:_MOST] if statement.kind != CODE]
    folded = {id(statement): spoken(statement) for statement in some}
    if of_people and ask and asks_for_holder(ask):
        no = {
            id(each)
            for word in words
            for each in some
            if holds_not(folded[id(each)], word, list(_places(folded[id(each)], word)), ask)
        }
        some = [each for each in some if id(each) not in no]
        stands = [id(each) not in no for each in statements]
    gone = replaced(some, words) | _of_replaced_texts(some)
    if of_people and single:
        for word in words:
            named = [each for each in some if has(each, word)]
            gone |= earlier_holders(named, word) | newly(named, word)
    some = [each for each in some if id(each) not in gone]
    stands = [stays and id(each) not in gone for stays, each in zip(stands, statements, strict=True)]
    for word in words:
        told = [one for one in some if has(one, word)]
        over = {id(one) for one in told if _is_over(folded[id(one)], word, of_people)}
        others = [one for one in told if id(one) not in over]
        if of_people and others:
            until = max((begun(folded[id(one)]) or _ended(folded[id(one)]) or 0 for one in others), default=0)
            open_ = any(begun(folded[id(one)]) == until for one in others)
            for one in others:
                end = _ended(folded[id(one)])
                if end is not None and (end < until or (open_ and end == until)):
                    over.add(id(one))
        if len(over) < len(told):
            stands = [stays and id(one) not in over for stays, one in zip(stands, statements, strict=True)]
    return stands


def _of_replaced_texts(statements: Sequence[Statement]) -> set[int]:
    """Those of some statements (by `id`) whose text says at its beginning that another one has taken its place."""
    old = {
        one.passage.source
        for one in statements
        if one.passage.source and _REPLACED.search(fold(one.passage.text[:600]))
    }
    found = {id(one) for one in statements if one.passage.source in old}
    return found if len(found) < len(statements) else set()


def covers(statement: Statement, word: str) -> bool:
    """Whether a word is a year that lies within a range of years of a statement."""
    if not re.fullmatch(_YEAR, word):
        return False
    year = int(word)
    return any(int(match["first"]) <= year <= int(match["last"]) for match in _RANGE.finditer(spoken(statement)))


def has(statement: Statement, word: str) -> bool:
    return any(alike(word, other) > INSIDE or word == other for other in statement.words)


def _ended(folded: str) -> int | None:
    """The last year of the ranges of years in a text."""
    return max((int(match["last"]) for match in _RANGE.finditer(folded)), default=None)


def _is_over(folded: str, word: str, of_people: bool) -> bool:
    places = list(_places(folded, word))
    return bool(places) and all(_over_at(folded, start, stop, of_people) for start, stop in places)


def _places(folded: str, word: str) -> Iterable[tuple[int, int]]:
    """Where a word, or a form of it, stands in a text."""
    if word > "\u2e80":
        yield from ((match.start(), match.end()) for match in re.finditer(re.escape(word), folded))
        return
    for match in re.finditer(r"[^\W_]+(?:['’][^\W_]+)?", folded):
        if alike(word, match[0]) > INSIDE or (match[0].startswith("ex") and alike(word, match[0][2:]) > INSIDE):
            yield match.span()


def _over_at(folded: str, start: int, stop: int, of_people: bool) -> bool:
    """Whether what stands at a place is said to be over."""
    before, word = folded[max(0, start - 40) : start], folded[start:stop]
    if word > "\u2e80" and _FORMER_HAN.search(before):
        return True
    if word.startswith("ex") and word not in ("executive", "executives", "expert", "experts", "examiner"):
        return True
    near = re.split(r"[,;:.()]", before)[-1].split()[-1 - _NEAR :]
    if any(_FORMER.fullmatch(part) for one in near for part in re.split(r"[-'’]", one)):
        return True
    behind = tokens(folded[stop : stop + 24])[:1]
    if behind and re.fullmatch(r"anterior|saliente|sortant|uscente|לשעבר|הקוד(?:ם|מת)|السابقه?|sortante", behind[0]):
        return True
    verb = None
    for match in (*_PAST.finditer(folded, 0, start), *_PRESENT.finditer(folded, 0, start)):
        verb = match if verb is None or match.start() >= verb.start() else verb
    if verb is None:
        found = [one for one in (_PAST.search(folded, start), _PRESENT.search(folded, start)) if one is not None]
        verb = min(found, key=lambda one: one.start(), default=None)
    if verb is None or verb.re is not _PAST or _SINCE.search(folded):
        return False
    done = _DONE.match(folded, verb.end())
    if _END.search(folded):
        return done is None or start >= verb.start()
    between = folded[verb.end() : start].split()
    return of_people and done is None and start > verb.start() and len(between) <= _NEAR and verb[0] in _WAS
