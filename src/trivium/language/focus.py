"""What a question of the form "what is the X of Y" asks for: X, and of which thing.

A statement that says nothing of Y is no answer, whatever it says of X.
"""

from __future__ import annotations

import re

from msgspec import Struct

_LONGEST = 300
"""Characters of a question up to which its form is looked at."""

_EN = re.compile(
    r"\W*(?:and |so )?"
    r"(?:(?:what|who|where)(?: is| are| was| were| will be|['’]s) (?:the |your |our |its |their |his |her |my )"
    r"|(?:the )?(?=(?:max|maximum|min|minimum|default|total|average)\b))"
    r"(?P<np>[\w'’ -]+?)"
    r"(?: (?:of|for|in|on|at|to|per|by|from|with|when|that|which|between|used) (?P<of>.+?))?\W*"
)
_DE = re.compile(
    r"\W*(?:und )?"
    r"(?:(?:was|wer|wo) (?:ist|sind|war|waren)"
    r"|wie (?:hoch|gross|lang|schwer|tief|breit|lautet|lauten|viel)(?: ist| sind| war| waren| betragt)?)"
    r" (?:der|die|das) (?P<np>[\w -]+?)"
    r"(?: (?:von|vom|der|des|fur|im|in|einer|eines|am|an|auf|zum|zur|bei|beim) (?P<of>.+?))?\W*"
)
_ROMANCE = re.compile(
    r"\W*(?:(?:y |et |e )?(?:cual(?:es)?|quien(?:es)?|donde|qual[ei]?|quais|chi|quem)"
    r" (?:es|son|era|eran|e|sono|sao) (?:el|la|los|las|il|lo|i|gli|le|o|a|os|as)"
    r"|(?:et )?(?:quel(?:le)?s?|qui|ou) (?:est|sont|etait|etaient) (?:le|la|les|(?=l['’])))"
    r"(?: |(?<= )l['’])(?P<np>[\w -]+?)"
    r"(?: (?:de|del|della|dello|dei|du|des|do|da|para|pour|per|en|au|aux|a)(?: (?:la|las|los|le|les|el|l['’]))?"
    r" (?P<of>.+?)| d['’](?P<of2>.+?))?\W*"
)
_HEBREW = re.compile(
    r"\W*ו?(?:מה|מהו|מהי|מי|מיהו|מיהי|איפה|היכן|כמה)(?: (?:הוא|היא|הם|הן|היה|היתה|הייתה))? ה?(?P<np>\w{2,}?)"
    r"(?: (?:של|עבור) (?P<of>.+?)| (?P<of2>[הלב]\w+.*?))?\W*"
)
_ARABIC = re.compile(
    r"\W*و?(?:ما|من|اين|كم)(?: (?:هو|هي|هم|كان|كانت))? (?:ال)?(?P<np>\w{2,}?)(?: (?P<of>(?:ال|لل)\w+.*?))?\W*"
)
"""The thing of which is asked follows what is asked for, with an article of its own (`the price of the ticket`)."""
_BEHIND = re.compile(
    r" (?:of|for|in|on|at|to|per|by|from|with|when|that|which|who|i|we|you|von|vom|der|des|fur|im|am|auf|zum|zur|bei"
    r"|mit|de|del|du|des|para|pour|en|au|aux|con|avec|que|qui|a|d['’])\b"
)
_ARTICLE = re.compile(
    r"^(?:(?:the|an?|this|your|our|der|die|das|dem|den|einer?|eines|eine[mn]|un|una|une|uno|unos|unas|el|la|los|las|le"
    r"|les|il|lo|gli|uma?|o|os|as) |l['’]|d['’])+"
)
_WORD = re.compile(r"[\w-]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DOES = re.compile(
    r"\W*(?:and |so )?(?:(?:in|on|at|for|from|to|with|by|under|since|until) )?(?:what|which|how|when|where|why|whom?)\b"
    r"[^?.,;]*? (?:do|does|did) (?P<subject>[^?,;]+)"
)
_DONE_BY = re.compile(
    r"\W*(?:what|which|how)\b[^?.,;]*? (?:is|are|was|were|will be) (?:\w+ )?\w+(?:ed|en|t) by (?P<subject>[^?,;]+)"
)
_NOBODY = _words(
    "all anybody anyone author company document everyone firm he i it not one organisation organization people program"
    " project she somebody someone system text that there these they this those we you"
)
"""Who acts in a question without being anyone of whom a text must speak by name."""
_VERBS = _words(
    "accept allow apply begin belong build buy charge close come contain control cost cover deliver depend do earn"
    " end expire fit follow get give go grow happen have hold include keep last lead leave like live lose make"
    " mean measure need offer open own pay produce provide pump reach receive refund require return run say sell"
    " send serve ship sit stand start stop store support take teach turn use want weigh work write"
)
_ADVERBS = re.compile(
    r" (?:each|every|a|usually|normally|currently|now|always|also|still|only|right|before|after|during)\b"
)


class Focus(Struct, frozen=True):
    """`head` is the word for what is asked for, folded; `of` the text that says of what, as far as the question does.

    `thing` is the word of it that says what it is (`the price of a ticket to the island`: ticket).
    """

    head: str
    of: str = ""
    thing: str = ""


def focus_of(folded: str) -> Focus | None:
    """What a folded question asks for; None when it has no such form.

    >>> focus_of("what is the default port of serve?")
    Focus(head='port', of='serve', thing='serve')
    >>> focus_of("¿cual es el precio de una copia en color?")
    Focus(head='precio', of='una copia en color', thing='copia')
    >>> focus_of("how do i log in?")
    """
    if len(folded) > _LONGEST:
        return None
    for pattern, is_first in ((_EN, False), (_DE, False), (_ROMANCE, True), (_HEBREW, True), (_ARABIC, True)):
        match = pattern.fullmatch(folded)
        if match and len(match["np"].split()) <= 4:
            words = match["np"].split()
            groups = match.groupdict()
            of = (groups["of"] or groups.get("of2") or "").strip()
            named = _WORD.findall(_ARTICLE.sub("", _BEHIND.split(of, maxsplit=1)[0]))
            place = 0 if is_first else -1
            return Focus(words[place], of, named[place] if named else "")
    return None


def subject_of(folded: str) -> Focus | None:
    """The thing of which a folded English question asks what it does, or by which something is done.

    >>> subject_of("how many days of leave do interns get?").of, subject_of("which python is required by pydantic?").of
    ('interns', 'pydantic')
    >>> subject_of("how much does a ticket to the island cost?").thing, subject_of("how long do i have to wait?")
    ('ticket', None)
    >>> subject_of("where does the yard dry wet oak?"), subject_of("where does the company store tapes?")
    (None, None)
    """
    if len(folded) > _LONGEST:
        return None
    match = _DOES.match(folded) or _DONE_BY.match(folded)
    if match is None:
        return None
    said = _ADVERBS.split(_BEHIND.split(_ARTICLE.sub("", match["subject"]), maxsplit=1)[0], maxsplit=1)[0]
    words = _WORD.findall(said)
    if match.re is _DOES:
        words = _before_verb(words)
    if not words or words[0] in _NOBODY or len(words) > 4:
        return None
    return Focus("", " ".join(words), words[-1])


def _before_verb(words: list[str]) -> list[str]:
    """What stands before the verb; nothing where that cannot be told (`the yard dry wet oak`)."""
    at = next((at for at, word in enumerate(words) if at and word in _VERBS), None)
    if at is not None:
        return words[:at]
    return words[:1] if len(words) < 3 else []
