"""Arrays of objects from sections: where each thing has a heading of its own, as releases and error codes do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from trivium.language.matching import KIN, alike
from trivium.language.statements import PAIR, Cell, Statement
from trivium.language.values import DATE, find_values
from trivium.search.segment import fold, tokens
from trivium.shapes.fill_evidence import Finder
from trivium.shapes.property import NAME, read_property

_CODE = re.compile(r"[\[(]?(?P<code>(?=[^\s:]*\d)v?[\w.#/-]*\w)[\])]?(?=[\s:–—,-]|$)")
_CODES = frozenset(
    fold("id code sku key ticket reference number nr kennung codigo version release issue codes").split()
)
_CALLED = frozenset(
    fold("name title heading label summary titel titre titulo nombre nom nome bezeichnung 名称 标题").split()
)
_DAYS = frozenset(fold("date day released release published datum tag fecha dia date jour data on 日期").split())
_VERSION = re.compile(r"\W*(?:version |release )?v?\d+(?:\.\d+)+\b|\W*unreleased", re.IGNORECASE)
_VERSIONS = frozenset(
    fold(
        "release releases version versions versionen veroffentlichungen versiones lanzamientos versioni versies 版本"
    ).split()
)
_APART = re.compile(r"^[\s:–—,()\[\]-]+|[\s:–—,()\[\]-]+$")
_ENOUGH = 0.5


def sections_about(finder: Finder, items: dict[str, Any]) -> list[list[Statement]]:
    """The sections of one document that are what an array is of, each with its heading as the first statement.

    The question says what stands over them, or what they are called.
    """
    groups: dict[tuple[int, str, tuple[str, ...]], dict[str, list[Statement]]] = {}
    for statement in finder.statements:
        path = _path(statement)
        for depth, name in enumerate(path):
            over = (statement.passage.ctx, statement.passage.source or statement.passage.id, path[:depth])
            groups.setdefault(over, {}).setdefault(name, []).append(statement)
    named = _named_by_heading(items)
    if not named:
        return []
    best: tuple[float, dict[str, list[Statement]]] = 0.0, {}
    for sections in groups.values():
        met = _met(finder, sections)
        if len(sections) > 1 and met >= _ENOUGH and (met, len(sections)) > (best[0], len(best[1])):
            best = met, sections
    found = []
    inside = {name: sorted(section, key=_place) for name, section in best[1].items()}
    for heading, statements in sorted(inside.items(), key=lambda pair: _place(pair[1][0])):
        head = _head(heading, statements[0], named)
        if head is not None:
            found.append([head, *statements])
    return found if len(found) == len(best[1]) else []


def _place(statement: Statement) -> int:
    """Where a statement stands in its document."""
    return statement.passage.start + statement.start


def _path(statement: Statement) -> tuple[str, ...]:
    """The headings over a statement, outermost first."""
    outer = statement.passage.section_paths[0] if statement.passage.section_paths else []
    inner = list(statement.headings)
    if statement.kind == PAIR and inner and not re.search(rf"#[ \t]+{re.escape(inner[-1])}", statement.passage.text):
        inner = [name for name in inner if f"# {name}" in statement.passage.text]  # keys of settings are no headings
    if not inner:
        return tuple(outer)
    kept = outer[: outer.index(inner[0])] if inner[0] in outer else []
    return (*kept, *inner)


def _met(finder: Finder, sections: dict[str, list[Statement]]) -> float:
    """How far what stands over some sections, and in each of them, is what the question asks for."""
    statements = [statement for section in sections.values() for statement in section]
    first = statements[0]
    over = frozenset(tokens(" ".join([first.passage.title, first.passage.source, *_path(first)[:-1]])))
    shared = set.intersection(
        *({word for one in section for word in one.words} | set(tokens(name)) for name, section in sections.items())
    )
    asked = [term.word for term in finder.question.terms if not term.extra]
    if all(_VERSION.match(name) for name in sections):
        shared |= _VERSIONS
        shared |= _DAYS if all(any(value.kind == DATE for value in find_values(name)) for name in sections) else set()
    return finder.ranking.vocabulary.coverage(asked, frozenset(over | shared)) if asked else 0.0


def _named_by_heading(items: dict[str, Any]) -> dict[str, str]:
    """Which properties of an element its heading tells: `code`, `day`, and `name`, the first text that it may be."""
    properties = {name: schema for name, schema in items.get("properties", {}).items() if isinstance(schema, dict)}
    texts = [name for name, schema in properties.items() if "string" in str(schema.get("type", "string"))]
    found: dict[str, str] = {}
    for name in texts:
        words, read = set(tokens(name.replace("_", " "))), read_property(name, properties[name])
        if words & _CODES:
            found.setdefault("code", name)
        elif (read.dated or words <= _DAYS) and words & _DAYS:
            found.setdefault("day", name)
        elif words & _CALLED or read.placed:
            found.setdefault("name", name)
    if not {"code", "name"} & set(found) and texts and read_property(texts[0], {}).role in ("", NAME):
        found["name"] = texts[0]
    return found if {"code", "name"} & set(found) else {}


def _head(heading: str, first: Statement, named: dict[str, str]) -> Statement | None:
    """The heading of a section as a statement that tells the properties; None where it has not what they are."""
    line = re.search(rf"^#{{1,6}}[ \t]+{re.escape(heading)}[ \t#]*$", first.passage.text[: first.start], re.MULTILINE)
    start = line.start() + line[0].index(heading) if line else first.start
    stop = start + len(heading) if line else first.stop
    texts: dict[str, str] = {}
    rest = heading
    if "day" in named:
        day = next((value for value in find_values(rest, first.language) if value.kind == DATE), None)
        if day is not None:
            texts[named["day"]] = rest[day.start : day.stop]
            rest = f"{rest[: day.start]} {rest[day.stop :]}"
    if "code" in named:
        code = _CODE.search(rest)
        if code is None:
            return None
        texts[named["code"]] = code["code"]
        rest = f"{rest[: code.start()]} {rest[code.end() :]}"
    if "name" in named:
        if not (name := _behind_kind(_APART.sub("", rest.strip()), named["name"])):
            return None
        texts[named["name"]] = name
    cells = [Cell(name, text, start, stop) for name, text in texts.items()]
    cells.append(Cell("", heading, start, stop))
    return replace(
        first, kind=PAIR, start=start, stop=stop, text=heading, cells=cells, words=tokens(heading), values=[], before=""
    )


def _behind_kind(heading: str, name: str) -> str:
    """A heading without the word for what it names, where that is the property: `Alert: QueueLag`."""
    kind, colon, rest = heading.partition(":")
    own = tokens(name.replace("_", " "))
    is_kind = colon and tokens(kind) and all(any(alike(word, one) >= KIN for one in own) for word in tokens(kind))
    return rest.strip() if is_kind and rest.strip() else heading


def is_kind_of(word: str, names: Sequence[str]) -> bool:
    """Whether a word of a question is what one of some properties is called."""
    return any(alike(word, part) >= KIN for name in names for part in tokens(name.replace("_", " ")))
