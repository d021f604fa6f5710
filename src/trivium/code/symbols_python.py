"""Exported names of Python files, from the standard `ast` (reference 2.4). Only the module level is looked at."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from trivium.code.collector import Collector, unparsed
from trivium.code.languages import PYTHON
from trivium.code.model import ModuleSymbols

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_SLOW_CODECS = re.compile(rb"punycode|idna|escape|utf.?7", re.I)
_MAX_DEPTH = 4

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (*_DEFINITIONS, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Expr)
"""Statements that hold none of their module's own."""


def analyse_python(path: str, data: bytes) -> ModuleSymbols:
    """The symbols of a module; one that Python's parser refuses gives none and `parsed` False (reference 2.4)."""
    tree = _parse(data)
    if tree is None:
        return unparsed(PYTHON)
    module = _Module(path)
    module.read(tree)
    return module.result()


def _parse(data: bytes) -> ast.Module | None:
    """Parse bytes by their own encoding cookie or byte-order mark. Codecs that can take quadratic time are refused."""
    for line in data[:1024].split(b"\n", 2)[:2]:
        cookie = _COOKIE.match(line)
        if cookie and _SLOW_CODECS.search(cookie[1]):
            return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


class _Module:
    """The names that a module binds at its own level, in the order of its statements."""

    def __init__(self, path: str) -> None:
        parts = path.split("/")
        self.is_package = parts[-1] in ("__init__.py", "__init__.pyi")
        self.packages = parts[:-1]
        self.bound: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, str] = {}
        self.same_name: set[str] = set()
        self.all_names: dict[str, None] | None = None
        self.all_literal = True

    def read(self, tree: ast.Module) -> None:
        for statement in _module_level(tree.body):
            match statement:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._bind(statement.name, statement)
                case ast.Assign():
                    self._assign(statement.targets, statement.value, statement)
                case ast.AnnAssign():
                    self._assign([statement.target], statement.value, statement)
                case ast.AugAssign():
                    self._augment(statement)
                case ast.ImportFrom():
                    self._import_from(statement)
                case ast.Import():
                    self._import(statement)
                case ast.Expr(value=ast.Call() as call):
                    self._call(call)
                case ast.Delete():
                    for name in _names(statement.targets):
                        self.bound.pop(name, None)
                        self.imported.pop(name, None)
                case _:
                    self._type_alias(statement)

    def _bind(self, name: str, statement: ast.stmt) -> None:
        """Keep where a name is first assigned, and every class and function of that name."""
        places = self.bound.setdefault(name, [])
        if not places or isinstance(statement, _DEFINITIONS):
            places.append(statement)

    def _type_alias(self, statement: ast.stmt) -> None:
        """`type X = …`, which Python 3.12 and later can parse."""
        name = getattr(statement, "name", None)
        if type(statement).__name__ == "TypeAlias" and isinstance(name, ast.Name):
            self._bind(name.id, statement)

    def _assign(self, targets: list[ast.expr], value: ast.expr | None, statement: ast.stmt) -> None:
        for name in _names(targets):
            if name != "__all__":
                self._bind(name, statement)
            elif value is not None:
                if not any(isinstance(part, ast.Name) and part.id == "__all__" for part in ast.walk(value)):
                    self.all_names, self.all_literal = {}, True
                self._extend(value)

    def _augment(self, statement: ast.AugAssign) -> None:
        if isinstance(statement.target, ast.Name) and statement.target.id == "__all__":
            self._extend(statement.value)

    def _call(self, call: ast.Call) -> None:
        """`__all__.extend([...])`, `.append("x")` and `.remove("x")`."""
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"), attr=method), args=[argument], keywords=[]):
                name = argument.value if isinstance(argument, ast.Constant) else None
                if method == "extend":
                    self._extend(argument)
                elif method in ("append", "remove") and isinstance(name, str):
                    self.all_names = self.all_names if self.all_names is not None else {}
                    if method == "append":
                        self.all_names[name] = None
                    else:
                        self.all_names.pop(name, None)
                else:
                    self.all_literal = False

    def _extend(self, value: ast.expr) -> None:
        names, literal = _literal_names(value)
        self.all_names = self.all_names if self.all_names is not None else {}
        self.all_names.update(dict.fromkeys(names))
        self.all_literal = self.all_literal and literal

    def _import_from(self, statement: ast.ImportFrom) -> None:
        specifier = "." * statement.level + (statement.module or "")
        if specifier == "__future__":
            return
        for alias in statement.names:
            if alias.name == "*":
                continue
            name = alias.asname or alias.name
            self.imported[name] = specifier
            if alias.asname == alias.name or self._is_own(statement):
                self.same_name.add(name)

    def _is_own(self, statement: ast.ImportFrom) -> bool:
        """Whether a package's `__init__` imports from its own package: what it offers, not what it uses."""
        if not self.is_package:
            return False
        return statement.level > 0 or (statement.module or "").partition(".")[0] in self.packages

    def _import(self, statement: ast.Import) -> None:
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.imported.setdefault(name, alias.name)
            if alias.asname == alias.name:
                self.same_name.add(name)

    def result(self) -> ModuleSymbols:
        found = Collector(PYTHON)
        listed = self.all_names
        exact = listed is not None and self.all_literal
        for name, places in self.bound.items():
            if name in self.imported and not isinstance(places[-1], _DEFINITIONS):
                continue  # an import with a fallback, such as `Name = None`
            public = name in listed if listed is not None and exact else not name.startswith("_")
            for statement in places:
                found.declare(name, _first_line(statement), _last_line(statement), public=public)
                if isinstance(statement, ast.ClassDef):
                    _add_members(found, name, statement, _MAX_DEPTH)
        for name, specifier in self.imported.items():
            if name in self.same_name and not exact and not name.startswith("_"):
                found.forward(name, specifier)
        for name in listed or ():
            if name in self.imported:
                found.forward(name, self.imported[name])
            else:
                found.export(name)
        return found.build()


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run at module level, in order, those inside `if`, `try`, `with` and loops included."""
    stack: list[ast.stmt] = body[::-1]
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, _SIMPLE):
            continue
        inner: list[ast.stmt] = []
        match statement:
            case ast.If() | ast.For() | ast.While() | ast.AsyncFor():
                inner = [*statement.body, *statement.orelse]
            case ast.With() | ast.AsyncWith():
                inner = statement.body
            case ast.Try() | ast.TryStar():
                handled = [inside for handler in statement.handlers for inside in handler.body]
                inner = [*statement.body, *handled, *statement.orelse, *statement.finalbody]
            case ast.Match():
                inner = [inside for case in statement.cases for inside in case.body]
        stack.extend(reversed(inner))


def _names(targets: list[ast.expr]) -> Iterator[str]:
    """Plain names among assignment targets, those in tuples and lists included."""
    stack = targets[::-1]
    while stack:
        match stack.pop():
            case ast.Name(id=name):
                yield name
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                stack.extend(reversed(parts))
            case ast.Starred(value=part):
                stack.append(part)


def _literal_names(value: ast.expr) -> tuple[list[str], bool]:
    """Strings of a list or tuple, or of a sum of such; and whether nothing else is in it (`__all__` itself counts)."""
    names: list[str] = []
    literal = True
    stack = [value]
    while stack:
        match stack.pop():
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                stack.extend(reversed(parts))
            case ast.Constant(value=str(name)):
                names.append(name)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                stack += [right, left]
            case ast.Name(id="__all__"):
                pass
            case _:
                literal = False
    return names, literal


def _add_members(found: Collector, owner: str, statement: ast.ClassDef, depth: int, *, seen: bool = True) -> None:
    """Methods and nested classes of a class, as `Name.method` and `Name.Inner.method`; the first of equal names."""
    names: set[str] = set()
    for inside in statement.body:
        if not isinstance(inside, _DEFINITIONS) or inside.name in names:
            continue
        names.add(inside.name)
        public = seen and not inside.name.startswith("_")
        found.member(owner, inside.name, _first_line(inside), _last_line(inside), public=public)
        if isinstance(inside, ast.ClassDef) and depth:
            _add_members(found, f"{owner}.{inside.name}", inside, depth - 1, seen=public)


def _first_line(statement: ast.stmt) -> int:
    """The first line, decorators included."""
    if isinstance(statement, _DEFINITIONS) and statement.decorator_list:
        return min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
    return statement.lineno


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno
