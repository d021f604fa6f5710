"""The labelled sets in tests/data/probes: texts, and questions of which it is known which texts answer them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

PROBES = Path(__file__).resolve().parents[1] / "tests" / "data" / "probes"
UNTOUCHED = "untouched"
SETS = ("first", "second", "third", "fourth", "fifth", "sixth", UNTOUCHED)
CORPORA = ("dialogue", "documents", "identifiers", "tables")

Json = dict[str, Any]


@cache
def read(set_: str, name: str) -> list[Json]:
    """The lines of a data file of a set; none where a set has no such questions."""
    path = PROBES / set_ / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def name_of(concept: Json) -> str:
    """What a concept is called in the figures."""
    return f"{type_of(concept['type'])}: {concept['name']}"


def type_of(label: str) -> str:
    """A label as the name of a concept type, which has to be an identifier."""
    return label if label.isascii() and label.isidentifier() else f"Kind_{label.encode().hex()}"


def probes(set_: str) -> list[Json]:
    """The questions for concepts; what is relevant as `name_of` calls it."""
    return [
        {**probe, "relevant": [_named(relevant) for relevant in probe["relevant"]]}
        for probe in read(set_, "search.jsonl")
    ]


def _named(relevant: str) -> str:
    label, _, name = relevant.partition(": ")
    return name_of({"type": label, "name": name})


def evidence_questions(set_: str) -> list[Json]:
    """The questions with labelled evidence; ids with the name of their corpus before them."""
    return [
        {**question, "relevant": [f"{question['corpus']}/{id_}" for id_ in question["relevant"]]}
        for question in read(set_, "questions.jsonl")
    ]


def pieces_of(set_: str) -> list[Json]:
    """The passages of all corpora of a set; ids with the name of their corpus before them."""
    return [{**piece, "id": f"{corpus}/{piece['id']}"} for corpus in CORPORA for piece in read(set_, f"{corpus}.jsonl")]


def concepts_as_pieces(set_: str) -> list[Json]:
    return [_as_passage(concept) for concept in read(set_, "concepts.jsonl")]


def _as_passage(concept: Json) -> Json:
    """A concept as a section of a document: its name is the heading."""
    path = f"{concept['type'].lower()}.md"
    text = "".join(f"Also called {alias}. " for alias in concept.get("aliases", [])) + concept["description"]
    return {
        "id": name_of(concept),
        "path": path,
        "title": f"{concept['type']}s",
        "sections": [concept["name"]],
        "text": text,
    }
