"""SEARCH with MODE "semantic" and "hybrid" (§5.2), with the built-in encoder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import trivium
from tests.meaning_support import WordEmbedder, define, found, put, run
from trivium import KnowledgeBase

CONCEPTS = [
    ("Drug", "Aspirin", {"aliases": ["ASA"], "description": "Relieves pain and thins the blood."}),
    ("Drug", "Cetirizine", {"description": "Stops sneezing and itching in hay fever."}),
    ("Preference", "Dark mode preference", {"description": "A black background with light letters."}),
    ("Preference", "Window seat preference", {"description": "To look outside on planes and trains."}),
    ("Symptom", "High blood pressure", {"description": "Systolic values above 140."}),
    ("Symptom", "Low blood pressure", {"description": "Dizziness on standing up."}),
    ("Ticket", "KB-1423", {"description": "Printer gives blank labels."}),
    ("Ticket", "KB-1432", {"description": "Printer gives blank pages and labels that are blank."}),
    ("Event", "Meeting of May", {"content_summary": "They agreed to buy a boat for the rescue service."}),
]


@pytest.fixture(scope="module")
def kb() -> Iterator[KnowledgeBase]:
    with trivium.open(embedder="builtin") as kb:
        for kind in ("Drug", "Preference", "Symptom", "Ticket"):
            define(kb, kind)
        for kind, name, attributes in CONCEPTS:
            put(kb, kind, name, **attributes)
        for predicate, description in (
            ("treats", "The drug relieves or cures the symptom."),
            ("prefers", "The person likes it better than other things."),
        ):
            run(
                kb,
                "UPSERT { CONCEPT ?p { {type: :t, name: :n} SET ATTRIBUTES { description: :d } } }",
                t="$PropositionType",
                n=predicate,
                d=description,
            )
        for subject, predicate, object_ in (
            (("Drug", "Aspirin"), "treats", ("Symptom", "High blood pressure")),
            (("Person", "$self"), "prefers", ("Preference", "Dark mode preference")),
        ):
            ends = [
                "{type: " + json.dumps(kind) + ", name: " + json.dumps(name) + "}" for kind, name in (subject, object_)
            ]
            run(kb, f'UPSERT {{ PROPOSITION ?l {{ ({ends[0]}, "{predicate}", {ends[1]}) }} }}')
        kb.embed_pending()
        yield kb


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("headache relief", "Aspirin"),
        ("深色模式", "Dark mode preference"),
        ("pollen allergy tablet", "Cetirizine"),
        ("hypertension", "High blood pressure"),
        ("低血压", "Low blood pressure"),
        ("Fensterplatz", "Window seat preference"),
        ("purchase of a ship", "Meeting of May"),
    ],
)
@pytest.mark.parametrize("options", ['MODE "semantic"', 'MODE "hybrid"', ""])
def test_meaning_is_found_without_a_common_word(kb: KnowledgeBase, term: str, name: str, options: str) -> None:
    hits = found(kb, term, options)
    assert name in list(hits)[:2]
    assert 0.1 < hits[name] < 1


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
@pytest.mark.parametrize(("term", "name"), [("aspirin", "Aspirin"), ("asa", "Aspirin"), ("KB-1423", "KB-1423")])
def test_a_name_or_alias_scores_one_in_every_mode(kb: KnowledgeBase, mode: str, term: str, name: str) -> None:
    hits = found(kb, term, f'MODE "{mode}"')
    assert next(iter(hits)) == name
    assert hits[name] == 1.0
    assert all(score < 1 for other, score in hits.items() if other != name)


def test_scores_do_not_depend_on_the_other_hits(kb: KnowledgeBase) -> None:
    everything = found(kb, "headache relief", 'MODE "semantic"')
    drugs = found(kb, "headache relief", 'WITH TYPE "Drug" MODE "semantic"')
    assert drugs["Aspirin"] == everything["Aspirin"]
    assert set(drugs) <= {"Aspirin", "Cetirizine"}


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_threshold_cuts_where_it_says(kb: KnowledgeBase, mode: str) -> None:
    hits = found(kb, "pain in the head", f'MODE "{mode}"')
    for threshold in (0.1, 0.3, 0.6):
        kept = found(kb, "pain in the head", f'MODE "{mode}" THRESHOLD {threshold}')
        assert kept == {name: score for name, score in hits.items() if score >= threshold}


def test_hits_are_in_the_order_of_their_scores(kb: KnowledgeBase) -> None:
    for mode in ("semantic", "hybrid"):
        scores = list(found(kb, "medicine against pain", f'MODE "{mode}"').values())
        assert scores == sorted(scores, reverse=True)


def test_a_code_is_never_beaten_by_what_only_resembles_the_question(kb: KnowledgeBase) -> None:
    hits = found(kb, "blank labels and pages of the printer: KB-1423", 'MODE "hybrid"')
    assert next(iter(hits)) == "KB-1423"
    assert hits["KB-1423"] >= 0.9 > hits["KB-1432"]


def test_what_is_unrelated_is_no_hit(kb: KnowledgeBase) -> None:
    assert "KB-1423" not in found(kb, "深色模式", 'MODE "semantic"')


def test_an_empty_term_gives_no_hits(kb: KnowledgeBase) -> None:
    for mode in ("semantic", "hybrid"):
        assert run(kb, f'SEARCH CONCEPT "  " MODE "{mode}"') == []
        assert run(kb, f'SEARCH PROPOSITION "" MODE "{mode}"') == []


def test_what_has_no_vector_yet_competes_by_its_words() -> None:
    with trivium.open(embedder="builtin") as kb:
        kb.hold_embedding()
        define(kb, "Note")
        put(kb, "Note", "Aspirin", description="Relieves pain.")
        kb.embed_pending()
        put(kb, "Note", "Pain diary")
        assert next(iter(found(kb, "pain diary of the week", 'MODE "hybrid"'))) == "Pain diary"
        assert "Pain diary" in found(kb, "pain diary of the week", 'MODE "semantic"')


def test_links_are_found_by_the_meaning_of_their_parts(kb: KnowledgeBase) -> None:
    def predicates(term: str, options: str) -> list[str]:
        hits: list[dict[str, Any]] = run(kb, f"SEARCH PROPOSITION :term {options}", term=term)
        assert [hit["metadata"]["_score"] for hit in hits] == sorted(
            (hit["metadata"]["_score"] for hit in hits), reverse=True
        )
        return [hit["predicate"] for hit in hits]

    assert predicates("Medikament gegen Bluthochdruck", 'MODE "semantic"')[0] == "treats"
    assert predicates("likes a dark screen", 'MODE "semantic"')[0] == "prefers"
    assert predicates("Medikament gegen Bluthochdruck", 'WITH TYPE "prefers" MODE "semantic"') in ([], ["prefers"])
    assert run(kb, 'SEARCH PROPOSITION "treats" MODE "hybrid"')[0]["metadata"]["_score"] == 1.0


def test_the_same_question_gives_the_same_answer(kb: KnowledgeBase) -> None:
    first = run(kb, 'SEARCH CONCEPT "blood"')
    assert all(run(kb, 'SEARCH CONCEPT "blood"') == first for _ in range(3))


def test_a_code_in_another_spelling_is_a_candidate_however_far_its_vector_is() -> None:
    with trivium.open(embedder=WordEmbedder()) as kb:
        define(kb, "Part")
        commands = [
            f'UPSERT {{ CONCEPT ?p {{ {{type: "Part", name: "XK-{number}"}} }} }}' for number in range(1_000, 1_900)
        ]
        run(kb, "\n".join(commands[:450]))
        run(kb, "\n".join(commands[450:]))
        kb.embed_pending()
        put(kb, "Part", "Late ZZ-777")
        for asked in ("XK1777", "XK_1777", "XK 1777", "the part xk-1777"):
            assert next(iter(found(kb, asked, "LIMIT 3"))) == "XK-1777", asked
        assert next(iter(found(kb, "ZZ777", "LIMIT 3"))) == "Late ZZ-777"


def test_short_words_and_numbers_are_no_code_of_another_concept() -> None:
    with trivium.open(embedder=WordEmbedder()) as kb:
        for kind in ("Alarm", "Device", "Bus", "Rota"):
            define(kb, kind)
        put(kb, "Alarm", "E-77", description="Oil is low.")
        put(kb, "Device", "Pump-2", description="Painted green.")
        put(kb, "Bus", "Bus 730", aliases=["730"])
        put(kb, "Rota", "Plan", description="Who works from 7:30 to 16:00.")
        kb.embed_pending()
        assert next(iter(found(kb, "E-77 on pump 2"))) == "E-77"
        assert next(iter(found(kb, "who works at 7 30"))) == "Plan"


def test_a_definition_counts_half_by_its_meaning_unless_it_is_asked_for() -> None:
    with trivium.open(embedder=WordEmbedder()) as kb:
        define(kb, "Vehicle")
        kb.embed_pending()
        pure, mixed = (found(kb, "car", f'MODE "{mode}"')["Vehicle"] for mode in ("semantic", "hybrid"))
        assert mixed < pure
        asked_for = found(kb, "car", 'WITH TYPE "$ConceptType" MODE "hybrid"')["Vehicle"]
        assert asked_for > mixed
