"""Changing graph elements of one context inside a transaction.

`GraphWriter` keeps what the tables promise together: counters, the text index, versions, the schema epoch. The rules of
KML (protection, guards, cascades) are above, in `kip`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from trivium.errors import KipError
from trivium.store.codec import encode
from trivium.store.graph import Concept, Graph, Link, among, batches, size_class
from trivium.store.schema import META_TYPES
from trivium.store.sqlite import Session

MAX_ELEMENT = 192 * 1024
"""Bytes of an element's attributes and metadata: it must fit into one command text of an export."""

NewConcept = tuple[str, str, dict[str, Any], dict[str, Any]]
"""A concept to be made: type, name, attributes, metadata."""
NewLink = tuple[int, str, int, dict[str, Any]]
"""A link to be made: subject, predicate, object, attributes."""


class GraphWriter(Graph):
    """The elements of context `ctx`, seen and changed through one session.

    Writes gather counter changes; call `finish` before the transaction ends. `text_of` gives the three texts of a
    concept that the index holds, already segmented (`trivium.search.index.concept_tokens`).
    """

    def __init__(
        self, session: Session, ctx: int, now: str, text_of: Callable[[str, dict[str, Any]], tuple[str, str, str]]
    ) -> None:
        super().__init__(session, ctx)
        self.now = now
        self._text_of = text_of
        self._counts: dict[tuple[str, str], int] = {}
        self._next: dict[str, int] = {}
        self.schema_changed = False

    def count(self, kind: str, key: str) -> int:
        """The stored number, and what this transaction has not written of it yet."""
        return super().count(kind, key) + self._counts.get((kind, key), 0)

    def insert_concept(self, type_: str, name: str, attributes: dict[str, Any], metadata: dict[str, Any]) -> int:
        element_id = self._take("concept") << 1
        self._execute(
            "INSERT INTO concept VALUES (?, ?, ?, ?, 1, ?, jsonb(?), jsonb(?))",
            (element_id, self.ctx, type_, name, self.now, *_contents(attributes, metadata)),
        )
        self._bump("t", type_, 1)
        self._index(element_id, name, attributes)
        if type_ in META_TYPES:
            self.schema_changed = True
        return element_id

    def insert_concepts(self, concepts: Iterable[NewConcept]) -> list[int]:
        """Make many concepts, none of which may exist; their ids, in order."""
        rows, texts, ids = [], [], []
        scope = f"c{self.ctx}"
        for type_, name, attributes, metadata in concepts:
            element_id = self._take("concept") << 1
            ids.append(element_id)
            rows.append((element_id, self.ctx, type_, name, self.now, *_contents(attributes, metadata)))
            texts.append((element_id, scope, *self._text_of(name, attributes)))
        for type_, number in Counter(row[2] for row in rows).items():
            self._bump("t", type_, number)
            self.schema_changed |= type_ in META_TYPES
        many = self._session.connection.executemany
        if rows:
            many("INSERT INTO concept VALUES (?, ?, ?, ?, 1, ?, jsonb(?), jsonb(?))", rows)
        if texts:
            many("INSERT INTO concept_text(rowid, scope, name, alias, body) VALUES (?, ?, ?, ?, ?)", texts)
        return ids

    def insert_link(
        self, subject: int, predicate: str, object_: int, attributes: dict[str, Any], metadata: dict[str, Any]
    ) -> int:
        element_id = (self._take("link") << 1) | 1
        self._execute(
            "INSERT INTO link VALUES (?, ?, ?, ?, ?, 1, ?, jsonb(?), jsonb(?))",
            (element_id, self.ctx, subject, predicate, object_, self.now, *_contents(attributes, metadata)),
        )
        self._bump("p", predicate, 1)
        if subject & 1 or object_ & 1:
            self._note_higher_order(predicate)
        return element_id

    def insert_links(self, links: Iterable[NewLink], metadata: dict[str, Any]) -> None:
        """Make many links with the same metadata; none of them may exist."""
        rows = []
        bare = _contents({}, metadata)
        for subject, predicate, object_, attributes in links:
            element_id = (self._take("link") << 1) | 1
            contents = _contents(attributes, metadata) if attributes else bare
            rows.append((element_id, self.ctx, subject, predicate, object_, self.now, *contents))
            if subject & 1 or object_ & 1:
                self._note_higher_order(predicate)
        for predicate, number in Counter(row[3] for row in rows).items():
            self._bump("p", predicate, number)
        if rows:
            sql = "INSERT INTO link VALUES (?, ?, ?, ?, ?, 1, ?, jsonb(?), jsonb(?))"
            self._session.connection.executemany(sql, rows)

    def update_concept(
        self, node: Concept, attributes: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        """Write new contents, raise the version, and keep the text index in step. None leaves a part as it is."""
        if attributes is not None:
            self._reindex(node, attributes)
            node.attributes = attributes
        if metadata is not None:
            node.metadata = metadata
        node.version += 1
        self._execute(
            "UPDATE concept SET version = ?, updated_at = ?, attrs = jsonb(?), meta = jsonb(?) WHERE id = ?",
            (node.version, self.now, *_contents(node.attributes, node.metadata), node.id),
        )

    def update_link(
        self, link: Link, attributes: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        """Write new contents and raise the version. None leaves a part as it is."""
        if attributes is not None:
            link.attributes = attributes
        if metadata is not None:
            link.metadata = metadata
        link.version += 1
        self._execute(
            "UPDATE link SET version = ?, updated_at = ?, attrs = jsonb(?), meta = jsonb(?) WHERE id = ?",
            (link.version, self.now, *_contents(link.attributes, link.metadata), link.id),
        )

    def repoint_link(self, link: Link, subject: int, object_: int) -> None:
        """Move a link to other ends, keeping its id, and raise its version."""
        link.subject, link.object = subject, object_
        link.version += 1
        self._execute(
            "UPDATE link SET s = ?, o = ?, version = ?, updated_at = ? WHERE id = ?",
            (subject, object_, link.version, self.now, link.id),
        )
        if subject & 1 or object_ & 1:
            self._note_higher_order(link.predicate)

    def delete_concept(self, node: Concept) -> None:
        self._execute("DELETE FROM concept WHERE id = ?", (node.id,))
        self._execute("DELETE FROM concept_text WHERE rowid = ?", (node.id,))
        self._bump("t", node.type, -1)
        if node.type in META_TYPES:
            self.schema_changed = True

    def delete_links(self, ids: Iterable[int]) -> int:
        """Delete links by id; gives how many there were."""
        deleted = 0
        for batch in batches(ids):
            test, values = among(batch)
            sql = f"DELETE FROM link NOT INDEXED WHERE ctx = ?1 AND id {test} RETURNING p"
            for (predicate,) in self._execute(sql, (self.ctx, values)):
                self._bump("p", predicate, -1)
                deleted += 1
        return deleted

    def finish(self) -> None:
        """Write counters, the id sequence and the schema epoch; the last step before commit.

        The epoch also moves when a count changes its order of size, since plans rest on it.
        """
        for (kind, key), change in self._counts.items():
            if change:
                number = self._session.value(
                    "INSERT INTO counter VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n RETURNING n",
                    (self.ctx, kind, key, change),
                )
                if size_class(number) != size_class(number - change):
                    self.schema_changed = True
        for kind, following in self._next.items():
            self._execute("UPDATE sequence SET next = ? WHERE kind = ?", (following, kind))
        if self.schema_changed:
            self._session.schema_writes += 1
            self._execute("UPDATE context SET schema_epoch = schema_epoch + 1 WHERE id = ?", (self.ctx,))
        self._counts.clear()

    def _take(self, kind: str) -> int:
        number = self._next.get(kind)
        if number is None:
            number = int(self._session.value("SELECT next FROM sequence WHERE kind = ?", (kind,)))
        self._next[kind] = number + 1
        return number

    def _bump(self, kind: str, key: str, change: int) -> None:
        self._counts[kind, key] = self._counts.get((kind, key), 0) + change

    def _note_higher_order(self, predicate: str) -> None:
        """Counter `h` marks predicates that ever joined a link; the planner relies on its absence."""
        if ("h", predicate) not in self._counts and not self.count("h", predicate):
            self._bump("h", predicate, 1)
            self.schema_changed = True

    def _index(self, element_id: int, name: str, attributes: dict[str, Any]) -> None:
        self._execute(
            "INSERT INTO concept_text(rowid, scope, name, alias, body) VALUES (?, ?, ?, ?, ?)",
            (element_id, f"c{self.ctx}", *self._text_of(name, attributes)),
        )

    def _reindex(self, node: Concept, attributes: dict[str, Any]) -> None:
        old = node.attributes
        if not any(
            (_has_text(attributes.get(key)) or _has_text(old.get(key))) and attributes.get(key) != old.get(key)
            for key in attributes.keys() | old.keys()
        ):
            return
        texts = self._text_of(node.name, attributes)
        if texts != self._text_of(node.name, node.attributes):
            self._execute("DELETE FROM concept_text WHERE rowid = ?", (node.id,))
            self._execute(
                "INSERT INTO concept_text(rowid, scope, name, alias, body) VALUES (?, ?, ?, ?, ?)",
                (node.id, f"c{self.ctx}", *texts),
            )


def _contents(attributes: dict[str, Any], metadata: dict[str, Any]) -> tuple[str, str]:
    """Both parts as JSON text. KIP_4002 for an element that no capsule could carry."""
    first, second = encode(attributes), encode(metadata)
    if len(first) + len(second) > MAX_ELEMENT // 4 and len(first.encode()) + len(second.encode()) > MAX_ELEMENT:
        raise KipError(
            "KIP_4002",
            f"An element's attributes and metadata are larger than {MAX_ELEMENT // 1024} KiB together.",
            "Keep long texts outside and store a reference, or divide them over several concepts.",
        )
    return first, second


def _has_text(value: Any) -> bool:
    return isinstance(value, (str, list, dict))
