"""The syntax tree of a KIP command.

Every node that an error may point at carries `at`, the index of its first token (see `lexer.locate`); `at` takes no
part in equality. A value position holds one of

- `Lit`: a literal; `value` is a plain JSON value (dicts and lists included),
- `Param`: a placeholder `:name` that fills the whole position,
- `Template`: a dict or list literal in which `Param`s occur at any depth.

The parser makes the tree from text alone; `bind` replaces placeholders by parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _at() -> Any:
    return field(default=-1, compare=False, repr=False)


# --- values ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Lit:
    """A literal; `at` is its token, which is also how a cached plan finds the value in another text of equal shape."""

    value: Any
    at: int = _at()


@dataclass(slots=True)
class Param:
    """A placeholder `:name` (§6.1, `parameters`)."""

    name: str
    at: int = _at()


@dataclass(slots=True)
class Template:
    """A dict or list that holds `Param`s somewhere inside (plain JSON values otherwise)."""

    value: Any
    at: int = _at()


Value = Lit | Param | Template


@dataclass(slots=True)
class Var:
    """A variable or handle; `name` without the question mark."""

    name: str
    at: int = _at()


@dataclass(slots=True)
class Path:
    """`?var` (no steps) or `?var.attributes.key` (§3.2)."""

    var: str
    steps: tuple[str, ...] = ()
    at: int = _at()


@dataclass(slots=True)
class Aggregate:
    """COUNT, SUM, AVG, MIN or MAX over a path (§3.3)."""

    func: str
    distinct: bool
    path: Path
    at: int = _at()


# --- patterns (§3.4) ------------------------------------------------------------------------------


@dataclass(slots=True)
class ConceptMatch:
    """`{id: …}`, `{type: …}`, `{name: …}` or `{type: …, name: …}`."""

    id: Value | None = None
    type: Value | None = None
    name: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class LinkById:
    """`(id: …)`."""

    id: Value
    at: int = _at()


@dataclass(slots=True)
class PredicateNames:
    """One literal predicate or alternatives `"a" | "b"`."""

    names: list[Value]
    at: int = _at()


@dataclass(slots=True)
class PredicatePath:
    """`"p"{low,high}`; `high` None is unbounded."""

    name: Value
    low: int
    high: int | None
    at: int = _at()


@dataclass(slots=True)
class LinkPattern:
    """`(subject, predicate, object)`."""

    subject: Term
    predicate: Var | PredicateNames | PredicatePath
    object: Term
    at: int = _at()


LinkMatch = LinkById | LinkPattern
Term = Var | ConceptMatch | LinkById | LinkPattern


@dataclass(slots=True)
class ConceptClause:
    var: Var
    match: ConceptMatch
    at: int = _at()


@dataclass(slots=True)
class LinkClause:
    var: Var | None
    match: LinkMatch
    at: int = _at()


@dataclass(slots=True)
class Filter:
    expr: Expr
    at: int = _at()


@dataclass(slots=True)
class Not:
    group: Group
    at: int = _at()


@dataclass(slots=True)
class Optional:
    group: Group
    at: int = _at()


@dataclass(slots=True)
class Union:
    group: Group
    at: int = _at()


Clause = ConceptClause | LinkClause | Filter | Not | Optional | Union


@dataclass(slots=True)
class Group:
    clauses: list[Clause]
    at: int = _at()


# --- filter expressions (§3.4.3) ------------------------------------------------------------------

Operand = Path | Lit | Param | Template


@dataclass(slots=True)
class Compare:
    """`left op right` with op one of `== != < > <= >=`."""

    op: str
    left: Operand
    right: Operand
    at: int = _at()


@dataclass(slots=True)
class Call:
    """CONTAINS, STARTS_WITH, ENDS_WITH, REGEX (two operands), IN (operand, list), IS_NULL, IS_NOT_NULL (one)."""

    func: str
    args: list[Operand]
    at: int = _at()


@dataclass(slots=True)
class And:
    items: list[Expr]
    at: int = _at()


@dataclass(slots=True)
class Or:
    items: list[Expr]
    at: int = _at()


@dataclass(slots=True)
class Negation:
    item: Expr
    at: int = _at()


Expr = Compare | Call | And | Or | Negation


# --- KQL ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class SortKey:
    expr: Path | Aggregate
    descending: bool = False
    at: int = _at()


@dataclass(slots=True)
class Find:
    items: list[Path | Aggregate]
    where: Group
    order_by: list[SortKey] = field(default_factory=list)
    limit: Value | None = None
    cursor: Value | None = None
    at: int = _at()


# --- KML ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class PropositionEntry:
    """One entry of SET PROPOSITIONS."""

    predicate: Value
    target: Term
    metadata: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class ConceptBlock:
    """`identity` holds id, or type and name."""

    handle: Var | None
    identity: ConceptMatch
    expect_version: Value | None = None
    attributes: Value | None = None
    propositions: list[PropositionEntry] = field(default_factory=list)
    metadata: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class PropositionBlock:
    """`identity` is `(id: …)` or `(target, "p", target)`; its terms are handles, concept identities, or links."""

    handle: Var | None
    identity: LinkMatch
    expect_version: Value | None = None
    attributes: Value | None = None
    metadata: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class UpsertStatement:
    blocks: list[ConceptBlock | PropositionBlock]
    metadata: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class Upsert:
    """One command text of one or more UPSERT statements (§4.1)."""

    statements: list[UpsertStatement]
    at: int = _at()


@dataclass(slots=True)
class UpdateCall:
    """ADD, MUL, CLAMP or COALESCE; operands are numbers, placeholders, paths on the target, or further calls."""

    func: str
    args: list[Lit | Param | Path | UpdateCall]
    at: int = _at()


@dataclass(slots=True)
class UpdateObject:
    """An UPDATE SET block: each key with a value or a call; or `param`, a placeholder for the whole object."""

    entries: list[tuple[str, Value | UpdateCall]]
    param: Param | None = None
    at: int = _at()


@dataclass(slots=True)
class Update:
    target: Var
    attributes: UpdateObject | None
    metadata: UpdateObject | None
    where: Group
    limit: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class Merge:
    source: Var
    target: Var
    where: Group
    at: int = _at()


@dataclass(slots=True)
class DeleteKeys:
    """DELETE ATTRIBUTES or DELETE METADATA; `part` is `attributes` or `metadata`."""

    part: str
    keys: list[Value]
    target: Var
    where: Group
    at: int = _at()


@dataclass(slots=True)
class DeletePropositions:
    target: Var
    where: Group
    at: int = _at()


@dataclass(slots=True)
class DeleteConcept:
    target: Var
    where: Group
    at: int = _at()


# --- META -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class DescribePrimer:
    at: int = _at()


@dataclass(slots=True)
class DescribeDomains:
    at: int = _at()


@dataclass(slots=True)
class DescribeTypes:
    """`kind` is `CONCEPT` or `PROPOSITION`."""

    kind: str
    limit: Value | None = None
    cursor: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class DescribeType:
    kind: str
    name: Value
    at: int = _at()


@dataclass(slots=True)
class Search:
    kind: str
    term: Value
    type: Value | None = None
    mode: Value | None = None
    threshold: Value | None = None
    limit: Value | None = None
    at: int = _at()


@dataclass(slots=True)
class Export:
    target: Var
    where: Group
    limit: Value | None = None
    cursor: Value | None = None
    at: int = _at()


Write = Upsert | Update | Merge | DeleteKeys | DeletePropositions | DeleteConcept
Meta = DescribePrimer | DescribeDomains | DescribeTypes | DescribeType | Search | Export
Command = Find | Write | Meta
