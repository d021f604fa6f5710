"""What differs between SQL engines: the constructs that the KQL emitter may not spell itself.

`SqliteDialect` is the embedded engine. Each method returns SQL text for expressions that are SQL texts themselves;
values never enter the text, they are bound through `placeholder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Dialect(Protocol):
    """The seam between the emitter and an engine."""

    def placeholder(self, number: int) -> str: ...

    def json_path(self, keys: Sequence[str]) -> str: ...

    def json_kind(self, column: str, path: str) -> str: ...

    def json_value(self, column: str, path: str) -> str: ...

    def json_text(self, column: str, path: str) -> str: ...

    def whole_json(self, column: str) -> str: ...

    def metadata_json(self, alias: str) -> str: ...

    def json_equal(self, left: str, right: str) -> str: ...

    def canonical(self, json: str) -> str: ...

    def number_text(self, number: str) -> str: ...

    def compare_numbers(self, left: str, right: str) -> str: ...

    def is_number(self, kind: str) -> str: ...

    def contains(self, text: str, part: str) -> str: ...

    def starts_with(self, text: str, part: str) -> str: ...

    def ends_with(self, text: str, part: str) -> str: ...

    def regex(self, text: str, pattern: str) -> str: ...

    def in_list(self, expr: str, parameter: str) -> str: ...

    def join(self, items: Sequence[str]) -> str: ...

    def barrier(self) -> str: ...

    def access(self, table: str, alias: str, index: str | None) -> str: ...

    def lateral_rows(self, alias: str, columns: int, body: str, null_when: str | None) -> tuple[str, list[str]]: ...

    def is_link(self, id_expr: str) -> str: ...

    def type_of_value(self, expr: str) -> str: ...


class SqliteDialect:
    """SQLite 3.45+ with JSONB, numbered parameters, and the functions of `store.functions`."""

    def placeholder(self, number: int) -> str:
        return f"?{number}"

    def json_path(self, keys: Sequence[str]) -> str:
        """Keys are identifiers, so quoting them inside a path literal is safe."""
        return "'$" + "".join(f'."{key}"' for key in keys) + "'"

    def json_kind(self, column: str, path: str) -> str:
        """One of integer, real, text, true, false, null, array, object; SQL NULL when missing."""
        return f"json_type({column}, {path})"

    def json_value(self, column: str, path: str) -> str:
        """Number, text, 1/0 for booleans, JSON text for containers; SQL NULL for null and missing."""
        return f"({column} ->> {path})"

    def json_text(self, column: str, path: str) -> str:
        """JSON text, or SQL NULL when missing."""
        return f"({column} -> {path})"

    def whole_json(self, column: str) -> str:
        return f"json({column})"

    def metadata_json(self, alias: str) -> str:
        """Author metadata plus the engine's `_version` and `_updated_at`, as JSON text."""
        return f"json_set({alias}.meta, '$._version', {alias}.version, '$._updated_at', {alias}.updated_at)"

    def json_equal(self, left: str, right: str) -> str:
        return f"kip_json_equal({left}, {right})"

    def canonical(self, json: str) -> str:
        """One text for all spellings of a JSON value."""
        return f"kip_canonical({json})"

    def number_text(self, number: str) -> str:
        return f"CAST({number} AS TEXT)"

    def compare_numbers(self, left: str, right: str) -> str:
        """-1, 0 or 1 for two numbers given as texts, exact at any size."""
        return f"kip_compare_numbers({left}, {right})"

    def is_number(self, kind: str) -> str:
        return f"{kind} IN ('integer', 'real')"

    def contains(self, text: str, part: str) -> str:
        return f"instr({text}, {part}) > 0"

    def starts_with(self, text: str, part: str) -> str:
        return f"substr({text}, 1, length({part})) = {part}"

    def ends_with(self, text: str, part: str) -> str:
        return f"CASE WHEN length({part}) = 0 THEN {text} IS NOT NULL ELSE substr({text}, -length({part})) = {part} END"

    def regex(self, text: str, pattern: str) -> str:
        return f"kip_regex({text}, {pattern})"

    def in_list(self, expr: str, parameter: str) -> str:
        """`parameter` is bound to a JSON array of values of one kind."""
        return f"{expr} IN (SELECT value FROM json_each({parameter}))"

    def join(self, items: Sequence[str]) -> str:
        """FROM items whose order is the plan: CROSS JOIN keeps SQLite from reordering them.

        An item that begins with LEFT JOIN (or another join word) stands as it is.
        """
        parts: list[str] = []
        for item in items:
            if not parts or item.startswith("LEFT JOIN "):
                parts.append(item)
            else:
                parts.append("CROSS JOIN " + item)
        return "\n  ".join(parts)

    def access(self, table: str, alias: str, index: str | None) -> str:
        """A table as a FROM item, pinned to one of its indexes: left alone, SQLite may walk one for its order."""
        return f"{table} AS {alias} INDEXED BY {index}" if index else f"{table} AS {alias}"

    def barrier(self) -> str:
        """The tail of a subquery that keeps the engine from merging it into the outer one."""
        return "LIMIT -1"

    def lateral_rows(self, alias: str, columns: int, body: str, null_when: str | None) -> tuple[str, list[str]]:
        """The rows of a subquery that looks at FROM items to its left, as a FROM item, and its column expressions.

        `body` is a SELECT whose columns are named c0, c1, …; where `null_when` holds there is one row of nulls instead.
        SQLite has no LATERAL; a JSON array of the rows is one.
        """
        names = [f"c{index}" for index in range(columns)]
        row = names[0] if columns == 1 else f"json_array({', '.join(names)})"
        array = f"(SELECT json_group_array({row}) FROM ({body}))"
        if null_when is not None:
            nulls = "[null]" if columns == 1 else "[[" + ", ".join(["null"] * columns) + "]]"
            array = f"CASE WHEN {null_when} THEN '{nulls}' ELSE {array} END"
        values = [f"{alias}.value"] if columns == 1 else [f"({alias}.value ->> {index})" for index in range(columns)]
        return f"json_each({array}) AS {alias}", values

    def is_link(self, id_expr: str) -> str:
        return f"({id_expr} & 1)"

    def type_of_value(self, expr: str) -> str:
        return f"typeof({expr})"
