"""What a property of a shape asks for: its words, and the kinds and units of values that it hints at."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

from trivium.language.languages import silent_words
from trivium.language.units import unit_word
from trivium.language.values import DATE, MEASURE, MEASURES, NUMBER, TIME, YEAR
from trivium.search.segment import tokens
from trivium.shapes.property_words import (
    ADDRESS_WORDS,
    ADDRESSES,
    BARE,
    BARE_DATES,
    BARE_NAMES,
    BARE_PLACES,
    DATES,
    FREE_WORDS,
    GENERIC,
    GIVEN_NAMES,
    HOURS,
    KIND_OF,
    NAMES,
    PHONES,
    PLACES,
    REASONS,
    SHORT,
    SOURCES,
    SUMS,
    TIMES,
    UNITS,
    YEARS,
)

FREE, NAME, REASON, WHERE, EMAIL, LINK, PHONE = "free", "name", "reason", "where", "email", "link", "phone"
"""Roles of texts: a statement as it is, a name in it, what follows `because`, the path of the source, addresses."""
ADDRESSED = frozenset([EMAIL, LINK, PHONE])

_PLACE = re.compile(r"\[\d*\]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Property(Struct, frozen=True):
    """A property: where it stands in the shape, its schema, and what its name and description say.

    `words` tell what it is about; without any, the question alone does. `kinds` and `unit` are what a number should be.
    `names` are its name and title word by word; `bare`, where those are words such as `since` or `who` alone, which
    only a column or key of that name tells, or what stands behind them in a sentence.
    """

    path: str
    schema: dict[str, Any]
    words: list[str] = []
    described: list[str] = []
    kinds: frozenset[str] = frozenset()
    unit: str = ""
    role: str = ""
    dated: bool = False
    placed: bool = False
    names: frozenset[tuple[str, ...]] = frozenset()
    bare: tuple[str, ...] = ()

    @property
    def types(self) -> list[str]:
        declared = self.schema.get("type")
        return [declared] if isinstance(declared, str) else list(declared or [])

    @property
    def asked(self) -> list[str]:
        """The words that say which value is meant: also the last one of `open_from`, and those of a bare name."""
        last = sorted({name[-1] for name in self.names} & BARE_DATES)
        return [*last, *(word for word in self.words if word not in last)]


def read_property(path: str, schema: dict[str, Any]) -> Property:
    """What a property asks for.

    >>> asked = read_property("terms.notice_days", {"type": "integer"})
    >>> asked.words, sorted(asked.kinds), asked.unit
    (['notice'], ['duration'], 'day')
    >>> read_property("since", {"type": "integer"}).bare
    ('since',)
    """
    name = _PLACE.sub("", path).rpartition(".")[2]
    if path.endswith("]") and not path.endswith("[]") and ("title" in schema or "description" in schema):
        name = ""  # a place of an array is not what the array is
    title = str(schema.get("title", ""))
    parts = _parts(f"{name} {title}")
    described = _parts(str(schema.get("description", "")))
    kinds, unit = _hints(parts)
    if not kinds:
        kinds, unit = _hints(described)
    words = [word for word in parts if not _is_hint(word, parts) and not _is_unit(word, parts)]
    if not words:
        words = [word for word in parts if word in SUMS or (word not in GENERIC and word in KIND_OF)]
    if len(words) > 1:
        words = [word for word in words if word not in HOURS] or words
    if len(words) > 1 and words[-1] == "name" and not GIVEN_NAMES & set(words):
        words.pop()
    form = schema.get("format")
    bare = tuple(tokens(name.replace("_", " "), query=True)) if BARE.issuperset(parts) and not title else ()
    return Property(
        path,
        schema,
        [] if bare else words,
        [word for word in described if not _is_hint(word, described)],
        kinds | ({TIME} if form == "time" else set()),
        unit,
        _role(name, parts, described, form),
        form in ("date", "date-time") or _says(DATES, name, parts) or bool(bare and BARE_DATES & set(bare)),
        _is_place(name, parts, kinds),
        frozenset(filter(None, (name_words(name), name_words(title)))),
        bare,
    )


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a name or a header, in the form in which two such are compared.

    >>> name_words("monthlyFee_eur"), name_words("Price (EUR)")
    (('monthly', 'fee', 'eur'), ('price', 'eur'))
    """
    cut = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ").replace(".", " ")
    return tuple(_plain(word) for word in tokens(cut, query=True))


