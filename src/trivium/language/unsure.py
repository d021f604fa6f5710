"""What says neither yes nor no: what is told under a condition, of a part, for a time, as a plan or a question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.language.claimed import denied, without_mere_limits
from trivium.language.languages import language_of
from trivium.language.matching import alike
from trivium.language.statements import Statement
from trivium.language.values import DATE, is_time_word
from trivium.search.segment import fold, tokens

_UNSURE = {
    language: re.compile(words if language in ("zh", "ja", "ko") else rf"\b(?:{words})\b")
    for language, words in {
        "en": "if|unless|provided|may be|might|could|would|in case|only|except|excluding|whether|planned|plans? to"
        "|proposal|proposed|rumou?red|hardly|rarely|seldom|few|used to|until|till|dropped|removed|discontinued"
        r"|abolished|withdrawn|rejected|ended|ceased|phased out"
        r"|will\b.{1,60}\b(?:from|in|by|after|as of) \S*(?:19|20)\d\d",
        "de": "wenn|falls|sofern|konnte|wurde|soweit|ob|nur|lediglich|ausser|ausgenommen|geplant|kaum|selten|bis|fruher"
        "|abgelehnt|abgeschafft|vorschlag|endete|eingestellt|beendet",
        "es": "si|a condicion|siempre que|salvo|solo|solamente|unicamente|excepto|previsto|apenas|hasta|rechaz\\w+"
        "|termino|finalizo|retirad[oa]s?|eliminad[oa]s?",
        "fr": "si|s'il|s'ils|a condition|sauf|seulement|uniquement|prevue?s?|jusqu\\w*|rejete\\w*|rarement"
        "|a pris fin|supprime\\w*|abandonne\\w*",
        "it": "se|qualora|purche|solo|soltanto|tranne|salvo|previst[oaie]|fino|respint[oaie]",
        "pt": "se|caso|desde que|so|somente|apenas|exceto|salvo|previst[oa]s?|ate|rejeitad[oa]s?",
        "nl": "als|mits|tenzij|of|alleen|slechts|behalve|gepland|tot|afgewezen",
        "ru": "если|при условии|ли|только|лишь|кроме|планиру\\w+|до|отклон\\w+|редко",
        "zh": "如果|若|假如|除非|是否|只|仅|除了|计划|以前|曾",
        "ja": "なら|れば|場合|だけ|のみ|予定|以前|まで|かどうか",
        "ko": "만약|경우|면",
    }.items()
}
"""What is told under a condition, of a part, as a plan, as a question or of the past says neither yes nor no."""
_SOME = re.compile(
    r"\b(?:most|many|some|several|half|certain|a few|meisten|manche|einige|viele|mehrere|la mayoria|algun[oa]s"
    r"|vari[oa]s"
    r"|much[oa]s|la plupart|certaine?s|quelques|plusieurs|beaucoup|la maggior parte|alcun[ie]|molt[ie]|a maioria|alguns"
    r"|algumas|muit[oa]s|meeste|sommige|enkele|больш\w+|некотор\w+|многи\w+)\b|大多数|部分|有些|一些"
)
"""What stands before those of which alone something is told."""
_WITHOUT = re.compile(r"\b(?:without|ohne|sans|sin|senza|sem|zonder|без)\b|未经|没有(?=.{1,12}[不勿])|なしで")
"""What is denied without something is denied under a condition."""
_NEAR = 3
_TIMES_OF_DAY = frozenset(
    fold(
        "night nights evening evenings daytime weekend weekends weekday weekdays nachts abends tagsuber wochenende"
        " wochenenden werktags sonntags samstags montags dienstags mittwochs donnerstags freitags nuit soir weekends"
        " noche noches tarde notte sera noite ночью вечером выходные 夜间 晚上 周末 冬季 夏季 冬天 夏天 夜間 週末"
    ).split()
)
_ON = (
    r"\b(?:on|in|at|during|every|am|an|im|bei|jeden|wahrend|le|la|les|en|el|los|por|durante|chaque|pendant|il|di|alla"
    r"|no|na|aos|op|в|по)(?: (?:the|der|den|dem|la|le|de|all))? "
)
_HAPPENED = re.compile(
    r"\b(?:was|were|has|have|had|been|wurde\w*|worden|fue|fueron|ha|han|ete|fut|stata|stato|foi|werd|был\w*)\b|了"
)
"""What happened on a Monday happened, and not only on Mondays."""


def is_unsure(statement: Statement, terms: Sequence[str]) -> bool:
    """Whether a statement says neither yes nor no to a claim of these words.

    That is told by the words of its language or of the one around it, but for those that are claimed themselves.
    """
    text = without_mere_limits(fold(statement.text))
    languages = {statement.language, language_of(statement.text, otherwise=statement.language)}
    told = (match[0] for one in languages if one in _UNSURE for match in _UNSURE[one].finditer(text))
    without = _WITHOUT.search(text) if denied(_WITHOUT.sub(" ", text)) else None
    if without is not None and not _of_some(tokens(text[without.end() :])[:_NEAR], terms):
        return True
    some = any(_of_some(tokens(text[match.end() :])[:_NEAR], terms) for match in _SOME.finditer(text))
    return some or any(not _claimed(tokens(words), terms) for words in told) or _for_a_time(statement, terms)


def unsure_text(text: str, language: str) -> bool:
    """Whether a text of its own says neither yes nor no."""
    return language in _UNSURE and _UNSURE[language].search(without_mere_limits(fold(text))) is not None


def _claimed(words: Sequence[str], terms: Sequence[str]) -> bool:
    return bool(words) and all(any(alike(term, word) for term in terms) for word in words)


def _of_some(behind: Sequence[str], terms: Sequence[str]) -> bool:
    return any(alike(term, word) for word in behind for term in terms)


def _for_a_time(statement: Statement, terms: Sequence[str]) -> bool:
    """Whether it is told for weekdays, seasons or times of the day alone, of none of which something is claimed."""
    text = statement.text
    for value in reversed(statement.values):
        if value.kind == DATE:
            text = text[: value.start] + text[value.stop :]
    folded = fold(text)
    when = [word for word in tokens(text) if is_time_word(word) or word in _TIMES_OF_DAY]
    when = [word for word in when if word > "\u2e80" or re.search(rf"{_ON}{word}\b|\b{word[:-1]}s\b", folded)]
    if not when or _HAPPENED.search(folded):
        return False
    return not any(alike(term, word) for word in when for term in terms)
