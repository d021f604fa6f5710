"""The codes of a question: names that must be met letter by letter, however their parts are joined."""

from __future__ import annotations

import re
from itertools import product

from trivium.search.segment import is_joined, plain, tokens
from trivium.search.stop_words import stop_words_of

_CODE = re.compile(
    r"""(?: [^\W\d] [-_./]* \d | \d [-_./] [^\W\d] | \d [-_.:/] \d+ [-_.:/] \d | \d{5} | 0x[0-9a-f] )  # KB-1423
    | \w_\w | [a-z][A-Z]  # max_retries, getUser
    | [^\W\d](?: \+\+ | \# ) | ^[.#]\w  # C++, .NET
    | \w[@/]\w+\.\w | \w\.[^\W\d]""",  # an address, a file
    re.VERBOSE,
)
_MEASURE = re.compile(r"\d+(?:[.,]\d*)?[^\W\d]{1,3}")
_EDGES = "\"'“”‘’«»„()[]{}<>,;:!?。，、；：！？）（】【…·*`"
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|[-_.]")
_PLAIN = re.compile(r"[A-Za-z\d]+(?:[-_.][A-Za-z\d]+)*")
_SIGNS = ("-", "_", ".")
_MOST_PARTS = 5
_PIECE = re.compile(r"[A-Z]{2,8}|\d{1,8}|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{1,8}")
_MOST_PIECES, _MOST_SPACED, _MOST_LOOKED_AT = 8, 20, 100
_MOST_CODES = 20


def codes(text: str) -> list[tuple[str, ...]]:
    """The words of a question that are codes, each as the tokens that it may be written as, the asked one first. They
    are no stems.

    Words with digits and letters or signs (but no bare quantity, such as 5kg or 3pm), with inner underscores or
    capitals, paths, addresses and versions.

    >>> [spellings[0] for spellings in codes("Is KB-1423 the reason for ERR_CONN in config/prod.yaml at 3pm?")]
    ['kb-1423', 'err_conn', 'config／prod.yaml']
    >>> codes("KB1423")
    [('kb1423', 'kb-1423', 'kb_1423', 'kb.1423')]
    """
    found: dict[str, tuple[str, ...]] = {}
    for word in plain(text).split():
        bare = word.strip(_EDGES).rstrip(".")
        if len(bare) > 1 and _CODE.search(bare) and not _MEASURE.fullmatch(bare):
            cut = tokens(bare, query=True)
            whole = [token for token in cut if is_joined(token)] or cut
            for token in whole:
                if len(token) > 1 and not _is_word(token):
                    found.setdefault(token, (token, *_respelled(bare, token)))
    return list(found.values())[:_MOST_CODES]


def spaced_codes(text: str) -> list[tuple[str, ...]]:
    """What may be codes with spaces in them, the longest first: capitals and numbers in a row, as the tokens that they
    may be written as without spaces. Whether they are a code shows when somebody wrote it so.

    >>> spaced_codes("the pump IP 7731")
    [('ip7731', 'ip-7731', 'ip_7731', 'ip.7731')]
    >>> spaced_codes("on pump 2 in 2015 at 7 30")
    []
    """
    found: dict[str, tuple[str, ...]] = {}
    for run in _runs(text):
        for number in range(min(len(run), _MOST_PIECES), 1, -1):
            for start in range(len(run) - number + 1):
                pieces = run[start : start + number]
                whole = "".join(pieces)
                if not whole.isalpha() and not whole.isdigit():
                    found[whole] = tuple(sign.join(pieces) for sign in ("", *_SIGNS))
    return sorted(found.values(), key=lambda spellings: -len(spellings[0]))[:_MOST_SPACED]


def _runs(text: str) -> list[list[str]]:
    """The capitals and numbers that stand in a row without a sign between; words that say nothing are none."""
    silent = stop_words_of({word.casefold() for word in text.split()[:_MOST_LOOKED_AT]})
    runs: list[list[str]] = [[]]
    for word in plain(text).split()[:_MOST_LOOKED_AT]:
        bare = word.strip(_EDGES)
        if not _PIECE.fullmatch(bare) or bare.casefold() in silent:
            runs.append([])
            continue
        if not word.startswith(bare):
            runs.append([])
        runs[-1].append(bare.casefold())
        if not word.endswith(bare):
            runs.append([])
    return runs


def _respelled(word: str, token: str) -> list[str]:
    """Other tokens for a code that is one: its parts with the same sign at some of the seams, or with none.

    What is written in one case and without a sign is cut between letters and digits alone.
    """
    if not _PLAIN.fullmatch(word):
        return []
    parts = [part.casefold() for part in _SEAM.split(word) if part]
    if not 1 < len(parts) <= _MOST_PARTS:
        return []
    others = {"".join(parts): None}
    for sign in _SIGNS:
        for joints in product((sign, ""), repeat=len(parts) - 1):
            others["".join(map("".join, zip(parts, (*joints, ""), strict=True)))] = None
    others.pop(token, None)
    return list(others)


def _is_word(token: str) -> bool:
    """Whether a part of a code tells nothing alone: 'the' of "the/…", a single Han pair beside a number."""
    return not token.isascii() and token.isalpha() and not is_joined(token)
