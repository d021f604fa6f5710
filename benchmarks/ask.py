"""Retrieval at 100,000 chunks beside a raw FTS5 query, and curate beside reading and hashing the same files.

    python -m benchmarks.ask                     both parts; the first run builds the chunks (about two minutes)
    python -m benchmarks.ask --scale small       a quick look

The raw query is SQLite's own: the words of the question joined by OR, ranked by bm25, twenty rows, on the same table of
the same file; once with all of its words, as FTS5 is used, and once with the stop words left out by hand. Ours is a
whole turn of retrieval through `ask`, with keyword and meaning over all vectors, and the session and the turn written
down. All sides take turns. A turn that finds nothing ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import resource
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import trivium
from benchmarks.timing import interleave, no_collection, rounds_for
from trivium import KnowledgeBase
from trivium.search.passage_text import chunk_texts
from trivium.search.question import question
from trivium.search.retrieval import Retriever, ScopedContext
from trivium.store import chunks
from trivium.store import vectors as stored

TURN_GOAL = 3.0
SIZES = {"full": 100_000, "small": 2_000}
WORDS_OF_A_CHUNK, CHUNKS_OF_A_DOCUMENT = 100, 100
FILES = {"full": 400, "small": 20}
MIB = 1 << 20
SLUG = "bench"
FORMS = (
    "what is the {} of {} and {}",
    "how does {} relate to {} in {} {}",
    "when did {} become {}",
    "which {} has the most {} for {} and {}",
    "{} {}",
    "why was {} replaced by {} after {} {} {}",
)


@dataclass(slots=True, frozen=True)
class Figure:
    """One row of the report; `judged` is what the goal bounds."""

    name: str
    base: float
    ours: float
    unit: str
    judged: float
    goal: float | None = None

    def show(self) -> None:
        verdict = "" if self.goal is None else f"{'ok' if self.judged <= self.goal else 'over':5}{self.goal:g}"
        figures = f"{self.base:>9.1f}{self.ours:>9.1f} {self.unit:5}{self.judged:>7.2f}"
        print(f"{self.name:67}{figures}  {verdict}".rstrip(), flush=True)


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ask", description=__doc__)
    parser.add_argument("--scale", choices=sorted(SIZES), default="full")
    parser.add_argument("--part", choices=("turn", "curate"), help="run this part alone")
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(tempfile.gettempdir()) / "trivium-bench",
        help="where the chunks are kept (default: %(default)s)",
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="for each form of question")
    parser.add_argument("--rounds", type=int, default=3, help="of a curate and its floor")
    parser.add_argument("--json", type=Path, help="write the report to a file as well")
    return parser.parse_args(arguments)


# --- the text -------------------------------------------------------------------------------------


# How many of a thousand words of English each of these is.
FUNCTION_WORDS = {
    "the": 62, "of": 33, "and": 29, "to": 26, "in": 22, "a": 21, "is": 12, "that": 10, "for": 9, "it": 8, "was": 8,
    "with": 7, "as": 7, "on": 7, "by": 6, "at": 5, "from": 5, "this": 5, "are": 5, "be": 5, "or": 4, "not": 4,
    "an": 4, "which": 4, "has": 3, "have": 4, "what": 2, "when": 2, "who": 2, "how": 1, "after": 1, "most": 1,
    "does": 1, "did": 1, "why": 1,
}  # fmt: skip


class Language:
    """An invented language whose words are as unevenly common as those of English, whose function words it has."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        words = dict.fromkeys(self._word() for _ in range(60_000))
        self.words = [word for word in words if word not in FUNCTION_WORDS][:40_000]
        shares = [1 / (place + 10) for place in range(len(self.words))]
        rest = (1_000 - sum(FUNCTION_WORDS.values())) / sum(shares)
        self._all = [*FUNCTION_WORDS, *self.words]
        self._common = list(accumulate([*FUNCTION_WORDS.values(), *(share * rest for share in shares)]))

    def _word(self) -> str:
        syllables = self.random.choice((1, 2, 2, 3, 3, 4))
        parts = [self.random.choice("bcdfghklmnprstvz") + self.random.choice("aeiou") for _ in range(syllables)]
        return "".join(parts) + self.random.choice(("", "s", "ing", "n", "r", "t"))

    def text(self, words: int) -> str:
        chosen = self.random.choices(self._all, cum_weights=self._common, k=words)
        sentences = [" ".join(chosen[start : start + 12]).capitalize() for start in range(0, words, 12)]
        return ". ".join(sentences) + "."

    def telling(self) -> str:
        """A word that somebody might ask for: neither among the most common nor a unique one."""
        return self.words[int(self.random.triangular(30, 6_000, 300))]


