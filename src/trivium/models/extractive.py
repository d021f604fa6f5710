"""`builtin/extractive`: answers with quoted sentences, without a model (KnowQL reference 14, D14).

It says when the knowledge does not hold the answer, shows sources that disagree side by side with their dates, and
fills a shape from quoted evidence or fails naming the property. The same evidence always gives the same answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from trivium.answers.composer import Composed, Progress, Step, Task
from trivium.answers.prose import prose
from trivium.answers.ranking import Ranking
from trivium.counting import counted
from trivium.language.question import understand
from trivium.language.statements import Statement, statements_of
from trivium.search.passage import Passage

if TYPE_CHECKING:
    from trivium.search.embedder import Embedder


class Extractive:
    """The composer that needs no model. With an embedder it also finds what is said in other words.

    `embedder` is called when first needed; it gives None where there is no embedder.
    """

    def __init__(self, embedder: Callable[[], Embedder | None] = lambda: None) -> None:
        self._embedder = embedder

    def compose(self, task: Task, progress: Progress) -> Composed:
        progress.check()
        began = time.monotonic()
        step = Step(
            "c1", "running", f"Choosing among the statements of {counted(len(task.evidence.passages), 'passage')}"
        )
        progress.step(step)
        statements = statements_of(task.evidence.passages, headings=task.shape is None)
        progress.check()
        if task.shape is not None:
            from trivium.shapes.fill import fill

            composed = fill(task, statements, progress.check)
        else:
            composed = prose(task, self._ranking(statements))
        progress.step(Step("c1", "completed", f"Quoted {len(composed.cited)} of {len(statements)} statements"))
        for piece in _pieces(composed.text):
            progress.delta(piece)
        composed.synthesis_ms = int((time.monotonic() - began) * 1000)
        return composed

    def confidence(self, ask: str, passages: Sequence[Passage]) -> float:
        """How surely passages answer a question, by their words, and by their meaning where there is an embedder.

        From `ENOUGH` on they do, below `UNLIKELY` hardly. 1 when the languages differ and nothing compares them.
        """
        statements = statements_of(passages)
        question = understand(ask)
        ranking = self._ranking(statements)
        ranked = ranking.rank(question)
        if ranking.embedder is None and all(one.statement.language != question.language for one in ranked):
            return 1.0
        if ranking.nearest(ranked, question) is not None:
            return 1.0
        return max((one.confidence for one in ranked), default=0.0)

    def _ranking(self, statements: list[Statement]) -> Ranking:
        return Ranking(statements, self._embedder() if statements else None)


def _pieces(text: str) -> Iterator[str]:
    """The text in the pieces in which it is streamed: line by line."""
    yield from text.splitlines(keepends=True)
