"""Whether a statement holds a value of the kind that a question asks for, and of the thing that it asks of."""

from __future__ import annotations

import re

from trivium.language.clauses import belongs_to_another
from trivium.language.languages import silent_words
from trivium.language.question import FREQUENCY, NAME, PLACE, REASON, Question
from trivium.language.statements import ITEM, PAIR, ROW, SENTENCE, Statement
from trivium.language.values import DURATION, NUMBER, TIME, Value
from trivium.search.segment import fold, tokens

_BECAUSE = re.compile(
    r"\b(?:because|since|due to|reasons?|so that|therefore|in order to|weil|da|denn|grund|damit|deshalb|wegen|porque"
    r"|debido|ya que|para que|motivo|parce que|car|afin|raison|perche|poiche|porque|omdat|doordat|потому"
    r"|так как|чтобы|כי|משום|מפני|בגלל|עקב|כדי|לכן|מאחר|لأن\w*|لان\w*|بسبب|لذلك|لكي|نظرا\w*"
    r")\b|, as\b|因为|因此|所以|由于|为了|ため|ので|から|때문|위해",
    re.I,
)
_REASONS = re.compile(
    r"\b(?:why|reasons?|rationale|motivation|background|context|decision|justification|begründung|gründe|kontext"
    r"|motivo|motivos|raisons?|contexte|contexto)\b|原因|理由|背景",
    re.IGNORECASE,
)
PROPER = re.compile(r"[^\W\d_a-zà-ÿа-я][^\W\d_]+")
_CAPITALS = re.compile("[A-Za-zÀ-ÿЀ-ӿͰ-Ͽ]")
_IN_PLACE = re.compile(
    r"\b(?:in|at|near|on|from|to|im|am|bei|aus|nach|en|à|a|au|aux|nel|nella|em|no|na|te|bij|в|на|of)\s+(?:\w+\s)?$"
)
_HAPPENED = re.compile(
    r"\b(?:when (?:did|was|were)|wann (?:wurde\w*|hat|haben|war\w*)|quand .*\b(?:a|ont|fut) \w*e?t?e\w*"
    r"|cuando (?:se )?(?:abrio|fue\w*)"
    r"|quando (?:e stat[oa]|foi|ha))\b"
)
"""A question for when something happened: hours at which it is so each day do not tell that."""
_REGULARLY = re.compile(
    r"\b(?:is|are|opens?|closes?|starts?|ist|sind|offnet|schliesst|est|sont|ouvre|esta|estan|abre|e|apre)\b"
)
_AGENT = re.compile(
    r"\b(?:by|from) (?:the|your|our|their|a|an)\b|\b(?:vom|von der|durch|por el|por la|par le|par la|par l')"
)
_IS = re.compile(r"\b(?:is|ist|es|est|e)\s+$")
_EARLIER = re.compile(
    r"\b(?:davor|zuvor|vorher|auparavant|anteriormente|until|till|former|formerly|previous|previously|ex"
    r"|predecessor|before|earlier|to (?:1[5-9]|20)\d\d|bis"
    r"|fruher\w*|ehemalig\w*|vorganger\w*|hasta|anterior|predecesor\w*|antes|jusqu|ancien\w*|predecesseur|avant"
    r"|fino|precedente|ранее|раньше|до|бывш\w*)\b|前任|之前|以前|此前|原|曾|前の|이전|전임"
)
_LATER = re.compile(
    r"\b(?:since|now|new|after|later|successor|succeed\w*|followed|from (?:1[5-9]|20)\d\d|seit|neue\w*"
    r"|nachfolge\w*|nach|desde|nuev\w*|sucesor\w*|despues|depuis|nouve\w*|successeur|apres|dal|dopo)\b"
)
_IN_PLACE_HAN = re.compile(
    r"在|位于|で|から|에서|에 |市|区|省|县|(?<!\w)[במ][-א-ת]\w+|(?<!\w)(?:في|من|إلى)\s|(?<!\w)بال\w"
)
_OFTEN = re.compile(
    r"\b(?:once|twice|times|every|each|daily|weekly|monthly|yearly|annually|hourly|per (?:day|week|month|year)"
    r"|a (?:day|week|month|year)|einmal|zweimal|dreimal|mal|jede[nsr]?|taglich|wochentlich|monatlich|jahrlich|veces"
    r"|vez|cada|diario|semanal|mensual|anual|fois|chaque|tous les|volte|volta|ogni|vezes|keer|elke|раз|каждый|каждую"
    r"|ежедневно|פעם|פעמים|פעמיים|כל|יומי\w*|שבועי\w*|חודשי\w*|שנתי\w*|مره|مرتين|مرات|كل|يوميا|اسبوعيا|شهريا"
    r"|سنويا)\b|每|次|一回|毎|回|마다"
)


