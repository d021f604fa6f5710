"""What a question looks for: its telling words, its codes, and what is made into its vector."""

from __future__ import annotations

import re

from msgspec import Struct

from trivium.search.segment import tokens
from trivium.search.stop_words import stop_words_of
from trivium.search.words import codes, question_tokens, stem

_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_BORDER = re.compile(r"(?<=[!-~])(?=[\u2e80-\U0003134f])|(?<=[\u2e80-\U0003134f])(?=[!-~])")
"""Between a code and a script that is written without spaces."""
_SEAM = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ASKED = re.compile(r"\s*[?？؟][?？؟!！.\s]*$")
_BEFORE = " ¿¡\"'“”‘’«»„()[]"


class Question(Struct, frozen=True):
    """A wording: its telling words as written, the index tokens of them, and those of its codes."""

    telling: list[str]
    words: list[str]
    codes: list[str]


def question(text: str) -> Question:
    """A question cut into what is looked for; the endings of possessives are no part of names."""
    text = _POSSESSIVE.sub("", text)
    found = list(dict.fromkeys(tokens(text, query=True)))
    silent = stop_words_of(set(found))
    return Question(
        [token for token in found if token not in silent],
        question_tokens(text),
        list(map(stem, codes(_BORDER.sub(" ", text)))),
    )


def respelled(code: str) -> list[str]:
    """Other ways to write a code: with a hyphen between letters and digits, or without any.

    >>> respelled("kb1423"), respelled("kb-1423")
    (['kb-1423'], ['kb1423'])
    """
    others = dict.fromkeys((_SEAM.sub("-", code), code.replace("-", "")))
    return [other for other in others if other != code]


def with_statement(text: str) -> str:
    """A question followed by itself as a statement: without its first word, if that says nothing, and with a full stop.
    What is no question stays as it is.

    The vector of a question says for a good part that it is one, and is near to other questions.

    >>> with_statement("Where was Tove born?"), with_statement("birthplace of Tove")
    ('Where was Tove born? was Tove born.', 'birthplace of Tove')
    """
    bare = _ASKED.sub("", text)
    if bare == text or not bare:
        return text
    first, _, rest = bare.lstrip(_BEFORE).partition(" ")
    silent = rest and set(tokens(first, query=True)) <= stop_words_of(set(tokens(bare, query=True)))
    return f"{text} {rest if silent else bare}."
