"""Filter expressions, FIND expressions and sort keys to SQL (§3.2, §3.4.3)."""

from __future__ import annotations

from trivium.kip import bind, operands, tree
from trivium.kip.bind import Convert
from trivium.kip.operands import Operand
from trivium.kip.scope import ANY, CONCEPT, LINK, PREDICATE, Bound, Scope
from trivium.store.dialect import Dialect


def emit_expr(scope: Scope, expr: tree.Expr) -> str:
    """A filter expression as an SQL condition; NULL means false."""
    if isinstance(expr, tree.And):
        return "(" + operands.joined(" AND ", [emit_expr(scope, item) for item in expr.items]) + ")"
    if isinstance(expr, tree.Or):
        return "(" + operands.joined(" OR ", [emit_expr(scope, item) for item in expr.items]) + ")"
    if isinstance(expr, tree.Negation):
        if isinstance(expr.item, tree.Negation):
            return emit_expr(scope, expr.item.item)
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
