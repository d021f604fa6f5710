"""A SELECT under construction: what its variables stand for, its FROM items, and what follows from what.

`Compiler` is the state of one compilation; a `Scope` is one SELECT of it. Inner scopes see the variables of the outer
one as SQL expressions, so that a whole WHERE block stays one statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import bind, operands, tree
from trivium.kip.bind import Convert, Parameters, Source
from trivium.kip.patterns import is_internal
from trivium.kip.snapshot import Snapshot
from trivium.kip.values import short
from trivium.store.dialect import Dialect

CONCEPT, LINK, ELEMENT, PREDICATE, ANY = "concept", "link", "element", "predicate", "any"


class Bound(Struct, frozen=True):
    """What a variable stands for: `expr` is an element id, or a predicate name for kind PREDICATE."""

    expr: str
    kind: str
    nullable: bool = False
    start: str | None = None  # the same value as an expression that needs no FROM item

    def element(self, dialect: Dialect) -> str:
        """The element id, null where the variable stands for a predicate name."""
        if self.kind != ANY:
            return self.expr
        return f"CASE WHEN {dialect.type_of_value(self.expr)} = 'integer' THEN {self.expr} END"

    def predicate(self, dialect: Dialect) -> str:
        """The predicate name, null where the variable stands for an element."""
        if self.kind != ANY:
            return self.expr
        return f"CASE WHEN {dialect.type_of_value(self.expr)} = 'text' THEN {self.expr} END"


DEEP = 6
"""Nested scopes from which on an inner one is kept out of the depth of the expression that it stands in."""


class Compiler:
    """State of one compilation: binding sources, aliases, the snapshot, and what must hold before running."""

    def __init__(
        self,
        snapshot: Snapshot,
        dialect: Dialect,
        parameters: Parameters,
        *,
        max_hops: int,
        has_limit: bool,
        degrees: dict[tuple[int, str], int] | None = None,
        tokens: list[str] | None = None,
    ) -> None:
        self.tokens = tokens
        self.snapshot = snapshot
        self.dialect = dialect
        self.parameters = parameters
        self.max_hops = max_hops
        self.has_limit = has_limit
        self.degrees = degrees
        self.sources: list[Source] = []
        self.must_exist: list[tuple[int, str]] = []
        self.notes: list[str] = []
        self._numbers: dict[tuple[Any, ...], str] = {}
        self._aliases = 0
        self._internal = 0
        self.ctx = self.constant(snapshot.ctx)

    def bind(self, value: tree.Value, convert: Convert, share: str | None = None) -> str:
        """A placeholder for a value position; equal positions with the same conversion share one."""
        source = bind.source(value, convert, self.parameters)
        return self._placeholder(source, (share or convert, source.at, source.param))

    def constant(self, value: Any) -> str:
        return self._placeholder(bind.constant(value), ("constant", type(value), value))

    def _placeholder(self, source: Source, key: tuple[Any, ...]) -> str:
        found = self._numbers.get(key)
        if found is None:
            self.sources.append(source)
            found = self._numbers[key] = self.dialect.placeholder(len(self.sources))
        return found

    def read(self, value: tree.Value) -> object:
        """The value at hand while compiling (plans for other values are variants)."""
        if self.tokens is not None and isinstance(value, tree.Lit) and value.at >= 0:
            return bind.token_value(self.tokens, value.at)
        return bind.resolve(value, self.parameters)

    def alias(self, letter: str) -> str:
        self._aliases += 1
        return f"{letter}{self._aliases}"

    def fresh(self) -> str:
        self._internal += 1
        return f"#{self._internal}"


class Scope:
    """One SELECT: FROM items in join order, conditions, and the variables bound so far.

    `outer` maps the variables that enclosing scopes lend to this one.
    """

    def __init__(self, compiler: Compiler, outer: dict[str, Bound] | None = None, lender: Scope | None = None) -> None:
        self.compiler = compiler
        self.outer = dict(outer or {})
        self.lender = lender
        self.depth: int = 0 if lender is None else lender.depth + 1
        self.own: dict[str, Bound] = {}
        self.items: list[str] = []
        self.where: list[str] = []
        self.rows: dict[tuple[str, str], str] = {}
        self.facts: list[tuple[frozenset[str], frozenset[str]]] = []

    @property
    def is_deep(self) -> bool:
        """Whether so many scopes lie around this one that the depth of expressions counts."""
        return self.depth >= DEEP

    # --- variables --------------------------------------------------------------------------------

    def lookup(self, name: str) -> Bound | None:
        return self.own.get(name) or self.outer.get(name)

    def require(self, name: str, at: int) -> Bound:
        found = self.lookup(name)
        if found is None:
            raise unbound(name, at)
        return found

    def visible(self) -> dict[str, Bound]:
        """Every variable that an inner scope may see."""
        return {**self.outer, **{name: bound for name, bound in self.own.items() if not is_internal(name)}}

    def names(self) -> list[str]:
        """The user's variables bound here, in binding order."""
        return [name for name in self.own if not is_internal(name)]

    def visible_own(self) -> dict[str, Bound]:
        return {name: self.own[name] for name in self.names()}

    def assign(self, name: str, bound: Bound) -> None:
        self.own[name] = bound
        self.rows = {key: alias for key, alias in self.rows.items() if key[1] != name}

    def refine(self, name: str, bound: Bound) -> None:
        """Note more about a variable without making a lent one ours."""
        if name in self.own:
            self.own[name] = bound
        else:
            self.outer[name] = bound

    def row(self, name: str, table: str) -> str:
        """The alias of a variable's concept or link row, joined when needed (all null if it is none)."""
        scope: Scope | None = self
        bound = self.require(name, -1)
        while scope is not None and scope.lookup(name) is bound:
            if (table, name) in scope.rows:
                return scope.rows[table, name]
            scope = scope.lender
        alias = self.compiler.alias(table[0])
        self.start()
        self.items.append(f"LEFT JOIN {table} AS {alias} ON {alias}.id = {bound.element(self.compiler.dialect)}")
        self.rows[table, name] = alias
        return alias

    def start(self) -> None:
        """Give a left join or a lateral item something to stand behind."""
        if not self.items:
            self.items.append(f"(SELECT 1) AS {self.compiler.alias('one')}")

    def determines(self, needs: Iterable[str], gives: Iterable[str]) -> None:
        self.facts.append((frozenset(needs), frozenset(gives)))

    def closure(self, names: Iterable[str]) -> set[str]:
        """All variables (internal ones included) whose bindings follow from those of `names`."""
        known = set(names) | (self.outer.keys() - self.own.keys())
        grew = True
        while grew:
            grew = False
            for needs, gives in self.facts:
                if needs <= known and not gives <= known:
                    known |= gives
                    grew = True
        return known

    def is_unique(self, names: Iterable[str]) -> bool:
        """Whether two rows of this SELECT always differ in `names`."""
        return self.own.keys() <= self.closure(names)

    def sql(self, columns: list[str], *, distinct: bool = False, tail: str = "") -> str:
        """The SELECT; no FROM when nothing is joined."""
        parts = ["SELECT " + ("DISTINCT " if distinct else "") + ", ".join(columns or ["1"])]
        if self.items:
            parts.append("FROM " + self.compiler.dialect.join(self.items))
        if self.where:
            parts.append("WHERE " + operands.joined("\n  AND ", self.where, room=8 if self.is_deep else 32))
        if tail:
            parts.append(tail)
        return "\n".join(parts)

    def condition(self, text: str) -> None:
        if text != operands.TRUE:
            self.where.append(text)


def unbound(name: str, at: int) -> KipError:
    return KipError(
        "KIP_3001",
        f"The variable ?{short(name)} is not bound here.",
        f"Bind ?{short(name)} in a clause of WHERE that stands before and outside of NOT.",
        at=at,
    )
