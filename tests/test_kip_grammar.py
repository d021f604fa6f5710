"""The grammar in docs/kip-grammar.ebnf and the parser accept the same texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import ebnf
from trivium.errors import KipError
from trivium.kip.lexer import tokenize
from trivium.kip.parser import parse

ROOT = Path(__file__).parent.parent
CORPUS: list[dict[str, Any]] = json.loads((ROOT / "tests/data/kip_corpus.json").read_text(encoding="utf-8"))

SPECIALS: dict[str, Callable[[str], bool]] = {
    "tab, LF, CR, another white space character of Unicode, or the byte order mark": (
        lambda c: (c.isspace() and not "\x1c" <= c <= "\x1f") or c == "\ufeff"
    ),
    "any character but LF and CR": lambda c: c not in "\r\n",
    "any character from U+0020 on but the double quote and the backslash": lambda c: c >= " " and c not in '"\\',
    "A to Z, a to z, or _": lambda c: bool(re.fullmatch("[A-Za-z_]", c)),
    "1 to 9": lambda c: c in "123456789",
    "0 to 9, A to F, or a to f": lambda c: bool(re.fullmatch("[0-9A-Fa-f]", c)),
}
GRAMMAR = ebnf.load(ROOT / "docs/kip-grammar.ebnf", SPECIALS)

LEXEMES = [
    ("identifier", True, ["a", "_", "A9_", "FIND", "a_b"]),
    ("identifier", False, ["", "1a", "a-b", "é", "a b", "a.b"]),
    ("variable", True, ["?a", "?_1"]),
    ("variable", False, ["?", "?1", "a", "??a", "?a.", "? a"]),
    ("dot_path", True, ["?a.b", "?a.b.c._d"]),
    ("dot_path", False, ["?a", "?a.1", "?a..b", "a.b", "?a. b"]),
    ("placeholder", True, [":a", ":FIND"]),
    ("placeholder", False, [":", ":1", "::a", ": a"]),
    ("string", True, ['""', '"a"', '"\\""', '"\\u00e9"', '"日本"']),
    ("string", False, ['"', '"a', '"a"b"', "'a'", '"\\x"', '"\\u12"', '"\n"', '"\\"']),
    ("number", True, ["0", "-0", "12", "1.50", "-1e9", "1E+09", "0.0e-0"]),
    ("number", False, ["", "-", "01", "1.", ".5", "+1", "1e", "0x1", "1_0", "- 1"]),
    ("positive", True, ["1", "10"]),
    ("positive", False, ["0", "01", "-1", "1.0"]),
    ("natural", True, ["0", "10"]),
    ("comment", True, ["//", "// a"]),
    ("comment", False, ["/", "// a\n", "# a"]),
    ("white_space", True, [" ", "\t", "\n", "\r", "\u00a0"]),
    ("white_space", False, ["", "a", "  "]),
]


def verdict(text: str) -> str | None:
    """The code with which the parser refuses a text, or None."""
    try:
        parse(text)
    except KipError as error:
        return error.code
    return None


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["text"][:60])
def test_parser_gives_the_stored_verdict(case: dict[str, Any]) -> None:
    expected = None if case["accepted"] else case.get("code", "KIP_1001")
    assert verdict(case["text"]) == expected


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["text"][:60])
def test_grammar_file_gives_the_stored_verdict(case: dict[str, Any]) -> None:
    assert GRAMMAR.accepts("command", tokenize(case["text"])) == (case["accepted"] or "beyond" in case)


@pytest.mark.parametrize(("rule", "accepted", "texts"), LEXEMES)
def test_grammar_file_describes_the_tokens(rule: str, accepted: bool, texts: list[str]) -> None:
    assert {text: GRAMMAR.is_token(rule, text) for text in texts} == dict.fromkeys(texts, accepted)


@pytest.mark.parametrize(("rule", "texts"), [(rule, texts) for rule, accepted, texts in LEXEMES if accepted])
def test_lexer_takes_each_form_as_one_token(rule: str, texts: list[str]) -> None:
    expected = [] if rule in ("comment", "white_space") else None
    for text in texts:
        assert tokenize(text) == ([text] if expected is None else expected)


def test_lexer_and_grammar_file_agree_on_white_space() -> None:
    for code in (*range(0x3100), 0xFEFF):
        is_space = GRAMMAR.is_token("white_space", chr(code))
        assert (tokenize(f"a{chr(code)}b") == ["a", "b"]) == is_space, hex(code)


def test_every_rule_is_reachable_and_defined() -> None:
    rules = GRAMMAR.syntax | GRAMMAR.lexical
    reached, fresh = set(), {"command", "white_space", "comment"}
    while fresh:
        reached |= fresh
        fresh = set().union(*(GRAMMAR.uses(rules[name]) for name in fresh)) - reached
    assert reached == set(rules)


def test_every_rule_of_the_token_part_has_an_accepted_text() -> None:
    """Each rule is used by some accepted text: without it that text is refused."""
    texts = [tokenize(case["text"]) for case in CORPUS if case["accepted"]]
    unused = []
    for name in GRAMMAR.syntax:
        body = GRAMMAR.syntax[name]
        GRAMMAR.syntax[name] = ("alt", [])
        if all(GRAMMAR.accepts("command", tokens) for tokens in texts):
            unused.append(name)
        GRAMMAR.syntax[name] = body
    assert unused == []


def test_the_corpus_refuses_texts_for_every_statement() -> None:
    refused = {case["rule"] for case in CORPUS if not case["accepted"]}
    accepted = {case["rule"] for case in CORPUS if case["accepted"]}
    assert {"query", "upsert", "update", "merge", "delete", "describe", "search", "export"} <= refused & accepted
