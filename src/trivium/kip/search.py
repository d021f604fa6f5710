"""SEARCH CONCEPT and SEARCH PROPOSITION in keyword mode (§5.2, notes B.13).

`semantic` and `hybrid` are answered as keyword until an embedder is there; the primer says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.elements import ElementView
from trivium.kip.snapshot import Snapshot
from trivium.search import index
from trivium.search.segment import fold, query_tokens, tokens
from trivium.settings import Settings
from trivium.store import fulltext
from trivium.store.graph import Concept, Element, Graph, Link
from trivium.store.sqlite import Session

MODES = ("keyword",)
GROUNDING_FIELDS = ("name", "attributes.aliases", "attributes.description", "other attribute text")

PREDICATE, PREDICATE_TEXT, END = 1.0, 0.6, 0.5
MORE_HITS = 10
"""How many times `max_search_hits`, which is the default, a LIMIT may ask for."""

_CANDIDATES = 400
_LINKS_PER_END = 100


def search(
    session: Session, command: tree.Search, parameters: Parameters, snapshot: Snapshot, settings: Settings
) -> list[dict[str, Any]]:
    """Hits in descending `_score`; equal scores by spelling, type and name (links: spelling, predicate and id)."""
    term = bind.text(command.term, parameters, "The search term")
    if command.mode is not None:
        values.check_mode(bind.resolve(command.mode, parameters), command.mode.at)
    threshold = 0.0
    if command.threshold is not None:
        threshold = bind.resolve(command.threshold, parameters)
        values.check_threshold(threshold, command.threshold.at)
    limit = _limit(command, parameters, settings)
    kind = None if command.type is None else bind.text(command.type, parameters, "WITH TYPE")
    graph = Graph(session, snapshot.ctx)
    reach = max(_CANDIDATES, 2 * limit)
    if command.kind == "CONCEPT":
        if kind is not None:
            snapshot.require_type(kind, command.type.at if command.type else None)
        hits: list[tuple[float, Any, Element]] = list(_concepts(session, graph, term, kind, reach))
    else:
        if kind is not None:
            snapshot.require_predicate(kind, command.type.at if command.type else None)
        hits = list(_links(session, graph, snapshot, term, kind, reach))
    hits = [hit for hit in hits if hit[0] >= threshold and hit[0] > 0]
    hits.sort(key=lambda hit: (-hit[0], hit[1]))
    view = ElementView(graph)
    return [view.json(element, {"_score": score}) for score, _, element in hits[:limit]]


def _limit(command: tree.Search, parameters: Parameters, settings: Settings) -> int:
    """The hits asked for; KIP_4002 rather than a list that is cut without a word."""
    if command.limit is None:
        return settings.max_search_hits
    limit: int = bind.resolve(command.limit, parameters)
    values.check_limit(limit, command.limit.at)
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
    session: Session, graph: Graph, term: str, type_: str | None, reach: int
) -> Iterable[tuple[float, tuple[Any, ...], Concept]]:
    wanted = query_tokens(term)
    ids = fulltext.exact_names(session, graph.ctx, term.strip(), reach)
    ids += fulltext.candidates(session, graph.ctx, wanted, type_, reach)
    for node in graph.concepts(dict.fromkeys(ids)):
        if type_ is None or node.type == type_:
            score = index.score(term, wanted, node.name, node.attributes)
            spelling = index.spelling(term, node.name) if score == 1 else 0
            yield score, (spelling, node.type, node.name), node


def _links(
    session: Session, graph: Graph, snapshot: Snapshot, term: str, predicate: str | None, reach: int
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
            ids += fulltext.links_of_predicate(session, graph.ctx, name, reach)
    ends = fulltext.candidates(session, graph.ctx, wanted, None, reach // 4)
    ids += fulltext.links_of_ends(session, graph.ctx, ends, _LINKS_PER_END)
    texts: dict[int, str] = {}
    for link in graph.links(dict.fromkeys(ids)):
        if link.predicate in matches:
            text = f"{_end_text(graph, texts, link.subject)} {_end_text(graph, texts, link.object)}"
            spelling = index.spelling(term, link.predicate)
            yield matches[link.predicate].score(text), (spelling, link.predicate, link.id), link


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
