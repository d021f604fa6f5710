"""Exported names of JavaScript and TypeScript files, from the statements of the file itself (reference 2.4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trivium.code.collector import Collector, words
from trivium.code.languages import extension_of, language_of
from trivium.code.model import ModuleSymbols
from trivium.code.parsing import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_DECLARATIONS = words(
    "class_declaration abstract_class_declaration function_declaration generator_function_declaration "
    "function_signature interface_declaration type_alias_declaration enum_declaration internal_module module "
    "import_alias"
)
_VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
_CALLABLE = frozenset({"arrow_function", "function_expression", "generator_function", "class"})
_METHODS = frozenset({"method_definition", "abstract_method_signature", "method_signature"})
_FIELDS = frozenset({"public_field_definition", "field_definition"})
_CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class", "interface_declaration"})
_TYPE_STAR = re.compile(rb"\bexport(\s+)type(?=\s*\*)")
_MAYBE_TYPE_STAR = re.compile(rb"export\s+type\s*\*")
"""Begins with a word, which makes it a fast search."""


def analyse_javascript(path: str, text: bytes) -> ModuleSymbols:
    """The symbols of a file; with syntax errors, those of the statements that could be read, and `parsed` False.

    NoGrammar when the grammar is not available.
    """
    language = language_of(path) or "javascript"
    grammar = "tsx" if extension_of(path) == "tsx" else language
    if language == "typescript" and _MAYBE_TYPE_STAR.search(text):
        text = _TYPE_STAR.sub(rb"export\1    ", text)  # newer than the grammar; the same length keeps all places
    root = parse(grammar, text)
    if root.has_error and b"@flow" in text[:4096]:
        root = parse("tsx", text)
    module = _Module(language, text)
    for node in root.named_children:
        module.statement(node)
    return module.result(parsed=not root.has_error)


class _Module:
    """What a file's own statements declare, import and export."""

    def __init__(self, language: str, source: bytes) -> None:
        self.found = Collector(language, source)
        self.text = self.found.text
        self.imports: list[Node] = []
        self.variables: dict[str, tuple[int, int]] = {}
        self.clauses: list[Node] = []

    def statement(self, node: Node) -> None:
        kind = node.type
        if kind == "export_statement":
            self._export(node)
        elif kind == "import_statement":
            self.imports.append(node)
        elif kind in _DECLARATIONS or kind in _VARIABLES or kind in ("ambient_declaration", "expression_statement"):
            self._declaration(node, node, public=False)

    def _declaration(self, node: Node, whole: Node, *, public: bool) -> None:
        """A declaration, exported or not; `whole` is the statement that has its lines."""
        kind = node.type
        if kind in _DECLARATIONS:
            name = node.child_by_field_name("name") if kind != "import_alias" else _identifier(node)
            if name is not None and name.type.endswith("identifier") and name.type != "nested_identifier":
                self.found.declare(self.text(name), *_lines(whole), public=public)
                if kind in _CLASSES:
                    _add_methods(self.found, self.text(name), node)
        elif kind in _VARIABLES:
            self._variables(node, whole, public=public)
        elif kind == "ambient_declaration" or (kind == "expression_statement" and not public):
            for inner in node.named_children:
                if inner.type in _DECLARATIONS or inner.type in _VARIABLES:
                    self._declaration(inner, whole, public=public)

    def _variables(self, node: Node, whole: Node, *, public: bool) -> None:
        """Variables with a plain name; of those not exported only functions and classes are kept with their lines."""
        declarators = [child for child in node.named_children if child.type == "variable_declarator"]
        for declarator in declarators:
            name = declarator.child_by_field_name("name")
            if name is None or name.type != "identifier":
                continue
            value = declarator.child_by_field_name("value")
            lines = _lines(whole if len(declarators) == 1 else declarator)
            if public or (value is not None and value.type in _CALLABLE):
                self.found.declare(self.text(name), *lines, public=public)
                if value is not None and value.type == "class":
                    _add_methods(self.found, self.text(name), value)
            else:
                self.variables[self.text(name)] = lines

    def _export(self, node: Node) -> None:
        declaration = node.child_by_field_name("declaration")
        source = node.child_by_field_name("source")
        specifier = _unquoted(self.found, source) if source is not None else None
        if any(child.type == "default" for child in node.children):
            self._default(node, declaration)
        elif declaration is not None:
            self._declaration(declaration, node, public=True)
        else:
            for child in node.named_children:
                if child.type == "export_clause" and specifier is None:
                    self.clauses.append(child)
                elif child.type == "export_clause" and specifier is not None:
                    for _, exported, _ in _specifiers(self.found, child):
                        self.found.forward(exported, specifier)
                elif child.type == "namespace_export" and specifier is not None and child.named_children:
                    self.found.forward(_unquoted(self.found, child.named_children[-1]), specifier)

    def _default(self, node: Node, declaration: Node | None) -> None:
        """`export default …` offers `default`; a named class or function keeps its lines under its own name."""
        self.found.export("default")
        name = declaration.child_by_field_name("name") if declaration is not None else None
        if declaration is not None and name is not None:
            self._declaration(declaration, node, public=False)
        else:
            self.found.declare("default", *_lines(node), public=True)

    def result(self, *, parsed: bool) -> ModuleSymbols:
        imported: dict[str, str] = {}
        if self.clauses:
            for statement in self.imports:
                _add_imported(self.found, imported, statement)
        for clause in self.clauses:
            for local, exported, node in _specifiers(self.found, clause):
                if local in imported:
                    self.found.forward(exported, imported[local])
                else:
                    self._export_local(local, exported, node)
        return self.found.build(parsed=parsed)

    def _export_local(self, local: str, exported: str, node: Node) -> None:
        self.found.export(exported)
        if exported == "default" or (exported == local and self.found.declares(local)):
            return
        lines = self.variables.get(local) or self.found.lines(local) or _lines(node)
        self.found.declare(exported, *lines, public=True)


