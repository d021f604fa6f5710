"""SEARCH PROPOSITION (§5.2): links by their predicate and, faintly, by their ends; by words and by meaning.

Links have no vectors of their own. What a link means is put together from the vectors of its predicate and of its two
ends, each with its description, which is what the sentence "subject predicate object" says without the order of words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trivium.kip.snapshot import Snapshot
from trivium.search import hybrid, index
from trivium.search.meaning import Asked
from trivium.search.segment import fold, query_tokens, tokens
from trivium.search.vectors import View
from trivium.store import fulltext
from trivium.store import vectors as stored
from trivium.store.graph import Concept, Graph, Link
from trivium.store.sqlite import Session

if TYPE_CHECKING:
    import numpy as np

PREDICATE, PREDICATE_TEXT, END = 1.0, 0.6, 0.5

_LINKS_PER_END = 100
_NEAR_ENDS, _NEAR_PREDICATES = 50, 5
_END_WEIGHT = 0.5
"""How much an end counts beside the predicate in the meaning of a link."""


def links(
    session: Session,
    graph: Graph,
    snapshot: Snapshot,
    term: str,
    predicate: str | None,
    reach: int,
    asked: Asked | None,
    *,
    only_meaning: bool,
) -> Iterable[tuple[float, tuple[Any, ...], Link]]:
    """A link answers by its predicate's name, by the predicate's description, and faintly by the names of its ends."""
    wanted = query_tokens(term)
    if not wanted:
        return
    names = [predicate] if predicate is not None else sorted(snapshot.predicates)
    matches = {name: _Match(graph, name, term, wanted) for name in names}
    ids: list[int] = []
    for name in sorted(names, key=lambda name: (-matches[name].best, name)):
        if matches[name].best > 0:
            ids += graph.links_of_predicate(name, reach)
    ends = fulltext.candidates(session, graph.ctx, wanted, None, reach // 4)
    ids += graph.links_of_ends(ends, _LINKS_PER_END)
    sense = None
    if asked is not None:
        sense = _Sense(graph, asked, asked.view(session, graph.ctx, stored.CONCEPT))
        ids += sense.candidates(names, reach)
    texts: dict[int, str] = {}
    for link in graph.links(dict.fromkeys(ids)):
        if link.predicate in matches:
            text = f"{_end_text(graph, texts, link.subject)} {_end_text(graph, texts, link.object)}"
            score = matches[link.predicate].score(text)
            if sense is not None:
                meaning = sense.of(link)
                together = hybrid.meaning_score if only_meaning else _both
                score = together(score, meaning)
            yield score, (index.spelling(term, link.predicate), link.predicate, link.id), link


def _both(keyword: float, meaning: float | None) -> float:
    return hybrid.concept_score(keyword, keyword, meaning, None)


class _Match:
    """How a predicate answers the term."""

    def __init__(self, graph: Graph, predicate: str, term: str, wanted: list[str]) -> None:
        self._wanted = wanted
        self._exact = fold(term).strip() in (fold(predicate), fold(predicate).replace("_", " "))
        definition = graph.concept_named("$PropositionType", predicate)
        texts = index.texts_in(definition.attributes) if definition else iter(())
        self._name = set(tokens(predicate))
        self._text = {token for text in texts for token in tokens(text)}
        self.best = max((self._weight(token) for token in wanted), default=0.0)

    def _weight(self, token: str) -> float:
        if token in self._name:
            return PREDICATE
        return PREDICATE_TEXT if token in self._text else 0.0

    def score(self, ends: str) -> float:
        if self._exact:
            return 1.0
        held = set(tokens(ends))
        gained = sum(max(self._weight(token), END if token in held else 0.0) for token in self._wanted)
        return round(index.CEILING * gained / len(self._wanted), 6)


class _Sense:
    """What links mean, from the vectors of concepts."""

    def __init__(self, graph: Graph, asked: Asked, view: View) -> None:
        self._graph = graph
        self._asked = asked
        self._view = view
        self._predicates: dict[str, np.ndarray | None] = {}

    def candidates(self, names: list[str], reach: int) -> list[int]:
        """Links of the predicates and about the concepts that are nearest to the term."""
        near = [found.id for found in self._view.nearest(_NEAR_ENDS) if found.cosine > self._asked.info.floor]
        ids = self._graph.links_of_ends(near, _LINKS_PER_END)
        definitions = {self._graph.concept_id("$PropositionType", name): name for name in names}
        known = [id_ for id_ in definitions if id_ is not None]
        for found in self._view.nearest(_NEAR_PREDICATES, known):
            if found.cosine > self._asked.info.floor:
                ids += self._graph.links_of_predicate(definitions[found.id], reach)
        return ids

    def of(self, link: Link) -> float | None:
        """The score of the link's meaning; None when a part of it has no vector."""
        import numpy

        predicate = self._predicate(link.predicate)
        ends = [self._view.vector(end) for end in (link.subject, link.object) if not end & 1]
        if predicate is None or not ends or any(end is None for end in ends):
            return None
        together = predicate + _END_WEIGHT * sum(end for end in ends if end is not None)
        length = float(numpy.linalg.norm(together))
        cosine = float((self._asked.vectors @ together).max()) / max(length, 1e-9)
        return self._asked.score(round(cosine, 5))

    def _predicate(self, name: str) -> np.ndarray | None:
        if name not in self._predicates:
            definition = self._graph.concept_id("$PropositionType", name)
            self._predicates[name] = None if definition is None else self._view.vector(definition)
        return self._predicates[name]


def _end_text(graph: Graph, texts: dict[int, str], element_id: int) -> str:
    """The name and aliases of an end; a link as an end says the names of its own ends."""
    found = texts.get(element_id)
    if found is None:
        element = graph.element(element_id)
        if isinstance(element, Concept):
            found = " ".join([element.name, *index.aliases_of(element.attributes)])
        else:
            found = element.predicate if element else ""
        texts[element_id] = found
    return found
