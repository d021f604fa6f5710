"""Query shapes: a KIP text with parameters, its values, and the SQL that a careful hand writes for the same response.

The hand knows the schema, gives every statement its best join order, and guards comparisons by JSON kind, since
attributes may hold anything. It builds the response object of KIP with the same JSON decoder.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trivium.store.codec import decode, encode
from trivium.store.sqlite import Session

Values = dict[str, Any]
Response = dict[str, Any]


class Sql(Protocol):
    """The one thing that the hand-written side asks of a session."""

    @property
    def execute(self) -> Callable[..., Any]: ...


Hand = Callable[[Sql, Values], Response]

ANCHORED, BULK = "anchored", "bulk"
"""Kinds of goals: a few rows around an anchor, where the constant counts; long results, where the ratio does."""


@dataclass(slots=True, frozen=True)
class Shape:
    """One query. `text` names its values as placeholders; `sample` gives the rows that fill them, in that order.

    Where `ordered` is false the protocol leaves the order of rows free, and responses are compared as bags of rows.
    """

    name: str
    goal: str
    text: str
    names: tuple[str, ...]
    sample: str
    hand: Hand
    ordered: bool = False
    fixed: tuple[tuple[str, Any], ...] = ()
    follow: bool = False  # measure the second page: `cursor` is taken from each side's own first page

    def values(self, session: Session, count: int) -> list[Values]:
        """Up to `count` distinct sets of values."""
        rows = session.rows(self.sample, (count,))
        return [{**dict(zip(self.names, row, strict=True)), **dict(self.fixed)} for row in rows]

    def literal(self, values: Values) -> str:
        """The text with its values written out."""
        text = self.text
        for name in sorted(values, key=len, reverse=True):
            text = text.replace(f":{name}", encode(values[name]))
        return text


# --- building responses ---------------------------------------------------------------------------


def one(rows: list[tuple[Any, ...]]) -> Response:
    """A column of plain values."""
    return {"result": [row[0] for row in rows]}


def columns(rows: list[tuple[Any, ...]], count: int) -> Response:
    if not rows:
        return {"result": [[] for _ in range(count)]}
    return {"result": [list(column) for column in zip(*rows, strict=True)]}


def value(text: str | None) -> Any:
    return None if text is None else decode(text)


def node(id_: int, type_: str, name: str, version: int, updated: str, attributes: str, metadata: str) -> dict[str, Any]:
    meta = decode(metadata)
    meta["_version"] = version
    meta["_updated_at"] = updated
    return {
        "_type": "ConceptNode",
        "id": f"C:{id_ >> 1}",
        "type": type_,
        "name": name,
        "attributes": decode(attributes),
        "metadata": meta,
    }


def link(
    id_: int, s: Any, p: str, o: Any, version: int, updated: str, attributes: str, metadata: str
) -> dict[str, Any]:
    meta = decode(metadata)
    meta["_version"] = version
    meta["_updated_at"] = updated
    return {
        "_type": "PropositionLink",
        "id": f"P:{id_ >> 1}:{p}",
        "subject": s if isinstance(s, str) else f"C:{s >> 1}",
        "predicate": p,
        "object": o if isinstance(o, str) else f"C:{o >> 1}",
        "attributes": decode(attributes),
        "metadata": meta,
    }


def token(keys: Sequence[Any]) -> str:
    return base64.urlsafe_b64encode(encode(keys).encode()).decode()


def keys_of(cursor: str) -> list[Any]:
    found: list[Any] = decode(base64.urlsafe_b64decode(cursor))
    return found


NODE = "{0}.id, {0}.type, {0}.name, {0}.version, {0}.updated_at, json({0}.attrs), json({0}.meta)"


def node_of(alias: str) -> str:
    return NODE.format(alias)


def link_of(alias: str) -> str:
    def end(side: str) -> str:
        return (
            f"CASE WHEN {alias}.{side} & 1 THEN"
            f" (SELECT 'P:' || (e.id >> 1) || ':' || e.p FROM link e WHERE e.id = {alias}.{side})"
            f" ELSE {alias}.{side} END"
        )

    return (
        f"{alias}.id, {end('s')}, {alias}.p, {end('o')}, {alias}.version, {alias}.updated_at,"
        f" json({alias}.attrs), json({alias}.meta)"
    )


# --- statements -----------------------------------------------------------------------------------

ANCHOR = "concept a WHERE a.ctx = 1 AND a.type = ?1 AND a.name = ?2"
FROM_ANCHOR = "FROM concept a CROSS JOIN link l ON l.ctx = 1 AND l.s = a.id AND l.p = ?3"
WHERE_ANCHOR = "WHERE a.ctx = 1 AND a.type = ?1 AND a.name = ?2"

POINT = f"SELECT {node_of('a')} FROM {ANCHOR}"


def point(session: Sql, v: Values) -> Response:
    return {"result": [node(*row) for row in session.execute(POINT, (v["type"], v["name"]))]}


ONE_HOP = (
    "SELECT b.name FROM concept a CROSS JOIN link l ON l.ctx = 1 AND l.s = a.id AND l.p = ?2"
    " CROSS JOIN concept b ON b.id = l.o WHERE a.ctx = 1 AND a.name = ?1"
)


def one_hop(session: Sql, v: Values) -> Response:
    return one(session.execute(ONE_HOP, (v["name"], v["p"])).fetchall())


TWO_HOPS = (
    "SELECT c.name, c.attrs -> '$.score' FROM (SELECT DISTINCT m.o AS id"
    f" {FROM_ANCHOR} CROSS JOIN link m ON m.ctx = 1 AND m.s = l.o AND m.p = ?4 {WHERE_ANCHOR}) q"
    " CROSS JOIN concept c ON c.id = q.id"
    " WHERE json_type(c.attrs, '$.score') IN ('integer', 'real') AND c.attrs ->> '$.score' > ?5"
)


def two_hops(session: Sql, v: Values) -> Response:
    rows = session.execute(TWO_HOPS, (v["type"], v["name"], v["p"], v["q"], v["low"])).fetchall()
    return {"result": [[row[0] for row in rows], [value(row[1]) for row in rows]]}


NEGATION = (
    f"SELECT b.name {FROM_ANCHOR} CROSS JOIN concept b ON b.id = l.o {WHERE_ANCHOR}"
    " AND NOT EXISTS (SELECT 1 FROM link m WHERE m.ctx = 1 AND m.s = l.o AND m.p = ?4)"
)


def negation(session: Sql, v: Values) -> Response:
    return one(session.execute(NEGATION, (v["type"], v["name"], v["p"], v["q"])).fetchall())


OPTIONAL = (
    f"SELECT b.name, c.name, c.attrs -> '$.status' {FROM_ANCHOR} CROSS JOIN concept b ON b.id = l.o"
    " LEFT JOIN link m ON m.ctx = 1 AND m.s = l.o AND m.p = ?4 LEFT JOIN concept c ON c.id = m.o"
    f" {WHERE_ANCHOR}"
)


def optional(session: Sql, v: Values) -> Response:
    rows = session.execute(OPTIONAL, (v["type"], v["name"], v["p"], v["q"])).fetchall()
    return {"result": [[row[0] for row in rows], [row[1] for row in rows], [value(row[2]) for row in rows]]}


UNION = (
    f"SELECT c.name FROM (SELECT l.o AS id {FROM_ANCHOR} {WHERE_ANCHOR}"
    " UNION SELECT m.o FROM concept d CROSS JOIN link m ON m.ctx = 1 AND m.s = d.id AND m.p = ?6"
    " WHERE d.ctx = 1 AND d.type = ?4 AND d.name = ?5) q CROSS JOIN concept c ON c.id = q.id"
)


def union(session: Sql, v: Values) -> Response:
    bindings = (v["type"], v["name"], v["p"], v["type2"], v["name2"], v["q"])
    return one(session.execute(UNION, bindings).fetchall())


NEIGHBOURS = (
    f"SELECT l.p, l.o, json_extract(l.meta, '$.confidence'), c.name, k.p, {node_of('c')}, {link_of('k')}"
    " FROM (SELECT l.id, l.meta ->> '$.confidence' AS rank FROM concept a"
    " CROSS JOIN link l ON l.ctx = 1 AND l.s = a.id WHERE a.ctx = 1 AND a.type = ?1 AND a.name = ?2"
    " ORDER BY rank IS NULL, rank DESC, l.id LIMIT 51) q"
    " CROSS JOIN link l ON l.id = q.id LEFT JOIN concept c ON c.id = l.o LEFT JOIN link k ON k.id = l.o"
    " ORDER BY q.rank IS NULL, q.rank DESC, q.id"
)


def neighbours(session: Sql, v: Values) -> Response:
    rows = session.execute(NEIGHBOURS, (v["type"], v["name"])).fetchall()
    more = len(rows) > 50
    rows = rows[:50]
    elements = [node(*row[5:12]) if row[5] is not None else link(*row[12:]) for row in rows]
    response: Response = {"result": [[row[0] for row in rows], elements, [row[2] for row in rows]]}
    if more:
        response["next_cursor"] = token((rows[-1][2], rows[-1][1]))
    return response


HUB = (
    "SELECT s.name, l.meta -> '$.confidence' FROM concept a CROSS JOIN link l ON l.ctx = 1 AND l.o = a.id AND l.p = ?3"
    f" CROSS JOIN concept s ON s.id = l.s {WHERE_ANCHOR}"
)


def hub(session: Sql, v: Values) -> Response:
    rows = session.execute(HUB, (v["type"], v["name"], v["p"])).fetchall()
    return {"result": [[row[0] for row in rows], [value(row[1]) for row in rows]]}


HUB_NODES = (
    f"SELECT {node_of('s')} FROM concept a CROSS JOIN link l ON l.ctx = 1 AND l.o = a.id AND l.p = ?3"
    f" CROSS JOIN concept s ON s.id = l.s {WHERE_ANCHOR}"
)


def hub_nodes(session: Sql, v: Values) -> Response:
    return {"result": [node(*row) for row in session.execute(HUB_NODES, (v["type"], v["name"], v["p"]))]}


ANCESTORS = (
    f"WITH RECURSIVE w(n, d) AS (SELECT (SELECT a.id FROM {ANCHOR}), 0 UNION"
    " SELECT l.o, w.d + 1 FROM w CROSS JOIN link l ON l.ctx = 1 AND l.s = w.n AND l.p = 'part_of' WHERE w.d < 4)"
    " SELECT c.name FROM (SELECT DISTINCT n FROM w WHERE d >= 1) q CROSS JOIN concept c ON c.id = q.n"
)


def ancestors(session: Sql, v: Values) -> Response:
    return one(session.execute(ANCESTORS, (v["type"], v["name"])).fetchall())


DESCENDANTS = (
    "WITH RECURSIVE w(n) AS (SELECT l.s FROM concept a CROSS JOIN link l ON l.ctx = 1 AND l.o = a.id AND"
    f" l.p = 'part_of' {WHERE_ANCHOR}"
    " UNION SELECT l.s FROM w CROSS JOIN link l ON l.ctx = 1 AND l.o = w.n AND l.p = 'part_of')"
    " SELECT c.name FROM w CROSS JOIN concept c ON c.id = w.n"
)


def descendants(session: Sql, v: Values) -> Response:
    return one(session.execute(DESCENDANTS, (v["type"], v["name"])).fetchall())


BY_DOMAIN = (
    "SELECT d.name, count(*) AS n FROM concept d CROSS JOIN link l ON l.ctx = 1 AND l.o = d.id AND"
    " l.p = 'belongs_to_domain' WHERE d.ctx = 1 AND d.type = ?1 GROUP BY d.name ORDER BY n DESC, d.name"
)


def by_domain(session: Sql, v: Values) -> Response:
    return columns(session.execute(BY_DOMAIN, (v["type"],)).fetchall(), 2)


CONTAINS = (
    "SELECT c.name FROM concept c WHERE c.ctx = 1 AND c.type = ?1"
    " AND json_type(c.attrs, '$.summary') = 'text' AND instr(c.attrs ->> '$.summary', ?2)"
)


def contains(session: Sql, v: Values) -> Response:
    return one(session.execute(CONTAINS, (v["type"], v["part"])).fetchall())


REGEX = "SELECT c.name FROM concept c WHERE c.ctx = 1 AND c.type = ?1 AND kip_regex(c.name, ?2)"


def regex(session: Sql, v: Values) -> Response:
    return one(session.execute(REGEX, (v["type"], v["pattern"])).fetchall())


BOTH = (
    "SELECT x.name FROM concept b CROSS JOIN link m ON m.ctx = 1 AND m.o = b.id AND m.p = ?6"
    " CROSS JOIN concept a CROSS JOIN link l ON l.ctx = 1 AND l.s = m.s AND l.p = ?3 AND l.o = a.id"
    " CROSS JOIN concept x ON x.id = m.s"
    " WHERE b.ctx = 1 AND b.type = ?4 AND b.name = ?5 AND a.ctx = 1 AND a.type = ?1 AND a.name = ?2"
)


def both(session: Sql, v: Values) -> Response:
    bindings = (v["hub_type"], v["hub"], v["p"], v["type"], v["name"], v["q"])
    return one(session.execute(BOTH, bindings).fetchall())


AMONG = (
    f"SELECT b.name, b.attrs -> '$.status' {FROM_ANCHOR} CROSS JOIN concept b ON b.id = l.o {WHERE_ANCHOR}"
    " AND json_type(b.attrs, '$.status') = 'text' AND b.attrs ->> '$.status' IN ('active', 'open', 'draft')"
)


def among(session: Sql, v: Values) -> Response:
    rows = session.execute(AMONG, (v["type"], v["name"], v["p"])).fetchall()
    return {"result": [[row[0] for row in rows], [value(row[1]) for row in rows]]}


ABOUT = (
    f"SELECT w.name, o.name, m.meta -> '$.confidence' {FROM_ANCHOR}"
    " CROSS JOIN link m ON m.ctx = 1 AND m.o = l.id AND m.p = 'states' LEFT JOIN concept w ON w.id = m.s"
    f" CROSS JOIN concept o ON o.id = l.o {WHERE_ANCHOR}"
)


def about(session: Sql, v: Values) -> Response:
    rows = session.execute(ABOUT, (v["type"], v["name"], v["p"])).fetchall()
    return {"result": [[row[0] for row in rows], [row[1] for row in rows], [value(row[2]) for row in rows]]}


TOP_FIRST = "FROM concept c WHERE c.ctx = 1 AND c.type = ?1"
TOP_LAST = "ORDER BY score IS NULL, score DESC, id LIMIT 21"
TOP = (
    f"SELECT q.score, {node_of('c')} FROM"
    f" (SELECT c.id, c.attrs ->> '$.score' AS score {TOP_FIRST} {TOP_LAST}) q"
    " CROSS JOIN concept c ON c.id = q.id ORDER BY q.score IS NULL, q.score DESC, q.id"
)
NEXT = (
    f"SELECT q.score, {node_of('c')} FROM"
    f" (SELECT c.id, c.attrs ->> '$.score' AS score {TOP_FIRST}"
    f" AND (score < ?2 OR (score = ?2 AND c.id > ?3) OR score IS NULL) {TOP_LAST}) q"
    " CROSS JOIN concept c ON c.id = q.id ORDER BY q.score IS NULL, q.score DESC, q.id"
)


def top(session: Sql, v: Values) -> Response:
    cursor = v.get("cursor")
    if cursor is None:
        rows = session.execute(TOP, (v["type"],)).fetchall()
    else:
        rows = session.execute(NEXT, (v["type"], *keys_of(cursor))).fetchall()
    more = len(rows) > 20
    rows = rows[:20]
    response: Response = {"result": [node(*row[1:]) for row in rows]}
    if more:
        response["next_cursor"] = token((rows[-1][0], rows[-1][1]))
    return response


LISTING = f"SELECT {node_of('c')} FROM concept c WHERE c.ctx = 1 AND c.type = ?1 ORDER BY c.id LIMIT 201"


def listing(session: Sql, v: Values) -> Response:
    rows = session.execute(LISTING, (v["type"],)).fetchall()
    response: Response = {"result": [node(*row) for row in rows[:200]]}
    if len(rows) > 200:
        response["next_cursor"] = token((rows[199][0],))
    return response


# --- values ---------------------------------------------------------------------------------------

OUT = """
SELECT c.type, c.name, g.p FROM (
  SELECT s, p, count(*) AS n FROM link WHERE ctx = 1 AND p IN ('mentions', 'knows', 'works_for', 'treats', 'cites')
  GROUP BY s, p) g
