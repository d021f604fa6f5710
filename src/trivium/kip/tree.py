"""The syntax tree of a KIP command.

Every node that an error may point at carries `at`, the index of its first token (see `lexer.locate`); `at` takes no
part in equality. A value position holds one of

- `Lit`: a literal; `value` is a plain JSON value (dicts and lists included),
- `Param`: a placeholder `:name` that fills the whole position,
- `Template`: a dict or list literal in which `Param`s occur at any depth.

The parser makes the tree from text alone; `bind` replaces placeholders by parameters.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Node(msgspec.Struct, eq=False):
    """Base of all nodes: equality and `repr` leave `at` out."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__struct_fields__ if name != "at")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name != "at")
        return f"{type(self).__name__}({shown})"


# --- values ---------------------------------------------------------------------------------------


class Lit(Node):
    """A literal; `at` is its token, which is also how a cached plan finds the value in another text of equal shape."""

    value: Any
    at: int = -1


class Param(Node):
    """A placeholder `:name` (§6.1, `parameters`)."""

    name: str
    at: int = -1


class Template(Node):
    """A dict or list that holds `Param`s somewhere inside (plain JSON values otherwise)."""

    value: Any
    at: int = -1


Value = Lit | Param | Template


class Var(Node):
    """A variable or handle; `name` without the question mark."""

    name: str
    at: int = -1


class Path(Node):
    """`?var` (no steps) or `?var.attributes.key` (§3.2)."""

    var: str
    steps: tuple[str, ...] = ()
    at: int = -1


class Aggregate(Node):
    """COUNT, SUM, AVG, MIN or MAX over a path (§3.3)."""

    func: str
    distinct: bool
    path: Path
    at: int = -1


# --- patterns (§3.4) ------------------------------------------------------------------------------


class ConceptMatch(Node):
    """`{id: …}`, `{type: …}`, `{name: …}` or `{type: …, name: …}`."""

    id: Value | None = None
    type: Value | None = None
    name: Value | None = None
    at: int = -1


class LinkById(Node):
    """`(id: …)`."""

    id: Value
    at: int = -1


class PredicateNames(Node):
    """One literal predicate or alternatives `"a" | "b"`."""

    names: list[Value]
    at: int = -1


class PredicatePath(Node):
    """`"p"{low,high}`; `high` None is unbounded."""

    name: Value
    low: int
    high: int | None
    at: int = -1


class LinkPattern(Node):
    """`(subject, predicate, object)`."""

    subject: Term
    predicate: Var | PredicateNames | PredicatePath
    object: Term
    at: int = -1


LinkMatch = LinkById | LinkPattern
Term = Var | ConceptMatch | LinkById | LinkPattern


class ConceptClause(Node):
    var: Var
    match: ConceptMatch
    at: int = -1


class LinkClause(Node):
    var: Var | None
    match: LinkMatch
    at: int = -1


class Filter(Node):
    expr: Expr
    at: int = -1


class Not(Node):
    group: Group
    at: int = -1


class Optional(Node):
    group: Group
    at: int = -1


class Union(Node):
    group: Group
    at: int = -1


Clause = ConceptClause | LinkClause | Filter | Not | Optional | Union


class Group(Node):
    clauses: list[Clause]
    at: int = -1


# --- filter expressions (§3.4.3) ------------------------------------------------------------------

Operand = Path | Lit | Param | Template


class Compare(Node):
    """`left op right` with op one of `== != < > <= >=`."""

    op: str
    left: Operand
    right: Operand
    at: int = -1


class Call(Node):
    """CONTAINS, STARTS_WITH, ENDS_WITH, REGEX (two operands), IN (operand, list), IS_NULL, IS_NOT_NULL (one)."""

    func: str
    args: list[Operand]
    at: int = -1


class And(Node):
    items: list[Expr]
    at: int = -1


class Or(Node):
    items: list[Expr]
    at: int = -1


class Negation(Node):
    item: Expr
    at: int = -1


Expr = Compare | Call | And | Or | Negation


# --- KQL ------------------------------------------------------------------------------------------


class SortKey(Node):
    expr: Path | Aggregate
    descending: bool = False
    at: int = -1


class Find(Node):
    items: list[Path | Aggregate]
    where: Group
    order_by: list[SortKey] = []
    limit: Value | None = None
    cursor: Value | None = None
    at: int = -1


# --- KML ------------------------------------------------------------------------------------------


class PropositionEntry(Node):
    """One entry of SET PROPOSITIONS."""

    predicate: Value
    target: Term
    metadata: Value | None = None
    at: int = -1


class ConceptBlock(Node):
    """`identity` holds id, or type and name."""

    handle: Var | None
    identity: ConceptMatch
    expect_version: Value | None = None
    attributes: Value | None = None
    propositions: list[PropositionEntry] = []
    metadata: Value | None = None
    at: int = -1


class PropositionBlock(Node):
    """`identity` is `(id: …)` or `(target, "p", target)`; its terms are handles, concept identities, or links."""

    handle: Var | None
    identity: LinkMatch
    expect_version: Value | None = None
    attributes: Value | None = None
    metadata: Value | None = None
    at: int = -1


class UpsertStatement(Node):
    blocks: list[ConceptBlock | PropositionBlock]
    metadata: Value | None = None
    at: int = -1


class Upsert(Node):
    """One command text of one or more UPSERT statements (§4.1)."""

    statements: list[UpsertStatement]
    at: int = -1


class UpdateCall(Node):
    """ADD, MUL, CLAMP or COALESCE; operands are numbers, placeholders, paths on the target, or further calls."""

    func: str
    args: list[Lit | Param | Path | UpdateCall]
    at: int = -1


class UpdateObject(Node):
    """An UPDATE SET block: each key with a value or a call; or `param`, a placeholder for the whole object."""

    entries: list[tuple[str, Value | UpdateCall]]
    param: Param | None = None
    at: int = -1


class Update(Node):
    target: Var
    attributes: UpdateObject | None
    metadata: UpdateObject | None
    where: Group
    limit: Value | None = None
    at: int = -1


class Merge(Node):
    source: Var
    target: Var
    where: Group
    at: int = -1


class DeleteKeys(Node):
    """DELETE ATTRIBUTES or DELETE METADATA; `part` is `attributes` or `metadata`."""

    part: str
    keys: list[Value]
    target: Var
    where: Group
    at: int = -1


class DeletePropositions(Node):
    target: Var
    where: Group
    at: int = -1


class DeleteConcept(Node):
    target: Var
    where: Group
    at: int = -1


# --- META -----------------------------------------------------------------------------------------


class DescribePrimer(Node):
    at: int = -1


class DescribeDomains(Node):
    at: int = -1


class DescribeTypes(Node):
    """`kind` is `CONCEPT` or `PROPOSITION`."""

    kind: str
    limit: Value | None = None
    cursor: Value | None = None
    at: int = -1


class DescribeType(Node):
    kind: str
    name: Value
    at: int = -1


class Search(Node):
    kind: str
    term: Value
    type: Value | None = None
    mode: Value | None = None
    threshold: Value | None = None
    limit: Value | None = None
    at: int = -1


class Export(Node):
    target: Var
    where: Group
    limit: Value | None = None
    cursor: Value | None = None
    at: int = -1


Write = Upsert | Update | Merge | DeleteKeys | DeletePropositions | DeleteConcept
Meta = DescribePrimer | DescribeDomains | DescribeTypes | DescribeType | Search | Export
Command = Find | Write | Meta
