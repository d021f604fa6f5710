"""`trivium demo`: the tour works everywhere, leaves nothing behind, and shows what it says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli_support import run

pytestmark = pytest.mark.usefixtures("own_home")


def test_the_demo_tells_its_story_without_a_terminal(own_home: Path) -> None:
    outcome = run("demo")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    for scene in ("Ask", "Search", "Remember", "Unite twins", "Disputes", "Two writers", "Mistakes", "Answers", "Why"):
        assert f"== {scene} =" in outcome.out
    assert re.findall(r"KIP_\d{4}", outcome.out) == ["KIP_3005", "KIP_2001", "KIP_1001"]
    assert "Traceback" not in outcome.out
    assert not list(own_home.rglob("*.db"))


def test_the_demo_keeps_its_database_when_asked(own_home: Path) -> None:
    assert run("demo", "--keep", "tour.db").code == 0
    answer = run("--db", "tour.db", "kip", 'FIND(?k.metadata._version) WHERE { ?k {name: "Kettle"} }').json()
    assert answer == {"result": [1]}
    again = run("demo", "--keep", "tour.db")
    assert again.code == 1
    assert "exists already" in again.err


def test_the_demo_as_data_holds_every_answer() -> None:
    steps = run("demo", "--json").json()
    answers = [step for step in steps if "request" in step]
    results = {step["request"]["command"].split("\n")[0]: step["response"] for step in answers}
    assert all(("result" in response) != ("error" in response) for response in results.values())
    first_searches = [step["response"]["result"] for step in answers if step["request"]["command"].startswith("SEARCH")]
    assert [hits[0]["name"] for hits in first_searches] == ["Rust", "ProgrammingLanguages", "Rust", "Go"]
    upserts = [step["response"] for step in answers if "Kettle" in step["request"]["command"]]
    assert upserts[0] == upserts[1]


def test_the_demo_answers_from_documents_and_from_the_graph() -> None:
    turns = [step["document"] for step in run("demo", "--json").json() if "document" in step]
    grounds = [[citation["grounding"] for citation in turn["citations"]] for turn in turns]
    assert grounds[0] == ["Invoices are payable within 30 days from receipt."]
    assert grounds[1] == [
        "The billing service is written in Rust and has run since March 2024.",
        "Graydon Hoare designed Rust.",
    ]
    assert turns[2]["output_json"] == {"payment_days": 30, "discount_percent": 2}
    assert [warning["code"] for warning in turns[3]["warnings"]] == ["no_evidence"]
    assert {turn["status"] for turn in turns} == {"completed"}


def test_the_repository_of_the_demo_answers_with_decisions_and_history(own_home: Path) -> None:
    steps = run("demo", "--json").json()
    answers = {step["why"]: step["answer"] for step in steps if "why" in step}
    kinds = [entity["kind"] for entity in answers["src/harbour/queue.py"]["entities"]]
    assert kinds == ["change"] * 4 + ["concept"] + ["decision"] * 2
    assert [entity["name"] for entity in answers["Draught"]["entities"]] == ["Draught"]
    assert steps[-1]["response"]["result"] == [
        ["The deepest ship that fits goes first", "Tide tables are kept in the program"],
        ["src/harbour/queue.py", "src/harbour/tides.py"],
        ["Ships are served in order of arrival", None],
    ]
    assert list(own_home.glob("*demo*")) == []


def test_the_demo_works_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.doors.demo_why.shutil.which", lambda name: None)
    outcome = run("demo")
    assert outcome.code == 0
    assert "there is no git here" in " ".join(outcome.out.split())
    assert "git:first-parent: not-analyzed" in outcome.out


def test_the_questions_of_the_demo_can_be_pasted(own_home: Path) -> None:
    (line,) = (line for line in run("demo").out.splitlines() if line.startswith("$ trivium ask") and "--shape" in line)
    words = shlex.split(line.removeprefix("$ "))
    assert words[:2] == ["trivium", "ask"]
    assert "payment_days" in json.loads(words[-1])["properties"]