CROSS JOIN concept c ON c.id = g.s WHERE g.n BETWEEN {low} AND {high} ORDER BY g.s % 1009, g.s LIMIT ?1"""

IN = """
SELECT c.type, c.name, g.p FROM (
  SELECT o, p, count(*) AS n FROM link WHERE ctx = 1 AND p NOT IN ('part_of', 'belongs_to_domain') GROUP BY o, p) g
CROSS JOIN concept c ON c.id = g.o ORDER BY g.n DESC LIMIT min(?1, 12)"""

PAIRS = """
SELECT c.type, c.name, l.p, d.type, d.name, m.p FROM (
  SELECT o, p, count(*) AS n FROM link WHERE ctx = 1 AND p NOT IN ('part_of', 'belongs_to_domain')
  GROUP BY o, p ORDER BY n DESC LIMIT 8) g
CROSS JOIN link l ON l.ctx = 1 AND l.o = g.o AND l.p = g.p
CROSS JOIN link m ON m.ctx = 1 AND m.s = l.s AND m.p <> l.p AND m.o & 1 = 0
CROSS JOIN concept c ON c.id = l.o CROSS JOIN concept d ON d.id = m.o
WHERE (SELECT count(*) FROM (SELECT 1 FROM link k WHERE k.ctx = 1 AND k.o = m.o AND k.p = m.p LIMIT 9)) BETWEEN 2 AND 8
ORDER BY m.id % 1009, m.id LIMIT ?1"""

UNIONS = """
SELECT a.type, a.name, a.p, b.type, b.name, b.p FROM (
  SELECT c.type, c.name, l.p, row_number() OVER (ORDER BY l.id) AS place FROM link l CROSS JOIN concept c ON c.id = l.s
  WHERE l.id % 97 = 1 AND l.p IN ('mentions', 'knows', 'cites')) a
