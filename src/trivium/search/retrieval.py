"""Retrieval: from a question to the passages of up to ten contexts that may hold its answer.

Keyword search over each context's own index, meaning where there are vectors, one score of both for each passage
(`trivium.search.hybrid`). No language model takes part. `Retriever` opens its own short read of the store, after the
question has been turned into a vector, so that no transaction is open while an embedder is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from trivium.search.connections import asks_for_connections
from trivium.search.leg import Found, Leg
from trivium.search.meaning import Asked, Meaning
from trivium.search.passage import ARTIFACT, CHUNK, Evidence, Passage
from trivium.search.question import Question, question
from trivium.search.segment import fold
from trivium.store import chunks, contexts
from trivium.store.sqlite import Session, SqliteStore

MOST_WORDINGS = 8
LEAST = 150
"""Candidates that each side proposes at least."""
NEIGHBOUR = 0.6
"""What a neighbour of a hit scores beside the hit."""
HELD, NOT_HELD = 0.9, 0.89
"""What a passage scores at least that holds the codes of a question, and what the others are multiplied by then."""
EXACT, NOT_EXACT = 0.95, 0.94
"""What a passage scores at least whose heading, title or name is the question, and what the others are multiplied by
then."""
FOR_A_FACT = 0.85
"""What an artifact's score is multiplied by for a question that is about a fact: passages are nearer to the source."""
READ = 800
"""Hits of a leg that are read at least, so that the same ones are weighed whatever the limit."""
FROM_ARTIFACT = 0.1
"""By how much of the room above its score a chunk rises whose document an artifact that was found is built from."""


class ScopedContext(Struct, frozen=True):
    """One context of a scope: its number in the store and its slug."""

    ctx: int
    slug: str


class Retriever:
    """Searches chunks and artifacts of an open store."""

    def __init__(self, store: SqliteStore, meaning: Meaning | None = None) -> None:
        self._store = store
        self._meaning = meaning
        self._sizes: Sizes = {}

    def retrieve(
        self,
        scope: Sequence[ScopedContext],
        ask: str,
        *,
        kind: str = "both",
        limit: int = 20,
        mode: str = "hybrid",
        expand: int = 0,
        variants: Sequence[str] = (),
    ) -> Evidence:
        """The best passages for a question, best first; the same ones in the same order for the same live versions.

        `kind` is both, chunks or artifacts; `mode` is hybrid or keyword (hybrid without vectors is keyword); `expand`
        adds that many neighbours on each side of a chunk; `variants` are other wordings, of which the best counts.
        No hits give an empty Evidence.
        """
        wordings = list(dict.fromkeys([ask, *variants]))[:MOST_WORDINGS]
        asked = None
        if self._meaning is not None and mode != "keyword":
            places = [(context.ctx, kind_) for context in scope for kind_ in _kinds(kind)]
            asked = self._meaning.ask(places, wordings)
        with self._store.read() as session:
            return search(
                session, scope, wordings, kind=kind, limit=limit, asked=asked, expand=expand, sizes=self._sizes
            )


Sizes = dict[tuple[int, str], tuple[int, int]]
"""For a context and kind the live version and the number of rows of the index then: counting them takes time."""


def search(
    session: Session,
    scope: Sequence[ScopedContext],
    wordings: Sequence[str],
    *,
    kind: str = "both",
    limit: int = 20,
    asked: Asked | None = None,
    expand: int = 0,
    sizes: Sizes | None = None,
) -> Evidence:
    """`Retriever.retrieve` inside a transaction, with the wordings as vectors already (or None: by keyword alone)."""
    questions = [question(wording) for wording in wordings]
    found: list[tuple[ScopedContext, str, Found]] = []
    for context in scope:
        if chunks.has_index(session, context.ctx):
            for kind_ in _kinds(kind):
                leg = _leg(session, context.ctx, kind_, {} if sizes is None else sizes)
                found += [(context, kind_, hit) for hit in _live(session, leg, questions, limit, asked)]
    passages = _names_first(_passages(session, _codes_first(found)), wordings)
    if kind == "both":
        passages = (_artifacts_first if asks_for_connections(wordings[0]) else _chunks_first)(passages)
    passages.sort(key=_order)
    passages = passages[:limit]
    if expand:
        passages = _with_neighbours(session, passages, expand)
    return Evidence(
        passages=passages,
        query_variants=list(wordings),
        keyword_query=" ".join(questions[0].telling or questions[0].words) or None,
        matched_artifacts=[passage.name for passage in passages if passage.kind == ARTIFACT],
        entry_level=_entry_level(passages),
        expand_window=expand,
        total_hits=len(found),
    )


def _leg(session: Session, ctx: int, kind: str, sizes: Sizes) -> Leg:
    version = contexts.live_version(session, ctx)
    known = sizes.get((ctx, kind))
    leg = Leg(session, ctx, kind, known[1] if known is not None and known[0] == version else None)
    sizes[ctx, kind] = (version, leg.size)
    return leg


def _live(session: Session, leg: Leg, questions: list[Question], limit: int, asked: Asked | None) -> list[Found]:
    """The best live hits, and those that score as the last of them: which of them count is decided by their names.

    More are read when many turn out to be of documents that have been deleted.
    """
    number = max(READ, 4 * limit)
    while True:
        hits = leg.find(questions, number, asked)
        live: list[Found] = []
        for start in range(0, len(hits), limit):
            some = hits[start : start + limit]
            if len(live) >= limit and some[0].score < live[limit - 1].score:
                break
            alive = chunks.live(session, leg.ctx, leg.reach, [hit.id for hit in some])
            live += [hit for hit in some if hit.id in alive]
        if len(live) >= limit:
            return [hit for hit in live if hit.score >= live[limit - 1].score]
        if len(hits) < number or number > leg.size:
            return live
        number *= 4


