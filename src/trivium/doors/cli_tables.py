"""KIP responses as tables for people; the only module of the command line that imports rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trivium.counting import counted
from trivium.doors.cli_output import printable, to_json
from trivium.kip import tree

NULL = Text("null", style="dim")
SHORT = ("score", "id", "type", "predicate")
"""Columns of elements that are not folded."""


def console() -> Console:
    """A console on the standard output of this moment; colours only on a terminal."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=False)


def print_response(command: tree.Command, response: dict[str, Any], *, brief: bool = False) -> None:
    """Print the `result` of one response; `brief` shows elements without attributes and metadata."""
    out = console()
    result = response["result"]
    if isinstance(command, tree.Find):
        _print_find(out, command, result, brief)
    elif isinstance(command, tree.Export):
        out.print(Text(printable(result["capsule"].rstrip("\n"))), soft_wrap=True)
        _note(out, f"{result['concepts']} concepts, {result['propositions']} propositions")
    elif isinstance(command, tree.Search):
        _print_elements(out, result, brief)
    elif isinstance(command, tree.DescribeTypes):
        out.print(Text(printable("\n".join(result))), soft_wrap=True)
        _note(out, counted(len(result), "name"))
    elif isinstance(command, tree.DescribePrimer | tree.DescribeDomains | tree.DescribeType):
        out.print(Text(to_json(result)), soft_wrap=True)
    else:
        _print_counters(out, result)
    if "next_cursor" in response:
        _note(out, f'more: add CURSOR "{response["next_cursor"]}"')


def expression(item: tree.Path | tree.Aggregate) -> str:
    """A FIND expression as its author wrote it.

    >>> expression(tree.Aggregate("COUNT", True, tree.Path("d", ("attributes", "risk"))))
    'COUNT(DISTINCT ?d.attributes.risk)'
    """
    if isinstance(item, tree.Aggregate):
        return f"{item.func}({'DISTINCT ' if item.distinct else ''}{expression(item.path)})"
    return "?" + ".".join((item.var, *item.steps))


def columns_of(command: tree.Find, result: Any) -> list[list[Any]]:
    """The columns of a FIND result (§6.2.2), a lone column wrapped and scalars as columns of one."""
    columns: list[Any] = [result] if len(command.items) == 1 else result
    if all(isinstance(item, tree.Aggregate) for item in command.items):
        return [[value] for value in columns]
    return columns


def _print_find(out: Console, command: tree.Find, result: Any, brief: bool) -> None:
    columns = columns_of(command, result)
    if len(columns) == 1 and columns[0] and all(map(_is_element, columns[0])):
        _print_elements(out, columns[0], brief)
        return
    rows = list(zip(*columns, strict=True))
    numeric = [bool(column) and all(_is_number(value) for value in column) for column in columns]
    _print_table(out, [expression(item) for item in command.items], rows, numeric)
    _note(out, counted(len(rows), "row"))


def _print_elements(out: Console, elements: Sequence[dict[str, Any]], brief: bool) -> None:
    """Nodes and links, one a row; `_score` of SEARCH in front."""
    if not elements:
        _note(out, counted(0, "element"))
        return
    scored = any("_score" in element["metadata"] for element in elements)
    links = any(element["_type"] == "PropositionLink" for element in elements)
    identity = ["subject", "predicate", "object"] if links else ["type", "name"]
    if links and any(element["_type"] == "ConceptNode" for element in elements):
        identity = ["element"]
    names = [*(["score"] if scored else []), "id", *identity, *([] if brief else ["attributes", "metadata"])]
    rows = [[_field(element, name) for name in names] for element in elements]
    _print_table(out, names, rows, [name == "score" for name in names])
    _note(out, counted(len(rows), "element"))


def _field(element: dict[str, Any], name: str) -> Any:
    if name == "score":
        return f"{element['metadata']['_score']:.3f}"
    if name == "element":
        return element
    if name in ("attributes", "metadata"):
        pairs = ((key, value) for key, value in element[name].items() if name == "attributes" or key[:1] != "_")
        return Text("\n".join(f"{printable(key)}: {cell(value).plain}" for key, value in pairs))
    return element[name]


def _print_table(out: Console, names: Sequence[str], rows: Iterable[Sequence[Any]], numeric: Sequence[bool]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name, right in zip(names, numeric, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold", no_wrap=name in SHORT)
    for row in rows:
        table.add_row(*(cell(value) for value in row))
    out.print(table)


def _print_counters(out: Console, result: dict[str, Any]) -> None:
    for key, value in result.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) and value else cell(value).plain
        out.print(Text.assemble((f"{key}: ", "bold"), printable(shown)), soft_wrap=True)


def cell(value: Any) -> Text:
    """One value as a table shows it: text bare, elements by their name, the rest as JSON."""
    if isinstance(value, Text):
        return value
    if value is None:
        return NULL
    if isinstance(value, str):
        return Text(printable(value))
    if _is_element(value):
        return Text(printable(_short(value)))
    return Text(to_json(value, indent=None))


def _short(element: dict[str, Any]) -> str:
    if element["_type"] == "PropositionLink":
        return f"({element['subject']}, {element['predicate']}, {element['object']})"
    return f"{element['type']} {element['name']}"


def _is_element(value: Any) -> bool:
    return isinstance(value, dict) and value.get("_type") in ("ConceptNode", "PropositionLink")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _note(out: Console, text: str) -> None:
    out.print(Text(printable(text), style="dim"), soft_wrap=True)
