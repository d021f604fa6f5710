"""What a context is about: the members of its domains, and what is in use most."""

from __future__ import annotations

from trivium.store.sqlite import Session


def member_count(session: Session, ctx: int, domain: int) -> int:
    sql = "SELECT count(*) FROM link WHERE ctx = ? AND o = ? AND p = 'belongs_to_domain'"
    return int(session.value(sql, (ctx, domain)))


def schema_members(session: Session, ctx: int, domain: int, type_: str, limit: int) -> list[str]:
    """Names of a domain's concept types or predicates (`type_` tells which), those in use most first."""
    kind = "t" if type_ == "$ConceptType" else "p"
    sql = (
        "SELECT c.name FROM link AS l CROSS JOIN concept AS c ON c.id = l.s"
        " LEFT JOIN counter AS n ON n.ctx = ?1 AND n.kind = ?4 AND n.key = c.name"
        " WHERE l.ctx = ?1 AND l.o = ?2 AND l.p = 'belongs_to_domain' AND c.type = ?3"
        " ORDER BY COALESCE(n.n, 0) DESC, c.name LIMIT ?5"
    )
    return [row[0] for row in session.execute(sql, (ctx, domain, type_, kind, limit))]


def best_connected(session: Session, ctx: int, domain: int, limit: int) -> list[tuple[str, str]]:
    """Type and name of members that are no schema nodes, by how many links they have (each side up to 1,000)."""
    sql = (
        "SELECT type, name, (SELECT count(*) FROM (SELECT 1 FROM link WHERE ctx = ?1 AND s = m.id LIMIT 1000))"
        " + (SELECT count(*) FROM (SELECT 1 FROM link WHERE ctx = ?1 AND o = m.id LIMIT 1000)) AS degree"
        " FROM (SELECT c.id AS id, c.type AS type, c.name AS name"
        " FROM link AS l CROSS JOIN concept AS c ON c.id = l.s"
        " WHERE l.ctx = ?1 AND l.o = ?2 AND l.p = 'belongs_to_domain'"
        " AND c.type NOT IN ('$ConceptType', '$PropositionType')"
        " LIMIT 5000) AS m ORDER BY degree DESC, type, name LIMIT ?3"
    )
    return [(row[0], row[1]) for row in session.execute(sql, (ctx, domain, limit))]


def predicates_in_use(session: Session, ctx: int, limit: int) -> list[str]:
    """The predicates with most links."""
    sql = "SELECT key FROM counter WHERE ctx = ? AND kind = 'p' AND n > 0 ORDER BY n DESC, key LIMIT ?"
    return [row[0] for row in session.execute(sql, (ctx, limit))]
