"""Vectors: which are missing, who makes them, what becomes of them, and that nothing else fails because of them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.meaning_support import WordEmbedder, add_artifact, add_document, define, found, put, run
from trivium import KnowledgeBase
from trivium.errors import EmbeddingError
from trivium.search.embed_worker import LEASE_SECONDS
from trivium.store import vectors as stored

CTX = 1


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture(params=["memory", "file"])
def kb(request: pytest.FixtureRequest, tmp_path: Path, embedder: WordEmbedder) -> Iterator[KnowledgeBase]:
    """A store that makes vectors only when it is told to."""
    with trivium.open(":memory:" if request.param == "memory" else tmp_path / "m.db", embedder=embedder) as kb:
        kb.hold_embedding()
        define(kb, "Note")
        yield kb


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def search_status(kb: Any) -> dict[str, Any]:
    status: dict[str, Any] = run(kb, "DESCRIBE PRIMER")["search"]
    return status


# --- the backlog ----------------------------------------------------------------------------------


def test_what_is_written_waits_in_the_backlog_until_it_is_embedded(kb: KnowledgeBase) -> None:
    before = search_status(kb)["backlog"]["concept"]
    put(kb, "Note", "Aspirin", description="against pain")
    assert search_status(kb)["backlog"]["concept"] == before + 1
    done = kb.embed_pending()
    assert done == {"model": "test/words", "embedded": before + 1, "confirmed": 0, "pruned": 0, "backlog": 0}
    assert search_status(kb)["backlog"] == {"concept": 0, "chunk": 0, "artifact": 0}
    assert search_status(kb)["embedded"]["concept"] == before + 1


def test_concepts_chunks_and_artifacts_of_all_contexts_are_embedded(kb: KnowledgeBase, embedder: WordEmbedder) -> None:
    kb.create_context("papers", name="Papers")
    add_document(kb, "papers", "a.md", ["the first passage", "the second passage"], title="Letters")
    add_artifact(kb, "papers", "Postage", "what a stamp costs")
    kb.embed_pending()
    assert "Letters. the first passage" in embedder.texts
    assert "Postage. what a stamp costs" in embedder.texts
    assert kb.embedding_backlog() == 0


def test_an_interrupted_run_goes_on_where_it_stopped(kb: KnowledgeBase, embedder: WordEmbedder) -> None:
    for number in range(100):
        put(kb, "Note", f"note {number}")
    first = kb.embed_pending(limit=40)
    assert first["embedded"] == 40
    second = kb.embed_pending()
    assert second["backlog"] == 0
    assert len(embedder.texts) == len(set(embedder.texts)) == first["embedded"] + second["embedded"]


def test_a_change_of_metadata_alone_needs_no_new_vector(kb: KnowledgeBase, embedder: WordEmbedder) -> None:
    put(kb, "Note", "Aspirin", description="against pain")
    kb.embed_pending()
    embedder.texts.clear()
    run(kb, 'UPDATE ?n SET METADATA { source: "leaflet" } WHERE { ?n {type: "Note"} }')
    assert search_status(kb)["backlog"]["concept"] == 1
    assert kb.embed_pending()["confirmed"] == 1
    assert embedder.texts == []


def test_a_vector_of_an_older_text_no_longer_counts(kb: KnowledgeBase) -> None:
    put(kb, "Note", "Entry 1", description="headache")
    kb.embed_pending()
    assert found(kb, "ache", 'MODE "semantic"')["Entry 1"] > 0.1
    put(kb, "Note", "Entry 1", description="sailing")
    assert "Entry 1" not in found(kb, "ache", 'MODE "semantic"')
    kb.embed_pending()
    assert "Entry 1" not in found(kb, "ache", 'MODE "semantic"')


def test_an_artifact_whose_text_changes_under_its_key_is_embedded_again(
    kb: KnowledgeBase, embedder: WordEmbedder
) -> None:
    ctx = kb.create_context("papers", name="Papers")._number
    add_artifact(kb, "papers", "Postage", "what a stamp costs")
    kb.embed_pending()
    with kb._store.write() as session:
        session.execute("UPDATE artifact SET text = 'letters are free' WHERE ctx = ?", (ctx,))
        session.execute("UPDATE context SET live_version = live_version + 1 WHERE id = ?", (ctx,))
    embedder.texts.clear()
    kb.embed_pending()
    assert embedder.texts == ["Postage. letters are free"]


def test_another_model_has_a_backlog_of_its_own_and_pruning_removes_the_old_vectors(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with trivium.open(path, embedder=WordEmbedder("test/old")) as kb:
        define(kb, "Note")
        kb.embed_pending()
    with trivium.open(path, embedder=WordEmbedder("test/new")) as kb:
        kb.hold_embedding()
        assert search_status(kb)["default_mode"] == "keyword"
        backlog = kb.embedding_backlog()
        assert backlog > 0
        done = kb.embed_pending(prune=True)
        assert (done["embedded"], done["pruned"], done["backlog"]) == (backlog, backlog, 0)
        with kb._store.read() as session:
            assert stored.models(session) == {"test/new": backlog}


# --- deletion -------------------------------------------------------------------------------------


def test_a_deleted_concept_leaves_no_vector(kb: KnowledgeBase) -> None:
    put(kb, "Note", "Aspirin", description="against pain")
    kb.embed_pending()
    before = search_status(kb)["embedded"]["concept"]
    assert "Aspirin" in found(kb, "headache", 'MODE "semantic"')
    run(kb, 'DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "Aspirin"} }')
    assert search_status(kb)["embedded"]["concept"] == before - 1
    assert "Aspirin" not in found(kb, "headache", 'MODE "semantic"')
    assert kb.doctor()["ok"]


def test_a_vector_goes_with_the_last_chunk_of_its_key(kb: KnowledgeBase) -> None:
    ctx = kb.create_context("papers", name="Papers")._number
    keys = add_document(kb, "papers", "a.md", ["one", "two"])
    kb.embed_pending()
    of = stored.Set(ctx, "chunk", "test/words")
    with kb._store.write() as session:
        session.execute("DELETE FROM chunk WHERE ctx = ? AND key = ?", (ctx, keys[0]))
        assert stored.count(session, of) == 1


def test_a_concept_that_is_deleted_while_it_is_embedded_gets_no_vector(
    kb: KnowledgeBase, embedder: WordEmbedder
) -> None:
    kb.embed_pending()
    put(kb, "Note", "Aspirin")
    embedder.gate = threading.Event()
    thread = threading.Thread(target=kb.embed_pending)
    thread.start()
    time.sleep(0.1)
    run(kb, 'DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "Aspirin"} }')
    embedder.gate.set()
    thread.join(10)
    assert kb.doctor()["ok"]


# --- several processes ----------------------------------------------------------------------------


def test_vectors_that_another_process_makes_are_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with trivium.open(path, embedder=WordEmbedder()) as one, trivium.open(path, embedder=WordEmbedder()) as other:
        one.hold_embedding()
        other.hold_embedding()
        define(one, "Note")
        put(one, "Note", "Aspirin", description="pain")
        one.embed_pending()
        assert found(other, "headache", 'MODE "semantic"')
        put(one, "Note", "Paracetamol", description="pain and fever")
        other.embed_pending()
        assert "Paracetamol" in found(one, "headache", 'MODE "semantic"')
        run(other, 'DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "Aspirin"} }')
        assert "Aspirin" not in found(one, "headache", 'MODE "semantic"')


def test_one_process_at_a_time_holds_the_lease() -> None:
    with trivium.open() as kb, kb._store.write() as session:
        assert stored.take_lease(session, "m", "one", 1_000, LEASE_SECONDS)
        assert stored.take_lease(session, "m", "one", 1_010, LEASE_SECONDS)
        assert not stored.take_lease(session, "m", "other", 1_020, LEASE_SECONDS)
        assert stored.take_lease(session, "another model", "other", 1_020, LEASE_SECONDS)
        assert stored.take_lease(session, "m", "other", 1_011 + LEASE_SECONDS, LEASE_SECONDS)
        assert stored.take_lease(session, "m", "one", 1_012 + LEASE_SECONDS, LEASE_SECONDS, steal=True)
        stored.drop_lease(session, "m", "one")
        assert stored.take_lease(session, "m", "other", 1_013 + LEASE_SECONDS, LEASE_SECONDS)


# --- the background -------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["memory", "file"])
def test_the_background_works_off_what_is_written(place: str, tmp_path: Path, embedder: WordEmbedder) -> None:
    with trivium.open(":memory:" if place == "memory" else tmp_path / "m.db", embedder=embedder) as kb:
        kb.start_embedding()
        define(kb, "Note")
        put(kb, "Note", "Aspirin", description="against pain")
        wait_for(lambda: kb.embedding_backlog() == 0)
        put(kb, "Note", "Paracetamol", description="pain and fever")
        wait_for(lambda: "Paracetamol" in found(kb, "headache", 'MODE "semantic"'))
    assert not [thread for thread in threading.enumerate() if thread.name == "trivium-embedding"]


def test_the_first_search_by_meaning_starts_the_background(embedder: WordEmbedder) -> None:
    with trivium.open(embedder=embedder) as kb:
        define(kb, "Note")
        put(kb, "Note", "Aspirin", description="pain")
        assert found(kb, "Aspirin", 'MODE "keyword"')
        assert kb.meaning._thread is None
        assert found(kb, "headache") == {}
        wait_for(lambda: "Aspirin" in found(kb, "headache"))


def test_closing_does_not_wait_for_an_embedder_that_hangs(embedder: WordEmbedder, monkeypatch: Any) -> None:
    embedder.gate = threading.Event()
    kb = trivium.open(embedder=embedder)
    kb.start_embedding()
    time.sleep(0.2)
    start = time.monotonic()
    kb.close()
    assert time.monotonic() - start < 8
    embedder.gate.set()


def test_a_program_may_end_while_the_background_works(tmp_path: Path) -> None:
    code = (
        "import trivium\nfrom tests.meaning_support import WordEmbedder, define, put\n"
        f"kb = trivium.open({str(tmp_path / 'm.db')!r}, embedder=WordEmbedder())\n"
        "kb.start_embedding()\ndefine(kb, 'Note')\n"
        "for number in range(300): put(kb, 'Note', str(number))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    with trivium.open(tmp_path / "m.db") as kb:
        assert kb.doctor()["ok"]


# --- faults ---------------------------------------------------------------------------------------


def test_a_failing_embedder_fails_no_write_and_no_search(kb: KnowledgeBase, embedder: WordEmbedder) -> None:
    put(kb, "Note", "Aspirin", description="pain")
    kb.embed_pending()
    embedder.failing = "the endpoint is down"
    put(kb, "Note", "Paracetamol", description="pain")
    assert next(iter(found(kb, "Paracetamol"))) == "Paracetamol"
    assert next(iter(found(kb, "Paracetamol", 'MODE "semantic"'))) == "Paracetamol"
    assert search_status(kb)["fault"] == "the endpoint is down"
    assert kb.doctor()["capabilities"]["embedder_fault"] == "the endpoint is down"
    with pytest.raises(EmbeddingError, match="the endpoint is down"):
        kb.embed_pending()


def test_after_a_fault_no_question_waits_for_the_embedder_for_a_while(
    kb: KnowledgeBase, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(kb, "Note", "Aspirin", description="pain")
    kb.embed_pending()
    embedder.failing = "the endpoint is down"
    assert found(kb, "headache") == {}
    embedder.failing = None
    assert found(kb, "headache") == {}
    monkeypatch.setattr("trivium.search.meaning.time.monotonic", lambda: time.time() + 60)
    kb.meaning._silent_until = 0.0
    assert "Aspirin" in found(kb, "headache")


def test_the_background_tells_its_fault_and_tries_again(
    embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.search.embed_worker.LONGEST_REST", 0.05)
    embedder.failing = "out of memory"
    with trivium.open(embedder=embedder) as kb:
        kb.start_embedding()
        wait_for(lambda: search_status(kb)["fault"] == "out of memory")
        embedder.failing = None
        wait_for(lambda: kb.embedding_backlog() == 0)
        wait_for(lambda: search_status(kb)["fault"] is None)


# --- texts that are refused -----------------------------------------------------------------------


def test_a_text_that_is_refused_holds_up_no_other(kb: KnowledgeBase, embedder: WordEmbedder) -> None:
    for number in range(70):
        put(kb, "Note", f"note {number}", description="pain")
    put(kb, "Note", "poison", description="pain")
    kb.create_context("papers", name="Papers")
    add_document(kb, "papers", "a.md", ["the first passage", "more poison", "the second passage"])
    embedder.refused = "poison"
    with pytest.raises(EmbeddingError, match="refuses 2 texts, the last one thus: one of these texts is none"):
        kb.embed_pending()
    assert kb.embedding_backlog() == 2
    assert "poison" in search_status(kb)["fault"] or "none that I can embed" in search_status(kb)["fault"]
    assert "note 7" in found(kb, "headache", 'MODE "semantic" LIMIT 100')
    embedder.refused = None
    assert kb.embed_pending()["backlog"] == 0
    assert search_status(kb)["fault"] is None


def test_what_is_too_long_for_an_embedder_gets_the_vector_of_its_beginning(
    kb: KnowledgeBase, embedder: WordEmbedder
) -> None:
    kb.embed_pending()
    put(kb, "Note", "Long", description="headache " * 200)
    embedder.longest = 500
    assert kb.embed_pending()["backlog"] == 0
    assert "Long" in found(kb, "pain", 'MODE "semantic"')


def test_a_question_that_is_refused_is_answered_by_its_words_and_silences_nothing(
    kb: KnowledgeBase, embedder: WordEmbedder
) -> None:
    put(kb, "Note", "Aspirin", description="pain")
    kb.embed_pending()
    embedder.refused = "odd"
    assert found(kb, "odd Aspirin")
    assert "Aspirin" in found(kb, "headache")
    assert search_status(kb)["fault"] is None


def test_an_embedder_that_refuses_everything_is_at_fault(kb: KnowledgeBase, embedder: WordEmbedder) -> None:
    put(kb, "Note", "Aspirin", description="pain")
    kb.embed_pending()
    embedder.refused = ""
    put(kb, "Note", "Paracetamol", description="pain")
    with pytest.raises(EmbeddingError, match=r"^one of these texts"):
        kb.embed_pending()
    assert found(kb, "headache") == {}
    calls = len(embedder.texts)
    embedder.refused = None
    assert found(kb, "headache") == {}
    assert len(embedder.texts) == calls


def test_the_background_leaves_what_is_refused_and_goes_on(embedder: WordEmbedder) -> None:
    embedder.refused = "poison"
    with trivium.open(embedder=embedder) as kb:
        define(kb, "Note")
        put(kb, "Note", "poison")
        put(kb, "Note", "Aspirin", description="pain")
        kb.start_embedding()
        wait_for(lambda: kb.embedding_backlog() == 1)
        wait_for(lambda: search_status(kb)["fault"] is not None)
        put(kb, "Note", "Paracetamol", description="pain and fever")
        wait_for(lambda: "Paracetamol" in found(kb, "headache", 'MODE "semantic"'))
        assert kb.embedding_backlog() == 1


@pytest.mark.parametrize(
    "made",
    [
        [[0.5] * 64],
        [[float("nan")] * 64],
        [[0.0] * 64],
        [[1.0] + [0.0] * 63] * 2,
        [[1.0] + [0.0] * 62],
        [],
        None,
        "vectors",
        [[1e300] * 64],
    ],
)
def test_what_is_no_vector_is_never_stored(kb: KnowledgeBase, embedder: WordEmbedder, made: Any) -> None:
    embedder.embed = lambda texts: made  # type: ignore[method-assign]
    backlog = kb.embedding_backlog()
    with pytest.raises(EmbeddingError):
        kb.embed_pending()
    assert kb.embedding_backlog() == backlog


# --- another model under the same name ------------------------------------------------------------


def test_vectors_of_other_dimensions_are_told_and_made_anew_when_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with trivium.open(path, embedder=WordEmbedder()) as kb:
        kb.hold_embedding()
        define(kb, "Note")
        put(kb, "Note", "Aspirin", description="pain")
        kb.embed_pending()
    with trivium.open(path, embedder=WordEmbedder(dimensions=32)) as kb:
        kb.hold_embedding()
        assert found(kb, "Aspirin")
        assert "no longer the model" in search_status(kb)["fault"]
        with pytest.raises(EmbeddingError, match="no longer the model") as caught:
            kb.embed_pending()
        assert "trivium embed --prune" in (caught.value.hint or "")
        done = kb.embed_pending(prune=True)
        assert (done["backlog"], done["embedded"] > 0) == (0, True)
        assert "Aspirin" in found(kb, "headache", 'MODE "semantic"')
        assert search_status(kb)["fault"] is None


# --- what is remembered ---------------------------------------------------------------------------


def test_questions_may_be_forgotten_while_others_are_embedded(
    kb: KnowledgeBase, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(kb, "Note", "Aspirin", description="pain")
    kb.embed_pending()
    monkeypatch.setattr("trivium.search.meaning._REMEMBERED", 2)
    places, meaning = [(CTX, "concept")], kb.meaning
    assert meaning.ask(places, ["headache"]) is not None
    embed = embedder.embed

    def busy(texts: Any) -> Any:
        embedder.embed = embed  # type: ignore[method-assign]
        for number in range(5):
            assert meaning.ask(places, [f"another {number}"]) is not None
        return embed(texts)

    embedder.embed = busy  # type: ignore[method-assign]
    asked = meaning.ask(places, ["headache", "something new"])
    assert asked is not None
    assert len(asked.vectors) == 2


def test_an_answer_does_not_ask_an_embedder_that_has_just_failed(kb: KnowledgeBase, embedder: WordEmbedder) -> None:
    embedder.failing = "the endpoint is down"
    answering = kb.meaning.answering()
    with pytest.raises(EmbeddingError, match="down"):
        answering.embed(["a sentence"])
    with pytest.raises(EmbeddingError, match="just failed"):
        kb.meaning.answering()


# --- what the primer says -------------------------------------------------------------------------


def test_the_primer_promises_meaning_only_where_vectors_are(kb: KnowledgeBase) -> None:
    primer = run(kb, "DESCRIBE PRIMER")
    assert primer["search_modes"] == ["keyword"]
    assert primer["search"]["embedder"] == "test/words"
    kb.embed_pending()
    assert run(kb, "DESCRIBE PRIMER")["search_modes"] == ["keyword", "semantic", "hybrid"]
    fresh = kb.create_context("papers", name="Papers")
    assert run(fresh, "DESCRIBE PRIMER")["search_modes"] == ["keyword"]


def test_without_an_embedder_there_is_keyword_search_alone() -> None:
    with trivium.open(embedder="none") as kb:
        primer = run(kb, "DESCRIBE PRIMER")
        assert primer["search_modes"] == ["keyword"]
        assert primer["search"]["embedder"] is None
        kb.start_embedding()
        with pytest.raises(EmbeddingError, match="TRIVIUM_EMBEDDER is none"):
            kb.embed_pending()
