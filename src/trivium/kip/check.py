"""Faults that a command text shows without being run: syntax, names, scopes, reserved keys."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from trivium.errors import KIP_CODES, KipError, Position
from trivium.kip import tree
from trivium.kip.lexer import decode_string, line_starts, scan
from trivium.kip.parser import Parsed, parse
from trivium.store.schema import META_TYPES

Severity = Literal["error", "warning"]

_TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]*\Z")
_PREDICATE_NAME = re.compile(r"[a-z_][a-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: an `error` would make the command fail, a `warning` may. Line and column count from 1."""

    severity: Severity
    code: str
    message: str
    hint: str | None
    line: int
    column: int


def check(text: str) -> list[Finding]:
    """The faults of a command text in reading order; an empty list if there are none.

    A syntax fault (KIP_1001, KIP_1002, KIP_4002) is reported alone. Otherwise: metadata keys that begin with `_`
    (KIP_2002); types and predicates against the naming conventions (KIP_2001, a warning); variables that no visible
    clause binds and handles used before their block (KIP_3001); `(?s, ?p, ?o)` with both ends free and no LIMIT
    (KIP_4002, a warning). Nothing is looked up, so names that are well formed but not registered pass.

    >>> [(f.severity, f.code, f.line, f.column) for f in check('FIND(?x.name) WHERE { ?d {type: "drug"} }')]
    [('error', 'KIP_3001', 1, 6), ('warning', 'KIP_2001', 1, 33)]
    """
    try:
        parsed = parse(text)
    except KipError as error:
        place = error.position or Position(1, 1, 0)
        return [Finding("error", error.code, error.message, error.hint, place.line, place.column)]
    checker = _Checker(parsed)
    checker.run()
    return checker.findings()


class _Report(NamedTuple):
    at: int
    severity: Severity
    code: str
    message: str
    hint: str


