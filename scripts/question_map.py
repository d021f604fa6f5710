"""Fit the map of questions (`trivium.search.question_map`) to the labelled sets in tests/data/probes.

    python -m scripts.question_map        write the map that is shipped, fitted to every set but the untouched one

The loss is the cross-entropy of a softmax over the cosines with all texts of a set, divided by a temperature, and a
penalty on the weights that keeps the map near to the identity. Questions that are codes, names, or about single rows
of a table take no part: words find those.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy

from scripts import labelled
from scripts.remembering import RememberingEmbedder
from trivium.search import embedding_text
from trivium.search.embed_builtin import DIMENSIONS
from trivium.search.question_map import SHIPPED, QuestionMap

if TYPE_CHECKING:
    import numpy as np

PENALTY, TEMPERATURE = 0.05, 0.07
STEPS, RATE = 40, 0.001
LEFT_OUT = ("exact", "code", "identifiers", "tables")
EVIDENCE = 3
"""What a question for passages counts beside one for concepts, of which there are many more, and in two forms."""

Examples = tuple["np.ndarray", "np.ndarray", "np.ndarray", int]
"""Vectors of questions (q, d) and of texts (t, d), the share that each text has in the answers to each question (q, t),
and what a question counts."""


def fit_without(set_: str) -> QuestionMap:
    """The map for judging a set: fitted to the others, and never to the untouched one, as the shipped one is."""
    return _fit(
        [some for other in labelled.SETS if other not in (set_, labelled.UNTOUCHED) for some in _examples(other)]
    )


def _fit(examples: Sequence[Examples]) -> QuestionMap:
    """By Adam, from the identity on."""
    number = sum(weight * len(questions) for questions, _, _, weight in examples)
    weights = numpy.zeros((DIMENSIONS, DIMENSIONS), dtype="float32")
    bias = numpy.zeros(DIMENSIONS, dtype="float32")
    parts = (weights, bias)
    means = [numpy.zeros_like(part) for part in parts]
    squares = [numpy.zeros_like(part) for part in parts]
    for step in range(1, STEPS + 1):
        slope_of_weights, slope_of_bias = numpy.zeros_like(weights), numpy.zeros_like(bias)
        for questions, texts, answers, weight in examples:
            slopes = weight * _slopes(questions + questions @ weights.T + bias, texts, answers)
            slope_of_weights += slopes.T @ questions
            slope_of_bias += slopes.sum(0)
        rate = RATE * (1 - 0.9 * (step / STEPS) ** 2)
        for part, slope, mean, square in zip(
            parts, (slope_of_weights / number + PENALTY * weights, slope_of_bias / number), means, squares, strict=True
        ):
            mean += 0.1 * (slope - mean)
            square += 0.01 * (slope * slope - square)
            part -= rate * (mean / (1 - 0.9**step)) / (numpy.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return QuestionMap(weights, bias).rounded()


def _slopes(moved: np.ndarray, texts: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The gradient of the loss by the moved vectors of the questions, before they have unit length again."""
    lengths = numpy.linalg.norm(moved, axis=1, keepdims=True)
    unit = moved / lengths
    scores = unit @ texts.T / TEMPERATURE
    chances = numpy.exp(scores - scores.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    slopes = (chances - answers) @ texts / TEMPERATURE
    found: np.ndarray = (slopes - (slopes * unit).sum(1, keepdims=True) * unit) / lengths
    return found


@cache
def _examples(set_: str) -> list[Examples]:
    """The questions of a set, each with the texts among which its answer is."""
    concepts = labelled.read(set_, "concepts.jsonl")
    probes, questions = labelled.probes(set_), labelled.evidence_questions(set_)
    of_concepts = {
        labelled.name_of(concept): embedding_text.of_concept(
            concept["name"], {key: concept[key] for key in ("aliases", "description") if key in concept}
        )
        for concept in concepts
    }
    found = [
        (probes, of_concepts, 1),
        (probes, _of_pieces(labelled.concepts_as_pieces(set_)), 1),
        (questions, _of_pieces(labelled.pieces_of(set_)), EVIDENCE),
    ]
    return [(*_vectors(asked, texts), weight) for asked, texts, weight in found if asked]


def _of_pieces(pieces: Sequence[labelled.Json]) -> dict[str, str]:
    return {
        piece["id"]: embedding_text.of_chunk(piece["title"], [[name] for name in piece["sections"]], piece["text"])
        for piece in pieces
    }


def _vectors(questions: Sequence[labelled.Json], texts: dict[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    asked = [question for question in questions if question["class"] not in LEFT_OUT]
    places = {id_: place for place, id_ in enumerate(texts)}
    answers = numpy.zeros((len(asked), len(texts)), dtype="float32")
    for row, question in zip(answers, asked, strict=True):
        row[[places[id_] for id_ in question["relevant"]]] = 1 / len(question["relevant"])
    embed = RememberingEmbedder().embed
    return embed([question["query"] for question in asked]), embed(list(texts.values())), answers


def main() -> int:
    fit_without(labelled.UNTOUCHED).save(SHIPPED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
