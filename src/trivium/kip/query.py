"""Running compiled queries: a plan for each situation, the degrees that it rests on, and cursors.

A text seen before costs a dictionary look-up; a text of a known shape costs its tokens; a plan is made once for every
combination of parameter kinds, degree classes and paging order, and again when the schema or the counts move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, lexer, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.cursor import encode_cursor, resume, short_hash, statement_digest, tail_params, wrong_cursor
from trivium.kip.find import KEY, FindEmitter, Plan, targets_plan
from trivium.kip.order import PROBE_CAP, probes_of
from trivium.kip.patterns import Atom, ConceptAtom, LinkAtom, PathAtom, atoms_of
from trivium.kip.prepared import Analysis, Prepared, Query
from trivium.kip.scope import Compiler
from trivium.kip.snapshot import Snapshot
from trivium.settings import Settings
from trivium.store import planning
from trivium.store.codec import encode
from trivium.store.dialect import Dialect, SqliteDialect
from trivium.store.graph import Graph, parse_concept_id
from trivium.store.sqlite import Session

DIALECT: Dialect = SqliteDialect()
DEGREES_HOLD = 6
"""Measured degrees hold for 2**6 changes of the data, or until a count changes its order of size."""


class QueryRunner:
    """Plans and runs the queries of one context."""

    def __init__(self, settings: Settings, identity: str = "") -> None:
        self.settings = settings
        self._identity = identity
        self._degrees: dict[tuple[Any, ...], int] = {}
        self._degrees_at = (-1, -1)

    def digest(self, prepared: Prepared, parameters: Parameters) -> str:
        """What a cursor is bound to: the context, the statement and its parameters, without LIMIT and CURSOR."""
        if not prepared.digest:
            prepared.digest = statement_digest([self._identity, *prepared.parsed.tokens])
        skip = tail_params(prepared.parsed.tokens)
        rest = {name: parameters[name] for name in prepared.params if name in parameters and name not in skip}
        if not rest:
            return prepared.digest
        for value in rest.values():
            values.check_storable(value)
        return short_hash(prepared.digest + encode(sorted(rest.items())))

    # --- FIND -------------------------------------------------------------------------------------

    def find(
        self, session: Session, prepared: Prepared, parameters: Parameters, snapshot: Snapshot, moment: int
    ) -> dict[str, Any]:
        """The response of a FIND. `moment` names the state of the data, for what may be remembered about it."""
        fixed = prepared.fixed
        if fixed is not None and fixed[0][0] == snapshot.epoch and fixed[0][1] in (moment >> DEGREES_HOLD, -1):
            plan, bindings = fixed[1], fixed[2]
        else:
            plan, bindings = self._plan_find(session, prepared, parameters, snapshot, moment)
        rows = session.execute(plan.sql, bindings[: plan.used]).fetchall()
        if plan.limit is None:
            if len(rows) > plan.cap:
                raise _too_many(plan.cap)
            return {"result": plan.result(rows)}
        limit = bindings[plan.limit]
        if len(rows) <= limit:
            if len(rows) > plan.cap:
                raise _too_many(plan.cap)
            return {"result": plan.result(rows)}
        rows = rows[:limit]
        response = {"result": plan.result(rows)}
        if not plan.scalar:
            keys = rows[-1][-plan.keys :] if plan.keys else ()
            response["next_cursor"] = encode_cursor(self.digest(prepared, parameters), plan.order, keys)
        return response

    def _plan_find(
        self, session: Session, prepared: Prepared, parameters: Parameters, snapshot: Snapshot, moment: int
    ) -> tuple[Plan, list[Any]]:
        query = prepared.query
        assert query is not None
        order: tuple[str, ...] | None = None
        find = query.find
        if find.cursor is not None:
            parameters = dict(parameters)
            order, keys = self._resume(prepared, find.cursor, parameters)
            parameters.update({f"{KEY}{index}": key for index, key in enumerate(keys)})
        tokens = prepared.tokens
        plan = self._variant(session, query, prepared, parameters, snapshot, moment, order)
        bindings = plan.bindings(parameters, snapshot, tokens)
        self._check_exist(session, plan, bindings, snapshot, parameters)
        if order is not None and (plan.keys != len(keys) or plan.order != order):
            assert find.cursor is not None
            raise wrong_cursor(find.cursor.at)
        if not prepared.params and not plan.must_exist and order is None:
            prepared.fixed = (
                (snapshot.epoch, -1 if _needs_no_degrees(query) else moment >> DEGREES_HOLD),
                plan,
                bindings,
            )
        return plan, bindings

    def _resume(
        self, prepared: Prepared, cursor: tree.Value, parameters: Parameters
    ) -> tuple[tuple[str, ...], list[Any]]:
        if prepared.tokens is not None and isinstance(cursor, tree.Lit):
            token = lexer.decode(prepared.tokens[cursor.at], cursor.at)
        else:
            token = bind.resolve(cursor, parameters)
        return resume(token, cursor.at, self.digest(prepared, parameters))

    # --- targets of KML and EXPORT ----------------------------------------------------------------

    def targets(
        self,
        session: Session,
        prepared: Prepared,
        parameters: Parameters,
        snapshot: Snapshot,
        moment: int,
        graph: Graph | None = None,
    ) -> list[tuple[Any, ...]]:
        """Distinct id tuples of the target variables, at most `max_rows`.

        Bodies that come along are left with `graph`, up to a batch of them.
        """
        query = prepared.query
        assert query is not None
        plan = self._variant(session, query, prepared, parameters, snapshot, moment, None)
        bindings = plan.bindings(parameters, snapshot, prepared.tokens)
        self._check_exist(session, plan, bindings, snapshot, parameters)
        rows = session.execute(plan.sql, bindings[: plan.used]).fetchall()
        cap = query.cap or self.settings.max_rows
        if query.bodies and graph is not None:
            for row in rows[:500]:
                graph.remember(row)
        if plan.limit is None and len(rows) > cap:
            raise KipError(
                "KIP_4002",
                f"The pattern selects more than {cap} elements, the most that one command changes.",
                "Narrow WHERE; UPDATE may also be repeated with LIMIT until it updates nothing more.",
            )
        return rows

    # --- plans ------------------------------------------------------------------------------------

    def _variant(
        self,
        session: Session,
        query: Query,
        prepared: Prepared,
        parameters: Parameters,
        snapshot: Snapshot,
        moment: int,
        order: tuple[str, ...] | None,
    ) -> Plan:
        read = _reader(parameters, prepared.tokens)
        facts = _facts(query, read, snapshot) if prepared.tokens is not None or query.has_open_names else ()
        if query.analysis is None or query.analysis[0] != snapshot.epoch:
            atoms = _first_atoms(query.find.where)
            query.analysis = (snapshot.epoch, atoms, probes_of(atoms, snapshot, read))
        degrees = self._measure(session, query.analysis, read, snapshot, moment) if query.analysis[2] else None
        key: tuple[Any, ...] = (
            snapshot.epoch,
            bind.json_kinds(parameters, prepared.params) if prepared.params else (),
            facts,
            None if degrees is None else tuple([_degree_class(degree) for degree in degrees.values()]),
            order,
        )
        plan = query.variants.get(key)
        if plan is None:
            if len(query.variants) > 200:
                query.variants.clear()
            plan = query.variants[key] = self.compile(query, prepared, parameters, snapshot, degrees, order)
        return plan

    def compile(
        self,
        query: Query,
        prepared: Prepared,
        parameters: Parameters,
        snapshot: Snapshot,
        degrees: dict[tuple[int, str], int] | None = None,
        order: tuple[str, ...] | None = None,
    ) -> Plan:
        """A fresh plan."""
        compiler = Compiler(
            snapshot,
            DIALECT,
            parameters,
            max_hops=self.settings.max_hops,
            has_limit=query.find.limit is not None or query.limit is not None,
            degrees=degrees,
            tokens=prepared.tokens,
        )
        if query.targets is not None:
            cap = query.cap or self.settings.max_rows
            return targets_plan(compiler, query.find.where, query.targets, query.limit, cap, bodies=query.bodies)
        return FindEmitter(compiler, query.find, max_rows=self.settings.max_rows, resume=order).plan()

    def explain(
        self, session: Session, prepared: Prepared, parameters: Parameters, snapshot: Snapshot, moment: int
    ) -> Plan:
        """The plan that would run, made afresh."""
        query = prepared.query
        assert query is not None
        read = _reader(parameters, prepared.tokens)
        atoms = _first_atoms(query.find.where)
        analysis = (snapshot.epoch, atoms, probes_of(atoms, snapshot, read))
        degrees = self._measure(session, analysis, read, snapshot, moment)
        return self.compile(query, prepared, parameters, snapshot, degrees or None)

    def _check_exist(
        self, session: Session, plan: Plan, bindings: list[Any], snapshot: Snapshot, parameters: Parameters
    ) -> None:
        """KIP_3002 for an id at the top level of WHERE that names nothing (notes B.3).

        For a link the predicate in its id, which is the binding after the number, must be its own.
        """
        for index, table in plan.must_exist:
            if table == "link":
                there = planning.is_link(session, snapshot.ctx, bindings[index], bindings[index + 1])
            else:
                there = planning.is_concept(session, snapshot.ctx, bindings[index])
            if not there:
                raise _no_such_id(plan.sources[index], table, parameters)

    # --- degrees ----------------------------------------------------------------------------------

    def _measure(
        self,
        session: Session,
        analysis: Analysis,
        read: Callable[[tree.Value], object],
        snapshot: Snapshot,
        moment: int,
    ) -> dict[tuple[int, str], int]:
        """How many links hang on each anchored end, counted up to PROBE_CAP; remembered for a while."""
        state = (snapshot.epoch, moment >> DEGREES_HOLD)
        if self._degrees_at != state or len(self._degrees) > 10_000:
            self._degrees.clear()
            self._degrees_at = state
        result: dict[tuple[int, str], int] = {}
        _, atoms, probes = analysis
        for probe in probes:
            anchor, atom = atoms[probe.anchor], atoms[probe.atom]
            assert isinstance(anchor, ConceptAtom)
            assert isinstance(atom, LinkAtom)
            names = None if atom.names is None else tuple([str(read(name)) for name in atom.names])
            parts = tuple([_anchor_text(value, read) for value in (anchor.id, anchor.type, anchor.name)])
            key = (probe.side, parts, names)
            degree = self._degrees.get(key)
            if degree is None:
                degree = self._degrees[key] = planning.degree(
                    session, snapshot.ctx, probe.side, _node(parts), names, PROBE_CAP
                )
            result[probe.atom, probe.side] = degree
        return result


def _anchor_text(value: tree.Value | None, read: Callable[[tree.Value], object]) -> str | None:
    if value is None:
        return None
    found = read(value)
    values.check_text(found, value.at, "An id, type or name")
    return str(found)


def _node(anchor: tuple[str | None, ...]) -> int | tuple[str, str]:
    """The concept that an anchor's id, or else its type and name, stand for."""
    id_, type_, name = anchor
    if id_ is not None:
        return parse_concept_id(id_) or bind.NO_CONCEPT
    return str(type_), str(name)


