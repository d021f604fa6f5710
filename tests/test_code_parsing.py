"""Texts that would cost a parser much more than code does are told by counts, the same on every machine."""

from __future__ import annotations

import sys

import pytest

from trivium.code.grammars import load
from trivium.code.parse_worker import Worker
from trivium.code.parsing import MAX_CHAIN, MAX_DEPTH, TooMuchWork, is_too_deep, parse

GRAMMARS = [
    "javascript",
    "typescript",
    "tsx",
    "go",
    "rust",
    "java",
    "c",
    "cpp",
    "csharp",
    "ruby",
    "php",
    "kotlin",
    "swift",
]

# --- what is refused before it is parsed ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"(" * 1_001,
        b"{[" * 501,
        b"f(\n" * 1_001,
        b"a<" * 1_001,
        b"a=>" * 1_001,
        b"! " * 2_001,
        b"new " * 2_001,
        b"x = 1;\n" * 1_000 + b"a<b<c<" * 2_000,
        b"(a)" * 1_001 + b"[" * 1_001 + b"]" * 1_001,
    ],
)
def test_what_is_open_all_along_is_too_deep(text: bytes) -> None:
    assert is_too_deep(text)


@pytest.mark.parametrize(
    "text",
    [
        b"(" * MAX_DEPTH + b")" * MAX_DEPTH,
        b"f(a, [1, 2], {b: c});" * 10_000,
        b"a b " * (MAX_CHAIN // 2),
        b"0, " * 100_000,
        b"a = '" + b"word " * 100_000 + b"'",
        b'a = "' + b"QUJD+/8=" * 100_000 + b'"',
        b"a = `" + b"<p \\` " * 100_000 + b"`",
        b"a < b\n" * 100_000,
        b"x" * 2_000_000,
        b"function f(){if(a){b()}else{c()}}" * 10_000,
        b") ] }" * 10_000,
    ],
)
def test_long_texts_are_not_deep_for_that(text: bytes) -> None:
    assert not is_too_deep(text)


# --- what is stopped ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ("cpp", b"a::<\n" * 12_000),  # more and more steps for each byte
        ("javascript", b"->" * 32_000),
        ("kotlin", b"a,\n" * 16_000),  # reads up to the end for each line
        ("rust", b"a," * 100_000),  # never finds back from its first error
    ],
)
def test_a_parser_is_stopped_after_too_much_work(grammar: str, text: bytes) -> None:
    with pytest.raises(TooMuchWork):
        parse(grammar, text)
    assert not parse(grammar, b"").has_error, "the next text is read as if nothing had been"


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ("c", b"int a[][2] = {" + b"{1,2}," * 50_000 + b"};"),
        ("go", b"package a\nvar a = []int{" + b"0," * 50_000 + b"}"),
        ("javascript", b"a();" * 50_000),
        ("typescript", b"a=[" + b"[1,2]," * 50_000 + b"]"),
        ("rust", b"const A: [u8; 9] = [" + b"0," * 50_000 + b"];"),
        ("java", b"class A { int[] a = {" + b"0," * 50_000 + b"}; }"),
        ("csharp", b"class A { int[] a = {" + b"0," * 50_000 + b"}; }"),
        ("ruby", b"A = [" + b"0," * 50_000 + b"0]"),
        ("php", b"<?php $a = [" + b"[1,2]," * 50_000 + b"0];"),
        ("kotlin", b"val a = listOf(" + b"0," * 50_000 + b"0)"),
        ("swift", b"let a = [" + b"0," * 50_000 + b"0]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_dense_tables_are_parsed_as_a_whole(grammar: str, text: bytes) -> None:
    assert not parse(grammar, text).has_error


def test_a_text_that_is_given_in_pieces_is_parsed_as_one() -> None:
    from tree_sitter import Parser

    language = load("typescript")
    assert language is not None
    for shift in range(4):
        text = b" " * shift + "export const naïve = '漢字𝒳 — ÅÄÖ';\n".encode() * 500
        assert str(parse("typescript", text)) == str(Parser(language).parse(text).root_node)


# --- through the worker ---------------------------------------------------------------------------

ODD = rb"""( { [ < a<
    a<b<c< a=> a( f(a, {a: a?b: ! -- -> a:: a::< new_ if(a) template< %w( <a_ <? @a( "#{ `${ /* <<A_ 'a_
    #if_a~ \ . # $ | && ^ =" == ** a, a,~ a<~ a=>~ _def_a~ fn_a(){ class_A{"""
RUNS = [run.replace(b"_", b" ").replace(b"~", b"\n") for run in ODD.split()] + [b'"""', b"\xff", b" ", b"\n"]


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_no_run_of_one_thing_ends_the_process(grammar: str) -> None:
    """So none of these is left to the bounds of time and memory, which differ between machines."""
    path, language = ("a.tsx", "typescript") if grammar == "tsx" else ("a", grammar)
    worker = Worker()
    texts = [(path, language, run * (6_000 // len(run))) for run in RUNS]
    assert all(found is not None for found in worker.analyse_all(texts))
    assert worker._failures == 0
    worker.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the memory of a process is not bounded")
def test_a_tree_that_takes_too_much_memory_harms_one_file_only() -> None:
    worker = Worker()
    found = worker.analyse_all([("A.java", "java", b"a=>\n" * 20_000), ("B.java", "java", b"public class B {}")])
    assert [one is not None and (one.parsed, one.exports) for one in found] == [(False, []), (True, ["B"])]
    worker.close()
