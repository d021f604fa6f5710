"""The tree of exceptions is drawn as it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import trivium
from trivium import errors

SOURCE = Path(trivium.__file__).parent
BRANCH = re.compile(r"([ │]*)(?:[├└]── )?(\w+)(?: \(([\w.]+)\))? +\S")

Tree = dict[str, tuple[str | None, str]]
"""The parent of an exception, and the room and module where it is defined."""


def drawn() -> Tree:
    found: Tree = {}
    above: list[str] = []
    assert errors.__doc__ is not None
    for line in errors.__doc__.splitlines():
        branch = BRANCH.match(line.removeprefix("    "))
        if branch is None or not line.startswith("    "):
            continue
        depth = len(branch[1]) // 4 + ("──" in line)
        above[depth:] = [branch[2]]
        found[branch[2]] = (above[depth - 1] if depth else None, branch[3] or "errors")
    return found


def defined() -> Tree:
    classes = {}
    for path in SOURCE.rglob("*.py"):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.bases and isinstance(node.bases[0], ast.Name):
                classes[node.name] = (node.bases[0].id, module)
    found: Tree = {"TriviumError": (None, "errors")}
    grown = True
    while grown:
        more = {name: place for name, place in classes.items() if place[0] in found and name not in found}
        found |= {name: place for name, place in more.items() if not name.startswith("_")}
        grown = any(not name.startswith("_") for name in more)
    return found


def test_the_tree_of_exceptions_is_the_one_that_is_drawn() -> None:
    assert drawn() == defined()


def test_what_the_package_exports_is_what_its_rooms_define() -> None:
    assert sorted(trivium.__all__) == trivium.__all__
    for name, (parent, module) in defined().items():
        if name in trivium.__all__:
            kind = getattr(trivium, name)
            assert (kind.__name__, kind.__module__) == (name, f"trivium.{module}")
            assert parent is None or kind.__base__.__name__ == parent