def questions(language: Language, number: int) -> list[list[str]]:
    """For each form of question some questions."""
    return [
        [form.format(*(language.telling() for _ in range(form.count("{}")))) for _ in range(number)] for form in FORMS
    ]


# --- the store ------------------------------------------------------------------------------------


def store_of(folder: Path, scale: str) -> Path:
    """A database with one context of chunks and a vector for each, as curate and the embedder would leave it."""
    path = folder / f"ask-{scale}-{trivium.__version__}.db"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".part")
    fresh.unlink(missing_ok=True)
    with trivium.open(str(fresh), timeout=3_600, embedder="builtin") as kb:
        ctx = kb.create_context(SLUG, name="Benchmark")._number
        language = Language()
        for first in range(0, SIZES[scale], 5_000):
            _add(kb, ctx, language, first, min(5_000, SIZES[scale] - first))
        with kb._store.write(timeout=3_600) as session:
            session.execute("UPDATE context SET live_version = 1, curated_at = updated_at WHERE id = ?", (ctx,))
    fresh.rename(path)
    return path


def _add(kb: KnowledgeBase, ctx: int, language: Language, first: int, number: int) -> None:
    import numpy

    model = kb.meaning.model or ""
    source = numpy.random.default_rng(first)
    with kb._store.write(timeout=3_600) as session:
        chunks.create_index(session, ctx)
        rows, entries, vectors = [], [], []
        for place in range(first, first + number):
            if place % CHUNKS_OF_A_DOCUMENT == 0:
                session.execute(
                    "INSERT INTO document(ctx, path, live, source_hash, recipe, title, hash, chars, outline)"
                    " VALUES (?, ?, 1, '', '', ?, '', 0, jsonb('[]'))",
                    (ctx, f"notes/{place}.md", language.text(3)),
                )
            document = session.connection.last_insert_rowid() if place % CHUNKS_OF_A_DOCUMENT == 0 else rows[-1][1]
            text, heading = language.text(WORDS_OF_A_CHUNK), language.text(2)
            key = f"chk_{place:026x}"
            place_json = json.dumps({"sections": [[heading]], "pages": []})
            rows.append((ctx, document, place, key, len(text), place_json, text))
            entries.append((place + 1, *chunk_texts("", "", [[heading]], text)))
            vector = source.standard_normal(512)
            vectors.append(stored.NewVector(key, 0, "", (vector / numpy.linalg.norm(vector)).astype("<f2").tobytes()))
        session.connection.executemany(
            "INSERT INTO chunk(id, ctx, document, position, live, key, start, stop, first_line, last_line, place, text)"
            " VALUES (?3 + 1, ?1, ?2, ?3, 1, ?4, 0, ?5, 1, 1, jsonb(?6), ?7)",
            rows,
        )
        chunks.add_chunks(session, ctx, entries)
        stored.put(session, stored.Set(ctx, "chunk", model), vectors)


# --- a turn beside a raw query --------------------------------------------------------------------


def run_turns(path: Path, seconds: float) -> list[Figure]:
    """Each form of question: both raw queries, retrieval and turn, one after the other."""
    figures = []
    with trivium.open(str(path), embedder="builtin") as kb:
        context = kb.context(SLUG)
        ctx = context._number
        retriever = Retriever(kb._store, kb.meaning)
        scope = [ScopedContext(ctx, SLUG)]
        language = Language(seed=2)
        session = kb._store.checkout(3_600)
        try:
            for form, asked in zip(FORMS, questions(language, 5), strict=True):
                raw = {
                    "all words": [partial(_raw, session, ctx, re.findall(r"\w+", text)) for text in asked],
                    "telling words": [partial(_raw, session, ctx, question(text).words) for text in asked],
                }
                ours = {
                    "turn": [partial(_turn, context, text) for text in asked],
                    "retrieval alone": [partial(retriever.retrieve, scope, text) for text in asked],
                }
                for side, hand in raw.items():
                    for name, own in ours.items():
                        pairs = list(zip(hand, own, strict=True))
                        timing = interleave(pairs, rounds_for(pairs, seconds / 4))
                        label = f"{name} / {side}: {form.replace('{}', '…')}"[:66]
                        ratio = timing.ours / timing.hand
                        goal = TURN_GOAL if side == "all words" else None
                        figures.append(Figure(label, timing.hand / 1000, timing.ours / 1000, "ms", ratio, goal))
                        figures[-1].show()
        finally:
            kb._store.checkin(session)
    for side in ("all words", "telling words"):
        for name in ("turn", "retrieval alone"):
            some = [figure for figure in figures if figure.name.startswith(f"{name} / {side}:")]
            base, own_time = (median(getattr(figure, part) for figure in some) for part in ("base", "ours"))
            ratio = sum(figure.ours for figure in some) / sum(figure.base for figure in some)
            goal = TURN_GOAL if side == "all words" else None
            figures.append(Figure(f"{name} / {side}, all questions", base, own_time, "ms", ratio, goal))
            figures[-1].show()
    return figures


