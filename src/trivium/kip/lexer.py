"""Command text to tokens (the lexical rules of KIP, grammar notes in `docs/kip-grammar.ebnf`).

A token is the plain piece of text; its first character tells its kind:

    "…"      string            ?x.y   variable or dot path        0-9, -   number
    :name    placeholder       a-Z_   keyword, key or constant    else     punctuation

A malformed piece (`?1st`, `12abc`, an open string) becomes one token that begins with `faults.END`, a character no
rule accepts. Any other stray character is a token of its own, which no rule accepts either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate, repeat
from typing import Any

from trivium.errors import KipError, Position
from trivium.kip.faults import END

MAX_BYTES = 256 * 1024
MAX_NESTING = 64
MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**64 - 1

CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

_SPACE = r"[ \t\r\n\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_SKIP = rf"(?:{_SPACE}++|//[^\r\n]*+)*+"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"

_TOKEN = re.compile(
    rf"""(
    "[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+"              # string
    | {_NAME}(?!\w)                                                       # word
    | [{{}}()\[\],]
    | \?{_NAME}(?:\.{_NAME})*+(?![\w.])                                   # variable, dot path
    | :(?!(?:true|false|null)\b|(?:ADD|MUL|CLAMP|COALESCE){_SPACE}*+\()   # {{a:true}} and {{a:ADD(..)}} hold
      {_NAME}(?!\w)                                                       # ... no placeholder
    | -?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+(?![\w.]) # number
    | && | \|\| | [=!<>]=
    | (?!-[0-9])(?!{_SPACE})[^"?\w\x00]                                   # other punctuation
    ){_SKIP}
    | (?: "[^\r\n]*+ | \?[\w.]*+ | -?\w[\w.]*+ | \x00 ){_SKIP}            # malformed
    """,
    re.VERBOSE,
)
_LEAD = re.compile(_SKIP)
_LINE_END = re.compile(r"\r\n|\r|\n")
_STEP = {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}

STRING_MARK = '"'
INTEGER_MARK = "0"
FLOAT_MARK = "0."


def tokenize(text: str) -> list[str]:
    """The tokens of a command text, white space and `//` comments left out; never raises.

    >>> tokenize('FIND(?d.name) // all\\nWHERE { ?d {type: "Drug"} }')
    ['FIND', '(', '?d.name', ')', 'WHERE', '{', '?d', '{', 'type', ':', '"Drug"', '}', '}']
    """
    tokens: list[str] = _TOKEN.findall(text, _skip_lead(text))
    if "" in tokens:
        return [token for _, token in scan(text)]
    return tokens


def scan(text: str) -> Iterator[tuple[int, str]]:
    """The same tokens one by one, each with its offset; slower than `tokenize`."""
    for match in _TOKEN.finditer(text, _skip_lead(text)):
        token = match[1]
        if token is None:
            token = END + text[match.start() : match.start() + _malformed_length(match[0])]
        yield match.start(), token


def locate(text: str, index: int) -> Position:
    """Where token number `index` begins; the number of tokens stands for the end of the last one."""
    end = _skip_lead(text)
    for number, (start, token) in enumerate(scan(text)):
        if number == index:
            return position_of(text, start)
        end = start + len(token.removeprefix(END))
    return position_of(text, end)


def position_of(text: str, offset: int) -> Position:
    """Line and column, both from 1, of an offset; CR LF, CR and LF end a line."""
    line, begin = 1, 0
    for match in _LINE_END.finditer(text, 0, offset):
        line, begin = line + 1, match.end()
    return Position(line, offset - begin + 1, offset)


def line_starts(text: str) -> list[int]:
    """The offset at which each line begins."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def place(error: KipError, text: str) -> KipError:
    """Give an error that knows its token (`at`) its position, and name line and column in the message."""
    if error.at is not None and error.position is None:
        error.position = locate(text, error.at)
        error.message = f"Line {error.position.line}, column {error.position.column}: {error.message}"
        error.args = (error.message,)
    return error


def check_limits(text: str) -> None:
    """Refuse a text that is too long, nested too deep, or no proper Unicode text.

    Raises: KipError KIP_4002 above 256 KiB of UTF-8 or 64 open brackets (those in strings and comments do not count);
    KIP_1001 for a NUL or a lone surrogate.
    """
    check_text_limits(text)
    try:
        check_nesting(tokenize(text))
    except KipError as error:
        raise place(error, text) from None


def check_text_limits(text: str) -> None:
    """The part of `check_limits` that needs no tokens: length, NUL, lone surrogates."""
    size = len(text)
    if size <= MAX_BYTES and not text.isascii():
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            _refuse_character(text, error.start, "a lone surrogate", "Write characters as they are, in valid UTF-8.")
    if size > MAX_BYTES:
        raise KipError(
            "KIP_4002",
            f"The command text is longer than {MAX_BYTES // 1024} KiB.",
            "Split the text into several commands, for example one capsule per UPSERT statement.",
        )
    nul = text.find("\0")
    if nul >= 0:
        _refuse_character(text, nul, "a NUL character", "Remove the character U+0000.")


def check_nesting(tokens: list[str]) -> None:
    """The part of `check_limits` that counts open brackets. Raises: KipError KIP_4002 at the bracket too many."""
    if len(tokens) <= MAX_NESTING:
        return
    depths = list(accumulate(map(_STEP.get, tokens, repeat(0))))
    if max(depths) > MAX_NESTING:
        raise KipError(
            "KIP_4002",
            f"The brackets nest deeper than {MAX_NESTING}.",
            "Flatten the value or the pattern; bind inner parts in clauses of their own.",
            at=next(i for i, depth in enumerate(depths) if depth > MAX_NESTING),
        )


def decode(token: str, at: int | None = None) -> Any:
    """The value of a string, number, `true`, `false` or `null` token.

    Integers stay integers (i64 to u64), `1.0` stays a float, `-0` is 0. Raises: KipError KIP_1001 (with `at`) for
    raw control characters, bad escapes, `\\u0000`, lone surrogates, and numbers out of range.
    """
    if token[:1] == '"':
        return decode_string(token, at)
    if token in CONSTANTS:
        return CONSTANTS[token]
    return decode_number(token, at)


def decode_string(token: str, at: int | None = None) -> str:
    """The text of a string token (see `decode`)."""
    if "\\" not in token and token.isprintable():
        return token[1:-1]
    try:
        value = json.loads(token)
    except json.JSONDecodeError as error:
        raise KipError(
            "KIP_1001", f"The string {token[:40]} is not a JSON string: {error.msg}.", _ESCAPES, at=at
        ) from None
    if "\0" in value:
        raise KipError("KIP_1001", "A string holds the character U+0000.", "Remove \\u0000 from the string.", at=at)
    try:
        value.encode()
    except UnicodeEncodeError:
        hint = "Write the character itself, or both halves of its surrogate pair."
        raise KipError("KIP_1001", "A string holds a lone surrogate.", hint, at=at) from None
    return str(value)


_ESCAPES = 'Inside a string write \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX with four hex digits.'


def decode_number(token: str, at: int | None = None) -> int | float:
    """The value of a number token (see `decode`)."""
    if is_integer(token):
        value = int(token) if len(token) <= 20 else MAX_INTEGER + 1
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            hint = "Use a value from -9223372036854775808 to 18446744073709551615, or write it as a string."
            raise KipError("KIP_1001", f"The integer {token[:40]} is out of range.", hint, at=at)
        return value
    try:
        number = float(token)
    except ValueError:
        raise KipError("KIP_1001", f"{token[:40]!r} is not a number.", at=at) from None
    if number in (float("inf"), float("-inf")):
        raise KipError("KIP_1001", f"The number {token[:40]} is out of range.", "Use a finite number.", at=at)
    return number


def is_integer(token: str) -> bool:
    """Whether a number token is written as an integer."""
    return token.isdigit() or (token[:1] == "-" and token[1:].isdigit())


def shape(tokens: list[str]) -> tuple[str, ...]:
    """A hashable key that equal statements share when they differ only in their string and number literals.

    Literals become marks of their kind (string, integer, float). Quantifier bounds (`"p"{1,3}`) and quoted keys stay,
    since they are structure; so do keywords, constants, variables, placeholders and punctuation.

    >>> shape(tokenize('FIND(?d) WHERE { (?d, "eases"{1,2}, {"name": "Fever"}) } LIMIT 5'))[9:]
    ('"', '{', '1', ',', '2', '}', ',', '{', '"name"', ':', '"', '}', ')', '}', 'LIMIT', '0')
    """
    out: list[str] = []
    add = out.append
    previous = before = ""
    bounds = False
    for token in tokens:
        first = token[0]
        if first == '"':
            add(STRING_MARK)
        elif first in "0123456789" or (first == "-" and len(token) > 1):
            if previous == "{" and before[:1] in ('"', ":") and before != ":":
                bounds = True
            add(token if bounds else INTEGER_MARK if is_integer(token) else FLOAT_MARK)
        else:
            if token == ":" and previous[:1] == '"':
                out[-1] = previous
            elif token == "}":
                bounds = False
            add(token)
        before, previous = previous, token
    return tuple(out)


def _skip_lead(text: str) -> int:
    match = _LEAD.match(text)
    return match.end() if match else 0


_MALFORMED = re.compile(r'"[^\r\n]*+|\?[\w.]*+|-?\w[\w.]*+|\x00')


def _malformed_length(piece: str) -> int:
    match = _MALFORMED.match(piece)
    return match.end() if match else len(piece)


def _refuse_character(text: str, offset: int, what: str, hint: str) -> None:
    position = position_of(text, offset)
    message = f"Line {position.line}, column {position.column}: the text holds {what}."
    raise KipError("KIP_1001", message, hint, position=position)
