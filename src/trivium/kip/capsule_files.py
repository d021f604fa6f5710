"""Capsule files: knowledge as UPSERT texts of any size (KIP §2.4, §4.1, §5.3).

A command text ends at 256 KiB; a capsule file does not. Reading cuts a file at the borders of its UPSERT statements
into commands of legal size, writing joins the pages of EXPORT. Both work on streams, so memory stays small.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from trivium.errors import KipError, Position, TriviumError
from trivium.kip.lexer import MAX_BYTES, position_of

PAGE = 5_000
"""Elements asked for in one EXPORT command; the size limit of a command mostly ends a page before."""

BLOCK = 1 << 16

Progress = Callable[[int], None]
"""Called now and then with the work done so far: bytes of text on import, elements on export."""

Source = Path | str | Iterable[str]
"""A file, a capsule's text, or the pieces of a text as an open text file gives them."""


class Executor(Protocol):
    """What import and export need of a knowledge base or a context."""

    def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
        """Execute one KIP request (§6)."""
        ...


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import wrote; `concepts` and `propositions` count top-level blocks, repeats included.

    `empty` counts the sources that held no statement.
    """

    sources: int = 0
    commands: int = 0
    statements: int = 0
    concepts: int = 0
    propositions: int = 0
    empty: int = 0


class Chunk(NamedTuple):
    """One command text of a file; `line` and `column` (from 1) are where it begins there."""

    text: str
    line: int
    column: int

    def place(self, position: Position) -> Position:
        """A position in the command as a position in the file; the offset stays that of the command."""
        column = position.column + self.column - 1 if position.line == 1 else position.column
        return Position(self.line + position.line - 1, column, position.offset)


# --- reading --------------------------------------------------------------------------------------

_UPSERT = r"(?<![A-Za-z0-9_?:.])UPSERT(?![A-Za-z0-9_])"
_FIRST = re.compile(rf"//[^\r\n]*+|{_UPSERT}|[^\s\ufeff]")
_NEXT = re.compile(rf'"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+"?|//[^\r\n]*+|[{{}}()\[\]]|{_UPSERT}')
_STEP = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}
_MARGIN = len("UPSERT") + 1


def split_statements(text: str | Iterable[str]) -> Iterator[str]:
    """Cut a capsule text of any size into command texts of at most 256 KiB, each of whole UPSERT statements (§4.1).

    The pieces joined are the text itself (what follows the last statement included); a text without a statement gives
    none. The text may come in pieces and is read as the result is.

    Raises: KipError KIP_4002 for a single statement above the limit, KIP_1001 when the text begins with anything but
    UPSERT; both name the line.

    >>> text = 'UPSERT { CONCEPT {{type: "Domain", name: "Tea"}} }\\n'
    >>> [len(part) for part in split_statements(text * 10_000)]
    [262140, 247860]
    """
    return (chunk.text for chunk in split_chunks(text))


def split_chunks(text: str | Iterable[str]) -> Iterator[Chunk]:
    """Like `split_statements`, each command text with the place where it begins."""
    parts: list[str] = []
    size = 0
    line = column = 1
    for statement in _statements(text):
        length = _size(statement)
        if parts and size + length > MAX_BYTES:
            chunk = Chunk("".join(parts), line, column)
            yield chunk
            line, column = _advance(chunk)
            parts, size = [], 0
        parts.append(statement)
        size += length
    if parts:
        yield Chunk("".join(parts), line, column)


def _advance(chunk: Chunk) -> tuple[int, int]:
    end = position_of(chunk.text, len(chunk.text))
    place = chunk.place(end)
    return place.line, place.column


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _statements(text: str | Iterable[str]) -> Iterator[str]:
    """The text cut before each UPSERT but the first; what leads up to the first one stays with it."""
    scanner = _Scanner()
    for block in _blocks(text):
        yield from scanner.feed(block)
    yield from scanner.feed("", final=True)


def _blocks(text: str | Iterable[str]) -> Iterator[str]:
    if isinstance(text, str):
        for start in range(0, len(text), BLOCK):
            yield text[start : start + BLOCK]
        return
    held: list[str] = []
    size = 0
    for piece in text:
        held.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


class _Scanner:
    """Finds statement borders in a text that arrives in blocks; holds no more than one statement and one block."""

    def __init__(self) -> None:
        self.buffer = ""
        self.line = self.column = 1  # of the buffer's beginning
        self.begin = 0  # of the statement at hand
        self.position = 0  # scanned up to here
        self.depth = 0
        self.started = False  # the statement at hand has its UPSERT

    def feed(self, block: str, *, final: bool = False) -> Iterator[str]:
        """Add a block; gives the statements that are complete now."""
        self._drop_done()
        self.buffer += block
        while (match := self._next(final)) is not None:
            token = match[0]
            if token == "UPSERT" and self.depth == 0:
                if self.started:
                    yield self._cut(match.start())
                self.started = True
            elif not self.started and not token.startswith("//"):
                raise self._not_a_capsule(match.start())
            else:
                self.depth = max(0, self.depth + _STEP.get(token, 0))
        if final and self.started:
            yield self._cut(len(self.buffer))
        if len(self.buffer) - self.begin > MAX_BYTES + _MARGIN:
            raise self._too_large()  # what is not scanned yet is one string or comment of this statement

    def _drop_done(self) -> None:
        self.line, self.column, _ = self._place(self.begin)
        self.buffer = self.buffer[self.begin :]
        self.position -= self.begin
        self.begin = 0

    def _next(self, final: bool) -> re.Match[str] | None:
        """The next token that is sure to be whole, with `position` moved behind it."""
        match = (_NEXT if self.started else _FIRST).search(self.buffer, self.position)
        end = len(self.buffer)
        safe = end if final else max(self.position, end - _MARGIN)
        if match is None:
            self.position = safe
            return None
        if not final and (match.start() >= safe or (match[0][0] in '"/' and match.end() >= end - 1)):
            self.position = min(match.start(), safe)
            return None
        self.position = match.end()
        return match

    def _cut(self, at: int) -> str:
        statement = self.buffer[self.begin : at]
        if _size(statement) > MAX_BYTES:
            raise self._too_large()
        self.begin = at
        return statement

    def _place(self, at: int) -> Position:
        found = position_of(self.buffer, at)
        column = found.column + self.column - 1 if found.line == 1 else found.column
        return Position(self.line + found.line - 1, column, 0)

    def _too_large(self) -> KipError:
        tokens = _FIRST.finditer(self.buffer, self.begin)
        position = self._place(next((m.start() for m in tokens if not m[0].startswith("//")), self.begin))
        return KipError(
            "KIP_4002",
            f"The UPSERT statement on line {position.line} is longer than {MAX_BYTES // 1024} KiB.",
            "Split it into several UPSERT statements (handles end with their statement, so name nodes by type and "
            "name), and check that its brackets and strings are closed.",
            position=position,
        )

    def _not_a_capsule(self, at: int) -> KipError:
        position = self._place(at)
        return KipError(
            "KIP_1001",
            f"Line {position.line}, column {position.column}: a capsule holds UPSERT statements, and this is none.",
            "Import UPSERT statements only; run other commands with `trivium kip`.",
            position=position,
        )


def read_pieces(path: Path) -> Iterator[str]:
    """The text of a UTF-8 file in pieces. Raises: OSError; TriviumError when it is not UTF-8."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            while block := file.read(BLOCK):
                yield block
    except UnicodeDecodeError as error:
        raise TriviumError(f"{path} is not a UTF-8 text: {error.reason}.", "Save the file as UTF-8.") from None