def _needs_no_degrees(query: Query) -> bool:
    return query.analysis is not None and not query.analysis[2]


def _no_such_id(source: bind.Source, table: str, parameters: Parameters) -> KipError:
    value = parameters.get(source.param) if source.param else source.value
    kind, other, form = (
        ("proposition link", "C:", '{id: "C:…"}') if table == "link" else ("concept node", "P:", '(id: "P:…:…")')
    )
    hint = "Ids come from earlier responses; it may have been deleted. Use SEARCH or FIND by type and name."
    if isinstance(value, str) and value.startswith(other):
        hint = f"This is the id of the other kind of element; write {form} for it."
    return KipError("KIP_3002", f"There is no {kind} with id {values.show(value)}.", hint, at=source.at)


def _degree_class(degree: int) -> int:
    return min(degree, PROBE_CAP).bit_length() // 2 if degree < PROBE_CAP else 9


def _first_atoms(where: tree.Group) -> list[Atom]:
    """The atoms of the clauses before the first OPTIONAL or UNION, numbered as the emitter will meet them."""
    count = iter(range(10_000))
    atoms: list[Atom] = []
    for clause in where.clauses:
        if isinstance(clause, (tree.ConceptClause, tree.LinkClause)):
            found = atoms_of(clause, lambda: f"#{next(count)}")
            atoms += found
            if any(isinstance(atom, PathAtom) and atom.link for atom in found):
                break
        elif isinstance(clause, (tree.Optional, tree.Union)):
            break
    return atoms


def _reader(parameters: Parameters, tokens: list[str] | None) -> Callable[[tree.Value], object]:
    def read(value: tree.Value) -> object:
        if tokens is not None and isinstance(value, tree.Lit) and value.at >= 0:
            return bind.token_value(tokens, value.at)
        return bind.resolve(value, parameters)

    return read


def _facts(query: Query, read: Callable[[tree.Value], object], snapshot: Snapshot) -> tuple[Any, ...]:
    """What the plan takes from the values of types and predicates: counts by order of size, higher-order use."""
    facts: list[Any] = []
    for value in query.names:
        name = read(value)
        values.check_text(name, value.at, "A type or predicate")
        name = str(name)
        count = snapshot.type_counts.get(name, 0) + snapshot.link_counts.get(name, 0)
        facts.append((count.bit_length(), name in snapshot.higher_order))
    return tuple(facts)


def _too_many(cap: int) -> KipError:
    return KipError("KIP_4002", f"The result has more than {cap} rows.", "Add LIMIT and read the rest with CURSOR.")
