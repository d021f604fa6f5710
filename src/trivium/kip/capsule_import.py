"""Importing capsules: texts and files of any size into a context (KIP §2.4, §4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import KipError, Position, TriviumError
from trivium.kip.capsule_text import BLOCK, Chunk, size_of, split_chunks, without_place

if TYPE_CHECKING:
    from trivium.kip.request import Executor

Progress = Callable[[int], None]
"""Called now and then with the bytes of text that are done."""

Source = Path | str | Iterable[str]
"""A file, a capsule's text, or the pieces of a text as an open text file gives them."""


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
            done += size_of(chunk.text)
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


def read_pieces(path: Path) -> Iterator[str]:
    """The text of a UTF-8 file in pieces. Raises: OSError; TriviumError when it is not UTF-8."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            while block := file.read(BLOCK):
                yield block
    except UnicodeDecodeError as error:
        raise TriviumError(f"{path} is not a UTF-8 text: {error.reason}.", "Save the file as UTF-8.") from None


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
