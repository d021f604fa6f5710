"""Measure search on the labelled sets in tests/data/probes, and state the figures in docs/search-quality.md.

    python -m scripts.search_quality                  print the tables of all sets
    python -m scripts.search_quality --set first      of one set alone
    python -m scripts.search_quality --write          renew the tables in the page

The other sets may be looked at while something is chosen. The one called `untouched` is for the judgement on what was
chosen, and for nothing before.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import trivium
from scripts.labelled import (
    SETS,
    Json,
    concepts_as_pieces,
    evidence_questions,
    pieces_of,
    probes,
    read,
    type_of,
)
from scripts.question_map import fit_without
from scripts.remembering import RememberingEmbedder
from trivium import KnowledgeBase
from trivium.search.meaning import Asked
from trivium.search.passage_text import chunk_texts
from trivium.search.retrieval import Retriever, ScopedContext
from trivium.store import chunks
from trivium.store.sqlite import Session

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "search-quality.md"
FAR = 10**9
"""The rank of what was not found."""

# --- the two stores -------------------------------------------------------------------------------


def concept_base(set_: str, **settings: Any) -> KnowledgeBase:
    """A store in memory with the concepts of a set in its context `default`."""
    kb = trivium.open(":memory:", **settings)
    concepts = read(set_, "concepts.jsonl")
    for label in sorted({concept["type"] for concept in concepts}):
        _upsert(kb, "$ConceptType", type_of(label), {"description": f"A {label.lower()}."})
    for concept in concepts:
        attributes = {key: concept[key] for key in ("aliases", "description") if key in concept}
        _upsert(kb, type_of(concept["type"]), concept["name"], attributes)
    return kb


def _upsert(kb: KnowledgeBase, kind: str, name: str, attributes: Json) -> None:
    command = "UPSERT { CONCEPT ?c { {type: :type, name: :name} SET ATTRIBUTES :attributes } }"
    parameters = {"type": kind, "name": name, "attributes": attributes}
    response = kb.execute_kip({"command": command, "parameters": parameters})
    if "error" in response:
        raise RuntimeError(response["error"]["message"])


def passage_base(set_: str, **settings: Any) -> KnowledgeBase:
    """A store in memory with two contexts: `passages` (all corpora together), `concepts` (each concept a passage)."""
    kb = trivium.open(":memory:", **settings)
    _fill(kb, "passages", pieces_of(set_))
    _fill(kb, "concepts", concepts_as_pieces(set_))
    return kb


def _fill(kb: KnowledgeBase, slug: str, pieces: list[Json]) -> None:
    """Put passages into a new context, as a curate would; the key of a chunk is its id in the data."""
    ctx = kb.create_context(slug, name=slug)._number
    with kb._store.write() as session:
        chunks.create_index(session, ctx)
        documents: dict[str, int] = {}
        for position, piece in enumerate(pieces):
            document = documents.get(piece["path"]) or _document(session, ctx, piece)
            documents[piece["path"]] = document
            sections = [[heading] for heading in piece["sections"]]
            place = json.dumps({"sections": sections, "pages": []})
            session.execute(
                "INSERT INTO chunk(ctx, document, position, live, key, start, stop, first_line, last_line, place, text)"
                " VALUES (?, ?, ?, 1, ?, 0, ?, 1, 1, jsonb(?), ?)",
                (ctx, document, position, piece["id"], len(piece["text"]), place, piece["text"]),
            )
            number = session.connection.last_insert_rowid()
            texts = chunk_texts(piece["path"], piece["title"], sections, piece["text"])
            chunks.add_chunks(session, ctx, [(number, *texts)])
        session.execute("UPDATE context SET live_version = 1, curated_at = updated_at WHERE id = ?", (ctx,))
    kb._store.moment += 1


def _document(session: Session, ctx: int, piece: Json) -> int:
    session.execute(
        "INSERT INTO document(ctx, path, live, source_hash, recipe, title, hash, chars, outline)"
        " VALUES (?, ?, 1, '', '', ?, '', 0, jsonb('[]'))",
        (ctx, piece["path"], piece["title"]),
    )
    return session.connection.last_insert_rowid()


# --- ways to search -------------------------------------------------------------------------------

Search = Callable[[str], list[str]]
"""A question to the ids that were found, best first."""


def by_kip(kb: KnowledgeBase, mode: str) -> Search:
    """SEARCH CONCEPT in a mode; names of concepts."""

    def run(query: str) -> list[str]:
        command = f'SEARCH CONCEPT :term MODE "{mode}" LIMIT 100'
        hits = kb.execute_kip({"command": command, "parameters": {"term": query}})["result"]
        return [f"{hit['type']}: {hit['name']}" for hit in hits]

    return run


def by_retrieval(kb: KnowledgeBase, slug: str, mode: str) -> Search:
    """Retrieval over a context; keys of chunks."""
    scope = [ScopedContext(kb.context(slug)._number, slug)]
    retriever = Retriever(kb._store, kb.meaning)

    def run(query: str) -> list[str]:
        return [passage.id for passage in retriever.retrieve(scope, query, limit=100, mode=mode).passages]

    return run


def by_meaning_alone(kb: KnowledgeBase, slug: str, *, moved: bool) -> Search:
    """The nearest vectors, without any word; keys of chunks. `moved`: the question's vector as hybrid uses it."""
    ctx = kb.context(slug)._number

    def run(query: str) -> list[str]:
        asked = kb.meaning.ask([(ctx, "chunk")], [query])
        if asked is None:
            raise RuntimeError("there are no vectors")
        if not moved:
            asked = Asked(asked.info, RememberingEmbedder().embed([query]), asked.matrices)
        with kb._store.read() as session:
            near = asked.view(session, ctx, "chunk").nearest(100)
            rows = chunks.chunks(session, ctx, [hit.id for hit in near])
        return [rows[hit.id].key for hit in near if hit.cosine > asked.info.floor]

    return run


