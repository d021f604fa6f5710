"""From cosines to scores that mean the same whatever the model and the query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trivium.search.embedder import EmbedderInfo

if TYPE_CHECKING:
    import numpy as np

# What somebody might look for, and a text that answers it in other words or another language.
_QUESTIONS = (
    ("headache relief", "Aspirin. A tablet against pain that thins the blood."),
    ("when does the train leave", "The railway departs at noon on weekdays."),
    ("end of the agreement", "Der Vertrag läuft im März aus."),
    ("growing vegetables", "我们在花园里种了西红柿。"),
    ("machine without free space", "Outage of Monday. The disk of the server was full."),
    ("cours pour les enfants", "She teaches mathematics at a primary school."),
    ("why nobody could cross the river", "The bridge was closed because of the storm."),
    ("payment terms", "Счёт нужно оплатить за тридцать дней."),
    ("pets at home", "猫がソファで寝ている。"),
    ("result of the match", "Our football team won by three goals."),
    ("baking with sugar", "Zwei Löffel Zucker in den Teig geben."),
    ("día de cierre", "Il museo è chiuso il lunedì."),
    ("how to reach the office by bus", "Line 14 stops in front of the building every ten minutes."),
    ("she is afraid of flying", "Preference. Travels by rail, since planes make her nervous."),
    ("Wohnung mieten", "Apartment in the old town, two rooms, available from May."),
    ("新员工", "Onboarding. Colleagues who join us get a laptop on the first day."),
)
MIDDLE = 0.28
"""The score that the middle one of these pairs gets: they are hard ones, and it is that of the built-in model."""


def calibrated(model: str, embed: Callable[[Sequence[str]], np.ndarray]) -> EmbedderInfo:
    """Measure a model with a few texts: nine in ten unrelated pairs stay below the floor, and related ones score as the
    built-in model scores them. Raises: EmbeddingError.
    """
    import numpy

    vectors = embed([text for pair in _QUESTIONS for text in pair])
    cosines = vectors[0::2] @ vectors[1::2].T
    related = float(numpy.median(numpy.diag(cosines)))
    unrelated = float(numpy.quantile(cosines[~numpy.eye(len(cosines), dtype=bool)], 0.9))
    floor = min(max(unrelated, 0.0), 0.95)
    ceiling = min(0.99, floor + max(0.04, (related - floor) / MIDDLE))
    return EmbedderInfo(model, int(vectors.shape[1]), round(floor, 4), round(ceiling, 4))


def score_of(cosine: float, info: EmbedderInfo) -> float:
    """A cosine as a score: 0 at the model's floor, 1 at its ceiling, straight between; not bounded.

    >>> round(score_of(0.4, EmbedderInfo("m", 2, floor=0.1, ceiling=0.7)), 6)
    0.5
    """
    return (cosine - info.floor) / (info.ceiling - info.floor)
