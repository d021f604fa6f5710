"""A small reader and backtracking recogniser for ISO 14977 EBNF, enough for `docs/kip-grammar.ebnf`.

A grammar file has a part whose symbols are tokens and a part whose symbols are characters. A name of the second part,
used in the first, stands for one token of that form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

Node = tuple  # ("terminal", text) | ("name", rule) | ("special", words) | (kind, [nodes]) with kind seq, alt, opt, many

_SYMBOL = re.compile(
    r"""\s* (?:
        (?P<special>\?[^?]*\?) | (?P<terminal>"[^"]*"|'[^']*') | (?P<name>[a-z_]+) | (?P<mark>[=,|;()\[\]{}])
    )""",
    re.VERBOSE,
)
_CLOSE = {"(": ")", "[": "]", "{": "}"}
_KIND = {"[": "opt", "{": "many"}


class Grammar:
    """Rules of one file; `accepts(rule, tokens)` says whether the rule derives exactly these tokens."""

    def __init__(self, text: str, specials: dict[str, Callable[[str], bool]]) -> None:
        tokens, characters = text.split("(* ===== Part 2: characters ===== *)")
        self.syntax = _read(tokens)
        self.lexical = _read(characters)
        self.specials = specials
        self._is_token = lru_cache(maxsize=None)(self._match_token)

    def accepts(self, rule: str, tokens: Sequence[str]) -> bool:
        return len(tokens) in self._ends(self.syntax, ("name", rule), tokens, 0, {})

    def is_token(self, rule: str, text: str) -> bool:
        """Whether a rule of the character part derives `text`."""
        return self._is_token(rule, text)

    def uses(self, node: Node) -> set[str]:
        """All rule names in a rule body."""
        if node[0] == "name":
            return {node[1]}
        if node[0] in ("terminal", "special"):
            return set()
        return set().union(*(self.uses(child) for child in node[1]))

    def _match_token(self, rule: str, text: str) -> bool:
        return len(text) in self._ends(self.lexical, ("name", rule), text, 0, {})

    def _ends(self, rules: dict[str, Node], node: Node, symbols: Sequence[str], at: int, memo: dict) -> frozenset[int]:
        """Every index at which `node`, begun at `at`, can end."""
        kind, body = node
        if kind == "name":
            if rules is self.syntax and body in self.lexical:
                return frozenset({at + 1} if at < len(symbols) and self._is_token(body, symbols[at]) else ())
            if (body, at) not in memo:
                memo[body, at] = self._ends(rules, rules[body], symbols, at, memo)
            return memo[body, at]
        if kind == "terminal":
            size = len(body) if rules is self.lexical else 1
            here = symbols[at : at + size] if rules is self.lexical else "".join(symbols[at : at + 1])
            return frozenset({at + size} if here == body else ())
        if kind == "special":
            return frozenset({at + 1} if at < len(symbols) and self.specials[body](symbols[at]) else ())
        if kind == "alt":
            return frozenset().union(*(self._ends(rules, child, symbols, at, memo) for child in body))
        if kind == "seq":
            ends = frozenset({at})
            for child in body:
                ends = frozenset().union(*(self._ends(rules, child, symbols, end, memo) for end in ends))
            return ends
        found = {at}
        fresh = {at}
        while fresh:
            ends = frozenset().union(*(self._ends(rules, body[0], symbols, end, memo) for end in fresh))
            fresh = set(ends) - found
            found |= fresh
            if kind == "opt":
                break
        return frozenset(found)


def load(path: Path, specials: dict[str, Callable[[str], bool]]) -> Grammar:
    return Grammar(path.read_text(encoding="utf-8"), specials)


def _read(text: str) -> dict[str, Node]:
    symbols = _symbols(re.sub(r"\(\*.*?\*\)", " ", text, flags=re.DOTALL))
    rules: dict[str, Node] = {}
    at = 0
    while at < len(symbols):
        name = symbols[at][1]
        assert symbols[at][0] == "name", symbols[at]
        assert symbols[at + 1][1] == "=", name
        assert name not in rules, name
        rules[name], at = _alternatives(symbols, at + 2)
        assert symbols[at][1] == ";", name
        at += 1
    return rules


def _symbols(text: str) -> list[tuple[str, str]]:
    symbols = []
    at = 0
    while text[at:].strip():
        match = _SYMBOL.match(text, at)
        assert match, text[at : at + 40]
        symbols.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return symbols


def _alternatives(symbols: list[tuple[str, str]], at: int) -> tuple[Node, int]:
    options = []
    while True:
        option, at = _sequence(symbols, at)
        options.append(option)
        if symbols[at][1] != "|":
            return ("alt", options), at
        at += 1


def _sequence(symbols: list[tuple[str, str]], at: int) -> tuple[Node, int]:
    items = []
    while True:
        item, at = _item(symbols, at)
        items.append(item)
        if symbols[at] != ("mark", ","):
            return ("seq", items), at
        at += 1


def _item(symbols: list[tuple[str, str]], at: int) -> tuple[Node, int]:
    kind, text = symbols[at]
    if kind == "mark":
        inner, end = _alternatives(symbols, at + 1)
        assert symbols[end][1] == _CLOSE[text], symbols[at : end + 1]
        return (inner if text == "(" else (_KIND[text], [inner])), end + 1
    return (kind, text.strip("? ") if kind == "special" else text if kind == "name" else text[1:-1]), at + 1
