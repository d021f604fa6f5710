"""Groups of clauses to SQL: one flat SELECT per scope, in the order that `order` decided.

A `Scope` is a SELECT under construction. NOT becomes NOT EXISTS over an inner scope, OPTIONAL a left join of its rows,
UNION a derived table of which the following clauses are joined. Inner scopes see the variables of the outer one as SQL
expressions, so the whole WHERE block stays one statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trivium.errors import KipError
from trivium.kip import bind, operands, tree
from trivium.kip.bind import Convert, Parameters, Source
from trivium.kip.operands import Operand
from trivium.kip.order import Costs, ordered
from trivium.kip.patterns import (
    Atom,
    ConceptAtom,
    LinkAtom,
    LinkIdAtom,
    PathAtom,
    atoms_of,
    is_internal,
    mentioned,
    variables_in,
)
from trivium.kip.snapshot import Snapshot
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
        self.own: dict[str, Bound] = {}
        self.items: list[str] = []
        self.where: list[str] = []
        self.rows: dict[tuple[str, str], str] = {}
        self.facts: list[tuple[frozenset[str], frozenset[str]]] = []

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
        known = set(names) | self.outer.keys()
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
            parts.append("WHERE " + "\n  AND ".join(self.where))
        if tail:
            parts.append(tail)
        return "\n".join(parts)

    def condition(self, text: str) -> None:
        if text != operands.TRUE:
            self.where.append(text)


def unbound(name: str, at: int) -> KipError:
    return KipError(
        "KIP_3001",
        f"The variable ?{name} is not bound here.",
        f"Bind ?{name} in a clause of WHERE that stands before and outside of NOT.",
        at=at,
    )


# --- groups ---------------------------------------------------------------------------------------


class GroupEmitter:
    """Emits one group of clauses into a scope, in text order (§3.4.7)."""

    def __init__(self, scope: Scope, group: tree.Group, *, top: bool = False, anchored: bool = False) -> None:
        self.scope = scope
        self.group = group
        self.top = top
        self.compiler = scope.compiler
        self.atoms: list[Atom] = []
        self.filters: list[tree.Filter] = []
        self.nots: list[tuple[tree.Not, set[str]]] = []
        self.seen: set[str] = set()
        self.started = False
        self._first = top and anchored

    def emit(self) -> None:
        for clause in self.group.clauses:
            if isinstance(clause, (tree.ConceptClause, tree.LinkClause)):
                self._pattern(clause)
            elif isinstance(clause, tree.Filter):
                self._filter(clause)
            elif isinstance(clause, tree.Not):
                self.nots.append((clause, set(self.seen)))
            elif isinstance(clause, tree.Optional):
                self._flush()
                self._optional(clause)
            else:
                self._flush()
                self._union(clause)
                self._first = False
            self.started = True
        self._flush()

    # --- patterns ---------------------------------------------------------------------------------

    def _pattern(self, clause: tree.ConceptClause | tree.LinkClause) -> None:
        atoms = atoms_of(clause, self.compiler.fresh)
        names = {name for atom in atoms for name in atom.variables if not is_internal(name)}
        if isinstance(clause, tree.LinkClause) and clause.var:
            names.add(clause.var.name)
        pathless = [atom for atom in atoms if isinstance(atom, PathAtom) and atom.link]
        if any(self._is_null_prone(name) for name in names):
            self._flush()
            self._guarded(atoms, names)
        else:
            self.atoms += atoms
        self.seen |= names
        for atom in pathless:
            if self.scope.lookup(str(atom.link)) is None:
                self._flush()
                self.scope.assign(str(atom.link), Bound("NULL", LINK, nullable=True))
                self.scope.determines((), (str(atom.link),))

    def _is_null_prone(self, name: str) -> bool:
        bound = self.scope.own.get(name)
        return bound is not None and bound.nullable

    def _flush(self) -> None:
        """Join the atoms gathered so far, each filter as soon as its variables are there, then the NOTs."""
        if not (self.atoms or self.filters or self.nots):
            return
        scope, compiler = self.scope, self.compiler
        costs = Costs(compiler.snapshot, compiler.read, compiler.degrees if self._first else None)
        self._first = False
        bound = set(scope.own) | set(scope.outer)
        for atom in ordered(self.atoms, bound, costs):
            emit_atom(scope, atom, top=self.top)
            self._apply_filters(final=False)
        self.atoms = []
        self._apply_filters(final=True)
        for clause, seen in self.nots:
            self._not(clause, seen)
        self.nots = []

    def _filter(self, clause: tree.Filter) -> None:
        for name, at in variables_in(clause.expr).items():
            if name not in self.seen and name not in self.scope.outer and name not in self.scope.own:
                raise unbound(name, at)
        self.filters.append(clause)

    def _apply_filters(self, *, final: bool) -> None:
        waiting = []
        for clause in self.filters:
            if all(self.scope.lookup(name) is not None for name in variables_in(clause.expr)):
                self.scope.condition(emit_expr(self.scope, clause.expr))
            else:
                waiting.append(clause)
        assert not (final and waiting), waiting
        self.filters = waiting

    def _guarded(self, atoms: list[Atom], names: set[str]) -> None:
        """A pattern that may meet a null of this group: such rows pass it by (docs/kip-semantics.md)."""
        scope = self.scope
        nulls = " OR ".join(self._passes(name) for name in sorted(names) if self._is_null_prone(name))
        inner = Scope(scope.compiler, scope.visible(), scope)
        bound = set(inner.outer)
        for atom in ordered(atoms, bound, Costs(scope.compiler.snapshot, scope.compiler.read)):
            emit_atom(inner, atom, top=False)
        new = inner.names()
        if not new:
            scope.where.append(f"({nulls} OR EXISTS (\n{inner.sql([])}))")
            return
        self._lateral(inner, new, null_when=nulls, left=False)

    def _passes(self, name: str) -> str:
        """When a null of this group lets a row pass; one that the enclosing solution has as well does not match."""
        passes = f"{self.scope.own[name].expr} IS NULL"
        outer = self.scope.outer.get(name)
        return passes if outer is None or not outer.nullable else f"({passes} AND {outer.expr} IS NOT NULL)"

    def _lateral(self, inner: Scope, new: list[str], *, null_when: str | None, left: bool) -> None:
        scope, compiler = self.scope, self.compiler
        alias = compiler.alias("j")
        columns = [f"{inner.own[name].expr} AS c{index}" for index, name in enumerate(new)]
        body = inner.sql(columns, distinct=not inner.is_unique(new))
        item, values = compiler.dialect.lateral_rows(alias, len(new), body, null_when)
        scope.start()
        scope.items.append(f"LEFT JOIN {item} ON 1" if left else item)
        for name, expr in zip(new, values, strict=True):
            scope.assign(name, Bound(expr, inner.own[name].kind, nullable=True))

    # --- NOT, OPTIONAL, UNION ---------------------------------------------------------------------

    def _inner(self, group: tree.Group, seen: set[str] | None) -> Scope:
        scope = self.scope
        lent = scope.visible()
        if seen is not None:
            lent = {name: bound for name, bound in lent.items() if name in seen or name in scope.outer}
        inner = Scope(scope.compiler, lent, scope)
        GroupEmitter(inner, group).emit()
        for name in inner.names():
            outer = lent.get(name)
            if outer is not None:  # rebound by a UNION inside: must agree with the enclosing solution
                own = inner.own[name]
                same = f"{own.expr} = {outer.expr}"
                inner.where.append(f"({own.expr} IS NULL OR {same})" if own.nullable else same)
        return inner

    def _not(self, clause: tree.Not, seen: set[str]) -> None:
        inner = self._inner(clause.group, seen)
        self.scope.where.append(f"NOT EXISTS (\n{inner.sql([])})")

    def _optional(self, clause: tree.Optional) -> None:
        if self._left_join(clause):
            self.seen |= set(self.scope.names())
            return
        inner = self._inner(clause.group, None)
        new = [name for name in inner.names() if name not in inner.outer]
        if new:
            self._lateral(inner, new, null_when=None, left=True)
        self.seen |= set(new)

    def _left_join(self, clause: tree.Optional) -> bool:
        """One link with one new end is a plain left join; everything else needs its rows as a whole."""
        if len(clause.group.clauses) != 1:
            return False
        inner = clause.group.clauses[0]
        if not isinstance(inner, tree.LinkClause) or not isinstance(inner.match, tree.LinkPattern):
            return False
        match, scope = inner.match, self.scope
        if not isinstance(match.subject, tree.Var) or not isinstance(match.object, tree.Var):
            return False
        if isinstance(match.predicate, tree.PredicatePath) or not scope.items:
            return False
        atom = atoms_of(inner, self.compiler.fresh)[0]
        assert isinstance(atom, LinkAtom)
        names = [name for name in (atom.subject, atom.object, atom.predicate, atom.link) if name is not None]
        if len(set(names)) != len(names) or scope.lookup(atom.link) is not None:
            return False
        if scope.lookup(atom.subject) is None and scope.lookup(atom.object) is None:
            return False
        alias = self.compiler.alias("l")
        conditions, bindings = link_terms(scope, atom, alias)
        scope.items.append(f"LEFT JOIN link AS {alias} ON " + " AND ".join(conditions))
        for name, bound in bindings.items():
            scope.assign(name, replace(bound, nullable=True, start=None))
        scope.rows["link", atom.link] = alias
        # A null link says nothing about the end that was bound before, so only the new bindings follow from it.
        scope.determines((atom.link,), bindings)
        if atom.names is not None and len(atom.names) == 1:
            scope.determines((atom.subject, atom.object), (atom.link,))
        return True

    def _union(self, clause: tree.Union) -> None:
        """What precedes and the block, each on its own, as one table of distinct rows (§3.4.7.3)."""
        scope, compiler = self.scope, self.compiler
        right = Scope(compiler)
        GroupEmitter(right, clause.group).emit()
        used = mentioned(self.group)
        left = {**{name: bound for name, bound in scope.outer.items() if name in used}, **scope.visible_own()}
        if not self.started:  # nothing precedes: no row, but what is visible is still null in the block's rows
            left = {name: replace(bound, expr="NULL", nullable=True) for name, bound in left.items()}
        names = sorted(left.keys() | set(right.names()))
        table = compiler.alias("u")
        selects = []
        if self.started:
            selects.append(scope.sql(_columns(names, left)))
        selects.append(right.sql(_columns(names, right.visible_own()), distinct=not self.started))
        merged = Scope(compiler, scope.outer, scope.lender)
        body = "\nUNION\n".join(selects)
        merged.items.append(f"(\n{body}) AS {table}")
        for index, name in enumerate(names):
            sides = [side[name] for side in (left, right.own) if name in side]
            merged.own[name] = Bound(
                f"{table}.c{index}",
                _common_kind(sides),
                nullable=any(side.nullable for side in sides) or len(sides) < 2,
            )
        scope.items, scope.where, scope.own = merged.items, merged.where, merged.own
        scope.rows, scope.facts = {}, []
        self.seen |= set(names)


def _columns(names: list[str], side: dict[str, Bound]) -> list[str]:
    return [f"{side[name].expr if name in side else 'NULL'} AS c{index}" for index, name in enumerate(names)]


def _common_kind(sides: list[Bound]) -> str:
    kinds = {side.kind for side in sides}
    if len(kinds) == 1:
        return kinds.pop()
    return ANY if PREDICATE in kinds or ANY in kinds else ELEMENT


# --- atoms ----------------------------------------------------------------------------------------


def emit_atom(scope: Scope, atom: Atom, *, top: bool) -> None:
    """Join one atom to the scope."""
    if isinstance(atom, ConceptAtom):
        _emit_concept(scope, atom, top)
    elif isinstance(atom, LinkAtom):
        _emit_link(scope, atom)
    elif isinstance(atom, LinkIdAtom):
        _emit_link_id(scope, atom, top)
    else:
        _emit_path(scope, atom)


def _concept_terms(compiler: Compiler, atom: ConceptAtom, alias: str) -> list[str]:
    terms = []
    if atom.id is not None:
        terms.append(f"{alias}.id = {compiler.bind(atom.id, bind.as_concept_id)}")
    if atom.type is not None:
        terms.append(f"{alias}.type = {compiler.bind(atom.type, bind.as_type)}")
    if atom.name is not None:
        terms.append(f"{alias}.name = {compiler.bind(atom.name, bind.as_name)}")
    return terms


def _emit_concept(scope: Scope, atom: ConceptAtom, top: bool) -> None:
    compiler = scope.compiler
    bound = scope.lookup(atom.var)
    if bound is not None and bound.kind == PREDICATE:
        scope.where.append(operands.FALSE)
        return
    alias = compiler.alias("c")
    terms = _concept_terms(compiler, atom, alias)
    if atom.id is not None and top:
        compiler.must_exist.append((_number(compiler.bind(atom.id, bind.as_concept_id)), "concept"))
    if bound is not None:
        terms.insert(0, f"{alias}.id = {bound.element(compiler.dialect)}")
        scope.refine(atom.var, replace(bound, kind=CONCEPT))
    else:
        terms.insert(0, f"{alias}.ctx = {compiler.ctx}")
        start = None
        if atom.is_anchor:
            start = f"(SELECT {alias}.id FROM concept AS {alias} WHERE {' AND '.join(terms)})"
            scope.determines((), (atom.var,))
        scope.assign(atom.var, Bound(f"{alias}.id", CONCEPT, start=start))
    scope.items.append(f"concept AS {alias}")
    scope.where += terms
    scope.rows["concept", atom.var] = alias
    compiler.notes.append(f"{alias}: concept {_show(atom.var)} " + ("check" if bound else "by " + _access(atom)))


def _access(atom: ConceptAtom) -> str:
    if atom.id is not None:
        return "id"
    if atom.type is not None:
        return "type and name" if atom.name is not None else "type"
    return "name"


def _number(placeholder: str) -> int:
    return int("".join(character for character in placeholder if character.isdigit())) - 1


def link_terms(scope: Scope, atom: LinkAtom, alias: str) -> tuple[list[str], dict[str, Bound]]:
    """Conditions that tie a link row to what is bound, and the new bindings it makes."""
    compiler = scope.compiler
    new: dict[str, Bound] = {}
    kind = _endpoint_kind(compiler, atom)
    terms: list[str] = []

    def tie(name: str, column: str, kind: str) -> None:
        bound = new.get(name) or scope.lookup(name)
        if bound is None:
            new[name] = Bound(f"{alias}.{column}", kind)
        elif (bound.kind == PREDICATE) != (kind == PREDICATE) and bound.kind != ANY:
            terms.append(operands.FALSE)
        else:
            side = bound.predicate if kind == PREDICATE else bound.element
            terms.append(f"{alias}.{column} = {side(compiler.dialect)}")

    tie(atom.link, "id", LINK)
    if not terms:
        terms.append(f"{alias}.ctx = {compiler.ctx}")
    tie(atom.subject, "s", kind)
    if atom.names is not None:
        names = [compiler.bind(name, bind.as_predicate) for name in atom.names]
        terms.append(f"{alias}.p = {names[0]}" if len(names) == 1 else f"{alias}.p IN ({', '.join(names)})")
    tie(atom.object, "o", kind)
    if atom.predicate is not None:
        tie(atom.predicate, "p", PREDICATE)
    return terms, new


def _endpoint_kind(compiler: Compiler, atom: LinkAtom) -> str:
    """Ends are concepts unless a predicate of this context ever joined links."""
    known = compiler.snapshot.higher_order
    if atom.names is None:
        return ELEMENT if known else CONCEPT
    return ELEMENT if any(compiler.read(name) in known for name in atom.names) else CONCEPT


def link_facts(scope: Scope, atom: LinkAtom) -> None:
    """What follows from what: a link names its ends, and its ends and predicate name the link."""
    ends = {atom.subject, atom.object}
    if atom.predicate is not None:
        ends.add(atom.predicate)
        scope.determines(ends, (atom.link,))
    elif atom.names is not None and len(atom.names) == 1:
        scope.determines(ends, (atom.link,))
    scope.determines((atom.link,), ends)


def _emit_link(scope: Scope, atom: LinkAtom) -> None:
    alias = scope.compiler.alias("l")
    free = [name for name in (atom.subject, atom.object) if scope.lookup(name) is None]
    terms, new = link_terms(scope, atom, alias)
    for name, bound in new.items():
        scope.assign(name, bound)
    scope.items.append(f"link AS {alias}")
    scope.where += terms
    scope.rows["link", atom.link] = alias
    link_facts(scope, atom)
    way = ("check", "from its bound end", "scan")[len(free)] if atom.link in new else "by id"
    scope.compiler.notes.append(f"{alias}: link {_show(atom.subject)} -> {_show(atom.object)} {way}")


def _emit_link_id(scope: Scope, atom: LinkIdAtom, top: bool) -> None:
    compiler = scope.compiler
    alias = compiler.alias("l")
    place = compiler.bind(atom.id, bind.as_link_id)
    predicate = compiler.bind(atom.id, bind.as_link_predicate)
    bound = scope.lookup(atom.link)
    scope.items.append(f"link AS {alias}")
    scope.where += [f"{alias}.id = {place}", f"{alias}.ctx = {compiler.ctx}", f"{alias}.p = {predicate}"]
    if bound is not None:
        scope.where.append(operands.FALSE if bound.kind == PREDICATE else f"{alias}.id = {bound.expr}")
    if bound is None or atom.link in scope.own:
        scope.assign(atom.link, Bound(f"{alias}.id", LINK))
    scope.rows["link", atom.link] = alias
    scope.determines((), (atom.link,))
    if top:
        compiler.must_exist.append((_number(place), "link"))
    compiler.notes.append(f"{alias}: link {_show(atom.link)} by id")


def _show(name: str) -> str:
    return name if is_internal(name) else f"?{name}"


# --- paths ----------------------------------------------------------------------------------------


def _emit_path(scope: Scope, atom: PathAtom) -> None:
    compiler = scope.compiler
    for hops in (atom.low, atom.high or 0):
        if hops > compiler.max_hops:
            raise KipError(
                "KIP_4002",
                f"A path of {hops} hops is beyond the cap of {compiler.max_hops}.",
                "Lower the bound, use {m,} without an upper bound, or raise TRIVIUM_MAX_HOPS.",
                at=atom.at,
            )
    subject, object_ = scope.lookup(atom.subject), scope.lookup(atom.object)
    if any(bound is not None and bound.kind == PREDICATE for bound in (subject, object_)):
        compiler.bind(atom.name, bind.as_predicate)
        scope.where.append(operands.FALSE)
        return
    if subject is None and object_ is None:
        subject = _free_start(scope, atom)
        if atom.subject == atom.object:
            object_ = subject
    if subject is not None and object_ is not None:
        walk, alias = _walk(scope, atom, subject.expr, forward=True)
        scope.where.append(
            f"EXISTS (\n{walk}\nSELECT 1 FROM {alias} WHERE n = {object_.expr} AND {_long(atom, alias)})"
        )
        compiler.notes.append(f"path {_show(atom.subject)} -> {_show(atom.object)} check")
        return
    forward = subject is not None
    bound = subject or object_
    assert bound is not None
    start, end = (atom.subject, atom.object) if forward else (atom.object, atom.subject)
    kind = ELEMENT if compiler.read(atom.name) in compiler.snapshot.higher_order or bound.kind != CONCEPT else CONCEPT
    walk, alias = _walk(scope, atom, bound.start or bound.element(compiler.dialect), forward=forward)
    body = f"{walk}\nSELECT DISTINCT n AS c0 FROM {alias} WHERE n IS NOT NULL AND {_long(atom, alias)}"
    table = compiler.alias("w")
    if bound.start is not None:
        scope.items.append(f"(\n{body}) AS {table}")
        expr = f"{table}.c0"
    else:
        item, values = compiler.dialect.lateral_rows(table, 1, body, None)
        scope.start()
        scope.items.append(item)
        expr = values[0]
    scope.assign(end, Bound(expr, kind))
    compiler.notes.append(f"{table}: path from {_show(start)} to {_show(end)}")


def _long(atom: PathAtom, alias: str) -> str:
    if atom.low == 0:
        return "1"
    return f"{alias}.d >= {atom.low}"


def _walk(scope: Scope, atom: PathAtom, start: str, *, forward: bool) -> tuple[str, str]:
    """A recursive table of (node, depth) reached from `start`. Without an upper bound the depth saturates at `low`."""
    compiler = scope.compiler
    name = compiler.bind(atom.name, bind.as_predicate)
    walk, link = compiler.alias("p"), compiler.alias("l")
    near, far = ("s", "o") if forward else ("o", "s")
    if atom.high is None:
        depth, bound = f"min({walk}.d + 1, {atom.low})", ""
    else:
        depth, bound = f"{walk}.d + 1", f" AND {walk}.d < {atom.high}"
    return (
        f"WITH RECURSIVE {walk}(n, d) AS (\n  SELECT {start}, 0\n  UNION\n"
        f"  SELECT {link}.{far}, {depth} FROM {walk} CROSS JOIN link AS {link}"
        f" WHERE {link}.ctx = {compiler.ctx} AND {link}.{near} = {walk}.n AND {link}.p = {name}{bound})"
    ), walk


def _free_start(scope: Scope, atom: PathAtom) -> Bound:
    """Both ends free: begin at every subject of the predicate, and at every concept when zero hops count."""
    compiler = scope.compiler
    name = compiler.bind(atom.name, bind.as_predicate)
    if atom.low == 0 and not compiler.has_limit:
        raise KipError(
            "KIP_4002",
            "A zero-hop path with both ends free matches every concept.",
            "Bind one end first, start the path at one hop, or add a LIMIT.",
            at=atom.at,
        )
    alias = compiler.alias("f")
    starts = f"SELECT DISTINCT s AS n FROM link WHERE ctx = {compiler.ctx} AND p = {name}"
    if atom.low == 0:
        starts = f"SELECT id AS n FROM concept WHERE ctx = {compiler.ctx}"
    scope.items.append(f"({starts}) AS {alias}")
    kind = CONCEPT if compiler.read(atom.name) not in compiler.snapshot.higher_order or atom.low == 0 else ELEMENT
    bound = Bound(f"{alias}.n", kind)
    scope.assign(atom.subject, bound)
    return bound


# --- filters --------------------------------------------------------------------------------------


def emit_expr(scope: Scope, expr: tree.Expr) -> str:
    """A filter expression as an SQL condition; NULL means false."""
    if isinstance(expr, tree.And):
        return "(" + " AND ".join(emit_expr(scope, item) for item in expr.items) + ")"
    if isinstance(expr, tree.Or):
        return "(" + " OR ".join(emit_expr(scope, item) for item in expr.items) + ")"
    if isinstance(expr, tree.Negation):
        return operands.negate(emit_expr(scope, expr.item))
    dialect = scope.compiler.dialect
    if isinstance(expr, tree.Compare):
        return operands.compare(dialect, expr.op, operand(scope, expr.left), operand(scope, expr.right))
    if expr.func in ("IS_NULL", "IS_NOT_NULL"):
        null = operands.is_null(dialect, operand(scope, expr.args[0]))
        return null if expr.func == "IS_NULL" else operands.negate(null)
    if expr.func == "IN":
        return _emit_in(scope, expr)
    text = operand(scope, expr.args[0])
    pattern = expr.args[1]
    if expr.func == "REGEX" and not isinstance(pattern, tree.Path):
        return operands.text_call(dialect, expr.func, text, _literal(scope, pattern, bind.as_pattern))
    return operands.text_call(dialect, expr.func, text, operand(scope, pattern))


def _emit_in(scope: Scope, expr: tree.Call) -> str:
    """IN is `==` per member: one test per kind of member, so that its length does not change the statement."""
    compiler = scope.compiler
    left = operand(scope, expr.args[0])
    value = expr.args[1]
    assert not isinstance(value, tree.Path)
    kinds = bind.json_kind(compiler.read(value))
    if not kinds.startswith("["):
        bind.members_of("s")(compiler.read(value), value.at, compiler.snapshot)
    tests = []
    for kind in kinds[1:]:
        if kind == "z":
            tests.append(operands.is_null(compiler.dialect, left))
            continue
        place = compiler.bind(value, bind.members_of(kind), share=f"members {kind}")
        if left.kind == operands.JSON:
            guard = {
                "n": compiler.dialect.is_number(str(left.type)),
                "s": f"{left.type} = 'text'",
                "b": f"{left.type} IN ('true', 'false')",
            }.get(kind)
            if guard:
                tests.append(f"({guard} AND {compiler.dialect.in_list(left.value, place)})")
        elif {"n": operands.NUMBER, "s": operands.TEXT, "b": operands.BOOL}.get(kind) == left.kind:
            tests.append(f"({compiler.dialect.in_list(left.value, place)})")
    if not tests:
        return operands.FALSE
    return tests[0] if len(tests) == 1 else "(" + " OR ".join(tests) + ")"


def operand(scope: Scope, value: tree.Operand) -> Operand:
    """A filter operand, a FIND expression or a sort key as SQL."""
    if isinstance(value, tree.Path):
        return path_operand(scope, value)
    return _literal(scope, value, bind.as_operand)


_STATIC = {"s": operands.TEXT, "n": operands.NUMBER, "b": operands.BOOL}


def _literal(scope: Scope, value: tree.Value, convert: Convert) -> Operand:
    compiler = scope.compiler
    kind = bind.json_kind(compiler.read(value))
    if kind == "z":
        return operands.NULL_OPERAND
    if kind[0] == "[":
        return Operand(operands.LIST, compiler.bind(value, bind.as_json), nullable=False)
    if kind == "{":
        bind.as_operand(compiler.read(value), value.at, compiler.snapshot)
    if kind == "N":
        exact = compiler.bind(value, bind.as_json)
        return Operand(operands.NUMBER, compiler.bind(value, convert), json=exact, nullable=False, big=True)
    return Operand(_STATIC[kind], compiler.bind(value, convert), nullable=False)


def path_operand(scope: Scope, path: tree.Path) -> Operand:
    """`?var` or a dot path (§3.2); a field that the element does not have is null."""
    bound = scope.require(path.var, path.at)
    if not path.steps:
        if bound.kind == ANY:
            return _any_operand(scope, bound)
        kind = operands.TEXT if bound.kind == PREDICATE else operands.ELEMENT
        return Operand(kind, bound.expr, nullable=bound.nullable)
    if bound.kind == PREDICATE:
        return operands.NULL_OPERAND
    field, keys = path.steps[0], path.steps[1:]
    if field in ("attributes", "metadata"):
        return _json_operand(scope, path.var, bound, field, keys)
    if keys:
        return operands.NULL_OPERAND
    return _field_operand(scope, path.var, bound, field)


def _any_operand(scope: Scope, bound: Bound) -> Operand:
    kind = scope.compiler.dialect.type_of_value(bound.expr)
    return Operand(
        operands.JSON, bound.expr, f"CASE {kind} WHEN 'text' THEN 'text' WHEN 'integer' THEN 'element' END", "NULL"
    )


def _field_operand(scope: Scope, name: str, bound: Bound, field: str) -> Operand:
    if field in ("type", "name"):
        if bound.kind == LINK:
            return operands.NULL_OPERAND
        alias = scope.row(name, "concept")
        return Operand(operands.TEXT, f"{alias}.{field}", nullable=bound.nullable or bound.kind != CONCEPT)
    if field == "id":
        return Operand(operands.TEXT, id_text(scope, name, bound), nullable=bound.nullable or bound.kind == ANY)
    if field in ("subject", "predicate", "object") and bound.kind != CONCEPT:
        alias = scope.row(name, "link")
        nullable = bound.nullable or bound.kind != LINK
        if field == "predicate":
            return Operand(operands.TEXT, f"{alias}.p", nullable=nullable)
        return Operand(operands.TEXT, end_text(scope.compiler.dialect, f"{alias}.{field[0]}"), nullable=nullable)
    return operands.NULL_OPERAND


def id_text(scope: Scope, name: str, bound: Bound) -> str:
    """The id as clients see it: `C:<n>` or `P:<n>:<predicate>`."""
    expr = bound.element(scope.compiler.dialect)
    concept = f"'C:' || (({expr}) >> 1)"
    if bound.kind == CONCEPT:
        return f"({concept})"
    link = f"'P:' || (({expr}) >> 1) || ':' || {scope.row(name, 'link')}.p"
    if bound.kind == LINK:
        return f"({link})"
    return f"CASE WHEN {scope.compiler.dialect.is_link(f'({expr})')} THEN {link} ELSE {concept} END"


def end_text(dialect: Dialect, expr: str) -> str:
    """The id text of a link's end."""
    return (
        f"CASE WHEN {dialect.is_link(expr)} THEN (SELECT 'P:' || (e.id >> 1) || ':' || e.p FROM link AS e"
        f" WHERE e.id = {expr}) ELSE 'C:' || ({expr} >> 1) END"
    )


