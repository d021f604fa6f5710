"""Graph and query tree of the test oracle, with printers to KIP text.

Section numbers refer to the protocol text, KIP 1.0-RC10. Nothing here depends on the engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# --------------------------------------------------------------------------- graph (§2.2, §2.3)


@dataclass(eq=False)
class Node:
    """A concept node. ``key`` is the oracle's own name for it, ``id`` the one in force in queries."""

    key: str
    type: str
    name: str
    attributes: dict[str, Any]
    metadata: dict[str, Any]
    id: str

    def to_json(self) -> dict[str, Any]:
        """The projection of a bare variable (notes B.1)."""
        return {
            "_type": "ConceptNode",
            "id": self.id,
            "type": self.type,
            "name": self.name,
            "attributes": self.attributes,
            "metadata": self.metadata,
        }


@dataclass(eq=False)
class Link:
    """A proposition link. Endpoints are nodes or links (higher order, §2.3)."""

    key: str
    subject: Element
    predicate: str
    object: Element
    attributes: dict[str, Any]
    metadata: dict[str, Any]
    id: str

    def to_json(self) -> dict[str, Any]:
        """The projection of a bare variable (notes B.1)."""
        return {
            "_type": "PropositionLink",
            "id": self.id,
            "subject": self.subject.id,
            "predicate": self.predicate,
            "object": self.object.id,
            "attributes": self.attributes,
            "metadata": self.metadata,
        }


Element = Node | Link


class Graph:
    """Nodes, links and the registered names, in insertion order."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.predicates: list[str] = []
        self.nodes: list[Node] = []
        self.links: list[Link] = []
        self._by_key: dict[str, Element] = {}
        self._by_identity: dict[tuple[str, str], Node] = {}
        self._by_triple: dict[tuple[str, str, str], Link] = {}

    def add_node(
        self,
        type_: str,
        name: str,
        attributes: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Node:
        """Create a node; (type, name) is unique (§2.2)."""
        if (type_, name) in self._by_identity:
            raise ValueError(f"node exists: {type_} {name}")
        key = f"n{len(self.nodes)}"
        node = Node(key, type_, name, dict(attributes or {}), dict(metadata or {}), f"C:{key}")
        self.nodes.append(node)
        self._by_key[key] = self._by_identity[type_, name] = node
        return node

    def add_link(
        self,
        subject: Element,
        predicate: str,
        object_: Element,
        attributes: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Link:
        """Create a link; (subject, predicate, object) is unique (§2.10)."""
        triple = (subject.key, predicate, object_.key)
        if triple in self._by_triple:
            raise ValueError(f"link exists: {triple}")
        key = f"l{len(self.links)}"
        link = Link(
            key,
            subject,
            predicate,
            object_,
            dict(attributes or {}),
            dict(metadata or {}),
            f"P:{key}:{predicate}",
        )
        self.links.append(link)
        self._by_key[key] = self._by_triple[triple] = link
        return link

    def find_node(self, type_: str, name: str) -> Node | None:
        return self._by_identity.get((type_, name))

    def find_link(self, subject: Element, predicate: str, object_: Element) -> Link | None:
        return self._by_triple.get((subject.key, predicate, object_.key))

    def element(self, key: str) -> Element:
        return self._by_key[key]

    def elements(self) -> list[Element]:
        return [*self.nodes, *self.links]

    def to_capsule(self) -> str:
        """UPSERT text that registers the names and writes all data (§4.1), in dependency order.

        Definitions stand in a statement of their own, before their use (§2.9.1). All data stand
        in one statement, since handles do not outlive it (notes B.7).
        """
        lines = ["UPSERT {"]
        for meta, names in (("$ConceptType", self.types), ("$PropositionType", self.predicates)):
            for name in names:
                attributes: dict[str, Any] = {"description": f"Definition of {name}."}
                if meta == "$PropositionType":
                    attributes |= {"subject_types": ["*"], "object_types": ["*"]}
                identity = f"{{type: {quote(meta)}, name: {quote(name)}}}"
                lines.append(f"  CONCEPT {{ {identity} SET ATTRIBUTES {object_text(attributes)} }}")
        lines.append("}")
        if not self.nodes:
            return "\n".join(lines)
        lines.append("UPSERT {")
        for node in self.nodes:
            identity = f"{{type: {quote(node.type)}, name: {quote(node.name)}}}"
            lines.append(f"  CONCEPT ?{node.key} {{ {identity}{_set_attributes(node)} }}{_with_metadata(node)}")
        for link in self.links:
            triple = f"(?{link.subject.key}, {quote(link.predicate)}, ?{link.object.key})"
            lines.append(f"  PROPOSITION ?{link.key} {{ {triple}{_set_attributes(link)} }}{_with_metadata(link)}")
        lines.append("}")
        return "\n".join(lines)


def _set_attributes(element: Element) -> str:
    return f" SET ATTRIBUTES {object_text(element.attributes)}" if element.attributes else ""


def _with_metadata(element: Element) -> str:
    return f" WITH METADATA {object_text(element.metadata)}" if element.metadata else ""


def quote(text: str) -> str:
    """A string literal (notes A.1)."""
    return json.dumps(text, ensure_ascii=False)


def object_text(value: Mapping[str, Any]) -> str:
    """An object literal with bare keys where they are identifiers (§2.7)."""
    parts = []
    for key, item in value.items():
        name = key if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key) else quote(key)
        parts.append(f"{name}: {json.dumps(item, ensure_ascii=False)}")
    return "{" + ", ".join(parts) + "}"


# --------------------------------------------------------------------------- query tree (§3)


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class ConceptMatch:
    """``{id: …}``, or ``{type: …}``, ``{name: …}`` or both (§3.4.1). ``key`` names an oracle element."""

    type: str | None = None
    name: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class LinkId:
    """``(id: …)`` (§3.4.2)."""

    key: str


@dataclass(frozen=True)
class Names:
    """One literal predicate or several alternatives (§3.4.2)."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class PredicateVar:
    name: str