JOIN (
  SELECT c.type, c.name, l.p, row_number() OVER (ORDER BY l.id) AS place FROM link l CROSS JOIN concept c ON c.id = l.s
  WHERE l.id % 91 = 3 AND l.p IN ('works_for', 'treats', 'uses')) b ON a.place = b.place LIMIT ?1"""

STATED = """
SELECT c.type, c.name, l.p FROM link m CROSS JOIN link l ON l.id = m.o CROSS JOIN concept c ON c.id = l.s
WHERE m.ctx = 1 AND m.p = 'states' ORDER BY m.id % 1009, m.id LIMIT ?1"""

LEAVES = """
SELECT c.type, c.name FROM link l CROSS JOIN concept c ON c.id = l.s WHERE l.ctx = 1 AND l.p = 'part_of'
AND NOT EXISTS (SELECT 1 FROM link m WHERE m.ctx = 1 AND m.o = l.s AND m.p = 'part_of')
ORDER BY l.id % 101, l.id LIMIT ?1"""

ROOTS = """
SELECT c.type, c.name FROM link l CROSS JOIN concept c ON c.id = l.s WHERE l.ctx = 1 AND l.p = 'part_of'
AND l.o = (SELECT m.o FROM link m WHERE m.ctx = 1 AND m.p = 'part_of' AND NOT EXISTS
  (SELECT 1 FROM link k WHERE k.ctx = 1 AND k.s = m.o AND k.p = 'part_of') LIMIT 1) LIMIT ?1"""

NODES = "SELECT type, name FROM concept WHERE ctx = 1 AND type NOT LIKE '$%' ORDER BY id % 1013, id LIMIT ?1"
NAMES = OUT.replace("c.type, c.name, g.p", "c.name, g.p")
BUSY = """
SELECT c.type, c.name FROM (
  SELECT s, count(*) AS n FROM link WHERE ctx = 1 AND s & 1 = 0 GROUP BY s HAVING n BETWEEN 20 AND 120) g