def because(text: str) -> str | None:
    """What stands after `because`, or the whole text where it gives a reason and nothing stands there; else None.

    >>> because("We chose granite because sandstone crumbles.")
    'sandstone crumbles.'
    """
    match = _BECAUSE.search(text)
    if match is None:
        return None
    rest = text[match.end() :].lstrip(" ,:").strip()
    return rest if len(rest.split()) > 1 or len(rest) > 8 else text


def has_wanted(statement: Statement, question: Question, own: bool) -> bool:
    """Whether a statement holds what the question asks for: a value of the kind, which the question does not name.

    `own`: whether words of the question stand in the statement itself.
    """
    wanted = question.wanted
    if not wanted:
        return True
    if REASON in wanted:
        under = " ".join([*statement.headings[-1:], *(path[-1] for path in statement.passage.section_paths if path)])
        return bool(_BECAUSE.search(statement.text) or _REASONS.search(under))
    if FREQUENCY in wanted:
        return bool(_OFTEN.search(fold(statement.text)))
    if NAME in wanted or PLACE in wanted:
        return _has_name(statement, question, PLACE in wanted, own)
    return bool(_told(statement, question))


def _told(statement: Statement, question: Question) -> list[Value]:
    """The values of the kind that a question asks for, without those that it names itself."""
    told = [value for value in statement.values if value.kind in question.wanted and value.key[1] not in question.said]
    if question.kind == "when" and _HAPPENED.search(fold(question.text)) and _REGULARLY.search(fold(statement.text)):
        return [value for value in told if value.kind not in (TIME, DURATION)]
    return told


def of_another(statement: Statement, question: Question) -> bool:
    """Whether a sentence of several clauses has the value asked for in one about another thing of the kind."""
    if statement.kind not in (SENTENCE, ITEM):
        return False
    told = _told(statement, question)
    told = [value for value in told if value.kind != NUMBER] or told  # asked for a price, 40 euros rather than 3
    if question.wanted and not told:
        return False
    return belongs_to_another(statement.text, [value.start for value in told], question.words)


def tells_beside(statement: Statement, question: Question, typed: bool) -> bool:
    """Whether a statement has another name than the one in the question and, where asked, puts it before or after."""
    text, words = fold(statement.text), frozenset(statement.words)
    ordered = question.earlier is None or bool((_EARLIER if question.earlier else _LATER).search(text))
    return typed and (ordered or (bool(question.beside) and question.beside <= words))


def _has_name(statement: Statement, question: Question, place: bool, own: bool) -> bool:
    """Whether there is a name that the question does not hold; scripts without capitals get the benefit of doubt."""
    text = statement.text
    if not _CAPITALS.search(text):
        return not place or bool(_IN_PLACE_HAN.search(text))
    known = {*tokens(question.text), *silent_words(statement.words)}
    if not place and _AGENT.search(fold(text)):
        return True
    keys = frozenset(token for cell in statement.cells for token in tokens(cell.key)) if statement.kind == ROW else ()
    for match in PROPER.finditer(text):
        if not known.isdisjoint(tokens(match[0])) or (keys and keys >= set(tokens(match[0]))):
            continue
        if not place or _in_place(statement, match.start(), own):
            return True
    return False


def _in_place(statement: Statement, start: int, own: bool) -> bool:
    """Whether a name stands where places do: after a word such as `in`, after `is`, as the value of a pair or cell."""
    before = fold(statement.text[:start])[-40:]
    return statement.kind in (ROW, PAIR) or bool(_IN_PLACE.search(before) or (own and _IS.search(before)))
