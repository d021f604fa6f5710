"""Command text to syntax tree.

Recursive descent over plain token strings, one function per rule of `docs/kip-grammar.ebnf`: this file is the
entry, `parse_kql`, `parse_kml` and `parse_meta` hold the statements, `parse_patterns`, `parse_filter` and
`parse_values` what they share. A parse function takes the tokens and an index, and returns a node with the index
behind it. Nesting is bounded by `lexer.check_nesting`, and with it the depth of recursion.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip.faults import END, TEXT_END, SyntaxFault, fail
from trivium.kip.lexer import check_nesting, check_text_limits, place, tokenize
from trivium.kip.parse_kml import after_upsert, parse_delete, parse_merge, parse_update, parse_upsert
from trivium.kip.parse_kql import after_find, parse_find
from trivium.kip.parse_meta import after_search, parse_describe, parse_export, parse_search
from trivium.kip.tree import Command, DescribeTypes, Export, Find, Search, Update, Upsert


class Parsed(Struct):
    """A parsed command text.

    `quoted_names` are the names that follow a `:` directly inside a string: a parameter of such a name was meant
    as a placeholder, which a string never holds (§6.1, KIP_1001).
    """

    command: Command
    text: str
    tokens: list[str]
    quoted_names: frozenset[str]


_STATEMENTS: dict[str, Callable[[list[str], int], tuple[Command, int]]] = {
    "FIND": parse_find,
    "UPSERT": parse_upsert,
    "UPDATE": parse_update,
    "MERGE": parse_merge,
    "DELETE": parse_delete,
    "DESCRIBE": parse_describe,
    "SEARCH": parse_search,
    "EXPORT": parse_export,
}

_QUOTED_NAME = re.compile(r":([A-Za-z_][A-Za-z0-9_]*)")


def parse(text: str) -> Parsed:
    """Parse one command text.

    Raises: KipError KIP_1001 or KIP_1002 for a text outside the grammar, with `position` set, line and column in the
    message, and a hint that names the mistake where it is a known one; KIP_4002 above the limits of
    `lexer.check_limits`.

    >>> parse('DESCRIBE CONCEPT TYPE "Drug"').command
    DescribeType(kind='CONCEPT', name=Lit(value='Drug'))
    """
    check_text_limits(text)
    tokens = tokenize(text)
    try:
        check_nesting(tokens)
        command = parse_tokens(tokens)
    except KipError as error:
        raise _explain(error, text, tokens) from None
    return Parsed(command, text, tokens, quoted_names(tokens))


def parse_tokens(tokens: list[str]) -> Command:
    """Parse the tokens of one command text. Raises: KipError KIP_1001 or KIP_1002 with `at`, without a position."""
    tokens = [*tokens, END]
    statement = _STATEMENTS.get(tokens[0])
    if statement is None:
        fail(tokens, 0, *_STATEMENTS)
    command, end = statement(tokens, 0)
    if tokens[end] != END:
        fail(tokens, end, *_continuations(command, tokens[end - 1]))
    return command


def _continuations(command: Command, last: str) -> tuple[str, ...]:
    """What may follow a command that has been read so far, for the message."""
    if isinstance(command, Find):
        return after_find(command, last)
    if isinstance(command, Upsert):
        return after_upsert(command)
    if isinstance(command, Search):
        return after_search(command)
    if isinstance(command, (Export, DescribeTypes)):
        if command.cursor is not None:
            return (TEXT_END,)
        return ("CURSOR", TEXT_END) if command.limit is not None else ("LIMIT", "CURSOR", TEXT_END)
    if isinstance(command, Update) and command.limit is None:
        return ("LIMIT", TEXT_END)
    return (TEXT_END,)


def _explain(error: KipError, text: str, tokens: list[str]) -> KipError:
    """Give an error its position, and the hint of its mistake if it is a known one."""
    from trivium.kip.mistakes import recognise

    if isinstance(error, SyntaxFault) and error.code == "KIP_1001":
        mistake = recognise(text, tokens, error)
        if mistake is not None:
            error.mistake, error.hint = mistake
    return place(error, text)


def quoted_names(tokens: list[str]) -> frozenset[str]:
    strings = [token for token in tokens if token[0] == '"' and ":" in token]
    return frozenset([name for token in strings for name in _QUOTED_NAME.findall(token)])