def plain_bm25(pieces: list[Json]) -> Search:
    """What SQLite's full-text search gives out of the box: FTS5 with `unicode61`, any word, ranked by bm25."""
    import apsw

    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE piece USING fts5(heading, body)")
    for piece in pieces:
        heading = " ".join([piece["path"], piece["title"], *piece["sections"]])
        database.execute("INSERT INTO piece VALUES (?, ?)", (heading, piece["text"]))

    def run(query: str) -> list[str]:
        words = re.findall(r"\w+", query)
        match = " OR ".join(f'"{word}"' for word in words)
        rows = database.execute("SELECT rowid FROM piece WHERE piece MATCH ? ORDER BY rank, rowid LIMIT 100", (match,))
        return [pieces[row[0] - 1]["id"] for row in rows]

    return run


# --- figures --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """Of the questions of a class: recall among ten and the reciprocal rank of each, and how many have it first."""

    recalls: tuple[float, ...]
    reciprocals: tuple[float, ...]

    @property
    def number(self) -> int:
        return len(self.recalls)

    @property
    def first(self) -> float:
        return fmean(reciprocal == 1 for reciprocal in self.reciprocals)

    @property
    def recall(self) -> float:
        return fmean(self.recalls)

    @property
    def mrr(self) -> float:
        return fmean(self.reciprocals)

    def at_least(self, other: Figures) -> bool:
        """Whether neither recall nor the reciprocal rank is lower."""
        return self.recall >= other.recall - 1e-9 and self.mrr >= other.mrr - 1e-9

    def surely_behind(self, other: Figures) -> bool:
        """Whether one of the two is lower by more than 1.96 standard errors of the paired difference."""
        pairs = ((self.recalls, other.recalls), (self.reciprocals, other.reciprocals))
        return any(_surely_negative([a - b for a, b in zip(*pair, strict=True)]) for pair in pairs)


def _surely_negative(differences: list[float]) -> bool:
    return fmean(differences) + 1.96 * stdev(differences) / len(differences) ** 0.5 < 0


def judge(search: Search, questions: Iterable[Json]) -> Figures:
    """Several relevant ids: recall is the share of them among ten, the rank is that of the first."""
    ranks: list[list[int]] = []
    for question in questions:
        places = {found: place for place, found in reversed(list(enumerate(search(question["query"]), 1)))}
        ranks.append([places.get(relevant, FAR) for relevant in question["relevant"]])
    return Figures(
        tuple(fmean(place <= 10 for place in places) for places in ranks),
        tuple(1 / min(places) for places in ranks),
    )


