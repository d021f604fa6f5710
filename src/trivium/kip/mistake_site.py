"""What a row of the mistake table sees: the fault, the tokens around it, and the text from there on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from trivium.kip.faults import END, LITERAL, PATH, PLACEHOLDER, STRING, TEXT_END, VARIABLE, SyntaxFault
from trivium.kip.lexer import CONSTANTS, locate

Found = dict[str, str] | bool
"""True or the words for the hint where a mistake is seen, else False."""

CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One row: a label, a hint in which `%(name)s` stands for a found word, and the recogniser."""

    label: str
    hint: str
    recognise: Callable[[Site], Found]


class Site:
    """The place of a syntax fault. `token` was found, `expected` could have come."""

    def __init__(self, text: str, tokens: list[str], fault: SyntaxFault) -> None:
        at = fault.at if fault.at is not None else 0
        self.text = text
        self.tokens = tokens
        self.at = at
        self.expected = fault.expected
        self.token = self.token_at(at)
        self.after = self.token_at(at + 1)
        self.before = tokens[at - 1] if at else ""
        self.earlier = tokens[at - 2] if at > 1 else ""
        self.statement = self.token_at(0)

    def token_at(self, index: int) -> str:
        """A token of the text, or the mark of its end."""
        return self.tokens[index] if index < len(self.tokens) else END

    # --- what was found ---

    @property
    def is_word(self) -> bool:
        """A bare word other than true, false and null."""
        return self.token.isidentifier() and self.token not in CONSTANTS

    @property
    def word(self) -> str:
        """The token in upper case if it is a word, else nothing."""
        return self.token.upper() if self.token.isidentifier() else ""

    @property
    def is_variable(self) -> bool:
        return self.token[0] == "?"

    @property
    def is_placeholder(self) -> bool:
        return self.token[0] == ":" and len(self.token) > 1

    # --- what could have come ---

    @property
    def wants_clause(self) -> bool:
        return "FILTER" in self.expected

    @property
    def wants_operator(self) -> bool:
        return "<=" in self.expected

    @property
    def wants_data(self) -> bool:
        return LITERAL in self.expected and "{" in self.expected

    @property
    def wants_text(self) -> bool:
        return STRING in self.expected

    @property
    def wants_variable(self) -> bool:
        return VARIABLE in self.expected or PATH in self.expected

    @property
    def wants_value(self) -> bool:
        return PLACEHOLDER in self.expected

    @property
    def wants_end(self) -> bool:
        return TEXT_END in self.expected

    @property
    def wants_set(self) -> bool:
        return any(phrase.startswith("SET ") for phrase in self.expected)

    @property
    def wants_block(self) -> bool:
        """A block of UPSERT."""
        return "CONCEPT" in self.expected and self.statement == "UPSERT" and self.at > 0

    def only(self, *phrases: str) -> bool:
        return self.expected == phrases

    # --- where it happened ---

    @cached_property
    def offset(self) -> int:
        return locate(self.text, self.at).offset

    def match(self, pattern: str, back: int = 0) -> re.Match[str] | None:
        """Match the text that begins `back` characters before the fault."""
        return re.compile(pattern).match(self.text, max(0, self.offset - back))

    @cached_property
    def brackets(self) -> list[int]:
        """The token indexes of the brackets that are open at the fault."""
        stack: list[int] = []
        for index, token in enumerate(self.tokens[: self.at]):
            if token in CLOSERS:
                stack.append(index)
            elif token in (")", "]", "}") and stack:
                stack.pop()
        return stack

    @property
    def bracket(self) -> str:
        """The innermost open bracket, or nothing."""
        return self.tokens[self.brackets[-1]] if self.brackets else ""

    @property
    def opener(self) -> str:
        """The token before the innermost open bracket: a function, a keyword, a predicate."""
        return self.tokens[self.brackets[-1] - 1] if self.brackets and self.brackets[-1] else ""

    @property
    def opener_first(self) -> str:
        """The token behind the innermost open bracket."""
        return self.token_at(self.brackets[-1] + 1) if self.brackets else ""

    def open_bracket(self) -> dict[str, str]:
        """The words of a hint about the innermost open bracket."""
        index = self.brackets[-1]
        bracket = self.tokens[index]
        return {
            "open": bracket,
            "close": CLOSERS[bracket],
            "line": str(locate(self.text, index).line),
            "token": self.token,
        }

    def here(self, word: str) -> bool:
        """Whether `word` stood before the fault inside the same brackets."""
        start = self.brackets[-1] + 1 if self.brackets else 0
        depth = 0
        for token in self.tokens[start : self.at]:
            depth += (token in CLOSERS) - (token in (")", "]", "}"))
            if token == word and depth == 0:
                return True
        return False
