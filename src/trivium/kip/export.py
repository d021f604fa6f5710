"""EXPORT: matched elements as an idempotent capsule, page by page (§5.3, notes B.15).

Order: concept types, predicates, other concepts, then links with those they refer to first; by id within each. A page
ends before its text passes the limit of one command; every page is valid alone, pages import in order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, protect, tree
from trivium.kip.bind import Parameters
from trivium.kip.cursor import encode_cursor, keys
from trivium.kip.lexer import MAX_BYTES
from trivium.kip.snapshot import load
from trivium.store.codec import canonical, encode
from trivium.store.graph import Concept, Element, Graph, Link, is_link_id
from trivium.store.schema import META_TYPES
from trivium.store.sqlite import Session

_OPEN, _CLOSE = "UPSERT {\n", "}\n"
_STEP = 500
_DEEP = 16
"""References nested deeper than this are written as blocks of their own: capsules stay below the nesting limit."""

_LINKS = 3  # rank of links that join concepts; each step of reference adds one

Place = tuple[int, int]


def export(
    graph: Graph, command: tree.Export, places: list[Place], parameters: Parameters, digest: str
) -> dict[str, Any]:
    """One page of the elements at `places` (see `places_of`)."""
    limit = bind.limit(command.limit, parameters)
    start = 0
    if command.cursor is not None:
        rank, number = keys(command.cursor, parameters, digest, int, int)
        start = bisect_right(places, (rank, number))
    page = _Page(graph)
    at = start
    full = False
    while not full and at < len(places) and (limit is None or page.size < limit):
        for element in _elements(graph, places[at : at + _STEP]):
            full = (limit is not None and page.size == limit) or not page.add(element)
            if full:
                break
            at += 1
    response: dict[str, Any] = {
        "result": {"capsule": page.text(), "concepts": page.concepts, "propositions": page.propositions}
    }
    if at < len(places):
        response["next_cursor"] = encode_cursor(digest, (), places[at - 1])
    return response


def capsules(session: Session, ctx: int) -> Iterator[str]:
    """All of a context as capsules that import in order, in the caller's transaction: nothing written meanwhile shows.

    Raises: KipError KIP_2001 when links use a predicate whose definition was deleted: no store could import them.
    """
    graph = Graph(session, ctx)
    schema = load(session, ctx, 0)
    for name in sorted(schema.link_counts):
        if schema.link_counts[name] and name not in schema.predicates:
            raise KipError("KIP_2001", f"Links have the predicate {name!r}, whose definition was deleted.")
    places = places_of(graph, graph.all_ids(), schema.higher_order)
    command = tree.Export(tree.Var("x"), tree.Group([]))
    parameters: dict[str, object] = {}
    while True:
        response = export(graph, command, places, parameters, "all")
        capsule: str = response["result"]["capsule"]
        if capsule:
            yield capsule if capsule.endswith("\n") else capsule + "\n"
        cursor = response.get("next_cursor")
        if not cursor:
            return
        parameters = {"cursor": cursor}
        command = tree.Export(command.target, command.where, cursor=tree.Param("cursor"))


def places_of(graph: Graph, ids: Iterable[int], higher_order: frozenset[str]) -> list[Place]:
    """The elements in export order. Only predicates in `higher_order` may have links as ends."""
    ranks = {element_id: META_TYPES.index(type_) for element_id, type_ in graph.schema_nodes()}
    depths: dict[int, int] = {}
    ids = list(ids)
    on_links = graph.links_on_links(higher_order) if any(map(is_link_id, ids)) else []
    for link in graph.links(on_links):
        ranks[link.id] = _LINKS + _depth(graph, link, depths)
    return sorted((ranks.get(element_id, _LINKS if is_link_id(element_id) else 2), element_id) for element_id in ids)


def _depth(graph: Graph, link: Link, depths: dict[int, int]) -> int:
    """How many links lie below a link."""
    stack: list[Link] = [link]
    while stack:
        current = stack[-1]
        below = [end for end in (current.subject, current.object) if is_link_id(end)]
        missing = [end for end in below if end not in depths]
        if missing:
            stack += [found for found in graph.links(missing) if found.id not in {item.id for item in stack}]
            if stack[-1] is not current:
                continue
        depths[current.id] = 1 + max((depths.get(end, 0) for end in below), default=-1)
        stack.pop()
    return depths[link.id]


def _elements(graph: Graph, places: list[Place]) -> Iterator[Element]:
    yield from graph.concepts(number for rank, number in places if rank < _LINKS)
    yield from graph.links(number for rank, number in places if rank >= _LINKS)


class _Page:
    """One UPSERT statement under construction."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._blocks: list[str] = []
        self._handles: dict[int, str] = {}
        self._bytes = len(_OPEN) + len(_CLOSE)
        self.concepts = 0
        self.propositions = 0

    @property
    def size(self) -> int:
        return self.concepts + self.propositions

    def text(self) -> str:
        return _OPEN + "".join(self._blocks) + _CLOSE if self._blocks else ""

    def add(self, element: Element) -> bool:
        """Append an element; False if the page is full. KIP_4002 if one element alone is too large for a command."""
        before = len(self._blocks), dict(self._handles)
        if isinstance(element, Concept):
            handle = f"?c{self.concepts + 1}"
            block = _concept_block(element, handle)
        else:
            handle = f"?p{self.propositions + 1}"
            ends = f"({self._end(element.subject)}, {encode(element.predicate)}, {self._end(element.object)})"
            block = _block("PROPOSITION", handle, ends, element.attributes, _exported(element.metadata))
        self._blocks.append(block)
        size = sum(len(block.encode()) for block in self._blocks[before[0] :])
        if self._bytes + size > MAX_BYTES:
            if not before[0]:
                raise KipError(
                    "KIP_4002",
                    "One element is larger than a command text may be.",
                    "Shorten its attributes with UPDATE or DELETE ATTRIBUTES, or leave it out of the export.",
                )
            del self._blocks[before[0] :]
            self._handles = before[1]
            return False
        self._bytes += size
        self._handles[element.id] = handle
        if isinstance(element, Concept):
            self.concepts += 1
        else:
            self.propositions += 1
        return True

    def _end(self, element_id: int) -> str:
        """A handle inside the page, else a structural reference (link ids are not portable)."""
        for link in reversed(self._deep_references(element_id)):
            handle = f"?r{len(self._handles) + 1}"
            self._blocks.append(_block("PROPOSITION", handle, self._structure(link), {}, {}))
            self._handles[link.id] = handle
        return self._reference(element_id)

    def _deep_references(self, element_id: int) -> list[Link]:
        """Every _DEEP-th link below an element, outermost first, on its longest chain of references."""
        found: list[Link] = []
        depth = 0
        current = element_id
        while is_link_id(current) and current not in self._handles:
            link = self._graph.link(current)
            assert link is not None
            if depth and depth % _DEEP == 0:
                found.append(link)
            depth += 1
            below = [end for end in (link.subject, link.object) if is_link_id(end)]
            current = below[0] if below else 0
        return found

    def _reference(self, element_id: int) -> str:
        if element_id in self._handles:
            return self._handles[element_id]
        element = self._graph.element(element_id)
        assert element is not None
        return _identity(element) if isinstance(element, Concept) else self._structure(element)

    def _structure(self, link: Link) -> str:
        return f"({self._reference(link.subject)}, {encode(link.predicate)}, {self._reference(link.object)})"


def _identity(node: Concept) -> str:
    return f"{{type: {encode(node.type)}, name: {encode(node.name)}}}"


def _concept_block(node: Concept, handle: str) -> str:
    if protect.is_core(node.type, node.name):
        return _block("CONCEPT", handle, _identity(node), {}, {})
    attributes = node.attributes
    if protect.is_actor(node.type, node.name):
        attributes = {key: value for key, value in attributes.items() if key != protect.DIRECTIVES}
    return _block("CONCEPT", handle, _identity(node), attributes, _exported(node.metadata))


def _block(word: str, handle: str, identity: str, attributes: dict[str, Any], metadata: dict[str, Any]) -> str:
    parts = [f"  {word} {handle} {{ {identity}"]
    if attributes:
        parts.append(f" SET ATTRIBUTES {canonical(attributes)}")
    parts.append(" }")
    if metadata:
        parts.append(f" WITH METADATA {canonical(metadata)}")
    return "".join(parts) + "\n"


def _exported(metadata: dict[str, Any]) -> dict[str, Any]:
    """Author metadata: the engine's own keys stay behind."""
    return {key: value for key, value in metadata.items() if not key.startswith("_")}
