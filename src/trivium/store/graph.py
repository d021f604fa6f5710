"""Reading graph elements of one context inside a transaction.

`Graph` speaks ids (even: concepts, odd: links) and plain dicts. What changes them is `trivium.store.graph_writer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from trivium.store.codec import decode, encode
from trivium.store.schema import META_TYPES
from trivium.store.sqlite import Session

_CONCEPT = "id, type, name, version, updated_at, json(attrs), json(meta)"
_LINK = "id, s, p, o, version, updated_at, json(attrs), json(meta)"
_BATCH = 500


class Concept(Struct):
    """A concept row; `attributes` and `metadata` are decoded (author metadata and `_merged_from` only)."""

    id: int
    type: str
    name: str
    version: int
    updated_at: str
    attributes: dict[str, Any]
    metadata: dict[str, Any]


class Link(Struct):
    """A link row; `subject` and `object` are ids of either kind."""

    id: int
    subject: int
    predicate: str
    object: int
    version: int
    updated_at: str
    attributes: dict[str, Any]
    metadata: dict[str, Any]


Element = Concept | Link


def size_class(count: int) -> int:
    """The order of size of a count, as far as plans care: below 32 all are alike, then steps of four."""
    return (count >> 4).bit_length() // 2


def is_link_id(element_id: int) -> bool:
    return bool(element_id & 1)


def concept_id_text(element_id: int) -> str:
    return f"C:{element_id >> 1}"


def link_id_text(element_id: int, predicate: str) -> str:
    return f"P:{element_id >> 1}:{predicate}"


def parse_concept_id(text: str) -> int | None:
    """The internal id that `C:<n>` names, or None if the text has another form."""
    number = text[2:]
    if text.startswith("C:") and number.isascii() and number.isdigit() and number[0] != "0" and len(number) < 18:
        return int(number) << 1
    return None


def parse_link_id(text: str) -> tuple[int, str] | None:
    """The internal id and predicate that `P:<n>:<predicate>` names, or None if the text has another form."""
    if not text.startswith("P:"):
        return None
    number, colon, predicate = text[2:].partition(":")
    if colon and predicate and number.isascii() and number.isdigit() and number[0] != "0" and len(number) < 18:
        return (int(number) << 1) | 1, predicate
    return None


def _concept(row: tuple[Any, ...]) -> Concept:
    return Concept(row[0], row[1], row[2], row[3], row[4], decode(row[5]), decode(row[6]))


def _link(row: tuple[Any, ...]) -> Link:
    return Link(row[0], row[1], row[2], row[3], row[4], row[5], decode(row[6]), decode(row[7]))


class Graph:
    """The elements of context `ctx`, seen through one session."""

    def __init__(self, session: Session, ctx: int) -> None:
        self._session = session
        self._execute = session.execute
        self.ctx = ctx
        self._seen: dict[int, tuple[Any, ...]] = {}

    def remember(self, row: tuple[Any, ...]) -> None:
        """Keep a row just read in this transaction (columns as in `_CONCEPT` or `_LINK`) for its first use."""
        if len(row) >= 7 and row[0] is not None:
            self._seen[row[0]] = row

    def concept(self, element_id: int) -> Concept | None:
        seen = self._seen.pop(element_id, None)
        if seen is not None:
            return _concept(seen)
        row = self._execute(
            f"SELECT {_CONCEPT} FROM concept WHERE id = ? AND ctx = ?", (element_id, self.ctx)
        ).fetchone()
        return None if row is None else _concept(row)

    def concept_named(self, type_: str, name: str) -> Concept | None:
        row = self._execute(
            f"SELECT {_CONCEPT} FROM concept WHERE ctx = ? AND type = ? AND name = ?", (self.ctx, type_, name)
        ).fetchone()
        return None if row is None else _concept(row)

    def concept_id(self, type_: str, name: str) -> int | None:
        row = self._execute(
            "SELECT id FROM concept WHERE ctx = ? AND type = ? AND name = ?", (self.ctx, type_, name)
        ).fetchone()
        return None if row is None else row[0]

    def link(self, element_id: int) -> Link | None:
        seen = self._seen.pop(element_id, None)
        if seen is not None:
            return _link(seen)
        row = self._execute(f"SELECT {_LINK} FROM link WHERE id = ? AND ctx = ?", (element_id, self.ctx)).fetchone()
        return None if row is None else _link(row)

    def link_between(self, subject: int, predicate: str, object_: int) -> Link | None:
        row = self._execute(
            f"SELECT {_LINK} FROM link WHERE ctx = ? AND s = ? AND p = ? AND o = ?",
            (self.ctx, subject, predicate, object_),
        ).fetchone()
        return None if row is None else _link(row)

    def link_id(self, subject: int, predicate: str, object_: int) -> int | None:
        row = self._execute(
            "SELECT id FROM link WHERE ctx = ? AND s = ? AND p = ? AND o = ?", (self.ctx, subject, predicate, object_)
        ).fetchone()
        return None if row is None else row[0]

    def element(self, element_id: int) -> Element | None:
        return self.link(element_id) if is_link_id(element_id) else self.concept(element_id)

    def exists(self, element_id: int) -> bool:
        table = "link" if is_link_id(element_id) else "concept"
        return self._session.row(f"SELECT 1 FROM {table} WHERE id = ? AND ctx = ?", (element_id, self.ctx)) is not None

    def links_of(self, element_id: int) -> list[Link]:
        """Every link that has the element as subject or object, by id."""
        rows = self._session.rows(
            f"SELECT {_LINK} FROM link WHERE ctx = ?1 AND s = ?2 UNION "
            f"SELECT {_LINK} FROM link WHERE ctx = ?1 AND o = ?2 ORDER BY 1",
            (self.ctx, element_id),
        )
        return [_link(row) for row in rows]

    def memberships(self, ids: Iterable[int]) -> list[int]:
        """Those of the links that are domain memberships, by id."""
        found: list[int] = []
        for batch in batches(ids):
            test, values = among(batch)
            sql = f"SELECT id FROM link NOT INDEXED WHERE ctx = ?1 AND id {test} AND p = 'belongs_to_domain'"
            found += [row[0] for row in self._execute(sql, (self.ctx, values))]
        return found

    def links_about(self, ids: Iterable[int]) -> set[int]:
        """Ids of the links that have one of the elements as subject or object."""
        found: set[int] = set()
        for batch in batches(ids):
            test, values = among(batch)
            sql = (
                f"SELECT id FROM link INDEXED BY link_spo WHERE ctx = ?1 AND s {test}"
                f" UNION ALL SELECT id FROM link INDEXED BY link_ops WHERE ctx = ?1 AND o {test}"
            )
            found.update(row[0] for row in self._execute(sql, (self.ctx, values)))
        return found

    def concepts(self, ids: Iterable[int]) -> Iterator[Concept]:
        for batch in batches(ids):
            if len(batch) == 1 or self._seen:
                yield from filter(None, map(self.concept, batch))
                continue
            yield from map(_concept, self._in_order("concept", _CONCEPT, batch))

    def links(self, ids: Iterable[int]) -> Iterator[Link]:
        for batch in batches(ids):
            if len(batch) == 1 or self._seen:
                yield from filter(None, map(self.link, batch))
                continue
            yield from map(_link, self._in_order("link", _LINK, batch))

    def _in_order(self, table: str, columns: str, ids: list[int]) -> list[tuple[Any, ...]]:
        rows = self._session.rows(
            f"SELECT {columns} FROM {table} NOT INDEXED WHERE ctx = ?1 AND id IN (SELECT value FROM json_each(?2))",
            (self.ctx, encode(ids)),
        )
        by_id = {row[0]: row for row in rows}
        return [by_id[element_id] for element_id in ids if element_id in by_id]

    def names_of_type(self, type_: str) -> list[str]:
        """Names of all nodes of a type in code-point order."""
        return [
            row[0]
            for row in self._execute(
                "SELECT name FROM concept WHERE ctx = ? AND type = ? ORDER BY name", (self.ctx, type_)
            )
        ]

    def all_ids(self) -> list[int]:
        """Ids of every concept and link."""
        sql = "SELECT id FROM concept WHERE ctx = ?1 UNION ALL SELECT id FROM link WHERE ctx = ?1"
        return [row[0] for row in self._execute(sql, (self.ctx,))]

    def described(self) -> Iterator[Concept]:
        """The concepts that have a description, by type and name."""
        sql = (
            f"SELECT {_CONCEPT} FROM concept WHERE ctx = ? AND json_type(attrs, '$.description') = 'text'"
            " ORDER BY type, name"
        )
        return map(_concept, self._execute(sql, (self.ctx,)))

    def links_from(self, element_id: int, limit: int) -> list[tuple[str, str, str, dict[str, Any]]]:
        """Links from a concept to other concepts: predicate, type and name of the object, attributes."""
        sql = (
            "SELECT l.p, c.type, c.name, json(l.attrs) FROM link AS l INDEXED BY link_spo"
            " CROSS JOIN concept AS c ON c.id = l.o WHERE l.ctx = ? AND l.s = ? ORDER BY l.p, c.type, c.name LIMIT ?"
        )
        return [(row[0], row[1], row[2], decode(row[3])) for row in self._execute(sql, (self.ctx, element_id, limit))]

    def schema_nodes(self) -> list[tuple[int, str]]:
        """Id and type of every concept type and predicate."""
        sql = "SELECT id, type FROM concept WHERE ctx = ? AND type IN (?, ?)"
        return [(row[0], row[1]) for row in self._execute(sql, (self.ctx, *META_TYPES))]

    def links_on_links(self, predicates: Iterable[str]) -> list[int]:
        """Ids of the links of these predicates that have a link as an end, in id order."""
        found: list[int] = []
        for predicate in sorted(predicates):
            sql = "SELECT id FROM link INDEXED BY link_p WHERE ctx = ? AND p = ? AND ((s & 1) OR (o & 1))"
            found += [row[0] for row in self._execute(sql, (self.ctx, predicate))]
        return sorted(found)

    def nodes_of_type(self, type_: str) -> list[Concept]:
        """All nodes of a type, by id."""
        sql = f"SELECT {_CONCEPT} FROM concept INDEXED BY concept_type WHERE ctx = ? AND type = ?"
        return [_concept(row) for row in self._execute(sql, (self.ctx, type_))]

    def ids_of_type(self, type_: str) -> list[int]:
        """Ids of all nodes of a type, ascending."""
        sql = "SELECT id FROM concept INDEXED BY concept_type WHERE ctx = ? AND type = ?"
        return [row[0] for row in self._execute(sql, (self.ctx, type_))]

    def links_of_predicate(self, predicate: str, limit: int) -> list[int]:
        """Ids of links of a predicate, oldest first."""
        sql = "SELECT id FROM link WHERE ctx = ? AND p = ? ORDER BY id LIMIT ?"
        return [row[0] for row in self._execute(sql, (self.ctx, predicate, limit))]

    def links_of_ends(self, ends: Iterable[int], limit: int) -> list[int]:
        """Ids of links that have one of the elements as an end; at most `limit` for each element and side."""
        found: list[int] = []
        for end in ends:
            for column in "so":
                sql = f"SELECT id FROM link WHERE ctx = ? AND {column} = ? LIMIT ?"
                found += [row[0] for row in self._execute(sql, (self.ctx, end, limit))]
        return list(dict.fromkeys(found))

    def concept_rows(self, type_: str) -> list[tuple[int, str, str, str]]:
        """Id, name, attributes and metadata (as JSON text) of all nodes of a type."""
        sql = "SELECT id, name, json(attrs), json(meta) FROM concept INDEXED BY concept_type WHERE ctx = ? AND type = ?"
        rows: list[Any] = self._execute(sql, (self.ctx, type_)).fetchall()
        return rows

    def link_rows(self, predicate: str) -> list[tuple[int, int, int, str, str]]:
        """Id, ends, attributes and metadata (as JSON text) of all links of a predicate."""
        sql = "SELECT id, s, o, json(attrs), json(meta) FROM link INDEXED BY link_p WHERE ctx = ? AND p = ?"
        rows: list[Any] = self._execute(sql, (self.ctx, predicate)).fetchall()
        return rows

    def count(self, kind: str, key: str) -> int:
        """Stored number of concepts of a type (`t`) or links of a predicate (`p`)."""
        found = self._session.value(
            "SELECT n FROM counter WHERE ctx = ? AND kind = ? AND key = ?", (self.ctx, kind, key)
        )
        return int(found or 0)


def among(ids: list[int]) -> tuple[str, Any]:
    """A test that an expression is one of the ids, and what is bound to ?2."""
    if len(ids) == 1:
        return "= ?2", ids[0]
    return "IN (SELECT value FROM json_each(?2))", encode(ids)


def batches(ids: Iterable[int]) -> Iterator[list[int]]:
    """The ids in portions that one statement takes."""
    batch: list[int] = []
    for element_id in ids:
        batch.append(element_id)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
