"""What a question looks for: its telling words and its codes."""

from __future__ import annotations

import re

from msgspec import Struct

from trivium.search.codes import codes, spaced_codes
from trivium.search.segment import tokens
from trivium.search.stop_words import stop_words_of
from trivium.search.words import question_tokens, stem

_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_BORDER = re.compile(r"(?<=[!-~])(?=[\u2e80-\U0003134f])|(?<=[\u2e80-\U0003134f])(?=[!-~])")
"""Between a code and a script that is written without spaces."""


class Question(Struct, frozen=True):
    """A wording: its telling words as written, the index tokens of them, and those that each of its codes
    may be written as, the asked one first; and the same for what may be codes with spaces in them."""

    telling: list[str]
    words: list[str]
    codes: list[list[str]]
    spaced: list[list[str]]

    def is_held_by(self, stems: set[str]) -> bool | None:
        """Whether a text of these tokens holds every code of the wording in some spelling; None when it has no code.

        What may be a code with spaces is one for who holds it; the codes in it need no other place.
        """
        found = [spellings[0] for spellings in self.spaced if not stems.isdisjoint(spellings)]
        for spellings in self.codes:
            if stems.isdisjoint(spellings) and not any(spellings[0] in whole for whole in found):
                return False
        return True if self.codes or found else None


def question(text: str) -> Question:
    """A question cut into what is looked for; the endings of possessives are no part of names."""
    text = _POSSESSIVE.sub("", text)
    found = list(dict.fromkeys(tokens(text, query=True)))
    silent = stop_words_of(set(found))
    bordered = _BORDER.sub(" ", text)
    return Question(
        [token for token in found if token not in silent],
        question_tokens(text),
        _stems(codes(bordered)),
        _stems(spaced_codes(bordered)),
    )


def _stems(found: list[tuple[str, ...]]) -> list[list[str]]:
    return [list(map(stem, spellings)) for spellings in found]
