"""Values that a sentence tells to be no more: what something was raised from, what it is instead of, what is off.

What something was raised *by* is none of its values at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from trivium.language.values import Value
from trivium.search.segment import fold

_CHANGES = re.compile(
    r"\b(?:rais\w+|rises?|rose|risen|increas\w+|grew|grown|grows?|climb\w+|went up|goes up|chang\w+|mov\w+"
    r"|lower\w+|reduc\w+|decreas\w+|fell|fallen|falls?|drop\w+|cuts?|went down|goes down|shorten\w+|extend\w+"
    r"|adjust\w+|doubl\w+|halv\w+|postpon\w+|brought forward|erhoh\w+|gestiegen|stieg\w*|steigt|gesenkt|senk\w+"
    r"|sank|gesunken|sinkt|geandert|andert\w*|verschoben|verlegt|angehoben|verkurzt|verlangert|reduziert\w*"
    r"|verringert\w*|angepasst|aument\w+|subi\w+|sube|baj\w+|reduj\w+|cambi\w+|augment\w+|pass\w+|reduit\w*"
    r"|baiss\w+|diminu\w+|report(?:e|ee|es|ees|er)|sal(?:e|ito|ita|iti|gono|ira)|scend\w+|ridott\w+|caiu|aumentad\w+"
    r"|passou|alterad\w+|adiad\w+"
    r"|verhoogd|verlaagd|gewijzigd|verplaatst|вырос\w*|повы\w+|увелич\w+|сниз\w+|сниж\w+|умень\w+|измен\w+"
    r"|перен\w+)\b|上调|下调|提高|降低|增加|减少|改为|調整|上げ|下げ|変更"
)
_CHANGED = re.compile(
    rf"(?:{_CHANGES.pattern})(?=\W*$| (?:to|from|by|auf|von|vom|um|zu|a|al|de|del|du|en|da|dal|di|au|aux|para|por|naar"
    r"|van|met|на|с|со|до)\b|[至到了])"
)
"""A word for a change where it is the verb of a sentence: `was cut to`, `wurde erhöht`, and no `moving costs`."""
_DECIDED = re.compile(
    r"\b(?:(?:is|are|was|were|been|be|ist|sind|war|wurden?|werden|est|sont|ete|es|son|fue|sido|e|sono|stat[oa]|werd|zijn)"
    r" (?:now |jetzt |nun |ahora |maintenant |ora |nu )?"
    r"(?:approved|agreed|decided|set|fixed|planned|scheduled|confirmed|beschlossen|genehmigt|festgelegt|geplant"
    r"|vereinbart|aprobad[oa]|acordad[oa]|decidid[oa]|fijad[oa]|previst[oa]|approuvee?|fixee?|prevue?|approvat[oa]"
    r"|fissat[oa]|decis[oa]|vastgesteld|besloten|goedgekeurd)"
    r"|approved|agreed|decided|now|currently|jetzt|nun|aktuell|ahora|actualmente|maintenant|actuellement|attualmente"
    r"|утвержд\w+|теперь)\b|批准|决定|決定|现在|現在"
)
"""Words that tell that something was decided, or that it is so by now."""
_FROM = re.compile(
    r"(?:\b(?:from|von|vom|de|del|da|dal|dalla|desde|du|des|van|с|со|от)(?: (?:the|el|la|le|dem|der))?|[从由])\s*$"
)
_TO = re.compile(
    r"^[^.;:]{0,40}?(?:\b(?:to|auf|zu|zum|a|al|alla|au|aux|para|por|naar|tot|op|до|на)(?: (?:the|el|la|le|den|der))?"
    r"|到|至|为|から)\s*$"
)
_INSTEAD = re.compile(
    r"(?:\b(?:instead of|rather than|in place of|no longer|up from|down from|previously|formerly|until now|so far"
    r"|statt|anstatt|anstelle von|nicht mehr|bisher|zuvor|vorher|fruher|bislang|en lugar de|en vez de|ya no|antes"
    r"|anteriormente|au lieu de|contre|auparavant|invece di|anziche|prima|in precedenza|em vez de"
    r"|in plaats van|voorheen|вместо|ранее|раньше|прежде)|而不是|原来|原為|以前は)"
    r"(?: (?:was|were|just|only|the|der|den|die|el|la|le))?\s*$"
)


_UNTIL_THEN = re.compile(
    r"\b(?:until|till|up to|before|bis|vor|hasta|antes de|jusqu\w*|avant|fino a|prima|до)\b.{0,40}\b(?:was|were|used"
    r"|war|waren"
    r"|era|eran|fue|etait|etaient|erano|был\w*)\b|\b(?:was|were|war|waren|era|etait|был\w*)\b.{0,30}\b(?:until|bis"
    r"|hasta)\b"
)
_BETWEEN = re.compile(r"^[^.;:!?]{0,60}$")
_BY = re.compile(r"(?:\b(?:by|um|de|en|por|di|met|на|с)(?: (?:another|a further|weitere|otros|encore))?|了)\s*$")
_MOVES = re.compile(
    r"\b(?:rises?|rose|risen|increase[ds]?|grew|climb(?:s|ed)|goes up|went up|fell|falls?|drop(?:s|ped)?|decrease[ds]?"
    r"|went down|goes down|subio|sube|bajo|baja|aumento|aumenta|salito|sale|sceso|stijgt|steeg|daalt"
    r"|daalde)(?: by)?\s*$|(?:上涨|下降|上升|下跌|增加|减少|提高|降低)了?\s*$"
)
_OFF = re.compile(
    r"\b(?:cancel(?:l?ed|s|led)?|call(?:ed)? off|does not take place|will not take place|won't take place|scrapped"
    r"|abgesagt|entfallt|gestrichen|findet nicht statt|annule\w*|n'a(?:ura)? pas lieu|cancelad[oa]s?|suspendid[oa]s?"
    r"|anulad[oa]s?|annullat[oaie]|geannuleerd|afgelast|gaat niet door|отмен\w+|не состоится)\b"
    r"|\bfallt\b.{0,60}\baus\b|取消|停办|中止|취소"
)
_DEFERRED = re.compile(
    r"\b(?:postponed|deferred|put off|verschoben|vertagt|aufgeschoben|reporte\w*|ajourne\w*|aplazad[oa]s?"
    r"|pospuest[oa]s?|rinviat[oaie]"
    r"|adiad[oa]s?|uitgesteld|отложен\w*|перенес[её]н\w*)\b|延期|推迟"
)
_NEW_DAY = re.compile(r".{0,24}?(?:\b(?:to|until|till|auf|bis|au|a|al|para|hasta|naar|tot|на|до)\b|[至到])")
_OLD = re.compile(
    r"\b(?:original\w*|first|old|previous\w*|former\w*|before|initial\w*|ursprung\w*|alte[nrs]?|vorher\w*|fruher\w*"
    r"|anterior\w*|antes|ancien\w*|precedent\w*|avant|initiale?ment|precedente|prima|прежн\w*|раньше)\b|原来|原定|以前|当初"
)


def asks_of_changes(*texts: str) -> bool:
    """Whether what is asked for is itself a change, or how it was before one: `price_increase`, `original_date`."""
    return any(_CHANGES.search(folded) or _OLD.search(folded) for folded in map(fold, texts))


def without_changes(text: str) -> str:
    """A text without the words that tell that something changed, by which two accounts of one thing may differ.

    >>> without_changes("The fee was raised to 5 euros."), without_changes("Planned moving costs: 5 euros")
    ('the fee was to 5 euros.', 'planned moving costs: 5 euros')
    """
    return " ".join(_DECIDED.sub(" ", _CHANGED.sub(" ", fold(text))).split())


def is_off(text: str, asked: str = "") -> bool:
    """Whether a sentence tells that something does not take place; not where that is what is asked about.

    >>> [is_off(text) for text in ("The run on 6 April is cancelled.", "Der Lauf fällt leider aus.", "The run is on.")]
    [True, True, False]
    """
    folded, wanted = fold(text), fold(asked)
    if _OFF.search(folded):
        return not _OFF.search(wanted)
    deferred = _DEFERRED.search(folded)
    if deferred is None or _DEFERRED.search(wanted):
        return False
    return _NEW_DAY.match(folded[deferred.end() :]) is None


def differences(text: str, values: Sequence[Value]) -> list[Value]:
    """Those of the values of a sentence by which something is told to have changed.

    >>> from trivium.language.values import find_values
    >>> text = "The price dropped by 5 EUR to 45 EUR."
    >>> [str(value.amount) for value in differences(text, find_values(text, "en"))]
    ['5']
    """
    found = []
    for value in values:
        before = _folded_before(text, value.start) if value.amount is not None else ""
        changes = _CHANGES.search(re.split("[.;:!?]", before)[-1])
        if before and (_MOVES.search(before) or (changes and _BY.search(before))):
            found.append(value)
    return found


def outdated(text: str, values: Sequence[Value]) -> list[Value]:
    """Those of the values of a sentence that it tells to hold no more; never all of them.

    >>> from trivium.language.values import find_values
    >>> text = "The fee was raised from 40 EUR to 55 EUR."
    >>> [str(value.amount) for value in outdated(text, find_values(text, "en"))]
    ['40']
    >>> text = "The fee is 55 EUR instead of 40 EUR."
    >>> [str(value.amount) for value in outdated(text, find_values(text, "en"))]
    ['40']
    >>> text = "The deadline is 31 March 2025, extended to 15 April 2025."
    >>> [value.iso for value in outdated(text, find_values(text, "en"))]
    ['2025-03-31']
    """
    found = [value for value in values if _INSTEAD.search(_folded_before(text, value.start))]
    if _CHANGES.search(fold(text)):
        for first, last in pairwise(values):
            comes_from = _FROM.search(_folded_before(text, first.start)) and first not in found
            between = fold(text[first.stop : last.start])
            if (comes_from and _TO.match(between)) or (first.kind == last.kind and _becomes(between)):
                found.append(first)
    return found if len(found) < len(values) else []


def was_once(text: str, word: str) -> bool:
    """Whether a text tells of a word that it holds no more: `zstd instead of gzip`, `up to 1.8 it was under GPL`.

    >>> [was_once("It is zstd now instead of gzip.", word) for word in ("zstd", "gzip")]
    [False, True]
    >>> [was_once("It is under Apache; up to 1.8 it was under GPL.", word) for word in ("Apache", "GPL")]
    [False, True]
    """
    folded, wanted = fold(text), fold(word)
    places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(wanted)}(?!\w)", folded)]
    parts = [re.split(r"[;.:]\s|,\s(?=(?:but|and|aber|mais|pero)\b)", folded[:place])[-1] for place in places]
    return bool(places) and all(_INSTEAD.search(part) or _UNTIL_THEN.search(part) for part in parts)


def _becomes(between: str) -> bool:
    """Whether what stands between two values tells that the second takes the place of the first."""
    change = _CHANGES.search(between)
    return change is not None and bool(_TO.match(between[change.end() :])) and bool(_BETWEEN.match(between))


def _folded_before(text: str, place: int) -> str:
    return fold(text[max(0, place - 40) : place])
