"""Names that C and C++ files offer to others (reference 2.4).

A header offers its functions, types and macros; a source file its types and its functions that are not `static`. A
function that a header only announces is offered there and declared by the file that defines it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trivium.code.collector import Collector, lines, words
from trivium.code.languages import GRAMMARS, HEADERS, extension_of
from trivium.code.model import ModuleSymbols
from trivium.code.parsing import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_CONTAINERS = words(
    "preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef linkage_specification declaration_list "
    "template_declaration export_declaration"
)
_TYPES = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
_MACROS = frozenset({"preproc_def", "preproc_function_def"})
_ALIASES = frozenset({"alias_declaration", "concept_definition"})
_WRAPPERS = words(
    "pointer_declarator reference_declarator init_declarator array_declarator attributed_declarator "
    "parenthesized_declarator"
)
_KEYWORDS = frozenset({"class", "struct", "union", "enum"})
"""Taken for names of variables where an unknown macro precedes a type."""
_LINKAGE = re.compile(rb'#[ \t]*if[^\n]*__cplusplus[^\n]*\s+(?:extern[ \t]+"C"[ \t]*\{|\})\s*#[ \t]*endif[^\n]*')


def analyse_c(path: str, language: str, data: bytes) -> ModuleSymbols:
    """The symbols of a C or C++ file. NoGrammar when the grammar is not available."""
    if b"__cplusplus" in data:
        data = _LINKAGE.sub(_blank, data)
    root = parse(GRAMMARS[language], data)
    found = _File(language, data, header=extension_of(path) in HEADERS)
    found.read(root)
    return found.collector.build(parsed=not root.has_error)


def _blank(match: re.Match[bytes]) -> bytes:
    """The brace of a guarded `extern "C"` blanked out, lines kept: it spans preprocessor branches."""
    return re.sub(rb"[^\r\n]", b" ", match[0])


class _File:
    def __init__(self, language: str, source: bytes, *, header: bool) -> None:
        self.collector = Collector(language, source)
        self.text = self.collector.text
        self.header = header

    def read(self, root: Node) -> None:
        """Visit what stands outside function and class bodies, in order."""
        stack = [(node, node, True) for node in reversed(root.named_children)]
        while stack:
            node, whole, seen = stack.pop()
            kind = node.type
            if kind in _CONTAINERS or kind == "namespace_definition":
                seen = seen and (kind != "namespace_definition" or node.child_by_field_name("name") is not None)
                outer = node if kind == "template_declaration" else None
                stack.extend((inner, outer or inner, seen) for inner in reversed(node.named_children))
            elif kind in _TYPES:
                self._type(node, whole, public=seen)
            elif kind == "function_definition":
                self._function(node, whole, public=seen)
            elif kind == "type_definition":
                self._typedef(node, public=seen)
            elif kind == "declaration":
                self._declaration(node, whole, public=seen)
            elif kind in _MACROS:
                self._macro(node)
            elif kind in _ALIASES:
                self._named(node, whole, public=seen)

    def _named(self, node: Node, whole: Node, *, public: bool) -> str | None:
        name = node.child_by_field_name("name")
        if name is None or not name.type.endswith("identifier") or name.type == "qualified_identifier":
            return None
        self.collector.declare(self.text(name), *lines(whole), public=public)
        return self.text(name)

    def _type(self, node: Node, whole: Node, *, public: bool) -> None:
        """A type with a body; one that is only announced is declared elsewhere."""
        body = node.child_by_field_name("body")
        if body is None:
            return
        owner = self._named(node, whole, public=public)
        if owner is not None and node.type != "enum_specifier":
            self._members(owner, body, visible=node.type != "class_specifier")

    def _members(self, owner: str, body: Node, *, visible: bool) -> None:
        seen: set[str] = set()
        for member in body.named_children:
            if member.type == "access_specifier":
                visible = self.text(member) == "public"
                continue
            if member.type == "template_declaration" and member.named_children:
                member = member.named_children[-1]
            if member.type in ("field_declaration", "function_definition", "declaration"):
                name, is_function = _declared(member.child_by_field_name("declarator"))
                if name is not None and is_function and self.text(name) not in seen:
                    seen.add(self.text(name))
                    self.collector.member(owner, self.text(name), *lines(member), public=visible)

    def _function(self, node: Node, whole: Node, *, public: bool) -> None:
        name, is_function = _declared(node.child_by_field_name("declarator"))
        if name is None:
            return
        kind = node.child_by_field_name("type")
        if not is_function:
            if kind is not None and kind.type in _TYPES:  # `class EXPORT Name { … }` with a macro before the name
                self.collector.declare(self.text(name), *lines(whole), public=public)
        elif name.type == "qualified_identifier":
            parts = self.text(name).replace(" ", "").split("::")
            if len(parts) > 1 and all(part.isidentifier() for part in parts[-2:]):
                self.collector.member(parts[-2], parts[-1], *lines(whole), public=True)
        elif self.text(name) != "main":
            offered = self.header or not self._has_storage(node, "static")
            self.collector.declare(self.text(name), *lines(whole), public=public and offered)

    def _typedef(self, node: Node, *, public: bool) -> None:
        kind = node.child_by_field_name("type")
        names = [_declared(declarator)[0] for declarator in node.children_by_field_name("declarator")]
        written = {self.text(name) for name in names if name is not None}
        for name in sorted(written):
            self.collector.declare(name, *lines(node), public=public)
        tag = kind.child_by_field_name("name") if kind is not None and kind.type in _TYPES else None
        if kind is not None and tag is not None and self.text(tag) not in written:
            self._type(kind, node, public=public)

    def _declaration(self, node: Node, whole: Node, *, public: bool) -> None:
        """Announced functions are offered by a header without being declared there; so are `extern` variables."""
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in _TYPES:
            self._type(kind, whole, public=public)
        for declarator in node.children_by_field_name("declarator"):
            name, is_function = _declared(declarator)
            if name is None or name.type == "qualified_identifier" or self.text(name) in _KEYWORDS:
                continue
            if not is_function and not self._has_storage(node, "extern"):
                self.collector.declare(self.text(name), *lines(whole), public=public and self.header)
            elif self.header and public:
                self.collector.export(self.text(name))

    def _has_storage(self, node: Node, word: str) -> bool:
        return any(child.type == "storage_class_specifier" and self.text(child) == word for child in node.children)

    def _macro(self, node: Node) -> None:
        """Macros of a header; the macro that guards it against being included twice has no value and is left out."""
        name = node.child_by_field_name("name")
        if name is None or (node.type == "preproc_def" and node.child_by_field_name("value") is None):
            return
        self.collector.declare(self.text(name), *lines(node), public=self.header)


def _declared(declarator: Node | None) -> tuple[Node | None, bool]:
    """The name inside a declarator and whether it names a function rather than a variable or a pointer to one."""
    is_function = False
    while declarator is not None:
        kind = declarator.type
        if kind == "function_declarator":
            is_function = True
            inner = declarator.child_by_field_name("declarator")
            is_function = inner is None or inner.type != "parenthesized_declarator"
            declarator = inner
        elif kind in _WRAPPERS:
            inner = declarator.child_by_field_name("declarator")
            declarator = inner or (declarator.named_children[-1] if declarator.named_children else None)
        elif kind.endswith("identifier"):
            return declarator, is_function
        else:
            return None, is_function
    return None, is_function
