"""One atom to SQL: a FROM item, its conditions, and the variables it binds."""

from __future__ import annotations

from msgspec.structs import replace

from trivium.errors import KipError
from trivium.kip import bind, operands
from trivium.kip.patterns import Atom, ConceptAtom, LinkAtom, LinkIdAtom, PathAtom, is_internal
from trivium.kip.scope import ANY, CONCEPT, ELEMENT, LINK, PREDICATE, Bound, Compiler, Scope


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
    index = None if bound is not None or atom.id is not None else _concept_index(atom)
    scope.items.append(compiler.dialect.access("concept", alias, index))
    scope.where += terms
    scope.rows["concept", atom.var] = alias
    compiler.notes.append(f"{alias}: concept {_show(atom.var)} " + ("check" if bound else "by " + _access(atom)))


def _concept_index(atom: ConceptAtom) -> str | None:
    """Taken by type alone, either index on types serves, and the better one depends on the order that is asked for."""
    if atom.type is None:
        return "concept_name"
    return None if atom.name is None else "concept_type_name"


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


def link_index(atom: LinkAtom, free: list[str]) -> str | None:
    """The index that serves a link whose ends in `free` are not bound yet."""
    if atom.subject not in free:
        return "link_spo"
    if atom.object not in free:
        return "link_ops"
    return None if atom.names is None else "link_p"


def _emit_link(scope: Scope, atom: LinkAtom) -> None:
    alias = scope.compiler.alias("l")
    free = [name for name in (atom.subject, atom.object) if scope.lookup(name) is None]
    terms, new = link_terms(scope, atom, alias)
    for name, bound in new.items():
        scope.assign(name, bound)
    index = link_index(atom, free) if atom.link in new else None
    scope.items.append(scope.compiler.dialect.access("link", alias, index))
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
        walk, alias = _walk(scope, atom, subject.element(compiler.dialect), forward=True)
        there = f"n = {object_.element(compiler.dialect)} AND {_long(atom, alias)}"
        scope.where.append(f"EXISTS (\n{walk}\nSELECT 1 FROM {alias} WHERE {there})")
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
    table = compiler.dialect.access("link", link, "link_spo" if forward else "link_ops")
    if atom.high is None:
        depth, bound = f"min({walk}.d + 1, {atom.low})", ""
    else:
        depth, bound = f"{walk}.d + 1", f" AND {walk}.d < {atom.high}"
    return (
        f"WITH RECURSIVE {walk}(n, d) AS (\n  SELECT {start}, 0\n  UNION\n"
        f"  SELECT {link}.{far}, {depth} FROM {walk} CROSS JOIN {table}"
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