@dataclass(frozen=True)
class Hops:
    """``"p"{low,high}``; without ``high`` unbounded; ``exact`` spells equal bounds as ``{m}``."""

    name: str
    low: int
    high: int | None
    exact: bool = True

    @property
    def single(self) -> bool:
        """One hop exactly: no path in the sense of the rule on link variables (notes B.4)."""
        return self.low == 1 and self.high == 1


Predicate = Names | PredicateVar | Hops


@dataclass(frozen=True)
class LinkMatch:
    subject: Term
    predicate: Predicate
    object: Term


Term = Var | ConceptMatch | LinkId | LinkMatch


@dataclass(frozen=True)
class ConceptClause:
    var: str
    match: ConceptMatch


@dataclass(frozen=True)
class LinkClause:
    var: str | None
    match: LinkMatch | LinkId


@dataclass(frozen=True)
class Filter:
    expr: Expr


@dataclass(frozen=True)
class Not:
    group: Group


@dataclass(frozen=True)
class Optional:
    group: Group


@dataclass(frozen=True)
class Union:
    group: Group


Clause = ConceptClause | LinkClause | Filter | Not | Optional | Union
Group = tuple[Clause, ...]


@dataclass(frozen=True)
class Path:
    """A variable with dot steps (§3.2)."""

    var: str
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Literal:
    """A scalar, or a list of scalars (notes A.3)."""

    value: Any = field(hash=False)


Operand = Path | Literal


@dataclass(frozen=True)
class Compare:
    op: str
    left: Operand
    right: Operand


@dataclass(frozen=True)
class Call:
    """CONTAINS, STARTS_WITH, ENDS_WITH, REGEX, IN, IS_NULL, IS_NOT_NULL (§3.4.3)."""

    name: str
    args: tuple[Operand, ...]


@dataclass(frozen=True)
class And:
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Or:
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Negate:
    item: Expr


Expr = Compare | Call | And | Or | Negate


@dataclass(frozen=True)
class Aggregate:
    func: str
    path: Path
    distinct: bool = False


FindItem = Path | Aggregate


@dataclass(frozen=True)
class SortKey:
    expr: FindItem
    descending: bool = False


@dataclass(frozen=True)
class Query:
    find: tuple[FindItem, ...]
    where: Group
    order: tuple[SortKey, ...] = ()
    limit: int | None = None

    @property
    def scalar(self) -> bool:
        """Only aggregates: scalars in place of columns (§6.2.2)."""
        return all(isinstance(item, Aggregate) for item in self.find)


# --------------------------------------------------------------------------- variables


def term_vars(term: Term) -> Iterator[str]:
    """Variables of a term, inner ones included (§3.4.2)."""
    if isinstance(term, Var):
        yield term.name
    elif isinstance(term, LinkMatch):
        yield from term_vars(term.subject)
        if isinstance(term.predicate, PredicateVar):
            yield term.predicate.name
        yield from term_vars(term.object)


def pattern_vars(clause: ConceptClause | LinkClause) -> list[str]:
    """All variables that a pattern clause mentions, once each."""
    names = [clause.var] if clause.var is not None else []
    if isinstance(clause, LinkClause) and isinstance(clause.match, LinkMatch):
        names += term_vars(clause.match)
    return list(dict.fromkeys(names))


def visible_vars(group: Iterable[Clause]) -> dict[str, None]:
    """Variables that a group makes visible outside: those of NOT stay inside (§3.4.7)."""
    names: dict[str, None] = {}
    for clause in group:
        if isinstance(clause, ConceptClause | LinkClause):
            names |= dict.fromkeys(pattern_vars(clause))
        elif isinstance(clause, Optional | Union):
            names |= visible_vars(clause.group)
    return names


