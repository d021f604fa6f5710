"""Syntax faults: what was found, what could have come, and which code that is (KIP Appendix 4, 1xxx).

The parser works on plain token strings. A list under parse ends with the mark `END`; a malformed piece of text is a
token that begins with the same mark (see `lexer.tokenize`), so that no rule accepts either.
"""

from __future__ import annotations

import re
from typing import NoReturn

from trivium.errors import KipError

END = "\0"
"""The mark behind the last token, and the first character of a malformed token."""

# What a place may ask for besides a token that is written as it stands.
STRING = "a string"
NUMBER = "a number"
INTEGER = "a whole number"
POSITIVE = "a positive integer"
LITERAL = "a literal value"
PLACEHOLDER = "a placeholder :name"
VARIABLE = "a variable"
PATH = "a variable or path such as ?x.name"
KEY = "a key"
TEXT_END = "the end of the text"

KINDS = frozenset({STRING, NUMBER, INTEGER, POSITIVE, LITERAL, PLACEHOLDER, VARIABLE, PATH, KEY, TEXT_END})

_MATCH_KEYS = frozenset({"id", "type", "name"})
_STEP_WITH_DIGIT = re.compile(r"\?(?:\w+\.)*[0-9]")


class SyntaxFault(KipError):
    """A text that the grammar does not accept.

    `found` and `expected` are what the message names; `mistake` is the label of a known mistake (see `mistakes`).
    """

    def __init__(self, code: str, message: str, *, at: int, found: str, expected: tuple[str, ...]) -> None:
        super().__init__(code, message, at=at)
        self.found = found
        self.expected = expected
        self.mistake: str | None = None


def fail(tokens: list[str], at: int, *expected: str) -> NoReturn:
    """Report that the token at `at` fits none of `expected` (kinds from this module, or tokens as written).

    Raises: SyntaxFault KIP_1002 for a malformed identifier, else KIP_1001.
    """
    token = tokens[at]
    bad = is_bad_identifier(token) or (
        _starts_with_digit(token) and (KEY in expected or _MATCH_KEYS.issuperset(expected))
    )
    code = "KIP_1002" if bad else "KIP_1001"
    found = describe(token)
    message = f"{_complaint(token, found)}: expected {join_expected(expected)}."
    raise SyntaxFault(code, message, at=at, found=found, expected=expected)


def refuse(at: int, message: str, hint: str | None = None, *, code: str = "KIP_1001") -> NoReturn:
    """Report a fault that is no matter of a single unexpected token."""
    raise KipError(code, message, hint, at=at)


def describe(token: str) -> str:
    """A token as a message names it: quoted, long ones shortened, the end in words."""
    if token == END:
        return "the end of the text"
    raw = token.removeprefix(END)
    raw = raw if len(raw) <= 40 else f"{raw[:37]}..."
    return f"'{raw}'" if raw.isprintable() else ascii(raw)


def join_expected(expected: tuple[str, ...]) -> str:
    """`'a'`, or `one of 'a', 'b' or 'c'`."""
    names = [name if name in KINDS else f"'{name}'" for name in expected]
    if len(names) == 1:
        return names[0]
    return f"one of {', '.join(names[:-1])} or {names[-1]}"


def is_bad_identifier(token: str) -> bool:
    """Whether a variable or path step of this token begins with a digit (§2.8.1): `?1st`, `?x.1st`."""
    return token[:1] == END and bool(_STEP_WITH_DIGIT.match(token, 1))


def _starts_with_digit(token: str) -> bool:
    return token.removeprefix(END)[:1].isdigit()


def _complaint(token: str, found: str) -> str:
    if token == END:
        return "The text ends too early"
    if token[0] != END:
        return f"Unexpected {found}"
    if token[1] == '"':
        return f"The string {found} is not closed on its line, or holds a raw control character"
    return f"Malformed {found}"
