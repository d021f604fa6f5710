"""A seeded graph with the skew of real memories, written straight into the tables of a store.

30 types and 40 predicates of Zipf sizes, hubs of several thousand links, a hierarchy, domains, and 5 % of links that
speak about links. The same scale gives the same file, so built files are kept and used again.
"""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trivium
from trivium.search.index import index_texts
from trivium.settings import Settings
from trivium.store import schema
from trivium.store.codec import encode
from trivium.store.sqlite import Session, SqliteStore

SEED = 20260801
REVISION = 1
"""Raise it when the generator changes: kept files are then built anew."""

CTX = 1
NOW = "2026-08-01T09:00:00.000Z"

TYPES = (
    "Document", "Person", "Event", "Drug", "Symptom", "Company", "City", "Project", "Paper", "Gene", "Recipe", "Tool",
    "Meeting", "Task", "Insight", "Device", "Course", "Book", "Film", "Song", "Team", "Product", "Contract", "Invoice",
    "Ticket", "Server", "Release", "Law", "Species", "Theory",
)  # fmt: skip
HIERARCHY, DOMAIN = "part_of", "belongs_to_domain"
ABOUT_LINKS = ("states", "doubts", "supports")
GENERAL = (
    "mentions", "knows", "works_for", "treats", "cites", "follows", "likes", "located_in", "uses", "causes", "owns",
    "attends", "leads", "funds", "replaces", "requires", "precedes", "reviews", "teaches", "sells", "builds", "plans",
    "hosts", "blocks", "tests", "describes", "inherits_from", "competes_with", "advises", "translates", "measures",
    "supplies", "observes", "governs", "resembles",
)  # fmt: skip
PREDICATES = (HIERARCHY, DOMAIN, *ABOUT_LINKS, *GENERAL)
DOMAINS = tuple(f"Field{number:02d}" for number in range(20))

WORDS = (
    "amber", "river", "stone", "quiet", "engine", "signal", "garden", "copper", "winter", "orbit", "ledger", "harbor",
    "meadow", "cipher", "lantern", "vector", "canyon", "velvet", "thunder", "paper", "island", "mirror", "falcon",
    "cedar", "prism", "anchor", "ribbon", "glacier", "ember", "compass", "saffron", "tunnel", "beacon", "willow",
    "marble", "current", "pepper", "silver", "bridge", "castle",
)  # fmt: skip
STATUSES = ("active", "open", "closed", "archived", "draft")
SOURCES = ("chat", "crawler", "import", "sensor", "review")


@dataclass(slots=True, frozen=True)
class Scale:
    """How many elements a graph has, beside those of the standard capsules."""

    name: str
    concepts: int
    links: int


SCALES = {"small": Scale("small", 5_000, 25_000), "full": Scale("full", 100_000, 500_000)}

Row = tuple[Any, ...]


def graph_file(folder: Path, scale: Scale) -> Path:
    """The file of a scale, built when it is not there yet."""
    path = folder / f"graph-{scale.name}-{schema.VERSION}-{REVISION}.db"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        build(unfinished, scale)
        unfinished.rename(path)
    return path


def build(path: Path, scale: Scale) -> None:
    """Write a new file. RuntimeError if the store then finds itself in disorder."""
    with trivium.open(str(path), clock=lambda: NOW) as knowledge_base:
        register(knowledge_base)
    store = SqliteStore(str(path), Settings())
    try:
        Writer(store).write(scale)
        store.checkout().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        store.close()
    with trivium.open(str(path)) as knowledge_base:
        report = knowledge_base.doctor()
    if not report["ok"]:
        raise RuntimeError(f"the built graph is not sound: {report['checks']}")


def register(knowledge_base: trivium.KnowledgeBase) -> None:
    """Register the types and predicates of the graph."""
    blocks = [f'CONCEPT {{ {{type: "$ConceptType", name: "{name}"}} }}' for name in TYPES]
    blocks += [f'CONCEPT {{ {{type: "$PropositionType", name: "{name}"}} }}' for name in PREDICATES]
    response = knowledge_base.execute_kip({"command": "UPSERT {\n" + "\n".join(blocks) + "\n}"})
    if "error" in response:
        raise RuntimeError(f"the schema of the graph was refused: {response['error']}")


