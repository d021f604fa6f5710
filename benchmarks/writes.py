"""Timing of writes. Each side has a copy of the file of its own, and both copies must hold the same afterwards."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import trivium
from benchmarks.graph import (
    CTX,
    NOW,
    TYPES,
    WORDS,
    add_counts,
    attributes_of,
    concept_row,
    insert_concepts,
    insert_links,
    link_row,
    metadata_of,
    phrase,
    register,
    set_sequence,
)
from benchmarks.report import (
    ANCHORED_GOAL,
    IMPORT_GOAL,
    UNSEEN_GOAL,
    DifferentError,
    Line,
    Response,
    check_rows,
    check_same,
    line,
    show,
)
from benchmarks.shapes import OUT, A, Sql, Values
from benchmarks.timing import Pair, Timing, once
from trivium.search.index import index_texts
from trivium.settings import Settings
from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session, SqliteStore

CALLS = {"small": 60, "full": 240}
WARM = 40
CAPSULES = {"small": 4, "full": 24}

Written = tuple[int, int, dict[str, Any], dict[str, Any]]
"""Id, version, attributes and metadata of an element."""


# --- the hand-written side ------------------------------------------------------------------------


@contextmanager
def transaction(session: Sql) -> Iterator[None]:
    session.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        session.execute("ROLLBACK")
        raise
    session.execute("COMMIT")


def count(session: Sql, kind: str, key: str, change: int) -> None:
    session.execute(
        "INSERT INTO counter VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n", (CTX, kind, key, change)
    )


def take(session: Sql, kind: str) -> int:
    row = session.execute("UPDATE sequence SET next = next + 1 WHERE kind = ? RETURNING next - 1", (kind,)).fetchone()
    return int(row[0])


def index(session: Sql, element_id: int, name: str, attributes: dict[str, Any]) -> None:
    session.execute(
        "INSERT INTO concept_text(rowid, scope, name, alias, body) VALUES (?, ?, ?, ?, ?)",
        (element_id, f"c{CTX}", *index_texts(name, attributes)),
    )


def find_concept(session: Sql, type_: str, name: str) -> Written | None:
    row = session.execute(
        "SELECT id, version, json(attrs), json(meta) FROM concept WHERE ctx = ? AND type = ? AND name = ?",
        (CTX, type_, name),
    ).fetchone()
    return None if row is None else (row[0], row[1], decode(row[2]), decode(row[3]))


def write_concept(session: Sql, type_: str, name: str, attributes: dict[str, Any], metadata: dict[str, Any]) -> int:
    """Create a node, or merge into the one that is there."""
    found = find_concept(session, type_, name)
    if found is None:
        element_id = take(session, "concept") << 1
        session.execute(
            "INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?, jsonb(?), jsonb(?))",
            concept_row(element_id, type_, name, attributes, metadata),
        )
        count(session, "t", type_, 1)
        index(session, element_id, name, attributes)
        return element_id
    element_id, version, before, meta = found
    after = {**before, **attributes}
    if any(not isinstance(value, (int, float)) for value in attributes.values()):
        session.execute("DELETE FROM concept_text WHERE rowid = ?", (element_id,))
        index(session, element_id, name, after)
    session.execute(
        "UPDATE concept SET version = ?, updated_at = ?, attrs = jsonb(?), meta = jsonb(?) WHERE id = ?",
        (version + 1, NOW, encode(after), encode({**meta, **metadata}), element_id),
    )
    return element_id


def write_link(session: Sql, subject: int, predicate: str, object_: int, metadata: dict[str, Any]) -> int:
    """Create a link, or merge into the one that is there."""
    row = session.execute(
        "SELECT id, version, json(meta) FROM link WHERE ctx = ? AND s = ? AND p = ? AND o = ?",
        (CTX, subject, predicate, object_),
    ).fetchone()
    if row is None:
        element_id = (take(session, "link") << 1) | 1
        session.execute(
            "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, jsonb(?), jsonb(?))",
            link_row(element_id, subject, predicate, object_, {}, metadata),
        )
        count(session, "p", predicate, 1)
        return element_id
    session.execute(
        "UPDATE link SET version = ?, updated_at = ?, meta = jsonb(?) WHERE id = ?",
        (row[1] + 1, NOW, encode({**decode(row[2]), **metadata}), row[0]),
    )
    return int(row[0])


def concept_id(session: Sql, type_: str, name: str) -> int:
    row = session.execute(
        "SELECT id FROM concept WHERE ctx = ? AND type = ? AND name = ?", (CTX, type_, name)
    ).fetchone()
    return int(row[0])


def upserted(element_id: int) -> Response:
    return {"result": {"blocks": 1, "upsert_concept_nodes": [f"C:{element_id >> 1}"], "upsert_proposition_links": []}}


def create(session: Sql, v: Values) -> Response:
    with transaction(session):
        element_id = write_concept(session, v["type"], v["name"], v["attributes"], v["metadata"])
        for side in "12":
            object_ = concept_id(session, v[f"type{side}"], v[f"name{side}"])
            write_link(session, element_id, v[f"p{side}"], object_, v["metadata"])
    return upserted(element_id)


def change(session: Sql, v: Values) -> Response:
    with transaction(session):
        element_id = write_concept(session, v["type"], v["name"], v["attributes"], {})
    return upserted(element_id)


MARKED = (
    "SELECT l.id, l.version, json(l.meta) FROM concept a CROSS JOIN link l ON l.ctx = 1 AND l.s = a.id AND l.p = ?3"
    " WHERE a.ctx = 1 AND a.type = ?1 AND a.name = ?2"
)


def mark(session: Sql, v: Values) -> Response:
    with transaction(session):
        rows = session.execute(MARKED, (v["type"], v["name"], v["p"])).fetchall()
        for id_, version, metadata in rows:
            after = {**decode(metadata), "reviewed_at": v["moment"]}
            after["confidence"] = after["confidence"] * 0.99
            session.execute(
                "UPDATE link SET version = ?, updated_at = ?, meta = jsonb(?) WHERE id = ?",
                (version + 1, NOW, encode(after), id_),
            )
    return {"result": {"updated": len(rows), "matched": len(rows)}}


DOOMED = (
    "SELECT l.id FROM concept a CROSS JOIN concept b"
    " CROSS JOIN link l ON l.ctx = 1 AND l.s = a.id AND l.p = ?3 AND l.o = b.id"
    " WHERE a.ctx = 1 AND a.type = ?1 AND a.name = ?2 AND b.ctx = 1 AND b.type = ?4 AND b.name = ?5"
)
ABOUT_IT = "SELECT id, p FROM link WHERE ctx = 1 AND s = ?1 UNION ALL SELECT id, p FROM link WHERE ctx = 1 AND o = ?1"


def delete(session: Sql, v: Values) -> Response:
    with transaction(session):
        row = session.execute(DOOMED, (v["type"], v["name"], v["p"], v["type2"], v["name2"])).fetchone()
        pending, gone = [(row[0], v["p"])], set()
        while pending:
            id_, predicate = pending.pop()
            if id_ in gone:
                continue
            gone.add(id_)
            pending += session.execute(ABOUT_IT, (id_,)).fetchall()
            session.execute("DELETE FROM link WHERE id = ?", (id_,))
            count(session, "p", predicate, -1)
    return {"result": {"deleted_propositions": len(gone)}}


GUARDED = (
    "SELECT a.id, a.version, json(a.attrs) FROM concept a WHERE a.ctx = 1 AND a.type = ?1 AND a.name = ?2"
    " AND json_type(a.attrs, '$.count') IN ('integer', 'real') AND a.attrs ->> '$.count' < 1000000"
)


def increment(session: Sql, v: Values) -> Response:
    with transaction(session):
        rows = session.execute(GUARDED, (v["type"], v["name"])).fetchall()
        for id_, version, attributes in rows:
            after = decode(attributes)
            after["count"] += 1
            session.execute(
                "UPDATE concept SET version = ?, updated_at = ?, attrs = jsonb(?) WHERE id = ?",
                (version + 1, NOW, encode(after), id_),
            )
    return {"result": {"updated": len(rows), "matched": len(rows)}}


# --- shapes ---------------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True)
class WriteShape:
    """One write. Where `fresh`, every call needs values of its own, so a text is never seen twice."""

    name: str
    text: str
    hand: Callable[[Sql, Values], Response]
    make: Callable[[Session, random.Random, int], list[Values]]
    fresh: bool = False

    def literal(self, values: Values) -> str:
        text = self.text
        for name in sorted(values, key=len, reverse=True):
            text = text.replace(f":{name}", encode(values[name]))
        return text


NODES = "SELECT type, name FROM concept WHERE ctx = 1 AND type NOT LIKE '$%' ORDER BY id % 514, id LIMIT ?1"


def new_nodes(session: Session, rng: random.Random, calls: int) -> list[Values]:
    ends = session.rows(NODES, (calls,))
    found = []
    for _ in range(calls):
        first, second = rng.sample(ends, 2)
        number = rng.getrandbits(48)
        found.append(
            {
                "type": rng.choice(TYPES),
                "name": f"{rng.choice(WORDS)} note {number}",
                "attributes": attributes_of(rng, number),
                "metadata": metadata_of(rng),
                "p1": "mentions",
                "type1": first[0],
                "name1": first[1],
                "p2": "cites",
                "type2": second[0],
                "name2": second[1],
            }
        )
    return found


def changes(session: Session, rng: random.Random, calls: int) -> list[Values]:
    """Two versions of each node's contents, by turns: every call changes something."""
    nodes = session.rows(NODES, (16,))
    versions = [
        [
            {"type": type_, "name": name, "attributes": {"summary": phrase(rng, 12), "score": rng.random()}}
            for type_, name in nodes
        ]
        for _ in range(2)
    ]
    return [versions[call // len(nodes) % 2][call % len(nodes)] for call in range(calls)]


def marks(session: Session, rng: random.Random, calls: int) -> list[Values]:
    found = session.rows(OUT.format(low=1, high=2), (24,))
    values = [{"type": type_, "name": name, "p": p, "moment": NOW} for type_, name, p in found]
    return [values[call % len(values)] for call in range(calls)]


def doomed(session: Session, rng: random.Random, calls: int) -> list[Values]:
    rows = session.rows(
        "SELECT a.type, a.name, l.p, b.type, b.name FROM link l CROSS JOIN concept a ON a.id = l.s"
        " CROSS JOIN concept b ON b.id = l.o WHERE l.ctx = 1 AND l.p NOT IN ('belongs_to_domain', 'part_of')"
        " ORDER BY l.id % 1009, l.id LIMIT ?1",
        (calls,),
    )
    return [dict(zip(("type", "name", "p", "type2", "name2"), row, strict=True)) for row in rows]


def counted(session: Session, rng: random.Random, calls: int) -> list[Values]:
    nodes = session.rows(NODES, (24,))
    return [dict(zip(("type", "name"), nodes[call % len(nodes)], strict=True)) for call in range(calls)]


SHAPES = (
    WriteShape(
        "create a node with two links",
        "UPSERT { CONCEPT { {type: :type, name: :name} SET ATTRIBUTES :attributes SET PROPOSITIONS {"
        " (:p1, {type: :type1, name: :name1}) (:p2, {type: :type2, name: :name2}) } } } WITH METADATA :metadata",
        create,
        new_nodes,
        fresh=True,
    ),
    WriteShape(
        "update attributes of a node",
        "UPSERT { CONCEPT { {type: :type, name: :name} SET ATTRIBUTES :attributes } }",
        change,
        changes,
    ),
    WriteShape(
        "UPDATE metadata of links",
        "UPDATE ?l SET METADATA { reviewed_at: :moment, confidence: MUL(?l.metadata.confidence, 0.99) }"
        f" WHERE {{ {A} ?l (?a, :p, ?b) }}",
        mark,
        marks,
    ),
    WriteShape(
        "delete a link",
        "DELETE PROPOSITIONS ?l WHERE { ?l ({type: :type, name: :name}, :p, {type: :type2, name: :name2}) }",
        delete,
        doomed,
        fresh=True,
    ),
    WriteShape(
        "guarded increment",
        f"UPDATE ?a SET ATTRIBUTES {{ count: ADD(?a.attributes.count, 1) }} WHERE {{ {A}"
        " FILTER(?a.attributes.count < 1000000) }",
        increment,
        counted,
    ),
)


# --- running --------------------------------------------------------------------------------------


class WriteBench:
    """Two files that begin equal: one written by hand, one through KIP."""

    def __init__(self, hand: Path, ours: Path) -> None:
        self.store = SqliteStore(str(hand), Settings())
        self.session = self.store._writer
        self.knowledge_base = trivium.open(str(ours), clock=lambda: NOW)

    def close(self) -> None:
        self.store.close()
        self.knowledge_base.close()

    def check_equal(self) -> None:
        """DifferentError unless both files hold the same elements, counters and tokens."""
        for name, sql in TABLES.items():
            check_rows(name, _table(self.store, sql), _table(self.knowledge_base._store, sql))
        report = self.knowledge_base.doctor()
        if not report["ok"]:
            raise DifferentError(f"the store is not sound after the writes: {report['checks']}")


def _table(store: SqliteStore, sql: str) -> list[tuple[Any, ...]]:
    session = store.checkout(timeout=600)
    try:
        session.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, concept_text, col)")
        return session.rows(sql)
    finally:
        store.checkin(session)


TABLES = {
    "concepts": "SELECT id, type, name, version, updated_at, json(attrs), json(meta) FROM concept ORDER BY id",
    "links": "SELECT id, s, p, o, version, updated_at, json(attrs), json(meta) FROM link ORDER BY id",
    "counters": "SELECT * FROM counter WHERE n <> 0 ORDER BY ctx, kind, key",
    "sequences": "SELECT * FROM sequence ORDER BY kind",
    "tokens": "SELECT * FROM temp.terms ORDER BY term, col",
}


def copies(folder: Path, source: Path) -> tuple[Path, Path]:
    hand, ours = folder / "hand.db", folder / "ours.db"
    for target in (hand, ours):
        shutil.copyfile(source, target)
    return hand, ours


def run_writes(path: Path, folder: Path, only: str, scale: str) -> list[Line]:
    """Every write by text and by parameters."""
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(dir=folder) as own:
        bench = WriteBench(*copies(Path(own), path))
        try:
            rng = random.Random(7)
            for shape in SHAPES:
                if only in shape.name:
                    for found in _writes(bench, shape, rng, CALLS[scale]):
                        lines.append(found)
                        show(found)
            bench.check_equal()
        finally:
            bench.close()
    return lines


def _writes(bench: WriteBench, shape: WriteShape, rng: random.Random, calls: int) -> Iterator[Line]:
    for mode in ("text", "parameters"):
        values = shape.make(bench.session, rng, calls)
        pairs: list[Pair] = []
        for given in values:
            request: dict[str, Any] = {"command": shape.literal(given)}
            if mode == "parameters":
                request = {"command": shape.text, "parameters": given}
            pairs.append(
                (partial(shape.hand, bench.session, given), partial(bench.knowledge_base.execute_kip, request))
            )
        timing, results = once(pairs, warm=min(WARM, len(pairs) // 3))
        for hand, ours in results:
            check_same(shape.name, hand, ours)
        unseen = shape.fresh and mode == "text"
        yield line(
            "write",
            shape.name,
            "new text" if unseen else mode,
            len(pairs),
            timing,
            UNSEEN_GOAL if unseen else ANCHORED_GOAL,
        )


# --- import ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Capsule:
    """140 nodes with a link each, and 60 links."""

    nodes: list[tuple[str, str, dict[str, Any]]]
    links: list[tuple[int, str, int]]  # by place in `nodes`
    statements: list[tuple[int, str, int]]
    metadata: dict[str, Any]

    @property
    def elements(self) -> int:
        return len(self.nodes) + len(self.links) + len(self.statements)


def capsules(number: int) -> list[Capsule]:
    rng = random.Random(11)
    found = []
    for capsule in range(number):
        nodes = [
            (rng.choice(TYPES), f"{rng.choice(WORDS)} {capsule}-{place}", attributes_of(rng, capsule * 140 + place))
            for place in range(140)
        ]
        links = [(place, "mentions", rng.randrange(place)) for place in range(1, 140)]
        pairs = {(rng.randrange(140), "cites", rng.randrange(140)): None for _ in range(60)}
        found.append(Capsule(nodes, links, list(pairs), metadata_of(rng)))
    return found


def text_of(capsule: Capsule) -> str:
    """The capsule as a command text."""
    entries = {subject: (predicate, object_) for subject, predicate, object_ in capsule.links}
    blocks = []
    for place, (type_, name, attributes) in enumerate(capsule.nodes):
        identity = f"{{type: {encode(type_)}, name: {encode(name)}}}"
        block = f"CONCEPT ?n{place} {{ {identity} SET ATTRIBUTES {encode(attributes)}"
        if place in entries:
            predicate, object_ = entries[place]
            block += f' SET PROPOSITIONS {{ ("{predicate}", ?n{object_}) }}'
        blocks.append(block + " }")
    blocks += [f'PROPOSITION {{ (?n{s}, "{p}", ?n{o}) }}' for s, p, o in capsule.statements]
    return "UPSERT {\n" + "\n".join(blocks) + "\n}\n" + f"WITH METADATA {encode(capsule.metadata)}\n"


def insert(session: Session, capsule: Capsule, concept: int, link: int) -> None:
    """Batched inserts of one capsule; ids begin at the given numbers."""
    ids = [(concept + place) << 1 for place in range(len(capsule.nodes))]
    counts: Counter[tuple[str, str]] = Counter(("t", type_) for type_, _, _ in capsule.nodes)
    rows, texts = [], []
    for element_id, (type_, name, attributes) in zip(ids, capsule.nodes, strict=True):
        rows.append(concept_row(element_id, type_, name, attributes, capsule.metadata))
        texts.append((element_id, f"c{CTX}", *index_texts(name, attributes)))
    links = []
    for place, (subject, predicate, object_) in enumerate([*capsule.links, *capsule.statements]):
        links.append(link_row(((link + place) << 1) | 1, ids[subject], predicate, ids[object_], {}, capsule.metadata))
        counts["p", predicate] += 1
    with transaction(session):
        insert_concepts(session, rows, texts)
        insert_links(session, links)
        add_counts(session, counts)
        set_sequence(session, concept + len(ids), link + len(links))


def run_import(folder: Path, scale: str) -> list[Line]:
    """Capsules through KIP against batched inserts into the same tables."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        empty = Path(own) / "empty.db"
        with trivium.open(str(empty), clock=lambda: NOW) as knowledge_base:
            register(knowledge_base)
        bench = WriteBench(*copies(Path(own), empty))
        try:
            found = _import(bench, capsules(CAPSULES[scale]))
            bench.check_equal()
        finally:
            bench.close()
    show(found)
    print(f"{'':38}{1e6 / found.ours:,.0f} elements a second, {1e6 / found.hand:,.0f} by batched inserts")
    return [found]


def _import(bench: WriteBench, given: list[Capsule]) -> Line:
    concept = int(bench.session.value("SELECT next FROM sequence WHERE kind = 'concept'"))
    link = int(bench.session.value("SELECT next FROM sequence WHERE kind = 'link'"))
    pairs: list[Pair] = []
    for capsule in given:
        request = {"command": text_of(capsule)}
        pairs.append(
            (
                partial(insert, bench.session, capsule, concept, link),
                partial(bench.knowledge_base.execute_kip, request),
            )
        )
        concept += len(capsule.nodes)
        link += len(capsule.links) + len(capsule.statements)
    timing, results = once(pairs)
    for _, ours in results:
        if "error" in ours:
            raise DifferentError(f"a capsule was refused: {ours['error']}")
    size = sum(capsule.elements for capsule in given) / len(given)
    each = Timing(timing.hand / size, timing.ours / size, timing.best)
    return line("import", "capsules", "new text", len(given), each, IMPORT_GOAL)
