"""A knowledge base and its contexts as objects: parts are made once, handles stay the same, names are found."""

from __future__ import annotations

import inspect
import io
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.meaning_support import WordEmbedder
from trivium.knowql.service import Turns
from trivium.models.catalogue import Catalogue


@pytest.fixture(params=["memory", "file"])
def kb(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(":memory:" if request.param == "memory" else tmp_path / "a.db") as opened:
        yield opened


# --- parts ----------------------------------------------------------------------------------------

PARTS: dict[str, tuple[str, Callable[[trivium.KnowledgeBase], Any]]] = {
    "worker": ("trivium.store.workers.Worker", lambda kb: kb.worker),
    "tasks": ("trivium.ingest.tasks.Tasks", lambda kb: kb.tasks),
    "meaning": ("trivium.search.meaning.Meaning", lambda kb: kb.meaning),
    "models": ("trivium.models.catalogue.Catalogue.from_settings", lambda kb: kb.models),
    "turns": ("trivium.knowql.service.Turns.open", lambda kb: kb.turns),
    "nexus": ("trivium.kip.nexus.Nexus", lambda kb: kb.context("default")._nexus),
}
MAKERS: dict[str, Any] = {
    "trivium.models.catalogue.Catalogue.from_settings": Catalogue.from_settings,
    "trivium.knowql.service.Turns.open": Turns.open,
}


def maker(place: str) -> Callable[..., Any]:
    module, _, name = place.rpartition(".")
    found: Callable[..., Any] = MAKERS.get(place) or getattr(__import__(module, fromlist=[name]), name)
    return found


@pytest.mark.parametrize(("place", "read"), PARTS.values(), ids=PARTS)
def test_a_part_is_made_once_however_many_threads_ask_first(
    kb: trivium.KnowledgeBase,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    read: Callable[[trivium.KnowledgeBase], Any],
) -> None:
    real, made = maker(place), []

    def slowly(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.05)
        made.append(real(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(place, slowly)
    start, seen = threading.Barrier(6), []

    def ask() -> None:
        start.wait()
        seen.append(read(kb))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(seen) == 6
    assert all(one is made[0] for one in seen)


@pytest.mark.parametrize(("place", "read"), PARTS.values(), ids=PARTS)
def test_knowledge_bases_do_not_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch, place: str, read: Callable[[trivium.KnowledgeBase], Any]
) -> None:
    real, begun, go_on = maker(place), threading.Event(), threading.Event()

    def held_the_first_time(*arguments: Any, **options: Any) -> Any:
        if not begun.is_set():
            begun.set()
            assert go_on.wait(30)
        return real(*arguments, **options)

    monkeypatch.setattr(place, held_the_first_time)
    with trivium.open() as one, trivium.open() as other:
        waiting = threading.Thread(target=read, args=(one,))
        waiting.start()
        assert begun.wait(10)
        asking = threading.Thread(target=read, args=(other,), daemon=True)
        asking.start()
        asking.join(10)
        is_free = not asking.is_alive()
        go_on.set()
        waiting.join()
        asking.join()
        assert is_free


def test_who_holds_the_store_may_ask_for_parts_while_turns_are_opened() -> None:
    with trivium.open() as kb:
        with kb._store.read():  # in memory it keeps the opening of turns waiting
            opening = threading.Thread(target=lambda: kb.turns)
            opening.start()
            time.sleep(0.2)
            assert opening.is_alive()
            asked = threading.Thread(target=lambda: (kb.meaning, kb.tasks, kb.worker, kb.models), daemon=True)
            asked.start()
            asked.join(10)
            assert not asked.is_alive()
        opening.join(10)
        assert kb.turns.sessions()["sessions"] == []


def test_models_are_settable_before_the_first_turn(kb: trivium.KnowledgeBase) -> None:
    own = Catalogue([], kb.settings)
    assert kb.models is kb.models is not own
    kb.models = own
    assert kb.models is own


# --- handles --------------------------------------------------------------------------------------


def test_a_context_has_one_handle_also_under_its_id_and_a_new_name(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "a.db") as kb, trivium.open(tmp_path / "a.db") as other:
        context = kb.create_context("papers", name="Papers", colour="red")
        assert context.fields == {"name": "Papers", "colour": "red"}
        assert kb.context("papers") is kb.context(context.describe()["id"]) is context
        assert kb.context("default") is kb.context("default") is not context
        other.context("papers").update(slug="articles", name="Articles")
        assert [found is context for found in kb.contexts()] == [True, False]
        assert (context.slug, context.fields["name"]) == ("articles", "Articles")
        kb.delete_context("articles")
        assert kb.create_context("articles") is not context


def test_the_clock_of_a_knowledge_base_can_be_read() -> None:
    with trivium.open(clock=lambda: "2026-08-01T12:00:00.000Z") as kb:
        assert kb.now() == "2026-08-01T12:00:00.000Z"


def test_the_tasks_of_one_context_are_listed(kb: trivium.KnowledgeBase) -> None:
    for slug in ("one", "two"):
        kb.create_context(slug).add_bytes("a.md", b"# A\n")
    assert [task["context"] for task in kb.tasks.list()] == ["two", "one"]
    assert [task["context"] for task in kb.tasks.list(context=kb.context("one"))] == ["one"]


def test_the_vectors_of_one_context_are_made() -> None:
    with trivium.open(embedder=WordEmbedder()) as kb:
        kb.hold_embedding()
        context = kb.create_context("notes")
        every = kb.embedding_backlog()
        told: list[int] = []
        first = context.embed_pending(1, progress=told.append)
        assert (first["embedded"], told) == (1, [1])
        done = context.embed_pending()
        assert done == {"model": "test/words", "embedded": first["backlog"], "confirmed": 0, "backlog": 0}
        assert kb.embedding_backlog() == every - 1 - first["backlog"] > 0


# --- names ----------------------------------------------------------------------------------------

BY_PATH: dict[str, Callable[[trivium.Context, str, str], Any]] = {
    "sources": lambda context, folder, file: context.sources(f"{folder}/"),
    "source_folder": lambda context, folder, file: context.source_folder(folder),
    "source_folder/": lambda context, folder, file: context.source_folder(f"{folder}/"),
    "read_source": lambda context, folder, file: context.read_source(f"{folder}/{file}"),
    "copy_source": lambda context, folder, file: context.copy_source(f"{folder}/{file}", io.BytesIO()),
    "documents": lambda context, folder, file: context.documents(f"{folder}/"),
    "read_document": lambda context, folder, file: context.read_document(f"{folder}/{file}"),
    "knowledge_folder": lambda context, folder, file: context.knowledge_folder(f"documents/{folder}"),
    "knowledge_folder of chunks": lambda context, folder, file: context.knowledge_folder(f"documents/{folder}/{file}"),
    "read_knowledge": lambda context, folder, file: context.read_knowledge(f"documents/{folder}/{file}"),
    "delete_source": lambda context, folder, file: (
        context.delete_source(f"{folder}/{file}"),
        context.source_stats()["files"],
    ),
}


@pytest.mark.parametrize("call", BY_PATH.values(), ids=BY_PATH)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_is_found_however_its_accents_are_typed(
    kb: trivium.KnowledgeBase, form: Any, call: Callable[[trivium.Context, str, str], Any]
) -> None:
    context = kb.create_context("papers")
    context.add_bytes("ü/é.md", b"# T\n\nText.\n")
    context.add_bytes("v.md", b"# T\n\nText.\n")
    context.curate()
    found = call(context, unicodedata.normalize(form, "ü"), unicodedata.normalize(form, "é.md"))
    assert found not in ([], ([], None))
    assert "v.md" not in repr(found)


@pytest.mark.parametrize("prefix", ["\ud800", "a\0", "\U0010ffff", "\ud7ff", "z", "../", "/"])
def test_a_prefix_that_nothing_begins_with_gives_nothing(kb: trivium.KnowledgeBase, prefix: str) -> None:
    context = kb.create_context("papers")
    context.add_bytes("a.md", b"# T\n\nText.\n")
    context.curate()
    assert (context.sources(prefix), context.documents(prefix)) == ([], [])


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [trivium.KnowledgeBase, trivium.Context], ids=lambda kind: kind.__name__)
def test_every_error_that_a_method_names_can_be_caught_by_a_public_name(kind: type) -> None:
    named = set()
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_"):
            named |= set(re.findall(r"\b[A-Z]\w*Error\b", inspect.getdoc(member) or ""))
    named -= {"ValueError", "TypeError"}
    assert len(named) > 4
    assert named <= set(trivium.__all__)
