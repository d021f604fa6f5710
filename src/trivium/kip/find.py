"""FIND to one SQL statement: projection, deduplication, grouping, order, limit and keyset paging (§3.3, §3.5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import bind, operands, tree
from trivium.kip.bind import Parameters, Source
from trivium.kip.expressions import operand
from trivium.kip.groups import GroupEmitter
from trivium.kip.operands import aggregate, group_terms, is_null_term, null_term, order_terms
from trivium.kip.scope import CONCEPT, LINK, Bound, Compiler, Scope, unbound
from trivium.kip.shape import Output, output, read_json
from trivium.kip.snapshot import Snapshot

_PLACE = re.compile(r"[?$](\d+)")

KEY = "\0key"
"""Names of the parameters through which a cursor's key values are bound: `\\0key0`, `\\0key1`, …"""


class Plan(Struct):
    """A compiled query. Rows hold the columns of `outputs` in order, then `keys` columns of the paging key."""

    sql: str
    sources: list[Source]
    must_exist: list[tuple[int, str]]
    outputs: list[Output]
    keys: int = 0
    order: tuple[str, ...] = ()
    limit: int | None = None
    scalar: bool = False
    notes: list[str] = []
    cap: int = 0
    used: int = 0
    literals: tuple[list[Any], list[int]] | None = None

    def __post_init__(self) -> None:
        """Sources beyond the last placeholder of the statement are read for their checks alone."""
        self.used = max(map(int, _PLACE.findall(self.sql)), default=0)

    def bindings(self, parameters: Parameters, snapshot: Snapshot, tokens: list[str] | None) -> list[Any]:
        """A value for every source. A plan holds for one schema epoch, so the text's own literals are checked once."""
        if tokens is not None:
            return [source.read(parameters, snapshot, tokens) for source in self.sources]
        if self.literals is None:
            read = [None if source.param else source.read(parameters, snapshot, None) for source in self.sources]
            self.literals = read, [index for index, source in enumerate(self.sources) if source.param]
        values, open_ = self.literals
        values = values.copy()
        for index in open_:
            values[index] = self.sources[index].read(parameters, snapshot, None)
        return values

    def columns(self, rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        """One list of values per FIND expression."""
        if not rows:
            return [[] for _ in self.outputs]
        if len(self.outputs) == 1 and self.outputs[0].read is None:
            return [[row[0] for row in rows]]
        columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        values: list[list[Any]] = []
        start = 0
        for out in self.outputs:
            end = start + len(out.columns)
            values.append(list(columns[start]) if out.read is None else out.read(columns[start:end]))
            start = end
        return values

    def result(self, rows: Sequence[tuple[Any, ...]]) -> Any:
        """The `result` member of the response (§6.2.2)."""
        values = self.columns(rows)
        if self.scalar:
            scalars = [column[0] for column in values]
            return scalars[0] if len(scalars) == 1 else scalars
        return values[0] if len(values) == 1 else values


class _Keys(Struct):
    """The total order of the rows: SQL terms with their direction."""

    terms: list[tuple[str, bool]]

    def named(self, table: str) -> list[tuple[str, bool]]:
        return [(f"{table}.k{index}", descending) for index, (_, descending) in enumerate(self.terms)]

    def columns(self) -> list[str]:
        return [f"{expr} AS k{index}" for index, (expr, _) in enumerate(self.terms)]


def order_by(terms: Sequence[tuple[str, bool]]) -> str:
    return (
        "ORDER BY " + ", ".join(expr + (" DESC" if descending else "") for expr, descending in terms) if terms else ""
    )


class FindEmitter:
    """Compiles one Find. `resume` is the default order of an earlier page when a cursor continues it, else None."""

    def __init__(
        self, compiler: Compiler, find: tree.Find, *, max_rows: int, resume: tuple[str, ...] | None = None
    ) -> None:
        self.compiler = compiler
        self.find = find
        self.max_rows = max_rows
        self.resume = resume
        self.scope = Scope(compiler)
        self.limit_at: int | None = None
        self.order: tuple[str, ...] = ()

    def plan(self) -> Plan:
        find, scope = self.find, self.scope
        GroupEmitter(scope, find.where, top=True, anchored=True).emit()
        self.mentioned = self._mentioned()
        self._check_sort_keys()
        if any(isinstance(item, tree.Aggregate) for item in find.items):
            return self._grouped()
        return self._plain()

    # --- shared -----------------------------------------------------------------------------------

    def _mentioned(self) -> list[str]:
        names: list[str] = []
        for item in self.find.items:
            path = item.path if isinstance(item, tree.Aggregate) else item
            self.scope.require(path.var, path.at)
            if path.var not in names:
                names.append(path.var)
        return names

    def _check_sort_keys(self) -> None:
        for key in self.find.order_by:
            if isinstance(key.expr, tree.Path):
                self.scope.require(key.expr.var, key.expr.at)
            elif key.expr not in self.find.items:
                raise KipError(
                    "KIP_3001",
                    f"ORDER BY {key.expr.func}(…) needs the same aggregate in FIND.",
                    "Add the aggregate to FIND, or sort by a path.",
                    at=key.at,
                )

    def _limit(self) -> str:
        """LIMIT asks for one row more than wanted, so that the end is known."""
        if self.find.limit is None:
            return f"LIMIT {self.max_rows + 1}"
        place = self.compiler.bind(self.find.limit, bind.as_limit)
        self.limit_at = int(place.lstrip("?$")) - 1
        return f"LIMIT min({place}, {self.max_rows}) + 1"

    def _after(self, terms: Sequence[tuple[str, bool]]) -> str | None:
        """The condition that a row comes after the cursor's row."""
        if self.resume is None:
            return None
        test = ""
        for index in reversed(range(len(terms))):
            expr, descending = terms[index]
            place = self.compiler.bind(tree.Param(f"{KEY}{index}"), bind.as_is)
            later = f"{expr} {'<' if descending else '>'} {place}"
            test = f"({later} OR ({expr} IS {place} AND {test}))" if test else later
        return test or operands.FALSE

    def _finish(self, sql: str, outputs: list[Output], keys: int, *, scalar: bool = False) -> Plan:
        compiler = self.compiler
        return Plan(
            sql,
            compiler.sources,
            compiler.must_exist,
            outputs,
            keys,
            self.order,
            self.limit_at,
            scalar,
            compiler.notes,
            self.max_rows,
        )

    # --- without aggregates -----------------------------------------------------------------------

    def _plain(self) -> Plan:
        find, scope = self.find, self.scope
        keys = self._plain_keys()
        unique = scope.is_unique(self.mentioned)
        following = scope.closure(self.mentioned)
        if any(isinstance(key.expr, tree.Path) and key.expr.var not in following for key in find.order_by):
            return self._first_rows(keys)
        if unique and not (find.order_by and find.limit):
            outputs = [output(scope, item) for item in self._paths()]
            after = self._after(keys.terms)
            if after:
                scope.where.append(after)
            shown = keys.columns() if find.limit is not None else []
            columns = [column for out in outputs for column in out.columns] + shown
            sql = scope.sql(columns, tail=f"{order_by(keys.terms)} {self._limit()}".strip())
            return self._finish(sql, outputs, len(shown))
        return self._late(keys, distinct=not unique)

    def _paths(self) -> list[tree.Path]:
        return [item for item in self.find.items if isinstance(item, tree.Path)]

    def _plain_keys(self) -> _Keys:
        find, scope = self.find, self.scope
        terms: list[tuple[str, bool]] = []
        for key in find.order_by:
            assert isinstance(key.expr, tree.Path)
            terms += order_terms(operand(scope, key.expr), key.descending)
        if find.order_by or find.limit is not None:
            self.order = self._default_order()
            for name in self.order:
                bound = scope.own[name]
                if bound.nullable and (null_term(bound.expr), False) not in terms:
                    terms.append((null_term(bound.expr), False))
                if (bound.expr, False) not in terms and (bound.expr, True) not in terms and bound.expr != "NULL":
                    terms.append((bound.expr, False))
        return _Keys(terms)

    def _default_order(self) -> tuple[str, ...]:
        """The mentioned variables in the order in which the plan binds them, which is how rows come by themselves."""
        if self.resume is not None and set(self.resume) == set(self.mentioned):
            return self.resume
        return tuple(name for name in self.scope.own if name in self.mentioned)

    def _late(self, keys: _Keys, *, distinct: bool) -> Plan:
        """Solutions first, as ids; bodies are fetched only for the rows that stay."""
        scope = self.scope
        columns = [f"{scope.own[name].expr} AS v{index}" for index, name in enumerate(self.mentioned)]
        terms = [(f"k{index}", down) for index, (_, down) in enumerate(keys.terms)]
        after = self._after(terms)
        tail = f"{order_by(terms)} {self._limit()}".strip()
        if after is None:
            return self._bodies(scope.sql(columns + keys.columns(), distinct=distinct, tail=tail), keys)
        # Each key is computed once, behind a barrier, and compared with the cursor outside.
        inner = scope.sql(columns + keys.columns(), distinct=distinct, tail=self.compiler.dialect.barrier())
        return self._bodies(f"SELECT * FROM (\n{inner})\nWHERE {after}\n{tail}", keys)

    def _bodies(self, solutions: str, keys: _Keys) -> Plan:
        outer = Scope(self.compiler)
        outer.items.append(f"(\n{solutions}) AS q")
        for index, name in enumerate(self.mentioned):
            bound = self.scope.own[name]
            outer.own[name] = Bound(f"q.v{index}", bound.kind, bound.nullable)
        outputs = [output(outer, item) for item in self._paths()]
        named = keys.named("q")
        shown = [expr for expr, _ in named] if self.find.limit is not None else []
        columns = [column for out in outputs for column in out.columns] + shown
        return self._finish(outer.sql(columns, tail=order_by(named)), outputs, len(shown))

    def _first_rows(self, keys: _Keys) -> Plan:
        """A sort variable that FIND does not mention: a solution sorts by its first row (§3.5, notes B.6)."""
        scope = self.scope
        names = [f"v{index}" for index in range(len(self.mentioned))]
        columns = [f"{scope.own[name].expr} AS {column}" for name, column in zip(self.mentioned, names, strict=True)]
        parts = ", ".join(scope.own[name].expr for name in self.mentioned)
        columns.append(f"ROW_NUMBER() OVER (PARTITION BY {parts} {order_by(keys.terms)}) AS place")
        inner = scope.sql(columns + keys.columns())
        terms = [(f"k{index}", down) for index, (_, down) in enumerate(keys.terms)]
        where = ["place = 1"]
        after = self._after(terms)
        if after:
            where.append(after)
        picked = ", ".join(names + [name for name, _ in terms])
        solutions = f"SELECT {picked} FROM (\n{inner})\nWHERE {' AND '.join(where)}\n{order_by(terms)} {self._limit()}"
        return self._bodies(solutions, keys)

    # --- with aggregates --------------------------------------------------------------------------

    def _grouped(self) -> Plan:
        scope = self._solutions()
        items: list[str] = []
        grouping: list[str] = []
        keys_of: dict[int, list[tuple[str, bool]]] = {}
        outputs: list[Output] = []
        whole = False
        for index, item in enumerate(self.find.items):
            if isinstance(item, tree.Aggregate):
                items.append(aggregate(self.compiler.dialect, item.func, item.distinct, operand(scope, item.path)))
                outputs.append(Output([f"g.i{index}"], None))
                continue
            value = operand(scope, item)
            keys_of[index] = group_terms(self.compiler.dialect, value)
            grouping += [expr for expr, _ in keys_of[index]]
            if value.kind == operands.JSON and value.json != "NULL":
                items.append(f"min({value.json})")
                outputs.append(Output([f"g.i{index}"], read_json))
            else:
                items.append(value.value)
                outputs.append(Output([f"g.i{index}"], None))
            whole = whole or value.kind in (operands.ELEMENT,) or value.json == "NULL"
        scalar = not grouping and all(isinstance(item, tree.Aggregate) for item in self.find.items)
        ordered = not scalar and (self.find.order_by or self.find.limit is not None)
        keys = _Keys(self._group_keys(scope, keys_of) if ordered else [])
        columns = [f"{expr} AS i{index}" for index, expr in enumerate(items)]
        tail = []
        if not scalar:
            tail.append("GROUP BY " + ", ".join(dict.fromkeys(grouping)))
            after = self._after(keys.terms)
            if after:
                tail.append("HAVING " + after)
            tail.append(f"{order_by([(f'k{i}', down) for i, (_, down) in enumerate(keys.terms)])} {self._limit()}")
        grouped = scope.sql(columns + keys.columns(), tail="\n".join(tail))
        return self._group_bodies(grouped, outputs, keys, scalar=scalar, whole=whole)

    def _solutions(self) -> Scope:
        """The deduplicated solutions on the mentioned variables, as a scope."""
        scope = self.scope
        if scope.is_unique(self.mentioned):
            return scope
        columns = [f"{scope.own[name].expr} AS v{index}" for index, name in enumerate(self.mentioned)]
        outer = Scope(self.compiler)
        outer.items.append(f"(\n{scope.sql(columns, distinct=True)}) AS q")
        for index, name in enumerate(self.mentioned):
            bound = scope.own[name]
            outer.own[name] = Bound(f"q.v{index}", bound.kind, bound.nullable)
        return outer

    def _group_keys(self, scope: Scope, keys_of: dict[int, list[tuple[str, bool]]]) -> list[tuple[str, bool]]:
        terms: list[tuple[str, bool]] = []
        for key in self.find.order_by:
            if isinstance(key.expr, tree.Aggregate):
                index = self.find.items.index(key.expr)
                item = self.find.items[index]
                assert isinstance(item, tree.Aggregate)
                expr = aggregate(self.compiler.dialect, item.func, item.distinct, operand(scope, item.path))
                if item.func not in ("COUNT", "SUM"):
                    terms.append((null_term(f"({expr})"), False))
                terms.append((f"({expr})", key.descending))
            elif key.expr in self.find.items:
                terms += [
                    (expr, key.descending if not is_null_term(expr) else False)
                    for expr, _ in keys_of[self.find.items.index(key.expr)]
                ]
            else:
                terms += self._loose_key(scope, key)
        for index in keys_of:
            terms += [term for term in keys_of[index] if term not in terms and (term[0], True) not in terms]
        return terms

    def _loose_key(self, scope: Scope, key: tree.SortKey) -> list[tuple[str, bool]]:
        """A sort key that is no group expression: the value of the group that comes first in the asked direction."""
        assert isinstance(key.expr, tree.Path)
        if scope.lookup(key.expr.var) is None:
            raise KipError(
                "KIP_3001",
                f"ORDER BY ?{key.expr.var} names a variable that this grouped FIND does not mention.",
                "Mention the variable in FIND, or sort by a group expression or an aggregate of FIND.",
                at=key.at,
            )
        pick = "max" if key.descending else "min"
        terms = order_terms(operand(scope, key.expr), key.descending)
        return [(f"{'min' if expr.endswith(' IS NULL') else pick}({expr})", down) for expr, down in terms]

    def _group_bodies(self, grouped: str, outputs: list[Output], keys: _Keys, *, scalar: bool, whole: bool) -> Plan:
        outer = Scope(self.compiler)
        outer.items.append(f"(\n{grouped}) AS g")
        if whole:
            for index, item in enumerate(self.find.items):
                if isinstance(item, tree.Path) and not item.steps:
                    bound = self.scope.own[item.var]
                    outer.own[item.var] = Bound(f"g.i{index}", bound.kind, bound.nullable)
                    outputs[index] = output(outer, item)
        named = keys.named("g")
        shown = [expr for expr, _ in named] if self.find.limit is not None and not scalar else []
        columns = [column for out in outputs for column in out.columns] + shown
        return self._finish(outer.sql(columns, tail=order_by(named)), outputs, len(shown), scalar=scalar)


def targets_plan(
    compiler: Compiler,
    where: tree.Group,
    names: list[tree.Var],
    limit: tree.Value | None,
    max_rows: int,
    *,
    bodies: bool = False,
) -> Plan:
    """The distinct bindings of some variables as raw ids; for KML and EXPORT.

    With `bodies` rows go on with the element's row where it is at hand, in the columns that `Graph.remember` takes.
    """
    scope = Scope(compiler)
    GroupEmitter(scope, where, top=True, anchored=True).emit()
    columns = []
    for var in names:
        bound = scope.lookup(var.name)
        if bound is None:
            raise unbound(var.name, var.at)
        columns.append(bound.expr)
    distinct = not scope.is_unique([var.name for var in names])
    if bodies and not distinct:
        columns += _body(scope, names[0].name)
    tail = f"LIMIT {max_rows + 1}"
    limit_at = None
    if limit is not None:
        place = compiler.bind(limit, bind.as_limit)
        limit_at = int(place.lstrip("?$")) - 1
        tail = f"LIMIT {place}"
    numbered = [f"{expr} AS v{index}" for index, expr in enumerate(columns)]
    order = "ORDER BY " + ", ".join(f"v{index}" for index in range(len(names)))
    sql = scope.sql(numbered, distinct=distinct, tail=f"{order} {tail}" if limit is not None else tail)
    return Plan(sql, compiler.sources, compiler.must_exist, [], limit=limit_at, notes=compiler.notes)


def _body(scope: Scope, name: str) -> list[str]:
    """The columns of a concept's or link's row after its id; none for a variable of open kind."""
    kind = scope.require(name, -1).kind
    if kind not in (CONCEPT, LINK):
        return []
    row = scope.row(name, kind)
    fields = ("type", "name") if kind == CONCEPT else ("s", "p", "o")
    plain = [f"{row}.{field}" for field in (*fields, "version", "updated_at")]
    whole = scope.compiler.dialect.whole_json
    return [*plain, whole(f"{row}.attrs"), whole(f"{row}.meta")]
