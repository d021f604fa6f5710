"""`trivium demo`: the tour works everywhere, leaves nothing behind, and shows what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli_support import run

pytestmark = pytest.mark.usefixtures("own_home")


def test_the_demo_tells_its_story_without_a_terminal(own_home: Path) -> None:
    outcome = run("demo")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    for scene in ("Ask", "Search", "Remember", "Unite twins", "Disputes", "Two writers", "Mistakes"):
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
