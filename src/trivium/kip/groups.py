"""Groups of clauses to SQL, in text order (§3.4.7).

Patterns are joined in the order that `order` decides. NOT becomes NOT EXISTS over an inner scope, OPTIONAL a left join
of its rows, UNION a derived table that the following clauses are joined with.
"""

from __future__ import annotations

from msgspec.structs import replace

from trivium.kip import tree
from trivium.kip.atoms import emit_atom, link_index, link_terms
from trivium.kip.expressions import emit_expr
from trivium.kip.order import Costs, ordered
from trivium.kip.patterns import Atom, LinkAtom, PathAtom, atoms_of, is_internal, mentioned, variables_in
from trivium.kip.scope import ANY, ELEMENT, LINK, PREDICATE, Bound, Scope, unbound

MAX_ITEMS = 44
"""FROM items of one SELECT before they are folded; what is read besides them must fit below 64."""


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
        self.mentioned: set[str] = set()
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
            self._fold()
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
        self._fold()
        nulls = self._passes(names)
        inner = Scope(scope.compiler, scope.visible(), scope)
        bound = set(inner.outer)
        for atom in ordered(atoms, bound, Costs(scope.compiler.snapshot, scope.compiler.read)):
            emit_atom(inner, atom, top=False)
        new = inner.names()
        if not new:
            scope.where.append(f"({nulls} OR EXISTS (\n{inner.sql([])}))")
            return
        self._lateral(inner, new, null_when=nulls, left=False)

    def _passes(self, names: set[str]) -> str:
        """When nulls of this group let a row pass: never where the enclosing solution has a null too (no match)."""
        own, outer = self.scope.own, self.scope.outer
        met = " OR ".join(f"{own[name].expr} IS NULL" for name in sorted(names) if self._is_null_prone(name))
        tests = [f"({met})"]
        for name in sorted(names & outer.keys()):
            if not outer[name].nullable:
                continue
            test = f"{outer[name].expr} IS NOT NULL"
            tests.append(f"({own[name].expr} IS NOT NULL OR {test})" if name in own else test)
        return "(" + " AND ".join(tests) + ")"

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
        body = inner.sql([])
        if inner.is_deep:  # engines bound the depth of an expression, to which a table in FROM adds nothing
            body = f"SELECT 1 FROM (\n{body}) AS {self.compiler.alias('n')}"
        self.scope.where.append(f"NOT EXISTS (\n{body})")

    def _fold(self) -> None:
        """Engines join a bounded number of tables: a long list of FROM items becomes one derived table."""
        scope = self.scope
        if len(scope.items) < MAX_ITEMS:
            return
        kept = list(scope.own)
        table = self.compiler.alias("t")
        body = scope.sql(_columns(kept, scope.own), tail=self.compiler.dialect.barrier())
        scope.items, scope.where, scope.rows = [f"(\n{body}) AS {table}"], [], {}
        for index, name in enumerate(kept):
            bound = scope.own[name]
            scope.own[name] = Bound(f"{table}.c{index}", bound.kind, bound.nullable)

    def _optional(self, clause: tree.Optional) -> None:
        self._fold()
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
        free = [name for name in (atom.subject, atom.object) if scope.lookup(name) is None]
        conditions, bindings = link_terms(scope, atom, alias)
        link = self.compiler.dialect.access("link", alias, link_index(atom, free))
        scope.items.append(f"LEFT JOIN {link} ON " + " AND ".join(conditions))
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
        right.depth = scope.depth
        GroupEmitter(right, clause.group).emit()
        used = self.mentioned = self.mentioned or mentioned(self.group)
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
