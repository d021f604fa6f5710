"""Tokens, positions, limits, literal values and shapes of command text."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import KipError, Position
from trivium.kip import lexer
from trivium.kip.lexer import (
    check_limits,
    decode,
    line_starts,
    locate,
    place,
    position_of,
    scan,
    shape,
    tokenize,
)

BAD = "\0"


def code_of(text: str) -> KipError:
    with pytest.raises(KipError) as caught:
        check_limits(text)
    return caught.value


# --- tokens ---------------------------------------------------------------------------------------


def test_doctests() -> None:
    assert doctest.testmod(lexer).failed == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \t\r\n // only a comment", []),
        (
            'FIND(?x)WHERE{?x{type:"T"}}',
            ["FIND", "(", "?x", ")", "WHERE", "{", "?x", "{", "type", ":", '"T"', "}", "}"],
        ),
        ("?v.attributes.a_1 ?w", ["?v.attributes.a_1", "?w"]),
        ("?v.a.b)", ["?v.a.b", ")"]),
        ("a//b\nc//d", ["a", "c"]),
        ("a//b\rc", ["a", "c"]),
        ('"// no comment" "a\\"b" ""', ['"// no comment"', '"a\\"b"', '""']),
        ("-1 2.5 1e9 -0.5E-3", ["-1", "2.5", "1e9", "-0.5E-3"]),
        ("{1,5}{2,}", ["{", "1", ",", "5", "}", "{", "2", ",", "}"]),
        ("== != <= >= < > && || ! |", ["==", "!=", "<=", ">=", "<", ">", "&&", "||", "!", "|"]),
        ("===", ["==", "="]),
        ("!!x", ["!", "!", "x"]),
        ("{a::x}", ["{", "a", ":", ":x", "}"]),
        ("{a: :x}", ["{", "a", ":", ":x", "}"]),
        (":flag_year :flag", [":flag_year", ":flag"]),
        ("{a:true,b:false,c:null}", ["{", "a", ":", "true", ",", "b", ":", "false", ",", "c", ":", "null", "}"]),
        (":truest :nullable", [":truest", ":nullable"]),
        ("{a:ADD(1,2)}", ["{", "a", ":", "ADD", "(", "1", ",", "2", ")", "}"]),
        ("{a:ADDED}", ["{", "a", ":ADDED", "}"]),
        (":1x", [":", f"{BAD}1x"]),
        ("a\u00a0b\u3000c\ufeffd\u2028e", ["a", "b", "c", "d", "e"]),
        ("a\x1cb", ["a", "\x1c", "b"]),
    ],
)
def test_text_becomes_tokens(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    "piece",
    [
        "?",
        "?1st",
        "?v.",
        "?v..x",
        "?v.1",
        "?.x",
        "12abc",
        "007",
        "5.",
        "1.2.3",
        "1e",
        "0x1F",
        "1_000",
        "-01",
        "größe",
        "?größe",
    ],
)
def test_a_malformed_piece_is_one_token_that_begins_with_the_mark(piece: str) -> None:
    assert tokenize(piece) == [BAD + piece]
    assert tokenize(f"a {piece} b") == ["a", BAD + piece, "b"]


@pytest.mark.parametrize("text", ['"open', '"raw\ttab"', '"bad \\', '"a\x01"'])
def test_an_open_string_reaches_to_the_end_of_its_line(text: str) -> None:
    assert tokenize(f"{text} }}\n}}") == [f"{BAD}{text} }}", "}"]


@pytest.mark.parametrize(
    "text", ["+1", ".5", "@x", "$x", "a;b", "'x'", "<>", "&", "=", "#", "%", "\\", "`", "😀", "- 1", "-x"]
)
def test_a_stray_character_is_a_token_that_no_rule_knows(text: str) -> None:
    known = set("{}()[],:|!<>") | {"==", "!=", "<=", ">=", "&&", "||"}
    assert (
        any(len(token) == 1 and token not in known and not token.isalnum() for token in tokenize(text)) or text == "<>"
    )


@given(st.text(alphabet=st.sampled_from('{}()[],:?.!=<>&|"\\/ \n\r\tabFIND019-+é\u00a0\0\ud800'), max_size=60))
def test_scan_and_tokenize_agree_and_cover_the_text(text: str) -> None:
    pieces = list(scan(text))
    assert [token for _, token in pieces] == tokenize(text)
    rest = text
    for start, token in reversed(pieces):
        raw = token.removeprefix(BAD)
        assert text.startswith(raw, start)
        rest = rest[:start] + rest[start + len(raw) :]
    left = [line.split("//")[0] for line in rest.replace("\r", "\n").split("\n")]
    assert not "".join(left).strip("\ufeff \t\x0b\x0c\x85\xa0\u2028\u2029\u3000")


# --- positions ------------------------------------------------------------------------------------

TEXT = 'FIND(?d) // ü\r\nWHERE {\n  ?d {type: "😀"} ?1\r}'


@pytest.mark.parametrize(
    ("index", "position"),
    [
        (0, (1, 1, 0)),
        (2, (1, 6, 5)),
        (4, (2, 1, 15)),
        (6, (3, 3, 25)),
        (10, (3, 13, 35)),
        (12, (3, 18, 40)),
        (13, (4, 1, 43)),
    ],
)
def test_locate_gives_line_column_and_offset_of_a_token(index: int, position: tuple[int, int, int]) -> None:
    assert locate(TEXT, index) == Position(*position)


def test_locate_behind_the_last_token_is_its_end() -> None:
    assert locate(TEXT, 14) == Position(4, 2, 44)
    assert locate("FIND(  \n\n", 2) == Position(1, 6, 5)
    assert locate("", 0) == Position(1, 1, 0)
    assert locate("// c", 0).offset == 4


def test_lines_end_with_cr_lf_cr_or_lf() -> None:
    text = "a\r\nb\rc\nd"
    assert [position_of(text, offset)[:2] for offset in (0, 3, 5, 7)] == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert line_starts(text) == [0, 3, 5, 7]


def test_place_puts_line_and_column_into_the_message_once() -> None:
    error = place(KipError("KIP_1001", "Wrong.", at=4), TEXT)
    assert (str(error), error.position) == ("Line 2, column 1: Wrong.", Position(2, 1, 15))
    assert str(place(error, TEXT)) == "Line 2, column 1: Wrong."
    assert place(KipError("KIP_1001", "Wrong."), TEXT).position is None


# --- limits ---------------------------------------------------------------------------------------


def test_texts_up_to_the_limit_of_length_pass() -> None:
    check_limits("x" * (256 * 1024))
    check_limits("é" * (128 * 1024))


@pytest.mark.parametrize("text", ["x" * (256 * 1024 + 1), "é" * (128 * 1024) + "x", "😀" * (64 * 1024) + " "])
def test_length_counts_bytes_of_utf8(text: str) -> None:
    assert code_of(text).code == "KIP_4002"


def test_nesting_of_64_passes_and_65_does_not() -> None:
    check_limits("([{" * 21 + "(" + ")")
    error = code_of("x " + "([{" * 21 + "((")
    assert (error.code, error.position) == ("KIP_4002", Position(1, 67, 66))


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    check_limits(f'"{"(" * 100}" // {"[" * 100}\n' + "{}" * 100)


@pytest.mark.parametrize("text", ["a\0b", 'a "\0"', "a // \0", "\ud800", '"\udc00"', "// \ud83d"])
def test_nul_and_lone_surrogates_are_refused_with_their_place(text: str) -> None:
    error = code_of(text)
    assert error.code == "KIP_1001"
    assert error.position is not None
    assert text[error.position.offset] in "\0\ud800\udc00\ud83d"


# --- literal values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ('"a"', "a"),
        ('""', ""),
        ('"日本 😀"', "日本 😀"),
        ('"\u00a0\u2028"', "\u00a0\u2028"),
        ('"\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9"', '" \\ / \b\f\n\r\t é'),
        ('"\\ud83d\\ude00"', "😀"),
        ("0", 0),
        ("-12", -12),
        ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1.0", 1.0),
        ("1e3", 1000.0),
        ("-2.5E-1", -0.25),
        ("true", True),
        ("false", False),
        ("null", None),
    ],
)
def test_literals_decode_to_their_value_and_kind(token: str, value: object) -> None:
    decoded = decode(token)
    assert decoded == value
    assert type(decoded) is type(value)


def test_minus_zero_is_the_integer_zero() -> None:
    assert str(decode("-0")) == "0"
    assert math.copysign(1, decode("-0.0")) == -1


@pytest.mark.parametrize(
    "token",
    [
        *(
            '"\\x41"',
            '"\\u12"',
            '"\\u12g4"',
            '"\\ud800"',
            '"\\udc00\\ud800"',
            '"\\u0000"',
            '"a\tb"',
            '"a\nb"',
            '"\ud800"',
        ),
        *("18446744073709551616", "-9223372036854775809", "9" * 5000, "1e400", "-1e999", "-", "x"),
    ],
)
def test_literals_outside_the_value_types_are_refused(token: str) -> None:
    with pytest.raises(KipError) as caught:
        decode(token, 7)
    assert (caught.value.code, caught.value.at) == ("KIP_1001", 7)
    assert caught.value.hint


# --- shapes ---------------------------------------------------------------------------------------


def shape_of(text: str) -> tuple[str, ...]:
    return shape(tokenize(text))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            'FIND(?d) WHERE { ?d {type: "A", name: "b"} } LIMIT 5',
            'FIND(?d) WHERE { ?d {type: "C", name: ""} } LIMIT 77',
        ),
        ("FILTER(?x.a > 1.5)", "FILTER(?x.a > -2e9)"),
        ('IN(?x.a, ["a", 1])', 'IN(?x.a, ["b", -2])'),
        ('{"a": 1}', '{"a": 2}'),
        ("SEARCH CONCEPT :t // one", "SEARCH   CONCEPT :t"),
    ],
)
def test_shapes_agree_when_only_literals_differ(left: str, right: str) -> None:
    assert shape_of(left) == shape_of(right)
    assert hash(shape_of(left)) == hash(shape_of(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("LIMIT 5", "LIMIT 5.0"),
        ("LIMIT 5", 'LIMIT "5"'),
        ("LIMIT 5", "LIMIT :n"),
        ("LIMIT :m", "LIMIT :n"),
        ("FILTER(?x.a == 1)", "FILTER(?x.b == 1)"),
        ("FILTER(?x.a == true)", "FILTER(?x.a == false)"),
        ('(?a, "p"{1,3}, ?b)', '(?a, "p"{1,4}, ?b)'),
        ('(?a, "p"{1,3}, ?b)', '(?a, "p"{2,3}, ?b)'),
        ('(?a, "p"{2}, ?b)', '(?a, "p"{3}, ?b)'),
        ("(?a, :p{2}, ?b)", "(?a, :p{3}, ?b)"),
        ('{"type": "A"}', '{"name": "A"}'),
        ("[1, 2]", "[1, 2, 3]"),
        ("{ a: - }", "{ a: 1.5 }"),
        ('{ a: "x" }', "{ a: x }"),
    ],
)
def test_shapes_differ_when_the_structure_does(left: str, right: str) -> None:
    assert shape_of(left) != shape_of(right)


def test_shape_takes_any_tokens() -> None:
    assert shape_of("{1}") == ("{", "0", "}")
    assert shape_of("") == ()
    assert shape_of('?1st "open') == (f"{BAD}?1st", f'{BAD}"open')


def test_a_bound_is_kept_only_inside_its_quantifier() -> None:
    kept = shape_of('(?a, "p"{1,3}, ?b) FILTER(?b.x == 3) LIMIT 3')
    assert kept.count("3") == 1
    assert kept == shape_of('(?a, "q"{1,3}, ?b) FILTER(?b.x == 4) LIMIT 5')