class _Checker:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.reports: list[_Report] = []

    def report(self, severity: Severity, code: str, message: str, hint: str | None, at: int) -> None:
        self.reports.append(_Report(at, severity, code, message, hint or KIP_CODES[code].hint))

    def findings(self) -> list[Finding]:
        """What was reported, in reading order, with positions."""
        if not self.reports:
            return []
        text = self.parsed.text
        offsets = [start for start, _ in scan(text)]
        lines = line_starts(text)
        found = []
        for report in sorted(self.reports, key=lambda report: report.at):
            offset = offsets[report.at]
            line = bisect_right(lines, offset)
            found.append(Finding(*report[1:], line, offset - lines[line - 1] + 1))
        return found

    def run(self) -> None:
        command = self.parsed.command
        for node in _walk(command):
            self._check_names(node)
        if isinstance(command, tree.Upsert):
            self._check_upsert(command)
        elif isinstance(command, (tree.Update, tree.DeleteKeys)):
            self._check_changed_metadata(command)
        where = getattr(command, "where", None)
        if isinstance(where, tree.Group):
            bound = self._check_group(where, set())
            self._check_uses(command, bound)
            self._check_free_patterns(command, where, set())

    # --- naming conventions (§2.8.2) --------------------------------------------------------------

    def _check_names(self, node: Any) -> None:
        if isinstance(node, tree.ConceptMatch):
            self._check_type(node.type)
            kind = node.type.value if isinstance(node.type, tree.Lit) else None
            if kind == "$ConceptType":
                self._check_type(node.name)
            elif kind == "$PropositionType":
                self._check_predicate(node.name)
        elif isinstance(node, tree.PredicateNames):
            for name in node.names:
                self._check_predicate(name)
        elif isinstance(node, tree.PredicatePath):
            self._check_predicate(node.name)
        elif isinstance(node, tree.PropositionEntry):
            self._check_predicate(node.predicate)
        elif isinstance(node, (tree.DescribeType, tree.Search)):
            name_of = node.name if isinstance(node, tree.DescribeType) else node.type
            (self._check_type if node.kind == "CONCEPT" else self._check_predicate)(name_of)

    def _check_type(self, value: tree.Value | None) -> None:
        if not isinstance(value, tree.Lit) or value.value in META_TYPES or _TYPE_NAME.match(value.value):
            return
        better = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", value.value))
        hint = f'Did you mean "{better}"?' if _TYPE_NAME.match(better) else None
        self.report(
            "warning", "KIP_2001", f'The concept type "{value.value}" is not in UpperCamelCase.', hint, value.at
        )

    def _check_predicate(self, value: tree.Value | None) -> None:
        if not isinstance(value, tree.Lit) or _PREDICATE_NAME.match(value.value):
            return
        better = re.sub(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])", "_", value.value).lower()
        hint = f'Did you mean "{better}"?' if _PREDICATE_NAME.match(better) else None
        self.report("warning", "KIP_2001", f'The predicate "{value.value}" is not in snake_case.', hint, value.at)

    # --- reserved metadata (§2.11.1) --------------------------------------------------------------

    def _check_metadata(self, value: tree.Value | None) -> None:
        """Report the reserved keys of a metadata object."""
        if isinstance(value, (tree.Lit, tree.Template)) and any(key.startswith("_") for key in value.value):
            self._report_reserved_keys(value.at)

    def _check_changed_metadata(self, command: tree.Update | tree.DeleteKeys) -> None:
        if isinstance(command, tree.Update):
            part = command.metadata
            if part is not None and any(key.startswith("_") for key, _ in part.entries):
                self._report_reserved_keys(part.at)
        elif command.part == "metadata":
            for name in command.keys:
                if isinstance(name, tree.Lit) and name.value.startswith("_"):
                    self._report_reserved(name.value, name.at)

    def _report_reserved_keys(self, brace: int) -> None:
        """Go through the object that begins at token `brace` and report its keys that begin with `_`."""
        depth = 0
        tokens = self.parsed.tokens
        for index in range(brace, len(tokens)):
            token = tokens[index]
            depth += (token in ("{", "[", "(")) - (token in ("}", "]", ")"))
            if depth == 0:
                break
            if depth == 1 and tokens[index + 1] == ":":
                key = decode_string(token) if token[0] == '"' else token
                if key.startswith("_"):
                    self._report_reserved(key, index)

    def _report_reserved(self, key: str, at: int) -> None:
        message = f"The metadata key {key!r} is reserved: keys that begin with '_' are written by the engine only."
        self.report("error", "KIP_2002", message, f"Leave {key!r} out.", at)

    # --- handles (§4.1) ---------------------------------------------------------------------------

    def _check_upsert(self, upsert: tree.Upsert) -> None:
        earlier: set[str] = set()
        for statement in upsert.statements:
            self._check_metadata(statement.metadata)
            all_handles = {block.handle.name for block in statement.blocks if block.handle}
            defined: set[str] = set()
            for block in statement.blocks:
                self._check_metadata(block.metadata)
                for entry in block.propositions if isinstance(block, tree.ConceptBlock) else ():
                    self._check_metadata(entry.metadata)
                for var in _handle_uses(block):
                    if var.name not in defined:
                        own = block.handle is not None and block.handle.name == var.name
                        self._report_handle(var, all_handles, earlier, own)
                if block.handle:
                    defined.add(block.handle.name)
            earlier |= all_handles

    def _report_handle(self, var: tree.Var, all_handles: set[str], earlier: set[str], own: bool) -> None:
        if own:
            message = f"The handle ?{var.name} is used inside its own block."
            hint = "Write a link from an element to itself as a PROPOSITION block behind it."
        elif var.name in all_handles:
            message = f"The handle ?{var.name} is used before the end of its block."
            hint = f"Move the block of ?{var.name} before this one."
        elif var.name in earlier:
            message = f"The handle ?{var.name} ended with its UPSERT statement."
            hint = 'Name the element here by {type: "…", name: "…"}, or join the statements.'
        else:
            message = f"The handle ?{var.name} is never defined."
            hint = _suggest(var.name, all_handles) or "Define it by a CONCEPT or PROPOSITION block before its use."
        self.report("error", "KIP_3001", message, hint, var.at)

    # --- variables (§3.4.7) -----------------------------------------------------------------------

    def _check_group(self, group: tree.Group, outer: set[str]) -> set[str]:
        """Check the filters of a group; the result is what the group binds."""
        bound: set[str] = set()
        for clause in group.clauses:
            if isinstance(clause, tree.Filter):
                for path in _walk(clause):
                    if isinstance(path, tree.Path):
                        self._require(path.var, path.at, bound | outer)
            elif isinstance(clause, tree.Not):
                self._check_group(clause.group, bound | outer)
            elif isinstance(clause, tree.Optional):
                bound |= self._check_group(clause.group, bound | outer)
            elif isinstance(clause, tree.Union):
                bound |= self._check_group(clause.group, set())
            else:
                bound |= _variables(clause)
        return bound

    def _require(self, name: str, at: int, bound: set[str]) -> None:
        if name not in bound:
            hint = _suggest(name, bound) or f"Bind ?{name} in a clause of WHERE before this place and outside of NOT."
            self.report("error", "KIP_3001", f"The variable ?{name} is not bound here.", hint, at)

    def _check_uses(self, command: tree.Command, bound: set[str]) -> None:
        if isinstance(command, tree.Find):
            for expr in (*command.items, *(key.expr for key in command.order_by)):
                path = expr.path if isinstance(expr, tree.Aggregate) else expr
                self._require(path.var, path.at, bound)
            for key in command.order_by:
                if isinstance(key.expr, tree.Aggregate) and key.expr not in command.items:
                    message = f"ORDER BY {key.expr.func}(…) needs the same aggregate in FIND."
                    self.report("error", "KIP_3001", message, "Add the aggregate to FIND, or sort by a path.", key.at)
            return
        for field in ("source", "target"):
            var = getattr(command, field, None)
            if isinstance(var, tree.Var):
                self._require(var.name, var.at, bound)

    # --- unbounded exploration (§3.4.2) -----------------------------------------------------------

    def _check_free_patterns(self, command: tree.Command, group: tree.Group, outer: set[str]) -> None:
        if getattr(command, "limit", None) is not None:
            return
        patterns = [clause for clause in group.clauses if isinstance(clause, (tree.ConceptClause, tree.LinkClause))]
        free = [clause for clause in patterns if _is_open(clause)]
        known = outer.union(*(_variables(clause) for clause in patterns if not _is_open(clause)))
        for pattern in free:
            if not _variables(pattern) & known:
                message = "A pattern with a predicate variable and two free ends walks over every link."
                limit = hasattr(command, "limit")
                hint = "Bind one end by type and name, by id or in another clause" + (
                    ", or add LIMIT." if limit else "."
                )
                self.report("warning", "KIP_4002", message, hint, pattern.at)
        for clause in group.clauses:
            if isinstance(clause, (tree.Not, tree.Optional)):
                self._check_free_patterns(command, clause.group, known)
            elif isinstance(clause, tree.Union):
                self._check_free_patterns(command, clause.group, set())