def expr_paths(expr: Expr) -> Iterator[Path]:
    """Paths that a filter expression reads."""
    if isinstance(expr, Compare):
        yield from (x for x in (expr.left, expr.right) if isinstance(x, Path))
    elif isinstance(expr, Call):
        yield from (x for x in expr.args if isinstance(x, Path))
    elif isinstance(expr, Negate):
        yield from expr_paths(expr.item)
    else:
        for item in expr.items:
            yield from expr_paths(item)


def item_path(item: FindItem) -> Path:
    return item.path if isinstance(item, Aggregate) else item


# --------------------------------------------------------------------------- printer (notes A.3)


class Printer:
    """Prints a query; ``graph`` gives the ids of the elements named by key."""

    def __init__(self, graph: Graph | None = None) -> None:
        self._graph = graph

    def query(self, query: Query, cursor: str | None = None) -> str:
        lines = [f"FIND({', '.join(self.item(x) for x in query.find)})", f"WHERE {self.group(query.where, '')}"]
        if query.order:
            # ASC is the default (§3.5); it is spelled on all keys but the first.
            words = [" DESC" if k.descending else " ASC" if i else "" for i, k in enumerate(query.order)]
            keys = [self.item(k.expr) + word for k, word in zip(query.order, words, strict=True)]
            lines.append(f"ORDER BY {', '.join(keys)}")
        if query.limit is not None:
            lines.append(f"LIMIT {query.limit}")
        if cursor is not None:
            lines.append(f"CURSOR {quote(cursor)}")
        return "\n".join(lines)

    def group(self, group: Group, indent: str) -> str:
        inner = indent + "  "
        body = "".join(f"{inner}{self.clause(clause, inner)}\n" for clause in group)
        return "{\n" + body + indent + "}"

    def clause(self, clause: Clause, indent: str) -> str:
        if isinstance(clause, ConceptClause):
            return f"?{clause.var} {self.term(clause.match)}"
        if isinstance(clause, LinkClause):
            return (f"?{clause.var} " if clause.var is not None else "") + self.term(clause.match)
        if isinstance(clause, Filter):
            return f"FILTER({self.expr(clause.expr)})"
        return f"{type(clause).__name__.upper()} {self.group(clause.group, indent)}"

    def term(self, term: Term) -> str:
        if isinstance(term, Var):
            return f"?{term.name}"
        if isinstance(term, LinkId):
            return f"(id: {quote(self._id(term.key))})"
        if isinstance(term, ConceptMatch):
            parts = [("id", self._id(term.key) if term.key else None), ("type", term.type), ("name", term.name)]
            return "{" + ", ".join(f"{k}: {quote(v)}" for k, v in parts if v is not None) + "}"
        return f"({self.term(term.subject)}, {self.predicate(term.predicate)}, {self.term(term.object)})"

    def predicate(self, predicate: Predicate) -> str:
        if isinstance(predicate, PredicateVar):
            return f"?{predicate.name}"
        if isinstance(predicate, Names):
            return " | ".join(quote(name) for name in predicate.names)
        if predicate.low == predicate.high and predicate.exact:
            return f"{quote(predicate.name)}{{{predicate.low}}}"
        high = "" if predicate.high is None else predicate.high
        return f"{quote(predicate.name)}{{{predicate.low},{high}}}"

    def expr(self, expr: Expr) -> str:
        if isinstance(expr, Compare):
            return f"{self.operand(expr.left)} {expr.op} {self.operand(expr.right)}"
        if isinstance(expr, Call):
            return f"{expr.name}({', '.join(self.operand(x) for x in expr.args)})"
        if isinstance(expr, Negate):
            return "!" + (self.expr(expr.item) if isinstance(expr.item, Call | Negate) else f"({self.expr(expr.item)})")
        if isinstance(expr, And):
            return " && ".join(f"({self.expr(x)})" if isinstance(x, Or) else self.expr(x) for x in expr.items)
        return " || ".join(self.expr(x) for x in expr.items)

    def operand(self, operand: Operand) -> str:
        if isinstance(operand, Path):
            return self.item(operand)
        return json.dumps(operand.value, ensure_ascii=False)

    def item(self, item: FindItem) -> str:
        if isinstance(item, Aggregate):
            return f"{item.func}({'DISTINCT ' if item.distinct else ''}{self.item(item.path)})"
        return ".".join([f"?{item.var}", *item.steps])

    def _id(self, key: str) -> str:
        if self._graph is None:
            raise ValueError("a query that names an element by id needs its graph to be printed")
        return self._graph.element(key).id


def to_kip(query: Query, graph: Graph | None = None, cursor: str | None = None) -> str:
    """Command text of a query (§3.1)."""
    return Printer(graph).query(query, cursor)
