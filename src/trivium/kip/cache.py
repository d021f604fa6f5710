"""Prepared texts of one context, found again by their text, else by their shape."""

from __future__ import annotations

from typing import Any

from trivium.errors import KipError
from trivium.kip import lexer, tree
from trivium.kip.parser import Parsed, parse, quoted_names
from trivium.kip.prepared import Prepared, Query

MOST_TEXTS = 2_000
MOST_SHAPES = 500
MOST_CHARACTERS = 4_000_000
"""Of all texts that are remembered together; their tokens and trees take some twenty times as many bytes."""
LONGEST = 20_000
"""Characters of a text that is still remembered."""
EXPORT_CAP = 5_000_000
"""Elements that one EXPORT may select; it is read in pages all the same."""
MAX_CLAUSES = 500


class Cache:
    """Prepared texts of one context."""

    def __init__(self) -> None:
        self._texts: dict[str, Prepared] = {}
        self._shapes: dict[tuple[Any, ...], Prepared] = {}
        self._characters = 0

    def prepare(self, text: str) -> Prepared:
        """The prepared form of a text. Raises KipError for a text that does not parse."""
        found = self._texts.get(text)
        if found is None:
            found = self._by_shape(text)
            fresh = found is None
            if found is None:
                found = _prepared(text)
            if len(text) < LONGEST:
                self._make_room(len(text))
                self._texts[text] = found
                if fresh:
                    self._remember_shape(found)
        return found

    def _make_room(self, characters: int) -> None:
        self._characters += characters
        if len(self._texts) >= MOST_TEXTS or self._characters > MOST_CHARACTERS:
            self._texts.clear()
            self._shapes.clear()
            self._characters = characters

    def _by_shape(self, text: str) -> Prepared | None:
        if not text.startswith("FIND"):
            return None
        lexer.check_text_limits(text)
        tokens = lexer.tokenize(text)
        known = self._shapes.get(lexer.shape(tokens))
        if known is None:
            return None
        parsed = Parsed(known.parsed.command, text, tokens, quoted_names(tokens))
        return Prepared(parsed, known.params, tokens, known.query)

    def _remember_shape(self, prepared: Prepared) -> None:
        """Let texts that differ in their literals alone share the plans of a FIND.

        A parameter inside a list is fixed when compiling: such a FIND serves no other text.
        """
        tokens = prepared.parsed.tokens
        if isinstance(prepared.parsed.command, tree.Find) and ("[" not in tokens or not prepared.params):
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            self._shapes[lexer.shape(tokens)] = prepared


def _prepared(text: str) -> Prepared:
    """Parsed afresh."""
    parsed = parse(text)
    _check_size(parsed.command)
    names = [token[1:] for token in parsed.tokens if token[0] == ":" and len(token) > 1]
    prepared = Prepared(parsed, tuple(dict.fromkeys(names)))
    command = parsed.command
    if isinstance(command, tree.Find):
        prepared.query = Query(command)
    elif isinstance(command, tree.Update):
        selection = _selection(command.where, [command.target])
        prepared.query = Query(selection, [command.target], command.limit, bodies=True)
    elif isinstance(command, tree.DeleteKeys):
        prepared.query = Query(_selection(command.where, [command.target]), [command.target], bodies=True)
    elif isinstance(command, (tree.DeletePropositions, tree.DeleteConcept)):
        prepared.query = Query(_selection(command.where, [command.target]), [command.target])
    elif isinstance(command, tree.Merge):
        pair = [command.source, command.target]
        prepared.query = Query(_selection(command.where, pair), pair)
    elif isinstance(command, tree.Export):
        prepared.query = Query(_selection(command.where, [command.target]), [command.target], cap=EXPORT_CAP)
    return prepared


def _check_size(command: tree.Command) -> None:
    """KIP_4002 for a WHERE block with more clauses than one statement can plan in reasonable time."""
    where = getattr(command, "where", None)
    stack: list[tree.Group] = [where] if isinstance(where, tree.Group) else []
    count = 0
    while stack:
        group = stack.pop()
        count += len(group.clauses)
        stack += [clause.group for clause in group.clauses if isinstance(clause, (tree.Not, tree.Optional, tree.Union))]
    if count > MAX_CLAUSES:
        raise KipError(
            "KIP_4002",
            f"WHERE has {count} clauses; one command may have {MAX_CLAUSES}.",
            'Split it into several commands; for many names or values use FILTER(IN(?x.name, ["…", "…"])).',
        )


def _selection(where: tree.Group, names: list[tree.Var]) -> tree.Find:
    return tree.Find([tree.Path(var.name, (), var.at) for var in names], where)
