"""Other names of a glossary's terms: acronyms with what they stand for, and lists of names (reference 4.2, aliases)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from trivium.why.wording import LANGUAGES, alternation, alternatives, is_cjk, is_status_word, normal, words

MAX_ALIAS_WORDS = 8
MIN_CJK = 4
"""Fewer characters beside an acronym are a remark rather than what it stands for."""

_PARENTHESES = re.compile(r"(.*\S)\s*[(（]([^()（）]+)[)）]", re.DOTALL)
_ACRONYM = re.compile(r"[^\W_](?:[\w&/.+-]{0,14}[\w+])?")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SEPARATOR = re.compile(r"\s*(?:[,;，；、]|\s/\s|<br\s*/?>|\n|\s(?:or|oder|ou|или)\s)\s*", re.IGNORECASE)
_SMALL = frozenset(
    re.findall(
        r"\w+",
        """a an and as at by for from in of on or the to with
        der die das des dem den und für von zur zum de la le les du et à au aux
        el los las del y e para por con o os do da dos das em no na di il lo gli dell dei degli
        и в на по для с о об от""",
    )
)
"""Words without a letter in an acronym."""


def other_names(term: str) -> list[str]:
    """What a term of the form `API (Application Programming Interface)` names besides itself: both parts.

    Either part may be the acronym; any other remark in parentheses is none, unless it says `aka`, `short:` or the like.

    >>> other_names("API (Application Programming Interface)"), other_names("Store (deprecated)")
    (['API', 'Application Programming Interface'], [])
    """
    match = _PARENTHESES.fullmatch(term)
    if match is None:
        return []
    outside, inside = match.group(1).strip(), match.group(2).strip()
    if told := _told().match(inside):
        return [outside, *listed_names(inside[told.end() :])]
    if is_acronym_of(outside, inside) or is_acronym_of(inside, outside):
        return [outside, inside]
    return []


def is_acronym_of(short: str, long: str) -> bool:
    """Whether the letters of `short` are the initials of `long`, or stand in its words in order.

    >>> is_acronym_of("XML", "Extensible Markup Language"), is_acronym_of("LRU", "least recently used")
    (True, True)
    >>> is_acronym_of("API", "deprecated"), is_acronym_of("Port", "networking")
    (False, False)
    """
    if not _ACRONYM.fullmatch(short) or sum(letter.isupper() for letter in short) < 2 or len(short) > 12:
        return False
    if is_cjk(long):
        return len(long) >= MIN_CJK and not is_status_word(long)
    letters = [letter for letter in _folded(short) if letter.isalnum()]
    if len(letters) > 2 and letters[-1] == "s" and short[-1] == "s":
        letters.pop()  # a plural, as in `VMs`
    found: list[str] = _WORD.findall(_folded(long))
    heavy = [word for word in found if word not in _SMALL]
    if not heavy or found[0] in _SMALL or len(heavy) > len(letters):
        return False
    if len(heavy) == 1 and len(heavy[0]) < 2 * len(letters):
        return False
    initials = "".join(word[0] for word in found), "".join(word[0] for word in heavy)
    return "".join(letters) in initials or _spelled("".join(letters), heavy)


def _spelled(letters: str, heavy: list[str]) -> bool:
    """Whether the letters stand in the words in order, each word giving its first one; `ex…` may give an x."""
    reached = {0}
    for word in heavy:
        after: set[int] = set()
        for position in reached:
            letter = letters[position : position + 1]
            if letter and (word[0] == letter or (letter == "x" and word.startswith("ex"))):
                position += 1
                after.add(position)
                for inner in word[1:]:
                    if inner == letters[position : position + 1]:
                        position += 1
                        after.add(position)
        reached = after
    return len(letters) in reached


def _folded(text: str) -> str:
    """Lower case, without accents."""
    return "".join(
        letter for letter in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(letter)
    )


def listed_names(value: str) -> list[str]:
    """The names that a cell or a line lists; none of what is as long as a sentence.

    >>> listed_names("LRU cache, evictor; —"), listed_names("n/a")
    (['LRU cache', 'evictor'], [])
    """
    names = [name.strip(" .`\"'“”*_") for name in _SEPARATOR.split(value)]
    kept = [name for name in names if name and normal(name) not in words("nothing") and re.search(r"\w", name)]
    return [] if any(len(name.split()) > MAX_ALIAS_WORDS for name in kept) else list(dict.fromkeys(kept))


def is_alias_label(label: str) -> bool:
    """Whether a column or key holds other names: `Aliases`, `Also known as`, `Abbreviation`."""
    return normal(label) in words("alias")


@lru_cache(maxsize=1)
def _alias_first() -> re.Pattern[str]:
    labels = [word for language in LANGUAGES.values() for word in alternatives(language, "alias")]
    return re.compile(rf"[\W_]*(?:{alternation(labels)})[\W_]*?[:：]", re.IGNORECASE)


def may_list_names(text: str) -> bool:
    """Whether a raw line begins with a label of other names."""
    return _alias_first().match(text) is not None


@lru_cache(maxsize=1)
def _told() -> re.Pattern[str]:
    labels = [word for language in LANGUAGES.values() for word in alternatives(language, "alias")]
    labels += ["abbreviated as", "abbreviated", "also", "short for", "formerly", "formerly known as", "or"]
    return re.compile(rf"(?:{alternation(labels)})[\s:：]+", re.IGNORECASE)