# --- import ---------------------------------------------------------------------------------------


def import_capsules(context: Executor, sources: Iterable[Source], *, progress: Progress | None = None) -> ImportReport:
    """Write capsules into a context: each source a `Path`, a text, or the pieces of a text (§2.4).

    Each command text is written whole or not at all, in order; the first fault ends the import. What was written
    before stays, and importing again is safe, since capsules are idempotent.

    Raises: KipError whose message and position name the file and the place in it; OSError and TriviumError for a file
    that cannot be read.
    """
    report = ImportReport()
    done = 0
    for source in sources:
        before = report.commands
        for chunk in _chunks_of(source):
            response = context.execute_kip({"command": chunk.text})
            if "error" in response:
                raise _import_error(source, chunk, response["error"], report)
            report = _count(report, response["result"])
            done += _size(chunk.text)
            if progress is not None:
                progress(done)
        report = replace(report, sources=report.sources + 1, empty=report.empty + (report.commands == before))
    return report


def _chunks_of(source: Source) -> Iterator[Chunk]:
    try:
        yield from split_chunks(read_pieces(source) if isinstance(source, Path) else source)
    except KipError as error:
        raise _named(source, error) from None


def _count(report: ImportReport, result: dict[str, Any]) -> ImportReport:
    return replace(
        report,
        commands=report.commands + 1,
        statements=report.statements + result["blocks"],
        concepts=report.concepts + len(result["upsert_concept_nodes"]),
        propositions=report.propositions + len(result["upsert_proposition_links"]),
    )


_PLACE = re.compile(r"Line \d+, column \d+: ")


def without_place(message: str) -> str:
    """A message of the engine without the line and column it begins with, for those who know a better place.

    >>> without_place("Line 1, column 2: Unexpected ','.")
    "Unexpected ','."
    """
    return _PLACE.sub("", message, count=1) if _PLACE.match(message) else message


def _import_error(source: Source, chunk: Chunk, error: dict[str, Any], report: ImportReport) -> KipError:
    """The fault of one command as a fault of the file it stands in."""
    message = without_place(error["message"])
    position = Position(chunk.line, chunk.column, 0)
    if "position" in error:
        position = chunk.place(Position(error["position"]["line"], error["position"]["column"], 0))
        message = f"Line {position.line}, column {position.column}: {message}"
    else:
        message = f"In the command that begins on line {position.line}: {message}"
    hint = error.get("hint")
    if report.commands:
        hint = f"{hint} The commands before it were written; importing again is safe."
    return _named(source, KipError(error["code"], message, hint, position=position))


def _named(source: Source, error: KipError) -> KipError:
    if isinstance(source, Path):
        return KipError(error.code, f"{source}: {error.message}", error.hint, position=error.position)
    return error


# --- export ---------------------------------------------------------------------------------------

SCHEMA_TYPES = ("$ConceptType", "$PropositionType")


def export_capsule(context: Executor, where: str | None = None, *, progress: Progress | None = None) -> Iterator[str]:
    """The capsule of what a context holds, in pieces that are capsules themselves and import in order (§5.3).

    `where` is a WHERE group that binds `?x`, with or without its braces; None exports everything: the schema first,
    then concepts type by type, then all links. The same knowledge gives the same text, so an export that was imported
    into an empty store exports as before. Writers at work between two pages can make the pages disagree, and the
    setting `max_rows` bounds the links there may be; to be free of both, export a backup, as `trivium export` does.

    Raises: KipError, for `where` with positions of its own text, KIP_1001 when it is anything but one group; KIP_2001
    when links use a predicate whose definition
    was deleted, since such a capsule could not be imported.
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
    ordered = [*SCHEMA_TYPES, *sorted(set(types) - set(SCHEMA_TYPES))]
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
    if error.position is None or not _PLACE.match(error.message):
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
