"""Public names of Go, Rust, Java, C#, PHP, Kotlin and Swift files from tables; C, C++ and Ruby have rooms of their own.

What counts as exported is what another file of the repository may use by each language's own rule: an application says
`public` seldom. Only declarations outside function bodies are visited, without recursion, so a file costs little more
than its parse (reference 2.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from trivium.code.collector import Collector, lines, unparsed, words
from trivium.code.languages import GRAMMARS
from trivium.code.model import ModuleSymbols
from trivium.code.parsing import TooMuchWork, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_MODIFIERS = frozenset({"modifiers", "modifier", "visibility_modifier"})
_NAMES = frozenset({"name", "constant"})
_HIDDEN = frozenset({"private", "fileprivate", "file"})

Words = frozenset[str]
"""Node types; or the modifiers of a declaration as written, such as `public` or `pub(crate)`."""


class Rules(NamedTuple):
    """Node types of one grammar. `types` hold `members` inside `bodies`; members of `open_types` are public unsaid."""

    types: Words
    names: Words
    bodies: Words
    members: Words
    containers: Words
    public: Callable[[Words, str], bool]
    public_member: Callable[[Words, str], bool]
    open_types: Words = frozenset()


def _capitalised(_said: Words, name: str) -> bool:
    return name[:1].isupper()


def _any_of(*accepted: str) -> Callable[[Words, str], bool]:
    return lambda said, _name: not said.isdisjoint(accepted)


def _none_of(*refused: str) -> Callable[[Words, str], bool]:
    return lambda said, _name: said.isdisjoint(refused)


def _pub(said: Words, _name: str) -> bool:
    return any(word.startswith("pub") and "self" not in word for word in said)


_RULES = {
    "go": Rules(
        types=words("type_spec"),
        names=words("const_spec var_spec type_alias function_declaration"),
        bodies=words("interface_type"),
        members=words("method_elem"),
        containers=words("const_declaration var_declaration var_spec_list type_declaration"),
        public=_capitalised,
        public_member=_capitalised,
    ),
    "rust": Rules(
        types=words("struct_item enum_item union_item trait_item"),
        names=words("function_item type_item const_item static_item"),
        bodies=words("declaration_list"),
        members=words("function_item function_signature_item"),
        containers=words("foreign_mod_item"),
        public=_pub,
        public_member=_pub,
        open_types=words("trait_item"),
    ),
    "java": Rules(
        types=words(
            "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
        ),
        names=frozenset(),
        bodies=words("class_body interface_body enum_body enum_body_declarations annotation_type_body"),
        members=words(
            "method_declaration class_declaration interface_declaration enum_declaration record_declaration "
            "annotation_type_declaration"
        ),
        containers=frozenset(),
        public=_none_of("private"),
        public_member=_none_of("private"),
        open_types=words("interface_declaration annotation_type_declaration"),
    ),
    "csharp": Rules(
        types=words("class_declaration interface_declaration struct_declaration enum_declaration record_declaration"),
        names=words("delegate_declaration"),
        bodies=words("declaration_list"),
        members=words(
            "method_declaration property_declaration class_declaration interface_declaration struct_declaration "
            "enum_declaration record_declaration delegate_declaration"
        ),
        containers=words("namespace_declaration file_scoped_namespace_declaration declaration_list"),
        public=_none_of("private", "file"),
        public_member=_any_of("public", "internal", "protected"),
        open_types=words("interface_declaration"),
    ),
    "php": Rules(
        types=words("class_declaration interface_declaration trait_declaration enum_declaration"),
        names=words("function_definition const_declaration"),
        bodies=words("declaration_list enum_declaration_list"),
        members=words("method_declaration"),
        containers=words("namespace_definition compound_statement"),
        public=_none_of(),
        public_member=_none_of("private", "protected"),
    ),
    "kotlin": Rules(
        types=words("class_declaration object_declaration"),
        names=words("function_declaration property_declaration type_alias"),
        bodies=words("class_body enum_class_body companion_object"),
        members=words("function_declaration class_declaration object_declaration"),
        containers=frozenset(),
        public=_none_of("private"),
        public_member=_none_of("private", "protected"),
    ),
    "swift": Rules(
        types=words("class_declaration protocol_declaration"),
        names=words("function_declaration property_declaration typealias_declaration"),
        bodies=words("class_body enum_class_body protocol_body"),
        members=words("function_declaration protocol_function_declaration class_declaration"),
        containers=frozenset(),
        public=_none_of("private", "fileprivate"),
        public_member=_none_of("private", "fileprivate"),
        open_types=words("protocol_declaration"),
    ),
}


def analyse_tree(path: str, language: str, text: bytes) -> ModuleSymbols:
    """The symbols of a file in a language with a grammar.

    With syntax errors, what could be read of it and `parsed` False; nothing of what would take too much work. NoGrammar
    when the grammar is not available.
    """
    try:
        return _analyse(path, language, text)
    except TooMuchWork:
        return unparsed(language)


def _analyse(path: str, language: str, text: bytes) -> ModuleSymbols:
    if language in ("javascript", "typescript"):
        from trivium.code.symbols_javascript import analyse_javascript

        return analyse_javascript(path, text)
    if language in ("c", "cpp"):
        from trivium.code.symbols_c import analyse_c

        return analyse_c(path, language, text)
    if language == "ruby":
        from trivium.code.symbols_ruby import analyse_ruby

        return analyse_ruby(text)
    root = parse(GRAMMARS[language], text)
    found = Collector(language, text)
    _walk(root, _RULES[language], found, rust=language == "rust")
    return found.build(parsed=not root.has_error)


def _walk(root: Node, rules: Rules, found: Collector, *, rust: bool) -> None:
    """Visit declarations outside function bodies, in order."""
    stack = [(node, True) for node in reversed(root.named_children)]
    while stack:
        node, reachable = stack.pop()
        kind = node.type
        if kind in rules.containers:
            stack.extend((inner, reachable) for inner in reversed(node.named_children))
        elif kind in rules.types or kind in rules.names:
            _declare(node, rules, found, reachable=reachable)
        elif kind == "method_declaration":
            _go_method(node, found)
        elif rust and kind == "mod_item":
            reachable = _rust_module(node, found, reachable=reachable)
            body = node.child_by_field_name("body")
            if body is not None:
                stack.extend((inner, reachable) for inner in reversed(body.named_children))
        elif rust:
            _rust_item(node, rules, found, reachable=reachable)


def _declare(node: Node, rules: Rules, found: Collector, *, reachable: bool) -> None:
    said = _words(found, node)
    names = [found.text(name) for name in _name_nodes(node)]
    for name in names:
        found.declare(name, *lines(node), public=reachable and rules.public(said, name))
    if node.type in rules.types:
        owner = names[0] if names else _extended(found, node)
        if owner is not None:
            extension = not names
            unsaid = node.type in rules.open_types or (extension and rules.public(said, owner))
            _add_members(node, owner, rules, found, unsaid=unsaid)


def _add_members(node: Node, owner: str, rules: Rules, found: Collector, *, unsaid: bool) -> None:
    """Methods and nested types of a type. `unsaid`: they are public without a word, as in an interface."""
    stack = list(reversed(node.named_children))
    seen: set[str] = set()
    while stack:
        inner = stack.pop()
        if inner.type in rules.bodies:
            stack.extend(reversed(inner.named_children))
        elif inner.type in rules.members:
            said = _words(found, inner)
            for name in map(found.text, _name_nodes(inner)):
                if name not in seen:
                    seen.add(name)
                    public = rules.public_member(said, name) or (unsaid and said.isdisjoint(_HIDDEN))
                    found.member(owner, name, *lines(inner), public=public)


def _words(found: Collector, node: Node) -> Words:
    """The modifiers written before a declaration."""
    said: set[str] = set()
    for child in node.children:
        if child.type == "modifiers":
            said.update(found.text(inner) for inner in child.children)
        elif child.type in _MODIFIERS:
            said.add(found.text(child))
    return frozenset(said)


def _name_nodes(node: Node) -> Iterator[Node]:
    """The nodes that hold the names a declaration gives; mostly one."""
    named = node.children_by_field_name("name")
    if named:
        stack = list(reversed(named))
        while stack:
            name = stack.pop()
            if name.type == "pattern":
                stack.extend(reversed(name.named_children))
            elif name.type.endswith("identifier") or name.type in _NAMES:
                yield name
    elif node.type == "type_alias":
        alias = node.child_by_field_name("type")
        if alias is not None:
            yield alias
    else:
        for child in node.named_children:
            if child.type in ("variable_declaration", "const_element") and child.named_children:
                yield child.named_children[0]


def _extended(found: Collector, node: Node) -> str | None:
    """The type that a Swift extension adds to, when it is a plain name."""
    name = node.child_by_field_name("name")
    return found.text(name) if name is not None and found.text(name).isidentifier() else None


def _go_method(node: Node, found: Collector) -> None:
    receiver = node.child_by_field_name("receiver")
    name = node.child_by_field_name("name")
    if receiver is None or name is None or not receiver.named_children:
        return
    owner = receiver.named_children[0].child_by_field_name("type")
    while owner is not None and owner.type in ("pointer_type", "generic_type", "parenthesized_type"):
        owner = owner.named_children[0] if owner.named_children else None
    if owner is not None and owner.type == "type_identifier":
        found.member(
            found.text(owner), found.text(name), *lines(node), public=_capitalised(frozenset(), found.text(name))
        )


def _rust_module(node: Node, found: Collector, *, reachable: bool) -> bool:
    """A module with a body is a name of this file; one without is another file. Returns whether it can be reached."""
    name = node.child_by_field_name("name")
    public = reachable and _pub(_words(found, node), "")
    if name is not None and node.child_by_field_name("body") is not None:
        found.declare(found.text(name), *lines(node), public=public)
    return public


def _rust_item(node: Node, rules: Rules, found: Collector, *, reachable: bool) -> None:
    """`impl` blocks, exported macros and `pub use`."""
    if node.type == "impl_item":
        owner = node.child_by_field_name("type")
        if owner is not None and owner.type == "generic_type":
            owner = owner.child_by_field_name("type")
        if owner is not None and owner.type == "type_identifier":
            unsaid = node.child_by_field_name("trait") is not None
            _add_members(node, found.text(owner), rules, found, unsaid=unsaid)
    elif node.type == "macro_definition":
        name = node.child_by_field_name("name")
        if name is not None:
            found.declare(found.text(name), *lines(node), public=_is_exported_macro(found, node))
    elif node.type == "use_declaration" and reachable and _pub(_words(found, node), ""):
        argument = node.child_by_field_name("argument")
        if argument is not None:
            _forward_uses(argument, found)


def _is_exported_macro(found: Collector, node: Node) -> bool:
    before = node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        if before.type == "attribute_item" and "macro_export" in found.text(before):
            return True
        before = before.prev_named_sibling
    return False


def _forward_uses(argument: Node, found: Collector) -> None:
    """The names that `pub use` passes on, each with the path it comes from; globs name nothing."""
    stack = [(argument, "")]
    while stack:
        node, prefix = stack.pop()
        path = node.child_by_field_name("path")
        if node.type == "use_list":
            stack.extend((inner, prefix) for inner in node.named_children)
        elif node.type == "scoped_use_list":
            inside = node.child_by_field_name("list")
            base = found.text(path) if path is not None else ""
            if inside is not None:
                stack.append((inside, f"{prefix}::{base}" if prefix else base))
        elif node.type == "use_as_clause":
            alias = node.child_by_field_name("alias")
            if alias is not None and path is not None and alias.type == "identifier":
                found.forward(found.text(alias), f"{prefix}::{found.text(path)}" if prefix else found.text(path))
        elif node.type == "self":
            found.forward(prefix.rpartition("::")[2], prefix)
        elif node.type in ("identifier", "scoped_identifier"):
            name = node.child_by_field_name("name") or node
            found.forward(found.text(name), f"{prefix}::{found.text(node)}" if prefix else found.text(node))