def _json_operand(scope: Scope, name: str, bound: Bound, field: str, keys: tuple[str, ...]) -> Operand:
    if bound.kind in (CONCEPT, LINK):
        return _json_column(scope, scope.row(name, bound.kind), field, keys, bound.nullable)
    concept = _json_column(scope, scope.row(name, "concept"), field, keys, True)
    link = _json_column(scope, scope.row(name, "link"), field, keys, True)
    test = scope.compiler.dialect.is_link(bound.expr)

    def either(left: str | None, right: str | None) -> str | None:
        return None if left is None else f"CASE WHEN {test} THEN {right} ELSE {left} END"

    value = either(concept.value, link.value)
    assert value is not None
    return Operand(concept.kind, value, either(concept.type, link.type), either(concept.json, link.json))


def _json_column(scope: Scope, alias: str, field: str, keys: tuple[str, ...], nullable: bool) -> Operand:
    dialect = scope.compiler.dialect
    if field == "metadata":
        if keys == ("_version",):
            return Operand(operands.NUMBER, f"{alias}.version", nullable=nullable)
        if keys == ("_updated_at",):
            return Operand(operands.TEXT, f"{alias}.updated_at", nullable=nullable)
        if not keys:
            whole = dialect.metadata_json(alias)
            return Operand(operands.JSON, whole, f"CASE WHEN {alias}.id IS NOT NULL THEN 'object' END", whole)
        column = f"{alias}.meta"
    else:
        column = f"{alias}.attrs"
        if not keys:
            whole = dialect.whole_json(column)
            return Operand(operands.JSON, whole, f"CASE WHEN {alias}.id IS NOT NULL THEN 'object' END", whole)
    path = dialect.json_path(keys)
    return Operand(
        operands.JSON,
        dialect.json_value(column, path),
        dialect.json_kind(column, path),
        dialect.json_text(column, path),
    )
