"""Rows to the columns of a FIND result (§6.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from trivium.kip import operands, tree
from trivium.kip.elements import link_json, node_json
from trivium.kip.expressions import end_text, operand
from trivium.kip.scope import CONCEPT, LINK, PREDICATE, Scope
from trivium.store.codec import decode

Column = Sequence[Any]
Reader = Callable[[list[Column]], list[Any]]


class Output(Struct):
    """The SQL columns of one FIND expression and what makes them its values."""

    columns: list[str]
    read: Reader | None  # None: the one column as it is


def output(scope: Scope, path: tree.Path) -> Output:
    """How to read `?var` or a dot path from a scope."""
    if not path.steps:
        bound = scope.require(path.var, path.at)
        if bound.kind == PREDICATE:
            return Output([bound.expr], None)
        return _whole(scope, path.var, bound.kind, bound.expr)
    value = operand(scope, path)
    if value.kind == operands.JSON:
        return Output([str(value.json)], read_json)
    return Output([value.value], None)


def _whole(scope: Scope, name: str, kind: str, expr: str) -> Output:
    dialect = scope.compiler.dialect
    if kind == CONCEPT:
        row = scope.row(name, "concept")
        fields = [f"{row}.{field}" for field in ("id", "type", "name", "version", "updated_at")]
        return Output([*fields, dialect.whole_json(f"{row}.attrs"), dialect.whole_json(f"{row}.meta")], _read_concepts)
    link = scope.row(name, "link")
    ends = [end_text(dialect, f"{link}.{end}") for end in "so"]
    if kind == LINK:
        fields = [f"{link}.id", ends[0], f"{link}.p", ends[1], f"{link}.version", f"{link}.updated_at"]
        return Output([*fields, dialect.whole_json(f"{link}.attrs"), dialect.whole_json(f"{link}.meta")], _read_links)
    row = scope.row(name, "concept")

    def either(field: str) -> str:
        return f"COALESCE({row}.{field}, {link}.{field})"

    columns = [
        expr,
        f"{row}.type",
        f"{row}.name",
        ends[0],
        f"{link}.p",
        ends[1],
        either("version"),
        either("updated_at"),
    ]
    columns += [dialect.whole_json(either("attrs")), dialect.whole_json(either("meta"))]
    return Output(columns, _read_elements)


# --- reading --------------------------------------------------------------------------------------


def read_json(columns: list[Column]) -> list[Any]:
    return [None if text is None else decode(text) for text in columns[0]]


def _read_concepts(columns: list[Column]) -> list[Any]:
    return [
        None if id_ is None else node_json(id_, type_, name, version, time, decode(attributes), decode(metadata))
        for id_, type_, name, version, time, attributes, metadata in zip(*columns, strict=True)
    ]


def _read_links(columns: list[Column]) -> list[Any]:
    return [
        None if id_ is None else link_json(id_, s, p, o, version, time, decode(attributes), decode(metadata))
        for id_, s, p, o, version, time, attributes, metadata in zip(*columns, strict=True)
    ]


def _read_elements(columns: list[Column]) -> list[Any]:
    values: list[Any] = []
    for id_, type_, name, s, p, o, version, time, attributes, metadata in zip(*columns, strict=True):
        if id_ is None or isinstance(id_, str):
            values.append(id_)
        elif p is not None:
            values.append(link_json(id_, s, p, o, version, time, decode(attributes), decode(metadata)))
        else:
            values.append(node_json(id_, type_, name, version, time, decode(attributes), decode(metadata)))
    return values
