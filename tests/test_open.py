"""Opening and calling a knowledge base with arguments of every kind: what is wrong is said, and nothing is made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import trivium

TEA = 'UPSERT { CONCEPT { {type: "Domain", name: "Tea"} } }'
COUNT = 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain", name: "Tea"} }'

pytestmark = pytest.mark.usefixtures("own_home")


def refused(kind: type[Exception], *arguments: Any, **settings: Any) -> str:
    """What the error says; nothing was made."""
    with pytest.raises(kind) as caught:
        trivium.open(*arguments, **settings)
    assert list(Path.cwd().iterdir()) == []
    told = str(caught.value)
    if isinstance(caught.value, trivium.TriviumError):
        assert caught.value.hint
        told = f"{told} {caught.value.hint}"
    return told


# --- places ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "file"), [(Path("a.db"), "a.db"), ("b/c.db", "b/c.db"), ("~/d.db", "d.db"), ("~e.db", "~e.db")]
)
def test_paths_texts_and_the_home_folder_open(url: str | Path, file: str) -> None:
    with trivium.open(url) as kb:
        assert "result" in kb.execute_kip({"command": TEA})
        kb.backup(Path("copy.db"))
    assert Path(file).is_file()
    assert Path("copy.db").is_file()


@pytest.mark.parametrize("url", [None, b"a.db", 5, ["a.db"], Path])
def test_what_is_no_path_is_a_type_error(url: Any) -> None:
    assert "url must be a path" in refused(TypeError, url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a\0b.db", "NUL"),
        (":Memory:", "Write :memory:"),
        ("memory:", "Write :memory:"),
        ("file::memory:?cache=shared", "Write :memory:"),
        ("sqlite:///x.db", "'x.db'"),
        ("sqlite:////data/x.db", "'/data/x.db'"),
        ("sqlite://", "':memory:'"),
        ("file:x.db?mode=ro", "'x.db'"),
        ("file:///data/x.db", "'/data/x.db'"),
        ("http://example.org/x.db", "http:"),
        ("postgresql://user:secret@host/db", "SQLite files only"),
        ("mysql+driver://host/db", "mysql+driver:"),
        (Path("http://example.org/x.db"), "http:"),
        ("~nobody-of-this-name/x.db", "home folder"),
        ("folder/", "names a folder"),
    ],
)
def test_what_looks_like_another_address_is_refused_with_a_hint(url: str | Path, words: str) -> None:
    told = refused(trivium.StoreError, url)
    assert words in told
    assert "secret" not in told


def test_folders_and_devices_are_named(tmp_path: Path) -> None:
    assert f"{tmp_path}/memory.db" in refused(trivium.StoreError, tmp_path)
    assert "device" in refused(trivium.StoreError, "/dev/null")


def test_a_file_whose_name_looks_like_an_address_opens_with_a_dot_before_it() -> None:
    trivium.open("./file:x.db").close()
    assert Path("file:x.db").is_file()


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (TypeError, {"timeout": "5"}),
        (TypeError, {"timeout": None}),
        (ValueError, {"timeout": float("nan")}),
        (ValueError, {"timeout": 0}),
        (TypeError, {"max_rows": 1.5}),
        (TypeError, {"max_rows": True}),
        (ValueError, {"max_rows": 2**31}),
        (ValueError, {"max_hops": -1}),
        (TypeError, {"synchronous": 1}),
        (ValueError, {"synchronous": "OFF"}),
        (TypeError, {"strict_schema": "yes"}),
        (TypeError, {"max_row": 5}),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_is_made(kind: type[Exception], settings: dict[str, Any]) -> None:
    assert next(iter(settings)) in refused(kind, "folder/a.db", **settings)


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("many", "1.5", "-1"):
        monkeypatch.setenv("TRIVIUM_MAX_ROWS", value)
        assert "TRIVIUM_MAX_ROWS" in refused(ValueError, "a.db")


@pytest.mark.parametrize(
    ("kind", "clock"),
    [
        (TypeError, 5),
        (TypeError, "2026-08-01T12:00:00Z"),
        (trivium.StoreError, lambda: 5),
        (trivium.StoreError, lambda: None),
        (trivium.StoreError, lambda: "noon"),
        (trivium.StoreError, lambda: datetime.now(UTC)),
        (trivium.StoreError, lambda: 1 / 0),
        (trivium.StoreError, lambda moment: moment),
    ],
)
def test_a_wrong_clock_is_refused_and_nothing_is_made(kind: type[Exception], clock: Any) -> None:
    assert "clock" in refused(kind, "folder/a.db", clock=clock)


def test_a_clock_that_breaks_later_fails_the_write_and_nothing_else() -> None:
    times = ["2026-08-01T12:00:00Z"]
    with trivium.open(clock=lambda: times[0]) as kb:
        times[0] = "noon"
        error = kb.execute_kip({"command": TEA})["error"]
        assert error["code"] == "KIP_4003"
        assert "'noon'" in error["message"]
        assert "ISO 8601" in error["hint"]
        assert kb.execute_kip({"command": COUNT}) == {"result": 0}


# --- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("readonly", [None, 0, 1, "yes", []])
def test_a_readonly_that_is_no_boolean_never_means_writable(readonly: Any) -> None:
    with trivium.open() as kb:
        for answer in (
            kb.execute_kip({"command": TEA}, readonly=readonly),
            kb.context("default").execute_kip({"command": TEA}, readonly=readonly),
            kb.explain_kip(TEA, readonly=readonly)["response"],
        ):
            assert answer["error"]["code"] == "KIP_1001"
            assert "readonly" in answer["error"]["message"]
        assert kb.execute_kip({"command": COUNT}) == {"result": 0}


def test_explain_refuses_to_write_when_readonly_and_executes_else() -> None:
    with trivium.open() as kb:
        assert kb.explain_kip(TEA, readonly=True)["response"]["error"]["code"] == "KIP_1001"
        assert kb.execute_kip({"command": COUNT}) == {"result": 0}
        explained = kb.explain_kip(COUNT, readonly=True)
        assert explained["response"] == {"result": 0}
        assert explained["sql"]
        assert kb.explain_kip("FIND(", readonly=True)["tokens"] == ["FIND", "("]
        assert "result" in kb.explain_kip(TEA)["response"]
        assert kb.execute_kip({"command": COUNT}) == {"result": 1}


@pytest.mark.parametrize("arguments", [(None,), (5,), ("",), (b"FIND",), (COUNT, 5), (COUNT, {1: 2})])
def test_explain_answers_wrong_arguments_as_execute_does(arguments: tuple[Any, ...]) -> None:
    with trivium.open() as kb:
        error = kb.explain_kip(*arguments)["response"]["error"]
    assert error["code"] == "KIP_1001"
    assert error["hint"]


@pytest.mark.parametrize("slug", [None, 5, b"work", ["work"]])
def test_a_slug_that_is_no_text_is_a_type_error(slug: Any) -> None:
    with trivium.open() as kb:
        for call in (kb.context, kb.create_context):
            with pytest.raises(TypeError, match="slug must be a text"):
                call(slug)


def test_fields_that_are_no_json_are_refused_before_anything_is_written() -> None:
    with trivium.open() as kb:
        with pytest.raises(TypeError, match="JSON"):
            kb.create_context("work", owner=object())
        assert [context.slug for context in kb.contexts()] == ["default"]


@pytest.mark.parametrize(("slug", "offered"), [("work", True), ("", False), ("Work", False), ("a b", False)])
def test_a_missing_context_is_offered_for_creation_only_when_it_can_be_created(slug: str, offered: bool) -> None:
    with trivium.open() as kb, pytest.raises(trivium.NotFoundError) as caught:
        kb.context(slug)
    assert ("create_context" in str(caught.value.hint)) == offered


CALLS: list[Callable[[trivium.KnowledgeBase], Any]] = [
    lambda kb: kb.execute_kip({"command": TEA}),
    lambda kb: kb.execute_kip({"command": COUNT}),
    lambda kb: kb.execute_kip({"command": "DESCRIBE PRIMER"}),
    lambda kb: kb.execute_kip({"commands": [TEA, COUNT]})["result"][0],
    lambda kb: kb.explain_kip(COUNT)["response"],
]
RAISING: list[Callable[[trivium.KnowledgeBase], Any]] = [
    lambda kb: kb.contexts(),
    lambda kb: kb.context("work"),
    lambda kb: kb.create_context("work"),
    lambda kb: kb.backup("copy.db"),
    lambda kb: kb.doctor(),
]


@pytest.mark.parametrize("url", [":memory:", "a.db"])
def test_a_closed_knowledge_base_says_so(url: str) -> None:
    kb = trivium.open(url)
    context = kb.create_context("other")
    kb.close()
    kb.close()
    for call in CALLS:
        error = call(kb)["error"]
        assert (error["code"], error["message"]) == ("KIP_4003", "The knowledge base is closed.")
    assert "closed" in context.execute_kip({"command": COUNT})["error"]["message"]
    for call in RAISING:
        with pytest.raises(trivium.TriviumError, match="closed"):
            call(kb)
    assert not Path("copy.db").exists()
