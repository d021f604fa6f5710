"""How an answer is written: its sections as lines of quotes, each with the number of its citation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from trivium.answers.citation_marks import unmarked
from trivium.answers.code_spans import fenced, may_mark, spanned
from trivium.answers.composer import Cited, Composed, Usage
from trivium.answers.framing import NOT_FOUND, sentence
from trivium.answers.ranking import POINTS_BACK
from trivium.language.statements import CODE, ROW, Statement
from trivium.search.passage import Passage

Warned = tuple[str, str | None, str]
"""Code, parameter and message of a warning."""


class Line(Struct):
    """One line of an answer: the statement it quotes and what stands before it."""

    statement: Statement
    label: str = ""
    bullet: bool = False
    lines: tuple[int, int] | None = None
    """Where the part of a long block of code stands in its passage that is quoted."""


class Section(Struct):
    """What is said to one part of the question: an opening sentence, then lines."""

    opening: str = ""
    lines: list[Line] = []
    closing: str = ""
    found: bool = True
    warnings: list[Warned] = []


class _Citations:
    """Numbers what is quoted: the same quote of the same passage has one number."""

    def __init__(self) -> None:
        self.cited: list[Cited] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def mark(self, passage: Passage, quote: str) -> str:
        key = passage.id, quote
        if key not in self._numbers:
            self.cited.append(Cited(passage, quote))
            self._numbers[key] = len(self.cited)
        return f"[{self._numbers[key]}]"


def written(sections: Sequence[Section], language: str, last: Section | None = None) -> Composed:
    """The answer as text, `last` at its end. When nothing was found at all, that is said once."""
    if not any(section.found for section in sections):
        text = sections[0].opening if len(sections) == 1 else sentence(NOT_FOUND, language)
        warnings = [*sections[0].warnings, *(last.warnings if last else [])]
        text = f"{text}\n\n{last.opening}" if last else text
        return Composed(text, found=False, usage=Usage(cost_usd=0.0), warnings=warnings)
    sections = [*sections, last] if last else sections
    citations = _Citations()
    parts = ["\n".join(_section(section, citations)) for section in sections]
    warnings = list(dict.fromkeys(warning for section in sections for warning in section.warnings))
    return Composed("\n\n".join(parts), citations.cited, usage=Usage(cost_usd=0.0), warnings=warnings)


def _section(section: Section, citations: _Citations) -> Iterator[str]:
    if section.opening:
        yield section.opening
    before: Statement | None = None
    for line in section.lines:
        statement = line.statement
        quote, text = statement.quote, statement.text
        follows = before is not None and before.passage is statement.passage and before.place == statement.place - 1
        before = statement
        if statement.before and not follows and POINTS_BACK.match(text):
            quote = statement.passage.text[statement.before_start : statement.stop]
            text = f"{statement.before} {text}"
        label = f"{own_words(line.label)}: " if line.label else ""
        bullet = "- " if line.bullet else ""
        if statement.kind == CODE:
            start, stop = line.lines or (statement.start, statement.stop)
            quote = statement.passage.text[start:stop]
            if label:
                yield f"{bullet}{label.rstrip()}"
            yield f"{fenced(quote)}\n{citations.mark(statement.passage, quote)}"
            continue
        box = "" if statement.done is None else "☑ " if statement.done else "☐ "
        shown = spanned(text) if may_mark(text) else text if statement.kind == ROW else f'"{text}"'
        yield f"{bullet}{box}{label}{shown} {citations.mark(statement.passage, quote)}"
    if section.closing:
        yield section.closing


def own_words(text: str) -> str:
    """A name or question within the answer's own words, where nothing in it looks like a marker or begins code."""
    return unmarked(text.replace("`", "'"))


def source_of(passage: Passage) -> str:
    return passage.source or passage.name or passage.context
