"""What is claimed about search quality holds on the untouched half, and the page states the figures of this very code.

python -m pytest tests/test_search_quality.py -s      also prints the tables
"""

from __future__ import annotations

from collections import Counter

import pytest

from scripts import search_quality as quality
from scripts.search_quality import HALVES, Table
from trivium.search.words import passage_tokens, question_tokens

pytestmark = pytest.mark.slow

KIP, PROBES_AS_PASSAGES, QUESTIONS = (
    "SEARCH CONCEPT",
    "Retrieval of the same as passages",
    "Questions with labelled evidence",
)


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, Table]]:
    return quality.all_tables()


# --- the data -------------------------------------------------------------------------------------


def test_there_are_enough_probes_of_every_class_in_both_halves() -> None:
    probes = quality.probes()
    assert len(probes) >= 350
    counts = Counter((probe["class"], probe["half"]) for probe in probes)
    for class_ in ("paraphrase", "cross-language", "near-miss", "exact", "code", "mixed"):
        assert all(counts[class_, half] >= 18 for half in HALVES)
    languages = {probe["language"] for probe in probes if probe["class"] == "cross-language"}
    assert len(languages) >= 8
    assert len({probe["query"] for probe in probes}) >= len(probes) - 2


def test_every_relevant_id_exists_and_halves_share_no_concept() -> None:
    names = {quality.name_of(concept) for concept in quality.read("concepts.jsonl")}
    halves: dict[str, set[str]] = {half: set() for half in HALVES}
    for probe in quality.probes():
        assert set(probe["relevant"]) <= names
        halves[probe["half"]] |= set(probe["relevant"])
    assert not halves["tuning"] & halves["untouched"]
    ids = {f"{corpus}/{piece['id']}" for corpus in quality.CORPORA for piece in quality.read(f"{corpus}.jsonl")}
    assert all(set(question["relevant"]) <= ids for question in quality.evidence_questions())


def test_paraphrases_share_no_telling_word_with_what_they_mean() -> None:
    concepts = {quality.name_of(concept): concept for concept in quality.read("concepts.jsonl")}
    for probe in quality.probes():
        if probe["class"] == "paraphrase":
            concept = concepts[probe["relevant"][0]]
            text = " ".join([concept["name"], *concept.get("aliases", []), concept["description"]])
            assert not set(question_tokens(probe["query"])) & set(passage_tokens(text)), probe["query"]


# --- the claims -----------------------------------------------------------------------------------


def test_hybrid_search_is_at_least_as_good_as_the_better_of_keyword_and_meaning(
    tables: dict[str, dict[str, Table]],
) -> None:
    for class_, figures in tables["untouched"][KIP].items():
        for other in ("keyword", "semantic"):
            assert figures["hybrid"].at_least(figures[other]), (class_, other)


def test_no_exact_name_or_code_is_ever_below_the_first_rank(tables: dict[str, dict[str, Table]]) -> None:
    for half in HALVES:
        for class_ in ("exact", "code"):
            assert tables[half][KIP][class_]["hybrid"].first == 1.0
            assert tables[half][PROBES_AS_PASSAGES][class_]["hybrid"].first == 1.0
        assert tables[half][KIP]["exact"]["keyword"].first == 1.0
        assert tables[half][KIP]["exact"]["semantic"].first == 1.0


def test_retrieval_finds_among_ten_what_either_side_finds(tables: dict[str, dict[str, Table]]) -> None:
    for class_, figures in tables["untouched"][PROBES_AS_PASSAGES].items():
        for other in ("plain BM25", "keyword", "semantic"):
            assert figures["hybrid"].recall >= figures[other].recall - 1e-9, (class_, other)


@pytest.mark.parametrize("half", HALVES)
def test_retrieval_is_never_below_plain_bm25(tables: dict[str, dict[str, Table]], half: str) -> None:
    for name in (PROBES_AS_PASSAGES, QUESTIONS):
        for class_, figures in tables[half][name].items():
            assert figures["hybrid"].at_least(figures["plain BM25"]), (name, class_)


@pytest.mark.parametrize("half", HALVES)
def test_stems_and_stop_words_find_more_of_a_long_dialogue(tables: dict[str, dict[str, Table]], half: str) -> None:
    dialogue = tables[half][QUESTIONS]["dialogue"]
    assert dialogue["keyword"].recall > dialogue["plain BM25"].recall
    assert dialogue["hybrid"].mrr > 1.2 * dialogue["plain BM25"].mrr


def test_the_page_states_these_figures(tables: dict[str, dict[str, Table]]) -> None:
    page = quality.PAGE.read_text(encoding="utf-8")
    assert quality.page_text(tables, page) == page, "run: python -m scripts.search_quality --write"
