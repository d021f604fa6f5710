"""The questions that one ask is made of: each is answered by itself, and only so many of them."""

from __future__ import annotations

import re

from trivium.language.parts_spaceless import is_spaceless, questions_joined
from trivium.search.segment import fold

MOST_QUESTIONS = 8
"""How many questions of one ask are answered; the work for an ask is bounded whatever stands in it."""

_ENDS = re.compile(r"(?<=[?？؟])[?？؟!！\s]*")
_WORDY = re.compile(r"\w")
_ASKING = (
    "what|which|who|whom|whose|where|when|why|how"
    "|was|wer|wem|wen|wessen|wo|wohin|woher|wann|warum|weshalb|wieso|wie|welche[rsmn]?"
    "|que|quien|quienes|cual|cuales|cuanto|cuanta|cuantos|cuantas|cuando|donde|como"
    "|qui|quel|quelle|quels|quelles|quand|ou|combien|comment|pourquoi"
    "|chi|quale|quali|quanto|quanta|quanti|quante|quando|dove|come|perche"
    "|quem|qual|quais|onde|wanneer|waar|hoe|waarom|welk|welke|кто|что|где|когда|как|сколько|почему"
    "|ו?(?:מה|מהו|מהי|מי|מתי|איפה|היכן|כמה|למה|מדוע|איך|כיצד)|و?(?:ما|ماذا|متي|اين|كم|كيف|لماذا)|و?من (?=هو|هي|هم)"
)
_PREPOSITION = "(?:(?:in|on|at|to|by|for|from|with|since|until|seit|bis|ab|mit|de|en|a|desde|depuis|da|per) )?"
_HOW = "(?:many|much|long|far|old|often|viele?|lange|oft|hoch|gross)\\b"
_OPENS = re.compile(rf"[\s¿\"'(]*{_PREPOSITION}(?P<word>{_ASKING})\b(?: {_HOW})?[\s,]*(?P<rest>.*)", re.DOTALL)
_JOINS = re.compile(
    r"\s*[,;]?\s+(?:and|und|sowie|y|et|ed|e|en|и|as well as)\s+(?:also\s+|auch\s+)?(?=¿?[^\W\d])"
    r"|\s*[;；؛،]\s*(?=[^\W\d])"
    r"|\s+ו(?=(?:מה|מהו|מהי|מי|מתי|איפה|היכן|כמה|למה|מדוע|איך|כיצד)\s)|\s+و\s?(?=(?:ما|من|متى|أين|اين|كم|كيف|لماذا)\s)"
    r"|,\s+(?=(?:what|how|when|where|why)\s+(?:(?:much|many|long|often)\s+(?:\w+\s+)?)?"
    r"(?:is|are|was|were|does|do|did|can|has|have|will)\s"
    r"|(?:was|wann|wie viel|wie lange|warum|wo)\s+"
    r"(?:ist|sind|kostet|kosten|beginnt|endet|hat|kann|muss|darf|wird|gibt|liegt)\s)",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(r"[\s¿]*(?:is|are|was|were|does|do|did|can|could|may|must|has|have|will|would|should)\s+\S")
_COMPARES = re.compile(
    r"\b(?:compar\w*|confront\w*|differ\w*|diferen\w*|between|vs|versus|vergleich\w*|unterschied\w*|zwischen|entre)\b"
)
_WHERE_NOT = ("ou", "que", "en")
"""Words that ask only with their accent: without it they say `or`, `that`."""


def questions_in(ask: str) -> tuple[list[str], list[str]]:
    """The distinct questions of an ask, at most `MOST_QUESTIONS` of them, and those beyond.

    Two that are joined by `and` are two where each begins with a question word of its own and says more. What holds
    signs alone is no question; an ask of nothing else is given as it stands.

    >>> questions_in("Who is the chair?! And where is the office? ???")
    (['Who is the chair?', 'And where is the office?'], [])
    >>> questions_in("Who is the chair and how many seats does the Team plan have?")[0]
    ['Who is the chair?', 'how many seats does the Team plan have?']
    >>> questions_in("When and where was it founded?")[0]
    ['When and where was it founded?']
    >>> questions_in("How many days and how many hours does it take?")[0]
    ['How many days and how many hours does it take?']
    """
    asked = [part.strip() for part in _ENDS.split(ask)]
    known = {" ".join(part.casefold().split()): part for part in reversed(asked) if _WORDY.search(part)}
    found: list[str] = []
    for part in asked:
        if known.pop(" ".join(part.casefold().split()), None) is not None:
            found += _joined(part) if len(found) < MOST_QUESTIONS else [part]
    if not found:
        return [ask.strip()], []
    return found[:MOST_QUESTIONS], found[MOST_QUESTIONS:]


def _joined(question: str) -> list[str]:
    """A question as those that `and` joins in it."""
    if is_spaceless(question):
        return questions_joined(question)
    if len(question) > 1_000 or _COMPARES.search(fold(question)):
        return [question]
    found, start = list[str](), 0
    for match in _JOINS.finditer(question):
        first, second = question[start : match.start()], question[match.end() :]
        if _is_whole(first) and _is_whole(second) and _is_other(first, second):
            found.append(f"{first.strip()}{question[-1] if question[-1] in '?？؟' else ''}")
            start = match.end()
    return [*found, question[start:]]


def _is_whole(text: str) -> bool:
    """Whether a text is a question of its own: a question word, then two words or more."""
    folded = fold(text)
    opens = _OPENS.match(folded)
    if opens is None:
        return bool(_AUXILIARY.match(folded)) and len(folded.split()) > 2
    accented = text.strip("¿ ").lower()
    plain = opens["word"] in _WHERE_NOT and accented.startswith(opens["word"])
    return not plain and len(re.findall(r"\w+", opens["rest"])) > 1


def _is_other(first: str, second: str) -> bool:
    """Whether the second asks something else and does not only go on: `who leads the team and is its founder`.

    Nor where its question word joins a clause in the first already (`what happens when … and when …`).
    """
    one, other = _OPENS.match(fold(first)), _OPENS.match(fold(second))
    if other is None:
        return one is None
    return one is None or not re.search(rf"\b{other['word']}\b", one["rest"])
