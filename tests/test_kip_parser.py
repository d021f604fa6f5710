"""The parser: trees, literal checks, error messages and positions."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import KipError, Position
from trivium.kip import faults, parser, values
from trivium.kip.faults import (
    INTEGER,
    KEY,
    KINDS,
    LITERAL,
    NUMBER,
    PATH,
    PLACEHOLDER,
    POSITIVE,
    STRING,
    TEXT_END,
    VARIABLE,
    SyntaxFault,
)
from trivium.kip.lexer import decode, tokenize
from trivium.kip.parser import parse, parse_tokens
from trivium.kip.tree import (
    Aggregate,
    And,
    Call,
    Compare,
    ConceptBlock,
    ConceptClause,
    ConceptMatch,
    DeleteConcept,
    DeleteKeys,
    DeletePropositions,
    DescribeDomains,
    DescribePrimer,
    DescribeType,
    DescribeTypes,
    Export,
    Find,
    Group,
    LinkById,
    LinkClause,
    LinkPattern,
    Lit,
    Merge,
    Negation,
    Not,
    Optional,
    Or,
    Param,
    PredicateNames,
    PredicatePath,
    PropositionBlock,
    PropositionEntry,
    Search,
    SortKey,
    Template,
    Union,
    Update,
    UpdateCall,
    UpdateObject,
    Upsert,
    UpsertStatement,
    Var,
)
from trivium.kip.tree import Path as DotPath

CORPUS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data/kip_corpus.json").read_text(encoding="utf-8"))
W = 'WHERE { ?d {type: "Drug"} }'
DRUGS = Group([ConceptClause(Var("d"), ConceptMatch(type=Lit("Drug")))])


def tree(text: str) -> Any:
    return parse(text).command


def clauses(text: str) -> list[Any]:
    return list(tree(f"FIND(?d) WHERE {{ {text} }}").where.clauses)


def condition(text: str) -> Any:
    return clauses(f"FILTER({text})")[0].expr


def data(text: str) -> Any:
    return tree(f'UPSERT {{ CONCEPT {{ {{id: "C:1"}} SET ATTRIBUTES {text} }} }}').statements[0].blocks[0].attributes


def error_of(text: str) -> KipError:
    with pytest.raises(KipError) as caught:
        parse(text)
    return caught.value


# --- trees: KQL -----------------------------------------------------------------------------------


def test_doctests() -> None:
    assert doctest.testmod(parser).failed == 0
    assert doctest.testmod(faults).failed == 0


def test_find_with_all_its_parts() -> None:
    command = tree(
        f"FIND(?d, ?d.a.b, COUNT(DISTINCT ?d)) {W} ORDER BY ?d.name, AVG(?d.x) DESC, ?d ASC LIMIT 5 CURSOR :c"
    )
    assert command == Find(
        items=[DotPath("d"), DotPath("d", ("a", "b")), Aggregate("COUNT", True, DotPath("d"))],
        where=DRUGS,
        order_by=[
            SortKey(DotPath("d", ("name",))),
            SortKey(Aggregate("AVG", False, DotPath("d", ("x",))), True),
            SortKey(DotPath("d")),
        ],
        limit=Lit(5),
        cursor=Param("c"),
    )


def test_clauses_of_where() -> None:
    assert clauses(
        '?a {"name": :n} ?l (id: "P:1") (?a, ?p, {id: "C:1"}) NOT { (?a, "p" | :q, (id: :i)) } '
        'OPTIONAL { ?a {name: "x", type: "T"} } UNION { ((?a, "p"{2}, ?b), :p{0,}, ?c) }'
    ) == [
        ConceptClause(Var("a"), ConceptMatch(name=Param("n"))),
        LinkClause(Var("l"), LinkById(Lit("P:1"))),
        LinkClause(None, LinkPattern(Var("a"), Var("p"), ConceptMatch(id=Lit("C:1")))),
        Not(
            Group(
                [LinkClause(None, LinkPattern(Var("a"), PredicateNames([Lit("p"), Param("q")]), LinkById(Param("i"))))]
            )
        ),
        Optional(Group([ConceptClause(Var("a"), ConceptMatch(type=Lit("T"), name=Lit("x")))])),
        Union(
            Group(
                [
                    LinkClause(
                        None,
                        LinkPattern(
                            LinkPattern(Var("a"), PredicatePath(Lit("p"), 2, 2), Var("b")),
                            PredicatePath(Param("p"), 0, None),
                            Var("c"),
                        ),
                    )
                ]
            )
        ),
    ]


def compare(name: str, value: int = 1) -> Compare:
    return Compare("==", DotPath(name), Lit(value))


@pytest.mark.parametrize(
    ("text", "expr"),
    [
        ("?a == 1", compare("a")),
        ("?a == 1 && ?b == 1 && ?c == 1", And([compare("a"), compare("b"), compare("c")])),
        ("?a == 1 || ?b == 1 && ?c == 1", Or([compare("a"), And([compare("b"), compare("c")])])),
        ("(?a == 1 || ?b == 1) && ?c == 1", And([Or([compare("a"), compare("b")]), compare("c")])),
        ("(?a == 1 && ?b == 1) && ?c == 1", And([And([compare("a"), compare("b")]), compare("c")])),
        ("!?a == 1", Negation(compare("a"))),
        ("!!?a == 1", compare("a")),
        ("!!!(?a == 1 || ?b == 1)", Negation(Or([compare("a"), compare("b")]))),
        ("((?a == 1))", compare("a")),
        ('IN(?a.b, ["x", :y, null])', Call("IN", [DotPath("a", ("b",)), Template(["x", Param("y"), None])])),
        ("IN(?a, [])", Call("IN", [DotPath("a"), Lit([])])),
        ("IN(:x, :xs)", Call("IN", [Param("x"), Param("xs")])),
        ('REGEX(?a, "^x")', Call("REGEX", [DotPath("a"), Lit("^x")])),
        ("IS_NOT_NULL(?a)", Call("IS_NOT_NULL", [DotPath("a")])),
        ("[1, 2.5] != ?a", Compare("!=", Lit([1, 2.5]), DotPath("a"))),
        ("true >= :x", Compare(">=", Lit(True), Param("x"))),
    ],
)
def test_filter_expressions(text: str, expr: object) -> None:
    assert repr(condition(text)) == repr(expr)


# --- trees: KML -----------------------------------------------------------------------------------


def test_upsert_with_all_its_parts() -> None:
    command = tree(
        """
        UPSERT {
          CONCEPT ?a {
            {type: "T", name: :n}
            EXPECT VERSION 0
            SET PROPOSITIONS { ("p", ?b) WITH METADATA { c: 1 }, (:q, (?a, "r", {id: "C:2"})) }
            SET ATTRIBUTES { x: [1, {y: :z}], "k k": "v", }
          } WITH METADATA :m
          PROPOSITION { (id: "P:1") EXPECT VERSION :v SET ATTRIBUTES {} }
        }
        UPSERT { PROPOSITION ?l { ({type: "T", name: "n"}, :p, ?a) } } WITH METADATA { s: "t" }
        """
    )
    assert command == Upsert(
        [
            UpsertStatement(
                [
                    ConceptBlock(
                        Var("a"),
                        ConceptMatch(type=Lit("T"), name=Param("n")),
                        Lit(0),
                        Template({"x": [1, {"y": Param("z")}], "k k": "v"}),
                        [
                            PropositionEntry(Lit("p"), Var("b"), Lit({"c": 1})),
                            PropositionEntry(
                                Param("q"),
                                LinkPattern(Var("a"), PredicateNames([Lit("r")]), ConceptMatch(id=Lit("C:2"))),
                            ),
                        ],
                        Param("m"),
                    ),
                    PropositionBlock(None, LinkById(Lit("P:1")), Param("v"), Lit({})),
                ]
            ),
            UpsertStatement(
                [
                    PropositionBlock(
                        Var("l"),
                        LinkPattern(ConceptMatch(type=Lit("T"), name=Lit("n")), PredicateNames([Param("p")]), Var("a")),
                    )
                ],
                Lit({"s": "t"}),
            ),
        ]
    )


def test_update_with_expressions() -> None:
    command = tree(
        "UPDATE ?d SET METADATA :m SET ATTRIBUTES "
        "{ a: CLAMP(ADD(?d.attributes.a, -1), 0, :hi), b: {c: :x}, d: null, ADD: COALESCE(1, 2.5) } " + W + " LIMIT :n"
    )
    assert command == Update(
        Var("d"),
        UpdateObject(
            [
                (
                    "a",
                    UpdateCall(
                        "CLAMP",
                        [UpdateCall("ADD", [DotPath("d", ("attributes", "a")), Lit(-1)]), Lit(0), Param("hi")],
                    ),
                ),
                ("b", Template({"c": Param("x")})),
                ("d", Lit(None)),
                ("ADD", UpdateCall("COALESCE", [Lit(1), Lit(2.5)])),
            ]
        ),
        UpdateObject([], Param("m")),
        DRUGS,
        Param("n"),
    )


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (f"MERGE CONCEPT ?a INTO ?d {W}", Merge(Var("a"), Var("d"), DRUGS)),
        (
            f'DELETE ATTRIBUTES {{"a", :b}} FROM ?d {W}',
            DeleteKeys("attributes", [Lit("a"), Param("b")], Var("d"), DRUGS),
        ),
        (f'DELETE METADATA {{"a"}} FROM ?d {W}', DeleteKeys("metadata", [Lit("a")], Var("d"), DRUGS)),
        (f"DELETE PROPOSITIONS ?d {W}", DeletePropositions(Var("d"), DRUGS)),
        (f"DELETE CONCEPT ?d DETACH {W}", DeleteConcept(Var("d"), DRUGS)),
        ("DESCRIBE PRIMER", DescribePrimer()),
        ("DESCRIBE DOMAINS", DescribeDomains()),
        ("DESCRIBE CONCEPT TYPES LIMIT 3 CURSOR :c", DescribeTypes("CONCEPT", Lit(3), Param("c"))),
        ("DESCRIBE PROPOSITION TYPES", DescribeTypes("PROPOSITION")),
        ('DESCRIBE CONCEPT TYPE "T"', DescribeType("CONCEPT", Lit("T"))),
        ("DESCRIBE PROPOSITION TYPE :t", DescribeType("PROPOSITION", Param("t"))),
        (
            'SEARCH CONCEPT "x" LIMIT 4 THRESHOLD 0.5 MODE :m WITH TYPE "T"',
            Search("CONCEPT", Lit("x"), Lit("T"), Param("m"), Lit(0.5), Lit(4)),
        ),
        (f'EXPORT ?d {W} LIMIT 4 CURSOR "c"', Export(Var("d"), DRUGS, Lit(4), Lit("c"))),
    ],
)
def test_other_statements(text: str, command: object) -> None:
    assert tree(text) == command


# --- values ---------------------------------------------------------------------------------------


def test_pure_values_are_plain_and_others_are_templates() -> None:
    assert data('{ a: [1, 2.0, "x", true, null, {}], b: {c: []} }') == Lit(
        {"a": [1, 2.0, "x", True, None, {}], "b": {"c": []}}
    )
    assert data("{ a: [:x] }") == Template({"a": [Param("x")]})
    assert data(":all") == Param("all")
    assert repr(data("{a:-0,b:1.0,c:1,d:true}")) == "Lit(value={'a': 0, 'b': 1.0, 'c': 1, 'd': True})"


def test_a_literal_knows_its_token() -> None:
    parsed = parse(
        'FIND(?d) WHERE { ?d {type: "Drug", name: "x"} (?d, "p" | "q", ?e) (?d, "r"{1,2}, ?e) '
        'FILTER(?d.a == 1.5 && IN(?d.b, [1, "z"]) || CONTAINS("u", ?d.c)) } LIMIT 7 CURSOR "c"'
    )
    found = scalar_literals(parsed.command)
    assert len(found) == 9
    for literal in found:
        assert repr(decode(parsed.tokens[literal.at])) == repr(literal.value)


def scalar_literals(node: Any) -> list[Lit]:
    if isinstance(node, Lit):
        return [] if isinstance(node.value, (list, dict)) else [node]
    if isinstance(node, list):
        return [literal for item in node for literal in scalar_literals(item)]
    names = getattr(node, "__struct_fields__", ())
    return [literal for name in names for literal in scalar_literals(getattr(node, name))]


def test_names_inside_strings_are_collected() -> None:
    parsed = parse(
        'FIND(?d) WHERE { ?d {name: "Hello :name, :30 :x_1::y http://z"} FILTER(?d.a == :other) } // :comment'
    )
    assert parsed.quoted_names == {"name", "x_1", "y"}
    assert parse("DESCRIBE PRIMER").quoted_names == frozenset()


def test_parsed_keeps_text_and_tokens() -> None:
    text = "DESCRIBE  PRIMER // now"
    assert (parse(text).text, parse(text).tokens) == (text, ["DESCRIBE", "PRIMER"])


# --- literal checks -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"FIND(?d) {W} LIMIT 0", "LIMIT must be a positive integer, not 0"),
        (f"FIND(?d) {W} LIMIT 1.0", "LIMIT must be a positive integer, not 1.0"),
        (f"FIND(?d) {W} LIMIT true", "LIMIT must be a positive integer, not true"),
        (f'FIND(?d) {W} LIMIT "5"', 'LIMIT must be a positive integer, not "5"'),
        (f'FIND(?d) {W} CURSOR ""', 'CURSOR must be a non-empty string, not ""'),
        (f"FIND(?d) {W} CURSOR 5", "CURSOR must be a non-empty string, not 5"),
        ('SEARCH CONCEPT "x" MODE "fuzzy"', 'MODE must be keyword, semantic or hybrid, not "fuzzy"'),
        ('SEARCH CONCEPT "x" THRESHOLD 1.01', "THRESHOLD must be a number from 0 to 1, not 1.01"),
        ('UPSERT { CONCEPT { {id: "C:1"} EXPECT VERSION -1 } }', "EXPECT VERSION must be an integer from 0 on, not -1"),
        ('UPSERT { CONCEPT { {id: "C:1"} SET ATTRIBUTES { a: 1, "a": 2 } } }', "The key 'a' occurs twice"),
        (f"UPDATE ?d SET ATTRIBUTES {{ a: ADD(?e.attributes.a, 1) }} {W}", "begins with ?d.attributes or ?d.metadata"),
        ('FIND(?d) WHERE { (?d, "p"{3,1}, ?e) }', "minimum above its maximum"),
        ('UPSERT { CONCEPT { {id: "C:1"} SET ATTRIBUTES { a: 99999999999999999999 } } }', "out of range"),
        ('FIND(?d) WHERE { ?d {name: "\\ud800"} }', "lone surrogate"),
    ],
)
def test_literals_are_checked_where_they_stand(text: str, says: str) -> None:
    error = error_of(text)
    assert (error.code, says in error.message) == ("KIP_1001", True), error.message
    assert error.position is not None
    assert error.hint


DEEP: Any = 1
for _ in range(values.MAX_VALUE_NESTING + 1):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (values.check_limit, [1, 2**64 - 1], [0, -1, 1.0, True, None, "1", [1], 2**64]),
        (values.check_cursor, ["x"], ["", 1, None, ["x"], "\0"]),
        (values.check_version, [0, 7], [-1, 0.0, False, "0", None]),
        (values.check_mode, ["keyword", "semantic", "hybrid"], ["", "Keyword", None, 1, ["keyword"]]),
        (values.check_threshold, [0, 1, 0.5, 1.0], [-0.01, 1.01, "0.5", True, None, float("nan")]),
        (values.check_text, ["", "x"], [1, None, True, ["x"], {}, "\ud800"]),
        (values.check_object, [{}, {"a": [1]}], [[], "x", None, {"a": float("inf")}]),
        (values.check_list, [[], ["a", 1, None, True, 0.5]], ["a", None, {}, [[1]], [{}]]),
        (values.check_operand, ["x", 1, None, False, [], [1, "a"]], [{}, [[]], [{}], 2**64]),
        (values.check_update_operand, [1, -0.5], ["1", None, True, [1], float("nan"), 2**64]),
        (
            values.check_storable,
            [None, True, 2**64 - 1, -(2**63), 1e308, "x", [{"a": [1]}], DEEP[0]],
            [
                2**64,
                -(2**63) - 1,
                float("nan"),
                "\0",
                ["\ud800"],
                {"a": {"b": float("inf")}},
                {"\0": 1},
                {1: 2},
                DEEP,
                {1},
            ],
        ),
    ],
)
def test_checks_of_plain_values(check: values.Check, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        check(value, 3)
    for value in bad:
        with pytest.raises(KipError) as caught:
            check(value, 3)
        assert (caught.value.code, caught.value.at) == ("KIP_1001", 3)
        assert caught.value.hint


# --- messages -------------------------------------------------------------------------------------


def test_a_syntax_fault_names_place_finding_and_expectation() -> None:
    error = error_of('FIND(?d.name)\nWHERE {\n  ?d {type: "Drug"\n}')
    assert error.message == "Line 4, column 2: The text ends too early: expected one of " + (
        "a variable, '(', 'FILTER', 'NOT', 'OPTIONAL', 'UNION' or '}'."
    )
    assert error.hint == "'{' of line 2 is not closed: add '}'."
    assert error.position == Position(4, 2, 42)
    assert error.to_dict()["position"] == {"line": 4, "column": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FIND(?d,) " + W, "Line 1, column 9: Unexpected ')': expected one of a variable or path such as ?x.name, "
         "'COUNT', 'SUM', 'AVG', 'MIN' or 'MAX'."),
        ("DELETE CONCEPT ?d " + W, "Line 1, column 19: Unexpected 'WHERE': expected 'DETACH'."),
        ("FIND(?1st) " + W, "Line 1, column 6: Malformed '?1st': expected one of a variable or path such as ?x.name, "
         "'COUNT', 'SUM', 'AVG', 'MIN' or 'MAX'."),
        ('SEARCH CONCEPT "x', "Line 1, column 16: The string '\"x' is not closed on its line, or holds a raw control "
         "character: expected one of a string or a placeholder :name."),
        ("DESCRIBE \u200b", "Line 1, column 10: Unexpected '\\u200b': expected one of 'PRIMER', 'DOMAINS', "
         "'CONCEPT' or 'PROPOSITION'."),
        (f"FIND(?d) {W} LIMIT 5 {'x' * 60}", f"Line 1, column 46: Unexpected '{'x' * 37}...': expected one of "
         "'CURSOR' or the end of the text."),
    ],
)  # fmt: skip
def test_messages(text: str, message: str) -> None:
    assert error_of(text).message == message


@pytest.mark.parametrize(
    "text",
    ["FIND(?1st) " + W, "FIND(?d.2) " + W, "FIND(?d) WHERE { ?d {1st: 2} }"]
    + ['UPSERT { CONCEPT { {id: "C:1"} SET ATTRIBUTES { ' + key + ": 1 } } }" for key in ("1", "1st", "2.5")]
    + [f"UPDATE ?d SET METADATA {{ 3x: 1 }} {W}"],
)
def test_malformed_identifiers_have_a_code_of_their_own(text: str) -> None:
    assert error_of(text).code == "KIP_1002"


@pytest.mark.parametrize(
    "text",
    ["FIND(?d.) " + W, "FIND(? d) " + W, "FIND(?größe) " + W, f"FIND(?d) {W} LIMIT 5x", f"FIND(?d) {W} LIMIT :1x"],
)
def test_other_malformed_pieces_are_plain_syntax_errors(text: str) -> None:
    assert error_of(text).code == "KIP_1001"


def test_the_limits_come_before_the_syntax() -> None:
    assert error_of("{" * 65).code == "KIP_4002"
    assert error_of("nonsense " * 40_000).code == "KIP_4002"
    assert error_of("DESCRIBE PRIMER \0").code == "KIP_1001"


def test_nesting_up_to_the_limit_parses() -> None:
    assert condition("(" * 61 + "?d == 1" + ")" * 61) == compare("d")
    assert data("{ a: " + "[" * 61 + "]" * 61 + " }") is not None
    assert error_of("FIND(?d) WHERE { FILTER(" + "(" * 63 + "?d == 1" + ")" * 63 + ") }").code == "KIP_4002"
    chained = condition("!" * 10_001 + "?d == 1")
    assert chained == Negation(compare("d"))


def test_parse_tokens_knows_the_token_but_not_the_place() -> None:
    with pytest.raises(SyntaxFault) as caught:
        parse_tokens(["FIND", "("])
    assert (caught.value.at, caught.value.position) == (2, None)
    assert caught.value.expected[0] == PATH


# --- what could have come -------------------------------------------------------------------------

WORDS = """
    FIND WHERE ORDER BY LIMIT CURSOR ASC DESC FILTER NOT OPTIONAL UNION COUNT SUM AVG MIN MAX DISTINCT CONTAINS
    STARTS_WITH ENDS_WITH REGEX IN IS_NULL IS_NOT_NULL UPSERT CONCEPT PROPOSITION EXPECT VERSION SET ATTRIBUTES
    PROPOSITIONS METADATA WITH UPDATE ADD MUL COALESCE CLAMP MERGE INTO DELETE FROM DETACH DESCRIBE PRIMER DOMAINS
    TYPES TYPE SEARCH MODE THRESHOLD EXPORT id type name ( ) { } [ ] , : | ! && || == != < > <= >=
