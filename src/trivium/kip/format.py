"""Canonical layout of command text.

One clause, block part or modifier per line, two spaces per level, objects on one line where they fit into
`WIDTH` columns. The tree stays the same, `parse(format_command(text)).command == parse(text).command`, and
a second formatting changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from trivium.kip import tree
from trivium.kip.format_comments import comments_of, place_comments
from trivium.kip.parser import Parsed, parse

WIDTH = 100
_INDENT = "  "
_ANY_LENGTH = 10**9


def format_command(source: str | Parsed) -> str:
    """The canonical text of one command, with a line feed at its end.

    Every comment is kept, on a line of its own above the item (statement, clause, block, part, entry, modifier,
    closing brace) that it stands before, behind or inside of. Raises: KipError KIP_1001, KIP_1002, KIP_4002 as
    `parser.parse` does.

    >>> print(format_command('FIND(?d.name)WHERE{?d{type:"Drug"}}LIMIT 5'), end="")
    FIND(?d.name)
    WHERE {
      ?d {type: "Drug"}
    }
    LIMIT 5
    """
    parsed = parse(source) if isinstance(source, str) else source
    writer = _Writer(parsed.tokens)
    _STATEMENTS[type(parsed.command)](writer, parsed.command)
    return _render(writer.items, parsed)


def _render(items: list[_Item], parsed: Parsed) -> str:
    placed, rest = place_comments(comments_of(parsed.text), [item.at for item in items], len(parsed.tokens))
    lines: list[str] = []
    for number, item in enumerate(items):
        if item.gap:
            lines.append("")
        indent = _INDENT * item.level
        above = indent + _INDENT if item.text == "}" else indent
        lines += [above + comment for comment in placed.get(number, ())]
        lines += [indent + line for line in item.text.split("\n")]
    return "\n".join([*lines, *rest]) + "\n"


class _Item(NamedTuple):
    """One line of layout (or a broken value): where it begins in the tokens, and how deep it stands."""

    at: int
    level: int
    text: str
    gap: bool


class _Writer:
    """The items of a text in order."""

    def __init__(self, tokens: list[str]) -> None:
        self.items: list[_Item] = []
        self.level = 0
        self.closing = _closing_braces(tokens)
        self._gap = False

    def gap(self) -> None:
        """Ask for an empty line before the next item."""
        self._gap = True

    def line(self, text: str, at: int) -> None:
        """Put down one item that begins at token `at`."""
        self.items.append(_Item(at, self.level, text, self._gap))
        self._gap = False

    def object(self, head: str, value: tree.Value | tree.UpdateObject, at: int) -> None:
        """Put down `head` and an object, broken over several lines if it is long."""
        self.line(f"{head} {_object(value, WIDTH - len(_INDENT) * self.level, len(head) + 1)}", at)

    def open(self, text: str, at: int) -> None:
        self.line(text, at)
        self.level += 1

    def close(self, brace: int) -> None:
        """Put down the closing brace that belongs to the opening one at token `brace`."""
        self.level -= 1
        self.line("}", self.closing[brace])


def _closing_braces(tokens: list[str]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token == "{":
            stack.append(index)
        elif token == "}":
            pairs[stack.pop()] = index
    return pairs


# --- values ---------------------------------------------------------------------------------------


def _scalar(value: Any) -> str:
    if isinstance(value, tree.Param):
        return f":{value.name}"
    return json.dumps(value, ensure_ascii=False)


def _value(value: Any, room: int, used: int) -> str:
    """A JSON value with placeholders, broken over lines if it takes more than `room` less the columns `used` before."""
    value = _plain(value)
    if isinstance(value, tree.UpdateCall):
        return _update_call(value)
    flat = _flat(value)
    if len(flat) < room - used or not isinstance(value, (dict, list)) or not value:
        return flat
    inner = room - len(_INDENT)
    if isinstance(value, dict):
        return _broken("{}", [f"{key}: {_value(member, inner, len(key) + 2)}" for key, member in _keyed(value)])
    return _broken("[]", [_value(member, inner, 0) for member in value])


def _plain(value: Any) -> Any:
    """The value of a literal or template; anything else as it is."""
    return value.value if isinstance(value, (tree.Lit, tree.Template)) else value


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flat(member)}" for key, member in _keyed(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return _scalar(value)


def _keyed(value: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(_key(key), member) for key, member in value.items()]


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else json.dumps(key, ensure_ascii=False)


def _broken(brackets: str, parts: list[str]) -> str:
    body = ",\n".join(parts).replace("\n", "\n" + _INDENT)
    return f"{brackets[0]}\n{_INDENT}{body}\n{brackets[1]}"


def _object(value: tree.Value | tree.UpdateObject, room: int, used: int) -> str:
    """The object of SET or WITH METADATA: `{ a: 1 }` if it fits, or one key per line."""
    param = value.param if isinstance(value, tree.UpdateObject) else value
    if isinstance(param, tree.Param):
        return _scalar(param)
    entries: list[tuple[str, Any]]
    if isinstance(value, tree.UpdateObject):
        entries = [(_key(key), member) for key, member in value.entries]
    else:
        entries = _keyed(_plain(value))
    if not entries:
        return "{}"
    flat = "{ " + ", ".join(f"{key}: {_value(member, _ANY_LENGTH, 0)}" for key, member in entries) + " }"
    if len(flat) <= room - used:
        return flat
    inner = room - len(_INDENT)
    return _broken("{}", [f"{key}: {_value(member, inner, len(key) + 2)}" for key, member in entries])


def _slot(value: tree.Value | None) -> str:
    """A value in a place for one scalar or list."""
    return _value(value, _ANY_LENGTH, 0)


def _update_call(call: tree.UpdateCall) -> str:
    return f"{call.func}({', '.join(_update_operand(arg) for arg in call.args)})"


def _update_operand(arg: tree.Lit | tree.Param | tree.Path | tree.UpdateCall) -> str:
    if isinstance(arg, tree.UpdateCall):
        return _update_call(arg)
    return _path(arg) if isinstance(arg, tree.Path) else _slot(arg)


# --- patterns and filters -------------------------------------------------------------------------


def _path(path: tree.Path) -> str:
    return "?" + ".".join((path.var, *path.steps))


def _expression(expr: tree.Path | tree.Aggregate) -> str:
    if isinstance(expr, tree.Path):
        return _path(expr)
    return f"{expr.func}({'DISTINCT ' if expr.distinct else ''}{_path(expr.path)})"


def _concept(match: tree.ConceptMatch) -> str:
    parts = (("id", match.id), ("type", match.type), ("name", match.name))
    return "{" + ", ".join(f"{key}: {_slot(value)}" for key, value in parts if value is not None) + "}"


def _term(term: tree.Term | tree.LinkMatch) -> str:
    if isinstance(term, tree.Var):
        return f"?{term.name}"
    if isinstance(term, tree.ConceptMatch):
        return _concept(term)
    if isinstance(term, tree.LinkById):
        return f"(id: {_slot(term.id)})"
    return f"({_term(term.subject)}, {_predicate(term.predicate)}, {_term(term.object)})"


def _predicate(predicate: tree.Var | tree.PredicateNames | tree.PredicatePath) -> str:
    if isinstance(predicate, tree.Var):
        return f"?{predicate.name}"
    if isinstance(predicate, tree.PredicateNames):
        return " | ".join(map(_slot, predicate.names))
    high = "" if predicate.high is None else predicate.high
    bounds = predicate.low if predicate.low == predicate.high else f"{predicate.low},{high}"
    return f"{_slot(predicate.name)}{{{bounds}}}"


def _filter(expr: tree.Expr) -> str:
    if isinstance(expr, tree.Compare):
        return f"{_operand(expr.left)} {expr.op} {_operand(expr.right)}"
    if isinstance(expr, tree.Call):
        return f"{expr.func}({', '.join(map(_operand, expr.args))})"
    if isinstance(expr, tree.Negation):
        item = _filter(expr.item)
        return f"!{item}" if isinstance(expr.item, tree.Call) else f"!({item})"
    nested = tree.Or if isinstance(expr, tree.Or) else (tree.Or, tree.And)
    items = [f"({_filter(item)})" if isinstance(item, nested) else _filter(item) for item in expr.items]
    return (" && " if isinstance(expr, tree.And) else " || ").join(items)


def _operand(operand: tree.Operand) -> str:
    return _path(operand) if isinstance(operand, tree.Path) else _slot(operand)


def _where(writer: _Writer, group: tree.Group, head: str = "WHERE", at: int | None = None) -> None:
    """`head { clause … }`; WHERE stands right before its brace."""
    writer.open(f"{head} {{", group.at - 1 if at is None else at)
    for clause in group.clauses:
        _clause(writer, clause)
    writer.close(group.at)


def _clause(writer: _Writer, clause: tree.Clause) -> None:
    if isinstance(clause, tree.ConceptClause):
        writer.line(f"?{clause.var.name} {_concept(clause.match)}", clause.at)
    elif isinstance(clause, tree.LinkClause):
        var = f"?{clause.var.name} " if clause.var else ""
        writer.line(var + _term(clause.match), clause.at)
    elif isinstance(clause, tree.Filter):
        writer.line(f"FILTER({_filter(clause.expr)})", clause.at)
    else:
        _where(writer, clause.group, type(clause).__name__.upper(), clause.at)


# --- statements -----------------------------------------------------------------------------------


def _modifiers(writer: _Writer, limit: tree.Value | None, cursor: tree.Value | None = None) -> None:
    for word, value in (("LIMIT", limit), ("CURSOR", cursor)):
        if value is not None:
            writer.line(f"{word} {_slot(value)}", value.at - 1)


def _find(writer: _Writer, find: tree.Find) -> None:
    items = [_expression(item) for item in find.items]
    flat = f"FIND({', '.join(items)})"
    writer.line(flat if len(flat) <= WIDTH else "FIND" + _broken("()", items), find.at)
    _where(writer, find.where)
    if find.order_by:
        keys = [_expression(key.expr) + (" DESC" if key.descending else "") for key in find.order_by]
        writer.line(f"ORDER BY {', '.join(keys)}", find.order_by[0].at - 2)
    _modifiers(writer, find.limit, find.cursor)


def _metadata(writer: _Writer, value: tree.Value | None) -> None:
    if value is not None:
        writer.object("WITH METADATA", value, value.at - 2)


def _upsert(writer: _Writer, upsert: tree.Upsert) -> None:
    for number, statement in enumerate(upsert.statements):
        if number:
            writer.gap()
        writer.open("UPSERT {", statement.at)
        for block in statement.blocks:
            if block is not statement.blocks[0]:
                writer.gap()
            _block(writer, block)
        writer.close(statement.at + 1)
        _metadata(writer, statement.metadata)


def _block(writer: _Writer, block: tree.ConceptBlock | tree.PropositionBlock) -> None:
    word = "CONCEPT" if isinstance(block, tree.ConceptBlock) else "PROPOSITION"
    head = f"{word} ?{block.handle.name} {{" if block.handle else f"{word} {{"
    writer.open(head, block.at)
    writer.line(_term(block.identity), block.identity.at)
    if block.expect_version is not None:
        writer.line(f"EXPECT VERSION {_slot(block.expect_version)}", block.expect_version.at - 2)
    entries = block.propositions if isinstance(block, tree.ConceptBlock) else []
    entries_first = bool(entries) and (block.attributes is None or entries[0].at < block.attributes.at)
    if entries_first:
        _entries(writer, entries)
    if block.attributes is not None:
        writer.object("SET ATTRIBUTES", block.attributes, block.attributes.at - 2)
    if entries and not entries_first:
        _entries(writer, entries)
    writer.close(block.at + (2 if block.handle else 1))
    _metadata(writer, block.metadata)


def _entries(writer: _Writer, entries: list[tree.PropositionEntry]) -> None:
    brace = entries[0].at - 1
    writer.open("SET PROPOSITIONS {", brace - 2)
    for entry in entries:
        text = f"({_slot(entry.predicate)}, {_term(entry.target)})"
        if entry.metadata is None:
            writer.line(text, entry.at)
        else:
            writer.object(f"{text} WITH METADATA", entry.metadata, entry.at)
    writer.close(brace)


def _update(writer: _Writer, update: tree.Update) -> None:
    writer.line(f"UPDATE ?{update.target.name}", update.at)
    parts = [("SET ATTRIBUTES", update.attributes), ("SET METADATA", update.metadata)]
    present = [(part.at, head, part) for head, part in parts if part is not None]
    for at, head, part in sorted(present, key=lambda entry: entry[0]):
        writer.object(head, part, at - 2)
    _where(writer, update.where)
    _modifiers(writer, update.limit)


def _merge(writer: _Writer, merge: tree.Merge) -> None:
    writer.line(f"MERGE CONCEPT ?{merge.source.name} INTO ?{merge.target.name}", merge.at)
    _where(writer, merge.where)


def _delete_keys(writer: _Writer, delete: tree.DeleteKeys) -> None:
    keys = ", ".join(map(_slot, delete.keys))
    writer.line(f"DELETE {delete.part.upper()} {{{keys}}} FROM ?{delete.target.name}", delete.at)
    _where(writer, delete.where)


def _delete_propositions(writer: _Writer, delete: tree.DeletePropositions) -> None:
    writer.line(f"DELETE PROPOSITIONS ?{delete.target.name}", delete.at)
    _where(writer, delete.where)


def _delete_concept(writer: _Writer, delete: tree.DeleteConcept) -> None:
    writer.line(f"DELETE CONCEPT ?{delete.target.name} DETACH", delete.at)
    _where(writer, delete.where)


def _describe_types(writer: _Writer, describe: tree.DescribeTypes) -> None:
    writer.line(f"DESCRIBE {describe.kind} TYPES{_inline(('LIMIT', describe.limit), ('CURSOR', describe.cursor))}", 0)


def _search(writer: _Writer, search: tree.Search) -> None:
    options = _inline(
        ("WITH TYPE", search.type), ("MODE", search.mode), ("THRESHOLD", search.threshold), ("LIMIT", search.limit)
    )
    writer.line(f"SEARCH {search.kind} {_slot(search.term)}{options}", search.at)


def _inline(*options: tuple[str, tree.Value | None]) -> str:
    return "".join(f" {word} {_slot(value)}" for word, value in options if value is not None)


def _export(writer: _Writer, export: tree.Export) -> None:
    writer.line(f"EXPORT ?{export.target.name}", export.at)
    _where(writer, export.where)
    _modifiers(writer, export.limit, export.cursor)


_STATEMENTS: dict[type, Callable[[_Writer, Any], None]] = {
    tree.Find: _find,
    tree.Upsert: _upsert,
    tree.Update: _update,
    tree.Merge: _merge,
    tree.DeleteKeys: _delete_keys,
    tree.DeletePropositions: _delete_propositions,
    tree.DeleteConcept: _delete_concept,
    tree.DescribePrimer: lambda writer, _: writer.line("DESCRIBE PRIMER", 0),
    tree.DescribeDomains: lambda writer, _: writer.line("DESCRIBE DOMAINS", 0),
    tree.DescribeTypes: _describe_types,
    tree.DescribeType: lambda writer, node: writer.line(f"DESCRIBE {node.kind} TYPE {_slot(node.name)}", 0),
    tree.Search: _search,
    tree.Export: _export,
}
