"""Faults found without running a command."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest

from trivium.kip import check as check_module
from trivium.kip.check import Finding, check

CORPUS = json.loads((Path(__file__).parent / "data/kip_corpus.json").read_text(encoding="utf-8"))
CASES = [
    # text, findings as severity, code, line:column
    ('FIND(?d.name) WHERE { ?d {type: "Drug"} }', []),
    ("FIND(?d", ["error KIP_1001 1:8"]),
    ("FIND(?1)", ["error KIP_1002 1:6"]),
    ("{" * 70, ["error KIP_4002 1:65"]),
    ("x" * 300_000, ["error KIP_4002 1:1"]),
    # reserved metadata keys
    ('UPSERT { CONCEPT { {id: "C:1"} } WITH METADATA { a: {_b: 1}, _c: 2 } }', ["error KIP_2002 1:62"]),
    (
        'UPSERT { CONCEPT { {id: "C:1"} } } WITH METADATA { "_c": 2, "\\u005fd": 3 }',
        ["error KIP_2002 1:52", "error KIP_2002 1:61"],
    ),
    (
        'UPSERT { CONCEPT { {id: "C:1"} SET PROPOSITIONS { ("p", {id: "C:2"}) WITH METADATA { _a: :x } } } }',
        ["error KIP_2002 1:86"],
    ),
    ('UPSERT { CONCEPT { {id: "C:1"} SET ATTRIBUTES { _fine: 1 } } WITH METADATA :m }', []),
    ('UPDATE ?d SET METADATA { a: ADD(1, 2), _b: 1 } WHERE { ?d {id: "C:1"} }', ["error KIP_2002 1:40"]),
    ('UPDATE ?d SET ATTRIBUTES { _b: 1 } SET METADATA :m WHERE { ?d {id: "C:1"} }', []),
    ('DELETE METADATA {"a", "_b", :k} FROM ?d WHERE { ?d {id: "C:1"} }', ["error KIP_2002 1:23"]),
    ('DELETE ATTRIBUTES {"_b"} FROM ?d WHERE { ?d {id: "C:1"} }', []),
    # naming conventions
    ('FIND(?d) WHERE { ?d {type: "drug_family"} }', ["warning KIP_2001 1:28"]),
    ('FIND(?d) WHERE { ?d {type: "$ConceptType", name: "drug"} }', ["warning KIP_2001 1:50"]),
    ('FIND(?d) WHERE { ?d {type: "$PropositionType", name: "hasEffect"} }', ["warning KIP_2001 1:54"]),
    ('FIND(?d) WHERE { ?d {type: "$PropositionType", name: "has_effect"} }', []),
    ('FIND(?d) WHERE { ?d {type: "$ConceptType", name: "$ConceptType"} }', []),
    ('FIND(?d) WHERE { ?d {type: "$Other"} }', ["warning KIP_2001 1:28"]),
    (
        'FIND(?d) WHERE { ?d {type: "Drug", name: "any name"} (?d, "Eases" | :p, {type: :t}) }',
        ["warning KIP_2001 1:59"],
    ),
    ('FIND(?d) WHERE { (?d, "partOf"{1,3}, {name: "x"}) }', ["warning KIP_2001 1:23"]),
    (
        'UPSERT { CONCEPT { {id: "C:1"} SET PROPOSITIONS { ("Has", {type: "a b", name: "n"}) } } }',
        ["warning KIP_2001 1:52", "warning KIP_2001 1:66"],
    ),
    ('DESCRIBE CONCEPT TYPE "drug"', ["warning KIP_2001 1:23"]),
    ('DESCRIBE PROPOSITION TYPE "Treats"', ["warning KIP_2001 1:27"]),
    ('SEARCH CONCEPT "x" WITH TYPE "drug"', ["warning KIP_2001 1:30"]),
    ('SEARCH PROPOSITION "x" WITH TYPE "treats"', []),
    # variables
    (
        'FIND(?x, COUNT(?y)) WHERE { ?d {id: "C:1"} } ORDER BY ?z.name',
        ["error KIP_3001 1:6", "error KIP_3001 1:16", "error KIP_3001 1:55"],
    ),
    ('FIND(?d) WHERE { ?d {id: "C:1"} } ORDER BY COUNT(?d)', ["error KIP_3001 1:44"]),
    ('FIND(?d, COUNT(?d)) WHERE { ?d {id: "C:1"} } ORDER BY COUNT(?d)', []),
    ('FIND(?d) WHERE { ?d {id: "C:1"} FILTER(?x.a == ?d.b) }', ["error KIP_3001 1:40"]),
    ('FIND(?d) WHERE { FILTER(?d.a == 1) ?d {id: "C:1"} }', ["error KIP_3001 1:25"]),
    (
        'FIND(?d) WHERE { ?d {id: "C:1"} NOT { (?d, "p", ?x) FILTER(?d.a == ?x.a) } FILTER(?x.a == 1) }',
        ["error KIP_3001 1:83"],
    ),
    ('FIND(?x) WHERE { ?d {id: "C:1"} OPTIONAL { (?d, "p", ?x) FILTER(?d.a == 1) } FILTER(?x.a == 1) }', []),
    (
        'FIND(?x) WHERE { ?d {id: "C:1"} UNION { ?x {id: "C:1"} FILTER(?d.a == 1) } FILTER(?x.a == ?d.a) }',
        ["error KIP_3001 1:63"],
    ),
    ('FIND(?l, ?p, ?b, ?c) WHERE { ?l ({id: "C:1"}, ?p, (?b, "q", ?c)) }', []),
    ('FIND(?x) WHERE { NOT { ?x {id: "C:1"} } }', ["error KIP_3001 1:6"]),
    ('UPDATE ?x SET ATTRIBUTES { a: 1 } WHERE { ?d {id: "C:1"} }', ["error KIP_3001 1:8"]),
    ('MERGE CONCEPT ?a INTO ?b WHERE { ?a {id: "C:1"} }', ["error KIP_3001 1:23"]),
    ('MERGE CONCEPT ?b INTO ?a WHERE { ?a {id: "C:1"} }', ["error KIP_3001 1:15"]),
    ('DELETE PROPOSITIONS ?x WHERE { ?d {id: "C:1"} }', ["error KIP_3001 1:21"]),
    ('EXPORT ?x WHERE { ?d {id: "C:1"} }', ["error KIP_3001 1:8"]),
    # handles
    ('UPSERT { CONCEPT ?a { {id: "C:1"} } PROPOSITION { (?a, "p", (?a, "q", {id: "C:2"})) } }', []),
    ('UPSERT { PROPOSITION { (?a, "p", {id: "C:2"}) } CONCEPT ?a { {id: "C:1"} } }', ["error KIP_3001 1:25"]),
    ('UPSERT { CONCEPT ?a { {id: "C:1"} SET PROPOSITIONS { ("p", ?a) } } }', ["error KIP_3001 1:60"]),
    (
        'UPSERT { CONCEPT ?a { {id: "C:1"} } }\nUPSERT { PROPOSITION { (?a, "p", ?b) } }',
        ["error KIP_3001 2:25", "error KIP_3001 2:34"],
    ),
    # exploration without bounds
    ("FIND(?s) WHERE { ?l (?s, ?p, ?o) }", ["warning KIP_4002 1:18"]),
    ("FIND(?s) WHERE { ?l (?s, ?p, ?o) } LIMIT 5", []),
    ('FIND(?s) WHERE { (?s, ?p, ?o) ?o {type: "Drug"} }', []),
    ('FIND(?s) WHERE { ?o {type: "Drug"} OPTIONAL { (?s, ?p, ?o) } NOT { (?x, ?p, ?y) } }', ["warning KIP_4002 1:68"]),
    ('FIND(?s) WHERE { ?o {type: "Drug"} UNION { (?s, ?p, ?o) } }', ["warning KIP_4002 1:44"]),
    ('FIND(?s) WHERE { (?s, ?p, {id: "C:1"}) }', []),
    ('FIND(?s) WHERE { (?s, "p", ?o) }', []),
    ("DELETE PROPOSITIONS ?l WHERE { ?l (?s, ?p, ?o) }", ["warning KIP_4002 1:32"]),
]


def test_doctests() -> None:
    assert doctest.testmod(check_module).failed == 0


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:60] for text, _ in CASES])
def test_findings(text: str, expected: list[str]) -> None:
    assert [f"{f.severity} {f.code} {f.line}:{f.column}" for f in check(text)] == expected


def test_findings_say_what_is_wrong_and_what_to_do() -> None:
    assert check('FIND(?drgu) WHERE {\n  ?drug {type: "drugFamily"}\n}') == [
        Finding("error", "KIP_3001", "The variable ?drgu is not bound here.", "Did you mean ?drug?", 1, 6),
        Finding(
            "warning",
            "KIP_2001",
            'The concept type "drugFamily" is not in UpperCamelCase.',
            'Did you mean "DrugFamily"?',
            2,
            16,
        ),
    ]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            'UPSERT { PROPOSITION { (?b, "p", {id: "C:2"}) } CONCEPT ?b { {id: "C:1"} } }',
            "Move the block of ?b before this one.",
        ),
        (
            'UPSERT { CONCEPT ?x { {id: "C:1"} } } UPSERT { PROPOSITION { (?x, "p", {id: "C:2"}) } }',
            "join the statements",
        ),
        ('UPSERT { CONCEPT ?a { {id: "C:1"} SET PROPOSITIONS { ("p", ?a) } } }', "PROPOSITION block behind it"),
        ('UPSERT { CONCEPT ?cough { {id: "C:1"} } PROPOSITION { (?couhg, "p", ?cough) } }', "Did you mean ?cough?"),
        ('DESCRIBE PROPOSITION TYPE "hasSideEffect"', 'Did you mean "has_side_effect"?'),
        ("FIND(?s) WHERE { (?s, ?p, ?o) }", "or add LIMIT."),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert hint in str(check(text)[0].hint)


def test_any_text_can_be_checked() -> None:
    for case in CORPUS:
        findings = check(case["text"])
        refused = [finding.code for finding in findings if finding.code in ("KIP_1001", "KIP_1002")]
        assert case["accepted"] != bool(refused) or case.get("code") == "KIP_4002"
        assert all(finding.hint and finding.message for finding in findings)


def test_many_findings_take_no_longer_than_their_number() -> None:
    items = ", ".join(f"?a{number}" for number in range(20_000))
    assert len(check(f'FIND({items}) WHERE {{ ?d {{id: "C:1"}} }}')) == 20_000