def _plain(word: str) -> str:
    """A word with plain vowels, as `gültig` and `gueltig` are compared."""
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def _is_place(name: str, parts: list[str], kinds: frozenset[str]) -> bool:
    """Whether a property is where something is: by its words, or as in `held_in`."""
    if not BARE.issuperset(parts):
        tail = re.search("(?:_|(?<=[a-z])(?=[A-Z]))(?:in|at|In|At)$", name) and not (kinds or DATES & set(parts))
        return bool(tail) or _says(PLACES, name, parts)
    return not BARE_PLACES.isdisjoint(name_words(name))


def _is_hint(word: str, parts: list[str]) -> bool:
    """Whether a word says what kind of value is meant rather than what it is about; a measure only at the end does."""
    known = any(word in words for words in (UNITS, GENERIC, YEARS))
    return known or (word in MEASURES and word == parts[-1]) or word == _address_in(parts)


def _address_in(parts: list[str]) -> str:
    """The word of a name that says which kind of address is meant: `support_email`, but not of `mail_port`."""
    kinds = [word for word in parts if word not in ADDRESS_WORDS]
    return kinds[-1] if kinds and kinds[-1] in ADDRESSES | PHONES else ""


def _is_unit(word: str, parts: list[str]) -> bool:
    """Whether a word is the unit at the end of a name of several words."""
    return len(parts) > 1 and word == parts[-1] and unit_word(word) is not None


def _parts(text: str) -> list[str]:
    cut = _CAMEL.sub(" ", text).replace("_", " ").replace("-", " ")
    found = [_spelled(SHORT.get(word, word)) for word in dict.fromkeys(tokens(cut, query=True))]
    silent = silent_words(found)
    return [word for word in found if word not in silent or word in REASONS]


def _spelled(word: str) -> str:
    """`gegruendet` as `gegrundet` where that is a word that says something here."""
    plain = word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    known = (DATES, NAMES, REASONS, FREE_WORDS, KIND_OF, TIMES)
    return plain if any(plain in words for words in known) else word


def _hints(words: list[str]) -> tuple[frozenset[str], str]:
    for word in words:
        if word in UNITS:
            kind, unit = UNITS[word]
            return frozenset({kind}), unit
    if words and words[-1] in MEASURES and len(words) > 1:
        return frozenset({MEASURE}), MEASURES[words[-1]]
    if len(words) > 1 and (named := unit_word(words[-1])) is not None:
        return frozenset({named.kind}), named.name
    kinds = {KIND_OF[word] for word in words if word in KIND_OF}
    if YEARS & set(words):
        kinds |= {YEAR, DATE}
    if TIMES & set(words):
        kinds |= {TIME}
    if "number" in words or "count" in words:
        kinds |= {NUMBER}
    return frozenset(kinds), ""


def _says(known: frozenset[str], name: str, parts: list[str]) -> bool:
    """Whether a name holds one of some words; in scripts without spaces, anywhere."""
    return not known.isdisjoint(parts) or any(word in name for word in known if word > "\u2e80")


def _role(name: str, parts: list[str], described: list[str], form: object) -> str:
    address = _address_in(parts)
    if form in ("email", "idn-email") or address in ("email", "mail"):
        return EMAIL
    if form in ("uri", "url", "iri") or address in ADDRESSES:
        return LINK
    if address:
        return PHONE
    if _says(REASONS, name, parts):
        return REASON
    if parts and set(parts) <= SOURCES:
        return WHERE
    if _says(FREE_WORDS, name, parts):
        return FREE
    tail = re.search("(?:_|(?<=[a-z])(?=[A-Z]))(in|at|by|from|In|At|By|From)$", name)
    if _says(NAMES | PLACES, name, parts) or tail or {"name", "who", "wer", "quien", "qui"} & set(described):
        return NAME
    return "" if not BARE.issuperset(parts) or (BARE_NAMES | BARE_PLACES).isdisjoint(name_words(name)) else NAME
