"""Public names of Ruby files: classes, modules, constants and public methods (reference 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trivium.code.collector import Collector, lines
from trivium.code.model import ModuleSymbols
from trivium.code.parsing import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 16
_SPACES = frozenset({"module", "class"})
_METHODS = frozenset({"method", "singleton_method"})
_VISIBILITY = frozenset({"public", "private", "protected"})


def analyse_ruby(data: bytes) -> ModuleSymbols:
    """The symbols of a Ruby file. NoGrammar when the grammar is not available."""
    root = parse("ruby", data)
    found = Collector("ruby", data)
    _names_in(root, found, 0)
    return found.build(parsed=not root.has_error)


def _names_in(body: Node, found: Collector, depth: int) -> None:
    """Classes, modules and constants of the file or of a module that is only a name space."""
    for node in body.named_children:
        if node.type in _SPACES:
            _space(node, found, depth)
        elif node.type == "assignment":
            _constant(node, found)
        elif node.type == "method":
            name = node.child_by_field_name("name")
            if name is not None:
                found.declare(found.text(name), *lines(node), public=False)  # a private method of every object


def _space(node: Node, found: Collector, depth: int) -> None:
    name = _constant_name(found, node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    if name is None:
        return
    if body is not None and _is_namespace(node, body) and depth < _MAX_DEPTH:
        _names_in(body, found, depth + 1)
        return
    found.declare(name, *lines(node), public=True)
    if body is None:
        return
    _methods(body, name, found)
    if node.type == "module" and depth < _MAX_DEPTH:
        for inner in body.named_children:
            if inner.type in _SPACES:
                _space(inner, found, depth + 1)


def _is_namespace(node: Node, body: Node) -> bool:
    """Whether a module holds classes and modules and no methods: every file of a library opens it again."""
    kinds = {inner.type for inner in body.named_children}
    return node.type == "module" and not kinds.isdisjoint(_SPACES) and kinds.isdisjoint({*_METHODS, "singleton_class"})


def _constant(node: Node, found: Collector) -> None:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "constant":
        found.declare(found.text(left), *lines(node), public=True)


def _constant_name(found: Collector, name: Node | None) -> str | None:
    if name is not None and name.type == "scope_resolution":
        name = name.child_by_field_name("name")
    return found.text(name) if name is not None and name.type == "constant" else None


def _methods(body: Node, owner: str, found: Collector) -> None:
    """Methods of a class in order, since a bare `private` holds for all that follow."""
    places: dict[str, tuple[tuple[int, int], bool]] = {}
    visibility = "public"
    for node in body.named_children:
        if node.type == "identifier" and found.text(node) in _VISIBILITY:
            visibility = found.text(node)
        elif node.type in _METHODS:
            _put(found, places, node, public=visibility == "public" or node.type == "singleton_method")
        elif node.type == "singleton_class":
            inner = node.child_by_field_name("body")
            for method in inner.named_children if inner is not None else ():
                if method.type == "method":
                    _put(found, places, method, public=True)
        elif node.type == "call":
            _visibility_call(found, places, node)
        elif node.type in _SPACES:
            name = _constant_name(found, node.child_by_field_name("name"))
            if name is not None:
                places.setdefault(name, (lines(node), True))
    for name, (place, public) in places.items():
        found.member(owner, name, *place, public=public)


def _visibility_call(found: Collector, places: dict[str, tuple[tuple[int, int], bool]], node: Node) -> None:
    """`private def x`, `private :x, :y` and the same with other words."""
    method = node.child_by_field_name("method")
    arguments = node.child_by_field_name("arguments")
    if method is None or arguments is None or found.text(method) not in _VISIBILITY:
        return
    public = found.text(method) == "public"
    for argument in arguments.named_children:
        if argument.type in _METHODS:
            _put(found, places, argument, public=public)
        elif argument.type == "simple_symbol":
            name = found.text(argument)[1:]
            if name in places:
                places[name] = (places[name][0], public)


def _put(found: Collector, places: dict[str, tuple[tuple[int, int], bool]], node: Node, *, public: bool) -> None:
    name = node.child_by_field_name("name")
    if name is not None and name.type in ("identifier", "constant"):
        places[found.text(name)] = (lines(node), public)
