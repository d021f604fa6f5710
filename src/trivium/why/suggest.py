"""Names close to one that nothing has: other case, or one edit away (reference 10). They are never answered instead."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from trivium.why.code_names import bare_names

MAX_SUGGESTIONS = 5
SHORTEST = 3
"""Shorter names are one edit from almost everything, so only their case is tried."""
_LAST = "\U0010ffff"
_PARTS = re.compile(r"(.+?)(?:::|#)(.+)", re.DOTALL)
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_QUALIFIED = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#|\\)[^\W\d][\w$]*)+")
_BETWEEN = re.compile(r"\.|::|#|\\")
_NUMBER = re.compile(r"(?:[^\W\d]{2,10}[-_ ]?)?\d+\s*[.:)–—-]?\s+")
"""What stands before the title of a record: `12.`, `ADR-0012:`, `3 -`."""
_WORD, _WORDS = re.compile(r"\w+"), re.compile(r"[\w\s'’-]+")


class Askable:
    """The names that may be suggested, sorted forwards and backwards so that few of them need to be compared."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(dict.fromkeys(names))
        self.reversed = sorted([name[::-1] for name in self.names])

    @cached_property
    def _folded(self) -> dict[str, str]:
        """The last name of each spelling without case."""
        return dict(zip((name.casefold() for name in self.names), self.names, strict=True))

    @cached_property
    def _twins(self) -> dict[str, list[str]]:
        """The names of each spelling without case that several have."""
        last = frozenset(self._folded.values())
        twins: dict[str, list[str]] = {}
        for name in self.names if len(last) < len(self.names) else ():
            if name not in last:
                twins.setdefault(name.casefold(), []).append(name)
        return {folded: [*names, self._folded[folded]] for folded, names in twins.items()}

    def has(self, name: str) -> bool:
        at = bisect_left(self.names, name)
        return at < len(self.names) and self.names[at] == name

    def in_any_case(self, name: str) -> list[str]:
        """The names that differ from this one in case at most, ascending."""
        folded = name.casefold()
        last = self._folded.get(folded)
        return [] if last is None else self._twins.get(folded, [last])

    def ending(self, end: str) -> list[str]:
        """The paths whose last parts are these, ascending; none when they are too many to be told."""
        found = starting(self.reversed, f"/{end}"[::-1])
        return sorted(self.reversed[at][::-1] for at in found) if len(found) <= MAX_SUGGESTIONS else []

    def of_type(self, method: str) -> list[str]:
        """`Name.method` of every type that has a method of this name, ascending; none when they are too many."""
        found = [self.reversed[at][::-1] for at in starting(self.reversed, f".{method}"[::-1])]
        found = sorted(name for name in found if self.has(name.rpartition(".")[0]))
        return found if len(found) <= MAX_SUGGESTIONS else []

    def titled(self, title: str) -> list[str]:
        """The names that are this title behind a number, whatever its case, ascending."""
        end = title.casefold()
        ending = [folded for folded in self._folded if folded.endswith(end)]
        numbered = (folded for folded in ending if _NUMBER.fullmatch(folded, 0, len(folded) - len(end)))
        return sorted(name for folded in numbered for name in self.in_any_case(folded))

    def holding(self, target: str) -> list[str]:
        """The names of several words that hold every word of the target, ascending; none for what is no words."""
        if not _WORDS.fullmatch(target):
            return []
        asked = {word for word in _WORD.findall(target.casefold()) if len(word) >= SHORTEST or not word.isascii()}
        if not asked:
            return []
        rarest = max(asked, key=lambda word: (len(word), word))
        named = (name for name in self.names if " " in name and rarest in name.casefold())
        return [name for name in named if asked <= set(_WORD.findall(name.casefold()))]

    def one_edit_away(self, text: str) -> Iterator[str]:
        """Names that differ from the text by one edit.

        The edit lies on one side of any place in the text, so the other side is a common start or end. The place is
        chosen where the fewest names share either.
        """
        spans = [
            (starting(self.names, text[:at]), starting(self.reversed, text[at:][::-1])) for at in range(len(text) + 1)
        ]
        front, back = min(spans, key=lambda both: len(both[0]) + len(both[1]), default=(range(0), range(0)))
        found = {name for name in (self.names[i] for i in front) if is_one_edit(name, text)}
        found.update(name for name in (self.reversed[i][::-1] for i in back) if is_one_edit(name, text))
        yield from found
        for at in range(len(text) - 1):
            swapped = f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"
            if swapped != text and self.has(swapped):
                yield swapped


def suggestions(askable: Askable, spellings: Iterable[str]) -> list[str]:
    """At most five exact names to ask for: those that differ in case first, then those one edit away, each ascending.

    One edit is a character inserted, removed or replaced, or two neighbours exchanged.

    >>> suggestions(Askable(["Cache", "cached", "Store"]), ["cache"])
    ['Cache', 'cached']
    """
    asked = list(dict.fromkeys(spellings))
    cased = {name for text in asked for name in askable.in_any_case(text)}
    edited = {name for text in asked if len(text) >= SHORTEST for name in askable.one_edit_away(text)}
    ordered = [*sorted(cased), *sorted(edited - cased)]
    return [name for name in ordered if name not in asked][:MAX_SUGGESTIONS]


def rewritten(askable: Askable, target: str) -> list[str]:
    """Names that a target stands for when it is written as elsewhere: the end of a path, a call, a type with its
    arguments, a name behind `::`, a section behind `#`, a module with dots, a name behind its package, a method without
    its type, a title without its number. The surest form that leads anywhere counts.

    >>> rewritten(Askable(["src/cache.py", "Cache"]), "cache.py"), rewritten(Askable(["Cache"]), "Cache()")
    (['src/cache.py'], ['Cache'])
    >>> rewritten(Askable(["Queue"]), "com.acme.Queue"), rewritten(Askable(["Queue", "Queue.next"]), "next")
    (['Queue'], ['Queue.next'])
    """
    plain = next(bare_names(target), target)
    parts = _PARTS.fullmatch(plain)
    modules = [f"{path}{end}" for path in _module_paths(plain) for end in (".py", "/__init__.py", ".pyi")]
    forms = [[plain], modules, [] if parts is None else [parts[2], parts[1]]]
    if parts is not None:
        forms.insert(2, [plain.replace("::", ".").replace("#", ".")])
    forms += [[inner] for inner in _inner_names(plain)]
    for form in forms:
        found = [name for name in form if name != target and askable.has(name)]
        found += [path for name in form for path in askable.ending(name) if name and path not in found]
        if found:
            return found[:MAX_SUGGESTIONS]
    return (askable.titled(plain) or askable.of_type(plain))[:MAX_SUGGESTIONS]


def _inner_names(target: str) -> Iterator[str]:
    """What a qualified name ends with, then what it begins with, the longer ones first."""
    if _QUALIFIED.fullmatch(target):
        parts = _BETWEEN.split(target)
        yield from (".".join(parts[start:]) for start in range(1, len(parts)))
        yield from (".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))


def _module_paths(target: str) -> list[str]:
    return [target.replace(".", "/")] if _DOTTED.fullmatch(target) else []


def is_one_edit(left: str, right: str) -> bool:
    """Whether inserting, removing or replacing one character turns one text into the other.

    >>> is_one_edit("cache", "caches"), is_one_edit("cache", "cashe"), is_one_edit("cache", "cash")
    (True, True, False)
    """
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    short, long = sorted((left, right), key=len)
    at = next((i for i, character in enumerate(short) if character != long[i]), len(short))
    return short[at + (len(short) == len(long)) :] == long[at + 1 :]


def starting(names: Sequence[str], start: str) -> range:
    """The positions of the names with this start, in a sorted list."""
    first = bisect_left(names, start)
    return range(first, bisect_left(names, start + _LAST, first))
