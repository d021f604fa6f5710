"""Values that a sentence tells to be no more: what something was raised from, and what it is instead of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from trivium.models.values import Value
from trivium.search.segment import fold

_CHANGES = re.compile(
    r"\b(?:rais\w+|rises?|rose|risen|increas\w+|grew|grown|grows?|climb\w+|went up|goes up|chang\w+|mov\w+"
    r"|lower\w+|reduc\w+|decreas\w+|fell|fallen|falls?|drop\w+|cuts?|went down|goes down|shorten\w+|extend\w+"
    r"|adjust\w+|doubl\w+|halv\w+|postpon\w+|brought forward|erhoh\w+|gestiegen|stieg\w*|steigt|gesenkt|senk\w+"
    r"|sank|gesunken|sinkt|geandert|andert\w*|verschoben|verlegt|angehoben|verkurzt|verlangert|reduziert\w*"
    r"|verringert\w*|angepasst|aument\w+|subi\w+|sube|baj\w+|reduj\w+|cambi\w+|augment\w+|pass\w+|reduit\w*"
    r"|baiss\w+|diminu\w+|report\w+|sal\w+|scend\w+|ridott\w+|caiu|aumentad\w+|passou|alterad\w+|adiad\w+"
    r"|verhoogd|verlaagd|gewijzigd|verplaatst|вырос\w*|повы\w+|увелич\w+|сниз\w+|сниж\w+|умень\w+|измен\w+"
    r"|перен\w+)\b|上调|下调|提高|降低|增加|减少|改为|調整|上げ|下げ|変更"
)
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


def outdated(text: str, values: Sequence[Value]) -> list[Value]:
    """Those of the values of a sentence that it tells to hold no more; never all of them.

    >>> from trivium.models.values import find_values
    >>> text = "The fee was raised from 40 EUR to 55 EUR."
    >>> [str(value.amount) for value in outdated(text, find_values(text, "en"))]
    ['40']
    >>> text = "The fee is 55 EUR instead of 40 EUR."
    >>> [str(value.amount) for value in outdated(text, find_values(text, "en"))]
    ['40']
    """
    found = [value for value in values if _INSTEAD.search(_folded_before(text, value.start))]
    if _CHANGES.search(fold(text)):
        for first, last in pairwise(values):
            comes_from = _FROM.search(_folded_before(text, first.start)) and first not in found
            if comes_from and _TO.match(fold(text[first.stop : last.start])):
                found.append(first)
    return found if len(found) < len(values) else []


def _folded_before(text: str, place: int) -> str:
    return fold(text[max(0, place - 40) : place])