def _raw(session: Any, ctx: int, words: list[str]) -> list[Any]:
    match = " OR ".join(f'"{word}"' for word in words)
    table = f"chunk_text_{ctx}"
    return session.rows(
        f"SELECT rowid, bm25({table}) FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT 20", (match,)
    )


def _turn(context: Any, text: str) -> dict[str, Any]:
    document: dict[str, Any] = context.ask(text, retrieval_only=True)
    if document["status"] != "completed" or not document["output_json"]["counts"]["chunks"]:
        raise RuntimeError(f"the turn found nothing: {document['error']}")
    return document


# --- curate beside reading ------------------------------------------------------------------------


def run_curate(folder: Path, scale: str, rounds: int) -> list[Figure]:
    """MB of Markdown a second: curate, and reading and hashing the same files."""
    files = _files(folder / f"ask-files-{scale}", FILES[scale])
    size = sum(path.stat().st_size for path in files.rglob("*.md")) / MIB
    floor, ours = [], []
    for number in range(rounds):
        floor.append(_cpu_of(partial(_read_and_hash, files)))
        ours.append(_cpu_of(partial(_curate, folder / f"curate-{number}.db", files)))
    base, own = size / median(floor), size / median(ours)
    figures = [Figure("curate / reading and hashing (CPU)", base, own, "MB/s", base / own)]
    figures[-1].show()
    return figures


def _files(folder: Path, number: int) -> Path:
    language = Language(seed=3)
    folder.mkdir(parents=True, exist_ok=True)
    for place in range(number):
        path = folder / f"{place:04}.md"
        if not path.exists():
            sections = [f"## {language.text(3)}\n\n{language.text(250)}" for _ in range(10)]
            path.write_text(f"# {language.text(3)}\n\n" + "\n\n".join(sections) + "\n")
    return folder


def _read_and_hash(folder: Path) -> None:
    for path in sorted(folder.rglob("*.md")):
        hashlib.sha256(path.read_bytes()).hexdigest()


def _curate(database: Path, folder: Path) -> None:
    for path in _with_log(database):
        path.unlink(missing_ok=True)
    with trivium.open(str(database), embedder="none") as kb:
        context = kb.create_context(SLUG, name="Benchmark")
        context.add([folder])
        report = context.curate()
        if not report["chunks"]:
            raise RuntimeError("curate made no chunk")
    for path in _with_log(database):
        path.unlink(missing_ok=True)


def _with_log(database: Path) -> Iterator[Path]:
    yield from (database, database.with_name(database.name + "-wal"), database.with_name(database.name + "-shm"))


def _cpu_of(call: Any) -> float:
    """CPU seconds of this process and its children: other work on the machine disturbs them least."""
    with no_collection():
        start = _cpu()
        call()
        return max(_cpu() - start, 1e-6)


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(arguments: list[str] | None = None) -> int:
    options = options_of(arguments)
    start = perf_counter()
    print(f"{'':67}{'base':>9}{'ours':>9} {'':5}{'ratio':>7}  {'':5}goal")
    figures: list[Figure] = []
    try:
        if options.part in (None, "turn"):
            figures += run_turns(store_of(options.dir, options.scale), options.seconds)
        if options.part in (None, "curate"):
            figures += run_curate(options.dir, options.scale, options.rounds)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=2))
    print(f"{perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