def _specifiers(found: Collector, clause: Node) -> list[tuple[str, str, Node]]:
    """Local name, exported name and place of each item of `export { … }`."""
    items = []
    for node in clause.named_children:
        name = node.child_by_field_name("name") if node.type == "export_specifier" else None
        if name is not None:
            items.append((_unquoted(found, name), _unquoted(found, node.children[-1]), node))
    return items


def _add_imported(found: Collector, imported: dict[str, str], statement: Node) -> None:
    """Local names that an import statement binds, with the specifier they come from."""
    source = statement.child_by_field_name("source")
    stack = list(statement.named_children)
    clauses = [node for node in stack if node.type in ("import_clause", "import_require_clause")]
    for clause in clauses:
        source = source or clause.child_by_field_name("source")
        if source is None:
            continue
        specifier = _unquoted(found, source)
        for node in clause.named_children:
            if node.type == "identifier":
                imported[found.text(node)] = specifier
            elif node.type == "namespace_import" and node.named_children:
                imported[found.text(node.named_children[-1])] = specifier
            elif node.type == "named_imports":
                for item in node.named_children:
                    local = item.child_by_field_name("alias") or item.child_by_field_name("name")
                    if local is not None:
                        imported[found.text(local)] = specifier


def _add_methods(found: Collector, owner: str, node: Node) -> None:
    body = node.child_by_field_name("body")
    seen: set[str] = set()
    for member in body.named_children if body is not None else ():
        kind = member.type
        if kind not in _METHODS and not (kind in _FIELDS and _holds_function(member)):
            continue
        name = member.child_by_field_name("name") or member.child_by_field_name("property")
        if name is None or not name.type.endswith("identifier"):
            continue
        text = found.text(name)
        if text == "constructor" or text in seen:
            continue
        seen.add(text)
        public = name.type != "private_property_identifier" and not _is_hidden(found, member, name)
        found.member(owner, text, *_lines(member), public=public)


def _is_hidden(found: Collector, member: Node, name: Node) -> bool:
    """Whether a member is said to be private or protected, in what stands before its name."""
    before = found.source[member.start_byte : name.start_byte]
    if b"private" not in before and b"protected" not in before:
        return False
    modifiers = (child for child in member.named_children if child.type == "accessibility_modifier")
    return any(found.text(child) in ("private", "protected") for child in modifiers)


def _holds_function(member: Node) -> bool:
    value = member.child_by_field_name("value")
    return value is not None and value.type in _CALLABLE


def _identifier(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type == "identifier"), None)


def _unquoted(found: Collector, node: Node) -> str:
    text = found.text(node)
    return text[1:-1] if node.type == "string" else text


def _lines(node: Node) -> tuple[int, int]:
    return node.start_point[0] + 1, node.end_point[0] + 1
