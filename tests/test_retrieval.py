"""From a question to passages: over several contexts, in a fixed order, with and without vectors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import trivium
from tests.meaning_support import WordEmbedder, add_artifact, add_document
from trivium import KnowledgeBase
from trivium.search.passage import Evidence
from trivium.search.retrieval import Retriever, ScopedContext


@pytest.fixture
def kb() -> Iterator[KnowledgeBase]:
    with trivium.open(embedder=WordEmbedder()) as kb:
        kb.hold_embedding()
        kb.create_context("papers", name="Papers")
        kb.create_context("letters", name="Letters")
        yield kb


def ask(kb: KnowledgeBase, text: str, *slugs: str, **options: object) -> Evidence:
    scope = [ScopedContext(kb.context(slug)._number, slug) for slug in slugs or ("papers",)]
    return Retriever(kb._store, kb.meaning).retrieve(scope, text, **options)  # type: ignore[arg-type]


def texts(evidence: Evidence) -> list[str]:
    return [passage.text for passage in evidence.passages]


def test_a_question_in_a_context_without_an_index_finds_nothing(kb: KnowledgeBase) -> None:
    evidence = ask(kb, "anything")
    assert evidence.passages == []
    assert evidence.entry_level is None
    assert evidence.query_variants == ["anything"]


def test_a_passage_tells_where_it_stands(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "boats.md", ["The old boat leaks."], title="Boats")
    (passage,) = ask(kb, "which boats are leaking?").passages
    assert (passage.context, passage.source, passage.title) == ("papers", "boats.md", "Boats")
    assert passage.id.startswith("chk_")
    assert 0 < passage.score <= 1


def test_the_keyword_query_holds_the_telling_words(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "boats.md", ["The old boat leaks."])
    assert ask(kb, "What are the payment terms of Acme?").keyword_query == "payment terms acme"


def test_two_character_words_of_chinese_are_found(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["我们两周后替换旧设备。", "会议改到星期五。"])
    for word in ("替换", "两周", "设备"):
        assert texts(ask(kb, word, mode="keyword")) == ["我们两周后替换旧设备。"]


def test_identifiers_are_told_apart(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["KB-1423: labels are blank.", "KB-1432: labels are late.", "KB-4123: labels."])
    kb.embed_pending()
    for code in ("KB-1423", "KB-1432", "KB-4123"):
        evidence = ask(kb, f"what happened to the labels in {code}?")
        assert evidence.passages[0].text.startswith(code)
        assert evidence.passages[0].score >= 0.9 > evidence.passages[1].score


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("KB-1423", "what happened in KB1423?"),
        ("KB1423", "what happened in KB-1423?"),
        ("QUOTA_USER_LIMIT", "what happened to QuotaUserLimit?"),
        ("KB-1423", "what happened to KB 1423?"),
        ("NL12QXZB0417330085", "NL12 QXZB 0417 3300 85 blank?"),
        ("config/prod.yaml", "config/prod.yaml是什么？"),
    ],
)
def test_a_code_is_found_in_another_spelling_and_beside_another_script(
    kb: KnowledgeBase, written: str, asked: str
) -> None:
    add_document(kb, "papers", "a.md", ["what happened in the end", f"{written}: labels are blank", "labels are late"])
    kb.embed_pending()
    for mode in ("hybrid", "keyword"):
        first = ask(kb, asked, mode=mode).passages[0]
        assert first.text.startswith(written)
        assert first.score >= 0.9


def test_a_code_that_is_written_so_is_not_taken_for_another_spelling(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["KB-1423: labels are blank", "KB1423: no labels"])
    kb.embed_pending()
    assert texts(ask(kb, "KB1423 labels"))[0] == "KB1423: no labels"
    assert texts(ask(kb, "KB-1423 labels"))[0] == "KB-1423: labels are blank"


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_short_words_and_numbers_are_no_code_of_another_passage(kb: KnowledgeBase, mode: str) -> None:
    passages = ["The shift works from 7:30 to 16:00.", "Bus 730 stops at the gate.", "The field in-2015 is empty."]
    passages += ["The merger was agreed in spring of 2015.", "Alarm E-77: oil is low.", "Pump-2 was painted."]
    add_document(kb, "papers", "a.md", passages)
    kb.embed_pending()
    assert texts(ask(kb, "Who works at 7 30?", mode=mode))[0].startswith("The shift")
    assert texts(ask(kb, "When was the merger agreed, in 2015?", mode=mode))[0].startswith("The merger")
    assert texts(ask(kb, "error E-77 at pump 2", mode=mode))[0].startswith("Alarm E-77")


def test_a_code_that_many_hold_in_another_spelling_is_no_name(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", [f"Audit {number} by iso-9001" for number in range(300)])
    add_document(kb, "papers", "b.md", ["Visitors wear masks, as ISO 9001 has it."])
    kb.embed_pending()
    for asked in ("masks visitors ISO 9001", "masks visitors iso9001", "masks visitors iso-9001"):
        assert "Visitors wear masks, as ISO 9001 has it." in texts(ask(kb, asked, limit=5)), asked


def test_a_wording_is_embedded_once_and_as_it_is(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["the boat lies in the harbour"])
    kb.embed_pending()
    embedded = kb._embedder.texts  # type: ignore[union-attr]
    embedded.clear()
    ask(kb, "Where does the boat lie?")
    ask(kb, "the boat", variants=["the ship"])
    ask(kb, "the boat")
    assert embedded == ["Where does the boat lie?", "the boat", "the ship"]


def test_rows_of_a_table_are_found_by_their_words_although_their_vector_says_little(kb: KnowledgeBase) -> None:
    rows = "\n".join(
        f"{name},{number},{2 * number}" for number, name in enumerate(("tove", "amir", "lena", "wanda"), 31)
    )
    prose = " ".join(rows.replace(",", " ").split())
    talk = ["tove asked about rooms", "amir asked about rooms", "rooms and seats", "seats of a boat"]
    for path, text in (("table.md", f"name,room,seats\n{rows}"), ("prose.md", f"name room seats {prose}")):
        add_document(kb, "papers", path, [text])
    add_document(kb, "papers", "talk.md", talk)
    kb.embed_pending()
    found = ask(kb, "room of wanda").passages
    assert [passage.source for passage in found][:2] == ["table.md", "prose.md"]
    assert found[0].score > found[1].score + 0.1


def test_meaning_finds_what_no_word_finds(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["the automobile stands outside", "the boat lies in the harbour"])
    assert texts(ask(kb, "vehicle")) == []
    kb.embed_pending()
    assert texts(ask(kb, "vehicle"))[0] == "the automobile stands outside"
    assert texts(ask(kb, "vehicle", mode="keyword")) == []


def test_what_has_no_vector_yet_competes_by_its_words(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["the automobile stands outside", "nothing of interest"])
    kb.embed_pending()
    add_document(kb, "papers", "b.md", ["my red car is new"])
    assert texts(ask(kb, "red car"))[0] == "my red car is new"


def test_a_failing_embedder_leaves_keyword_search(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["the old boat leaks"])
    kb.embed_pending()
    kb._embedder.failing = "down"  # type: ignore[union-attr]
    assert texts(ask(kb, "leaking boats")) == ["the old boat leaks"]


def test_contexts_are_united_and_limited_together(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", [f"boat number {number}" for number in range(30)])
    add_document(kb, "letters", "b.md", ["a boat and a harbour", "about trains"])
    evidence = ask(kb, "boat harbour", "papers", "letters", limit=5)
    assert len(evidence.passages) == 5
    assert (evidence.passages[0].context, evidence.passages[0].text) == ("letters", "a boat and a harbour")
    assert {passage.context for passage in evidence.passages} == {"papers", "letters"}
    scores = [passage.score for passage in evidence.passages]
    assert scores == sorted(scores, reverse=True)


def test_equal_scores_are_in_the_order_of_ids_every_time(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", [f"boat {number:03}" for number in range(50)])
    kb.embed_pending()
    first = [(passage.id, passage.score) for passage in ask(kb, "boat", limit=10).passages]
    assert first == sorted(first, key=lambda pair: (-pair[1], pair[0]))
    assert all([(p.id, p.score) for p in ask(kb, "boat", limit=10).passages] == first for _ in range(3))


def test_the_best_wording_counts(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["the vessel is repaired", "the harbour is closed"])
    assert texts(ask(kb, "boat")) == []
    evidence = ask(kb, "boat", variants=["vessel", "boat"])
    assert texts(evidence) == ["the vessel is repaired"]
    assert evidence.query_variants == ["boat", "vessel"]


def test_neighbours_come_with_a_hit(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["alpha", "beta", "the boat", "gamma", "delta"])
    evidence = ask(kb, "boat", expand=1)
    assert texts(evidence)[0] == "the boat"
    assert set(texts(evidence)) == {"beta", "the boat", "gamma"}
    assert evidence.expand_window == 1
    assert evidence.passages[1].score < evidence.passages[0].score


def test_a_heading_that_is_the_question_comes_first(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["central library, central library, library of the central kind"])
    add_document(kb, "papers", "b.md", ["open until nine"], title="Central Library")
    evidence = ask(kb, "central  LIBRARY")
    assert texts(evidence)[0] == "open until nine"
    assert evidence.passages[0].score >= 0.95


def test_nothing_scores_above_a_heading_that_is_the_question(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.csv", ["central,library\nlibrary,central"])
    add_document(kb, "papers", "b.md", ["open until nine"], title="Central Library")
    kb.embed_pending()
    first, second = ask(kb, "Central Library").passages
    assert first.text == "open until nine"
    assert first.score >= 0.95 > second.score


# --- artifacts ------------------------------------------------------------------------------------


@pytest.fixture
def crew(kb: KnowledgeBase) -> KnowledgeBase:
    add_document(kb, "papers", "crew.md", ["The captain of the boat is Tove.", "The cook is Henrik."])
    add_document(kb, "papers", "other.md", ["A boat was seen.", "Captain Blue is a book."])
    add_artifact(kb, "papers", "Boat crew", "Tove is the captain of the boat, Henrik cooks.", ["crew.md"])
    return kb


def test_facts_enter_at_chunks_and_connections_at_artifacts(crew: KnowledgeBase) -> None:
    fact = ask(crew, "who is the captain of the boat Tove?")
    assert fact.entry_level == "chunks"
    connection = ask(crew, "how is the captain related to the boat crew?")
    assert connection.entry_level == "artifacts"
    assert connection.matched_artifacts == ["Boat crew"]
    assert [passage.kind for passage in connection.passages][:2] == ["artifact", "chunk"]
    assert connection.passages[1].source == "crew.md"
    scores = [passage.score for passage in connection.passages]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(("kind", "kinds"), [("chunks", {"chunk"}), ("artifacts", {"artifact"})])
def test_one_kind_alone(crew: KnowledgeBase, kind: str, kinds: set[str]) -> None:
    for text in ("captain of the boat", "how is the captain related to the boat?"):
        assert {passage.kind for passage in ask(crew, text, kind=kind).passages} == kinds


# --- what is visible ------------------------------------------------------------------------------


def test_passages_of_deleted_documents_are_never_given(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", [f"boat number {number}" for number in range(300)])
    add_document(kb, "papers", "b.md", ["the last boat of all these many words here"])
    kb.embed_pending()
    with kb._store.write() as session:
        session.execute("UPDATE document SET live = -1 WHERE path = 'a.md'")
    for options in ({}, {"mode": "keyword"}, {"expand": 2}):
        assert texts(ask(kb, "boat", limit=3, **options)) == ["the last boat of all these many words here"]


def test_passages_that_are_only_staged_are_never_given(kb: KnowledgeBase) -> None:
    add_document(kb, "papers", "a.md", ["the old boat"])
    with kb._store.write() as session:
        session.execute("UPDATE chunk SET live = 0")
        session.execute("UPDATE document SET live = 0")
    assert texts(ask(kb, "boat")) == []
