"""Questions that follow others in a conversation: what they leave unsaid is taken from the question before.

`And in Berlin?` asks of Berlin what was asked of Paris; `How many desks does it have?` is about what the question
before named; `And before?` asks who or what it was earlier; `Since when?` asks for the beginning of the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from trivium.answers.ranking import POINTS_BACK
from trivium.language.former import asks_of_now
from trivium.language.question import Question, Term, understand
from trivium.search.segment import fold, tokens

_FARTHEST = 4
"""How many questions back what is left unsaid is looked for."""
_MOST_WORDS = 6
_ADDS = re.compile(
    r"\W*(?:(?:and|but) (?:what|how) about|(?:and|but|also|or)|what about|how about|what of"
    r"|und (?:was ist mit|wie (?:steht|sieht) es (?:aus )?(?:mit|bei))|was ist mit|und|aber|et qu'en est-il (?:de"
    r"|pour)|et|mais|y que hay de"
    r"|que hay de|y|pero|e che dire di|che dire di|ed?|ma|mas|en|maar|и|а|那么|那|では|じゃあ|그럼)(?:\b"
    r"|(?<=[么那はあ럼]))[\s,]*",
    re.IGNORECASE,
)
_TAIL_HAN = re.compile("(?:呢|は|은요|는요)[?？\\s]*$")
_BEFORE = re.compile(
    r"\W*(?:before(?: that| then)?|previously|earlier|davor|vorher|zuvor|fruher|avant(?: cela| ca)?|auparavant"
    r"|antes(?: de eso)?"
    r"|anteriormente|prima(?: di allora)?|in precedenza|antes disso|daarvoor|eerder|до этого|раньше|之前|以前|此前"
    r"|その前|以前は|前は|이전에?)\W*(?:呢|は)?\W*"
)
_PREPOSITIONS = frozenset(
    [
        "in",
        "at",
        "on",
        "of",
        "for",
        "from",
        "to",
        "with",
        "by",
        "under",
        "during",
        "since",
        "until",
        "im",
        "am",
        "bei",
        "fur",
        "von",
        "vom",
        "aus",
        "mit",
        "zu",
        "zum",
        "zur",
        "ab",
        "seit",
        "bis",
        "en",
        "a",
        "au",
        "aux",
        "de",
        "du",
        "des",
        "pour",
        "dans",
        "chez",
        "avec",
        "del",
        "para",
        "con",
        "nel",
        "nella",
        "di",
        "per",
        "da",
        "dal",
        "a",
        "em",
        "no",
        "na",
        "do",
        "dos",
        "das",
        "voor",
        "van",
        "bij",
        "met",
        "op",
        "в",
        "на",
        "для",
        "из",
        "с",
        "от",
    ]
)
_ARTICLES = frozenset(
    [
        "the",
        "a",
        "an",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "le",
        "la",
        "les",
        "l'",
        "un",
        "une",
        "el",
        "los",
        "las",
        "una",
        "il",
        "lo",
        "gli",
        "i",
        "o",
        "os",
        "as",
        "de",
        "het",
        "een",
    ]
)
_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|he|she|him|his|hers?|(?:this|that|these|those)(?: one)?(?=\W*$)|er"
    r"|ihr(?:e[nmrs]?)?|sein(?:e[nmrs]?)?"
    r"|dort|davon|dessen|deren|(?<=-)(?:il|elle|ils|elles)|son|sa|ses|la-bas|su|sus|alli|ahi|ella|suoi?|sua|seus?"
    r"|ele|ela"
    r"|его|ее|там|он|она|ihn)\b"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b|(?<=hat )\bsie\b|它|他|她|那里|那儿|那边|そこ|それ|彼|거기|그곳"
)
_DUMMY = re.compile(
    r"\b(?:(?:does|did|will|can) it (?:take|cost) to|is it (?:possible|allowed|necessary|true|ok|safe)|it (?:takes"
    r"|costs) to"
    r"|gibt es|faut-il|a-t-il|est-il|hay que)\b"
)
_THERE = re.compile(r"\b(?:there|dort|la-bas|alli|ahi|там)\b|那里|那儿|那边|そこ|거기|그곳")
_PLACES = frozenset(
    ["in", "at", "im", "am", "bei", "aus", "en", "a", "au", "chez", "nel", "nella", "em", "no", "na", "bij", "в", "на"]
)
_SINCE = re.compile(
    r"^\W*(?:and |und |et |y |e )?(?:since|seit|depuis|desde|da|dal|sinds|с каких|с какого)\b|从什么时候|从何时"
    r"|いつから|언제부터"
)


class Asked(Struct):
    """A question as it is meant: `terms` are its own words and those that the question before lends.

    `text` is it in words of its own, to be searched for; `now` whether it asks how things are; `since` for the
    beginning of something.
    """

    question: Question
    terms: list[Term]
    text: str
    now: bool = True
    since: bool = False


def asked(ask: str, earlier: Sequence[str] = ()) -> Asked:
    """What a question means that stands behind others, the last of them first to lend its words."""
    question = understand(ask)
    plain = Asked(question, list(question.terms), ask, asks_of_now(ask))
    if not earlier:
        return plain
    before = asked(earlier[-1], earlier[-1 - _FARTHEST : -1])
    folded = fold(ask)
    bare = _bare(ask)
    if _BEFORE.fullmatch(fold(bare)):
        return replace(before, question=replace(before.question, earlier=True), now=False, text=f"{before.text} {ask}")
    if not question.terms and question.kind:
        return _of_the_same(question, before, ask)
    if bare and not question.kind and not question.yes_no and not question.lists and _is_short(bare):
        return _instead(bare, question, before)
    pronoun = _POINTS.search(folded)
    if pronoun and not _DUMMY.search(folded) and not any(term.must for term in question.terms):
        names = _named(before, there=bool(_THERE.search(folded)))
        if names:
            lent = [Term(word, must=True) for word in names if word not in question.words]
            terms = [*(term for term in plain.terms if not _POINTS.fullmatch(term.word)), *lent]
            return replace(plain, question=replace(question, terms=terms), terms=terms, text=f"{ask} {' '.join(names)}")
    if len(question.terms) > 2 and not POINTS_BACK.search(ask):
        return plain
    lent = [Term(term.word, extra=True) for term in before.terms if term.word not in question.words]
    return replace(plain, terms=[*plain.terms, *lent], text=f"{ask} {before.text}" if lent else ask)


def _bare(ask: str) -> str:
    """A question that only adds something (`And in Berlin?`) without the words that say so; empty for any other."""
    match = _ADDS.match(ask)
    tail = _TAIL_HAN.search(ask)
    if match is None and tail is None:
        return ""
    start, stop = match.end() if match else 0, tail.start() if tail else len(ask)
    return ask[start:stop].strip(" \t\n?？!.,¿。")


def _is_short(text: str) -> bool:
    return 0 < len(text.split()) <= _MOST_WORDS and len(text) <= 60


def _of_the_same(question: Question, before: Asked, ask: str) -> Asked:
    """A question of a question word alone (`Since when?`): of what was asked before."""
    other = before.question
    kept = replace(question, terms=other.terms, of=other.of, thing=other.thing, language=other.language)
    of_people = replace(kept, kind=question.kind, head=other.head)
    return Asked(of_people, before.terms, f"{before.text} {ask}", before.now, bool(_SINCE.search(fold(ask))))


def _instead(phrase: str, question: Question, before: Asked) -> Asked:
    """The question before, asked of another thing: in the place of what it named, or as well."""
    text = _replaced(before.text, phrase, before)
    if text is not None:
        meant = understand(text)
        return Asked(meant, list(meant.terms), text, asks_of_now(text))
    other = before.question
    own = [replace(term, must=True, extra=False) for term in question.terms]
    lent = [replace(term, must=False, extra=True) for term in before.terms if term.word not in question.words]
    meant = replace(
        other, terms=[*own, *lent], of=[], thing="", counted="", beside=frozenset(), text=f"{other.text} {phrase}"
    )
    return Asked(meant, [*own, *lent], f"{before.text} {phrase}", before.now)


def _replaced(text: str, phrase: str, before: Asked) -> str | None:
    words, end = text.rstrip(" ?？!.").split(), "?"
    new = phrase.split()
    if fold(new[0]) in _PREPOSITIONS:
        at = _last(words, fold(new[0]))
        if at is not None:
            return _joined(words[:at], new, words[_phrase_end(words, at + 1) :], end)
        if len(new) > 1 and not _is_name(new[1:]):
            return _joined(words, new, [], end)
        new = new[1:]
    if not new:
        return None
    if _is_name(new):
        runs = [run for run in _name_runs(words, before) if _has_digit(words[run[0] : run[1]]) is _has_digit(new)]
        if runs:
            start, stop = runs[-1]
            own = "'s" if words[stop - 1].endswith(("'s", "’s")) else ""
            return _joined(words[:start], [*new[:-1], f"{new[-1]}{own}"], words[stop:], end)
        at = next((at for at in range(len(words) - 2, 0, -1) if fold(words[at]) in _PREPOSITIONS), None)
        if at is not None and words[at + 1][0].isupper():
            return _joined(words[: at + 1], new, words[_phrase_end(words, at + 1) :], end)
        return None
    if fold(new[0]) in _ARTICLES and before.question.head:
        at = next((at for at, word in enumerate(words) if fold(word) == before.question.head), None)
        if at is not None:
            start = next((one for one in range(at, 0, -1) if fold(words[one - 1]) in _ARTICLES), at)
            return _joined(words[: max(start - 1, 0)] if start < at or start else words[:at], new, words[at + 1 :], end)
    return None


def _joined(first: list[str], new: list[str], rest: list[str], end: str) -> str:
    return f"{' '.join([*first, *new, *rest])}{end}"


def _last(words: Sequence[str], word: str) -> int | None:
    return next((at for at in range(len(words) - 1, 0, -1) if fold(words[at]) == word), None)


def _phrase_end(words: Sequence[str], start: int) -> int:
    """Where what follows a preposition ends: at the next one, or at a verb behind a name."""
    at = start + 1
    named = words[start][:1].isupper() if start < len(words) else False
    while at < len(words) and fold(words[at]) not in _PREPOSITIONS:
        if named and words[at][0].islower():
            break
        at += 1
    return min(at, len(words))


def _is_name(words: Sequence[str]) -> bool:
    return all(word[0].isupper() or _has_digit([word]) for word in words)


def _has_digit(words: Sequence[str]) -> bool:
    return any(letter.isdigit() for word in words for letter in word)


def _name_runs(words: Sequence[str], before: Asked) -> list[tuple[int, int]]:
    """Where names, codes and numbers stand in the question before."""
    names = {term.word for term in before.terms if term.must}
    inside = [bool(names.intersection(tokens(word.removesuffix("'s"), query=True))) for word in words]
    runs: list[tuple[int, int]] = []
    for at, one in enumerate(inside):
        if one and runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        elif one:
            runs.append((at, at + 1))
    return runs


def _named(before: Asked, *, there: bool) -> list[str]:
    """The words of what the question before is about: its name or code, a place for `there`; else of what it asks."""
    words = before.text.rstrip(" ?？!.").split()
    runs = _name_runs(words, before)
    if there:
        runs = [run for run in runs if run[0] and fold(words[run[0] - 1]) in _PLACES] or runs
    if runs:
        start, stop = runs[-1] if there else runs[0]
        held = set(tokens(" ".join(words[start:stop]), query=True))
        return [term.word for term in before.terms if term.must and term.word in held]
    if before.question.of:
        return list(before.question.of)
    for one, other in pairwise(reversed(words)):
        if fold(other) in _PREPOSITIONS and one[0].isupper():
            return [term.word for term in before.terms if term.word in tokens(one, query=True)]
    return [term.word for term in before.terms if term.must]
