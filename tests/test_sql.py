"""Only `store` speaks SQL, together with the emitter of KQL; only `store` knows the engine's library."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "trivium"
EMITTER = {f"kip/{name}.py" for name in ("atoms", "expressions", "find", "groups", "scope")}
FILES = {str(path.relative_to(SOURCE)): path for path in sorted(SOURCE.rglob("*.py"))}
ELSEWHERE = [name for name in FILES if not name.startswith("store/")]

SQL = re.compile(
    r"\b(?:SELECT\s|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|REPLACE\s+INTO\s|DELETE\s+FROM\s+(?:[a-z]|\Z)|UPDATE\s+\w+\s+SET\s+\w+\s*="
    r"|PRAGMA\s|(?:CREATE|DROP|ALTER)\s+(?:VIRTUAL\s+|TEMP\s+)?(?:TABLE|INDEX|TRIGGER|VIEW)\b|ATTACH\s+DATABASE"
    r"|(?:BEGIN|COMMIT|ROLLBACK)\Z|BEGIN\s+IMMEDIATE|(?:FROM|JOIN)\s+\w+\s+(?:AS|WHERE)\s)"
)


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a module with their lines: literals and the fixed parts of f-strings, without docstrings."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value


def _statements(source: str) -> list[str]:
    return [f"line {line}: {text[:60]}" for line, text in _texts(ast.parse(source)) if SQL.search(text)]


@pytest.mark.parametrize("name", [name for name in ELSEWHERE if name not in EMITTER])
def test_no_other_module_holds_sql(name: str) -> None:
    assert _statements(FILES[name].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", sorted(EMITTER))
def test_the_emitter_is_what_it_is_said_to_be(name: str) -> None:
    assert _statements(FILES[name].read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ELSEWHERE)
def test_no_other_module_knows_the_library(name: str) -> None:
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == "apsw" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] != "apsw"


@pytest.mark.parametrize(
    "source",
    [
        'run("SELECT 1")',
        'run(f"select".upper(), f"SELECT {columns} FROM t")',
        'run("UPDATE context SET stale = 1")',
        'run("DELETE FROM vector")',
        'run("INSERT OR IGNORE INTO removed VALUES (?)")',
        'run("PRAGMA user_version")',
        'run("BEGIN")',
        'where = f" FROM {table}"\nmore = " FROM link AS l"',
    ],
)
def test_sql_is_seen(source: str) -> None:
    assert _statements(source)


@pytest.mark.parametrize(
    "source",
    [
        'def run():\n    """Gives what SELECT gives."""',
        'run("UPDATE ?x SET ATTRIBUTES {a: 1} WHERE { ?x {type: \\"T\\"} }")',
        'run("DELETE ATTRIBUTES {\\"a\\"} FROM ?x WHERE { }")',
        'run("FIND(?x) WHERE { } ORDER BY ?x.name LIMIT 3")',
    ],
)
def test_commands_of_kip_are_no_sql(source: str) -> None:
    assert not _statements(source)
