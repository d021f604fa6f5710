"""Exporting a context as capsules: the pages of EXPORT joined, in an order that imports again (KIP §5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from trivium.errors import KipError, Position
from trivium.kip.capsule_text import PLACE, without_place
from trivium.store.schema import META_TYPES

if TYPE_CHECKING:
    from trivium.kip.request import Executor

PAGE = 5_000
"""Elements asked for in one EXPORT command; the size limit of a command mostly ends a page before."""

Progress = Callable[[int], None]
"""Called now and then with the elements that are done."""


def export_capsule(context: Executor, where: str | None = None, *, progress: Progress | None = None) -> Iterator[str]:
    """The capsule of what a context holds, in pieces that are capsules themselves and import in order (§5.3).

    `where` is a WHERE group that binds `?x`, with or without its braces; None exports everything: the schema first,
    then concepts type by type, then all links. The same knowledge gives the same text, so an export that was imported
    into an empty store exports as before. Writers at work between two pages can make the pages disagree, and the
    setting `max_rows` bounds the links there may be; to be free of both, export a backup, as `trivium export` does.

    Raises: KipError, for `where` with positions of its own text, KIP_1001 when it is anything but one group; KIP_2001
    when links use a predicate whose definition was deleted, since such a capsule could not be imported.
    """
    if where is None:
        _require_predicates(context)
    lead = 0 if where is None else len(_EXPORT) + _added(where)
    done = 0
    for group in _groups(context) if where is None else [_group_of(where)]:
        for capsule, count in _pages(context, group, lead):
            yield capsule
            done += count
            if progress is not None:
                progress(done)


def count_elements(context: Executor) -> int:
    """How many elements an export of everything writes, standard ones included."""
    return sum(_count_group(context, group) for group in _groups(context))


def _groups(context: Executor) -> list[str]:
    """WHERE groups that together match every concept and link, in the order in which they import."""
    types: list[str] = _run(context, "DESCRIBE CONCEPT TYPES")["result"]
    ordered = [*META_TYPES, *sorted(set(types) - set(META_TYPES))]
    return [f"{{ ?x {{type: {_quoted(name)}}} }}" for name in ordered] + ["{ ?x (?s, ?p, ?o) }"]


def _require_predicates(context: Executor) -> None:
    known: list[str] = _run(context, "DESCRIBE PROPOSITION TYPES")["result"]
    used: list[str] = _run(context, "FIND(?p, COUNT(?x)) WHERE { ?x (?s, ?p, ?o) }")["result"][0]
    for name in sorted(set(used) - set(known)):
        raise KipError(
            "KIP_2001",
            f"Links have the predicate {_quoted(name)}, whose definition was deleted; no store could import them.",
            f'Define it again: UPSERT {{ CONCEPT {{ {{type: "$PropositionType", name: {_quoted(name)}}} }} }}',
        )


def _pages(context: Executor, group: str, lead: int) -> Iterator[tuple[str, int]]:
    """Capsules with their number of elements; a line end keeps a comment in the group from hiding what follows."""
    cursor = None
    while True:
        tail = f" CURSOR {_quoted(cursor)}" if cursor else ""
        response = _run(context, f"{_EXPORT}{group}\nLIMIT {PAGE}{tail}", lead)
        result = response["result"]
        if count := result["concepts"] + result["propositions"]:
            capsule: str = result["capsule"]
            yield capsule if capsule.endswith("\n") else capsule + "\n", count
        cursor = response.get("next_cursor")
        if not cursor:
            return


def _count_group(context: Executor, group: str) -> int:
    result: int = _run(context, f"FIND(COUNT(?x)) WHERE {group}")["result"]
    return result


_EXPORT = "EXPORT ?x WHERE "


def _run(context: Executor, command: str, lead: int = 0) -> dict[str, Any]:
    """The response of a command that reads; `lead` characters before the caller's text are not the caller's."""
    response = context.execute_kip({"command": command}, readonly=True)
    if "error" in response:
        error = response["error"]
        position = None
        if "position" in error:
            position = _own(Position(error["position"]["line"], error["position"]["column"], 0), lead)
        raise _moved(KipError(error["code"], error["message"], error.get("hint"), position=position))
    return response


def _own(position: Position, lead: int) -> Position:
    """The place in the caller's WHERE group of a place in the command around it."""
    return Position(position.line, max(1, position.column - lead) if position.line == 1 else position.column, 0)


def _moved(error: KipError) -> KipError:
    """An error whose message names the place that its position has now."""
    if error.position is None or not PLACE.match(error.message):
        return error
    place = f"Line {error.position.line}, column {error.position.column}: "
    return KipError(error.code, place + without_place(error.message), error.hint, position=error.position)


def _added(where: str) -> int:
    """How much `_group_of` puts before the text."""
    from trivium.kip.lexer import tokenize

    return 0 if tokenize(where)[:1] == ["{"] else len("{ ")


def _group_of(where: str) -> str:
    """One WHERE group with its braces. Raises: KipError when the text is anything else, or more."""
    from trivium.kip import tree
    from trivium.kip.parser import parse

    added = _added(where)
    group = f"{{ {where}\n}}" if added else where
    try:
        command = parse(_EXPORT + group).command
    except KipError as error:
        if error.position is None:
            raise
        position = _own(error.position, len(_EXPORT) + added)
        raise _moved(KipError(error.code, error.message, error.hint, position=position)) from None
    assert isinstance(command, tree.Export)
    if command.limit is not None or command.cursor is not None:
        raise KipError(
            "KIP_1001",
            "What selects the export is a WHERE group and nothing more; this text goes on with LIMIT or CURSOR.",
            'Write one group, as in { ?x {type: "Drug"} }; an export has no limit, and pages by itself.',
        )
    return group


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