Table = dict[str, dict[str, Figures]]
"""Class of question to way of searching to figures."""


def compare(ways: dict[str, Search], questions: Sequence[Json]) -> Table:
    """Every way on every class."""
    classes = list(dict.fromkeys(question["class"] for question in questions))
    return {
        class_: {name: judge(way, [q for q in questions if q["class"] == class_]) for name, way in ways.items()}
        for class_ in classes
    }


Tables = dict[str, dict[str, Table]]
"""Set to name of the table to table."""


def pooled(tables: Tables, name: str, class_: str) -> dict[str, Figures]:
    """The figures of a class over the questions of all sets that have it."""
    found = [named[name][class_] for named in tables.values() if class_ in named.get(name, {})]
    return {
        way: Figures(
            tuple(recall for figures in found for recall in figures[way].recalls),
            tuple(reciprocal for figures in found for reciprocal in figures[way].reciprocals),
        )
        for way in found[0]
    }


def all_tables(sets: Sequence[str] = SETS) -> Tables:
    """The tables of some sets, measured now."""
    return {set_: _tables(set_) for set_ in sets}


def _tables(set_: str) -> dict[str, Table]:
    embedder = RememberingEmbedder(fit_without(set_))
    with concept_base(set_, embedder=embedder) as concepts, passage_base(set_, embedder=embedder) as passages:
        concepts.embed_pending()
        passages.embed_pending()
        search = {mode: by_kip(concepts, mode) for mode in ("keyword", "semantic", "hybrid")}
        tables = {
            "SEARCH CONCEPT": compare(search, probes(set_)),
            "Retrieval of the same as passages": compare(
                _ways(passages, "concepts", concepts_as_pieces(set_)), probes(set_)
            ),
            "Questions with labelled evidence": compare(
                _ways(passages, "passages", pieces_of(set_)), evidence_questions(set_)
            ),
        }
        return {name: table for name, table in tables.items() if table}


def _ways(kb: KnowledgeBase, slug: str, pieces: list[Json]) -> dict[str, Search]:
    return {
        "plain BM25": plain_bm25(pieces),
        "keyword": by_retrieval(kb, slug, "keyword"),
        "vectors": by_meaning_alone(kb, slug, moved=False),
        "moved vectors": by_meaning_alone(kb, slug, moved=True),
        "hybrid": by_retrieval(kb, slug, "hybrid"),
    }


# --- the page -------------------------------------------------------------------------------------


def render(table: Table) -> str:
    """A table in Markdown: recall among ten and mean reciprocal rank of each way."""
    ways = list(next(iter(table.values())))
    lines = ["| class | n |" + "".join(f" {way} |" for way in ways), "| --- | ---: |" + " ---: |" * len(ways)]
    for class_, figures in table.items():
        number = next(iter(figures.values())).number
        cells = "".join(f" {figures[way].recall:.3f} / {figures[way].mrr:.3f} |" for way in ways)
        lines.append(f"| {class_} | {number} |{cells}")
    return "\n".join(lines)


def page_text(tables: Tables, old: str) -> str:
    """The page with its generated part renewed: the untouched set, then all sets together, then the others."""
    names = list(tables[SETS[0]])
    together = {name: {class_: pooled(tables, name, class_) for class_ in tables[SETS[0]][name]} for name in names}
    parts = [
        f"### {name}, {title}\n\n{render(table)}"
        for title, named in [
            ("untouched set", tables["untouched"]),
            ("all sets together", together),
            *((f"{set_} set", tables[set_]) for set_ in SETS if set_ != "untouched"),
        ]
        for name, table in named.items()
    ]
    begin, end = "<!-- figures -->", "<!-- end of figures -->"
    body = "\n\n".join(parts)
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{body}\n\n{end}", old, flags=re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.search_quality", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew docs/search-quality.md")
    parser.add_argument("--set", choices=SETS, help="measure this set alone")
    options = parser.parse_args(arguments)
    tables = all_tables(SETS if options.set is None else (options.set,))
    if options.write:
        PAGE.write_text(page_text(tables, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    for set_, named in tables.items():
        for name, table in named.items():
            print(f"{name}, {set_} set (recall@10 / MRR)\n{render(table)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
