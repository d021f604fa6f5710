"""Rules of writing beyond the conformance suite: strict schemas, protected types, positions, bounded messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import trivium
from trivium import KnowledgeBase
from trivium.kip import delete, merge, update
from trivium.settings import Settings

RULES = {"strict_schema": True, "protect_used_types": True}
SCHEMA = {
    "label": {"type": "string", "is_required": True},
    "size": {"type": "number"},
    "grade": {"type": "string", "enum": ["a", "b"]},
    "flag": {"type": "number", "enum": [1, 2]},
}


@pytest.fixture
def kb() -> Iterator[KnowledgeBase]:
    with trivium.open(":memory:") as opened:
        yield opened


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    def with_rules(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, dry_run: function(*args[:4], Settings(**RULES), dry_run=dry_run)

    for module, name in ((update, "update"), (delete, "delete_keys"), (merge, "merge")):
        monkeypatch.setattr(module, name, with_rules(getattr(module, name)))
    with trivium.open(":memory:", **RULES) as opened:
        ask(
            opened,
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Part"} SET ATTRIBUTES :a } }',
            a={"description": "d", "instance_schema": SCHEMA},
        )
        for name in ("one", "two"):
            ask(
                opened, 'UPSERT { CONCEPT { {type: "Part", name: :n} SET ATTRIBUTES { label: "l", size: 1 } } }', n=name
            )
        yield opened


def ask(kb: KnowledgeBase, command: str, **parameters: object) -> Any:
    response = kb.execute_kip({"command": command, "parameters": parameters})
    return response.get("error", response.get("result"))


PARTS = 'WHERE { ?x {type: "Part"} }'


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f'UPDATE ?x SET ATTRIBUTES {{ size: "big" }} {PARTS}', "KIP_2003"),
        (f"UPDATE ?x SET ATTRIBUTES {{ label: null }} {PARTS}", "KIP_2002"),
        (f'UPDATE ?x SET ATTRIBUTES {{ grade: "c" }} {PARTS}', "KIP_2002"),
        (f"UPDATE ?x SET ATTRIBUTES {{ flag: true }} {PARTS}", "KIP_2003"),
        (f"UPDATE ?x SET ATTRIBUTES {{ label: ADD(1, 2) }} {PARTS}", "KIP_2003"),
        (f'UPDATE ?x SET ATTRIBUTES {{ size: 2, grade: "c" }} {PARTS}', "KIP_2002"),
        (f'DELETE ATTRIBUTES {{"label"}} FROM ?x {PARTS}', "KIP_2002"),
        (f'DELETE ATTRIBUTES {{"size", "label"}} FROM ?x {PARTS}', "KIP_2002"),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_strict_schema_holds_for_every_write(strict: KnowledgeBase, command: str, code: str, dry_run: bool) -> None:
    before = ask(strict, f"FIND(?x) {PARTS}")
    response = strict.execute_kip({"command": command, "dry_run": dry_run})
    assert response["error"]["code"] == code
    assert ask(strict, f"FIND(?x) {PARTS}") == before


def test_strict_schema_is_all_or_nothing(strict: KnowledgeBase) -> None:
    ask(strict, 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Loose"} SET ATTRIBUTES { description: "d" } } }')
    ask(strict, 'UPSERT { CONCEPT { {type: "Loose", name: "first"} SET ATTRIBUTES { size: 1 } } }')
    command = 'UPDATE ?x SET ATTRIBUTES { size: "big" } WHERE { ?x {type: "Loose"} UNION { ?x {type: "Part"} } }'
    assert ask(strict, command)["code"] == "KIP_2003"
    assert ask(strict, 'FIND(?x.attributes.size) WHERE { ?x {type: "Loose"} }') == [1]


def test_strict_schema_lets_fitting_writes_through(strict: KnowledgeBase) -> None:
    assert ask(strict, f'UPDATE ?x SET ATTRIBUTES {{ size: ADD(?x.attributes.size, 1), grade: "a" }} {PARTS}') == {
        "updated": 2,
        "matched": 2,
    }
    assert ask(strict, f'DELETE ATTRIBUTES {{"size"}} FROM ?x {PARTS}')["updated_concepts"] == 2
    assert ask(strict, f'UPDATE ?x SET METADATA {{ source: "s" }} {PARTS}')["updated"] == 2


def test_a_type_in_use_is_not_merged_away(strict: KnowledgeBase) -> None:
    ask(strict, 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Piece"} SET ATTRIBUTES { description: "d" } } }')
    command = (
        'MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: "$ConceptType", name: :s} ?t {type: "$ConceptType", name: :t} }'
    )
    error = ask(strict, command, s="Part", t="Piece")
    assert (error["code"], "2 nodes" in error["message"]) == ("KIP_2002", True)
    assert (
        ask(strict, 'DELETE CONCEPT ?s DETACH WHERE { ?s {type: "$ConceptType", name: "Part"} }')["code"] == "KIP_2002"
    )
    assert ask(strict, command, s="Piece", t="Part")["merged"] is True


def test_reserved_keys_are_pointed_at(kb: KnowledgeBase) -> None:
    where = 'WHERE { ?x {type: "Person"} }'
    for command, column in [
        (f"UPDATE ?x SET METADATA {{ a: 1, _version: 3 }} {where}", 32),
        (f'UPDATE ?x SET METADATA {{ "_x" : ADD(1, 2) }} {where}', 26),
        (f"UPDATE ?x SET METADATA {{ a: {{b: 1}}, _x: [1] }} {where}", 37),
        (f"UPDATE ?x SET METADATA :m {where}", 24),
        (f'DELETE METADATA {{"a", "_version"}} FROM ?x {where}', 23),
    ]:
        error = ask(kb, command, m={"_x": 1})
        assert (error["code"], error["position"]["column"]) == ("KIP_2002", column), command


LONG = "T" * 100_000


@pytest.mark.parametrize(
    "command",
    [
        "FIND(?x) WHERE { ?x {type: :t} }",
        'FIND(?x) WHERE { ?x {type: "Person"} (?x, :t, ?y) }',
        'SEARCH CONCEPT "a" WITH TYPE :t',
        'SEARCH PROPOSITION "a" WITH TYPE :t',
        'SEARCH CONCEPT "a" MODE :t',
        "DESCRIBE CONCEPT TYPE :t",
        "DESCRIBE PROPOSITION TYPE :t",
        'UPSERT { CONCEPT { {type: :t, name: "x"} } }',
        'UPSERT { CONCEPT { {type: "Event", name: :t} EXPECT VERSION 3 } }',
        "UPSERT { CONCEPT { {id: :t} } }",
        "UPSERT { PROPOSITION { (id: :t) } }",
        'UPSERT { CONCEPT { {type: "$ConceptType", name: :bad} } }',
        'UPSERT { CONCEPT { {type: "Event", name: "e"} } WITH METADATA :m }',
        'UPSERT { CONCEPT { {type: "Event", name: "e"} SET PROPOSITIONS { (:t, {type: "Event", name: "e"}) } } }',
        'UPSERT { CONCEPT { {type: "Event", name: "e"} SET PROPOSITIONS { ("involves", {id: :t}) } } }',
        'UPSERT { PROPOSITION { ({type: "Event", name: :t}, "involves", {type: "Event", name: "e"}) } }',
        f'UPSERT {{ PROPOSITION {{ (?{LONG}, "involves", ?b) }} }}',
        f'UPSERT {{ CONCEPT {{ {{type: "Event", name: :{LONG}}} }} }}',
        f'UPSERT {{ CONCEPT {{ {{type: "Event", name: {LONG}}} }} }}',
        f'UPSERT {{ CONCEPT {{ {{type: "Event" name: "{LONG}"}} }} }}',
        f"FIND(?x) WHERE {{ ?x {{type: {LONG}}} }}",
        f"{LONG}",
        'UPDATE ?x SET METADATA :m WHERE { ?x {type: "Person"} }',
        'DELETE METADATA { :reserved } FROM ?x WHERE { ?x {type: "Person"} }',
    ],
)
def test_messages_stay_short_whatever_they_quote(kb: KnowledgeBase, command: str) -> None:
    error = ask(kb, command, t=LONG, bad=LONG + "-", m={"_" + LONG: 1}, reserved="_" + LONG)
    assert error["code"].startswith("KIP_")
    assert len(error["message"]) < 500
    assert len(error["hint"]) < 500


def test_messages_hold_no_line_breaks(kb: KnowledgeBase) -> None:
    error = ask(kb, "FIND(?x) WHERE { ?x {type: :t} }", t="a\nb\u200b")
    assert '"a\\nb\\u200b"' in error["message"]


@pytest.mark.parametrize("name", ["[1", "NaN", "null", "1st", "a b", "", "$Other", "Größe"])
def test_nonsense_is_not_offered_for_registration(kb: KnowledgeBase, name: str) -> None:
    for command in ("FIND(?x) WHERE { ?x {type: :t} }", "FIND(?x) WHERE { (?x, :t, ?y) }"):
        error = ask(kb, command, t=name)
        assert error["code"] == "KIP_2001"
        assert "UPSERT" not in error["hint"]


def test_a_well_formed_name_is_offered_for_registration(kb: KnowledgeBase) -> None:
    hint = ask(kb, 'FIND(?x) WHERE { ?x {type: "Zeppelin"} }')["hint"]
    assert '{type: "$ConceptType", name: "Zeppelin"}' in hint
    hint = ask(kb, 'FIND(?x) WHERE { (?x, "flies_over", ?y) }')["hint"]
    assert '{type: "$PropositionType", name: "flies_over"}' in hint


def test_a_replayed_merge_says_where_the_source_is(kb: KnowledgeBase) -> None:
    command = 'MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: "Event", name: "%s"} ?t {type: "Event", name: "%s"} }'
    for name in "abc":
        ask(kb, 'UPSERT { CONCEPT { {type: "Event", name: :n} } }', n=name)
    assert ask(kb, command % ("a", "b"))["merged"] is True
    assert "nothing is left to do" in ask(kb, command % ("a", "b"))["hint"]
    assert ask(kb, command % ("b", "c"))["merged"] is True
    for pair in (("a", "b"), ("b", "a")):
        assert "is now part of Event:c" in ask(kb, command % pair)["hint"]
    assert "already merged" not in ask(kb, command % ("z", "c"))["hint"]


MEMBER = '({type: "Domain", name: "System"}, "belongs_to_domain", {type: "Domain", name: "CoreSchema"})'
WAYS = {
    "by its ends": f"?l {MEMBER}",
    "by parameter": "?l (?s, :member, ?o)",
    "as an end": '(?l, "about", ?o)',
    "in UNION": '(?x, "about", ?o) UNION { (?l, :about, ?x) }',
    "among all": "?l (?s, ?p, ?o)",
}


@pytest.mark.parametrize("where", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("dry_run", [False, True])
def test_memberships_of_genesis_stay_however_they_are_selected(kb: KnowledgeBase, where: str, dry_run: bool) -> None:
    ask(
        kb,
        'UPSERT { CONCEPT { {type: "$PropositionType", name: "about"} } CONCEPT { {type: "Person", name: "Ada"} }'
        f' PROPOSITION {{ ({MEMBER}, "about", {{type: "Person", name: "Ada"}}) }} }}',
    )
    command = f"DELETE PROPOSITIONS ?l WHERE {{ {where} }}"
    given = {"member": "belongs_to_domain", "about": "about"}
    response = kb.execute_kip({"command": command, "parameters": given, "dry_run": dry_run})
    assert response["error"]["code"] == "KIP_3004"
    assert ask(kb, f"FIND(?l.predicate) WHERE {{ ?l {MEMBER} }}") == ["belongs_to_domain"]


def test_other_links_are_deleted_by_parameters(kb: KnowledgeBase) -> None:
    link = '({type: "Person", name: "Ada"}, "about", {type: "Person", name: "Ada"})'
    ask(
        kb,
        'UPSERT { CONCEPT { {type: "$PropositionType", name: "about"} } CONCEPT { {type: "Person", name: "Ada"} }'
        f" PROPOSITION {{ {link} }} }}",
    )
    command = "DELETE PROPOSITIONS ?l WHERE { ?l ({type: :type, name: :name}, :p, ?o) }"
    given = {"type": "Person", "name": "Ada", "p": "about"}
    for deleted in (1, 0):
        response = kb.execute_kip({"command": command, "parameters": given})
        assert response == {"result": {"deleted_propositions": deleted}}
