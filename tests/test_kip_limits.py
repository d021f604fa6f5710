"""Large, deep and forged input: an answer, KIP_4002 or KIP_1001, and nothing stored that cannot go out again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

import trivium

SCHEMA = 'UPSERT { CONCEPT {{type:"$ConceptType",name:"N"}} CONCEPT {{type:"$PropositionType",name:"r"}} }'
N = '?x {type:"N"} '


@pytest.fixture
def kb() -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(":memory:") as made:
        ask(made, SCHEMA)
        yield made


def ask(nexus: trivium.KnowledgeBase | trivium.Context, command: str, **parameters: Any) -> Any:
    return nexus.execute_kip({"command": command, "parameters": parameters})


def code(response: dict[str, Any]) -> str | None:
    return response["error"]["code"] if "error" in response else None


ANSWERED = {
    "120 OPTIONAL": "FIND(?x) WHERE {" + N + " ".join(f'OPTIONAL{{(?x,"r",?y{i})}}' for i in range(120)) + "}",
    "a chain of 100": "FIND(?x0) WHERE {"
    + " ".join(f'(?x{i},"r",?x{i + 1}) ?x{i + 1} {{type:"N"}}' for i in range(100))
    + "}",
    "5,000 alternatives": "FIND(?x) WHERE {"
    + N
    + "FILTER("
    + " || ".join(f'?x.name=="{i}"' for i in range(5000))
    + ")}",
    "70 paths": "FIND(?x) WHERE {" + N + " ".join(f'(?x,"r"{{1,3}},?y{i})' for i in range(70)) + "}",
    "nested OPTIONAL": "FIND(?x) WHERE {" + N + "".join(f'OPTIONAL {{ (?x,"r",?y{i}) ' for i in range(55)) + "}" * 56,
    "nested UNION": "FIND(?x) WHERE {" + N + 'UNION { ?x {type:"N"} ' * 55 + "}" * 56,
    "nested NOT": "FIND(?x) WHERE {" + N + 'NOT { ?x {type:"N"} ' * 62 + "}" * 63,
    "a long nested NOT": "FIND(?x) WHERE {"
    + N
    + "".join(f'NOT {{ (?x,"r",?y{i}) (?y{i},"r",?z{i}) FILTER(?z{i}.attributes.n > {i}) ' for i in range(61))
    + "}" * 62,
    "nested NOT and FILTER": "FIND(?x) WHERE {"
    + N
    + ('NOT { ?x {type:"N"} FILTER(' + "!(" * 30 + "?x.name == 1" + ")" * 31) * 30
    + "}" * 31,
}


@pytest.mark.parametrize("command", ANSWERED.values(), ids=ANSWERED)
def test_large_patterns_are_answered(kb: trivium.KnowledgeBase, command: str) -> None:
    assert ask(kb, command) == {"result": []}


TOO_LARGE = {
    "2,500 UNION": "FIND(?x) WHERE {" + N + 'UNION {?x {type:"N"}} ' * 2500 + "}",
    "2,001 columns": "FIND(" + ",".join(["?x.name"] * 2001) + ") WHERE {" + N + "}",
    "names of 70 nodes": "FIND("
    + ",".join(f"?y{i}.name" for i in range(70))
    + ") WHERE {"
    + N
    + "".join(f'(?x,"r",?y{i}) ' for i in range(70))
    + "}",
    "64 NOT": "FIND(?x) WHERE {" + N + 'NOT { ?x {type:"N"} ' * 64 + "}" * 65,
}
LIMITS = {
    "2,500 UNION": "500",
    "2,001 columns": "2,000 columns",
    "names of 70 nodes": "64 patterns and elements",
    "64 NOT": "nest deeper than 64",
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_is_too_large_for_one_statement_names_the_limit(kb: trivium.KnowledgeBase, name: str) -> None:
    response = ask(kb, TOO_LARGE[name])
    assert code(response) == "KIP_4002"
    assert LIMITS[name] in response["error"]["message"]


def test_not_means_the_same_at_any_depth(kb: trivium.KnowledgeBase) -> None:
    ask(kb, 'UPSERT {CONCEPT ?a {{type:"N",name:"a"}} CONCEPT {{type:"N",name:"b"} SET PROPOSITIONS {("r",?a)}}}')
    for depth in range(1, 62):
        blocks = "".join(f'NOT {{ (?x,"r",?y{i}) FILTER(?y{i}.name == "a") ' for i in range(depth))
        expected = ["a"] if depth % 2 else ["a", "b"]
        assert ask(kb, "FIND(?x.name) WHERE {" + N + blocks + "}" * (depth + 1)) == {"result": expected}, depth


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


WRITE = 'UPSERT {CONCEPT {{type:"N",name:"x"} SET ATTRIBUTES {text: :t}}}'


def test_what_can_be_stored_can_be_exported_and_imported(kb: trivium.KnowledgeBase) -> None:
    assert code(ask(kb, WRITE, t="word " * 60_000)) == "KIP_4002"
    assert code(ask(kb, WRITE, t=nested(63))) == "KIP_1001"
    assert code(ask(kb, WRITE, t=nested(59))) is None
    capsule = ask(kb, 'EXPORT ?x WHERE {?x {type:"N"}}')["result"]["capsule"]
    with trivium.open(":memory:") as other:
        ask(other, SCHEMA)
        assert code(ask(other, capsule)) is None


def test_deep_links_on_links_go_out_and_come_back(kb: trivium.KnowledgeBase) -> None:
    chain = " ".join(f'PROPOSITION ?l{i} {{(?l{i - 1},"r",?a)}}' for i in range(1, 300))
    ask(kb, 'UPSERT {CONCEPT ?a {{type:"N",name:"a"}} PROPOSITION ?l0 {(?a,"r",?a)} ' + chain + "}")
    page = 'EXPORT ?l WHERE {?l (?x,"r",?y)} LIMIT 50'
    with trivium.open(":memory:") as other:
        ask(other, SCHEMA)
        ask(other, 'UPSERT { CONCEPT {{type:"N",name:"a"}} }')
        response = ask(kb, page)
        while True:
            assert code(ask(other, response["result"]["capsule"])) is None
            if "next_cursor" not in response:
                break
            response = ask(kb, page + " CURSOR :c", c=response["next_cursor"])
        assert ask(other, 'FIND(COUNT(?l)) WHERE {?l (?x,"r",?y)}') == {"result": 300}


PAGED = (
    'FIND(?x.name) WHERE {?x {type:"Domain"}} ORDER BY ?x.name LIMIT 2',
    'EXPORT ?x WHERE {?x {type:"Domain"}} LIMIT 2',
    "DESCRIBE CONCEPT TYPES LIMIT 2",
)


@pytest.mark.parametrize("command", PAGED)
def test_a_forged_cursor_and_one_of_another_context_are_refused(kb: trivium.KnowledgeBase, command: str) -> None:
    token = ask(kb, command)["next_cursor"]
    assert code(ask(kb, command + " CURSOR :c", c=token)) is None
    assert code(ask(kb.create_context("two"), command + " CURSOR :c", c=token)) == "KIP_1001"
    digest, order, keys = json.loads(base64.urlsafe_b64decode(token + "==="))
    for bad in ({}, [], 10**30, None, "x", True):
        forged = base64.urlsafe_b64encode(json.dumps([digest, order, [bad] * len(keys)]).encode()).decode()
        assert code(ask(kb, command + " CURSOR :c", c=forged)) == "KIP_1001"
    deep = base64.urlsafe_b64encode(b"[" * 5000).decode()
    assert code(ask(kb, command + " CURSOR :c", c=deep)) == "KIP_1001"


def test_a_parameter_that_contains_itself_is_refused(kb: trivium.KnowledgeBase) -> None:
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    for command in (f"FIND(?x) WHERE {{{N}}} LIMIT :v", "FIND(?x) WHERE {?x {id: :v}}", WRITE.replace(":t", ":v")):
        assert code(ask(kb, command, v=loop)) == "KIP_1001"


def test_a_link_id_with_the_predicate_of_another_is_not_found(kb: trivium.KnowledgeBase) -> None:
    [link] = ask(kb, 'FIND(?l.id) WHERE { ?l ({type:"Domain",name:"System"}, "belongs_to_domain", ?d) }')["result"]
    wrong = link.replace("belongs_to_domain", "prefers")
    assert code(ask(kb, "FIND(?l) WHERE { ?l (id: :i) }", i=wrong)) == "KIP_3002"
    assert code(ask(kb, "FIND(?l) WHERE { ?l (id: :i) }", i=link)) is None
