"""Running compiled queries: plans cached by text, then by shape; degree probes; cursors.

A text seen before costs a dictionary look-up; a text of a known shape costs its tokens; a plan is made once for every
combination of parameter kinds, degree classes and paging order, and again when the schema or the counts move.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import bind, lexer, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.find import KEY, FindEmitter, Plan, targets_plan
from trivium.kip.order import OBJECT, PROBE_CAP, SUBJECT, Probe, probes_of
from trivium.kip.parser import Parsed, parse, quoted_names
from trivium.kip.patterns import MEMBERSHIP, Atom, ConceptAtom, LinkAtom, PathAtom, atoms_of, predicates_of
from trivium.kip.scope import Compiler
from trivium.kip.snapshot import Snapshot
from trivium.settings import Settings
from trivium.store.codec import decode, encode
from trivium.store.dialect import Dialect, SqliteDialect
from trivium.store.graph import Graph
from trivium.store.sqlite import Session

DIALECT: Dialect = SqliteDialect()
_CACHE_SIZE = 2_000
_CHECK = 8
EXPORT_CAP = 5_000_000
"""Elements that one EXPORT may select; it is read in pages all the same."""


class Prepared(Struct):
    """A parsed text with its plans. `tokens` are given when the tree came from another text of equal shape."""

    parsed: Parsed
    params: tuple[str, ...]
    tokens: list[str] | None = None
    query: Query | None = None
    fixed: tuple[tuple[int, int], Plan, list[Any]] | None = None
    """The schema epoch and, where measured degrees count, the moment for which this plan and its bindings hold."""
    digest: str = ""

    def check_strings(self, parameters: Parameters) -> None:
        """KIP_1001 for a known placeholder inside a string (§6.1)."""
        hit = self.parsed.quoted_names & parameters.keys()
        if hit:
            name = min(hit)
            place = re.compile(rf":{name}(?![A-Za-z0-9_])")
            tokens = self.parsed.tokens
            raise KipError(
                "KIP_1001",
                f"The placeholder :{values.short(name)} stands inside a string, where it is not replaced.",
                f"Put :{values.short(name)} alone in the value position, without quotes, "
                "and pass the whole text as the parameter.",
                at=next((at for at, token in enumerate(tokens) if token[0] == '"' and place.search(token)), None),
            )


class Cache:
    """Prepared texts of one context."""

    def __init__(self) -> None:
        self._texts: dict[str, Prepared] = {}
        self._shapes: dict[tuple[Any, ...], Prepared] = {}

    def prepare(self, text: str) -> Prepared:
        """The prepared form of a text. Raises KipError for a text that does not parse."""
        found = self._texts.get(text)
        if found is None:
            found = self._by_shape(text) or self._parse(text)
            if len(text) < 20_000:
                if len(self._texts) >= _CACHE_SIZE:
                    self._texts.clear()
                    self._shapes.clear()
                self._texts[text] = found
        return found

    def _by_shape(self, text: str) -> Prepared | None:
        if not text.startswith("FIND"):
            return None
        lexer.check_text_limits(text)
        tokens = lexer.tokenize(text)
        known = self._shapes.get(lexer.shape(tokens))
        if known is None:
            return None
        parsed = Parsed(known.parsed.command, text, tokens, quoted_names(tokens))
        return Prepared(parsed, known.params, tokens, known.query)

    def _parse(self, text: str) -> Prepared:
        parsed = parse(text)
        _check_size(parsed.command)
        names = [token[1:] for token in parsed.tokens if token[0] == ":" and len(token) > 1]
        prepared = Prepared(parsed, tuple(dict.fromkeys(names)))
        command = parsed.command
        if isinstance(command, tree.Find):
            prepared.query = Query(command)
            if "[" not in parsed.tokens or not prepared.params:
                self._shapes[lexer.shape(parsed.tokens)] = prepared
        elif isinstance(command, tree.Update):
            selection = _selection(command.where, [command.target])
            prepared.query = Query(selection, [command.target], command.limit, bodies=True)
        elif isinstance(command, tree.DeleteKeys):
            prepared.query = Query(_selection(command.where, [command.target]), [command.target], bodies=True)
        elif isinstance(command, (tree.DeletePropositions, tree.DeleteConcept)):
            prepared.query = Query(_selection(command.where, [command.target]), [command.target])
        elif isinstance(command, tree.Merge):
            pair = [command.source, command.target]
            prepared.query = Query(_selection(command.where, pair), pair)
        elif isinstance(command, tree.Export):
            prepared.query = Query(_selection(command.where, [command.target]), [command.target], cap=EXPORT_CAP)
        return prepared


MAX_CLAUSES = 500
DEGREES_HOLD = 6
"""Measured degrees hold for 2**6 changes of the data, or until a count changes its order of size."""


def _check_size(command: tree.Command) -> None:
    """KIP_4002 for a WHERE block with more clauses than one statement can plan in reasonable time."""
    where = getattr(command, "where", None)
    stack: list[tree.Group] = [where] if isinstance(where, tree.Group) else []
    count = 0
    while stack:
        group = stack.pop()
        count += len(group.clauses)
        stack += [clause.group for clause in group.clauses if isinstance(clause, (tree.Not, tree.Optional, tree.Union))]
    if count > MAX_CLAUSES:
        raise KipError(
            "KIP_4002",
            f"WHERE has {count} clauses; one command may have {MAX_CLAUSES}.",
            'Split it into several commands; for many names or values use FILTER(IN(?x.name, ["…", "…"])).',
        )


def _selection(where: tree.Group, names: list[tree.Var]) -> tree.Find:
    return tree.Find([tree.Path(var.name, (), var.at) for var in names], where)


Analysis = tuple[int, list[Atom], list[Probe]]
"""The schema epoch, the atoms before the first OPTIONAL or UNION, and the degrees worth knowing."""


class Query(Struct):
    """A pattern with its compiled variants. With `targets` it selects their ids instead of projecting FIND items."""

    find: tree.Find
    targets: list[tree.Var] | None = None
    limit: tree.Value | None = None
    cap: int | None = None
    bodies: bool = False
    """Whether the command will read the elements that it selects."""
    names: list[tree.Value] = []
    """The types and predicates whose counts the plan rests on."""
    has_open_names: bool = False
    predicates: list[tree.Value] | None = None
    """The predicates of links that the first target can be; None where it can be any link."""
    analysis: Analysis | None = None
    variants: dict[tuple[Any, ...], Plan] = {}

    def __post_init__(self) -> None:
        self.names = _schema_values(self.find.where)
        self.predicates = predicates_of(self.find.where, self.targets[0].name) if self.targets else None
        self.has_open_names = any(isinstance(name, tree.Param) for name in self.names)

    def may_bind_memberships(self, parameters: Parameters) -> bool:
        """Whether the first target can be a domain membership."""
        if self.predicates is None:
            return True
        for name in self.predicates:
            if (parameters.get(name.name) if isinstance(name, tree.Param) else name.value) == MEMBERSHIP:
                return True
        return False


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
        skip = _tail_params(prepared.parsed.tokens)
        rest = {name: parameters[name] for name in prepared.params if name in parameters and name not in skip}
        if not rest:
            return prepared.digest
        for value in rest.values():
            values.check_storable(value)
        return _short_hash(prepared.digest + encode(sorted(rest.items())))

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
        resume: tuple[str, ...] | None = None
        find = query.find
        if find.cursor is not None:
            parameters = dict(parameters)
            resume, keys = self._resume(prepared, find.cursor, parameters)
            parameters.update({f"{KEY}{index}": key for index, key in enumerate(keys)})
        tokens = prepared.tokens
        plan = self._variant(session, query, prepared, parameters, snapshot, moment, resume)
        bindings = plan.bindings(parameters, snapshot, tokens)
        self._check_exist(session, plan, bindings, snapshot, parameters)
        if resume is not None and (plan.keys != len(keys) or plan.order != resume):
            raise _bad_cursor(find.cursor)
        if not prepared.params and not plan.must_exist and resume is None:
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
        values.check_cursor(token, cursor.at)
        found = decode_cursor(token)
        if found is None or found[0] != self.digest(prepared, parameters):
            raise _bad_cursor(cursor)
        return found[1], found[2]

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
        resume: tuple[str, ...] | None,
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
            resume,
        )
        plan = query.variants.get(key)
        if plan is None:
            if len(query.variants) > 200:
                query.variants.clear()
            plan = query.variants[key] = self.compile(query, prepared, parameters, snapshot, degrees, resume)
        return plan

    def compile(
        self,
        query: Query,
        prepared: Prepared,
        parameters: Parameters,
        snapshot: Snapshot,
        degrees: dict[tuple[int, str], int] | None = None,
        resume: tuple[str, ...] | None = None,
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
        return FindEmitter(compiler, query.find, max_rows=self.settings.max_rows, resume=resume).plan()

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
            found: tuple[Any, ...] = (bindings[index], snapshot.ctx)
            test = ""
            if table == "link":
                test, found = " AND p = ?", (*found, bindings[index + 1])
            if session.row(f"SELECT 1 FROM {table} WHERE id = ? AND ctx = ?{test}", found) is None:
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
                degree = self._degrees[key] = _count_links(session, snapshot.ctx, probe.side, parts, names)
            result[probe.atom, probe.side] = degree
        return result


def _anchor_text(value: tree.Value | None, read: Callable[[tree.Value], object]) -> str | None:
    if value is None:
        return None
    found = read(value)
    values.check_text(found, value.at, "An id, type or name")
    return str(found)


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


def _count_links(
    session: Session, ctx: int, side: str, anchor: tuple[Any, ...], predicates: tuple[str, ...] | None
) -> int:
    id_, type_, name = anchor
    bindings: list[Any] = [ctx]
    if id_ is not None:
        place = "?2"
        bindings.append(bind.as_concept_id(id_, -1, None))  # type: ignore[arg-type]
    else:
        place = "(SELECT id FROM concept WHERE ctx = ?1 AND type = ?2 AND name = ?3)"
        bindings += [type_, name]
    test = ""
    if predicates is not None:
        marks = ", ".join(f"?{len(bindings) + 1 + index}" for index in range(len(predicates)))
        test = f" AND p IN ({marks})" if len(predicates) > 1 else f" AND p = {marks}"
        bindings += predicates
    column = {SUBJECT: "s", OBJECT: "o"}[side]
    sql = f"SELECT count(*) FROM (SELECT 1 FROM link WHERE ctx = ?1 AND {column} = {place}{test} LIMIT {PROBE_CAP})"
    return int(session.value(sql, bindings))


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


def _schema_values(group: tree.Group) -> list[tree.Value]:
    """The types and predicates of a pattern, without the types of nodes that id or name make single ones."""
    values: list[tree.Value] = []
    stack: list[Any] = list(group.clauses)
    while stack:
        item = stack.pop()
        if isinstance(item, (tree.ConceptClause, tree.LinkClause)):
            stack.append(item.match)
        elif isinstance(item, tree.ConceptMatch):
            if item.type is not None and item.id is None and item.name is None:
                values.append(item.type)
        elif isinstance(item, tree.LinkPattern):
            stack += [item.subject, item.object]
            if isinstance(item.predicate, tree.PredicateNames):
                values += item.predicate.names
            elif isinstance(item.predicate, tree.PredicatePath):
                values.append(item.predicate.name)
        elif isinstance(item, (tree.Not, tree.Optional, tree.Union)):
            stack += item.group.clauses
    return values


# --- cursors --------------------------------------------------------------------------------------


def encode_cursor(digest: str, order: tuple[str, ...], keys: tuple[Any, ...]) -> str:
    """An opaque token: the statement's digest, the default order in force, and the last row's key values."""
    check = _short_hash(encode([digest, list(order), list(keys)]))[:_CHECK]
    return base64.urlsafe_b64encode(encode([digest + check, list(order), list(keys)]).encode()).decode().rstrip("=")


def decode_cursor(token: str) -> tuple[str, tuple[str, ...], list[Any]] | None:
    """The parts of a token, or None if it is not one of ours."""
    try:
        parts = decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        digest, order, keys = parts
    except (ValueError, TypeError, RecursionError, binascii.Error):
        return None
    if not isinstance(digest, str) or not isinstance(order, list) or not isinstance(keys, list):
        return None
    if not all(map(_is_key, keys)) or digest[-_CHECK:] != _short_hash(encode([digest[:-_CHECK], order, keys]))[:_CHECK]:
        return None
    return digest[:-_CHECK], tuple(str(name) for name in order), keys


def _is_key(value: object) -> bool:
    """What an SQL engine can have given as a sort value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return -(2**63) <= value < 2**63
    return value is None or isinstance(value, (str, float))


def _bad_cursor(cursor: tree.Value | None) -> KipError:
    return KipError(
        "KIP_1001",
        "The cursor does not belong to this statement.",
        "Pass next_cursor of the previous page unchanged, with the same statement and parameters; "
        "leave CURSOR out for the first page.",
        at=None if cursor is None else cursor.at,
    )


def statement_digest(tokens: list[str]) -> str:
    kept: list[str] = []
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif token in ("LIMIT", "CURSOR"):
            skip = True
        else:
            kept.append(token)
    return _short_hash("\n".join(kept))


def _short_hash(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode(), digest_size=9).hexdigest()


def _tail_params(tokens: list[str]) -> set[str]:
    return {
        following[1:] for token, following in pairwise(tokens) if token in ("LIMIT", "CURSOR") and following[0] == ":"
    }


def _too_many(cap: int) -> KipError:
    return KipError("KIP_4002", f"The result has more than {cap} rows.", "Add LIMIT and read the rest with CURSOR.")