# --- contents -------------------------------------------------------------------------------------


def zipf(count: int, exponent: float) -> list[float]:
    """Cumulative weights of ranks 1 to `count`."""
    return list(itertools.accumulate(rank**-exponent for rank in range(1, count + 1)))


def phrase(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def moment(rng: random.Random) -> str:
    return f"20{rng.randint(20, 25)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}T{rng.randint(0, 23):02d}:30:00Z"


def attributes_of(rng: random.Random, number: int) -> dict[str, Any]:
    """Eight keys; one node in twenty has no score."""
    found: dict[str, Any] = {
        "summary": phrase(rng, 12),
        "status": rng.choice(STATUSES),
        "count": rng.randint(0, 1_000),
        "started_at": moment(rng),
        "active": rng.random() < 0.7,
        "tags": rng.sample(WORDS, 3),
        "aliases": [f"{rng.choice(WORDS)}-{number}"],
    }
    if number % 20:
        found["score"] = round(rng.random(), 6)
    return found


def metadata_of(rng: random.Random) -> dict[str, Any]:
    """Six to eight keys."""
    found: dict[str, Any] = {
        "source": rng.choice(SOURCES),
        "author": f"agent-{rng.randint(1, 9)}",
        "confidence": round(rng.random(), 6),
        "status": "active",
        "created_at": moment(rng),
        "observed_at": moment(rng),
    }
    if rng.random() < 0.5:
        found["evidence"] = [phrase(rng, 3)]
    if rng.random() < 0.3:
        found["relevance"] = rng.randint(1, 5)
    return found


class Writer:
    """Fills a store in large transactions, with everything the engine keeps beside the rows."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._rng = random.Random(SEED)
        self._counts: Counter[tuple[str, str]] = Counter()
        with store.read() as session:
            self._concept = int(session.value("SELECT next FROM sequence WHERE kind = 'concept'"))
            self._link = int(session.value("SELECT next FROM sequence WHERE kind = 'link'"))

    def write(self, scale: Scale) -> None:
        domains = self._concepts([("Domain", name) for name in DOMAINS])
        nodes = self._concepts(self._names(scale.concepts))
        triples = list(self._triples(nodes, domains, scale.links - scale.links // 20))
        links = self._links(triples)
        self._links(self._statements(nodes, links, scale.links // 20))
        self._finish()

    # --- concepts ---------------------------------------------------------------------------------

    def _names(self, count: int) -> list[tuple[str, str]]:
        types = self._rng.choices(TYPES, cum_weights=zipf(len(TYPES), 0.7), k=count)
        return [(type_, f"{self._rng.choice(WORDS)} {type_} {number}") for number, type_ in enumerate(types)]

    def _concepts(self, names: Sequence[tuple[str, str]]) -> list[int]:
        ids: list[int] = []
        for batch in batches(names, 5_000):
            rows, texts = [], []
            for type_, name in batch:
                element_id = self._concept << 1
                attributes = attributes_of(self._rng, self._concept)
                rows.append(concept_row(element_id, type_, name, attributes, metadata_of(self._rng)))
                texts.append((element_id, f"c{CTX}", *index_texts(name, attributes)))
                self._counts["t", type_] += 1
                self._concept += 1
                ids.append(element_id)
            with self._store.write(timeout=3_600) as session:
                insert_concepts(session, rows, texts)
        return ids

    # --- links ------------------------------------------------------------------------------------

    def _triples(self, nodes: list[int], domains: list[int], count: int) -> Iterator[tuple[int, str, int]]:
        """Memberships, the hierarchy, and links whose ends and predicates are drawn by Zipf."""
        rng = self._rng
        tree = rng.sample(nodes, len(nodes) * 3 // 10)
        seen = {(tree[place], HIERARCHY, tree[(place - 1) // 6]) for place in range(1, len(tree))}
        members = rng.sample(nodes, len(nodes) * 4 // 10)
        chosen = rng.choices(domains, cum_weights=zipf(len(domains), 0.8), k=len(members))
        seen.update((member, DOMAIN, domain) for member, domain in zip(members, chosen, strict=True))
        yield from sorted(seen)
        yield from self._general(nodes, count - len(seen))

    def _general(self, nodes: list[int], count: int) -> Iterator[tuple[int, str, int]]:
        rng = self._rng
        subjects, objects = rng.sample(nodes, len(nodes)), rng.sample(nodes, len(nodes))
        by_subject, by_object = zipf(len(nodes), 0.6), zipf(len(nodes), 0.8)
        by_predicate = zipf(len(GENERAL), 0.9)
        seen: set[tuple[int, str, int]] = set()
        while len(seen) < count:
            size = min(20_000, count - len(seen))
            drawn = zip(
                rng.choices(subjects, cum_weights=by_subject, k=size),
                rng.choices(GENERAL, cum_weights=by_predicate, k=size),
                rng.choices(objects, cum_weights=by_object, k=size),
                strict=True,
            )
            for triple in drawn:
                if triple[0] != triple[2] and triple not in seen:
                    seen.add(triple)
                    yield triple

    def _statements(self, nodes: list[int], links: list[int], count: int) -> list[tuple[int, str, int]]:
        """Links about links."""
        rng = self._rng
        found: dict[tuple[int, str, int], None] = {}
        while len(found) < count:
            predicate = rng.choice(ABOUT_LINKS)
            subject = rng.choice(links if predicate == "supports" else nodes)
            object_ = rng.choice(links)
            if subject != object_:
                found[subject, predicate, object_] = None
        for predicate in ABOUT_LINKS:
            self._counts["h", predicate] = 1
        return list(found)

    def _links(self, triples: Iterable[tuple[int, str, int]]) -> list[int]:
        ids: list[int] = []
        for batch in batches(triples, 20_000):
            rows = []
            for subject, predicate, object_ in batch:
                element_id = (self._link << 1) | 1
                attributes = {"weight": round(self._rng.random(), 3)} if self._rng.random() < 0.5 else {}
                rows.append(link_row(element_id, subject, predicate, object_, attributes, metadata_of(self._rng)))
                self._counts["p", predicate] += 1
                self._link += 1
                ids.append(element_id)
            with self._store.write(timeout=3_600) as session:
                insert_links(session, rows)
        return ids

    def _finish(self) -> None:
        with self._store.write(timeout=3_600) as session:
            add_counts(session, self._counts)
            set_sequence(session, self._concept, self._link)
            session.execute("UPDATE context SET schema_epoch = schema_epoch + 1 WHERE id = ?", (CTX,))


# --- rows -----------------------------------------------------------------------------------------


def batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def concept_row(element_id: int, type_: str, name: str, attributes: dict[str, Any], metadata: dict[str, Any]) -> Row:
    return element_id, CTX, type_, name, 1, NOW, encode(attributes), encode(metadata)


def link_row(
    element_id: int, subject: int, predicate: str, object_: int, attributes: dict[str, Any], metadata: dict[str, Any]
) -> Row:
    return element_id, CTX, subject, predicate, object_, 1, NOW, encode(attributes), encode(metadata)


def insert_concepts(session: Session, rows: list[Row], texts: list[Row]) -> None:
    session.connection.executemany("INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?, jsonb(?), jsonb(?))", rows)
    session.connection.executemany(
        "INSERT INTO concept_text(rowid, scope, name, alias, body) VALUES (?, ?, ?, ?, ?)", texts
    )


def insert_links(session: Session, rows: list[Row]) -> None:
    session.connection.executemany("INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, jsonb(?), jsonb(?))", rows)


def add_counts(session: Session, counts: Counter[tuple[str, str]]) -> None:
    session.connection.executemany(
        "INSERT INTO counter VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
        [(CTX, kind, key, number) for (kind, key), number in counts.items()],
    )


def set_sequence(session: Session, concept: int, link: int) -> None:
    session.connection.executemany(
        "UPDATE sequence SET next = ? WHERE kind = ?", [(concept, "concept"), (link, "link")]
    )
