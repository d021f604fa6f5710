"""What a model's sentence claims that nothing it was given holds: values, names, or the opposite of its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from trivium.answers.code_spans import code_spans
from trivium.language.denial import denial_in
from trivium.language.languages import language_of, silent_words
from trivium.language.matching import Vocabulary, alike
from trivium.language.values import NUMBER, Value, find_values
from trivium.search.segment import fold, tokens

_REFUSES = re.compile(
    r"\A\W*not[ _]found\b|\b(?:do(?:es)? not|don't|doesn't|cannot|no) (?:contain|mention|state|provide|specify|say"
    r"|include|tell|information|answer|be determined|hold)"
    r"|\b(?:nicht|keine) (?:enthalten|erwähnt|angegeben|Angabe|Information|Antwort)"
    r"|\bno (?:contiene|menciona|indica|hay información|se menciona)|\bne (?:contien|mentionn|précis|indiqu)\w+ pas"
    r"|没有(?:提到|包含|提供|说明|找到)|未(?:提及|提供|说明)|(?:記載|情報)(?:が|は)ありません",
    re.IGNORECASE,
)
_LIST_NUMBER = re.compile(r"(?m)^[\s>]*\d{1,3}[.)]\s")
_TITLE = re.compile(r"\s*(?:#|\*\*[^*]*\*\*\s*$)")
_FILE = re.compile(r"(?<![\w/.-])[\w/.-]*\w\w\.[a-z]\w{1,4}(?![\w-])")
_PLACE = r"(?::\d|,? (?:lines?|pages?|pp?\.|sections?) )[^)\n]{0,20}"
_AS_SOURCE = re.compile(rf"\[({_FILE.pattern})[^\]\n]{{0,40}}\]|\(({_FILE.pattern}){_PLACE}\)")
_CODE = re.compile(r"(?<![\w/.-])(?=[\w-]*\d)(?![\w-]*[\u2e80-\ud7af])[^\W\d_]\w*(?:-\w+)*(?![\w-])")
_NAME = re.compile(r"(?:(?<=[^\W_] )|(?<=, ))[^\W\d_][^\W\d_'’]+(?:-[^\W\d_]+)*")
_NO_NAMES = frozenset({"de"})
"""Languages that write every noun with a capital."""
_CLAUSE = re.compile(
    r"[,;:.!?()—–]|\b(?:but|and|or|while|whereas|sondern|aber|und|oder|sino|pero|y|mais|et|ma|e|mas|maar|en|но|и)\b"
)
_DEPENDS = re.compile(
    r"\b(?:not only|unless|until|before|after|only|except|if|when|wenn|nur|bis|ausser|vor|nach|falls|si|solo|hasta"
    r"|antes|salvo|sauf|seulement|avant|se|prima|tranne|als|tenzij|voor|если|только|кроме|до)\b"
)


class Given:
    """All that a model was given to go by, as far as single values and names can be looked up in it."""

    def __init__(self, texts: Iterable[str], sources: Iterable[str] = ()) -> None:
        self._sources = [fold(source) for source in sources]
        self._words: set[str] = set()
        self._amounts: set[Decimal] = set()
        self._keys: set[tuple[str, str]] = set()
        self._moments: set[str] = set()
        self._digits: set[str] = set()
        folded: list[str] = []
        for text in texts:
            folded.append(fold(text))
            self._words.update(tokens(text))
            self._digits.update(re.findall(r"\d+", text))
            self._digits.update(_joined(run) for run in re.findall(r"\d[\d.,'’ \u00a0\u202f]*\d", text))
            for value in find_values(text, language_of(text)):
                self._keys.add(value.key)
                if value.amount is not None:
                    self._amounts.add(abs(value.amount))
                elif value.iso:
                    self._moments.add(value.iso)
        self._text = "\n".join(folded)
        self._known = Vocabulary([self._words])

    def strangers(self, sentence: str, *, names: bool = True) -> list[str]:
        """The numbers, dates, codes, files and, if wanted, proper names of a sentence that stand nowhere here.

        >>> Given(["Anna Berg leads the office from 1 March 2024."]).strangers("Since 2024 Bob Smith earns 5 million.")
        ['5 million', 'Bob', 'Smith']
        """
        text = _LIST_NUMBER.sub(" ", _without_code(sentence))
        cited = [match[1] or match[2] for match in _AS_SOURCE.finditer(text)]
        text = _AS_SOURCE.sub(" ", text)
        # a document may name files; that does not make them sources
        found = [name for name in cited if not any(source.endswith(fold(name)) for source in self._sources)]
        values = find_values(text, language_of(text))
        found += [text[one.start : one.stop] for one in values if not self._holds(one, text)]
        for match in (*_FILE.finditer(text), *_CODE.finditer(text)):
            if fold(match[0]) not in self._text:
                found.append(match[0])
        if names and not _TITLE.match(text) and language_of(text) not in _NO_NAMES:
            found += (name for name in _names(text) if not self._names(name))
        return list(dict.fromkeys(one.strip() for one in found))

    def _holds(self, value: Value, text: str) -> bool:
        raw = text[value.start : value.stop]
        runs = re.findall(r"\d+", raw)
        if value.amount is not None:
            if value.key in self._keys or abs(value.amount) in self._amounts:
                return True
            if not runs:  # `three plans` may be counted, `a month` a way to speak
                return value.kind == NUMBER or value.amount <= 1
        elif any(one.startswith(value.iso) or value.iso.startswith(one) for one in self._moments):
            return True
        return bool(runs) and (all(run in self._digits for run in runs) or _joined(raw) in self._digits)

    def _names(self, name: str) -> bool:
        return all(bool(self._known.met_by(word)) for word in tokens(name, query=True))


def denies(sentence: str, quote: str) -> bool:
    """Whether one of two texts plainly denies what the other says.

    >>> denies("Water damage is covered.", "Water damage is not covered.")
    True
    >>> denies("The warranty covers motors.", "The warranty covers motors but not water damage.")
    False
    """
    one, other = fold(_without_code(sentence)), fold(quote)
    at, there = denial_in(one), denial_in(other)
    if (at is None) == (there is None) or _DEPENDS.search(one) or _DEPENDS.search(other):
        return False
    denied, said, place = (one, other, at) if at is not None else (other, one, there)
    assert place is not None
    if denial_in(denied[place[1] :]) is not None:
        return False
    words = telling(_CLAUSE.split(denied[place[1] :], maxsplit=1)[0])
    words = words or telling(_CLAUSE.split(denied[: place[0]])[-1])
    there_too = set(tokens(said))
    return bool(words) and all(any(alike(word, known) for known in there_too) for word in words)


def refuses(text: str) -> bool:
    """Whether a text says that the answer is not there."""
    return bool(_REFUSES.search(text[:400]))


def telling(text: str) -> set[str]:
    found = set(tokens(text, query=True))
    return found - silent_words(found)


def _names(text: str) -> Iterator[str]:
    """Words within a sentence that are written with one capital, at their beginning."""
    for match in _NAME.finditer(text):
        if match[0][0].isupper() and match[0][1:].islower():
            yield match[0]


def _joined(number: str) -> str:
    return re.sub(r"\D", "", number)


def _without_code(text: str) -> str:
    for start, stop in reversed(code_spans(text)):
        text = f"{text[:start]} {text[stop:]}"
    return text