""".split()  # noqa: SIM905
SAMPLES = {
    STRING: {'"keyword"'},
    NUMBER: {"1", "0.5"},
    INTEGER: {"1"},
    POSITIVE: {"1"},
    LITERAL: {'"keyword"', "1", "0.5", "true"},
    PLACEHOLDER: {":p"},
    VARIABLE: {"?v"},
    PATH: {"?v", "?d.attributes.w"},
    KEY: {"zzz", '"keyword"', "true"},
}
CANDIDATES = sorted(set().union(*SAMPLES.values()))


def is_reached(tokens: list[str]) -> bool:
    """Whether the parser goes past the last of these tokens."""
    try:
        parse_tokens(tokens)
    except KipError as error:
        return error.at is not None and error.at >= len(tokens)
    return True


def faults_of_corpus() -> list[tuple[str, SyntaxFault]]:
    found = []
    for case in CORPUS:
        try:
            parse_tokens(tokenize(case["text"]))
        except SyntaxFault as fault:
            found.append((case["text"], fault))
        except KipError:
            continue
    return found


@pytest.mark.parametrize(("text", "fault"), faults_of_corpus())
def test_a_message_lists_exactly_what_could_have_come(text: str, fault: SyntaxFault) -> None:
    assert fault.at is not None
    before = tokenize(text)[: fault.at]
    possible = {word for word in WORDS if is_reached([*before, word])}
    samples = {sample for sample in CANDIDATES if is_reached([*before, sample])}
    if KEY in fault.expected:
        possible = {word for word in possible if not word[0].isalpha()}
    try:
        parse_tokens(before)
        possible.add(TEXT_END)
    except KipError:
        pass
    claimed = {phrase.split()[0] if phrase not in KINDS else phrase for phrase in fault.expected}
    claimed_samples = set().union(*(SAMPLES.get(phrase, set()) for phrase in claimed))
    assert {phrase for phrase in claimed if phrase not in SAMPLES} == possible
    if "?d.attributes.w" in samples:  # an operand of UPDATE starts at its target, which ?v is not
        claimed_samples.discard("?v")
        samples.discard("?v")
    assert claimed_samples == samples


# --- anything at all ------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_mutation_of_a_text_parses_or_fails_as_kip_does(source: st.DataObject) -> None:
    case = source.draw(st.sampled_from(CORPUS))
    tokens = [token.lstrip("\0") for token in tokenize(case["text"])]
    pieces = st.one_of(st.sampled_from(WORDS), st.sampled_from(CANDIDATES), st.text(max_size=3))
    for _ in range(source.draw(st.integers(1, 3))):
        at = source.draw(st.integers(0, len(tokens)))
        tokens[at : at + source.draw(st.integers(0, 2))] = source.draw(st.lists(pieces, max_size=2))
    text = source.draw(st.sampled_from(["", " ", "\n"])).join(tokens)
    try:
        parse(text)
    except KipError as caught:
        error = caught
    else:
        return
    assert error.code in ("KIP_1001", "KIP_1002", "KIP_4002")
    assert error.position is not None
    assert error.hint