# --- trees ----------------------------------------------------------------------------------------


def _walk(node: Any) -> Iterator[Any]:
    """All nodes of a tree, parents first."""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple)):
            stack.extend(reversed(item))
        elif isinstance(item, tree.Node):
            yield item
            if not isinstance(item, (tree.Lit, tree.Template)):
                stack.extend(getattr(item, name) for name in reversed(item.__struct_fields__))


def _variables(node: Any) -> set[str]:
    return {item.name for item in _walk(node) if isinstance(item, tree.Var)}


def _handle_uses(block: tree.ConceptBlock | tree.PropositionBlock) -> Iterator[tree.Var]:
    """The handles that a block refers to, its own name left out."""
    parts: Iterable[Any] = (block.identity, getattr(block, "propositions", ()))
    return (item for part in parts for item in _walk(part) if isinstance(item, tree.Var))


def _is_open(clause: tree.Clause) -> bool:
    """A link pattern of three variables."""
    if not isinstance(clause, tree.LinkClause) or not isinstance(clause.match, tree.LinkPattern):
        return False
    match = clause.match
    return all(isinstance(part, tree.Var) for part in (match.subject, match.predicate, match.object))


def _suggest(name: str, known: set[str]) -> str | None:
    close = get_close_matches(name, sorted(known), n=1) if len(known) <= 200 else []
    return f"Did you mean ?{close[0]}?" if close else None
