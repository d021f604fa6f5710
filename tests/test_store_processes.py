"""Two processes on one file: what one of them registers or removes, the next command of the other knows."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium

Ask = Callable[..., dict[str, Any]]

TYPE = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Comet"} } }'
COMET = 'UPSERT { CONCEPT { {type: "Comet", name: :name} } }'
COMETS = 'FIND(?c.name) WHERE { ?c {type: "Comet"} }'
UNTYPE = 'DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Comet"} }'

NEIGHBOUR = """
import json, sys, trivium
with trivium.open(sys.argv[1]) as kb:
    for line in sys.stdin:
        print(json.dumps(kb.execute_kip(json.loads(line))), flush=True)
"""


@contextlib.contextmanager
def neighbour(path: Path) -> Iterator[Ask]:
    """Another process that keeps the file open and executes what it is asked to."""
    with subprocess.Popen(
        [sys.executable, "-c", NEIGHBOUR, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sink, source = process.stdin, process.stdout

        def ask(command: str, **parameters: Any) -> dict[str, Any]:
            sink.write(json.dumps({"command": command, "parameters": parameters}) + "\n")
            sink.flush()
            answer: dict[str, Any] = json.loads(source.readline())
            return answer

        yield ask
        sink.close()
    assert process.returncode == 0


def asking(kb: trivium.KnowledgeBase) -> Ask:
    return lambda command, **parameters: kb.execute_kip({"command": command, "parameters": parameters})


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Ask, Ask]]:
    """This process and another one; both have read and written before."""
    path = tmp_path / "memory.db"
    with trivium.open(path) as kb, neighbour(path) as other:
        here = asking(kb)
        for ask in (here, other, here, other):
            assert "result" in ask('UPSERT { CONCEPT { {type: "Domain", name: "Sky"} SET ATTRIBUTES {n: 1} } }')
            assert "result" in ask('FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }')
        yield here, other


def code(response: dict[str, Any]) -> str | None:
    return response["error"]["code"] if "error" in response else None


def test_a_type_that_another_process_registers_can_be_written_at_once(pair: tuple[Ask, Ask]) -> None:
    here, other = pair
    assert code(here(COMET, name="Halley")) == "KIP_2001"
    assert code(other(TYPE)) is None
    assert code(here(COMET, name="Halley")) is None
    assert code(other(UNTYPE)) is None
    assert code(here(COMET, name="Encke")) == "KIP_2001"
    assert code(here(TYPE)) is None
    assert code(other(COMET, name="Encke")) is None


def test_a_type_that_another_process_registers_can_be_asked_for_at_once(pair: tuple[Ask, Ask]) -> None:
    here, other = pair
    assert code(here(COMETS)) == "KIP_2001"
    assert code(other(TYPE)) is None
    assert here(COMETS) == {"result": []}
    assert code(other(COMET, name="Halley")) is None
    assert here(COMETS) == {"result": ["Halley"]}
    assert code(other(UNTYPE)) is None
    assert code(here(COMETS)) == "KIP_2001"
    assert code(here('SEARCH CONCEPT "Halley" WITH TYPE "Comet"')) == "KIP_2001"
    assert code(other(TYPE)) is None
    assert code(here('SEARCH CONCEPT "Halley" WITH TYPE "Comet"')) is None


def test_a_predicate_that_another_process_uses_on_links_is_planned_anew(pair: tuple[Ask, Ask]) -> None:
    here, other = pair
    ends = 'FIND(?a) WHERE { (?a, "next_to", ?b) }'
    sky, system = '{type: "Domain", name: "Sky"}', '{type: "Domain", name: "System"}'
    assert code(here('UPSERT { CONCEPT { {type: "$PropositionType", name: "next_to"} } }')) is None
    assert code(here(f'UPSERT {{ PROPOSITION {{ ({sky}, "next_to", {system}) }} }}')) is None
    assert [found["_type"] for found in here(ends)["result"]] == ["ConceptNode"]
    assert code(other(f'UPSERT {{ PROPOSITION {{ (({sky}, "next_to", {system}), "next_to", {sky}) }} }}')) is None
    assert sorted(found["_type"] for found in here(ends)["result"]) == ["ConceptNode", "PropositionLink"]


def test_a_write_that_is_undone_hides_nothing_of_what_another_process_wrote(pair: tuple[Ask, Ask]) -> None:
    here, other = pair
    assert code(other(TYPE)) is None
    assert code(here('UPSERT { CONCEPT { {type: "Nowhere", name: "x"} } }')) == "KIP_2001"
    assert code(here(COMET, name="Halley")) is None


def test_a_registration_that_is_undone_leaves_no_trace(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "memory.db") as kb:
        ask = asking(kb)
        failing = (
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Comet"} } CONCEPT { {type: "Nowhere", name: "x"} } }'
        )
        for _ in range(2):
            assert code(ask(failing)) == "KIP_2001"
            assert code(ask(COMET, name="Halley")) == "KIP_2001"
            assert "result" in kb.execute_kip({"command": TYPE, "dry_run": True})
            assert code(ask(COMET, name="Halley")) == "KIP_2001"
            assert code(ask(COMETS)) == "KIP_2001"
        assert code(ask(TYPE)) is None
        assert code(ask(COMET, name="Halley")) is None
        assert ask(COMETS) == {"result": ["Halley"]}


@pytest.mark.parametrize("place", ["here", "elsewhere"])
@pytest.mark.parametrize("read_first", [False, True])
def test_a_context_that_is_gone_takes_no_more_commands(tmp_path: Path, place: str, read_first: bool) -> None:
    path = tmp_path / "memory.db"
    with trivium.open(path) as kb, trivium.open(path) as other:
        context = kb.create_context("sky")
        write, read = {"command": TYPE}, {"command": 'FIND(?d) WHERE { ?d {type: "Domain"} }'}
        for command in (write, write, read):
            assert code(context.execute_kip(command)) is None
        with (kb if place == "here" else other)._store.write() as session:
            session.execute("DELETE FROM context WHERE slug = 'sky'")
        commands = [read, write] if read_first else [write, read]
        for command in (*commands, {"command": "DESCRIBE PRIMER"}):
            error = context.execute_kip(command)["error"]
            assert (error["code"], "deleted" in error["message"]) == ("KIP_4003", True), (command, error)


def test_writes_beside_no_other_process_do_not_read_the_schema(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "memory.db") as kb:
        ask = asking(kb)
        assert code(ask(TYPE)) is None
        assert code(ask(COMET, name="first")) is None
        session = kb._store._writer
        seen: list[str] = []
        execute = session.execute

        def noted(sql: str, *bindings: Any) -> Any:
            seen.append(sql)
            return execute(sql, *bindings)

        session.execute = noted
        for number in range(5):
            assert code(ask(COMET, name=f"c{number}")) is None
            assert code(ask('UPSERT { CONCEPT { {type: "Nowhere", name: "x"} } }')) == "KIP_2001"
        assert not [sql for sql in seen if "schema_epoch" in sql]
        with trivium.open(tmp_path / "memory.db") as other:
            assert code(asking(other)(COMET, name="other")) is None
        assert code(ask(COMET, name="last")) is None
        assert [sql for sql in seen if "schema_epoch" in sql]
