"""SEARCH CONCEPT: by keyword, by meaning, and by both (§5.2, notes B.13). SEARCH PROPOSITION is in `search_links`.

`semantic` and `hybrid` are answered as `keyword` where there is no embedder, or no vector yet; the primer says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import bind, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.elements import element_json
from trivium.kip.search_links import links
from trivium.kip.snapshot import Snapshot
from trivium.search import embedding_text, hybrid, index
from trivium.search.meaning import Asked, Meaning
from trivium.search.question import Question, question
from trivium.search.segment import query_tokens, tokens
from trivium.search.vectors import View
from trivium.search.words import stem
from trivium.settings import Settings
from trivium.store import fulltext
from trivium.store import vectors as stored
from trivium.store.graph import Concept, Element, Graph
from trivium.store.sqlite import Session

GROUNDING_FIELDS = ("name", "attributes.aliases", "attributes.description", "other attribute text")

MORE_HITS = 10
"""How many times `max_search_hits`, which is the default, a LIMIT may ask for."""

_CANDIDATES = 400
_SPELLINGS = 200
"""Ways to write the codes of a term that are looked up."""
_DEFINITIONS = ("$ConceptType", "$PropositionType")


class Wanted(Struct, frozen=True):
    """A SEARCH with its parameters filled in; `mode` is None when the statement does not say."""

    term: str
    mode: str | None
    threshold: float
    limit: int
    type: str | None


def wanted(command: tree.Search, parameters: Parameters, settings: Settings) -> Wanted:
    """What a SEARCH asks for. Raises: KipError for a parameter that is none."""
    term = bind.text(command.term, parameters, "The search term")
    mode = None
    if command.mode is not None:
        mode = bind.resolve(command.mode, parameters)
        values.check_mode(mode, command.mode.at)
    threshold = 0.0
    if command.threshold is not None:
        threshold = bind.resolve(command.threshold, parameters)
        values.check_threshold(threshold, command.threshold.at)
    limit = _limit(command, parameters, settings)
    kind = None if command.type is None else bind.text(command.type, parameters, "WITH TYPE")
    return Wanted(term, mode, threshold, limit, kind)


def ask(want: Wanted, ctx: int, meaning: Meaning | None) -> Asked | None:
    """The term as a vector, if the mode wants it and it can be had. Call it with no session open."""
    if meaning is None or want.mode == "keyword" or not query_tokens(want.term):
        return None
    return meaning.ask([(ctx, stored.CONCEPT)], [want.term])


def search(
    session: Session, command: tree.Search, want: Wanted, snapshot: Snapshot, asked: Asked | None
) -> list[dict[str, Any]]:
    """Hits in descending `_score`; equal scores by spelling, type and name (links: spelling, predicate and id)."""
    graph = Graph(session, snapshot.ctx)
    reach = max(_CANDIDATES, 2 * want.limit)
    at = command.type.at if command.type else None
    if command.kind == "CONCEPT":
        if want.type is not None:
            snapshot.require_type(want.type, at)
        hits: list[tuple[float, Any, Element]] = list(_concepts(session, graph, want, asked, reach))
    else:
        if want.type is not None:
            snapshot.require_predicate(want.type, at)
        only = want.mode == "semantic"
        hits = list(links(session, graph, snapshot, want.term, want.type, reach, asked, only_meaning=only))
    hits = [hit for hit in hits if hit[0] >= want.threshold and hit[0] > 0]
    hits.sort(key=lambda hit: (-hit[0], hit[1]))
    return [_hit(graph, element, score) for score, _, element in hits[: want.limit]]


def _hit(graph: Graph, element: Element, score: float) -> dict[str, Any]:
    found = element_json(graph, element)
    found["metadata"]["_score"] = score
    return found


def _limit(command: tree.Search, parameters: Parameters, settings: Settings) -> int:
    """The hits asked for; KIP_4002 rather than a list that is cut without a word."""
    limit = bind.limit(command.limit, parameters)
    if command.limit is None or limit is None:
        return settings.max_search_hits
    cap = MORE_HITS * settings.max_search_hits
    if limit > cap:
        raise KipError(
            "KIP_4002",
            f"LIMIT {limit} is above the cap of {cap} hits of one SEARCH.",
            f"Ask for at most {cap}: SEARCH gives the best hits and has no further pages. Narrow it by WITH TYPE, "
            "THRESHOLD or more words; to go through all elements use FIND with LIMIT and CURSOR.",
            at=command.limit.at,
        )
    return limit


def _concepts(
    session: Session, graph: Graph, want: Wanted, asked: Asked | None, reach: int
) -> Iterable[tuple[float, tuple[Any, ...], Concept]]:
    words = query_tokens(want.term)
    ids = fulltext.exact_names(session, graph.ctx, want.term.strip(), reach)
    ids += fulltext.candidates(session, graph.ctx, words, want.type, reach)
    view, sought = None, None
    if asked is not None:
        if want.mode != "semantic":
            sought = question(want.term)
            spellings = [token for code in [*sought.codes, *sought.spaced] for token in code]
            ids += fulltext.candidates(session, graph.ctx, spellings[:_SPELLINGS], want.type, reach)
        view = asked.view(session, graph.ctx, stored.CONCEPT)
        among = None if want.type is None else graph.ids_of_type(want.type)
        floor = asked.info.floor
        ids += [near.id for near in view.nearest(reach, among) if near.cosine > floor]
    score = _Score(want, words, sought, asked, view)
    for node in graph.concepts(dict.fromkeys(ids)):
        if want.type is None or node.type == want.type:
            found = score(node)
            spelling = index.spelling(want.term, node.name) if found == 1 else 0
            yield found, (spelling, node.type, node.name), node


class _Score:
    """How well a concept answers the term, in the mode that is asked for."""

    def __init__(
        self, want: Wanted, words: list[str], sought: Question | None, asked: Asked | None, view: View | None
    ) -> None:
        self._term = want.term
        self._words = words
        self._asked = asked
        self._view = view
        self._any_type = want.type is None
        self._question = sought

    def __call__(self, node: Concept) -> float:
        keyword = index.score(self._term, self._words, node.name, node.attributes)
        if self._asked is None:
            return keyword
        meaning = self._meaning(node)
        if self._question is None:
            return hybrid.meaning_score(keyword, meaning)
        if meaning is not None and self._any_type and node.type in _DEFINITIONS:
            meaning *= hybrid.DEFINITION
        texts = index.grounding_texts(node.name, node.attributes)
        held = {stem(token) for text in texts for token in tokens(text)}
        coverage = index.share(self._question.words, held)
        return hybrid.concept_score(keyword, coverage, meaning, self._question.is_held_by(held))

    def _meaning(self, node: Concept) -> float | None:
        """None for a concept without a vector, or with one of an older text."""
        near = None if self._view is None else self._view.of(node.id)
        if near is None or near.digest != embedding_text.digest(embedding_text.of_concept(node.name, node.attributes)):
            return None
        assert self._asked is not None
        return self._asked.score(near.cosine)