CROSS JOIN concept c ON c.id = g.s ORDER BY g.s % 1009, g.s LIMIT ?1"""
BIG_TYPES = """
SELECT key FROM counter WHERE ctx = 1 AND kind = 't' AND key NOT LIKE '$%' ORDER BY n DESC LIMIT min(?1, 3)"""
TYPES = """
SELECT key FROM counter WHERE ctx = 1 AND kind = 't' AND key NOT LIKE '$%' AND n > 60 ORDER BY n LIMIT min(?1, 8)"""

A = "?a {type: :type, name: :name}"

SHAPES: tuple[Shape, ...] = (
    Shape("point by type and name", ANCHORED, f"FIND(?a) WHERE {{ {A} }}", ("type", "name"), NODES, point),
    Shape(
        "one hop, name only",
        ANCHORED,
        "FIND(?b.name) WHERE { ?a {name: :name} (?a, :p, ?b) }",
        ("name", "p"),
        NAMES.format(low=1, high=8),
        one_hop,
    ),
    Shape(
        "two hops, number filter",
        ANCHORED,
        f"FIND(?c.name, ?c.attributes.score) WHERE {{ {A} (?a, :p, ?b) (?b, :q, ?c)"
        " FILTER(?c.attributes.score > :low) }",
        ("type", "name", "p"),
        OUT.format(low=2, high=8),
        two_hops,
        fixed=(("q", "mentions"), ("low", 0.3)),
    ),
    Shape(
        "NOT",
        ANCHORED,
        f"FIND(?b.name) WHERE {{ {A} (?a, :p, ?b) NOT {{ (?b, :q, ?x) }} }}",
        ("type", "name", "p"),
        OUT.format(low=3, high=12),
        negation,
        fixed=(("q", "knows"),),
    ),
    Shape(
        "OPTIONAL, three projections",
        ANCHORED,
        f"FIND(?b.name, ?x.name, ?x.attributes.status) WHERE {{ {A} (?a, :p, ?b) OPTIONAL {{ (?b, :q, ?x) }} }}",
        ("type", "name", "p"),
        OUT.format(low=1, high=4),
        optional,
        fixed=(("q", "cites"),),
    ),
    Shape(
        "UNION",
        ANCHORED,
        f"FIND(?x.name) WHERE {{ {A} (?a, :p, ?x) UNION {{ ?b {{type: :type2, name: :name2}} (?b, :q, ?x) }} }}",
        ("type", "name", "p", "type2", "name2", "q"),
        UNIONS,
        union,
    ),
    Shape(
        "IN list",
        ANCHORED,
        f"FIND(?b.name, ?b.attributes.status) WHERE {{ {A} (?a, :p, ?b)"
        ' FILTER(IN(?b.attributes.status, ["active", "open", "draft"])) }',
        ("type", "name", "p"),
        OUT.format(low=3, high=12),
        among,
    ),
    Shape(
        "statements about links",
        ANCHORED,
        f'FIND(?w.name, ?o.name, ?m.metadata.confidence) WHERE {{ {A} ?f (?a, :p, ?o) ?m (?w, "states", ?f) }}',
        ("type", "name", "p"),
        STATED,
        about,
    ),
    Shape(
        "ancestors {1,4} of a leaf",
        ANCHORED,
        f'FIND(?b.name) WHERE {{ {A} (?a, "part_of"{{1,4}}, ?b) }}',
        ("type", "name"),
        LEAVES,
        ancestors,
    ),
    Shape(
        "two anchors, hub first",
        ANCHORED,
        "FIND(?x.name) WHERE { ?h {type: :hub_type, name: :hub} ?a {type: :type, name: :name}"
        " (?x, :p, ?h) (?x, :q, ?a) }",
        ("hub_type", "hub", "p", "type", "name", "q"),
        PAIRS,
        both,
    ),
    Shape(
        "two anchors, small first",
        ANCHORED,
        "FIND(?x.name) WHERE { ?a {type: :type, name: :name} ?h {type: :hub_type, name: :hub}"
        " (?x, :q, ?a) (?x, :p, ?h) }",
        ("hub_type", "hub", "p", "type", "name", "q"),
        PAIRS,
        both,
    ),
    Shape(
        "neighbours by confidence, LIMIT 50",
        BULK,
        f"FIND(?p, ?o, ?l.metadata.confidence) WHERE {{ {A} ?l (?a, ?p, ?o) }}"
        " ORDER BY ?l.metadata.confidence DESC LIMIT 50",
        ("type", "name"),
        BUSY,
        neighbours,
        ordered=True,
    ),
    Shape(
        "hub, two projections",
        BULK,
        f"FIND(?s.name, ?l.metadata.confidence) WHERE {{ {A} ?l (?s, :p, ?a) }}",
        ("type", "name", "p"),
        IN,
        hub,
    ),
    Shape(
        "hub, whole nodes",
        BULK,
        f"FIND(?s) WHERE {{ {A} (?s, :p, ?a) }}",
        ("type", "name", "p"),
        IN,
        hub_nodes,
    ),
    Shape(
        "descendants {1,}",
        BULK,
        f'FIND(?b.name) WHERE {{ {A} (?b, "part_of"{{1,}}, ?a) }}',
        ("type", "name"),
        ROOTS,
        descendants,
    ),
    Shape(
        "whole nodes of a type, LIMIT 200",
        BULK,
        "FIND(?c) WHERE { ?c {type: :type} } LIMIT 200",
        ("type",),
        TYPES,
        listing,
    ),
    Shape(
        "ORDER BY attribute, LIMIT 20",
        BULK,
        "FIND(?c) WHERE { ?c {type: :type} } ORDER BY ?c.attributes.score DESC LIMIT 20",
        ("type",),
        TYPES,
        top,
        ordered=True,
    ),
    Shape(
        "the page after it, CURSOR",
        BULK,
        "FIND(?c) WHERE { ?c {type: :type} } ORDER BY ?c.attributes.score DESC LIMIT 20 CURSOR :cursor",
        ("type",),
        TYPES,
        top,
        ordered=True,
        follow=True,
    ),
    Shape(
        "COUNT by domain",
        BULK,
        'FIND(?d.name, COUNT(?c)) WHERE { ?d {type: :type} (?c, "belongs_to_domain", ?d) } ORDER BY COUNT(?c) DESC',
        ("type",),
        "SELECT 'Domain' LIMIT min(?1, 1)",
        by_domain,
        ordered=True,
    ),
    Shape(
        "CONTAINS scan of a type",
        BULK,
        "FIND(?c.name) WHERE { ?c {type: :type} FILTER(CONTAINS(?c.attributes.summary, :part)) }",
        ("type",),
        BIG_TYPES,
        contains,
        fixed=(("part", "stone quiet"),),
    ),
    Shape(
        "REGEX scan of a type",
        BULK,
        "FIND(?c.name) WHERE { ?c {type: :type} FILTER(REGEX(?c.name, :pattern)) }",
        ("type",),
        BIG_TYPES,
        regex,
        fixed=(("pattern", "^(amber|river) .*7[0-9]$"),),
    ),
)