def _codes_first(found: list[tuple[ScopedContext, str, Found]]) -> list[tuple[ScopedContext, str, Found]]:
    """Where a code of the question is met anywhere, what holds it stands before what only resembles the question."""
    if not any(hit.held for _, _, hit in found):
        return found
    return [(context, kind, structs.replace(hit, score=round(_tiered(hit), 6))) for context, kind, hit in found]


def _tiered(hit: Found) -> float:
    return HELD + (1 - HELD) * hit.score if hit.held else NOT_HELD * hit.score


def _kinds(kind: str) -> tuple[str, ...]:
    return {"chunks": (CHUNK,), "artifacts": (ARTIFACT,)}.get(kind, (CHUNK, ARTIFACT))


def _order(passage: Passage) -> tuple[float, str, str]:
    return -passage.score, passage.id, passage.context


def _entry_level(passages: list[Passage]) -> str | None:
    """Where the search entered the knowledge: at what came first (KnowQL reference 9.2)."""
    if not passages:
        return None
    return "artifacts" if passages[0].kind == ARTIFACT else "chunks"


def _chunks_first(passages: list[Passage]) -> list[Passage]:
    """For a question about a fact."""
    return [
        structs.replace(passage, score=round(FOR_A_FACT * passage.score, 6)) if passage.kind == ARTIFACT else passage
        for passage in passages
    ]


def _artifacts_first(passages: list[Passage]) -> list[Passage]:
    """For a question about connections: artifacts before chunks, then the chunks that the artifacts are built from."""
    sources = {(p.context, source) for p in passages if p.kind == ARTIFACT for source in p.sources}
    ranked = []
    for passage in passages:
        score = passage.score
        if passage.kind == ARTIFACT:
            score = 0.5 + score / 2
        else:
            if (passage.context, passage.source) in sources:
                score += FROM_ARTIFACT * (1 - score)
            score /= 2
        ranked.append(structs.replace(passage, score=round(score, 6)))
    return ranked


def _with_neighbours(session: Session, passages: list[Passage], width: int) -> list[Passage]:
    """The passages with the chunks around them, each once, with the best score that it comes by."""
    known = {(passage.ctx, passage.kind, passage.id): passage for passage in passages}
    for passage in passages:
        if passage.kind != CHUNK:
            continue
        ids = chunks.chunk_ids(session, passage.ctx, [passage.id])
        row = chunks.chunks(session, passage.ctx, ids.values()).get(ids.get(passage.id, 0))
        for other in chunks.neighbours(session, passage.ctx, row, width) if row is not None else ():
            key = (passage.ctx, CHUNK, other.key)
            score = round(NEIGHBOUR * passage.score, 6)
            if key not in known or known[key].score < score:
                known[key] = chunk_passage(ScopedContext(passage.ctx, passage.context), other, score)
    return sorted(known.values(), key=_order)


def _names_first(passages: list[Passage], wordings: Sequence[str]) -> list[Passage]:
    """A question that is the very name of something is about that, whatever else resembles it."""
    names = {_name(wording) for wording in wordings}
    named = [not names.isdisjoint(map(_name, _names(passage))) for passage in passages]
    if not any(named):
        return passages
    return [
        structs.replace(
            passage, score=round(EXACT + (1 - EXACT) * passage.score if is_it else NOT_EXACT * passage.score, 6)
        )
        for passage, is_it in zip(passages, named, strict=True)
    ]


def _names(passage: Passage) -> list[str]:
    """What a passage may be called: an artifact's name, the innermost headings of a chunk, or its document's title."""
    if passage.kind == ARTIFACT:
        return [passage.name]
    return [path[-1] for path in passage.section_paths if path] or [passage.title]


def _name(text: str) -> str:
    return " ".join(fold(text).split())


def _passages(session: Session, found: list[tuple[ScopedContext, str, Found]]) -> list[Passage]:
    """The hits with what is stored of them."""
    by_place: dict[tuple[ScopedContext, str], dict[int, float]] = {}
    for context, kind, hit in found:
        by_place.setdefault((context, kind), {})[hit.id] = hit.score
    passages: list[Passage] = []
    for (context, kind), scores in by_place.items():
        if kind == CHUNK:
            rows = chunks.chunks(session, context.ctx, scores)
            passages += [chunk_passage(context, row, scores[id_]) for id_, row in rows.items()]
        else:
            artifacts = chunks.artifacts(session, context.ctx, scores)
            passages += [artifact_passage(context, row, scores[id_]) for id_, row in artifacts.items()]
    return passages


def chunk_passage(context: ScopedContext, row: chunks.ChunkRow, score: float) -> Passage:
    """A stored chunk as a passage."""
    return Passage(
        id=row.key,
        kind=CHUNK,
        context=context.slug,
        ctx=context.ctx,
        source=row.path,
        text=row.text,
        score=score,
        section_paths=row.place.get("sections") or [],
        pages=row.place.get("pages") or [],
        first_line=row.first_line,
        last_line=row.last_line,
        start=row.start,
        table_header=row.place.get("header") or "",
        dated=row.dated,
        title=row.title,
    )


def artifact_passage(context: ScopedContext, row: chunks.ArtifactRow, score: float) -> Passage:
    """A stored artifact as a passage."""
    return Passage(
        id=row.key,
        kind=ARTIFACT,
        context=context.slug,
        ctx=context.ctx,
        source="",
        text=row.text,
        score=score,
        name=row.name,
        type=row.type,
        artifact_kind=row.kind,
        scope=row.scope,
        format=row.format,
        sources=row.sources,
        edges=row.edges,
    )
