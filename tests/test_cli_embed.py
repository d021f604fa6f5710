"""`trivium embed`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_support import run

UPSERT = """UPSERT { CONCEPT ?n { {type: "Event", name: "Boat trip"}
    SET ATTRIBUTES { description: "We sailed to an island." } } }"""


@pytest.fixture
def database(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "builtin")
    assert run("kip", UPSERT).code == 0
    return own_home / "test.db"


def test_it_makes_what_is_missing_and_then_nothing(database: Path) -> None:
    missing = run("embed", "--dry-run", "--json").json()
    assert missing["embedded"] == 0
    assert missing["backlog"] > 0
    first = run("embed", "--limit", "5", "--json").json()
    assert (first["embedded"], first["backlog"]) == (5, missing["backlog"] - 5)
    assert run("embed").out == f"builtin/use-multilingual-3: {first['backlog']} vectors made, 0 missing.\n"
    assert run("embed", "--json").json()["embedded"] == 0


def test_commands_that_end_at_once_search_with_the_vectors_that_are_there(database: Path) -> None:
    search = ("kip", "--json", 'SEARCH CONCEPT "journey over the sea" LIMIT 1')
    assert run(*search).json()["result"][0]["name"] != "Boat trip"
    assert run("embed", "--dry-run", "--json").json()["embedded"] == 0
    assert run("embed").code == 0
    assert run(*search).json()["result"][0]["name"] == "Boat trip"


def test_without_an_embedder_it_says_what_to_do(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
    outcome = run("embed")
    assert outcome.code == 1
    assert "TRIVIUM_EMBEDDER is none" in outcome.err
    assert run("embed", "--dry-run").out == "no embedder: 0 vectors made, 0 missing.\n"


def test_a_wrong_setting_is_told_before_anything_is_opened(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "bert")
    outcome = run("kip", UPSERT)
    assert outcome.code == 1
    assert "TRIVIUM_EMBEDDER must be builtin, none or the http(s) URL of an endpoint" in outcome.err
    assert not (own_home / "test.db").exists()


def test_there_must_be_a_database(own_home: Path) -> None:
    assert run("embed").code == 1
